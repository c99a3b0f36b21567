// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_stop(): Documentation/conformance/posix_trace_stop.rst
 */
#define _GNU_SOURCE
#include "stream_fixtures.h"
#include "event_of_call.h"
#include "stream_state.h"

TEST_F(running, a01_stop_follows_all_events)
{
	struct event event;

	for (int i = 0; i < 5; i++)
		record_number(i);
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	record_number(5);
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	EXPECT_EQ(0, take(self->trid, &event));
}

/* Threads that record as many events as they are allowed to. */
struct writers {
	int ended;
	int allowed;
	int recorded;
};

struct writer {
	pthread_t thread;
	struct writers *all;
	int cpu;
};

static void *write_until_ended(void *arg)
{
	struct writer *writer = arg;
	struct writers *all = writer->all;

	run_on(writer->cpu);
	while (!__atomic_load_n(&all->ended, __ATOMIC_ACQUIRE)) {
		if (__atomic_fetch_sub(&all->allowed, 1, __ATOMIC_ACQ_REL) <= 0) {
			sched_yield();
			continue;
		}
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
		__atomic_fetch_add(&all->recorded, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Allows far fewer events than fill the stream, and waits until the threads are recording. */
static void let_write(struct writers *all)
{
	int wanted = __atomic_load_n(&all->recorded, __ATOMIC_ACQUIRE) + 20;

	__atomic_store_n(&all->allowed, 300, __ATOMIC_RELEASE);
	while (__atomic_load_n(&all->recorded, __ATOMIC_ACQUIRE) < wanted)
		sched_yield();
}

/* No event follows STOP, however many threads are recording at that moment. */
TEST_F(running, a01_stop_follows_all_events_of_threads_on_all_cpus)
{
	struct writers all = { 0 };
	struct writer writer[3];
	struct event event;

	for (int i = 0; i < 3; i++) {
		writer[i] = (struct writer){ .all = &all, .cpu = i };
		ASSERT_EQ(0, pthread_create(&writer[i].thread, NULL, write_until_ended,
					    &writer[i]));
	}
	for (int round = 0; round < 20; round++) {
		int last = 0, id;

		let_write(&all);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		let_write(&all);
		while ((id = take_id(self->trid, &event)) > 0) {
			ASSERT_NE(POSIX_TRACE_STOP, last);
			last = id;
		}
		ASSERT_EQ(0, id);
		ASSERT_EQ(POSIX_TRACE_STOP, last);
		ASSERT_EQ(0, posix_trace_start(self->trid));
	}
	__atomic_store_n(&all.ended, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_join(writer[i].thread, NULL));
}

TEST_F(running, a02_status_becomes_suspended)
{
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

TEST_F(running, a03_suspended_stream_records_no_stop)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	EXPECT_EQ(0, take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(running, a03_new_stream_records_no_stop)
{
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, variant->policy, &trid));
	EXPECT_EQ(0, posix_trace_stop(trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(trid));
	EXPECT_EQ(0, take_all(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a04_full_stream_does_not_change)
{
	int id, automatic = 0, stops = 0;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	overfill(0);
	EXPECT_EQ(0, posix_trace_stop(trid));
	EXPECT_EQ(STATE(SUSPENDED, FULL), state_of(trid));
	/*
	 * The only STOP is the automatic one of the full stream: posix_trace_stop() has recorded
	 * none.
	 */
	while ((id = take_id(trid, &event)) > 0 && id != POSIX_TRACE_OVERFLOW) {
		if (id != POSIX_TRACE_STOP)
			continue;
		stops++;
		automatic = event_number(&event);
	}
	EXPECT_EQ(1, stops);
	EXPECT_NE(0, automatic);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* The call does not change the status, so the stream still restarts once it has been read. */
TEST(a04_full_stream_starts_again_once_read)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	overfill(0);
	EXPECT_EQ(0, posix_trace_stop(trid));
	while (take_id(trid, &event) != POSIX_TRACE_STOP)
		;
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(trid));
	/* Now that the stream has restarted, it can be stopped. */
	EXPECT_EQ(0, posix_trace_stop(trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a05_full_loop_stream_stops)
{
	int last = 0, number = -1, id;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	overfill(0);
	ASSERT_EQ(STATE(RUNNING, FULL), state_of(trid));
	EXPECT_EQ(0, posix_trace_stop(trid));
	record_number(TOO_MANY);
	while ((id = take_id(trid, &event)) > 0) {
		last = id;
		if (id == POSIX_TRACE_UNNAMED_USEREVENT)
			number = event_number(&event);
	}
	ASSERT_EQ(0, id);
	EXPECT_EQ(POSIX_TRACE_STOP, last);
	EXPECT_EQ(TOO_MANY - 1, number);
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(running, a06_data_of_stop_is_an_int_of_0)
{
	struct event event;

	EXPECT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	EXPECT_EQ(sizeof(int), event.len);
	EXPECT_EQ(0, event_number(&event));
}

TEST_F(running, a07_only_that_stream_is_stopped)
{
	trace_id_t other;

	ASSERT_EQ(0, start_new_stream(variant->policy, &other));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(other));
	record_number(1);
	EXPECT_EQ(2, take_all(other));
	EXPECT_EQ(1, take_all(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(running, a08_recorded_events_can_still_be_read)
{
	struct posixtrace_batch_event batch[4];
	char buffer[4 * 256];
	struct event event;
	size_t count;

	for (int i = 0; i < 100; i++)
		record_number(i);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	for (int i = 0; i < 96; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
	}
	ASSERT_EQ(0, posixtrace_getevents(self->trid, batch, 4, buffer, sizeof(buffer), &count,
					  0));
	ASSERT_EQ(4, count);
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, batch[3].event.posix_event_id);
	EXPECT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
}

TEST_F(running, a09_filtered_stop_is_not_recorded)
{
	trace_event_set_t set;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_STOP, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(1, take_all(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	record_number(1);
	EXPECT_EQ(0, take_all(self->trid));
}

TEST_F(running, a10_stop_has_process_thread_address_and_time_of_the_call)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, new_stream(child.pid, variant->policy, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(POSIX_TRACE_START, take_id(trid, &event));
	expect_event_of_call(_metadata, POSIX_TRACE_STOP, posix_trace_stop, trid);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(running, a11_einval_without_an_active_stream)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_stop, self->trid));
	/* The failed calls have stopped no stream. */
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(0, take_all(self->trid));
}

TEST_F(running, a12_signals_leave_it_undone_or_done)
{
	struct event event;
	int err, rounds = 0;

	ASSERT_EQ(0, signals_begin());
	while (signals_handled < 10 || rounds < 50) {
		record_number(rounds);
		do {
			err = posix_trace_stop(self->trid);
		} while (err == EINTR);
		ASSERT_EQ(0, err);
		record_number(-1);
		ASSERT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		ASSERT_EQ(rounds, event_number(&event));
		ASSERT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
		ASSERT_EQ(0, take(self->trid, &event));
		ASSERT_EQ(0, posix_trace_start(self->trid));
		ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
		rounds++;
	}
	ASSERT_EQ(0, signals_end());
}

TEST_F(running, a13_no_cancellation_point)
{
	EXPECT_EQ(0, call_trid_cancelled(posix_trace_stop, self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(1, take_all(self->trid));
}

TEST_F(running, a14_many_threads_stop_it_once)
{
	struct repeater repeaters[4];

	repeaters_start(_metadata, repeaters, 4, posix_trace_stop, self->trid, 50);
	repeaters_end(_metadata, repeaters, 4);
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(1, take_all(self->trid));
}

TEST_F(running, a15_errno_does_not_change)
{
	expect_errno_kept(_metadata, posix_trace_stop, self->trid, 0);
}

TEST_HARNESS_MAIN
