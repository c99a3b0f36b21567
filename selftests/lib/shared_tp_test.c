// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that share a thread pointer, as created by a raw clone() without CLONE_SETTLS. They have
 * a single area for restartable sequences, which the kernel updates for only one of them.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <posixtrace.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "syscalls.h"
#include "trace_test.h"

#define STACK	(64 << 10)
#define EVENTS	5000
#define ROUNDS	10

struct mark {
	int who;
	int number;
};

static void record_marks(int who)
{
	struct mark mark = { .who = who };

	for (mark.number = 0; mark.number < EVENTS; mark.number++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &mark, sizeof(mark));
}

/* ------------------------------------------------------------------ */
/* The sharer shares errno, so it must not make calls that could fail	*/

struct sharer {
	void *stack;
	int tid;		/* the kernel sets 0 when it has ended */
	int ready;
	int go;
};

static int be_sharer(void *arg)
{
	struct sharer *sharer = arg;

	__atomic_store_n(&sharer->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&sharer->go, __ATOMIC_ACQUIRE))
		sched_yield();
	record_marks(1);
	return 0;
}

static int sharer_start(struct sharer *sharer)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

	*sharer = (struct sharer){ .tid = -1 };
	sharer->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (sharer->stack == MAP_FAILED)
		return -1;
	if (clone(be_sharer, (char *)sharer->stack + STACK, flags, sharer, &sharer->tid, NULL,
		  &sharer->tid) < 0)
		return -1;
	while (!__atomic_load_n(&sharer->ready, __ATOMIC_ACQUIRE))
		sched_yield();
	return 0;
}

static void sharer_join(struct sharer *sharer)
{
	int tid;

	while ((tid = __atomic_load_n(&sharer->tid, __ATOMIC_ACQUIRE)))
		syscall(SYS_futex, &sharer->tid, FUTEX_WAIT, tid, NULL, NULL, 0);
	munmap(sharer->stack, STACK);
}

/* ------------------------------------------------------------------ */

FIXTURE(shared_tp)
{
	trace_id_t trid;
};

FIXTURE_SETUP(shared_tp)
{
}

FIXTURE_TEARDOWN(shared_tp)
{
}

/* Expects each event of both threads exactly once, unchanged. */
static void read_marks(struct __test_metadata *_metadata, trace_id_t trid)
{
	struct posixtrace_stats_info stats;
	int next[2] = { 0 };
	struct event event;
	struct mark mark;

	while (take_user(trid, &event) == 1) {
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
		ASSERT_EQ(sizeof(mark), event.len);
		memcpy(&mark, event.data, sizeof(mark));
		ASSERT_EQ(mark.who, !!mark.who);
		ASSERT_EQ(next[mark.who], mark.number);
		next[mark.who]++;
	}
	EXPECT_EQ(EVENTS, next[0]);
	EXPECT_EQ(EVENTS, next[1]);
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(2 * EVENTS, stats.recorded);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(0, stats.damaged);
}

static void record_both(struct sharer *sharer)
{
	__atomic_store_n(&sharer->go, 1, __ATOMIC_RELEASE);
	record_marks(0);
	sharer_join(sharer);
}

/* The process has already written records itself. */
TEST_F(shared_tp, events_of_a_sharer_of_a_traced_process_are_intact)
{
	PXT_NOT_WITH_TSAN("has a state for each thread pointer");
	for (int i = 0; i < ROUNDS; i++) {
		struct sharer sharer;
		struct event event;

		ASSERT_EQ(0, new_roomy_stream(&self->trid));
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(0, posix_trace_clear(self->trid));
		ASSERT_EQ(0, sharer_start(&sharer));
		record_both(&sharer);
		read_marks(_metadata, self->trid);
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	}
}

/* Runs in a child of fork(): it has not attached, and is not a target. */
static int have_sharer_and_be_traced(void *arg, const struct talk *talk)
{
	struct sharer sharer;

	(void)arg;
	if (sharer_start(&sharer))
		return 1;
	say(talk, 0);
	hear(talk);
	record_both(&sharer);
	return 0;
}

TEST_F(shared_tp, events_of_a_sharer_of_an_untraced_process_are_intact)
{
	PXT_NOT_WITH_TSAN("has a state for each thread pointer");
	for (int i = 0; i < ROUNDS; i++) {
		struct child child;
		trace_attr_t attr;

		ASSERT_EQ(0, child_start(&child, have_sharer_and_be_traced, NULL));
		ASSERT_EQ(0, hear(&child.talk));
		ASSERT_EQ(0, posix_trace_attr_init(&attr));
		ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 1 << 20));
		ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&attr, 64));
		ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
		ASSERT_EQ(0, posix_trace_create(child.pid, &attr, &self->trid));
		ASSERT_EQ(0, posix_trace_start(self->trid));
		say(&child.talk, 0);
		EXPECT_EQ(0, child_wait(&child));
		read_marks(_metadata, self->trid);
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* Other threads record without the module				*/

static pthread_barrier_t threads_there;

static void *stay(void *arg)
{
	pthread_barrier_wait(&threads_there);
	pause();
	return arg;
}

/*
 * Counts the commands for 100 events. Half of the threads start before the stream exists, half
 * after that.
 */
static int record_among_threads(void)
{
	pthread_t thread;
	trace_id_t trid;

	/* Each additional CPU would request a sub-buffer. */
	run_on(0);

	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP))
		return 1;
	if (pthread_barrier_init(&threads_there, NULL, 9))
		return 2;
	for (int i = 0; i < 8; i++) {
		if (i == 4 && new_roomy_stream(&trid))
			return 3;
		if (i == 4)
			posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
		if (pthread_create(&thread, NULL, stay, NULL))
			return 4;
	}
	pthread_barrier_wait(&threads_there);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	signpost();
	for (int i = 0; i < 100; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	signpost();
	return 0;
}

TEST_F(shared_tp, threads_with_their_own_pointers_record_without_the_module)
{
	struct syscalls calls;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(record_among_threads());
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, count_syscalls(&calls, pid));
	EXPECT_EQ(0, calls.status);
	EXPECT_EQ(0, calls.ioctls);
}

TEST_HARNESS_MAIN
