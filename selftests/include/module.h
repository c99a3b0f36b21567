/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Removing and inserting the module, for tests that may: in a guest, where the file is.
 */
#ifndef _SELFTESTS_MODULE_H
#define _SELFTESTS_MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULE_FILE	"/run/vm/posixtrace.ko"
#define MODULE_NAME	"posixtrace"

static inline int module_refcount(void)
{
	FILE *file = fopen("/sys/module/" MODULE_NAME "/refcnt", "re");
	int count = -1;

	if (file) {
		if (fscanf(file, "%d", &count) != 1)
			count = -1;
		fclose(file);
	}
	return count;
}

/* Never waits. Returns 0 or negative errno. */
static inline int module_unload(void)
{
	return syscall(SYS_delete_module, MODULE_NAME, O_NONBLOCK) ? -errno : 0;
}

static inline int module_load(void)
{
	int fd = open(MODULE_FILE, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return err;
}

#endif /* _SELFTESTS_MODULE_H */
