/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are written, or copied, with one call. */
#ifndef _SELFTESTS_TEXTFILE_H
#define _SELFTESTS_TEXTFILE_H

/* Returns 0 or negative errno. */
int write_text(const char *path, const char *text);

/* Copies a file to one that does not exist yet, which only root can use. Returns 0 or -1. */
int file_copy(const char *from, const char *to);

#endif /* _SELFTESTS_TEXTFILE_H */
