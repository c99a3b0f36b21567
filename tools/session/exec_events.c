// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the process connector: see exec_events.h. A message has a header of netlink, a header of
 * the connector, and an event.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/exec_events.h"

#define EVENT_AT	(NLMSG_HDRLEN + sizeof(struct cn_msg))
#define MESSAGE_MAX	(EVENT_AT + sizeof(struct proc_event))
/* Other kernels may send larger or smaller events. Only two ids in each event are used. */
#define MESSAGE_MIN	(EVENT_AT + offsetof(struct proc_event, event_data) + 2 * sizeof(__u32))

/* Drops events of forks and exits, which are frequent. Lets acknowledgments pass. */
static int set_filter(int fd)
{
	/* A load of a word converts it from the order of the network. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, EVENT_AT + offsetof(struct proc_event, what)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_COMM), 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, MESSAGE_MAX),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ? -errno : 0;
}

/* Sends a command with the id of this process, for its acknowledgment. */
static int send_command(int fd, enum proc_cn_mcast_op command)
{
	char message[NLMSG_SPACE(sizeof(struct cn_msg) + sizeof(command))] = { 0 };
	const struct nlmsghdr header = {
		.nlmsg_len = NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(command)),
		.nlmsg_type = NLMSG_DONE,
		.nlmsg_pid = (__u32)getpid(),
	};
	const struct cn_msg connector = {
		.id = { CN_IDX_PROC, CN_VAL_PROC }, .ack = (__u32)getpid(), .len = sizeof(command),
	};

	memcpy(message, &header, sizeof(header));
	memcpy(message + NLMSG_HDRLEN, &connector, sizeof(connector));
	memcpy(message + EVENT_AT, &command, sizeof(command));
	return send(fd, message, header.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Receives a message of the kernel. Returns 1; 0 if there is none; a negative error number. */
static int receive(int fd, struct cn_msg *connector, struct proc_event *event)
{
	char message[MESSAGE_MAX] = { 0 };
	struct sockaddr_nl from;
	socklen_t from_size;
	ssize_t len;

	for (;;) {
		from_size = sizeof(from);
		len = recvfrom(fd, message, sizeof(message), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &from_size);
		if (len < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		/* Other processes may send messages as well. */
		if (from_size != sizeof(from) || from.nl_pid || (size_t)len < MESSAGE_MIN)
			continue;
		memcpy(connector, message + NLMSG_HDRLEN, sizeof(*connector));
		memcpy(event, message + EVENT_AT, sizeof(*event));
		if (connector->id.idx == CN_IDX_PROC && connector->id.val == CN_VAL_PROC)
			return 1;
	}
}

/*
 * Reads the acknowledgment of a command. The kernel sends it to all listeners before send()
 * returns. Its ack is the ack of the command plus 1, but its seq is different. The kernel ignores
 * commands from namespaces other than the initial ones.
 */
static int take_acknowledgment(int fd)
{
	struct cn_msg connector;
	struct proc_event event;
	int ret;

	while ((ret = receive(fd, &connector, &event)) > 0) {
		if (event.what == PROC_EVENT_NONE && connector.ack == (__u32)getpid() + 1)
			return -(int)event.event_data.ack.err;
	}
	return ret ? ret : -EOPNOTSUPP;
}

int exec_events_open(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	int err;

	if (fd < 0)
		return -errno;
	err = set_filter(fd);
	if (!err && bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	if (!err)
		err = send_command(fd, PROC_CN_MCAST_LISTEN);
	if (err) {
		close(fd);
		return err;
	}
	err = take_acknowledgment(fd);
	if (!err)
		return fd;
	exec_events_close(fd);
	return err;
}

int exec_events_next(int fd, struct exec_event *event)
{
	struct proc_event read;
	struct cn_msg connector;
	int ret;

	while ((ret = receive(fd, &connector, &read)) > 0) {
		if (read.what == PROC_EVENT_EXEC) {
			event->kind = EXEC_EVENT_EXEC;
			event->pid = read.event_data.exec.process_tgid;
			return 1;
		}
		if (read.what == PROC_EVENT_COMM) {
			event->kind = EXEC_EVENT_NAME;
			event->pid = read.event_data.comm.process_tgid;
			return 1;
		}
	}
	return ret;
}

void exec_events_close(int fd)
{
	/* Before Linux 6.6, the kernel counts listeners by their commands, not by sockets. */
	send_command(fd, PROC_CN_MCAST_IGNORE);
	close(fd);
}
