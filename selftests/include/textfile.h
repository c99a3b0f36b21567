/* SPDX-License-Identifier: GPL-2.0 */
/* Reads, writes or copies a file with one call. */
#ifndef _SELFTESTS_TEXTFILE_H
#define _SELFTESTS_TEXTFILE_H

#include <stddef.h>

/* Writes a text to an existing file. Returns 0 or negative errno. */
int write_text(const char *path, const char *text);

/* Copies a file to a new one with access for root only. Returns 0 or -1. */
int file_copy(const char *from, const char *to);

/* Reads a whole file into memory that the caller must free. Returns NULL with errno. */
unsigned char *file_read(const char *path, size_t *len);

#endif /* _SELFTESTS_TEXTFILE_H */
