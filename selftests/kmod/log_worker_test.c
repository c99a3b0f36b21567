// SPDX-License-Identifier: GPL-2.0
/*
 * WRITE_LOG: a thread of the controller writes the log. The kernel thread takes over if that thread
 * is interrupted or ends.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "fuse.h"
#include "logworker.h"
#include "stuck.h"

#define SECONDS		(20 * pxt_patience())

/* More than a pipe can hold. */
#define EVENTS		2000

static void do_nothing(int sig)
{
	(void)sig;
}

FIXTURE(worker)
{
	struct stream stream;
	struct worker worker;
	int fd;
};

FIXTURE_SETUP(worker)
{
	const struct sigaction action = { .sa_handler = do_nothing };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	self->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->fd);
	self->stream.fd = device_open();
	ASSERT_LE(0, self->stream.fd);
}

FIXTURE_TEARDOWN(worker)
{
	close(self->stream.fd);
	close(self->fd);
}

/* ------------------------------------------------------------------ */
/* Who may call it							*/

TEST_F(worker, needs_a_stream_with_log)
{
	struct target target;

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_WRITE_LOG, NULL));
	create_init(&self->stream.arg, 0);
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_CREATE, &self->stream.arg));
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_WRITE_LOG, NULL));
	ASSERT_EQ(0, target_open(&target));
	EXPECT_EQ(-EINVAL, command(target.fd, POSIXTRACE_IOC_WRITE_LOG, NULL));
	target_close(&target);
}

static int write_log_in_child(void *arg, const struct talk *talk)
{
	(void)talk;
	return -command(*(int *)arg, POSIXTRACE_IOC_WRITE_LOG, NULL);
}

TEST_F(worker, belongs_to_the_controller)
{
	struct child child;

	ASSERT_EQ(0, stuck_create(&self->stream, self->fd));
	ASSERT_EQ(0, child_start(&child, write_log_in_child, &self->stream.fd));
	EXPECT_EQ(EINVAL << 8, child_wait(&child));
}

TEST_F(worker, only_one_at_a_time)
{
	ASSERT_EQ(0, stuck_create(&self->stream, self->fd));
	ASSERT_TRUE(worker_start(&self->worker, self->stream.fd));
	EXPECT_EQ(-EBUSY, command(self->stream.fd, POSIXTRACE_IOC_WRITE_LOG, NULL));
	EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, worker_join(&self->worker));
	EXPECT_EQ(-ESHUTDOWN, command(self->stream.fd, POSIXTRACE_IOC_WRITE_LOG, NULL));
}

/* WRITE_LOG must not write to a file with a server: exit would wait for the server. */
TEST_F(worker, does_not_write_what_a_server_writes)
{
	struct fuse_disk fuse;
	int fd;

	ASSERT_EQ(0, fuse_begin(&fuse));
	fd = fuse_open(&fuse, O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, stuck_create(&self->stream, fd));
	EXPECT_EQ(-EOPNOTSUPP, command(self->stream.fd, POSIXTRACE_IOC_WRITE_LOG, NULL));
	EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	close(fd);
	fuse_end(&fuse);
}

TEST_F(worker, does_not_write_to_other_devices)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	ASSERT_EQ(0, stuck_create(&self->stream, fd));
	EXPECT_EQ(-EOPNOTSUPP, command(self->stream.fd, POSIXTRACE_IOC_WRITE_LOG, NULL));
	close(fd);
}

/* ------------------------------------------------------------------ */
/* What it does								*/

static int flush(struct stream *stream)
{
	struct posixtrace_origin origin = { .prog_address = 1 };
	struct posixtrace_status status;
	int err = command(stream->fd, POSIXTRACE_IOC_FLUSH, &origin);

	while (!err) {
		err = stream_status(stream, &status);
		if (!err && !(status.flags & POSIXTRACE_STATUS_FLUSHING))
			break;
		sched_yield();
	}
	return err;
}

/* WRITE_LOG also ends if the kernel has other work for the thread. */
static bool was_interrupted(struct worker *worker)
{
	return __atomic_load_n(&worker->done, __ATOMIC_ACQUIRE) && worker->ret == -EINTR &&
	       !pthread_join(worker->thread, NULL);
}

TEST_F(worker, does_all_the_work)
{
	long before, after, own, own_after;
	int thread;

	ASSERT_EQ(0, stuck_create(&self->stream, self->fd));
	do {
		ASSERT_TRUE(worker_start(&self->worker, self->stream.fd));
		thread = log_thread_find();
		ASSERT_LT(0, thread);
		while (!is_asleep(thread))
			sched_yield();
		before = thread_sleeps(thread);
		own = thread_sleeps(self->worker.tid);
		ASSERT_EQ(0, stuck_record(&self->stream, 10));
		for (int i = 0; i < 100; i++)
			ASSERT_EQ(0, flush(&self->stream));
		ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
		after = thread_sleeps(thread);
		own_after = thread_sleeps(self->worker.tid);
	} while (was_interrupted(&self->worker));
	EXPECT_EQ(before, after);
	EXPECT_LT(own, own_after);
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, worker_join(&self->worker));
}

TEST_F(worker, is_interrupted_by_a_signal_and_the_kernel_continues)
{
	ASSERT_EQ(0, stuck_create(&self->stream, self->fd));
	ASSERT_TRUE(worker_start(&self->worker, self->stream.fd));
	pthread_kill(self->worker.thread, SIGUSR1);
	EXPECT_EQ(-EINTR, worker_join(&self->worker));
	ASSERT_EQ(0, stuck_record(&self->stream, 10));
	EXPECT_EQ(0, flush(&self->stream));
	EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
}

/* ------------------------------------------------------------------ */
/* In the middle of a write						*/

/* A controller with a thread that writes to a full pipe. */
static int control_pipe(void *arg, const struct talk *talk)
{
	struct stream stream = { .fd = device_open() };
	int *ends = arg, ret = stuck_create(&stream, ends[1]);
	struct pollfd full = { .fd = ends[1], .events = POLLOUT };
	struct worker worker;

	close(ends[0]);
	if (!ret && !worker_start(&worker, stream.fd))
		ret = -1;
	if (!ret)
		ret = stuck_record(&stream, EVENTS);
	/* Wait until the worker sleeps in the full pipe, rather than in WRITE_LOG without work. */
	while (!ret && (poll(&full, 1, 0) || !is_asleep(worker.tid)))
		sched_yield();
	say(talk, ret ? ret : worker.tid);
	hear(talk);
	/* Only the worker was interrupted, so SHUTDOWN still succeeds. */
	return ret ? 1 : -command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
}

FIXTURE(pipe)
{
	struct child child;
	struct copy copy;
	int ends[2];
	int tid;
};

FIXTURE_SETUP(pipe)
{
	const struct sigaction action = { .sa_handler = do_nothing };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pipe2(self->ends, O_CLOEXEC));
	ASSERT_LE(0, fcntl(self->ends[1], F_SETPIPE_SZ, 4096));
	self->copy.to = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->copy.to);
	/* CREATE waits until the header is written. The empty pipe has space for it. */
	ASSERT_EQ(0, child_start(&self->child, control_pipe, self->ends));
	close(self->ends[1]);
	self->copy.from = self->ends[0];
	self->tid = (int)hear(&self->child.talk);
	ASSERT_LT(0, self->tid);
}

FIXTURE_TEARDOWN(pipe)
{
	close(self->ends[0]);
	close(self->copy.to);
	becomes_true(no_log_thread, NULL, SECONDS);
}

TEST_F(pipe, log_is_complete_after_a_signal_in_the_middle)
{
	ASSERT_EQ(0, syscall(SYS_tgkill, self->child.pid, self->tid, SIGUSR1));
	ASSERT_EQ(0, pthread_create(&self->copy.thread, NULL, copy_all, &self->copy));
	say(&self->child.talk, 0);
	EXPECT_EQ(0, child_wait(&self->child));
	pthread_join(self->copy.thread, NULL);
	EXPECT_EQ(EVENTS, count_events(self->copy.to, POSIXTRACE_LOG_END_FINAL));
}

TEST_F(pipe, log_is_complete_after_sigkill_in_the_middle)
{
	EXPECT_EQ(SIGKILL, child_kill(&self->child));
	ASSERT_EQ(0, pthread_create(&self->copy.thread, NULL, copy_all, &self->copy));
	pthread_join(self->copy.thread, NULL);
	EXPECT_EQ(EVENTS, count_events(self->copy.to, POSIXTRACE_LOG_END_FINAL));
}

/* ------------------------------------------------------------------ */
/* The end of a process							*/

static void *write_log(void *arg)
{
	int fd = *(int *)arg;

	while (command(fd, POSIXTRACE_IOC_WRITE_LOG, NULL) == -EINTR)
		;
	return NULL;
}

/* The main thread exits and leaves only workers. */
static int leave_workers(void *arg, const struct talk *talk)
{
	static struct stream streams[2];
	pthread_t thread;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		streams[i].fd = device_open();
		if (stuck_create(&streams[i], open("/tmp", O_TMPFILE | O_RDWR, 0600)) ||
		    pthread_create(&thread, NULL, write_log, &streams[i].fd))
			return 1;
	}
	say(talk, 0);
	pthread_exit(NULL);
}

TEST(process_ends_when_only_workers_are_left)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, leave_workers, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
