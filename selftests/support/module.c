// SPDX-License-Identifier: GPL-2.0
/* Removes and inserts the module. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module.h"

#define MODULE_NAME	"posixtrace"

int module_refcount(void)
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

int module_unload(void)
{
	return syscall(SYS_delete_module, MODULE_NAME, O_NONBLOCK) ? -errno : 0;
}

int module_load(void)
{
	int fd = open(MODULE_FILE, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return err;
}
