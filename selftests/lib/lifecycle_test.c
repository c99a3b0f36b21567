// SPDX-License-Identifier: GPL-2.0
/*
 * Streams that come and go, and a stream that two threads start and stop.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "trace_test.h"

FIXTURE(life)
{
	trace_id_t trid;
};

FIXTURE_SETUP(life)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(life)
{
	posix_trace_shutdown(self->trid);
}

static int stream_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_status;
}

TEST(streams_come_and_go)
{
	int fds = dup(0), fds_after;
	struct event event;
	trace_id_t trid;

	close(fds);
	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
		ASSERT_EQ(1, take_user(trid, &event));
		ASSERT_EQ(i, event_number(&event));
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
	/* The stream's descriptor is closed. */
	fds_after = dup(0);
	EXPECT_EQ(fds, fds_after);
	close(fds_after);
}

static void *start_stop(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;

	for (int i = 0; i < 50; i++) {
		if (posix_trace_start(trid) || posix_trace_stop(trid))
			return arg;
	}
	return NULL;
}

TEST_F(life, two_threads_can_control_it)
{
	pthread_t threads[2];
	void *failed;

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, start_stop, &self->trid));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &failed));
		EXPECT_EQ(NULL, failed);
	}
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, stream_status(self->trid));
}

TEST_HARNESS_MAIN
