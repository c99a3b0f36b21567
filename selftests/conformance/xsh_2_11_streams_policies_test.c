// SPDX-License-Identifier: GPL-2.0
/*
 * Full policies of streams, with and without log:
 * Documentation/conformance/xsh_2_11_streams.rst
 */
#define _GNU_SOURCE
#include <linux/posixtrace_memory.h>
#include <sys/resource.h>

#include "../../kmod/ring/policy.h"
#include "pxt_test.h"
#include "policy_stream.h"
#include "stream_state.h"
#include "withlog.h"

TEST_F(loop, a19_loop_runs_until_it_is_stopped)
{
	int next = 0;

	for (int i = 0; i < 4; i++) {
		next = overfill_on_all_cpus(next);
		ASSERT_EQ(STATE(RUNNING, FULL), state_of(self->trid));
	}
	EXPECT_EQ(next, stats_of(self->trid).recorded);
	EXPECT_EQ(0, stats_of(self->trid).dropped);
}

/*
 * Returns the minimum number of latest events that a stream keeps when it overwrites, or a negative
 * error number. Does not count one sub-buffer of each other CPU, because it may contain few events
 * or none.
 */
static int promised_of_the_last(trace_id_t trid)
{
	long others = sysconf(_SC_NPROCESSORS_CONF) - 1;
	size_t size, max_data, each, lost;
	trace_attr_t attr;
	int err = posix_trace_get_attr(trid, &attr);

	if (!err)
		err = posix_trace_attr_getstreamsize(&attr, &size);
	if (!err)
		err = posix_trace_attr_getmaxdatasize(&attr, &max_data);
	if (!err)
		err = posix_trace_attr_getmaxusereventsize(&attr, sizeof(struct payload), &each);
	if (err)
		return -err;
	lost = others * pxt_subbuf_size(size, max_data);
	return lost < size ? (size - lost) / each : 0;
}

TEST_F(loop, a20_loop_has_the_most_recent_events_without_gaps)
{
	int next = 0, expected = -1, count = 0;
	struct event event;

	next = overfill_on_all_cpus(overfill_on_all_cpus(next));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	while (take_user(self->trid, &event) == 1) {
		if (count++)
			ASSERT_EQ(expected, event_number(&event));
		expected = event_number(&event) + 1;
	}
	EXPECT_EQ(next, expected);
	ASSERT_LE(0, promised_of_the_last(self->trid));
	EXPECT_LE(promised_of_the_last(self->trid), count);
}

TEST_F(until_full, a21_until_full_has_the_oldest_events_followed_by_stop)
{
	int expected = 0, id;
	struct event event;
	trace_attr_t attr;
	size_t size, each;

	overfill_on_all_cpus(0);
	ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	while ((id = take_id(self->trid, &event)) == POSIX_TRACE_UNNAMED_USEREVENT)
		ASSERT_EQ(expected++, event_number(&event));
	EXPECT_EQ(POSIX_TRACE_STOP, id);
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&attr, sizeof(struct payload), &each));
	EXPECT_LE(size / each, expected);
}

/* Records three times the capacity of the stream, and never leaves more than a third unread. */
TEST_F(stream, a22_space_of_events_that_were_read_is_reused)
{
	int expected = 0, number = 0;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 60; i++)
		record_number(number++);
	while (number < 900) {
		if (number % 20 == 0)
			ASSERT_LE(0, run_on(number / 20));
		record_number(number++);
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(expected++, event_number(&event));
	}
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(self->trid));
}

TEST_F(until_full, a23_starts_again_when_the_last_event_is_read)
{
	struct event event;
	int unread;

	overfill(0);
	unread = stats_of(self->trid).recorded;
	ASSERT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	while (unread--) {
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
		ASSERT_EQ(STATE(SUSPENDED, FULL), state_of(self->trid));
	}
	/* An event recorded at this point is lost, and does not start the stream. */
	record_number(4711);
	ASSERT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
}

TEST_F(until_full, a24_start_is_reported_before_the_next_event)
{
	struct event event;
	int number;

	for (int round = 0; round < 3; round++) {
		number = overfill_on_all_cpus(0);
		while (take_id(self->trid, &event) != POSIX_TRACE_STOP)
			;
		for (int i = 0; i < 3; i++)
			record_number(number + i);
		EXPECT_EQ(POSIX_TRACE_OVERFLOW, take_id(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_RESUME, take_id(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
		/* The automatic START has no process, and the filter of the stream as its data. */
		EXPECT_EQ(0, event.info.posix_pid);
		EXPECT_EQ(sizeof(trace_event_set_t), event.len);
		for (int i = 0; i < 3; i++) {
			EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
			EXPECT_EQ(number + i, event_number(&event));
		}
		EXPECT_EQ(0, take(self->trid, &event));
	}
}

/* A call that waits for an event returns the first one after the restart. */
TEST_F(until_full, a24_blocked_reader_wakes_up)
{
	struct event event;

	overfill(0);
	while (take_id(self->trid, &event) != POSIX_TRACE_STOP)
		;
	ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data,
					       sizeof(event.data), &event.len,
					       &event.unavailable));
	EXPECT_EQ(POSIX_TRACE_OVERFLOW, event.info.posix_event_id);
}

/* A stream stopped by posix_trace_stop() before it was full does not start by itself. */
TEST_F(until_full, a25_stopped_stream_does_not_start_when_it_is_empty)
{
	for (int i = 0; i < 50; i++)
		record_number(i);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(52, take_all(self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	record_number(50);
	EXPECT_EQ(0, take_all(self->trid));
}

static const struct log_kind flush_append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };

TEST(a26_flush_flushes_repeatedly)
{
	struct log_content content;
	int fd = log_tmpfile();
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&flush_append, fd, &trid));
	for (int i = 0; i < 3; i++) {
		withlog_record(i, 1);
		log_wait_number(fd, i);
	}
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd, &content);
	EXPECT_TRUE(log_content_is(&content, 3));
	EXPECT_LE(3, content.flush_starts);
	close(fd);
}

/* A stream that is flushed into a pipe without a reader. */
FIXTURE(stuck)
{
	trace_id_t trid;
	int pipe[2];
};

FIXTURE_SETUP(stuck)
{
	ASSERT_EQ(0, pipe2(self->pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(self->pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, withlog_new(0, &flush_append, self->pipe[1], &self->trid));
	close(self->pipe[1]);
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(stuck)
{
	close(self->pipe[0]);
	posix_trace_shutdown(self->trid);
}

TEST_F(stuck, a27_overrun_when_an_event_is_lost_during_a_flush)
{
	struct posix_trace_status_info status;

	withlog_record(0, 300);
	ASSERT_EQ(0, posix_trace_flush(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_FLUSHING, status.posix_stream_flush_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	withlog_record(300, 5000);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_FLUSHING, status.posix_stream_flush_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
}

/* The policy flushes once half of the memory is used. */
TEST_F(stuck, a28_flushing_during_a_flush_by_the_policy)
{
	struct posix_trace_status_info status;

	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, status.posix_stream_flush_status);
	withlog_record(0, 5000);
	do {
		sched_yield();
		ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	} while (status.posix_stream_flush_status != POSIX_TRACE_FLUSHING);
}

TEST_F(stuck, a29_first_error_of_a_flush_is_reported_once)
{
	struct posix_trace_status_info status;

	close(self->pipe[0]);
	withlog_record(0, 10);
	EXPECT_EQ(EPIPE, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(EPIPE, withlog_flush(self->trid));
}

TEST(a30_log_full_and_overrun_describe_the_log)
{
	const struct log_kind kinds[] = {
		{ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 16 << 10 },
		{ POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 16 << 10 },
	};
	struct posix_trace_status_info status;
	trace_id_t trid;
	int fd;

	for (int i = 0; i < 2; i++) {
		fd = log_tmpfile();
		ASSERT_EQ(0, withlog_start(&kinds[i], fd, &trid));
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
		withlog_record(0, 700);
		ASSERT_EQ(0, posix_trace_flush(trid));
		do {
			sched_yield();
			ASSERT_EQ(0, posix_trace_get_status(trid, &status));
			/*
			 * Only one read of the status reports the overrun, so check the status of
			 * every call.
			 */
		} while (i ? status.posix_log_overrun_status != POSIX_TRACE_OVERRUN :
			     status.posix_log_full_status != POSIX_TRACE_FULL);
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
		EXPECT_EQ(0, posix_trace_shutdown(trid));
		close(fd);
	}
}

/* Flushes and waits. Returns how often the status reported that the log has lost events. */
static int overruns_of_flush(trace_id_t trid)
{
	struct posix_trace_status_info status;
	int count = 0;

	if (posix_trace_flush(trid))
		return -1;
	do {
		sched_yield();
		if (posix_trace_get_status(trid, &status))
			return -1;
		count += status.posix_log_overrun_status == POSIX_TRACE_OVERRUN;
	} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	return count;
}

/* Records until the log takes no more events. Returns 0 or -1. */
static int fill_log(trace_id_t trid)
{
	struct posix_trace_status_info status;
	int rounds = 0, err;

	do {
		if (rounds++ == 100)
			return -1;
		withlog_record(0, 200);
		err = posix_trace_flush(trid);
		do {
			sched_yield();
			if (err || posix_trace_get_status(trid, &status))
				return -1;
			err = status.posix_stream_flush_error;
			if (err == EFBIG)
				return 0;
		} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	} while (status.posix_log_full_status == POSIX_TRACE_NOT_FULL);
	return 0;
}

/* The log is full because it reaches its maximum size, or the file size limit. */
TEST(a31_log_overrun_when_the_log_has_no_space)
{
	const struct log_kind kinds[] = {
		{ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 16 << 10 },
		{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 },
		{ POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 },
		{ POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 1 << 20 },
	};
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	const struct rlimit small = { 20 << 10, RLIM_INFINITY };
	struct posix_trace_status_info status;
	trace_id_t trid;
	int fd;

	for (int i = 0; i < 4; i++) {
		fd = log_tmpfile();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
		ASSERT_EQ(0, withlog_new(0, &kinds[i], fd, &trid));
		ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &none));
		ASSERT_EQ(0, posix_trace_start(trid));
		EXPECT_EQ(0, overruns_of_flush(trid));
		ASSERT_EQ(0, fill_log(trid));
		overruns_of_flush(trid);
		/* Record more than the stream holds. The log takes no events, so they are lost. */
		for (int round = 0; round < 3; round++) {
			withlog_record(0, 4000);
			EXPECT_LE(1, overruns_of_flush(trid)) {
				TH_LOG("kind %d, round %d", i, round);
			}
			ASSERT_EQ(0, posix_trace_get_status(trid, &status));
			EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
		}
		posix_trace_shutdown(trid);
		close(fd);
	}
}

TEST_HARNESS_MAIN
