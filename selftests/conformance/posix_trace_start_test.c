// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_start(): Documentation/conformance/posix_trace_start.rst
 */
#define _GNU_SOURCE
#include "stream_fixtures.h"
#include "event_of_call.h"
#include "stream_state.h"

TEST_F(stream, a01_start_precedes_all_events)
{
	struct event event;

	record_number(1);
	EXPECT_EQ(0, posix_trace_start(self->trid));
	record_number(2);
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(stream, a02_status_becomes_running)
{
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
}

/* The traced process may be idle at that time. */
TEST_F(stream, a02_status_becomes_running_for_an_idle_process)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, variant->policy, &trid));
	EXPECT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(trid));
	EXPECT_EQ(POSIX_TRACE_START, take_id(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(stream, a03_running_stream_keeps_running_and_records_no_start)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	record_number(2);
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	for (int i = 1; i <= 2; i++) {
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

/* Reads all events, and returns the number of those with this type. */
static int count_of(trace_id_t trid, trace_event_id_t id)
{
	struct event event;
	int count = 0, found;

	while ((found = take_id(trid, &event)) > 0)
		count += found == (int)id;
	return found ? found : count;
}

TEST(a04_full_stream_does_not_change)
{
	struct posixtrace_stats_info before, after;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	overfill(0);
	ASSERT_EQ(STATE(SUSPENDED, FULL), state_of(trid));
	ASSERT_EQ(0, posixtrace_get_stats(trid, &before));
	EXPECT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(trid));
	ASSERT_EQ(0, posixtrace_get_stats(trid, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
	/* New events are still lost, because the call has failed. */
	record_number(1);
	ASSERT_EQ(0, posixtrace_get_stats(trid, &after));
	EXPECT_EQ(before.recorded, after.recorded);
	EXPECT_EQ(before.dropped + 1, after.dropped);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a04_full_stream_records_no_start)
{
	struct event event;
	trace_id_t trid;
	int id;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	overfill(0);
	EXPECT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(POSIX_TRACE_START, take_id(trid, &event));
	do {
		id = take_id(trid, &event);
	} while (id == POSIX_TRACE_UNNAMED_USEREVENT);
	EXPECT_EQ(POSIX_TRACE_STOP, id);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* A full LOOP stream overwrites its oldest events, so it can run although it is full. */
TEST(a05_full_loop_stream_starts)
{
	struct event event;
	trace_id_t trid;
	int ret;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	overfill(0);
	ASSERT_EQ(STATE(RUNNING, FULL), state_of(trid));
	ASSERT_EQ(0, posix_trace_stop(trid));
	EXPECT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(STATE(RUNNING, FULL), state_of(trid));
	record_number(4711);
	while ((ret = take(trid, &event)) == 1 && event.info.posix_event_id != POSIX_TRACE_STOP)
		;
	ASSERT_EQ(1, ret);
	EXPECT_EQ(POSIX_TRACE_START, take_id(trid, &event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(trid, &event));
	EXPECT_EQ(4711, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(stream, a06_stopped_stream_starts_again)
{
	struct event event;

	for (int i = 0; i < 10; i++) {
		EXPECT_EQ(0, posix_trace_start(self->trid));
		EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
		record_number(i);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		record_number(-i);
	}
	for (int i = 0; i < 10; i++) {
		EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(stream, a07_only_that_stream_is_started)
{
	trace_id_t other;

	ASSERT_EQ(0, new_stream(0, variant->policy, &other));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(other));
	record_number(1);
	EXPECT_EQ(0, take_all(other));
	EXPECT_EQ(2, take_all(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(stream, a08_start_carries_the_filter)
{
	trace_event_set_t set, carried;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	ASSERT_EQ(sizeof(set), event.len);
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	EXPECT_EQ(0, memcmp(&set, event.data, sizeof(set)));

	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_STOP, &set));
	ASSERT_EQ(0, posix_trace_eventset_add(4095, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	ASSERT_EQ(sizeof(set), event.len);
	memcpy(&carried, event.data, sizeof(carried));
	EXPECT_EQ(0, memcmp(&set, &carried, sizeof(set)));
}

TEST_F(stream, a09_filtered_start_is_not_recorded)
{
	trace_event_set_t set;
	struct event event;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_START, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	record_number(1);
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(stream, a10_start_has_process_thread_address_and_time_of_the_call)
{
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, new_stream(child.pid, variant->policy, &trid));
	expect_event_of_call(_metadata, POSIX_TRACE_START, posix_trace_start, trid);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(stream, a11_einval_without_an_active_stream)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_start, self->trid));
	/* The failed calls have started no stream. */
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(0, take_all(self->trid));
}

/* Each call takes full effect or no effect, interrupted or not: START and STOP alternate. */
TEST_F(stream, a12_signals_leave_it_undone_or_done)
{
	struct event event;
	int err, rounds = 0;

	ASSERT_EQ(0, signals_begin());
	while (signals_handled < 10 || rounds < 50) {
		do {
			err = posix_trace_start(self->trid);
		} while (err == EINTR);
		ASSERT_EQ(0, err);
		ASSERT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
		ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
		do {
			err = posix_trace_stop(self->trid);
		} while (err == EINTR);
		ASSERT_EQ(0, err);
		ASSERT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
		ASSERT_EQ(0, take(self->trid, &event));
		rounds++;
	}
	ASSERT_EQ(0, signals_end());
}

TEST_F(stream, a13_no_cancellation_point)
{
	EXPECT_EQ(0, call_trid_cancelled(posix_trace_start, self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(1, take_all(self->trid));
}

TEST_F(stream, a14_many_threads_start_it_once)
{
	struct repeater repeaters[4];

	repeaters_start(_metadata, repeaters, 4, posix_trace_start, self->trid, 50);
	repeaters_end(_metadata, repeaters, 4);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(1, count_of(self->trid, POSIX_TRACE_START));
}

TEST_F(stream, a15_errno_does_not_change)
{
	expect_errno_kept(_metadata, posix_trace_start, self->trid, 0);
}

TEST_HARNESS_MAIN
