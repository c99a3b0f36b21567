// SPDX-License-Identifier: GPL-2.0
/*
 * Flushes on request and automatically, while recording continues.
 */
#define _GNU_SOURCE
#include <sys/ioctl.h>

#include <linux/posixtrace_log.h>

#include "../../kmod/ring/policy.h"
#include "logdrain.h"
#include "pxt_test.h"
#include "reading.h"

static const struct log_kind append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };
static const struct log_kind no_auto = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
static const struct log_kind until_full = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 };

/* Numbers that one thread records to fill half of a stream's memory, and all of it. */
#define HALF	((int)(LOG_STREAM_SIZE / 2 / POSIXTRACE_RECORD_STEP(sizeof(__u64))))
#define ALL	(4 * HALF)

FIXTURE(flush)
{
	trace_id_t trid;
	trace_id_t log;
	int fd;
};

FIXTURE_SETUP(flush)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	self->trid = -1;
	self->log = -1;
}

FIXTURE_TEARDOWN(flush)
{
	posix_trace_shutdown(self->trid);
	posix_trace_close(self->log);
	close(self->fd);
}

static int stream_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_status;
}

static int flush_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_flush_status;
}

/* Copies from a pipe until the flush has ended and the pipe is empty. */
static int copy_flush(trace_id_t trid, int from, int to)
{
	int left, flushing;

	do {
		flushing = flush_status(trid);
		if (flushing < 0 || ioctl(from, FIONREAD, &left) < 0)
			return -1;
		if (left && copy_once(from, to) != 1)
			return -1;
		sched_yield();
	} while (left || flushing == POSIX_TRACE_FLUSHING);
	return 0;
}

TEST_F(flush, returns_before_it_is_done_and_recording_continues)
{
	struct log_content content;
	struct drain drain;
	int pipe[2], begun;

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, withlog_new(0, &no_auto, pipe[1], &self->trid));
	close(pipe[1]);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, flush_status(self->trid));
	/* More than the pipe holds: the flush cannot end before a read. */
	withlog_record(0, 300);
	ASSERT_EQ(0, posix_trace_flush(self->trid));
	EXPECT_EQ(POSIX_TRACE_FLUSHING, flush_status(self->trid));
	/*
	 * The flush has begun when the pipe contains more than the header. Two requests before that
	 * would be combined into one flush.
	 */
	do {
		sched_yield();
		ASSERT_EQ(0, ioctl(pipe[0], FIONREAD, &begun));
	} while (begun <= (int)sizeof(struct posixtrace_log_header));
	withlog_record(300, 300);
	EXPECT_EQ(POSIX_TRACE_FLUSHING, flush_status(self->trid));
	EXPECT_EQ(POSIX_TRACE_RUNNING, stream_status(self->trid));
	/* This request does not wait. Its flush follows the first flush. */
	ASSERT_EQ(0, posix_trace_flush(self->trid));
	ASSERT_EQ(0, copy_flush(self->trid, pipe[0], self->fd));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 600));
	/*
	 * FLUSH_STOP is recorded after a flush has ended, so the log has only the FLUSH_STOP of the
	 * first flush.
	 */
	EXPECT_EQ(2, content.flush_starts);
	EXPECT_EQ(1, content.flush_stops);
	ASSERT_EQ(0, drain_start(&drain, pipe[0], self->fd));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(0, drain_end(&drain));
	close(pipe[0]);
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 600));
	EXPECT_EQ(2, content.flush_stops);
}

static __attribute__((noinline)) int flush_from_here(trace_id_t trid)
{
	int ret = posix_trace_flush(trid);

	/* Prevents a tail call, so that the call returns to this function. */
	__asm__ volatile ("" : "+r" (ret));
	return ret;
}

TEST_F(flush, records_start_and_stop_with_the_caller)
{
	const int order[] = {
		POSIX_TRACE_START, 1, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP, 1,
		POSIX_TRACE_STOP,
	};
	struct event event;

	ASSERT_EQ(0, withlog_start(&no_auto, self->fd, &self->trid));
	withlog_record(0, 1);
	ASSERT_EQ(0, flush_from_here(self->trid));
	ASSERT_EQ(0, withlog_wait(self->trid));
	withlog_record(1, 1);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		ASSERT_EQ(0, read_next(self->log, &event, sizeof(event.data)));
		ASSERT_EQ(0, event.unavailable);
		if (order[i] == 1) {
			EXPECT_LT(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
			continue;
		}
		EXPECT_EQ(order[i], event.info.posix_event_id);
		if (event.info.posix_event_id != POSIX_TRACE_FLUSH_START &&
		    event.info.posix_event_id != POSIX_TRACE_FLUSH_STOP)
			continue;
		EXPECT_EQ(getpid(), event.info.posix_pid);
		EXPECT_TRUE(pthread_equal(pthread_self(), event.info.posix_thread_id));
		EXPECT_LT((char *)flush_from_here, (char *)event.info.posix_prog_address);
		EXPECT_GT((char *)flush_from_here + 128, (char *)event.info.posix_prog_address);
		EXPECT_EQ(0, event.len);
	}
	EXPECT_EQ(0, read_next(self->log, &event, sizeof(event.data)));
	EXPECT_EQ(1, event.unavailable);
}

TEST_F(flush, of_a_suspended_stream_records_nothing)
{
	struct log_content content;

	ASSERT_EQ(0, withlog_start(&no_auto, self->fd, &self->trid));
	withlog_record(0, 10);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, withlog_flush(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 10));
	EXPECT_EQ(0, content.flush_starts + content.flush_stops);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
}

TEST_F(flush, lets_a_full_stream_start_again)
{
	struct posix_trace_status_info status;
	struct log_content content;
	int lost;

	ASSERT_EQ(0, withlog_start(&until_full, self->fd, &self->trid));
	withlog_record(0, ALL);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	withlog_record(ALL, 100);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	ASSERT_EQ(0, content.err);
	lost = ALL + 100 - content.numbers;
	EXPECT_LT(0, lost);
	EXPECT_EQ(0, content.first);
	EXPECT_EQ(ALL + 99, content.last);
	EXPECT_EQ(1, content.holes);
	EXPECT_EQ(1, content.gaps);
	EXPECT_EQ(2, content.starts);
	EXPECT_EQ(2, content.stops);
	EXPECT_EQ(1, content.stops_auto);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_stream_overrun_status);
}

/*
 * Returns the number of events that fill half of the memory, including the additional sub-buffer of
 * each CPU.
 */
static int half_with_cpus(void)
{
	int subbuf = pxt_subbuf_size(LOG_STREAM_SIZE, LOG_DATA_SIZE);
	int more = subbuf * (int)sysconf(_SC_NPROCESSORS_CONF);

	return HALF + more / 2 / (int)POSIXTRACE_RECORD_STEP(sizeof(__u64));
}

/* Waits until the log has all numbers up to @last. */
static void wait_for_number(int fd, int last)
{
	struct log_content content;

	do {
		sched_yield();
		log_content_fd(fd, &content);
	} while (content.last < last);
}

/*
 * Without this, only the timer would start a flush after a second, so each round would take a
 * second.
 */
TEST_F(flush, starts_when_half_of_the_memory_is_used)
{
	const int half = half_with_cpus();
	struct log_content content;
	unsigned long long begin;
	int recorded = 0;

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	begin = now();
	for (int i = 0; i < 8; i++) {
		withlog_record(recorded, half + half / 8);
		/*
		 * An event in a sub-buffer that is open when a flush starts may only be in the next
		 * flush.
		 */
		wait_for_number(self->fd, recorded + half / 2);
		recorded += half + half / 8;
	}
	EXPECT_GT(7 * NSEC, now() - begin);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, recorded));
	EXPECT_LE(4, content.flush_starts);
	EXPECT_EQ(content.flush_starts, content.flush_stops);
}

TEST_F(flush, starts_after_a_while_for_few_events)
{
	struct log_content content;

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	for (int i = 0; i < 3; i++) {
		withlog_record(i, 1);
		wait_for_number(self->fd, i);
	}
	/* A system event alone is also flushed. */
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	do {
		sched_yield();
		log_content_fd(self->fd, &content);
	} while (!content.stops);
	EXPECT_EQ(1, content.stops);
	EXPECT_TRUE(log_content_is(&content, 3));
}

/* If events are recorded during a flush, they must be flushed without a later event. */
TEST_F(flush, starts_after_an_event_during_another_flush)
{
	struct log_content content;
	int pipe[2], left;

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, withlog_new(0, &append, pipe[1], &self->trid));
	close(pipe[1]);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	/* More than the pipe holds: the flush cannot end before a read. */
	withlog_record(0, 300);
	do {
		sched_yield();
		ASSERT_EQ(0, ioctl(pipe[0], FIONREAD, &left));
	} while (left <= (int)sizeof(struct posixtrace_log_header));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	do {
		sched_yield();
		ASSERT_EQ(0, ioctl(pipe[0], FIONREAD, &left));
		if (left)
			ASSERT_EQ(1, copy_once(pipe[0], self->fd));
		log_content_fd(self->fd, &content);
	} while (!content.stops);
	EXPECT_TRUE(log_content_is(&content, 300));
	close(pipe[0]);
}

/* An automatic flush has no caller, so its events have no process and no address. */
TEST_F(flush, automatic_one_has_no_process)
{
	struct event event;

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	withlog_record(0, 1);
	wait_for_number(self->fd, 0);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	do {
		ASSERT_EQ(0, read_next(self->log, &event, sizeof(event.data)));
		ASSERT_EQ(0, event.unavailable);
	} while (event.info.posix_event_id != POSIX_TRACE_FLUSH_START);
	EXPECT_EQ(0, event.info.posix_pid);
	EXPECT_EQ(NULL, event.info.posix_prog_address);
}

TEST_F(flush, does_not_start_automatically_with_other_policies)
{
	struct log_content content;
	int fd = log_tmpfile();
	trace_id_t clock;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, withlog_new(0, &no_auto, self->fd, &self->trid));
	ASSERT_EQ(0, withlog_new(0, &append, fd, &clock));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_start(clock));
	for (int i = 0; i < 2; i++) {
		withlog_record(i, 1);
		wait_for_number(fd, i);
	}
	EXPECT_EQ(0, posix_trace_shutdown(clock));
	close(fd);
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 0));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 2));
}

/* At any rate of events, each event must be in the log or be reported as lost in a gap. */
TEST_F(flush, of_a_stream_that_overflows_loses_in_gaps_only)
{
	struct posix_trace_status_info status;
	struct log_content content;
	const int count = 40 * ALL;

	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	withlog_record(0, count);
	ASSERT_EQ(0, withlog_flush(self->trid));
	do {
		sched_yield();
		ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	} while (status.posix_stream_status != POSIX_TRACE_RUNNING);
	withlog_record(count, 10);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	ASSERT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_EQ(count + 9, content.last);
	EXPECT_EQ(0, content.disorder);
	EXPECT_EQ(0, content.errors);
	EXPECT_EQ(content.holes, content.gaps);
	EXPECT_EQ(content.holes + 1, content.starts);
	EXPECT_EQ(content.holes, content.stops_auto);
}

static void *flush_often(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;
	long failed = 0;

	for (int i = 0; i < 50; i++)
		failed += posix_trace_flush(trid) != 0;
	return (void *)failed;
}

TEST_F(flush, can_be_requested_by_many_threads_at_the_same_time)
{
	struct log_content content;
	pthread_t threads[4];
	void *failed;

	ASSERT_EQ(0, withlog_start(&no_auto, self->fd, &self->trid));
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, flush_often, &self->trid));
	for (int i = 0; i < 100; i++) {
		withlog_record(i * 10, 10);
		sched_yield();
	}
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &failed));
		EXPECT_EQ(NULL, failed);
	}
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 1000));
	EXPECT_LE(1, content.flush_starts);
	EXPECT_EQ(content.flush_starts, content.flush_stops);
}

/* A thread that records: either on one CPU with pauses, or on two CPUs in turn without pauses. */
struct recorder {
	pthread_t thread;
	int cpu;
	const int *ended;
};

static void *record_with_pauses(void *arg)
{
	const struct recorder *recorder = arg;

	run_on(recorder->cpu);
	do {
		withlog_record(0, 1);
		usleep(500);
	} while (!__atomic_load_n(recorder->ended, __ATOMIC_ACQUIRE));
	return NULL;
}

static void *record_and_migrate(void *arg)
{
	const struct recorder *recorder = arg;
	int i = 0;

	do {
		run_on(i % 2);
		withlog_record(i++, 1);
	} while (!__atomic_load_n(recorder->ended, __ATOMIC_ACQUIRE));
	return NULL;
}

/* The number of events that are older than the previous event in the log. */
static int disorder(trace_id_t log, unsigned int *events)
{
	unsigned long long last = 0;
	struct event event;
	int count = 0, err;

	*events = 0;
	for (;;) {
		err = posix_trace_getnext_event(log, &event.info, event.data, sizeof(event.data),
						&event.len, &event.unavailable);
		if (err || event.unavailable)
			return err ? -err : count;
		count += event_time(&event) < last;
		last = event_time(&event);
		*events += event.info.posix_event_id == withlog_type();
	}
}

/*
 * A flush closes the open sub-buffers of the CPUs one after the other. Events of one CPU may then
 * be in the next flush, while simultaneous events of another CPU are in this one. The test shows a
 * wrong order reliably only if the log thread sleeps for 1 to 3 ms after find_open(), as with
 * KCSAN.
 */
TEST_F(flush, keeps_the_order_of_time_while_threads_migrate)
{
	struct recorder recorders[4];
	unsigned int events;
	int ended = 0;

	withlog_type();
	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	for (size_t i = 0; i < ARRAY_SIZE(recorders); i++) {
		recorders[i] = (struct recorder){ .cpu = i, .ended = &ended };
		ASSERT_EQ(0, pthread_create(&recorders[i].thread, NULL,
					    i ? record_with_pauses : record_and_migrate,
					    &recorders[i]));
	}
	for (int i = 0; i < 500 / pxt_time_scale(); i++)
		ASSERT_EQ(0, withlog_flush(self->trid));
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	for (size_t i = 0; i < ARRAY_SIZE(recorders); i++)
		ASSERT_EQ(0, pthread_join(recorders[i].thread, NULL));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	EXPECT_EQ(0, disorder(self->log, &events));
	EXPECT_LT(0, events);
}

TEST_HARNESS_MAIN
