/* SPDX-License-Identifier: MIT */
#ifndef PXTU_HOST_H
#define PXTU_HOST_H

#include <posixtrace.h>
#include <sys/types.h>

#include <linux/types.h>

/**
 * pxtu_read_file() - read a file from its beginning
 * @path: absolute path
 * @to: buffer
 * @size: bytes there; the rest of the file is ignored
 *
 * Return: bytes read, or negative errno.
 */
ssize_t pxtu_read_file(const char *path, char *to, size_t size);

/**
 * pxtu_boot_id() - get the id of this boot
 * @id: result; zeros if it cannot be read
 */
void pxtu_boot_id(__u8 id[16]);

/**
 * pxtu_host() - get the current state of this host
 * @info: result, without the fields about the clock of the events
 */
void pxtu_host(struct posixtrace_host_info *info);

#endif /* PXTU_HOST_H */
