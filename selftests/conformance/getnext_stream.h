/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of the functions that read one event: a running stream without events, and a log.
 */
#ifndef _SELFTESTS_GETNEXT_STREAM_H
#define _SELFTESTS_GETNEXT_STREAM_H

#include "log_reading.h"
#include "logged_stream.h"
#include "reading.h"
#include "trid_calls.h"

#define ROOM	sizeof(((struct event *)0)->data)

FIXTURE(getnext)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_SETUP(getnext)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	self->event.unavailable = -1;
}

FIXTURE_TEARDOWN(getnext)
{
	posix_trace_shutdown(self->trid);
}

static inline void ignore_signal(int signal)
{
	(void)signal;
}

/* A thread reads until a signal interrupts it. */
static inline void expect_interrupted(struct __test_metadata *_metadata, trace_id_t trid,
				      const struct timespec *abstime)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	struct reader reader;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, trid, abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	EXPECT_EQ(EINTR, reader_end(&reader));
	EXPECT_NE(0, reader.event.unavailable);
}

#endif /* _SELFTESTS_GETNEXT_STREAM_H */
