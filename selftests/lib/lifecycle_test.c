// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_start(), posix_trace_stop(), posix_trace_shutdown() and the status in
 * between.
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

TEST_F(life, start_makes_the_stream_run)
{
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(POSIX_TRACE_RUNNING, stream_status(self->trid));
}

TEST_F(life, stop_suspends_the_stream)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, stream_status(self->trid));
}

TEST_F(life, start_is_the_first_event_and_stop_the_last)
{
	struct event event;
	int automatic = -1;

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "before", 6);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "during", 6);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "after", 5);

	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(6, event.len);
	EXPECT_EQ(0, memcmp("during", event.data, 6));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	ASSERT_EQ(sizeof(automatic), event.len);
	memcpy(&automatic, event.data, sizeof(automatic));
	EXPECT_EQ(0, automatic);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(life, start_carries_the_filter)
{
	const trace_event_set_t empty = { 0 };
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	ASSERT_EQ(sizeof(empty), event.len);
	EXPECT_EQ(0, memcmp(&empty, event.data, sizeof(empty)));
}

TEST_F(life, start_and_stop_have_the_caller)
{
	unsigned long long before, after;
	struct event event;

	before = now();
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	after = now();
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(getpid(), event.info.posix_pid);
		EXPECT_TRUE(pthread_equal(pthread_self(), event.info.posix_thread_id));
		EXPECT_NE(NULL, event.info.posix_prog_address);
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
		EXPECT_LE(before, event_time(&event));
		EXPECT_GE(after, event_time(&event));
		before = event_time(&event);
	}
}

TEST_F(life, start_while_running_and_stop_while_suspended_do_nothing)
{
	struct event event;

	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(life, can_be_started_again)
{
	struct event event;

	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, posix_trace_start(self->trid));
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
		ASSERT_EQ(0, posix_trace_stop(self->trid));
	}
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(life, events_can_be_read_after_the_stop)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 100; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
	}
}

TEST_F(life, shutdown_invalidates_the_trid)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_start(self->trid));
	EXPECT_EQ(-EINVAL, take(self->trid, &event));
}

TEST_F(life, trace_point_keeps_working_without_the_stream)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
}

TEST(streams_come_and_go)
{
	int fds = dup(0), fds_after;
	struct event event;
	trace_id_t trid;

	close(fds);
	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
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

TEST(streams_of_one_process_are_independent)
{
	trace_id_t trid[3];
	struct event event;

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid[i]));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_start(trid[i]));
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	}
	ASSERT_EQ(0, posix_trace_shutdown(trid[1]));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(1, take_user(trid[0], &event));
		EXPECT_EQ(i, event_number(&event));
	}
	ASSERT_EQ(1, take_user(trid[2], &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, take_user(trid[2], &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid[0]));
	EXPECT_EQ(0, posix_trace_shutdown(trid[2]));
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
