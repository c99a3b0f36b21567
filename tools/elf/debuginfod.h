/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes libdw's queries to debuginfod servers (DEBUGINFOD_URLS) visible and interruptible, because
 * a query can take minutes.
 */
#ifndef POSIXTRACE_DEBUGINFOD_H
#define POSIXTRACE_DEBUGINFOD_H

#include <elfutils/libdwfl.h>

/**
 * debuginfod_watch() - print a message during a query, and let a blocked signal end it
 * @dwfl: session that may query servers
 * @path: file that @dwfl reads; must live as long as @dwfl
 *
 * Without libdebuginfod or DEBUGINFOD_URLS, libdw does not query servers. With DEBUGINFOD_PROGRESS,
 * libdebuginfod prints its own progress.
 */
void debuginfod_watch(struct Dwfl *dwfl, const char *path);

#endif /* POSIXTRACE_DEBUGINFOD_H */
