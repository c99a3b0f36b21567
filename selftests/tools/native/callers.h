/* SPDX-License-Identifier: GPL-2.0 */
/* What callers.c calls in its library, and the library in it. */
#ifndef _SELFTESTS_CALLERS_H
#define _SELFTESTS_CALLERS_H

void library_event(void);
void write_event(const void *address, const char *function, int line);

#endif /* _SELFTESTS_CALLERS_H */
