// SPDX-License-Identifier: GPL-2.0
/*
 * A signal handler forks while its thread waits in a function of the controller. The child has no
 * trace ids and no memory of the stream, but must return from the function.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <linux/posixtrace_log.h>

#include "logdrain.h"
#include "pxt_test.h"
#include "reading.h"

#define CHILD_SECONDS	20	/* time limit for a child that may not return */

static pid_t forked;
static bool is_child;

static void fork_here(int signal)
{
	pid_t pid = fork();

	(void)signal;
	if (!pid) {
		is_child = true;
		alarm(CHILD_SECONDS * pxt_time_scale());
	}
	__atomic_store_n(&forked, pid, __ATOMIC_RELEASE);
}

/* A thread that interrupts the test's thread during a system call, then lets it continue. */
struct intruder {
	pthread_t test;
	int tid;
	long call;
	void (*let_go)(struct intruder *intruder);
	int from;		/* end of a pipe that is the log */
	int to;
	pthread_t thread;
};

static void *intrude(void *arg)
{
	struct intruder *intruder = arg;

	while (syscall_of(intruder->tid) != intruder->call)
		sched_yield();
	pthread_kill(intruder->test, SIGUSR1);
	intruder->let_go(intruder);
	return NULL;
}

static int intruder_start(struct intruder *intruder)
{
	intruder->test = pthread_self();
	intruder->tid = gettid();
	return pthread_create(&intruder->thread, NULL, intrude, intruder);
}

/* Runs after the interrupted function. Returns the wait status of the child. */
static int child_end(int err)
{
	int status;

	if (is_child)
		_exit(err && err != EINVAL);
	return waitpid(forked, &status, 0) == forked ? status : -1;
}

FIXTURE(handler)
{
	trace_id_t trid;
	int pipe[2];
	int fd;
};

FIXTURE_SETUP(handler)
{
	struct sigaction action = { .sa_handler = fork_here, .sa_flags = SA_RESTART };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pipe2(self->pipe, O_CLOEXEC));
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(handler)
{
	close(self->pipe[0]);
	close(self->fd);
}

/* ------------------------------------------------------------------ */
/* Commands that wait for the log					*/

/*
 * Reads the log, so that the command can end. The signal does not end the command; its handler runs
 * after the command.
 */
static void copy_log(struct intruder *intruder)
{
	while (copy_once(intruder->from, intruder->to) == 1)
		;
}

/* A running stream with a log in the pipe, and more events than the pipe holds. */
static int fill_log(struct _test_data_handler *self)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
	int err;

	if (fcntl(self->pipe[1], F_SETPIPE_SZ, 4096) < 0)
		return errno;
	err = withlog_new(0, &kind, self->pipe[1], &self->trid);
	close(self->pipe[1]);
	if (!err)
		err = posix_trace_start(self->trid);
	withlog_record(0, 600);
	return err;
}

static struct intruder copier(const struct _test_data_handler *self)
{
	return (struct intruder){
		.call = SYS_ioctl, .let_go = copy_log, .from = self->pipe[0], .to = self->fd,
	};
}

TEST_F(handler, child_returns_from_shutdown)
{
	struct intruder intruder = copier(self);
	struct log_content content;
	int err;

	PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, fill_log(self));
	ASSERT_EQ(0, intruder_start(&intruder));
	err = posix_trace_shutdown(self->trid);
	EXPECT_EQ(0, child_end(err));
	EXPECT_EQ(0, err);
	ASSERT_EQ(0, pthread_join(intruder.thread, NULL));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 600));
}

/* Begins a flush. CLEAR must then wait for its end. */
static int flush_begins(struct _test_data_handler *self)
{
	int begun = 0, err = posix_trace_flush(self->trid);

	while (!err && begun <= (int)sizeof(struct posixtrace_log_header)) {
		sched_yield();
		err = ioctl(self->pipe[0], FIONREAD, &begun) ? errno : 0;
	}
	return err;
}

TEST_F(handler, child_returns_from_clear)
{
	struct intruder intruder = copier(self);
	int err;

	PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, fill_log(self));
	ASSERT_EQ(0, flush_begins(self));
	ASSERT_EQ(0, intruder_start(&intruder));
	err = posix_trace_clear(self->trid);
	EXPECT_EQ(0, child_end(err));
	EXPECT_EQ(0, err);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, pthread_join(intruder.thread, NULL));
}

/* ------------------------------------------------------------------ */
/* The wait for other calls						*/

static int gate[2];
static bool held;

/* Keeps the interrupted thread in its call. */
static void hold(int signal)
{
	char byte;

	(void)signal;
	__atomic_store_n(&held, true, __ATOMIC_RELEASE);
	if (read(gate[0], &byte, 1) != 1)
		abort();
}

static void open_gate(struct intruder *intruder)
{
	(void)intruder;
	while (!__atomic_load_n(&forked, __ATOMIC_ACQUIRE))
		sched_yield();
	if (write(gate[1], "", 1) != 1)
		abort();
}

TEST_F(handler, child_returns_from_shutdown_that_waits_for_a_reader)
{
	struct intruder intruder = { .call = SYS_futex, .let_go = open_gate };
	struct sigaction action = { .sa_handler = hold };
	struct reader reader;
	int err;

	PXT_NOT_WITH_TSAN("has locks that are held where fork() wants them");
	ASSERT_EQ(0, sigaction(SIGUSR2, &action, NULL));
	ASSERT_EQ(0, pipe2(gate, O_CLOEXEC));
	ASSERT_EQ(0, posix_trace_create(0, NULL, &self->trid));
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	pthread_kill(reader.thread, SIGUSR2);
	while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
		sched_yield();
	ASSERT_EQ(0, intruder_start(&intruder));
	err = posix_trace_shutdown(self->trid);
	EXPECT_EQ(0, child_end(err));
	EXPECT_EQ(0, err);
	ASSERT_EQ(0, pthread_join(intruder.thread, NULL));
	reader_end(&reader);
}

TEST_HARNESS_MAIN
