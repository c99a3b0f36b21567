/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Continues a recording in numbered logs: LOG, then LOG.1, LOG.2 and so on; or NAME.log, then
 * NAME.1.log.
 */
#ifndef POSIXTRACE_ROTATION_H
#define POSIXTRACE_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#include "session/logfile.h"
#include "util/options.h"

struct rotation {
	/* Options: */
	size_t size;		/* begin a new log when this many bytes are written; 0: no limit */
	uint64_t ns;		/* begin a new log after this time; 0: no limit */
	bool conditions;	/* the caller begins the logs, by the conditions of --when */
	unsigned long keep;	/* number of logs to keep; 0: all; see rotation_next() */
	bool skip;		/* if a log exists, use the next free number; otherwise, fail */

	const char *base;	/* path of the first log */
	char *path;		/* path of the current log, unless it is the first one */
	unsigned int current;	/* number of the current log; the first one is 0 */
	unsigned int oldest;	/* number of the oldest log that is kept */
	unsigned long long written;	/* bytes of the logs before the current one */
	/* Start of the current log, or the last failure to begin the next one: */
	uint64_t began;		/* its time: CLOCK_MONOTONIC, ns */
	unsigned long long from;	/* size of the current log at that time, bytes */
};

/* rotation_option() - the --rotate option: a size, a time, or both, with a comma in between */
int rotation_option(struct rotation *rotation, const struct command_option *option,
		    const char *text);

/*
 * rotation_begin() - check that the log can be rotated, and that the file for the next log does not
 * exist. Returns 0, or an error number after printing an error.
 */
int rotation_begin(struct rotation *rotation, const struct logfile *log);

/*
 * rotation_is_due() - is it time for the next log, by size or time? After a failure, it is time
 * again after as many bytes or as much time.
 */
bool rotation_is_due(const struct rotation *rotation, const struct logfile *log);

/*
 * rotation_next() - continue the stream in the next log, which becomes @log, and remove the oldest
 * log if there are too many, or if there is no space for the next one. @log counts as one of the
 * logs to keep, unless conditions begin the logs: then it has no condition yet, so it does not
 * count. *end_error is set to the error with which the old log ended, or 0. Returns 0, or an error
 * number after printing an error. After an error, the recording continues in the current log.
 */
int rotation_next(struct rotation *rotation, struct logfile *log, trace_id_t trid, int *end_error);

/* rotation_free() - free the path */
void rotation_free(struct rotation *rotation);

#endif /* POSIXTRACE_ROTATION_H */
