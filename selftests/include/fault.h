/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failures that the kernel makes on request: the n-th allocation, or copy from or to the
 * process, that the calling thread makes from now on. For kernels with fault injection,
 * such as that of "make check-debug".
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

/* No operation here allocates or copies so often: then the kernel counts something else. */
#define FAULT_MAX	2000

/*
 * Descriptor of the counter of one thread; opened while the caller still may, since others
 * close it and users can not open it.
 */
struct fault {
	int fd;
};

/* Kernels that can, must: or a debug kernel that lost it would skip all of this. */
#define FAULT_SKIP	"kernel without fault injection"

static inline bool fault_possible(void)
{
	return access("/proc/self/fail-nth", F_OK) == 0;
}

static inline int fault_set_knob(const char *folder, const char *knob, const char *value)
{
	char path[300];
	int fd, err = 0;

	snprintf(path, sizeof(path), FAULT_KNOBS "/%s/%s", folder, knob);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static inline int fault_prepare(const char *folder)
{
	/* A failure that was asked for is to leave no stack trace in the log. */
	int err = fault_set_knob(folder, "verbose", "0");

	/* By itself it lets those alone that can wait, which are all of ours. */
	if (!err)
		err = fault_set_knob(folder, "ignore-gfp-wait", "N");
	if (!err)
		err = fault_set_knob(folder, "ignore-gfp-highmem", "N");
	if (!err)
		err = fault_set_knob(folder, "min-order", "0");
	return err;
}

/* Once, as root: 0 or negative errno. */
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

/* For the calling thread, which is the only one that may use it: 0 or negative errno. */
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

/* Nothing fails any more. Did anything? Keeps errno. */
static inline bool fault_disarm(const struct fault *fault)
{
	int saved_errno = errno;
	char text[16] = "";
	ssize_t n;

	/* What is left is printed first, and copied to us then: that may be what fails. */
	n = pread(fault->fd, text, sizeof(text) - 1, 0);
	while (pwrite(fault->fd, "0", 1, 0) != 1)
		;
	errno = saved_errno;
	return n > 0 && atoi(text) == 0;
}

#endif /* _SELFTESTS_FAULT_H */
