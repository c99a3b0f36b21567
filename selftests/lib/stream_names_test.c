// SPDX-License-Identifier: GPL-2.0
/*
 * Names of threads, programs and files in an active stream. /proc only has the names by id, and the
 * ids may now belong to different threads and processes.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <pthread.h>
#include <sched.h>

#include "pxt_test.h"
#include "trace_test.h"

/* The answers of the library about a process and its main thread at a certain time. */
struct answers {
	int name;
	int program;
	int mapping;
};

static int code(void)
{
	return 0;
}

/* Asks the library. @pid must run the same program as the caller. */
static struct answers ask(trace_id_t trid, pid_t pid, unsigned long long at)
{
	const struct timespec time = { .tv_sec = at / NSEC, .tv_nsec = at % NSEC };
	struct posixtrace_mapping_info info;
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	char program[POSIXTRACE_PROGRAM_SIZE];

	return (struct answers){
		.name = posixtrace_get_thread_name(trid, pid, pid, &time, name),
		.program = posixtrace_get_program(trid, pid, &time, program, sizeof(program), NULL),
		.mapping = posixtrace_get_mapping(trid, pid, &time, (void *)code, &info),
	};
}

FIXTURE(stream)
{
	trace_id_t trid;
};

FIXTURE_SETUP(stream)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(stream)
{
	posix_trace_shutdown(self->trid);
}

/* The ids of an event whose process has ended may be the ids of a new process. */
TEST_F(stream, process_that_is_younger_than_an_event_is_not_its_process)
{
	unsigned long long before = clock_now(CLOCK_REALTIME) - NSEC, after;
	struct answers answers;
	struct child child;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	after = clock_now(CLOCK_REALTIME);
	answers = ask(self->trid, child.pid, after);
	EXPECT_EQ(0, answers.name);
	EXPECT_EQ(0, answers.program);
	EXPECT_EQ(0, answers.mapping);
	answers = ask(self->trid, child.pid, before);
	EXPECT_EQ(ENOENT, answers.name);
	EXPECT_EQ(ENOENT, answers.program);
	EXPECT_EQ(ENOENT, answers.mapping);
	EXPECT_EQ(0, child_wait(&child));
}

static int name_of(trace_id_t trid, pid_t tid, unsigned long long at)
{
	const struct timespec time = { .tv_sec = at / NSEC, .tv_nsec = at % NSEC };
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	return posixtrace_get_thread_name(trid, getpid(), tid, &time, name);
}

struct young {
	pid_t tid;
	int asked[2];
};

static void *be_young(void *arg)
{
	struct young *young = arg;
	char byte;

	__atomic_store_n(&young->tid, gettid(), __ATOMIC_RELEASE);
	return read(young->asked[0], &byte, 1) == 1 ? NULL : arg;
}

TEST_F(stream, thread_that_is_younger_than_an_event_is_not_its_thread)
{
	unsigned long long before = clock_now(CLOCK_REALTIME) - NSEC;
	struct young young = { .tid = 0 };
	pthread_t thread;
	void *failed;
	pid_t tid;

	ASSERT_EQ(0, pipe(young.asked));
	ASSERT_EQ(0, pthread_create(&thread, NULL, be_young, &young));
	while (!(tid = __atomic_load_n(&young.tid, __ATOMIC_ACQUIRE)))
		sched_yield();
	EXPECT_EQ(0, name_of(self->trid, tid, clock_now(CLOCK_REALTIME)));
	EXPECT_EQ(ENOENT, name_of(self->trid, tid, before));
	ASSERT_EQ(1, write(young.asked[1], "", 1));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
}

/* Runs as process 1 of a pid namespace. In the /proc that it sees, 1 is a different process. */
static int ask_in_a_namespace(void)
{
	struct answers answers;
	trace_id_t trid;

	if (getpid() != 1 || new_stream(0, POSIX_TRACE_LOOP, &trid))
		return 11;
	answers = ask(trid, 1, clock_now(CLOCK_REALTIME));
	if (answers.name != ENOENT || answers.program != ENOENT || answers.mapping != ENOENT)
		return 12;
	return posix_trace_shutdown(trid) ? 13 : 0;
}

static int make_namespace(void *arg, const struct talk *talk)
{
	int status;
	pid_t pid;

	(void)arg;
	(void)talk;
	if (unshare(CLONE_NEWPID))
		return 1;
	pid = fork();
	if (!pid)
		_exit(ask_in_a_namespace());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 2;
	return WEXITSTATUS(status);
}

TEST(proc_of_another_namespace_is_not_used)
{
	struct child child;

	PXT_NOT_WITH_TSAN("has an additional thread");
	ASSERT_EQ(0, child_start(&child, make_namespace, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
