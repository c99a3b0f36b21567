// SPDX-License-Identifier: GPL-2.0
/*
 * What system calls do with descriptors: see descriptor_calls.h.
 */
#include <string.h>
#include <sys/socket.h>

#include "analyze/descriptor_calls.h"
#include "event/syscall_args.h"
#include "util/hash.h"

/*
 * pipe(), pipe2() and socketpair() are not listed: no event contains their new descriptors, because
 * the kernel writes these to the memory of the program. New descriptors have numbers that were
 * unused, so the paths of other descriptors remain correct.
 */
static const struct descriptor_call calls[] = {
	{ "openat", OPENS, 1, NULL },
	{ "open", OPENS, 0, NULL },
	{ "close", CLOSES, 0, NULL },
	{ "openat2", OPENS, 1, NULL },
	{ "creat", OPENS, 0, NULL },
	{ "fcntl", CONTROLS, 0, NULL },
	{ "dup", DUPLICATES, 0, NULL },
	{ "dup2", REPLACES, 0, NULL },
	{ "dup3", REPLACES, 0, NULL },
	{ "close_range", CLOSES_MANY, 0, NULL },
	{ "execve", EXECUTES, 0, NULL },
	{ "execveat", EXECUTES, 0, NULL },
	{ "fork", COPIES, 0, NULL },
	{ "vfork", COPIES, 0, NULL },
	{ "clone", CLONES, 0, NULL },
	{ "clone3", MAY_SHARE, 0, NULL },
	{ "unshare", UNSHARES, 0, NULL },
	{ "io_uring_setup", CONFUSES, 0, NULL },
	{ "io_uring_enter", CONFUSES, 0, NULL },
	{ "ioctl", CONTROLS_FILE, 0, NULL },
	{ "bind", ADDRESSES, 0, NULL },
	{ "connect", ADDRESSES, 0, NULL },
	{ "listen", ADDRESSES, 0, NULL },
	{ "socket", MAKES, 0, "socket" },
	{ "accept", MAKES, 0, "socket" },
	{ "accept4", MAKES, 0, "socket" },
	{ "epoll_create", MAKES, 0, "eventpoll" },
	{ "epoll_create1", MAKES, 0, "eventpoll" },
	{ "eventfd", MAKES, 0, "eventfd" },
	{ "eventfd2", MAKES, 0, "eventfd" },
	{ "signalfd4", MAKES, 0, "signalfd" },
	{ "timerfd_create", MAKES, 0, "timerfd" },
	{ "inotify_init", MAKES, 0, "inotify" },
	{ "inotify_init1", MAKES, 0, "inotify" },
	{ "memfd_create", MAKES, 0, "memfd" },
	{ "pidfd_open", MAKES, 0, "pidfd" },
	{ "perf_event_open", MAKES, 0, "perf_event" },
	{ "userfaultfd", MAKES, 0, "userfaultfd" },
	{ "pidfd_getfd", MAKES, 0, NULL },
	{ "open_tree", MAKES, 0, NULL },
	{ "fsopen", MAKES, 0, NULL },
	{ "fsmount", MAKES, 0, NULL },
	{ "bpf", MAKES, 0, NULL },
	{ "mq_open", MAKES, 0, NULL },
};

static const struct descriptor_call *find(const struct kevent_text *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (name->len == strlen(calls[i].name) &&
		    !memcmp(name->at, calls[i].name, name->len))
			return &calls[i];
	}
	return NULL;
}

#define FOUND	64

/* Programs make few different calls, so the last results are cached. */
const struct descriptor_call *descriptor_call_find(const struct kevent *kevent)
{
	static _Thread_local struct {
		const struct syscall_args *known;
		const struct descriptor_call *call;
	} cache[FOUND], *found;
	const struct syscall_args *known;

	known = syscall_args_find(kevent->name.at, kevent->name.len);
	if (!known)
		return find(&kevent->name);
	found = &cache[hash_pair((uintptr_t)known, 0) % FOUND];
	if (found->known != known) {
		found->known = known;
		found->call = find(&kevent->name);
	}
	return found->call;
}

const char *descriptor_socket_kind(const struct kevent *entry)
{
	const int type = (int)entry->args[1] & 0xf;

	switch ((int)entry->args[0]) {
	case AF_UNIX:
		return "unix";
	case AF_NETLINK:
		return "netlink";
	case AF_INET:
	case AF_INET6:
		/*
		 * If the protocol argument is not 0, the socket type does not determine the
		 * protocol.
		 */
		if (entry->args[2])
			return "socket";
		return type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "socket";
	default:
		return "socket";
	}
}

size_t descriptor_address_size(const char *name)
{
	static const char suffix[] = ",listening";
	const size_t len = strlen(name);

	if (len > strlen(suffix) && !strcmp(name + len - strlen(suffix), suffix))
		return len - strlen(suffix);
	return strcspn(name, ":-,");
}
