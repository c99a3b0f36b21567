// SPDX-License-Identifier: GPL-2.0
/*
 * Suspend first freezes all tasks. A task that waits in the module, for a stuck log or for an
 * event, must freeze as well, and must continue to wait afterwards. No log thread may delay
 * suspend.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "disk.h"
#include "freezer.h"
#include "fuse.h"
#include "logfile.h"
#include "stuck.h"

/* More than a pipe can hold. */
#define EVENTS		2000

#define SECONDS		(20 * pxt_patience())

/* Limit for waits that end immediately unless there is a bug. */
#define FREEZE_SECONDS	(5 * pxt_patience())

/* ------------------------------------------------------------------ */
/* Actions of a controller: 0 or negative errno				*/

static int begin_nothing(struct stream *stream, int log)
{
	(void)stream;
	(void)log;
	return 0;
}

static int begin_stuck(struct stream *stream, int log)
{
	int ret = stuck_create(stream, log);

	return ret ? ret : stuck_record(stream, EVENTS);
}

/* Creates and starts a stream on the parent, without log and system events. */
static int begin_reading(struct stream *stream, int log)
{
	struct posixtrace_filter filter = { .set.bits[0] = ~0ULL };
	int ret;

	(void)log;
	create_init(&stream->arg, getppid());
	ret = command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
	if (!ret)
		ret = command(stream->fd, POSIXTRACE_IOC_SET_FILTER, &filter);
	return ret ? ret : stream_start(stream);
}

static int wait_in_create(struct stream *stream, int log)
{
	return stuck_create(stream, log);
}

static int wait_in_clear(struct stream *stream, int log)
{
	(void)log;
	return command(stream->fd, POSIXTRACE_IOC_CLEAR, NULL);
}

/* Waits in the command ROTATE for the old log. */
static int wait_in_rotate(struct stream *stream, int log)
{
	struct posixtrace_rotate arg = { .log_fd = stuck_blocking_fifo() };

	(void)log;
	return command(stream->fd, POSIXTRACE_IOC_ROTATE, &arg);
}

static int wait_in_shutdown(struct stream *stream, int log)
{
	(void)log;
	return command(stream->fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
}

static int wait_in_close(struct stream *stream, int log)
{
	(void)log;
	return close(stream->fd) ? -errno : 0;
}

/* Waits in exit, which closes the file of the stream last. */
static int wait_in_exit(struct stream *stream, int log)
{
	(void)stream;
	/* Close the log now. At exit, closing it would also wait for the server. */
	close(log);
	return 0;
}

static int wait_for_an_event(struct stream *stream, int log)
{
	struct posixtrace_wait wait = { 0 };

	(void)log;
	return command(stream->fd, POSIXTRACE_IOC_WAIT, &wait);
}

/**
 * struct job - a task that waits
 * @log: descriptor of the log
 * @begin: preparation
 * @wait: the call that waits
 */
struct job {
	int log;
	int (*begin)(struct stream *stream, int log);
	int (*wait)(struct stream *stream, int log);
};

/* Reports the result of @begin. The exit status is the result of @wait. */
static int control(void *arg, const struct talk *talk)
{
	const struct job *job = arg;
	struct stream stream = { .fd = device_open() };

	say(talk, job->begin(&stream, job->log));
	hear(talk);
	return -job->wait(&stream, job->log);
}

/* ------------------------------------------------------------------ */

FIXTURE(waiter)
{
	struct freezer freezer;
	struct fuse_disk fuse;
	struct child child;
	struct job job;
};

/* @server: the log is a file with a server that does not answer; otherwise it is a pipe. */
FIXTURE_VARIANT(waiter)
{
	bool server;
	bool full;
	int (*begin)(struct stream *stream, int log);
	int (*wait)(struct stream *stream, int log);
	long call;
};

FIXTURE_VARIANT_ADD(waiter, in_create_with_a_pipe) {
	.full = true, .begin = begin_nothing, .wait = wait_in_create, .call = SYS_ioctl,
};

FIXTURE_VARIANT_ADD(waiter, in_create_with_a_file) {
	.server = true, .begin = begin_nothing, .wait = wait_in_create, .call = SYS_ioctl,
};

FIXTURE_VARIANT_ADD(waiter, in_clear) {
	.begin = begin_stuck, .wait = wait_in_clear, .call = SYS_ioctl,
};

FIXTURE_VARIANT_ADD(waiter, in_rotate) {
	.begin = begin_stuck, .wait = wait_in_rotate, .call = SYS_ioctl,
};

FIXTURE_VARIANT_ADD(waiter, in_shutdown) {
	.begin = begin_stuck, .wait = wait_in_shutdown, .call = SYS_ioctl,
};

FIXTURE_VARIANT_ADD(waiter, in_close) {
	.begin = begin_stuck, .wait = wait_in_close, .call = SYS_close,
};

FIXTURE_VARIANT_ADD(waiter, in_exit) {
	.server = true, .begin = begin_stuck, .wait = wait_in_exit, .call = SYS_exit_group,
};

FIXTURE_VARIANT_ADD(waiter, for_an_event) {
	.begin = begin_reading, .wait = wait_for_an_event, .call = SYS_ioctl,
};

FIXTURE_SETUP(waiter)
{
	self->job = (struct job){ .begin = variant->begin, .wait = variant->wait };
	ASSERT_EQ(0, freezer_begin(&self->freezer));
	/* The timeout of logs must not end the wait. */
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "3600"));
	if (variant->server)
		ASSERT_EQ(0, fuse_begin(&self->fuse));
	self->job.log = variant->server ? fuse_open(&self->fuse, O_RDWR) : stuck_blocking_fifo();
	ASSERT_LE(0, self->job.log);
	if (variant->full)
		stuck_fill(self->job.log, 0);
	ASSERT_EQ(0, child_start(&self->child, control, &self->job));
	ASSERT_EQ(0, hear(&self->child.talk));
	/* Move the process now: an exiting process cannot be moved to another cgroup. */
	if (self->freezer.group)
		ASSERT_EQ(0, freezer_add(self->child.pid));
	if (variant->server)
		fuse_hang(&self->fuse);
	/* Wait until the flush has filled the pipe. Otherwise CLEAR would run before the flush. */
	while (variant->begin == begin_stuck && !variant->server && stuck_has_room(self->job.log))
		sched_yield();
	say(&self->child.talk, 0);
	if (variant->server)
		fuse_wait_hanging(&self->fuse);
	while (syscall_of(self->child.pid) != variant->call)
		sched_yield();
	/* Wait until the process sleeps: a freeze may interrupt its call before that. */
	while (variant->full && !is_asleep(self->child.pid))
		sched_yield();
}

FIXTURE_TEARDOWN(waiter)
{
	int tid;

	if (self->child.pid > 0)
		child_kill(&self->child);
	if (variant->server)
		fuse_kill(&self->fuse);
	tid = log_thread_find();
	if (tid)
		kill(tid, SIGKILL);
	close(self->job.log);
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
	if (variant->server)
		fuse_end(&self->fuse);
	freezer_end();
	write_text(LOG_TIMEOUT, "10");
}

struct ending {
	struct child *child;
	int log;
};

static bool has_ended(void *arg)
{
	struct ending *ending = arg;

	return is_zombie(ending->child->pid);
}

/* Reads data from the pipe, so that the process can end. Returns true when it has ended. */
static bool has_ended_when_read(void *arg)
{
	struct ending *ending = arg;
	struct pollfd ready = { .fd = ending->log, .events = POLLIN };
	char drop[4096];

	while (poll(&ready, 1, 0) > 0 && read(ending->log, drop, sizeof(drop)) > 0)
		;
	return has_ended(arg);
}

static bool has_ended_when_traced(void *arg)
{
	struct target target;

	if (target_open(&target))
		return false;
	target_event(&target, POSIXTRACE_ID_UNNAMED, NULL, 0);
	target_close(&target);
	return has_ended(arg);
}

TEST_F(waiter, freezes_and_keeps_waiting)
{
	struct ending ending = { .child = &self->child, .log = self->job.log };
	bool (*ends)(void *arg) = has_ended_when_read;

	EXPECT_EQ(0, freezer_try(&self->freezer, self->child.pid, FREEZE_SECONDS));
	while (syscall_of(self->child.pid) != variant->call && !has_ended(&ending))
		sched_yield();
	ASSERT_FALSE(has_ended(&ending));
	if (variant->server) {
		fuse_resume(&self->fuse);
		ends = has_ended;
	} else if (variant->wait == wait_for_an_event) {
		ends = has_ended_when_traced;
	}
	ASSERT_TRUE(becomes_true(ends, &ending, SECONDS));
	EXPECT_EQ(0, child_wait(&self->child));
	self->child.pid = 0;
}

/* ------------------------------------------------------------------ */
/* Log threads								*/

FIXTURE(thread)
{
	struct freezer freezer;
	struct disk disk;
};

FIXTURE_SETUP(thread)
{
	ASSERT_EQ(0, freezer_begin(&self->freezer));
	ASSERT_EQ(0, disk_begin(&self->disk, "ext4"));
}

FIXTURE_TEARDOWN(thread)
{
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
	disk_end(&self->disk);
	freezer_end();
}

TEST_F(thread, of_a_file_on_a_disk_freezes_and_keeps_writing)
{
	struct stream stream = { .fd = device_open() };
	struct logfile log;
	int tid;

	ASSERT_EQ(0, stuck_create(&stream, self->disk.fd));
	tid = log_thread_find();
	ASSERT_LT(0, tid);
	EXPECT_EQ(0, freezer_try(&self->freezer, tid, FREEZE_SECONDS));
	EXPECT_EQ(0, stuck_record(&stream, 1));
	EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, logfile_read(&log, self->disk.fd));
	EXPECT_LT(log.header.data_offset, log.size);
	logfile_free(&log);
	close(stream.fd);
}

/* A log thread that writes to a stuck pipe cannot freeze, but suspend does not wait for it. */
TEST_F(thread, of_a_stuck_pipe_blocks_no_freeze)
{
	struct stream stream = { .fd = device_open() };
	int fifo = stuck_blocking_fifo(), tid;

	ASSERT_EQ(0, stuck_create(&stream, fifo));
	ASSERT_EQ(0, stuck_record(&stream, EVENTS));
	tid = log_thread_find();
	EXPECT_EQ(0, freezer_try(&self->freezer, tid, FREEZE_SECONDS));
	EXPECT_EQ(tid, log_thread_find());
	kill(tid, SIGKILL);
	close(stream.fd);
	close(fifo);
}

/*
 * The thread fails to write the header while CREATE is frozen. CREATE must end the thread, but does
 * not run yet, so the thread must be able to freeze.
 */
TEST_F(thread, whose_header_fails_freezes_after_create)
{
	struct job job = {
		.begin = begin_nothing, .wait = wait_in_create, .log = self->disk.fd,
	};
	struct child child;
	int tid;

	if (!self->freezer.group)
		SKIP(return, "no freezer of cgroup v1");
	ASSERT_EQ(0, disk_fill(self->disk.ballast, 0));
	ASSERT_EQ(0, disk_freeze(self->disk.fd));
	ASSERT_EQ(0, child_start(&child, control, &job));
	ASSERT_EQ(0, hear(&child.talk));
	say(&child.talk, 0);
	do {
		tid = log_thread_find();
	} while (!tid || syscall_of(child.pid) != SYS_ioctl);
	EXPECT_EQ(0, freezer_add(child.pid));
	EXPECT_EQ(0, freezer_freeze(FREEZE_SECONDS));
	EXPECT_EQ(0, disk_thaw(self->disk.fd));
	EXPECT_EQ(0, freezer_add(tid));
	EXPECT_EQ(0, freezer_freeze(FREEZE_SECONDS));
	EXPECT_EQ(0, freezer_thaw());
	EXPECT_EQ(ENOSPC, WEXITSTATUS(child_wait(&child)));
}

TEST_HARNESS_MAIN
