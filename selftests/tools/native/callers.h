/* SPDX-License-Identifier: GPL-2.0 */
/* The calls between callers.c and its library, in both directions. */
#ifndef _SELFTESTS_CALLERS_H
#define _SELFTESTS_CALLERS_H

void library_event(void);
void write_event(const void *address, const char *function, int line);

#endif /* _SELFTESTS_CALLERS_H */
