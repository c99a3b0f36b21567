// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that the library starts for a log: what it does, what it leaves to the kernel, and
 * that it does not disturb the program.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>

#include <posixtrace.h>

#include "pxt_test.h"
#include "credentials.h"
#include "fuse.h"
#include "stuck.h"
#include "withlog.h"

#define SECONDS		(20 * pxt_patience())

static const struct log_kind append = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };

FIXTURE(thread)
{
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(thread)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(thread)
{
	close(self->fd);
}

static bool has_no_worker(void *unused)
{
	(void)unused;
	return !log_worker();
}

TEST_F(thread, lives_as_long_as_its_stream)
{
	EXPECT_EQ(0, log_worker());
	ASSERT_EQ(0, withlog_new(0, &append, self->fd, &self->trid));
	EXPECT_NE(0, log_worker());
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_TRUE(becomes_true(has_no_worker, NULL, SECONDS));
}

TEST_F(thread, ends_when_the_program_closes_the_descriptor)
{
	ASSERT_EQ(0, withlog_new(0, &append, self->fd, &self->trid));
	for (int fd = 3; fd < 64; fd++) {
		if (fd != self->fd)
			close(fd);
	}
	EXPECT_TRUE(becomes_true(has_no_worker, NULL, SECONDS));
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
}

/* Reads the mask of blocked signals from a thread's status. */
static unsigned long long blocked_signals(int tid)
{
	unsigned long long mask = 0;
	char path[64], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	status = fopen(path, "re");
	while (status && !mask && fgets(line, sizeof(line), status))
		sscanf(line, "SigBlk: %llx", &mask);
	if (status)
		fclose(status);
	return mask;
}

#define BIT(sig)	(1ULL << ((sig) - 1))

/*
 * No signal handler of the program may run in the library's thread. SIGSYS and the two signals of
 * the C library must not be blocked.
 */
TEST_F(thread, blocks_the_signals_of_the_program)
{
	ASSERT_EQ(0, withlog_new(0, &append, self->fd, &self->trid));
	EXPECT_EQ(~(BIT(SIGSYS) | BIT(32) | BIT(33) | BIT(SIGKILL) | BIT(SIGSTOP)),
		  blocked_signals(log_worker()));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
}

/* To change the user, the C library interrupts all threads, and so the library's log thread. */
static int change_user(void *arg, const struct talk *talk)
{
	struct log_content content;
	trace_id_t trid;
	int fd = log_tmpfile();

	(void)arg;
	(void)talk;
	if (withlog_new(0, &append, fd, &trid) || posix_trace_start(trid))
		return 1;
	for (int i = 0; i < 300; i++) {
		withlog_record(i, 1);
		if (posix_trace_flush(trid) || setresuid(-1, i % 2 ? 0 : 1000, 0))
			return 2;
	}
	if (posix_trace_shutdown(trid))
		return 3;
	log_content_fd(fd, &content);
	return log_content_is(&content, 300) ? 0 : 4;
}

TEST_F(thread, lets_the_program_change_its_user)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, change_user, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

/* RLIMIT_NPROC does not apply to root. */
static int start_no_thread(void *arg, const struct talk *talk)
{
	const struct rlimit none = { 0, 0 };
	struct log_content content;
	int fd = log_tmpfile();
	trace_id_t trid;

	(void)arg;
	(void)talk;
	if (become_user(1000) || setrlimit(RLIMIT_NPROC, &none) ||
	    withlog_new(0, &append, fd, &trid) || posix_trace_start(trid))
		return 1;
	if (log_worker())
		return 2;
	withlog_record(0, 100);
	if (withlog_flush(trid) || posix_trace_shutdown(trid))
		return 3;
	log_content_fd(fd, &content);
	return log_content_is(&content, 100) ? 0 : 4;
}

TEST_F(thread, that_cannot_start_is_replaced_by_the_kernel)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, start_no_thread, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

static int end_main_thread(void *arg, const struct talk *talk)
{
	trace_id_t trid;

	(void)talk;
	if (withlog_new(0, &append, *(int *)arg, &trid) || posix_trace_start(trid))
		return 1;
	withlog_record(0, 100);
	pthread_exit(NULL);
}

TEST_F(thread, does_not_keep_its_process_alive)
{
	struct log_content content;
	struct child child;

	ASSERT_EQ(0, child_start(&child, end_main_thread, &self->fd));
	EXPECT_EQ(0, child_wait(&child));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 100));
}

static int fork_and_flush(void *arg, const struct talk *talk)
{
	struct log_content content;
	trace_id_t trid;
	int status;
	pid_t pid;

	(void)talk;
	if (withlog_new(0, &append, *(int *)arg, &trid) || posix_trace_start(trid))
		return 1;
	pid = fork();
	if (!pid)
		_exit(log_worker() || posix_trace_flush(trid) != EINVAL);
	if (waitpid(pid, &status, 0) != pid || status)
		return 2;
	withlog_record(0, 100);
	if (withlog_flush(trid) || posix_trace_shutdown(trid))
		return 3;
	log_content_fd(*(int *)arg, &content);
	return log_content_is(&content, 100) ? 0 : 4;
}

TEST_F(thread, is_not_in_a_child)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, fork_and_flush, &self->fd));
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* exec									*/

static int exec_true(void *arg, const struct talk *talk)
{
	trace_id_t trid;

	if (withlog_new(0, &append, *(int *)arg, &trid) || posix_trace_start(trid))
		return 1;
	close(*(int *)arg);
	withlog_record(0, 100);
	say(talk, 0);
	hear(talk);
	if (posix_trace_flush(trid))
		return 2;
	say(talk, 0);
	hear(talk);
	execl("/bin/true", "true", NULL);
	return 3;
}

static bool runs_true(void *pid)
{
	char path[64], name[32] = "";
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%d/comm", *(pid_t *)pid);
	comm = fopen(path, "re");
	if (comm && !fgets(name, sizeof(name), comm))
		name[0] = '\0';
	if (comm)
		fclose(comm);
	return !strcmp(name, "true\n");
}

/*
 * exec() ends all other threads while it holds locks that other processes may need, so it must not
 * wait for a slow log.
 */
TEST(exec_does_not_wait_for_a_thread_in_a_log_that_a_server_writes)
{
	struct fuse_disk fuse;
	struct child child;
	int fd;

	ASSERT_EQ(0, fuse_begin(&fuse));
	fd = fuse_open(&fuse, O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, child_start(&child, exec_true, &fd));
	ASSERT_EQ(0, hear(&child.talk));
	fuse_hang(&fuse);
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	fuse_wait_hanging(&fuse);
	say(&child.talk, 0);
	EXPECT_TRUE(becomes_true(runs_true, &child.pid, SECONDS));
	fuse_resume(&fuse);
	EXPECT_EQ(0, child_wait(&child));
	close(fd);
	fuse_end(&fuse);
}

TEST_HARNESS_MAIN
