/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: the n-th allocation, or copy from or to the process, of the calling
 * thread fails. For kernels with that feature, such as that of "make check-debug".
 */
#ifndef _SELFTESTS_FAULT_H
#define _SELFTESTS_FAULT_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAULT_KNOBS	"/sys/kernel/debug"

/*
 * No operation here has so many failures: a higher count means that the kernel counts
 * something else.
 */
#define FAULT_MAX	2000

/*
 * Descriptor of the counter of one thread; opened while the caller still may, since others
 * close it and users cannot open it.
 */
struct fault {
	int fd;
};

/*
 * A kernel that has the feature must use it: otherwise a broken debug kernel would skip
 * these tests.
 */
#define FAULT_SKIP	"kernel without fault injection"

static inline bool fault_possible(void)
{
	return access("/proc/self/fail-nth", F_OK) == 0;
}

static inline int fault_set_knob(const char *dir, const char *knob, const char *value)
{
	char path[300];
	int fd, err = 0;

	snprintf(path, sizeof(path), FAULT_KNOBS "/%s/%s", dir, knob);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static inline int fault_prepare(const char *dir)
{
	/* An injected failure must leave no stack trace in the log. */
	int err = fault_set_knob(dir, "verbose", "0");

	/* By default, allocations that can wait do not fail, but here all can wait. */
	if (!err)
		err = fault_set_knob(dir, "ignore-gfp-wait", "N");
	if (!err)
		err = fault_set_knob(dir, "ignore-gfp-highmem", "N");
	if (!err)
		err = fault_set_knob(dir, "min-order", "0");
	return err;
}

/* Called once, as root. Returns 0 or negative errno. */
static inline int fault_setup(void)
{
	DIR *knobs = opendir(FAULT_KNOBS);
	struct dirent *entry;
	int err = 0;

	if (!knobs)
		return -errno;
	while (!err && (entry = readdir(knobs))) {
		if (!strncmp(entry->d_name, "fail", 4))
			err = fault_prepare(entry->d_name);
	}
	closedir(knobs);
	return err ? err : access(FAULT_KNOBS "/failslab", F_OK) ? -ENOENT : 0;
}

/* For the calling thread, the only one that may use it. Returns 0 or negative errno. */
static inline int fault_open(struct fault *fault)
{
	fault->fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return fault->fd < 0 ? -errno : 0;
}

/* The @n-th from now on fails, and no other. */
static inline void fault_arm(const struct fault *fault, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(fault->fd, text, len, 0) != len)
		abort();
}

/* Ends the injection. Returns whether a failure was injected. Keeps errno. */
static inline bool fault_disarm(const struct fault *fault)
{
	int saved_errno = errno;
	char text[16] = "";
	ssize_t n;

	/* The kernel formats the remaining count before it copies it: the copy itself may fail. */
	n = pread(fault->fd, text, sizeof(text) - 1, 0);
	while (pwrite(fault->fd, "0", 1, 0) != 1)
		;
	errno = saved_errno;
	return n > 0 && atoi(text) == 0;
}

#endif /* _SELFTESTS_FAULT_H */
