/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel files that are written with one call. */
#ifndef _SELFTESTS_TEXTFILE_H
#define _SELFTESTS_TEXTFILE_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Returns 0 or negative errno. */
static inline int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

#endif /* _SELFTESTS_TEXTFILE_H */
