/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel files that are written with one call. */
#ifndef _SELFTESTS_TEXTFILE_H
#define _SELFTESTS_TEXTFILE_H

/* Returns 0 or negative errno. */
int write_text(const char *path, const char *text);

#endif /* _SELFTESTS_TEXTFILE_H */
