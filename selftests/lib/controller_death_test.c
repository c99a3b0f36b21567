// SPDX-License-Identifier: GPL-2.0
/*
 * Controllers die in many ways. Their streams must end with them, before the parent gets the exit
 * status, and the traced processes must continue.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <pthread.h>
#include <sys/resource.h>

#include "pxt_test.h"
#include "family.h"
#include "polling.h"
#include "reading.h"

#define SLOTS	31

/* Returns how many more streams this process can create. */
static int free_slots(void)
{
	trace_id_t trids[SLOTS + 1];
	int count = 0;

	while (count <= SLOTS && !new_family_stream(0, POSIX_TRACE_INHERITED, 32 << 10,
						    POSIX_TRACE_LOOP, &trids[count]))
		count++;
	for (int i = 0; i < count; i++)
		posix_trace_shutdown(trids[i]);
	return count;
}

enum company {
	ALONE,
	READERS,	/* threads that block in a read */
	HOLDERS,	/* children with copies of its descriptors */
};

struct controller {
	void (*die)(const struct talk *talk);
	enum company company;
	pid_t target;
	int *line;		/* pipe: holders live until it is closed */
	int *failed;		/* in shared memory: bits of the errors that holders find */
};

static void by_returning(const struct talk *talk)
{
	hear(talk);
	exit(0);
}

static void by_signal_from_outside(const struct talk *talk)
{
	hear(talk);
	for (;;)
		pause();
}

static void *exit_in_thread(void *arg)
{
	hear(arg);
	_exit(0);
}

static void *crash_in_thread(void *arg)
{
	int *nowhere = NULL;

	/* Keep the compiler from seeing the value. */
	__asm__ ("" : "+r" (nowhere));
	hear(arg);
	*nowhere = 0;
	return NULL;
}

static void *end_thread(void *arg)
{
	hear(arg);
	return NULL;
}

static void start_thread(void *(*fn)(void *arg), const struct talk *talk)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, (void *)talk))
		_exit(90);
}

static void by_exit_of_a_thread(const struct talk *talk)
{
	start_thread(exit_in_thread, talk);
	for (;;)
		pause();
}

static void by_crash_of_a_thread(const struct talk *talk)
{
	start_thread(crash_in_thread, talk);
	for (;;)
		pause();
}

/*
 * Ends one thread after the other, the main thread first. Not with readers: they would keep the
 * process alive.
 */
static void thread_by_thread(const struct talk *talk)
{
	static struct talk copy;

	copy = *talk;
	start_thread(end_thread, &copy);
	pthread_exit(NULL);
}

static int use_descriptor(int fd)
{
	return poll_say(fd, -1) != POLLERR;
}

/* A child that also records, and outlives its parent. */
static void hold(const struct controller *controller, int fd)
{
	char c;

	close(controller->line[1]);
	record_plain(1);
	*controller->failed |= use_descriptor(fd);
	if (read(controller->line[0], &c, 1) == 1)
		*controller->failed |= 2 * use_descriptor(fd);
	record_plain(2);
	_exit(0);
}

static int control(void *arg, const struct talk *talk)
{
	struct rlimit no_core = { 0, 0 };
	struct controller *controller = arg;
	struct reader readers[2];
	trace_id_t trids[2];

	setrlimit(RLIMIT_CORE, &no_core);
	/* One stream on another process, one on the controller itself and its children. */
	if (start_family_stream(controller->target, &trids[0]) ||
	    start_family_stream(0, &trids[1]))
		return 80;
	for (int i = 0; i < 2 && controller->company == READERS; i++) {
		take_all(trids[i]);
		if (reader_start(&readers[i], trids[i], NULL))
			return 81;
	}
	for (int i = 0; i < 2 && controller->company == HOLDERS; i++) {
		int fd = posixtrace_fd(trids[i]);

		if (fork() == 0)
			hold(controller, fd);
	}
	say(talk, 0);
	controller->die(talk);
	return 82;
}

FIXTURE(controller)
{
	struct controller controller;
	struct child child;
	int line[2];
};

FIXTURE_VARIANT(controller)
{
	void (*die)(const struct talk *talk);
	int signal;		/* sent by the test */
	int status;		/* as returned by ended() */
};

FIXTURE_VARIANT_ADD(controller, exits) { by_returning };
FIXTURE_VARIANT_ADD(controller, is_killed) { by_signal_from_outside, SIGKILL, -SIGKILL };
FIXTURE_VARIANT_ADD(controller, is_terminated) { by_signal_from_outside, SIGTERM, -SIGTERM };
FIXTURE_VARIANT_ADD(controller, exits_in_a_thread) { by_exit_of_a_thread };
FIXTURE_VARIANT_ADD(controller, crashes_in_a_thread) { by_crash_of_a_thread, 0, -SIGSEGV };
FIXTURE_VARIANT_ADD(controller, ends_thread_by_thread) { thread_by_thread };

FIXTURE_SETUP(controller)
{
	ASSERT_EQ(0, pipe(self->line));
	self->controller = (struct controller){
		.die = variant->die,
		.target = getpid(),
		.line = self->line,
		.failed = share(sizeof(int)),
	};
	ASSERT_NE(NULL, self->controller.failed);
	ASSERT_EQ(0, adopt_orphans());
	ASSERT_EQ(SLOTS, free_slots());
}

FIXTURE_TEARDOWN(controller)
{
}

static void let_die(struct __test_metadata *_metadata, struct _test_data_controller *self,
		    const struct _fixture_variant_controller *variant, enum company company)
{
	self->controller.company = company;
	ASSERT_EQ(0, child_start(&self->child, control, &self->controller));
	ASSERT_EQ(0, hear(&self->child.talk));
	record_plain(1);
	EXPECT_EQ(SLOTS - 1, free_slots());
	say(&self->child.talk, 0);
	if (variant->signal)
		kill(self->child.pid, variant->signal);
	ASSERT_EQ(variant->status, ended(self->child.pid));
	/* The streams are gone as soon as wait() returns. */
	EXPECT_EQ(SLOTS, free_slots());
	record_plain(2);
}

/* A case in which the last thread must end the process. */
#define NEEDS_THE_LAST_THREAD	do {							\
	if (variant->die == thread_by_thread)						\
		PXT_NOT_WITH_TSAN("has an additional thread, which stays");		\
} while (0)

TEST_F(controller, streams_end)
{
	NEEDS_THE_LAST_THREAD;
	let_die(_metadata, self, variant, ALONE);
}

TEST_F(controller, streams_end_while_readers_block)
{
	/* Blocked threads would keep the process alive. */
	if (variant->die == thread_by_thread)
		return;
	let_die(_metadata, self, variant, READERS);
}

TEST_F(controller, streams_end_while_children_hold_their_descriptors)
{
	NEEDS_THE_LAST_THREAD;
	let_die(_metadata, self, variant, HOLDERS);
	ASSERT_EQ(2, write(self->line[1], "12", 2));
	EXPECT_EQ(0, all_ended());
	EXPECT_EQ(0, *self->controller.failed);
}

/* ------------------------------------------------------------------ */
/* At any point								*/

struct act {
	pid_t target;
	struct line line;
};

static int create_and_shut_down(void *arg, const struct talk *talk)
{
	struct act *act = arg;
	trace_event_set_t set;
	trace_id_t trid;

	(void)talk;
	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	line_up(&act->line, 2);
	for (;;) {
		if (new_family_stream(act->target, POSIX_TRACE_INHERITED, 32 << 10,
				      POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
			return 1;
		take_all(trid);
		posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
		posix_trace_clear(trid);
		posix_trace_stop(trid);
		posix_trace_shutdown(trid);
	}
}

TEST(controller_is_killed_at_any_point)
{
	struct act *act = share(sizeof(*act));
	struct child child;

	ASSERT_NE(NULL, act);
	act->target = getpid();
	for (int i = 0; i < rounds(400); i++) {
		ASSERT_EQ(0, child_start(&child, create_and_shut_down, act));
		line_up(&act->line, 2);
		for (int j = 0; j < i % 8; j++)
			record_plain(j);
		dawdle(i * 7919 % 100003);
		child_kill(&child);
		/*
		 * This check is too slow for each round. Later is enough, because a lost slot stays
		 * lost.
		 */
		if (i % 50 == 49)
			ASSERT_EQ(SLOTS, free_slots());
	}
	ASSERT_EQ(SLOTS, free_slots());
}

/* The controller and its target die at the same time. Both are children of the test. */
TEST(controller_and_target_are_killed_at_the_same_time)
{
	struct act *act = share(sizeof(*act));
	struct child child;
	pid_t pid;

	ASSERT_NE(NULL, act);
	for (int i = 0; i < rounds(300); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0) {
			for (;;)
				record_plain(1);
		}
		act->target = pid;
		ASSERT_EQ(0, child_start(&child, create_and_shut_down, act));
		line_up(&act->line, 2);
		dawdle(i * 7919 % 100003);
		kill(i % 2 ? pid : child.pid, SIGKILL);
		dawdle(i * 131 % 2000);
		kill(i % 2 ? child.pid : pid, SIGKILL);
		ended(pid);
		child_wait(&child);
	}
	EXPECT_EQ(SLOTS, free_slots());
}

TEST_HARNESS_MAIN
