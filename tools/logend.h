/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be said when the events of a log have been read: is that all, and is it whole?
 */
#ifndef POSIXTRACE_LOGEND_H
#define POSIXTRACE_LOGEND_H

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

/**
 * struct logend - what was seen of a log; all zero in the beginning
 * @damaged: places that are damaged
 * @gaps: places where events were lost
 * @lost: events that were lost, as far as is known
 * @lost_before: of these, those before the first one
 * @lost_behind: of these, those behind the last one; set by logend_read()
 * @overwritten: events that a LOOP log has overwritten; set by logend_read()
 * @begun: there was an event
 */
struct logend {
	uint64_t damaged;
	uint64_t gaps;
	uint64_t lost;
	uint64_t lost_before;
	uint64_t lost_behind;
	uint64_t overwritten;
	bool begun;
};

/* logend_event() - one event more: each of the log */
void logend_event(struct logend *end, const struct event *event);

/* logend_ended() - was all of it written, so that nothing more comes? */
bool logend_ended(const struct source *source);

/**
 * logend_read() - all events were seen
 * @end: to be completed by what only the end of a log tells
 * @source: the log, at its end
 *
 * Return: 0 or negative errno.
 */
int logend_read(struct logend *end, const struct source *source);

/**
 * logend_tell() - say on standard error what is missing
 * @end: after logend_read()
 * @path: of the log
 * @source: the log, at its end
 *
 * Return: 0; -EIO if the log is damaged, or other negative errno.
 */
int logend_tell(const struct logend *end, const char *path, const struct source *source);

#endif /* POSIXTRACE_LOGEND_H */
