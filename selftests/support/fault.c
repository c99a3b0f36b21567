// SPDX-License-Identifier: GPL-2.0
/* Fault injection with /proc/thread-self/fail-nth. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "scale.h"

#define FAULT_KNOBS	"/sys/kernel/debug"

int fault_set_knob(const char *dir, const char *knob, const char *value)
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

int fault_after(int n)
{
	return n > 0 ? pxt_place_after(n) : 1;
}

static int fault_prepare(const char *dir)
{
	/* Do not print a stack trace in the kernel log for each injected failure. */
	int err = fault_set_knob(dir, "verbose", "0");

	/*
	 * By default, allocations that may sleep do not fail. All allocations of the tests may
	 * sleep.
	 */
	if (!err)
		err = fault_set_knob(dir, "ignore-gfp-wait", "N");
	if (!err)
		err = fault_set_knob(dir, "ignore-gfp-highmem", "N");
	if (!err)
		err = fault_set_knob(dir, "min-order", "0");
	return err;
}

int fault_setup(void)
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

int fault_open(struct fault *fault)
{
	fault->fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return fault->fd < 0 ? -errno : 0;
}

void fault_arm(const struct fault *fault, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(fault->fd, text, len, 0) != len)
		abort();
}

bool fault_disarm(const struct fault *fault)
{
	int saved_errno = errno;
	char text[16] = "";
	ssize_t n, written;

	/*
	 * The kernel formats the count before it copies the text. That copy may be the one that
	 * fails.
	 */
	n = pread(fault->fd, text, sizeof(text) - 1, 0);
	/* ESRCH: @fault belongs to another thread, which has ended. */
	do {
		written = pwrite(fault->fd, "0", 1, 0);
	} while (written != 1 && errno != ESRCH);
	errno = saved_errno;
	return n > 0 && atoi(text) == 0;
}
