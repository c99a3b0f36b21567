/* SPDX-License-Identifier: MIT */
#ifndef PXTU_HOST_H
#define PXTU_HOST_H

#include <posixtrace.h>
#include <sys/types.h>

#include <linux/types.h>

/**
 * pxtu_read_file() - read a file from its beginning
 * @path: absolute path
 * @to: where to write it
 * @size: bytes there; the rest of the file is left out
 *
 * Return: bytes read, or negative errno.
 */
ssize_t pxtu_read_file(const char *path, char *to, size_t size);

/**
 * pxtu_boot_id() - the id of this boot
 * @id: where to write it; zeros if it cannot be read
 */
void pxtu_boot_id(__u8 id[16]);

/**
 * pxtu_host() - this host, now
 * @info: where to write it; without the fields about the clock of the events
 */
void pxtu_host(struct posixtrace_host_info *info);

#endif /* PXTU_HOST_H */
