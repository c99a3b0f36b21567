/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdw asks the servers of DEBUGINFOD_URLS for files, and may wait for each for minutes.
 */
#ifndef POSIXTRACE_DEBUGINFOD_H
#define POSIXTRACE_DEBUGINFOD_H

#include <elfutils/libdwfl.h>

/**
 * debuginfod_watch() - let a wait for servers print a message, and let a blocked signal end it
 * @dwfl: session that may ask
 * @path: file that it is about, which must live as long as @dwfl
 *
 * Without libdebuginfod or DEBUGINFOD_URLS, libdw asks no server. With DEBUGINFOD_PROGRESS, the
 * library prints its progress itself.
 */
void debuginfod_watch(struct Dwfl *dwfl, const char *path);

#endif /* POSIXTRACE_DEBUGINFOD_H */
