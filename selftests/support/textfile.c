// SPDX-License-Identifier: GPL-2.0
/* Reads, writes and copies files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfile.h"

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int file_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
	char buffer[4096];
	ssize_t n = -1;

	while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0) {
		if (write(out, buffer, n) != n)
			return -1;
	}
	close(in);
	return close(out) || n ? -1 : 0;
}

unsigned char *file_read(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *bytes = NULL;
	struct stat stat;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &stat)) {
		*len = stat.st_size;
		bytes = malloc(*len + 1);
		if (bytes && read(fd, bytes, *len) != (ssize_t)*len) {
			free(bytes);
			bytes = NULL;
		}
	}
	close(fd);
	return bytes;
}
