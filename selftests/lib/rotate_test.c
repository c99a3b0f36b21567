// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_rotate(): a log is continued in another file. Both files must be complete logs, and no
 * event may be lost between them.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <posixtrace.h>

#include "pxt_test.h"
#include "trace_test.h"
#include "withlog.h"

#define LOGS		12
#define EVENTS		400	/* per log; they fill the stream several times */

static const struct log_kind by_itself = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };
static const struct log_kind by_hand = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 };
static const struct log_kind window = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
static const struct log_kind ring = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 1U << 20 };

/* Opens a file, and continues the log in it. Returns its descriptor, or minus an error number. */
static int rotate(trace_id_t trid)
{
	int fd = log_tmpfile(), err, old = -1;

	err = posixtrace_rotate(trid, fd, &old);
	if (!err)
		err = old;
	if (!err)
		return fd;
	close(fd);
	return -err;
}

FIXTURE(seam)
{
	trace_id_t trid;
	int fd[LOGS];
};

FIXTURE_VARIANT(seam)
{
	const struct log_kind *kind;
};

FIXTURE_VARIANT_ADD(seam, of_a_log_with_all_events) { &by_itself };
FIXTURE_VARIANT_ADD(seam, of_a_log_that_is_a_ring) { &ring };
FIXTURE_VARIANT_ADD(seam, of_a_log_that_is_flushed_on_request) { &by_hand };

FIXTURE_SETUP(seam)
{
	for (int i = 0; i < LOGS; i++)
		self->fd[i] = -1;
	self->fd[0] = log_tmpfile();
	ASSERT_EQ(0, withlog_start(variant->kind, self->fd[0], &self->trid));
}

FIXTURE_TEARDOWN(seam)
{
	posix_trace_shutdown(self->trid);
	for (int i = 0; i < LOGS; i++)
		close(self->fd[i]);
}

/* Expects that each log is continued by the next one. */
static void expect_series(struct __test_metadata *_metadata, const int *fd, unsigned int logs)
{
	struct posixtrace_log_info info;
	unsigned long long series = 0;
	trace_id_t trid;

	for (unsigned int i = 0; i < logs; i++) {
		ASSERT_EQ(0, posix_trace_open(fd[i], &trid));
		ASSERT_EQ(0, posixtrace_get_log_info(trid, &info));
		ASSERT_EQ(0, posix_trace_close(trid));
		if (!i)
			series = info.series;
		EXPECT_NE(0, info.series);
		EXPECT_EQ(series, info.series);
		EXPECT_EQ(i + 1, info.part);
		EXPECT_EQ(i < logs - 1 ? POSIXTRACE_LOG_ENDED | POSIXTRACE_LOG_CONTINUED :
					 POSIXTRACE_LOG_ENDED, info.flags);
	}
}

/* Expects a log with the numbers from @first on, and with the name of their type. */
static void expect_log(struct __test_metadata *_metadata, int fd, int first, int count)
{
	struct log_content content;
	char name[TRACE_EVENT_NAME_MAX + 1] = "";
	trace_id_t trid;

	log_content_fd(fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(count, content.numbers);
	EXPECT_EQ(first, content.first);
	EXPECT_EQ(first + count - 1, content.last);
	EXPECT_EQ(0, content.holes);
	EXPECT_EQ(0, content.disorder);
	EXPECT_EQ(0, content.errors);
	EXPECT_EQ(0, content.gaps);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, withlog_type(), name));
	EXPECT_STREQ("number", name);
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(seam, has_each_event_on_one_side)
{
	for (int i = 0; i < LOGS; i++) {
		if (i) {
			self->fd[i] = rotate(self->trid);
			ASSERT_LE(0, self->fd[i]);
		}
		withlog_record(i * EVENTS, EVENTS);
	}
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	for (int i = 0; i < LOGS; i++)
		expect_log(_metadata, self->fd[i], i * EVENTS, EVENTS);
	expect_series(_metadata, self->fd, LOGS);
}

static int recorded;

static void *record_without_end(void *arg)
{
	int *until = arg;

	while (!__atomic_load_n(until, __ATOMIC_RELAXED))
		withlog_record(recorded++, 1);
	return NULL;
}

/* Returns the number of lost and overwritten events that the log reports, or -1. */
static long long missing_in(int fd)
{
	struct posixtrace_log_info info;
	struct log_content content;
	trace_id_t trid;
	int err;

	lseek(fd, 0, SEEK_SET);
	if (posix_trace_open(fd, &trid))
		return -1;
	log_content_rest(trid, &content);
	err = posixtrace_get_log_info(trid, &info);
	posix_trace_close(trid);
	return err ? -1 : (long long)(info.lost + info.overwritten);
}

/*
 * The numbers of a thread must continue from log to log, wherever one log ends. Each number that
 * did not fit into the stream or a ring must be counted as lost in one log.
 */
TEST_F(seam, loses_no_event_of_a_busy_thread)
{
	struct log_content content;
	long long numbers = 0, missing = 0;
	int until = 0, last = -1;
	pthread_t thread;

	/* This stream is not flushed while its thread is busy. */
	if (variant->kind == &by_hand)
		return;
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_without_end, &until));
	for (int i = 1; i < LOGS; i++) {
		self->fd[i] = rotate(self->trid);
		EXPECT_LE(0, self->fd[i]);
		poll(NULL, 0, 20);
	}
	__atomic_store_n(&until, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	for (int i = 0; i < LOGS; i++) {
		log_content_fd(self->fd[i], &content);
		EXPECT_EQ(0, content.err);
		EXPECT_EQ(0, content.errors);
		EXPECT_EQ(0, content.disorder);
		numbers += content.numbers;
		missing += missing_in(self->fd[i]);
		if (!content.numbers)
			continue;
		EXPECT_LT(last, content.first) TH_LOG("log %d", i);
		last = content.last;
	}
	EXPECT_EQ(recorded, numbers + missing);
	EXPECT_LT(0, numbers);
}

/* ------------------------------------------------------------------ */
/* What a log says about its threads					*/

#define THREADS		60

static void *record_one(void *arg)
{
	const long number = (long)arg;
	char name[16];

	snprintf(name, sizeof(name), "brief %ld", number);
	prctl(PR_SET_NAME, name);
	withlog_record((int)number, 1);
	return NULL;
}

static void *rotate_often(void *arg)
{
	int *fd = arg;
	trace_id_t trid = fd[LOGS];

	for (int i = 1; i < LOGS; i++) {
		fd[i] = rotate(trid);
		poll(NULL, 0, 5);
	}
	return NULL;
}

/* Returns the number of events. If the name of event n is missing, returns -1 - n. */
static int named_events(int fd)
{
	char expected[16], name[POSIXTRACE_THREAD_NAME_SIZE];
	struct posixtrace_batch_event event;
	long long number;
	int count = 0;
	trace_id_t trid;
	size_t n;

	lseek(fd, 0, SEEK_SET);
	if (posix_trace_open(fd, &trid))
		return -1;
	while (!posixtrace_getevents(trid, &event, 1, &number, sizeof(number), &n, 0) && n) {
		if (event.event.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		snprintf(expected, sizeof(expected), "brief %lld", number);
		if (posixtrace_get_thread_name(trid, event.event.posix_pid, event.tid,
					       &event.event.posix_timestamp, name) ||
		    strcmp(name, expected)) {
			count = -1 - (int)number;
			break;
		}
		count++;
	}
	posix_trace_close(trid);
	return count;
}

TEST(threads_that_end_at_a_seam_are_named_in_the_log_of_their_events)
{
	int fd[LOGS + 1], sum = 0, count;
	pthread_t rotator, thread;
	trace_id_t trid;

	fd[0] = log_tmpfile();
	ASSERT_EQ(0, withlog_start(&by_itself, fd[0], &trid));
	fd[LOGS] = (int)trid;
	ASSERT_EQ(0, pthread_create(&rotator, NULL, rotate_often, fd));
	for (long i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, record_one, (void *)i));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	ASSERT_EQ(0, pthread_join(rotator, NULL));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	for (int i = 0; i < LOGS; i++) {
		ASSERT_LE(0, fd[i]);
		count = named_events(fd[i]);
		EXPECT_LE(0, count) TH_LOG("log %d, thread %d", i, -count - 1);
		sum += count;
		close(fd[i]);
	}
	EXPECT_EQ(THREADS, sum);
}

/* ------------------------------------------------------------------ */
/* Losses								*/

TEST(losses_are_counted_in_the_log_where_the_events_are_missing)
{
	struct log_content content;
	trace_id_t trid;
	int old = log_tmpfile(), new;

	ASSERT_EQ(0, withlog_start(&by_hand, old, &trid));
	withlog_record(0, 20 * EVENTS);
	new = rotate(trid);
	ASSERT_LE(0, new);
	/* After the flush, the full stream records again. */
	withlog_record(20 * EVENTS, 10);
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(old, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_GT(20 * EVENTS, content.numbers);
	EXPECT_EQ(1, content.stops_auto);
	log_content_fd(new, &content);
	EXPECT_EQ(10, content.numbers);
	EXPECT_EQ(20 * EVENTS, content.first);
	EXPECT_EQ(0, content.holes);
	close(old);
	close(new);
}

/* As in a flight recorder, each log gets the events that the stream has kept before the call. */
TEST(window_in_memory_is_written_before_the_seam)
{
	struct log_content content;
	trace_id_t trid;
	int fd[3];

	fd[0] = log_tmpfile();
	ASSERT_EQ(0, withlog_start(&window, fd[0], &trid));
	for (int i = 0; i < 2; i++) {
		withlog_record(i * 20 * EVENTS, 20 * EVENTS);
		fd[i + 1] = rotate(trid);
		ASSERT_LE(0, fd[i + 1]);
		log_content_fd(fd[i], &content);
		EXPECT_EQ(0, content.err);
		EXPECT_LT(0, content.numbers);
		EXPECT_EQ((i + 1) * 20 * EVENTS - 1, content.last);
		EXPECT_EQ(0, content.holes);
		/* The first events are missing, because they were overwritten. */
		EXPECT_LT(i * 20 * EVENTS, content.first);
		EXPECT_EQ(1, content.gaps);
	}
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd[2], &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(0, content.numbers);
	EXPECT_EQ(0, content.gaps);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
}

/* ------------------------------------------------------------------ */
/* Errors								*/

/* Makes a file in memory, which cannot grow from now on. */
static int seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, F_SEAL_GROW);
}

static int new_memfd(void)
{
	return memfd_create("rotate_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

TEST(new_file_that_cannot_be_written_leaves_the_old_log_in_use)
{
	int old = new_memfd(), sealed = new_memfd();
	trace_id_t trid;

	ASSERT_EQ(0, seal(sealed));
	ASSERT_EQ(0, withlog_start(&by_itself, old, &trid));
	withlog_record(0, EVENTS);
	EXPECT_EQ(EPERM, posixtrace_rotate(trid, sealed, NULL));
	withlog_record(EVENTS, EVENTS);
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	expect_log(_metadata, old, 0, 2 * EVENTS);
	EXPECT_EQ(0, log_file_size(sealed));
	close(old);
	close(sealed);
}

TEST(events_that_do_not_fit_into_the_old_file_go_to_the_new_one)
{
	int old = new_memfd(), new = new_memfd(), end_error = 0;
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&by_hand, old, &trid));
	withlog_record(0, 100);
	ASSERT_EQ(0, withlog_flush(trid));
	ASSERT_EQ(0, seal(old));
	withlog_record(100, 100);
	ASSERT_EQ(0, posixtrace_rotate(trid, new, &end_error));
	EXPECT_EQ(EPERM, end_error);
	withlog_record(200, 100);
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	expect_log(_metadata, new, 100, 200);
	close(old);
	close(new);
}

TEST(file_of_another_kind_and_the_current_file_are_refused)
{
	int fd = log_tmpfile(), append, pair[2];
	trace_id_t trid;

	ASSERT_EQ(0, pipe2(pair, O_CLOEXEC));
	append = log_tmpfile();
	ASSERT_EQ(0, fcntl(append, F_SETFL, O_APPEND));
	ASSERT_EQ(0, withlog_start(&by_itself, fd, &trid));
	EXPECT_EQ(EXDEV, posixtrace_rotate(trid, pair[1], NULL));
	EXPECT_EQ(EXDEV, posixtrace_rotate(trid, append, NULL));
	EXPECT_EQ(EBADF, posixtrace_rotate(trid, pair[0], NULL));
	EXPECT_EQ(EBADF, posixtrace_rotate(trid, -1, NULL));
	EXPECT_EQ(EINVAL, posixtrace_rotate(trid, fd, NULL));
	withlog_record(0, 10);
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	expect_log(_metadata, fd, 0, 10);
	EXPECT_EQ(EINVAL, posixtrace_rotate(trid, fd, NULL));
	close(fd);
	close(append);
	close(pair[0]);
	close(pair[1]);
}

TEST(stream_without_log_or_with_a_log_until_full_does_not_rotate)
{
	static const struct log_kind until_full = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 0 };
	int fd = log_tmpfile(), other = log_tmpfile();
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_create(0, NULL, &trid));
	EXPECT_EQ(EINVAL, posixtrace_rotate(trid, other, NULL));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	ASSERT_EQ(0, withlog_start(&until_full, fd, &trid));
	EXPECT_EQ(EINVAL, posixtrace_rotate(trid, other, NULL));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(0, log_file_size(other));
	close(fd);
	close(other);
}

/* ------------------------------------------------------------------ */
/* Pipes								*/

static int copy_pipe(int from, int to)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0) {
		if (write(to, buf, n) != n)
			return -EIO;
	}
	return n ? -errno : 0;
}

TEST(reader_of_the_old_pipe_gets_the_end)
{
	int old[2], new[2], first = log_tmpfile(), second = log_tmpfile();
	trace_id_t trid;

	ASSERT_EQ(0, pipe2(old, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(new, O_CLOEXEC));
	ASSERT_LE(1 << 20, fcntl(old[1], F_SETPIPE_SZ, 1 << 20));
	ASSERT_LE(1 << 20, fcntl(new[1], F_SETPIPE_SZ, 1 << 20));
	ASSERT_EQ(0, withlog_start(&by_itself, old[1], &trid));
	close(old[1]);
	withlog_record(0, EVENTS);
	ASSERT_EQ(0, posixtrace_rotate(trid, new[1], NULL));
	close(new[1]);
	/* This returns only if the module has closed the pipe. */
	ASSERT_EQ(0, copy_pipe(old[0], first));
	withlog_record(EVENTS, EVENTS);
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	ASSERT_EQ(0, copy_pipe(new[0], second));
	expect_log(_metadata, first, 0, EVENTS);
	expect_log(_metadata, second, EVENTS, EVENTS);
	close(old[0]);
	close(new[0]);
	close(first);
	close(second);
}

/* @arg: the writing ends of two pipes. The call does not return, because the first pipe is full. */
static int rotate_a_stuck_log(void *arg, const struct talk *talk)
{
	const int *fds = arg;
	trace_id_t trid;
	int err = withlog_start(&by_itself, fds[0], &trid);

	if (!err)
		withlog_record(0, 10 * EVENTS);
	say(talk, err ? -err : gettid());
	return err ? err : posixtrace_rotate(trid, fds[1], NULL);
}

TEST(caller_can_be_killed_while_the_old_pipe_is_full)
{
	int old[2], new[2], file = log_tmpfile(), state, status;
	struct child child;
	long tid;

	ASSERT_EQ(0, pipe2(old, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(new, O_CLOEXEC));
	ASSERT_LE(4096, fcntl(old[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, child_start(&child, rotate_a_stuck_log, (int[]){ old[1], new[1] }));
	tid = hear(&child.talk);
	ASSERT_LT(0, tid);
	close(old[1]);
	close(new[1]);
	/* The call sleeps so that only a fatal signal ends it: proc(5) shows it as D. */
	while ((state = thread_state((int)tid)) != 'D' && state != 'Z')
		sched_yield();
	status = child_kill(&child);
	EXPECT_EQ(SIGKILL, WTERMSIG(status)) TH_LOG("exit status %d", WEXITSTATUS(status));
	/*
	 * The write to the old pipe now fails. The copy returns only if the module has closed the
	 * new pipe.
	 */
	close(old[0]);
	EXPECT_EQ(0, copy_pipe(new[0], file));
	close(new[0]);
	close(file);
}

TEST_HARNESS_MAIN
