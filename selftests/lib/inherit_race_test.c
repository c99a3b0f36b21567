// SPDX-License-Identifier: GPL-2.0
/*
 * Forks at any point: while other threads record, in signal handlers, and while the controller
 * makes calls.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <posixtrace.h>
#include <pthread.h>

#include "pxt_test.h"
#include "family.h"
#include "interrupt.h"
#include "step.h"

FIXTURE(race)
{
	trace_id_t trid;
};

FIXTURE_SETUP(race)
{
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
}

FIXTURE_TEARDOWN(race)
{
	posix_trace_shutdown(self->trid);
}

/* ------------------------------------------------------------------ */
/* Threads								*/

#define THREADS		3
#define EVENTS		5	/* events that each child records */

struct worker {
	pthread_t thread;
	int index;
	int count;
	int *end;
};

/* The numbers of thread i start at (i + 1) million. */
static void *record_until_end(void *arg)
{
	struct worker *worker = arg;

	run_on(worker->index);
	while (!__atomic_load_n(worker->end, __ATOMIC_ACQUIRE)) {
		record_plain((worker->index + 1) * 1000000 + worker->count++);
		/* Pause, because the stream can hold only a limited number of events. */
		usleep(100);
	}
	return NULL;
}

static int record_events(void *arg)
{
	for (int i = 0; i < EVENTS; i++)
		record_plain(*(int *)arg + i);
	return 0;
}

/* Checks that each thread and each child has recorded all its events, in order. */
static void check_workers(struct __test_metadata *_metadata, trace_id_t trid,
			  const struct worker *workers, const pid_t *pids, int children)
{
	int next[THREADS] = { 0 }, *next_of = calloc(children, sizeof(int));
	struct event event;

	ASSERT_NE(NULL, next_of);
	while (take_user(trid, &event) == 1) {
		int number = event_number(&event), child = number / EVENTS;
		int thread = number / 1000000 - 1;

		if (thread >= 0) {
			ASSERT_GT(THREADS, thread);
			ASSERT_EQ(next[thread]++, number % 1000000);
			ASSERT_EQ(getpid(), event.info.posix_pid);
		} else {
			ASSERT_GT(children, child);
			ASSERT_EQ(pids[child], event.info.posix_pid);
			ASSERT_EQ(next_of[child]++, number % EVENTS);
		}
	}
	for (int i = 0; i < THREADS; i++)
		EXPECT_EQ(workers[i].count, next[i]);
	for (int i = 0; i < children; i++)
		ASSERT_EQ(EVENTS, next_of[i]);
	free(next_of);
}

static void fork_while_threads_record(struct __test_metadata *_metadata, trace_id_t trid,
				      pid_t (*make)(family_fn fn, void *arg))
{
	int children = rounds(100), end = 0;
	pid_t *pids = calloc(children, sizeof(*pids));
	struct worker workers[THREADS];
	struct posixtrace_stats_info stats;

	ASSERT_NE(NULL, pids);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .index = i, .end = &end };
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, record_until_end,
					    &workers[i]));
	}
	for (int i = 0; i < children; i++) {
		int first = i * EVENTS;

		pids[i] = make(record_events, &first);
		ASSERT_LT(0, pids[i]);
		ASSERT_EQ(0, ended(pids[i]));
	}
	__atomic_store_n(&end, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(0, stats.untraced);
	check_workers(_metadata, trid, workers, pids, children);
	free(pids);
}

TEST_F(race, thread_forks_while_others_record)
{
	fork_while_threads_record(_metadata, self->trid, by_fork);
}

TEST_F(race, thread_vforks_while_others_record)
{
	fork_while_threads_record(_metadata, self->trid, by_vfork);
}

TEST_F(race, thread_shares_its_memory_while_others_record)
{
	PXT_NOT_WITH_TSAN("does not survive two processes that run in one memory");
	fork_while_threads_record(_metadata, self->trid, by_clone_vm);
}

struct forker {
	pthread_t thread;
	int count;
	int failed;
};

static void *fork_and_fork(void *arg)
{
	struct forker *forker = arg;

	for (int i = 0; i < forker->count; i++) {
		int first = 0;
		pid_t pid = by_fork(record_events, &first);

		forker->failed += pid < 0 || ended(pid);
	}
	return NULL;
}

/*
 * A fork takes an entry from a preallocated pool. The pool must have enough entries for all threads
 * together.
 */
TEST_F(race, many_threads_fork_at_the_same_time)
{
	struct forker forkers[THREADS + 2];
	struct posixtrace_stats_info stats;
	int total = 0;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < THREADS + 2; i++) {
			forkers[i] = (struct forker){ .count = rounds(20) };
			total += forkers[i].count;
			ASSERT_EQ(0, pthread_create(&forkers[i].thread, NULL, fork_and_fork,
						    &forkers[i]));
		}
		for (int i = 0; i < THREADS + 2; i++) {
			pthread_join(forkers[i].thread, NULL);
			EXPECT_EQ(0, forkers[i].failed);
		}
	}
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(0, stats.untraced);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(total * EVENTS, stats.recorded);
	EXPECT_EQ(1, stats.processes);
}

/* ------------------------------------------------------------------ */
/* Signal handlers							*/

#define INTERRUPTED	-2

static int handled, failed;

static int record_handled(void *arg)
{
	(void)arg;
	record_plain(handled);
	return 0;
}

/* Forks a child that records; the parent also records. */
static void handle_and_fork(void)
{
	int saved_errno = errno;
	pid_t pid = by_fork(record_handled, NULL);

	failed += pid < 0 || ended(pid);
	record_plain(handled++);
	errno = saved_errno;
}

/* The events read so far. */
struct taken {
	int interrupted;	/* number of events of the parent that may have been interrupted */
	int next;		/* number of the handler's next event */
	int next_of_children;
};

static void take_handled(struct __test_metadata *_metadata, trace_id_t trid, struct taken *taken)
{
	struct event event;

	while (take_user(trid, &event) == 1) {
		int number = event_number(&event);

		if (number == INTERRUPTED) {
			ASSERT_EQ(getpid(), event.info.posix_pid);
			taken->interrupted++;
		} else if (event.info.posix_pid == getpid()) {
			ASSERT_EQ(taken->next++, number);
		} else {
			ASSERT_EQ(taken->next_of_children++, number);
		}
	}
}

/*
 * Expects @calls events of the parent, which may have been interrupted. Each handler also records
 * one, and so does its child.
 */
static void check_handled(struct __test_metadata *_metadata, trace_id_t trid,
			  struct taken *taken, int calls)
{
	EXPECT_EQ(0, failed);
	take_handled(_metadata, trid, taken);
	EXPECT_EQ(calls, taken->interrupted);
	EXPECT_EQ(handled, taken->next);
	EXPECT_EQ(handled, taken->next_of_children);
	EXPECT_LT(0, handled);
}

/* The stream holds this many events, which is enough even if the timer is late. */
#define ROOM	10000

TEST_F(race, handler_of_a_timer_forks)
{
	int calls = 0, wanted = rounds(60);
	struct taken taken = { 0 };

	ASSERT_EQ(0, interrupts_begin(handle_and_fork));
	while (interrupts.hits < wanted) {
		interrupts_before();
		record_plain(INTERRUPTED);
		interrupts_after();
		calls++;
		while (interrupts_pending() && calls - taken.interrupted == ROOM)
			sched_yield();
		/* No signal is pending, so no fork can interrupt this. */
		if (!interrupts_pending())
			take_handled(_metadata, self->trid, &taken);
	}
	interrupts_end();
	check_handled(_metadata, self->trid, &taken, calls);
}

#ifdef HAVE_STEPS
static int steps_seen, step_call;

/* Should this step have no fork? A fork takes long, especially on a debug kernel. */
static bool skip_step(void)
{
	int step = steps_seen++;

	return step % pxt_time_scale() || !steps_due(step / pxt_time_scale(), step_call);
}

static void step_and_fork(void)
{
	if (!skip_step())
		handle_and_fork();
}

TEST_F(race, handler_forks_after_the_instructions_of_an_event)
{
	struct taken taken = { 0 };

	PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, steps_begin(step_and_fork));
	for (step_call = 0; step_call < 3; step_call++) {
		steps_seen = 0;
		record_plain(INTERRUPTED);
	}
	steps_end();
	check_handled(_metadata, self->trid, &taken, 3);
}

static bool is_child;

/* The child continues the interrupted call, and so does its parent. */
static void step_and_continue(void)
{
	pid_t pid;

	/*
	 * The parent may have forked within syscall() of step.h, which resumes the steps. End them
	 * in the child.
	 */
	if (is_child)
		steps_end();
	if (is_child || skip_step())
		return;
	handled++;
	pid = fork();
	if (pid == 0) {
		is_child = true;
		steps_end();
	} else {
		failed += pid < 0 || ended(pid);
	}
}

TEST_F(race, child_of_a_handler_continues_the_interrupted_event)
{
	int mine = 0, children = 0;
	struct event event;
	pid_t last = 0;

	PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, steps_begin(step_and_continue));
	for (step_call = 0; step_call < 3 && !is_child; step_call++) {
		steps_seen = 0;
		record_plain(INTERRUPTED);
	}
	steps_end();
	if (is_child) {
		/* The child is traced, wherever the handler interrupted its parent. */
		record_plain(0);
		_exit(0);
	}
	EXPECT_EQ(0, failed);
	while (take_user(self->trid, &event) == 1) {
		if (event.info.posix_pid == getpid()) {
			ASSERT_EQ(INTERRUPTED, event_number(&event));
			mine++;
		} else if (event_number(&event) == INTERRUPTED) {
			/* A child finishes the interrupted event at most once. */
			ASSERT_NE(last, event.info.posix_pid);
			last = event.info.posix_pid;
		} else {
			ASSERT_EQ(0, event_number(&event));
			last = event.info.posix_pid;
			children++;
		}
	}
	EXPECT_EQ(3, mine);
	EXPECT_EQ(handled, children);
	EXPECT_LT(0, handled);
}
#endif /* HAVE_STEPS */

/* ------------------------------------------------------------------ */
/* The controller							*/

struct stage {
	int begun;	/* number of the last event begun */
	int done;	/* number of the last event recorded */
	int births;
	int end;
	struct line line;
	int delay;
	trace_event_id_t of_parent;
	trace_event_id_t of_child;
	pid_t child;
};

static int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Creates children one after the other. Each records two events. */
static int bear_children(void *arg, const struct talk *talk)
{
	struct stage *stage = arg;
	pid_t pid;

	(void)talk;
	while (!load(&stage->end)) {
		__atomic_add_fetch(&stage->births, 1, __ATOMIC_RELEASE);
		pid = fork();
		if (pid < 0)
			return 1;
		if (pid == 0) {
			for (int i = 0; i < 2; i++) {
				int number = __atomic_add_fetch(&stage->begun, 1,
								__ATOMIC_ACQ_REL);

				record_plain(number);
				__atomic_store_n(&stage->done, number, __ATOMIC_RELEASE);
			}
			_exit(0);
		}
		if (ended(pid))
			return 2;
	}
	return 0;
}

static void wait_for_births(struct stage *stage, int count)
{
	int before = load(&stage->births);

	while (load(&stage->births) < before + count)
		sched_yield();
}

TEST(stop_and_start_are_exact_while_children_are_created)
{
	struct stage *stage = share(sizeof(*stage));
	int started, stopped, done, last;
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_NE(NULL, stage);
	ASSERT_EQ(0, child_start(&child, bear_children, stage));
	ASSERT_EQ(0, new_family_stream(child.pid, POSIX_TRACE_INHERITED, 256 << 10,
				       POSIX_TRACE_UNTIL_FULL, &trid));
	/* An earlier child may still have to record, but it is not traced. */
	wait_for_births(stage, 1);
	for (int i = 0; i < rounds(100); i++) {
		dawdle(i * 131 % 20000);
		ASSERT_EQ(0, posix_trace_start(trid));
		started = load(&stage->begun);
		wait_for_births(stage, 1);
		dawdle(i * 37 % 20000);
		done = load(&stage->done);
		ASSERT_EQ(0, posix_trace_stop(trid));
		stopped = load(&stage->begun);
		wait_for_births(stage, 1);
		last = 0;
		while (take_user(trid, &event) == 1) {
			int number = event_number(&event);

			/* No number is missing after the first one. */
			ASSERT_TRUE(last ? number == last + 1 : number <= started + 1);
			ASSERT_GE(stopped, number);
			last = number;
		}
		ASSERT_TRUE(last >= done || done <= started);
	}
	stage->end = 1;
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/*
 * Opens names in an order in which parent and child would get different ids if their tables were
 * separate.
 */
static int fork_at_the_line(void *arg, const struct talk *talk)
{
	struct stage *stage = arg;
	trace_event_id_t filler;
	pid_t pid;

	hear(talk);
	line_up(&stage->line, 2);
	dawdle(stage->delay);
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0) {
		stage->child = getpid();
		if (posix_trace_eventid_open("common", &stage->of_child))
			_exit(1);
		record_as(stage->of_child, 1);
		_exit(0);
	}
	if (posix_trace_eventid_open("filler", &filler) ||
	    posix_trace_eventid_open("common", &stage->of_parent))
		return 2;
	record_as(stage->of_parent, 2);
	if (ended(pid))
		return 3;
	/* The process lives until the controller has finished. */
	say(talk, 0);
	hear(talk);
	return 0;
}

/*
 * Whether the stream or the child was created first, each event must have the name that its own
 * process has given to the type.
 */
TEST(stream_created_during_a_fork)
{
	struct stage *stage = share(sizeof(*stage));
	char name[TRACE_EVENT_NAME_MAX + 1];
	int with_child = 0, count = rounds(200);
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_NE(NULL, stage);
	for (int i = 0; i < count; i++) {
		stage->delay = i * 7919 % 400000;
		ASSERT_EQ(0, child_start(&child, fork_at_the_line, stage));
		say(&child.talk, 0);
		line_up(&stage->line, 2);
		ASSERT_EQ(0, new_family_stream(child.pid, POSIX_TRACE_INHERITED, 32 << 10,
					       POSIX_TRACE_LOOP, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		ASSERT_EQ(0, hear(&child.talk));
		ASSERT_EQ(0, child_wait(&child));
		while (take_user(trid, &event) == 1) {
			ASSERT_EQ(0, posix_trace_eventid_get_name(trid, event.info.posix_event_id,
								  name));
			ASSERT_STREQ("common", name);
			ASSERT_TRUE(event.info.posix_pid == child.pid ||
				    event.info.posix_pid == stage->child);
			if (event.info.posix_pid == stage->child) {
				ASSERT_EQ(1, event_number(&event));
				ASSERT_EQ(stage->of_parent, stage->of_child);
				with_child++;
			}
		}
		ASSERT_EQ(0, processes_of(trid));
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
	/* There was a race if some of the children were traced, but not all. */
	TH_LOG("%d of %d children were traced", with_child, count);
}

TEST_F(race, child_killed_before_it_runs)
{
	struct posixtrace_stats_info stats;

	for (int i = 0; i < rounds(500); i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (pid == 0) {
			for (;;)
				record_plain(1);
		}
		dawdle(i % 10 ? 0 : i * 7);
		kill(pid, SIGKILL);
		ASSERT_EQ(-SIGKILL, ended(pid));
	}
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(1, stats.processes);
	EXPECT_EQ(0, stats.untraced);
}

/* The stream and the children end at the same time. */
TEST(shutdown_while_children_end)
{
	struct stage *stage = share(sizeof(*stage));
	trace_id_t trid;

	ASSERT_NE(NULL, stage);
	for (int i = 0; i < rounds(150); i++) {
		ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_INHERITED, 32 << 10,
					       POSIX_TRACE_LOOP, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		for (int j = 0; j < 2; j++) {
			pid_t pid = fork();

			ASSERT_LE(0, pid);
			if (pid == 0) {
				record_plain(1);
				line_up(&stage->line, 3);
				record_plain(2);
				_exit(0);
			}
		}
		line_up(&stage->line, 3);
		dawdle(i * 37 % 5000);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
		ASSERT_EQ(0, all_ended());
	}
}

TEST_HARNESS_MAIN
