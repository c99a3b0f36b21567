/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of callers.c that its library calls, and functions of the library that callers.c calls.
 */
#ifndef _SELFTESTS_CALLERS_H
#define _SELFTESTS_CALLERS_H

void library_event(void);
void write_event(const void *address, const char *function, int line);

#endif /* _SELFTESTS_CALLERS_H */
