/* SPDX-License-Identifier: GPL-2.0 */
/* Writes or copies a file with one call. */
#ifndef _SELFTESTS_TEXTFILE_H
#define _SELFTESTS_TEXTFILE_H

/* Returns 0 or negative errno. */
int write_text(const char *path, const char *text);

/* Copies a file to a new one with access for root only. Returns 0 or -1. */
int file_copy(const char *from, const char *to);

#endif /* _SELFTESTS_TEXTFILE_H */
