// SPDX-License-Identifier: GPL-2.0
/*
 * Events that could not be written at first. Later they must be in the log as if writing had not
 * failed. Also tests streams that become full while they are flushed.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/ioctl.h>

#include <linux/posixtrace_log.h>

#include "disk.h"
#include "logdrain.h"
#include "pxt_test.h"
#include "record.h"

static const struct log_kind append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };
static const struct log_kind by_hand = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };

#define ROUND	200
#define PAGE	4096

/* A small file system in memory. */
FIXTURE(disk)
{
	struct disk disk;
	trace_id_t trid;
};

FIXTURE_SETUP(disk)
{
	self->trid = -1;
	ASSERT_EQ(0, disk_begin(&self->disk, "tmpfs"));
}

FIXTURE_TEARDOWN(disk)
{
	posix_trace_shutdown(self->trid);
	disk_end(&self->disk);
}

/* Like withlog_record(), but on two CPUs in turn, so that their blocks cover the same time. */
static int record_in_turns(int first, int count)
{
	for (int i = first; i < first + count; i += 10) {
		if (run_on(i / 10 % 2) < 0)
			return -1;
		withlog_record(i, 10);
	}
	return 0;
}

/* Any part of a flush may have been written, and the rest may fail any number of times. */
TEST_F(disk, full_for_a_while_keeps_the_order)
{
	struct log_content content;
	size_t left;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	for (left = 0; left < 16 * PAGE; left += PAGE) {
		ASSERT_EQ(0, withlog_start(&by_hand, self->disk.fd, &self->trid));
		ASSERT_EQ(0, disk_fill(self->disk.ballast, left));
		ASSERT_EQ(0, record_in_turns(0, 3 * ROUND));
		withlog_flush(self->trid);
		withlog_flush(self->trid);
		ASSERT_EQ(0, record_in_turns(3 * ROUND, ROUND));
		withlog_flush(self->trid);
		ASSERT_EQ(0, ftruncate(self->disk.ballast, 0));
		EXPECT_EQ(0, withlog_flush(self->trid));
		ASSERT_EQ(0, record_in_turns(4 * ROUND, ROUND));
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
		log_content_fd(self->disk.fd, &content);
		EXPECT_TRUE(log_content_is(&content, 5 * ROUND)) {
			TH_LOG("%zu bytes left: %d numbers, %d in disorder, %d errors", left,
			       content.numbers, content.disorder, content.errors);
		}
		ASSERT_EQ(0, ftruncate(self->disk.fd, 0));
	}
}

/* Returns the time of the first POSIX_TRACE_OVERFLOW in a log, or 0. */
static unsigned long long gap_time(int fd)
{
	unsigned long long time = 0;
	struct event event;
	trace_id_t trid;

	if (posix_trace_open(fd, &trid))
		return 0;
	while (!time && !posix_trace_getnext_event(trid, &event.info, event.data,
						   sizeof(event.data), &event.len,
						   &event.unavailable) && !event.unavailable) {
		if (event.info.posix_event_id == POSIX_TRACE_OVERFLOW)
			time = event_time(&event);
	}
	posix_trace_close(trid);
	return time;
}

/* The gap begins with the first loss, not with the last one before the log was written. */
TEST_F(disk, full_for_a_while_keeps_the_time_of_the_first_loss)
{
	struct log_content content;
	trace_event_set_t set;
	struct timespec now;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_FLUSH_START, &set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &set));
	ASSERT_LE(0, run_on(0));
	ASSERT_EQ(0, withlog_new(0, &by_hand, self->disk.fd, &self->trid));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 1);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, disk_fill(self->disk.ballast, 0));
	/* Record more than the memory holds, three times. */
	withlog_record(0, 20 * ROUND);
	ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &now));
	withlog_record(20 * ROUND, 20 * ROUND);
	EXPECT_EQ(ENOSPC, withlog_flush(self->trid));
	withlog_record(40 * ROUND, 20 * ROUND);
	ASSERT_EQ(0, ftruncate(self->disk.ballast, 0));
	EXPECT_EQ(0, withlog_flush(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->disk.fd, &content);
	EXPECT_EQ(1, content.gaps);
	EXPECT_LT(0, gap_time(self->disk.fd));
	EXPECT_GT(now.tv_sec * NSEC + now.tv_nsec, gap_time(self->disk.fd));
}

/*
 * CLEAR cannot rewrite the header. When writing works again, the log must get both its header and
 * its end, or neither.
 */
TEST_F(disk, full_during_clear_gets_the_header_with_the_end)
{
	static const struct log_kind kinds[] = {
		{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 },
		{ POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1 << 16 },
		{ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 1 << 16 },
	};
	struct log_content content;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		ASSERT_EQ(0, withlog_start(&kinds[i], self->disk.fd, &self->trid));
		withlog_record(0, ROUND);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		ASSERT_EQ(0, withlog_flush(self->trid));
		/* Remove the log and its space. */
		ASSERT_EQ(0, ftruncate(self->disk.fd, 0));
		ASSERT_EQ(0, disk_fill(self->disk.ballast, 0));
		EXPECT_EQ(ENOSPC, posix_trace_clear(self->trid));
		ASSERT_EQ(0, ftruncate(self->disk.ballast, 0));
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
		log_content_fd(self->disk.fd, &content);
		EXPECT_TRUE(log_content_is(&content, 0)) {
			TH_LOG("kind %zu: error %d, %d numbers", i, content.err,
			       content.numbers);
		}
		ASSERT_EQ(0, ftruncate(self->disk.fd, 0));
	}
}

/* ------------------------------------------------------------------ */
/* During a flush							*/

static int stream_state(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_status;
}

/*
 * A log in a pipe that has space for names at most, but not for events. A flush is in progress, and
 * continues only after the pipe is read.
 */
struct full_pipe {
	trace_id_t trid;
	int from;
	int to;
	struct drain drain;
	bool drained;
};

#define PIPE_SIZE	4096
#define ROOM_FOR_NAMES	400
#define NO_ROOM		100

static size_t junk_size(size_t room)
{
	return PIPE_SIZE - sizeof(struct posixtrace_log_header) - room;
}

static int read_all(int from, int to, size_t len)
{
	char buf[PIPE_SIZE];
	ssize_t n = 0;

	for (; len; len -= n) {
		n = read(from, buf, len < sizeof(buf) ? len : sizeof(buf));
		if (n <= 0 || (to >= 0 && write(to, buf, n) != n))
			return -1;
	}
	return 0;
}

static int full_pipe_begin(struct full_pipe *full, size_t room)
{
	static const char junk[PIPE_SIZE];
	int pipe[2], left = 0;

	full->drained = false;
	full->to = log_tmpfile();
	if (full->to < 0 || pipe2(pipe, O_CLOEXEC))
		return -1;
	full->from = pipe[0];
	if (fcntl(pipe[1], F_SETPIPE_SZ, PIPE_SIZE) != PIPE_SIZE || run_on(0) < 0)
		return -1;
	/* Define a name, which the flush must write. */
	withlog_type();
	if (withlog_new(0, &append, pipe[1], &full->trid) ||
	    write(pipe[1], junk, junk_size(room)) != (ssize_t)junk_size(room))
		return -1;
	close(pipe[1]);
	if (posix_trace_start(full->trid) || posix_trace_flush(full->trid))
		return -1;
	while (room == ROOM_FOR_NAMES && left <= PIPE_SIZE - ROOM_FOR_NAMES) {
		if (ioctl(full->from, FIONREAD, &left))
			return -1;
	}
	return 0;
}

/* Copies the header of the log to the file, but not the data that precede it in the pipe. */
static int skip_junk(int from, int to, size_t room)
{
	int err = read_all(from, to, sizeof(struct posixtrace_log_header));

	return err ? err : read_all(from, -1, junk_size(room));
}

static void full_pipe_end(struct full_pipe *full)
{
	if (!full->drained)
		close(full->from);
	posix_trace_shutdown(full->trid);
	if (full->drained) {
		drain_end(&full->drain);
		close(full->from);
	}
	close(full->to);
}

FIXTURE(pipe)
{
	struct full_pipe full;
};

FIXTURE_VARIANT(pipe)
{
	size_t room;
};

FIXTURE_VARIANT_ADD(pipe, with_room_for_names) { ROOM_FOR_NAMES };
FIXTURE_VARIANT_ADD(pipe, without_room) { NO_ROOM };

FIXTURE_SETUP(pipe)
{
	ASSERT_EQ(0, full_pipe_begin(&self->full, variant->room));
}

FIXTURE_TEARDOWN(pipe)
{
	full_pipe_end(&self->full);
}

FIXTURE(waiting)
{
	struct full_pipe full;
};

FIXTURE_SETUP(waiting)
{
	ASSERT_EQ(0, full_pipe_begin(&self->full, ROOM_FOR_NAMES));
}

FIXTURE_TEARDOWN(waiting)
{
	full_pipe_end(&self->full);
}

/* Returns how many events of one CPU fit into all sub-buffers. */
static int all_events(void)
{
	int subbufs = LOG_STREAM_SIZE / 4096 + sysconf(_SC_NPROCESSORS_CONF);

	return subbufs * (4096 / 56);
}

/* Copies one block of the log. */
static int read_block(int from, int to)
{
	struct posixtrace_log_block block;
	char *p = (char *)&block;
	size_t done = 0;
	ssize_t n;

	while (done < sizeof(block)) {
		n = read(from, p + done, sizeof(block) - done);
		if (n <= 0)
			return -1;
		done += n;
	}
	if (write(to, &block, sizeof(block)) != (ssize_t)sizeof(block))
		return -1;
	return read_all(from, to, block.size);
}

/* When the next event comes, all memory of the stream is still waiting to be written. */
TEST_F(waiting, stream_that_fills_up_during_a_flush_starts_again)
{
	int count = all_events(), left = 0;
	struct log_content content;

	withlog_record(0, count);
	ASSERT_EQ(POSIX_TRACE_RUNNING, stream_state(self->full.trid));
	ASSERT_EQ(0, skip_junk(self->full.from, self->full.to, ROOM_FOR_NAMES));
	/* Copy the blocks of names and of system events. */
	ASSERT_EQ(0, read_block(self->full.from, self->full.to));
	ASSERT_EQ(0, read_block(self->full.from, self->full.to));
	/* The rest is being written now. */
	while (!left)
		ASSERT_EQ(0, ioctl(self->full.from, FIONREAD, &left));
	do {
		withlog_record(count++, 1);
	} while (stream_state(self->full.trid) == POSIX_TRACE_RUNNING);
	ASSERT_EQ(0, drain_start(&self->full.drain, self->full.from, self->full.to));
	self->full.drained = true;
	while (stream_state(self->full.trid) == POSIX_TRACE_SUSPENDED)
		sched_yield();
	withlog_record(count, 1);
	EXPECT_EQ(0, posix_trace_shutdown(self->full.trid));
	EXPECT_EQ(0, drain_end(&self->full.drain));
	self->full.drained = false;
	log_content_fd(self->full.to, &content);
	/* Only the event before the last one was lost. */
	EXPECT_EQ(count, content.numbers);
	EXPECT_EQ(count, content.last);
	EXPECT_EQ(1, content.gaps);
	EXPECT_EQ(1, content.stops_auto);
	EXPECT_EQ(2, content.starts);
}

/* Returns the number of events in the log that precede the name of their type, or -1. */
static int early_events(int fd)
{
	off_t pos = sizeof(struct posixtrace_log_header);
	struct posixtrace_log_block block;
	struct record record = { .size = 0 };
	char header[sizeof(struct posixtrace_writer) + sizeof(struct posixtrace_record)];
	int known = POSIXTRACE_ID_UNNAMED, early = 0;

	while (pread(fd, &block, sizeof(block), pos) == (ssize_t)sizeof(block)) {
		pos += sizeof(block);
		if (block.type == POSIXTRACE_LOG_NAMES)
			known += block.count;
		for (off_t at = 0; block.type == POSIXTRACE_LOG_EVENTS && at < block.size; ) {
			/* The read may include bytes after a small record, which are ignored. */
			if (pread(fd, header, sizeof(header), pos + at) <
			    (ssize_t)sizeof(struct posixtrace_record))
				return -1;
			record_parse(&record, header);
			early += record.event_id > (__u32)known;
			at += record.size;
		}
		pos += block.size;
	}
	return early;
}

/* Defines types after the names of earlier types should have been written. */
TEST_F(pipe, names_always_precede_events)
{
	struct log_content content;
	trace_event_id_t id;
	char name[16];

	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "late %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
		for (int k = 0; k < 50; k++)
			posix_trace_event(id, &k, sizeof(k));
	}
	ASSERT_EQ(0, skip_junk(self->full.from, self->full.to, variant->room));
	ASSERT_EQ(0, drain_start(&self->full.drain, self->full.from, self->full.to));
	self->full.drained = true;
	EXPECT_EQ(0, posix_trace_shutdown(self->full.trid));
	EXPECT_EQ(0, drain_end(&self->full.drain));
	self->full.drained = false;
	log_content_fd(self->full.to, &content);
	EXPECT_EQ(500, content.numbers);
	EXPECT_EQ(0, early_events(self->full.to));
}

TEST_HARNESS_MAIN
