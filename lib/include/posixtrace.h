/* SPDX-License-Identifier: MIT */
/*
 * <posixtrace.h> - what libposixtrace offers beyond the standard's <trace.h>.
 */
#ifndef _POSIXTRACE_H
#define _POSIXTRACE_H	1

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that a program is compiled against. */
#define POSIXTRACE_VERSION_MAJOR	1
#define POSIXTRACE_VERSION_MINOR	0

/* Version of the library that the program runs with, such as "1.0". */
const char *posixtrace_version(void);

#ifdef __cplusplus
}
#endif

#endif /* _POSIXTRACE_H */
