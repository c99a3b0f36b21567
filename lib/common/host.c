// SPDX-License-Identifier: MIT
/*
 * Information from the kernel about this host and its processes.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "common/host.h"
#include "common/sys.h"

#define BOOT_ID		"/proc/sys/kernel/random/boot_id"
#define NSEC_PER_SEC	1000000000LL

ssize_t pxtu_read_file(const char *path, char *to, size_t size)
{
	size_t len = 0;
	ssize_t ret;
	int fd;

	fd = pxtu_open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	do {
		ret = pxtu_pread(fd, to + len, size - len, len);
		if (ret > 0)
			len += (size_t)ret;
	} while (ret > 0 && len < size);
	pxtu_close(fd);
	return ret < 0 ? ret : (ssize_t)len;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void pxtu_boot_id(__u8 id[16])
{
	char text[40];
	ssize_t len = pxtu_read_file(BOOT_ID, text, sizeof(text));
	int digits = 0, digit;
	ssize_t i;

	memset(id, 0, 16);
	for (i = 0; i < len && digits < 32; i++) {
		digit = hex_digit(text[i]);
		if (digit < 0)
			continue;
		id[digits / 2] = (__u8)(id[digits / 2] << 4 | digit);
		digits++;
	}
}

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void pxtu_host(struct posixtrace_host_info *info)
{
	const long long monotonic = now(CLOCK_MONOTONIC);
	struct utsname names;

	memset(info, 0, sizeof(*info));
	pxtu_boot_id(info->boot_id);
	/* The arrays of struct utsname are shorter than ours. */
	if (!uname(&names)) {
		strncpy(info->node, names.nodename, sizeof(info->node) - 1);
		strncpy(info->release, names.release, sizeof(info->release) - 1);
		strncpy(info->machine, names.machine, sizeof(info->machine) - 1);
	}
	info->realtime_offset = now(CLOCK_REALTIME) - monotonic;
	info->boottime_offset = now(CLOCK_BOOTTIME) - monotonic;
}
