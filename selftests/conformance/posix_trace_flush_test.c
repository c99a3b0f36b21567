// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_flush(): Documentation/conformance/posix_trace_flush.rst
 */
#define _GNU_SOURCE
#include <sys/mount.h>

#include "log_function.h"
#include "logged_stream.h"
#include "logdrain.h"

TEST_F(until_full, a01_einval_for_invalid_trace_ids)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_flush, self->trid));
}

TEST_F(until_full, a02_einval_for_a_stream_without_log)
{
	expect_einval_without_log(_metadata, posix_trace_flush, self->trid);
}

TEST_F(until_full, a02_einval_in_every_state)
{
	expect_einval_in_every_state(_metadata, posix_trace_flush, self->trid);
}

TEST_F(until_full, a03_errno_does_not_change)
{
	expect_errno_kept(_metadata, posix_trace_flush, self->trid, EINVAL);
}

/* ------------------------------------------------------------------ */
/* With a log								*/

TEST_F(logged, a04_copies_the_events_of_the_stream)
{
	struct log_content content;

	withlog_record(0, 100);
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 0));
	ASSERT_EQ(0, withlog_flush(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 100));
	/* Events recorded after the previous flush are flushed as well. */
	withlog_record(100, 100);
	ASSERT_EQ(0, withlog_flush(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 200));
}

/* The log is a pipe, which takes at most a page before it is read. */
FIXTURE(slow)
{
	trace_id_t trid;
	int fd;
	int pipe[2];
};

FIXTURE_SETUP(slow)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pipe2(self->pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(self->pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, withlog_new(0, &by_hand, self->pipe[1], &self->trid));
	close(self->pipe[1]);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 300);
	ASSERT_EQ(0, posix_trace_flush(self->trid));
}

FIXTURE_TEARDOWN(slow)
{
	close(self->pipe[0]);
	posix_trace_shutdown(self->trid);
	close(self->fd);
}

static int flush_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_flush_status;
}

TEST_F(slow, a05_status_is_flushing_until_the_end)
{
	struct log_content content;
	struct drain drain;

	EXPECT_EQ(POSIX_TRACE_FLUSHING, flush_status(self->trid));
	ASSERT_EQ(0, drain_start(&drain, self->pipe[0], self->fd));
	while (flush_status(self->trid) == POSIX_TRACE_FLUSHING)
		sched_yield();
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, flush_status(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, drain_end(&drain));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 300));
}

TEST_F(slow, a06_events_are_recorded_during_a_flush)
{
	struct log_content content;
	struct drain drain;

	withlog_record(300, 300);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_FLUSHING, flush_status(self->trid));
	ASSERT_EQ(0, drain_start(&drain, self->pipe[0], self->fd));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, drain_end(&drain));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 600));
}

TEST_F(logged, a07_space_of_flushed_events_is_free)
{
	const struct log_kind until_full = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 };
	struct log_content content;
	int fd = log_tmpfile();
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&until_full, fd, &trid));
	/* The total is more than the stream can hold. */
	for (int i = 0; i < 10; i++) {
		withlog_record(i * 500, 500);
		EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(trid));
		ASSERT_EQ(0, withlog_flush(trid));
	}
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd, &content);
	EXPECT_TRUE(log_content_is(&content, 5000));
	close(fd);
}

TEST_F(logged, a08_flush_start_and_stop_are_recorded)
{
	struct log_content content;

	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_EQ(2, content.flush_starts);
	EXPECT_EQ(2, content.flush_stops);
}

/* 3000 events are far more than fit into a log of 32 KiB. */
TEST_F(log_file, a09_until_full_discards_events_once_the_log_is_full)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_UNTIL_FULL, 3000, self->fd, &self->content));
	EXPECT_EQ(0, self->content.err);
	EXPECT_EQ(0, self->content.first);
	EXPECT_LT(300, self->content.last);
	EXPECT_GT(2999, self->content.last);
	EXPECT_EQ(0, self->content.holes);
	EXPECT_EQ(POSIX_TRACE_FULL, self->content.status.posix_log_full_status);
}

TEST_F(log_file, a10_loop_overwrites_the_oldest_events)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_LOOP, 3000, self->fd, &self->content));
	EXPECT_EQ(0, self->content.err);
	EXPECT_LT(0, self->content.first);
	EXPECT_GT(2700, self->content.first);
	EXPECT_EQ(2999, self->content.last);
	EXPECT_EQ(0, self->content.holes);
}

TEST_F(log_file, a11_append_keeps_all_events)
{
	ASSERT_EQ(0, withlog_fill(POSIX_TRACE_APPEND, 3000, self->fd, &self->content));
	EXPECT_TRUE(log_content_is(&self->content, 3000));
}

TEST_F(logged, a12_enospc_is_reported_and_no_event_is_lost)
{
	struct posix_trace_status_info status;
	char dir[] = "/tmp/diskXXXXXX";
	struct log_content content;
	int fd, err = 0, count = 0;
	trace_id_t trid;

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, mount("none", dir, "tmpfs", 0, "size=64k"));
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_EQ(0, withlog_start(&by_hand, fd, &trid));
	while (!err && count < 10000) {
		withlog_record(count, 200);
		err = withlog_flush(trid);
		count += 200;
	}
	EXPECT_EQ(ENOSPC, err);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(0, status.posix_stream_flush_error);
	log_content_fd(fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_LE(count - 200, content.numbers);
	EXPECT_EQ(0, content.holes + content.errors);
	EXPECT_EQ(ENOSPC, posix_trace_shutdown(trid));
	close(fd);
	EXPECT_EQ(0, umount(dir));
	rmdir(dir);
}

TEST_F(logged, a13_cancelled_thread_loses_no_event)
{
	struct log_content content;

	withlog_record(0, 100);
	/* The flush completes, because it is not a cancellation point. */
	EXPECT_EQ(0, call_trid_cancelled(posix_trace_flush, self->trid));
	ASSERT_EQ(0, withlog_wait(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 100));
	EXPECT_EQ(0, withlog_flush(self->trid));
}

TEST_HARNESS_MAIN
