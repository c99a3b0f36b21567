/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collects what must be reported at the end of a log: lost events, damage, and a missing end.
 */
#ifndef POSIXTRACE_LOGEND_H
#define POSIXTRACE_LOGEND_H

#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"

/**
 * struct logend - facts about a log; initially all zero
 * @damaged: number of damaged places
 * @gaps: number of places where events were lost
 * @lost: number of lost events, as far as known, and one for each missing log of a series
 * @lost_before: part of @lost before the first event
 * @lost_after: part of @lost after the last event; set by logend_read()
 * @overwritten: number of events overwritten in a LOOP log; set by logend_read()
 * @begun: an event has been read
 */
struct logend {
	uint64_t damaged;
	uint64_t gaps;
	uint64_t lost;
	uint64_t lost_before;
	uint64_t lost_after;
	uint64_t overwritten;
	bool begun;
};

/* logend_event() - account an event; call it for each event of the log */
void logend_event(struct logend *end, const struct event *event);

/* logend_ended() - check if the log has been finished */
bool logend_ended(const struct source *source);

/**
 * logend_read() - complete the counts after the last event
 * @end: the counts; adds those known only at the end of the log
 * @source: the log, at its end
 *
 * Return: 0 or a negative error number.
 */
int logend_read(struct logend *end, const struct source *source);

/**
 * logend_read_log() - get the losses of one of several logs
 * @end: result; @gaps, @lost_before and @lost_after are not known
 * @source: the logs, at their ends
 * @log: number of the log
 *
 * Return: 0 or a negative error number.
 */
int logend_read_log(struct logend *end, const struct source *source, size_t log);

/**
 * logend_tell() - report what is missing on standard error, for each log
 * @end: the counts, after logend_read()
 * @path: path of the log, if there is only one
 * @source: the log, at its end
 *
 * Return: 0, -EIO if a log is damaged, or another negative error number.
 */
int logend_tell(const struct logend *end, const char *path, const struct source *source);

#endif /* POSIXTRACE_LOGEND_H */
