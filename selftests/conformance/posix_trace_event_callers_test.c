// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_event() called by several threads concurrently, and as the first call of a
 * process in different places: Documentation/conformance/posix_trace_event.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "event_stream.h"
#include "trace_test.h"

/* ------------------------------------------------------------------ */
/* Threads								*/

#define THREADS	4
#define EVENTS	100	/* per thread */

struct recorder {
	pthread_barrier_t *barrier;
	int number;
};

static void *record_many(void *arg)
{
	struct recorder *recorder = arg;

	run_on(recorder->number);
	pthread_barrier_wait(recorder->barrier);
	for (int i = 0; i < EVENTS; i++)
		record(recorder->number * EVENTS + i);
	return NULL;
}

static int record_at_the_same_time(void)
{
	struct recorder recorder[THREADS];
	pthread_barrier_t barrier;
	pthread_t thread[THREADS];

	if (pthread_barrier_init(&barrier, NULL, THREADS))
		return 1;
	for (int i = 0; i < THREADS; i++) {
		recorder[i] = (struct recorder){ &barrier, i };
		if (pthread_create(&thread[i], NULL, record_many, &recorder[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* True if each event is there exactly once, and the events of each thread are in order. */
static bool all_there(trace_id_t trid)
{
	int next[THREADS] = { 0 }, thread;
	struct event event;

	while (take_user(trid, &event) == 1) {
		thread = event_number(&event) / EVENTS;
		if (thread < 0 || thread >= THREADS ||
		    event_number(&event) % EVENTS != next[thread]++)
			return false;
	}
	for (thread = 0; thread < THREADS; thread++)
		if (next[thread] != EVENTS)
			return false;
	return true;
}

TEST_F(event, a13_threads_at_the_same_time)
{
	ASSERT_EQ(0, record_at_the_same_time());
	EXPECT_TRUE(all_there(self->trid));
}

static int first_events(void *arg, const struct talk *talk)
{
	(void)arg;
	return hear(talk) ? 1 : record_at_the_same_time();
}

TEST(a14_first_events_of_threads_at_the_same_time)
{
	for (int i = 0; i < 5; i++) {
		struct child child;
		trace_id_t trid;

		ASSERT_EQ(0, trace_child(&child, first_events, NULL, &trid));
		ASSERT_TRUE(all_there(trid));
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
}

/* ------------------------------------------------------------------ */
/* Places of the first call of a process				*/

#define ENV_PREINIT	"POSIXTRACE_TEST_PREINIT"
#define ENV_CONSTRUCTOR	"POSIXTRACE_TEST_CONSTRUCTOR"

/* Called before main() in the traced process of a test: records an event and exits. */
static void record_before_main(const char *descriptors)
{
	struct talk talk = { descriptors[0] - 'a', descriptors[1] - 'a' };

	say(&talk, 0);
	if (hear(&talk))
		_exit(1);
	record(4711);
	_exit(0);
}

static void before_constructors(int argc, char **argv, char **envp)
{
	size_t len = strlen(ENV_PREINIT "=");

	(void)argc;
	(void)argv;
	for (; *envp; envp++)
		if (!strncmp(*envp, ENV_PREINIT "=", len))
			record_before_main(*envp + len);
}

__attribute__((__section__(".preinit_array"), __used__))
static void (*const preinit)(int argc, char **argv, char **envp) = before_constructors;

__attribute__((__constructor__))
static void constructor(void)
{
	const char *descriptors = getenv(ENV_CONSTRUCTOR);

	if (descriptors)
		record_before_main(descriptors);
}

FIXTURE(before_main)
{
};

FIXTURE_VARIANT(before_main)
{
	const char *name;
};

FIXTURE_VARIANT_ADD(before_main, preinit) { ENV_PREINIT };
FIXTURE_VARIANT_ADD(before_main, constructor) { ENV_CONSTRUCTOR };

FIXTURE_SETUP(before_main)
{
}

FIXTURE_TEARDOWN(before_main)
{
}

static int exec_self(void *arg, const struct talk *talk)
{
	char descriptors[3] = { 'a' + talk->in, 'a' + talk->out };

	if (fcntl(talk->in, F_SETFD, 0) || fcntl(talk->out, F_SETFD, 0) ||
	    setenv(arg, descriptors, 1))
		return 1;
	execl("/proc/self/exe", "posix_trace_event_callers_test", NULL);
	return 2;
}

TEST_F(before_main, a20_first_event)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, exec_self, (void *)variant->name));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(4711, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static void *record_one(void *arg)
{
	record(1);
	return arg;
}

static int first_in_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, record_one, NULL) || pthread_join(thread, NULL);
}

static void record_in_handler(int signal)
{
	(void)signal;
	record(1);
}

static int first_in_handler(void)
{
	signal(SIGUSR1, record_in_handler);
	return raise(SIGUSR1);
}

static int first_in_either(void *arg, const struct talk *talk)
{
	int (*first)(void) = arg;

	if (hear(talk) || first())
		return 1;
	record(2);
	return 0;
}

static void expect_one_and_two(struct __test_metadata *_metadata, int (*first)(void))
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, trace_child(&child, first_in_either, first, &trid));
	for (int i = 1; i <= 2; i++) {
		ASSERT_EQ(1, take_user(trid, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a21_first_in_a_thread)
{
	expect_one_and_two(_metadata, first_in_thread);
}

TEST(a21_first_in_a_handler)
{
	expect_one_and_two(_metadata, first_in_handler);
}

TEST_HARNESS_MAIN
