/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of streams: helpers that set and read them.
 */
#ifndef _SELFTESTS_STREAM_STATE_H
#define _SELFTESTS_STREAM_STATE_H

#include <sys/time.h>

#include <posixtrace.h>

#include "trace_test.h"
#include "trid_calls.h"

/* posix_stream_status and posix_stream_full_status in one number. */
#define STATE(status, full) (POSIX_TRACE_##status << 8 | POSIX_TRACE_##full)

/* Returns the STATE() of a stream, or a negative error number. Resets the overrun status. */
static inline int state_of(trace_id_t trid)
{
	struct posix_trace_status_info status;
	int err = posix_trace_get_status(trid, &status);

	return err ? -err : status.posix_stream_status << 8 | status.posix_stream_full_status;
}

/* Returns the overrun status, or a negative error number. Resets it. */
static inline int overrun_of(trace_id_t trid)
{
	struct posix_trace_status_info status;
	int err = posix_trace_get_status(trid, &status);

	return err ? -err : status.posix_stream_overrun_status;
}

/* Event data: a number, in the largest size that new_stream() allows. */
struct payload {
	int number;
	char filler[252];
};

static inline void record_number(int number)
{
	struct payload payload = { .number = number };

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &payload, sizeof(payload));
}

/* More events than any stream of new_stream() holds. */
#define TOO_MANY	800

/* Records that many events, and returns the number after the last. */
static inline int overfill(int first)
{
	for (int i = 0; i < TOO_MANY; i++)
		record_number(first + i);
	return first + TOO_MANY;
}

/* Reads the next event. Returns its id, 0 if the stream is empty, or a negative error number. */
static inline int take_id(trace_id_t trid, struct event *event)
{
	int ret = take(trid, event);

	return ret == 1 ? (int)event->info.posix_event_id : ret;
}

/*
 * Runs in a traced child: records each number that the parent sends, until the parent closes the
 * pipe.
 */
static inline int child_record(void *arg, const struct talk *talk)
{
	long number;

	(void)arg;
	say(talk, 0);
	while ((number = hear(talk)) != -EPIPE) {
		record_number(number);
		say(talk, number);
	}
	return 0;
}

/* Makes the child record a number, and returns its answer: the same number. */
static inline long let_record(struct child *child, long number)
{
	say(&child->talk, number);
	return hear(&child->talk);
}

static int signals_handled;

static inline void count_signal(int signal)
{
	(void)signal;
	signals_handled++;
}

/* From now on, a handler runs every millisecond without restarting system calls. */
static inline int signals_begin(void)
{
	const struct itimerval every_ms = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = count_signal };

	return sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &every_ms, NULL);
}

static inline int signals_end(void)
{
	const struct itimerval never = { 0 };

	return setitimer(ITIMER_REAL, &never, NULL);
}

#endif /* _SELFTESTS_STREAM_STATE_H */
