// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_clear(): Documentation/conformance/posix_trace_clear.rst
 */
#define _GNU_SOURCE
#include "stream_fixtures.h"
#include "polling.h"
#include "stream_state.h"
#include "logged_stream.h"

TEST_F(started, a01_recorded_events_are_gone)
{
	struct event event;

	for (int i = 0; i < 10; i++)
		record_number(i);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(started, a01_report_of_lost_events_is_gone)
{
	struct event event;

	overfill(0);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
}

/* Clears a half-read stream that has lost events: no cleared event reappears. */
TEST_F(started, a01_half_read_events_are_gone)
{
	struct event event;

	overfill(0);
	for (int i = 0; i < 20; i++)
		ASSERT_EQ(1, take(self->trid, &event));
	overfill(TOO_MANY);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
}

/* The reader has read OVERFLOW; RESUME and an event would come next. */
TEST_F(started, a01_between_reading_overflow_and_resume)
{
	struct event event;

	overfill(0);
	if (variant->policy == POSIX_TRACE_UNTIL_FULL) {
		while (take_id(self->trid, &event) != POSIX_TRACE_STOP)
			;
		record_number(1);
	}
	ASSERT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
	record_number(2);
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
}

/* poll() does not report events that are gone. */
TEST_F(started, a01_poll_reports_nothing)
{
	int fd = posixtrace_fd(self->trid);

	record_number(1);
	ASSERT_EQ(POLLIN, poll_say(fd, 0));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, poll_say(fd, 0));
	record_number(2);
	EXPECT_EQ(POLLIN, poll_say(fd, 0));
}

TEST_F(started, a01_events_of_all_cpus_are_gone)
{
	struct event event;

	for (int cpu = 0; cpu < 4; cpu++) {
		ASSERT_LE(0, run_on(cpu));
		for (int i = 0; i < 20; i++)
			record_number(i);
	}
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
	for (int cpu = 0; cpu < 4; cpu++) {
		ASSERT_LE(0, run_on(cpu));
		record_number(cpu);
	}
	for (int cpu = 0; cpu < 4; cpu++) {
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(cpu, event_number(&event));
	}
}

TEST_F(started, a02_running_stream_keeps_running)
{
	struct event event;

	record_number(1);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	record_number(2);
	/* No START precedes the event, because posix_trace_clear() has not restarted the stream. */
	ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, take(self->trid, &event));
	/* The stream is running, so a start has no effect, but a stop has. */
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
}

TEST_F(started, a03_suspended_stream_stays_suspended)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	record_number(1);
	EXPECT_EQ(0, take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	record_number(2);
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	EXPECT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
}

TEST_F(started, a03_new_stream_stays_suspended)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, variant->policy, &trid));
	EXPECT_EQ(0, posix_trace_clear(trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(trid));
	record_number(1);
	EXPECT_EQ(0, take(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(started, a04_stream_is_not_full)
{
	int state;

	overfill(0);
	state = state_of(self->trid);
	ASSERT_TRUE(state == STATE(RUNNING, FULL) || state == STATE(SUSPENDED, FULL));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(state == STATE(RUNNING, FULL) ? STATE(RUNNING, NOT_FULL) :
		  STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
}

/* A full stream is suspended, and clearing does not change that. */
TEST(a04_full_stream_is_suspended_afterwards)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	overfill(0);
	EXPECT_EQ(0, posix_trace_clear(trid));
	/* An empty stream does not start by itself. */
	record_number(1);
	EXPECT_EQ(0, take(trid, &event));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(trid));
	EXPECT_EQ(0, posix_trace_stop(trid));
	EXPECT_EQ(0, take(trid, &event));
	EXPECT_EQ(0, posix_trace_start(trid));
	record_number(2);
	EXPECT_EQ(POSIX_TRACE_START, take_id(trid, &event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(started, a05_event_types_remain)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t before, after;

	ASSERT_EQ(0, posix_trace_eventid_open("clear", &before));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "clear", &after));
	EXPECT_EQ(before, after);
	ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, before, name));
	EXPECT_STREQ("clear", name);
}

TEST_F(started, a06_filter_does_not_change)
{
	trace_event_set_t set, filter;
	struct event event;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(0, memcmp(&set, &filter, sizeof(set)));
	record_number(1);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(started, a07_no_overrun)
{
	overfill(0);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

/* Earlier losses do not hide later ones. */
TEST_F(started, a07_overrun_after_the_next_loss)
{
	overfill(0);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	overfill(0);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, overrun_of(self->trid));
}

TEST_F(started, a07_as_much_space_as_in_a_new_stream)
{
	struct event event;
	int taken = 0;

	overfill(0);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 100; i++)
		record_number(i);
	while (take_user(self->trid, &event) == 1)
		EXPECT_EQ(taken++, event_number(&event));
	EXPECT_EQ(100, taken);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

TEST_F(started, a07_counters_restart_at_0)
{
	struct posixtrace_stats_info stats;
	struct event event;

	overfill(0);
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(0, stats.recorded);
	EXPECT_EQ(0, stats.read);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(0, stats.overwritten);
	EXPECT_EQ(0, stats.skipped);
	EXPECT_EQ(0, stats.system_lost);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 10; i++)
		record_number(i);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(10, stats.recorded);
	EXPECT_EQ(0, stats.dropped);
}

/* The stream fills up, reports that and restarts as a new stream does. */
TEST(a07_until_full_fills_up_again)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	for (int round = 0; round < 3; round++) {
		int expected = 0, id;

		ASSERT_EQ(0, posix_trace_start(trid));
		overfill(0);
		ASSERT_EQ(POSIX_TRACE_START, take_id(trid, &event));
		while ((id = take_id(trid, &event)) == POSIX_TRACE_UNNAMED_USEREVENT)
			ASSERT_EQ(expected++, event_number(&event));
		ASSERT_EQ(POSIX_TRACE_STOP, id);
		ASSERT_EQ(STATE(RUNNING, NOT_FULL), state_of(trid));
		ASSERT_EQ(0, posix_trace_stop(trid));
		ASSERT_EQ(0, posix_trace_clear(trid));
	}
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(started, a08_einval_without_an_active_stream)
{
	record_number(1);
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_clear, self->trid));
	/* The failed calls have not cleared the stream. */
	EXPECT_EQ(2, take_all(self->trid));
}

TEST_F(started, a09_attributes_do_not_change)
{
	trace_attr_t before, after;

	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &before));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

/* The stream keeps its memory, and takes no more. */
TEST_F(started, a10_uses_the_same_memory)
{
	struct posixtrace_stats_info before, after;

	overfill(0);
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &before));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, posix_trace_start(self->trid));
		for (int j = 0; j < 40; j++)
			record_number(j);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		ASSERT_EQ(0, posix_trace_clear(self->trid));
	}
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &after));
	EXPECT_EQ(before.memory, after.memory);
}

TEST_F(started, a11_no_other_stream_is_cleared)
{
	trace_id_t other;

	ASSERT_EQ(0, start_new_stream(variant->policy, &other));
	record_number(1);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take_all(self->trid));
	EXPECT_EQ(2, take_all(other));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

/* A thread that records, with its next number and its CPU. */
struct writer {
	pthread_t thread;
	const int *ended;
	int number;
	int cpu;
};

static void *write_until_ended(void *arg)
{
	struct writer *writer = arg;

	run_on(writer->cpu);
	while (!__atomic_load_n(writer->ended, __ATOMIC_ACQUIRE)) {
		record_number(writer->number);
		__atomic_store_n(&writer->number, writer->number + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Events that began after the call are kept; events that ended before it are gone. */
TEST_F(started, a12_threads_can_record_during_the_call)
{
	struct writer writer = { .cpu = 1 };
	struct event event;
	int ended = 0;

	writer.ended = &ended;
	ASSERT_EQ(0, pthread_create(&writer.thread, NULL, write_until_ended, &writer));
	for (int round = 0; round < 20; round++) {
		int before, after;

		before = __atomic_load_n(&writer.number, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&writer.number, __ATOMIC_ACQUIRE) < before + 5)
			sched_yield();
		before = __atomic_load_n(&writer.number, __ATOMIC_ACQUIRE);
		ASSERT_EQ(0, posix_trace_clear(self->trid));
		/*
		 * Wait until the event that may be in progress is recorded, and the next one as
		 * well.
		 */
		after = __atomic_load_n(&writer.number, __ATOMIC_ACQUIRE) + 1;
		/* The stream is suspended if it was full when it was cleared. */
		ASSERT_EQ(0, posix_trace_start(self->trid));
		while (__atomic_load_n(&writer.number, __ATOMIC_ACQUIRE) <= after)
			sched_yield();
		while (take_user(self->trid, &event) == 0)
			sched_yield();
		ASSERT_LE(before, event_number(&event));
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(writer.thread, NULL));
}

/* One thread reads, one records, two clear. */
TEST_F(started, a12_threads_can_read_and_clear_concurrently)
{
	struct repeater clearers[2];
	struct writer writer = { .cpu = 0 };
	struct event event;
	int ended = 0;

	writer.ended = &ended;
	ASSERT_EQ(0, pthread_create(&writer.thread, NULL, write_until_ended, &writer));
	repeaters_start(_metadata, clearers, 2, posix_trace_clear, self->trid, 30);
	for (int i = 0, last = -1; i < 500; i++) {
		int ret = take(self->trid, &event);

		ASSERT_LE(0, ret);
		if (!ret)
			ASSERT_EQ(0, posix_trace_start(self->trid));
		if (ret && event.info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT) {
			ASSERT_LT(last, event_number(&event));
			last = event_number(&event);
		}
	}
	repeaters_end(_metadata, clearers, 2);
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(writer.thread, NULL));
	/* Afterwards the stream works as before. */
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(4711);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(4711, event_number(&event));
}

TEST_F(started, a13_cancelled_thread_holds_no_lock)
{
	int ret = call_trid_cancelled(posix_trace_clear, self->trid);

	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	record_number(1);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, take_all(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* ------------------------------------------------------------------ */
/* With a log								*/

TEST_F(logged, a14_log_restarts)
{
	const struct log_kind until_full = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 16 << 10 };
	struct posix_trace_status_info status;
	struct log_content content;
	int fd = log_tmpfile();
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&until_full, fd, &trid));
	withlog_record(0, 700);
	ASSERT_EQ(0, withlog_flush(trid));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_log_full_status);
	ASSERT_EQ(0, posix_trace_clear(trid));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
	log_content_fd(fd, &content);
	EXPECT_TRUE(log_content_is(&content, 0));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	close(fd);
}

TEST_F(logged, a15_first_event_in_the_log_is_the_first_after_the_call)
{
	struct log_content content;

	withlog_record(100, 100);
	ASSERT_EQ(0, withlog_flush(self->trid));
	withlog_record(200, 100);
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	withlog_record(0, 10);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 10));
	EXPECT_EQ(0, content.starts);
}

TEST_HARNESS_MAIN
