// SPDX-License-Identifier: GPL-2.0
/*
 * XSH 2.11, waiting for events, with signals and cancellation:
 * Documentation/conformance/xsh_2_11_reading.rst
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "pxt_test.h"
#include "reading.h"
#include "reading_stream.h"

/* ------------------------------------------------------------------ */
/* Waiting, and signals							*/

static int handled;

static void handler(int signal)
{
	(void)signal;
	__atomic_store_n(&handled, handled + 1, __ATOMIC_RELEASE);
}

FIXTURE(waiting)
{
	trace_id_t trid;
	struct event event;
};

FIXTURE_VARIANT(waiting)
{
	const struct timespec *abstime;
};

FIXTURE_VARIANT_ADD(waiting, getnext) { NULL };
FIXTURE_VARIANT_ADD(waiting, timedgetnext) { &never };

FIXTURE_SETUP(waiting)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(waiting)
{
	posix_trace_shutdown(self->trid);
}

static void expect_event_after(struct __test_metadata *_metadata, struct reader *reader)
{
	EXPECT_TRUE(reader_sleeps(reader));
	record_number(1);
	EXPECT_EQ(0, reader_end(reader));
	EXPECT_EQ(1, event_number(&reader->event));
}

TEST_F(waiting, a16_handler_without_restart_ends_the_wait)
{
	struct sigaction action = { .sa_handler = handler };
	struct reader reader;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	EXPECT_EQ(EINTR, reader_end(&reader));
	EXPECT_EQ(1, handled);
}

TEST_F(waiting, a17_handler_with_restart_does_not_end_the_wait)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct reader reader;

	PXT_NOT_WITH_TSAN("calls handlers when the system call returns, which it does not do here");
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	for (int i = 1; i <= 5; i++) {
		ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
		while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) != i)
			sched_yield();
	}
	expect_event_after(_metadata, &reader);
}

TEST_F(waiting, a18_ignored_signal_does_not_end_the_wait)
{
	struct reader reader;

	signal(SIGUSR1, SIG_IGN);
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	expect_event_after(_metadata, &reader);
}

TEST_F(waiting, a18_blocked_signal_does_not_end_the_wait)
{
	struct sigaction action = { .sa_handler = handler };
	struct reader reader;
	sigset_t set;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	/* The reader thread inherits the signal mask. */
	ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	expect_event_after(_metadata, &reader);
	EXPECT_EQ(0, handled);
}

/* The main function of a child: waits for an event of the child itself. */
static int read_and_be_stopped(void *arg, const struct talk *talk)
{
	struct reader reader;
	struct event event;
	trace_id_t trid;

	if (new_stream(0, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid) ||
	    take(trid, &event) != 1 || reader_start(&reader, trid, arg))
		return 1;
	say(talk, reader.tid);
	if (hear(talk))
		return 2;
	record_number(1);
	return reader_end(&reader) || event_number(&reader.event) != 1 ? 3 : 0;
}

TEST_F(waiting, a18_stop_and_continuation_do_not_end_the_wait)
{
	struct child child;
	int status, tid;

	ASSERT_EQ(0, child_start(&child, read_and_be_stopped, (void *)variant->abstime));
	tid = hear(&child.talk);
	ASSERT_LT(0, tid);
	ASSERT_EQ(0, kill(child.pid, SIGSTOP));
	ASSERT_EQ(child.pid, waitpid(child.pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, kill(child.pid, SIGCONT));
	/* Wait until the thread is asleep again, or gone. */
	while (!is_asleep(tid) && !kill(tid, 0))
		sched_yield();
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* Cancellation								*/

TEST_F(waiting, a19_waiting_thread_can_be_cancelled)
{
	struct reader reader;
	void *result;

	PXT_CANCELS_A_THREAD;
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_cancel(reader.thread));
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

/* A thread that cancels itself before it reads. */
static void *read_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	return reader_thread(arg);
}

TEST_F(waiting, a19_cancelled_thread_does_not_wait)
{
	struct reader reader = { .trid = self->trid, .abstime = variant->abstime };
	void *result;

	ASSERT_EQ(0, pthread_create(&reader.thread, NULL, read_cancelled, &reader));
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

/* A cancelled thread does not read, even if there is an event. The event remains in the stream. */
TEST_F(waiting, a19_cancelled_thread_does_not_read)
{
	struct reader reader = { .trid = self->trid, .abstime = variant->abstime };
	void *result;

	record_number(1);
	ASSERT_EQ(0, pthread_create(&reader.thread, NULL, read_cancelled, &reader));
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(0, reader.done);
	EXPECT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(1, event_number(&self->event));
}

TEST_F(waiting, a20_cancelled_thread_holds_no_lock)
{
	struct posix_trace_status_info status;
	struct reader readers[2];
	void *result;

	PXT_CANCELS_A_THREAD;
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, reader_start(&readers[i], self->trid, variant->abstime));
	ASSERT_EQ(0, pthread_cancel(readers[0].thread));
	ASSERT_EQ(0, pthread_join(readers[0].thread, &result));
	EXPECT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&readers[1]));
	EXPECT_EQ(0, take(self->trid, &self->event));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	/* This would wait forever if a cancelled thread still counted as a user of the stream. */
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(waiting, a21_cancelled_thread_loses_no_event)
{
	struct reader reader;
	void *result;

	PXT_CANCELS_A_THREAD;
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
		if (i % 2)
			record_number(i);
		ASSERT_EQ(0, pthread_cancel(reader.thread));
		if (!(i % 2))
			record_number(i);
		ASSERT_EQ(0, pthread_join(reader.thread, &result));
		/*
		 * Either the thread was cancelled, or it has read the event. If its signal was
		 * already pending, glibc may report a thread as cancelled that had just returned
		 * from the call.
		 */
		if (!reader.done) {
			EXPECT_EQ(PTHREAD_CANCELED, result);
			ASSERT_EQ(1, take(self->trid, &reader.event));
		}
		ASSERT_EQ(i, event_number(&reader.event));
		ASSERT_EQ(0, take(self->trid, &self->event));
	}
}

static void *read_uncancelled(void *arg)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	reader_thread(arg);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	return state == PTHREAD_CANCEL_DISABLE ? NULL : arg;
}

TEST_F(waiting, a22_disabled_cancellation_does_not_end_the_wait)
{
	struct reader reader = { .trid = self->trid, .abstime = variant->abstime };
	void *result;

	ASSERT_EQ(0, pthread_create(&reader.thread, NULL, read_uncancelled, &reader));
	ASSERT_TRUE(reader_sleeps(&reader));
	ASSERT_EQ(0, pthread_cancel(reader.thread));
	EXPECT_TRUE(reader_sleeps(&reader));
	record_number(1);
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(NULL, result);
	EXPECT_EQ(0, reader.ret);
	EXPECT_EQ(1, event_number(&reader.event));
}

static void note(void *arg)
{
	__atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
}

struct clean_reader {
	struct reader reader;
	int cleaned;
	int type;
};

static void *read_with_cleanup(void *arg)
{
	struct clean_reader *clean = arg;

	pthread_cleanup_push(note, &clean->cleaned);
	reader_thread(&clean->reader);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &clean->type);
	pthread_cleanup_pop(0);
	return NULL;
}

TEST_F(waiting, a23_handlers_run_and_the_type_is_kept)
{
	struct clean_reader clean = {
		.reader = { .trid = self->trid, .abstime = variant->abstime }, .type = -1,
	};

	PXT_CANCELS_A_THREAD;
	ASSERT_EQ(0, pthread_create(&clean.reader.thread, NULL, read_with_cleanup, &clean));
	ASSERT_TRUE(reader_sleeps(&clean.reader));
	record_number(1);
	pthread_join(clean.reader.thread, NULL);
	EXPECT_EQ(0, clean.cleaned);
	EXPECT_EQ(PTHREAD_CANCEL_DEFERRED, clean.type);

	clean.reader.tid = 0;
	clean.reader.done = 0;
	ASSERT_EQ(0, pthread_create(&clean.reader.thread, NULL, read_with_cleanup, &clean));
	ASSERT_TRUE(reader_sleeps(&clean.reader));
	ASSERT_EQ(0, pthread_cancel(clean.reader.thread));
	pthread_join(clean.reader.thread, NULL);
	EXPECT_EQ(1, clean.cleaned);
}

/* State shared by the handler and the test. */
static struct {
	int entered;
	int go_on;
	int left;
} held;

static void handler_that_is_held(int signal)
{
	(void)signal;
	__atomic_store_n(&held.entered, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&held.go_on, __ATOMIC_ACQUIRE))
		;
	/*
	 * The call is not a cancellation point. When it returns, the signal of the cancellation has
	 * arrived.
	 */
	syscall(SYS_getppid);
	__atomic_store_n(&held.left, 1, __ATOMIC_RELEASE);
}

/* Cancels a waiting thread while the handler runs in it. */
static void cancel_in_handler(struct __test_metadata *_metadata, trace_id_t trid,
			      const struct timespec *abstime, int flags)
{
	struct sigaction action = { .sa_handler = handler_that_is_held, .sa_flags = flags };
	struct reader reader;
	void *result;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, reader_start(&reader, trid, abstime));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	while (!__atomic_load_n(&held.entered, __ATOMIC_ACQUIRE))
		sched_yield();
	ASSERT_EQ(0, pthread_cancel(reader.thread));
	__atomic_store_n(&held.go_on, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(1, held.left);
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(0, reader.done);
	/* This would wait forever if the cancelled thread still counted as a user of the stream. */
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(waiting, a25_handler_is_not_cancelled_halfway)
{
	PXT_CANCELS_A_THREAD;
	PXT_NOT_WITH_TSAN("calls handlers when the system call returns, which it does not do here");
	cancel_in_handler(_metadata, self->trid, variant->abstime, 0);
}

TEST_F(waiting, a25_handler_with_restart_is_not_cancelled_halfway)
{
	PXT_CANCELS_A_THREAD;
	PXT_NOT_WITH_TSAN("calls handlers when the system call returns, which it does not do here");
	cancel_in_handler(_metadata, self->trid, variant->abstime, SA_RESTART);
}

struct calls {
	trace_id_t trid;
	int failed;
	int done;
};

/* Calls all functions that are not in the list of possible cancellation points. */
static int call_them(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[TRACE_NAME_MAX + 1];
	trace_event_id_t id;
	trace_event_set_t set;
	struct timespec time;
	struct event event;
	trace_attr_t attr;
	int failed = 0, number;
	size_t size;

	failed += !!posix_trace_attr_init(&attr);
	failed += !!posix_trace_attr_setname(&attr, "cancel");
	failed += !!posix_trace_attr_getname(&attr, text);
	failed += !!posix_trace_attr_getgenversion(&attr, text);
	failed += !!posix_trace_attr_getclockres(&attr, &time);
	failed += !!posix_trace_attr_getcreatetime(&attr, &time);
	failed += !!posix_trace_attr_setinherited(&attr, POSIX_TRACE_CLOSE_FOR_CHILD);
	failed += !!posix_trace_attr_getinherited(&attr, &number);
	failed += !!posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP);
	failed += !!posix_trace_attr_getlogfullpolicy(&attr, &number);
	failed += !!posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	failed += !!posix_trace_attr_getstreamfullpolicy(&attr, &number);
	failed += !!posix_trace_attr_setlogsize(&attr, 4096);
	failed += !!posix_trace_attr_getlogsize(&attr, &size);
	failed += !!posix_trace_attr_setmaxdatasize(&attr, 100);
	failed += !!posix_trace_attr_getmaxdatasize(&attr, &size);
	failed += !!posix_trace_attr_setstreamsize(&attr, 4096);
	failed += !!posix_trace_attr_getstreamsize(&attr, &size);
	failed += !!posix_trace_attr_getmaxsystemeventsize(&attr, &size);
	failed += !!posix_trace_attr_getmaxusereventsize(&attr, 10, &size);
	failed += !!posix_trace_attr_destroy(&attr);
	failed += !!posix_trace_eventset_empty(&set);
	failed += !!posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	failed += !!posix_trace_eventset_add(POSIX_TRACE_START, &set);
	failed += !!posix_trace_eventset_del(POSIX_TRACE_START, &set);
	failed += !!posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &number);
	failed += !!posix_trace_eventid_open("cancel", &id);
	failed += !!posix_trace_trid_eventid_open(trid, "cancel too", &id);
	failed += !!posix_trace_eventid_get_name(trid, id, name);
	failed += !posix_trace_eventid_equal(trid, id, id);
	failed += !!posix_trace_stop(trid);
	failed += !!posix_trace_start(trid);
	posix_trace_event(id, NULL, 0);
	/* Call the functions first while there are events, then without. */
	do {
		failed += !!read_try(trid, &event, ROOM);
	} while (!event.unavailable);
	return failed;
}

static void *call_cancelled(void *arg)
{
	struct calls *calls = arg;

	pthread_cancel(pthread_self());
	calls->failed = call_them(calls->trid);
	calls->done = 1;
	pthread_testcancel();
	return NULL;
}

TEST_F(reading, a24_other_functions_are_no_cancellation_points)
{
	struct calls calls = { .trid = self->trid };
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, pthread_create(&thread, NULL, call_cancelled, &calls));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(1, calls.done);
	EXPECT_EQ(0, calls.failed);
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

TEST_HARNESS_MAIN
