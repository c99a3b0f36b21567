/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies the programs and libraries that a log names to a directory beside it: see kept.h. Only a
 * file with the build id in the log is copied.
 */
#ifndef POSIXTRACE_KEEP_H
#define POSIXTRACE_KEEP_H

#include <stdbool.h>
#include <trace.h>

struct keep;

/*
 * keep_open() - create the directory beside the log @path, or use the one that is there. Returns 0,
 * or an error number after printing an error.
 */
int keep_open(const char *path, struct keep **keep);

/*
 * keep_log() - copy the files of a log, and print which cannot be copied, and why. Calls @stop
 * again and again; true ends the copying. Returns 0, or an error number after printing an error.
 */
int keep_log(struct keep *keep, trace_id_t log, bool (*stop)(void *arg), void *arg);

/* keep_summary() - print how much was copied */
void keep_summary(const struct keep *keep);

/* keep_close() - free @keep, or NULL, and remove the directory if it is empty */
void keep_close(struct keep *keep);

#endif /* POSIXTRACE_KEEP_H */
