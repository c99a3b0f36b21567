// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_event() in signal handlers, and interrupted by them:
 * Documentation/conformance/posix_trace_event.rst
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "event_stream.h"
#include "interrupt.h"
#include "step.h"
#include "trace_test.h"

/* The number in events of interrupted calls. The numbers of the handler start at 0. */
#define INTERRUPTED	(-2)

static int handled;		/* events that the handler has recorded */
static int errno_lost;

static void handle(void)
{
	int saved_errno = errno;

	errno = 4711;
	record(handled++);
	errno_lost |= errno != 4711;
	errno = saved_errno;
}

#ifdef HAVE_STEPS
/* Expects @count events of the handler, in order, and @calls events of interrupted calls. */
static void expect_handled(struct __test_metadata *_metadata, trace_id_t trid, int count,
			   int calls)
{
	int next = 0, interrupted = 0;
	struct event event;

	while (take_user(trid, &event) == 1) {
		if (event_number(&event) == INTERRUPTED)
			interrupted++;
		else if (event_number(&event) == next)
			next++;
	}
	EXPECT_EQ(count, next);
	EXPECT_EQ(calls, interrupted);
	/* The handler must have run at enough steps of the call. */
	EXPECT_LT(20, next);
}

static int new_large_stream(pid_t pid, trace_id_t *trid)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, 2 << 20);
	if (!err)
		err = posix_trace_create(pid, &attr, trid);
	return err ? err : posix_trace_start(*trid);
}

FIXTURE(step)
{
	trace_id_t trid;
};

FIXTURE_SETUP(step)
{
	/* Let the dynamic linker resolve the function now. */
	record(0);
	ASSERT_EQ(0, new_large_stream(0, &self->trid));
}

FIXTURE_TEARDOWN(step)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(step, a15_handler_interrupts_recording)
{
	ASSERT_EQ(0, steps_begin(handle));
	record(INTERRUPTED);
	record(INTERRUPTED);
	steps_end();
	EXPECT_EQ(0, errno_lost);
	expect_handled(_metadata, self->trid, handled, 2);
}

TEST_F(step, a16_handler_interrupts_the_opening_of_types)
{
	trace_event_id_t first = 0, again = 0, other = 0;

	ASSERT_EQ(0, posix_trace_eventid_open("before", &first));
	ASSERT_EQ(0, steps_begin(handle));
	posix_trace_eventid_open("first", &first);
	posix_trace_eventid_open("first", &again);
	posix_trace_eventid_open("other", &other);
	steps_end();
	EXPECT_EQ(0, errno_lost);
	EXPECT_LT(UNNAMED, first);
	EXPECT_EQ(first, again);
	EXPECT_EQ(first + 1, other);
	expect_handled(_metadata, self->trid, handled, 0);
}

/* The child reports how many events its handler has recorded. */
static int step_first_event(void *arg, const struct talk *talk)
{
	(void)arg;
	if (hear(talk) || steps_begin(handle))
		return 1;
	record(INTERRUPTED);
	steps_end();
	say(talk, handled);
	return errno_lost;
}

static int step_first_open(void *arg, const struct talk *talk)
{
	trace_event_id_t id = 0;

	(void)arg;
	if (hear(talk) || steps_begin(handle))
		return 1;
	posix_trace_eventid_open("first", &id);
	steps_end();
	say(talk, handled);
	return id > UNNAMED ? errno_lost : 2;
}

static void expect_first_steps(struct __test_metadata *_metadata,
			       int (*first)(void *arg, const struct talk *talk), int calls)
{
	struct child child;
	trace_id_t trid;
	long count;

	ASSERT_EQ(0, child_start(&child, first, NULL));
	ASSERT_EQ(0, new_large_stream(child.pid, &trid));
	say(&child.talk, 0);
	count = hear(&child.talk);
	EXPECT_EQ(0, child_wait(&child));
	expect_handled(_metadata, trid, count, calls);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(step, a17_handler_interrupts_the_first_event)
{
	expect_first_steps(_metadata, step_first_event, 1);
}

TEST_F(step, a17_handler_interrupts_the_first_opening_of_a_type)
{
	expect_first_steps(_metadata, step_first_open, 0);
}

static int bad_children;
static bool is_child;

/* Forks at some steps. In the child, the interrupted call continues without single-stepping. */
static void handle_and_fork(void)
{
	int status;
	pid_t pid;

	handle();
	if (!steps_due(handled, 0))
		return;
	pid = fork();
	if (pid == 0) {
		is_child = true;
		steps_end();
		record(INTERRUPTED);
	} else if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		bad_children++;
	}
}

TEST_F(step, a19_handler_forks)
{
	PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, steps_begin(handle_and_fork));
	record(INTERRUPTED);
	steps_end();
	if (is_child)
		_exit(0);
	EXPECT_EQ(0, bad_children);
	EXPECT_EQ(0, errno_lost);
	expect_handled(_metadata, self->trid, handled, 1);
}
#endif /* HAVE_STEPS */

static void handle_raised(int signal)
{
	(void)signal;
	handle();
}

TEST_F(event, a18_timer_interrupts_it)
{
	struct sigaction action = { .sa_handler = handle_raised };
	int next = 0, next_handled = 0, calls = 0;
	struct event event;

	PXT_NOT_WITH_TSAN("calls handlers later, and one inside of another");
	/* Run the handlers one after the other, so that their numbers are in order. */
	sigfillset(&action.sa_mask);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, interrupts_begin(handle));
	while (interrupts.hits < 100) {
		interrupts_before();
		record(-2 - calls++);
		interrupts_after();
		if (calls % 8 == 0)
			raise(SIGUSR1);
		while (take_user(self->trid, &event) == 1) {
			bool of_handler = event_number(&event) >= 0;

			ASSERT_EQ(of_handler ? next_handled : -2 - next, event_number(&event));
			next += !of_handler;
			next_handled += of_handler;
		}
	}
	interrupts_end();
	while (take_user(self->trid, &event) == 1)
		next_handled += event_number(&event) >= 0;
	EXPECT_EQ(calls, next);
	EXPECT_EQ(handled, next_handled);
	EXPECT_EQ(0, errno_lost);
}

TEST_HARNESS_MAIN
