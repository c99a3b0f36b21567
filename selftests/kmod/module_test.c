// SPDX-License-Identifier: GPL-2.0
/*
 * The module cannot be removed while any part of it is in use, and can be removed afterwards.
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "module.h"
#include "process.h"
#include "uapi.h"

TEST(open_file_holds_the_module)
{
	int before = module_refcount();
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(before + 1, module_refcount());
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	close(fd);
	EXPECT_EQ(before, module_refcount());
}

TEST(stream_and_target_hold_the_module)
{
	int before = module_refcount();
	struct stream stream;
	struct target target;

	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_EQ(0, target_event(&target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	stream_close(&stream);
	target_close(&target);
	EXPECT_EQ(before, module_refcount());
}

TEST(mapping_alone_holds_the_module)
{
	int before = module_refcount();
	struct target target;

	ASSERT_EQ(0, target_open(&target));
	close(target.fd);
	EXPECT_LT(before, module_refcount());
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_EQ(0, LOAD(target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	munmap((void *)target.gate, target.arg.gate.size);
	EXPECT_EQ(before, module_refcount());
}

static int use_and_idle(void *arg, const struct talk *talk)
{
	struct stream stream;
	struct target target;

	(void)arg;
	if (target_open(&target) || stream_create(&stream, 0) || stream_start(&stream))
		return 1;
	return child_idle(NULL, talk);
}

TEST(killed_process_leaves_no_reference)
{
	int before = module_refcount();
	struct child child;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, child_start(&child, use_and_idle, NULL));
		ASSERT_EQ(0, hear(&child.talk));
		EXPECT_LT(before, module_refcount());
		EXPECT_EQ(-EWOULDBLOCK, module_unload());
		child_kill(&child);
		EXPECT_EQ(before, module_refcount());
	}
}

TEST(refused_commands_leave_no_reference)
{
	struct posixtrace_create arg;
	int before = module_refcount();
	int fd = device_open();

	ASSERT_LE(0, fd);
	create_init(&arg, 0x7fffffff);
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(-ESRCH, command(fd, POSIXTRACE_IOC_CREATE, &arg));
	close(fd);
	EXPECT_EQ(before, module_refcount());
}

/* ------------------------------------------------------------------ */
/* Mappings after all descriptors are closed				*/

TEST(mapped_stream_holds_the_module_after_its_end)
{
	int before = module_refcount();
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	munmap(stream.reader, stream.arg.reader.size);
	munmap((void *)stream.heads, stream.arg.heads.size);
	munmap((void *)stream.pool, stream.arg.pool.size);
	close(stream.fd);
	/* The mapping holds a file and the stream. The stream holds the file that targets map. */
	EXPECT_EQ(before + 2, module_refcount());
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_EQ(0, LOAD(stream.ctrl->size));
	munmap((void *)stream.ctrl, stream.arg.ctrl.size);
	EXPECT_EQ(before, module_refcount());
}

TEST(mapped_pool_of_a_target_holds_the_module_after_the_end_of_its_stream)
{
	int before = module_refcount();
	struct posixtrace_slot *slot;
	struct stream stream;
	struct target target;
	char *pool;

	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, target_sync(&target));
	slot = &target.slots[stream.arg.slot];
	pool = map_range(target.fd, &slot->pool, PROT_READ | PROT_WRITE);
	ASSERT_NE(MAP_FAILED, (void *)pool);
	target_close(&target);
	stream_close(&stream);
	EXPECT_EQ(before + 1, module_refcount());
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	pool[0] = 1;
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	munmap(pool, slot->pool.size);
	EXPECT_EQ(before, module_refcount());
}

TEST(gate_that_a_child_inherited_holds_the_module)
{
	int before = module_refcount();
	struct target target;
	struct child child;

	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	target_close(&target);
	/* The child's descriptor and mapping keep the same file open. */
	EXPECT_EQ(before + 1, module_refcount());
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	child_kill(&child);
	EXPECT_EQ(before, module_refcount());
}

/* ------------------------------------------------------------------ */
/* Descriptors in no process						*/

static int send_fd(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(fd))];
		struct cmsghdr align;
	} control = { .bytes = "" };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -errno;
}

TEST(descriptor_in_a_message_holds_the_module)
{
	int before = module_refcount();
	int fd = device_open(), sockets[2];

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	ASSERT_EQ(0, send_fd(sockets[0], fd));
	close(fd);
	EXPECT_EQ(before + 1, module_refcount());
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	close(sockets[0]);
	close(sockets[1]);
	EXPECT_EQ(before, module_refcount());
}

/* ------------------------------------------------------------------ */
/* Processes								*/

/* A target with a named event type to inherit, but without files and mappings. */
static int become_bare_target(void)
{
	struct target target;
	int id;

	if (target_open(&target))
		return -1;
	id = eventid_open(target.fd, "handed down");
	target_close(&target);
	return id > 0 ? 0 : -1;
}

static int be_bare_target(void *arg, const struct talk *talk)
{
	(void)arg;
	return become_bare_target() ? 1 : child_idle(NULL, talk);
}

/* A process in vfork(), which resumes when its child ends without exec. */
static int wait_for_vfork(void *arg, const struct talk *talk)
{
	pid_t pid;

	(void)arg;
	if (become_bare_target())
		return 1;
	say(talk, 1);
	hear(talk);
	/* As vfork(), except that the child may return from here. */
	pid = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid == 0) {
		say(talk, 2);
		hear(talk);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		return 2;
	say(talk, 3);
	hear(talk);
	return 0;
}

TEST(target_without_files_does_not_hold_the_module)
{
	int before = module_refcount();
	struct child child;

	ASSERT_EQ(0, child_start(&child, be_bare_target, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(before, module_refcount());
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(before, module_refcount());
}

TEST(unfinished_vfork_holds_the_module)
{
	int before = module_refcount();
	struct child child;

	ASSERT_EQ(0, child_start(&child, wait_for_vfork, NULL));
	ASSERT_EQ(1, hear(&child.talk));
	EXPECT_EQ(before, module_refcount());
	say(&child.talk, 0);
	ASSERT_EQ(2, hear(&child.talk));
	EXPECT_EQ(before + 1, module_refcount());
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	say(&child.talk, 0);
	ASSERT_EQ(3, hear(&child.talk));
	EXPECT_EQ(before, module_refcount());
	EXPECT_EQ(0, child_wait(&child));
}

TEST(zombie_does_not_hold_the_module)
{
	int before = module_refcount();
	struct child child;

	ASSERT_EQ(0, child_start(&child, use_and_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	kill(child.pid, SIGKILL);
	while (!is_zombie(child.pid))
		sched_yield();
	EXPECT_EQ(before, module_refcount());
	child_wait(&child);
	EXPECT_EQ(before, module_refcount());
}

TEST_HARNESS_MAIN
