// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_event() in signal handlers of threads that are being cancelled:
 * Documentation/conformance/posix_trace_event.rst
 */
#define _GNU_SOURCE
#include <sys/rseq.h>
#include <ucontext.h>

#include "pxt_test.h"
#include "event_stream.h"
#include "no_door.h"
#include "reading.h"
#include "seccomp.h"

/* Written by the handlers, and by the thread that cancels the interrupted threads. */
static struct {
	int entered;
	int go_on;
	int left;
	int syncs;
} held;

static void wait_for(const int *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		;
}

static void yield_until(const int *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Records after the test has cancelled the interrupted thread. */
static void record_when_cancelled(int signal)
{
	(void)signal;
	__atomic_store_n(&held.entered, 1, __ATOMIC_RELEASE);
	wait_for(&held.go_on);
	record(1);
	__atomic_store_n(&held.left, 1, __ATOMIC_RELEASE);
}

static int handle_signal(void (*handler)(int signal))
{
	struct sigaction action = { .sa_handler = handler };

	return sigaction(SIGUSR1, &action, NULL);
}

static int new_running_stream(trace_id_t *trid)
{
	int err = new_stream(0, POSIX_TRACE_LOOP, trid);

	return err ? err : posix_trace_start(*trid);
}

static const struct timespec never = { .tv_sec = INT64_MAX };

FIXTURE(waiting)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(waiting)
{
	const struct timespec *abstime;
};

FIXTURE_VARIANT_ADD(waiting, getnext) { NULL };
FIXTURE_VARIANT_ADD(waiting, timedgetnext) { &never };

FIXTURE_SETUP(waiting)
{
	struct event start;

	ASSERT_EQ(0, new_running_stream(&self->trid));
	ASSERT_EQ(1, take(self->trid, &start));
}

FIXTURE_TEARDOWN(waiting)
{
	posix_trace_shutdown(self->trid);
}

/* The library takes its lock for the first event after a new stream was created. */
TEST_F(waiting, a25_event_in_a_handler_of_a_cancelled_thread)
{
	struct reader reader;
	struct event event;
	trace_id_t trid;
	void *result;

	PXT_CANCELS_A_THREAD;
	PXT_NOT_WITH_TSAN("calls handlers when the system call returns, which it does not do here");
	ASSERT_EQ(0, handle_signal(record_when_cancelled));
	ASSERT_EQ(0, reader_start(&reader, self->trid, variant->abstime));
	ASSERT_EQ(0, new_running_stream(&trid));
	ASSERT_EQ(0, pthread_kill(reader.thread, SIGUSR1));
	yield_until(&held.entered);
	ASSERT_EQ(0, pthread_cancel(reader.thread));
	__atomic_store_n(&held.go_on, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(1, held.left);
	EXPECT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* A thread that is cancelled while it holds the library's lock		*/

/* Simulates the module: SYNC, the command that picks up new streams, fails. */
static void answer_sync(int signal, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)signal;
	(void)info;
	__atomic_fetch_add(&held.syncs, 1, __ATOMIC_RELEASE);
	wait_for(&held.go_on);
#ifdef __x86_64__
	interrupted->uc_mcontext.gregs[REG_RAX] = -ENOMEM;
#else
	interrupted->uc_mcontext.regs[0] = -ENOMEM;
#endif
}

static const struct refusal no_sync = { .commands = { POSIXTRACE_IOC_SYNC }, .trap = true };

static void record_one(int signal)
{
	(void)signal;
	record(1);
}

struct sleeper {
	trace_id_t trid;
	int tid;
};

static void *wait_in_getnext(void *arg)
{
	struct sleeper *sleeper = arg;
	struct event event;

	__atomic_store_n(&sleeper->tid, gettid(), __ATOMIC_RELEASE);
	while (!read_next(sleeper->trid, &event, sizeof(event.data)))
		;
	return NULL;
}

static void *wait_in_pause(void *arg)
{
	struct sleeper *sleeper = arg;

	__atomic_store_n(&sleeper->tid, gettid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

/* The main function of a child. */
static int cancel_under_the_lock(void *arg, const struct talk *talk)
{
	struct sigaction action = { .sa_sigaction = answer_sync, .sa_flags = SA_SIGINFO };
	struct sleeper sleeper = { 0 };
	pthread_t thread;
	trace_id_t trid;
	void *result;

	(void)talk;
	if (handle_signal(record_one) || sigaction(SIGSYS, &action, NULL) ||
	    refuse_commands(&no_sync) < 0 || new_running_stream(&sleeper.trid) ||
	    pthread_create(&thread, NULL, arg, &sleeper) || !falls_asleep(&sleeper.tid, NULL) ||
	    new_running_stream(&trid) || pthread_kill(thread, SIGUSR1))
		return 1;
	yield_until(&held.syncs);
	if (pthread_cancel(thread))
		return 2;
	__atomic_store_n(&held.go_on, 1, __ATOMIC_RELEASE);
	if (pthread_join(thread, &result) || result != PTHREAD_CANCELED)
		return 3;
	/* The cancelled call has released its lock if this thread can take it. */
	record(2);
	return held.syncs == 2 ? 0 : 4;
}

FIXTURE(lock)
{
};

FIXTURE_VARIANT(lock)
{
	void *(*wait)(void *arg);
};

FIXTURE_VARIANT_ADD(lock, getnext) { wait_in_getnext };
FIXTURE_VARIANT_ADD(lock, pause) { wait_in_pause };

FIXTURE_SETUP(lock)
{
}

FIXTURE_TEARDOWN(lock)
{
}

TEST_F(lock, a26_cancelled_thread_holds_no_lock)
{
	struct child child;

	PXT_CANCELS_A_THREAD;
	PXT_NOT_WITH_TSAN("calls handlers when the system call returns, which it does not do here");
	if (!__rseq_size)
		SKIP(return, "without restartable sequences there is no lock to take");
	ASSERT_EQ(0, child_start(&child, cancel_under_the_lock, variant->wait));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
