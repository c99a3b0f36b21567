// SPDX-License-Identifier: GPL-2.0
/* Users, capabilities and user namespaces: see credentials.h. */
#define _GNU_SOURCE
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "credentials.h"

int set_capabilities(unsigned long long mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = mask, .permitted = mask },
		{ .effective = mask >> 32, .permitted = mask >> 32 },
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int become(const struct ids *ids, unsigned long long capabilities, int ns)
{
	if (ns >= 0 && setns(ns, CLONE_NEWUSER))
		return -errno;
	/* Keep the capabilities when the ids change. */
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) ||
	    setresuid(ids->ruid, ids->euid, ids->suid))
		return -errno;
	return set_capabilities(capabilities);
}

int become_user(uid_t uid)
{
	struct ids ids = { uid, uid, uid };
	int err = become(&ids, 0, -1);

	return !err && prctl(PR_SET_DUMPABLE, 1) ? -errno : err;
}

struct user_ns_request {
	int parent;
	uid_t owner;
};

static int user_ns_enter_new(void *arg, const struct talk *talk)
{
	uid_t owner = *(uid_t *)arg;

	say(talk, setresuid(-1, owner, -1) || unshare(CLONE_NEWUSER) ? -errno : 0);
	hear(talk);
	return 0;
}

static int user_ns_map(pid_t pid, const char *which)
{
	static const char map[] = "0 0 65536\n";
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, which);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = write(fd, map, strlen(map)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

/*
 * Runs in the outer namespace: creates a process in the new namespace, reports its pid, and waits.
 */
static int user_ns_make(void *arg, const struct talk *talk)
{
	struct user_ns_request *request = arg;
	struct child child;
	long err;

	if (request->parent >= 0 && setns(request->parent, CLONE_NEWUSER)) {
		say(talk, -errno);
		return 1;
	}
	err = child_start(&child, user_ns_enter_new, &request->owner);
	if (!err)
		err = hear(&child.talk);
	if (!err)
		err = user_ns_map(child.pid, "uid_map");
	if (!err)
		err = user_ns_map(child.pid, "gid_map");
	say(talk, err ? err : child.pid);
	hear(talk);
	return 0;
}

int user_ns_new(int parent, uid_t owner)
{
	struct user_ns_request request = { .parent = parent, .owner = owner };
	struct child child;
	char path[64];
	long pid;
	int fd;

	fd = child_start(&child, user_ns_make, &request);
	if (fd)
		return fd;
	pid = hear(&child.talk);
	fd = pid;
	if (pid > 0) {
		snprintf(path, sizeof(path), "/proc/%ld/ns/user", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	child_wait(&child);
	return fd;
}
