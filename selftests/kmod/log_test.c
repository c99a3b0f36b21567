// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with log: what the module writes, and when.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "pxt_test.h"
#include "logfile.h"
#include "loopback.h"
#include "writer.h"

static int flush(struct stream *stream)
{
	struct posixtrace_origin origin = { .prog_address = 0x1234, .thread_id = 0x4321 };

	return command(stream->fd, POSIXTRACE_IOC_FLUSH, &origin);
}

static int wait_flushed(struct stream *stream)
{
	struct posixtrace_status status;
	int ret;

	do {
		ret = stream_status(stream, &status);
		if (ret)
			return ret;
		sched_yield();
	} while (status.flags & POSIXTRACE_STATUS_FLUSHING);
	return -status.flush_error;
}

FIXTURE(log)
{
	struct stream stream;
	struct target target;
	struct logfile log;
	int fd;
};

FIXTURE_SETUP(log)
{
	ASSERT_EQ(0, target_open(&self->target));
	self->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->fd);
	create_init(&self->stream.arg, 0);
	self->stream.arg.log_fd = self->fd;
	self->stream.arg.attr.stream_policy = POSIXTRACE_POLICY_FLUSH;
	self->stream.arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
}

FIXTURE_TEARDOWN(log)
{
	logfile_free(&self->log);
	close(self->stream.fd);
	target_close(&self->target);
	close(self->fd);
}

static int log_create(struct stream *stream)
{
	stream->fd = device_open();
	if (stream->fd < 0)
		return stream->fd;
	return command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
}

/* The contents of a sequential log. */
struct contents {
	int events;		/* user events */
	int stops;		/* STOP events */
	int ends;		/* END blocks */
	struct posixtrace_log_end end;
};

static int add_events(struct contents *contents, const struct posixtrace_log_block *block)
{
	const char *payload = (const char *)(block + 1);
	struct record record = { .size = 0 };
	unsigned int used = 0;

	for (unsigned int i = 0; i < block->count; i++) {
		if (used + sizeof(struct posixtrace_record) > block->size ||
		    !record_parse(&record, payload + used) || record.timestamp < block->opened ||
		    record.timestamp > block->closed)
			return -EPROTO;
		contents->events += record.event_id >= POSIXTRACE_ID_UNNAMED;
		contents->stops += record.event_id == POSIXTRACE_ID_STOP;
		used += record.size;
	}
	return used == block->size ? 0 : -EPROTO;
}

static int log_contents(const struct logfile *log, struct contents *contents)
{
	const struct posixtrace_log_block *block;
	size_t pos = log->header.data_offset;
	unsigned long long seq = 1;
	int err = 0;

	memset(contents, 0, sizeof(*contents));
	while (!err && (block = logfile_block(log, pos, seq))) {
		if (block->type == POSIXTRACE_LOG_EVENTS)
			err = add_events(contents, block);
		if (block->type == POSIXTRACE_LOG_END) {
			contents->ends++;
			memcpy(&contents->end, block + 1, sizeof(contents->end));
		}
		pos = logfile_next(block, pos);
		seq++;
	}
	return err ? err : pos == log->size ? 0 : -EINVAL;
}

/* Starts the stream, and records this many numbers. */
static int start_and_record(struct _test_data_log *self, int count)
{
	int err = stream_start(&self->stream);

	for (int i = 0; !err && i < count; i++)
		err = target_event(&self->target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i));
	return err;
}

static int shut_down_and_read(struct _test_data_log *self, struct contents *contents)
{
	int err = command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL);

	if (!err)
		err = logfile_read(&self->log, self->fd);
	return err ? err : log_contents(&self->log, contents);
}

/* Events may be counted as lost, since writers can be faster than the log thread. */
TEST_F(log, holds_or_counts_all_events_after_shutdown)
{
	struct contents contents;

	ASSERT_EQ(0, log_create(&self->stream));
	ASSERT_EQ(0, start_and_record(self, 5000));
	ASSERT_EQ(0, shut_down_and_read(self, &contents));
	EXPECT_EQ(5000, contents.events + contents.end.lost);
	EXPECT_LT(1000, contents.events);
	EXPECT_EQ(1, contents.ends);
	EXPECT_EQ(POSIXTRACE_LOG_END_FINAL, contents.end.flags);
	EXPECT_LE(1, contents.stops);
}

TEST_F(log, flush_writes_the_recorded_events)
{
	struct contents contents;

	ASSERT_EQ(0, log_create(&self->stream));
	ASSERT_EQ(0, start_and_record(self, 50));
	ASSERT_EQ(0, flush(&self->stream));
	ASSERT_EQ(0, wait_flushed(&self->stream));
	ASSERT_EQ(0, logfile_read(&self->log, self->fd));
	ASSERT_EQ(0, log_contents(&self->log, &contents));
	EXPECT_EQ(50, contents.events);
	EXPECT_EQ(0, contents.ends);
}

TEST_F(log, is_as_full_as_possible_with_until_full)
{
	struct contents contents;

	self->stream.arg.attr.log_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	self->stream.arg.attr.log_size = 32768;
	ASSERT_EQ(0, log_create(&self->stream));
	ASSERT_EQ(0, start_and_record(self, 5000));
	ASSERT_EQ(0, shut_down_and_read(self, &contents));
	EXPECT_EQ(5000, contents.events + contents.end.lost);
	EXPECT_LT(0, contents.events);
	EXPECT_EQ(POSIXTRACE_LOG_END_FINAL | POSIXTRACE_LOG_END_FULL, contents.end.flags);
}

/*
 * The log of one process with one thread and a long command line has at most this many bytes of
 * metadata after the ring.
 */
#define METADATA_MOST	8192

/* Returns the end of the last block of events in a ring, of any lap. */
static size_t ring_end(const struct logfile *log)
{
	size_t end = 0, pos = log->header.data_offset;

	for (; pos + sizeof(struct posixtrace_log_block) <= log->size; pos += 8) {
		const struct posixtrace_log_block *block = (const void *)(log->bytes + pos);

		if (block->magic == POSIXTRACE_LOG_BLOCK_MAGIC &&
		    block->cookie == log->header.cookie &&
		    block->type == POSIXTRACE_LOG_EVENTS)
			end = pos + sizeof(*block) + block->size - log->header.data_offset;
	}
	return end;
}

TEST_F(log, loop_log_keeps_its_size)
{
	struct posixtrace_log_end end;
	struct posixtrace_attr attr;

	self->stream.arg.attr.log_policy = POSIXTRACE_POLICY_LOOP;
	self->stream.arg.attr.log_size = 20000;
	ASSERT_EQ(0, log_create(&self->stream));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr));
	ASSERT_EQ(0, start_and_record(self, 5000));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	ASSERT_EQ(0, logfile_read(&self->log, self->fd));
	EXPECT_EQ(attr.log_size, self->log.header.ring_size);
	EXPECT_GE(attr.log_size, ring_end(&self->log));
	EXPECT_EQ(self->log.header.data_offset + attr.log_size, self->log.header.metadata_offset);
	EXPECT_GE(self->log.header.metadata_offset + METADATA_MOST, self->log.size);
	memcpy(&end, self->log.bytes + self->log.header.end_offset, sizeof(end));
	EXPECT_TRUE(logfile_crc_right(&end, sizeof(end), offsetof(struct posixtrace_log_end, crc)));
	EXPECT_EQ(POSIXTRACE_LOG_END_FINAL | POSIXTRACE_LOG_END_OVERRUN, end.flags);
	EXPECT_LT(0, end.overwritten);
}

/* Returns the size of the events in a sequential log. */
static unsigned long long events_size(const struct logfile *log)
{
	const struct posixtrace_log_block *block;
	size_t pos = log->header.data_offset;
	unsigned long long seq = 1, size = 0;

	while ((block = logfile_block(log, pos, seq++))) {
		if (block->type == POSIXTRACE_LOG_EVENTS)
			size += block->size;
		pos = logfile_next(block, pos);
	}
	return size;
}

/* The smallest sizes of a stream with sub-buffers of 4 KiB. */
#define LOOP_LEAST		(2 * (4096 + 128))
#define UNTIL_FULL_LEAST	(4096 + 56)

TEST_F(log, size_is_granted_rounded_down_or_refused)
{
	const struct {
		unsigned int policy;
		unsigned long long size;
		unsigned long long granted;	/* size that is granted; 0: EINVAL */
	} sizes[] = {
		{ POSIXTRACE_POLICY_LOOP, 0, 0 },
		{ POSIXTRACE_POLICY_LOOP, 400, 0 },
		{ POSIXTRACE_POLICY_LOOP, LOOP_LEAST - 1, 0 },
		{ POSIXTRACE_POLICY_LOOP, LOOP_LEAST, LOOP_LEAST },
		{ POSIXTRACE_POLICY_LOOP, LOOP_LEAST + 1, LOOP_LEAST },
		{ POSIXTRACE_POLICY_LOOP, 50001, 50000 },
		{ POSIXTRACE_POLICY_LOOP, 50007, 50000 },
		{ POSIXTRACE_POLICY_LOOP, 50008, 50008 },
		{ POSIXTRACE_POLICY_LOOP, 1ULL << 63, (1ULL << 62) - 8 },
		{ POSIXTRACE_POLICY_UNTIL_FULL, 0, 0 },
		{ POSIXTRACE_POLICY_UNTIL_FULL, 400, 0 },
		{ POSIXTRACE_POLICY_UNTIL_FULL, UNTIL_FULL_LEAST - 1, 0 },
		{ POSIXTRACE_POLICY_UNTIL_FULL, UNTIL_FULL_LEAST, UNTIL_FULL_LEAST },
		{ POSIXTRACE_POLICY_UNTIL_FULL, 50001, 50001 },
		{ POSIXTRACE_POLICY_APPEND, 0, 0 },
		{ POSIXTRACE_POLICY_APPEND, 400, 400 },
	};
	struct posixtrace_attr attr;
	struct stream stream;
	int ret;

	stream.arg = self->stream.arg;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bool append = sizes[i].policy == POSIXTRACE_POLICY_APPEND;

		stream.arg = self->stream.arg;
		stream.arg.attr.log_policy = sizes[i].policy;
		stream.arg.attr.log_size = sizes[i].size;
		ret = log_create(&stream);
		EXPECT_EQ(sizes[i].granted || append ? 0 : -EINVAL, ret) {
			TH_LOG("size %llu", sizes[i].size);
		}
		if (!ret) {
			ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr));
			EXPECT_EQ(sizes[i].granted, attr.log_size);
		}
		close(stream.fd);
	}
	self->stream.fd = -1;
}

/* A flush can follow any number of events, so blocks have any length. */
TEST_F(log, never_has_more_events_than_its_size)
{
	const unsigned int policies[] = { POSIXTRACE_POLICY_LOOP, POSIXTRACE_POLICY_UNTIL_FULL };
	char data[64] = "";
	struct stream stream;
	unsigned int size;

	for (int i = 0; i < 24; i++) {
		size = LOOP_LEAST + i / 2 * 1237;
		ASSERT_EQ(0, ftruncate(self->fd, 0));
		stream.arg = self->stream.arg;
		stream.arg.attr.log_policy = policies[i % 2];
		stream.arg.attr.log_size = size;
		ASSERT_EQ(0, log_create(&stream));
		ASSERT_EQ(0, stream_start(&stream));
		for (int round = 0; round < 8; round++) {
			for (int event = 0; event < 30 + 17 * round; event++)
				ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED,
							  data, (i + event) % sizeof(data)));
			ASSERT_EQ(0, flush(&stream));
			ASSERT_EQ(0, wait_flushed(&stream));
		}
		ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
		close(stream.fd);
		ASSERT_EQ(0, logfile_read(&self->log, self->fd));
		if (policies[i % 2] == POSIXTRACE_POLICY_LOOP) {
			EXPECT_GE(size, ring_end(&self->log));
			EXPECT_GE(self->log.header.metadata_offset + METADATA_MOST, self->log.size);
			EXPECT_GE(size, self->log.header.metadata_offset -
					self->log.header.data_offset);
			EXPECT_LT(4096, ring_end(&self->log));
		} else {
			EXPECT_GE(size, events_size(&self->log));
			EXPECT_LT(2048, events_size(&self->log));
		}
		logfile_free(&self->log);
	}
	self->stream.fd = -1;
}

/* The events go to the log, so poll() on the stream only reports its end. */
TEST_F(log, stream_is_not_readable_until_it_ends)
{
	struct pollfd pollfd = { .events = POLLIN };
	int i = 0;

	ASSERT_EQ(0, log_create(&self->stream));
	pollfd.fd = self->stream.fd;
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)));
	EXPECT_EQ(0, poll(&pollfd, 1, 0));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(1, poll(&pollfd, 1, 0));
	EXPECT_EQ(POLLHUP, pollfd.revents);
}

/* Many attempts, since an overrun or error can occur at any time. */
#define ATTEMPTS	1000

/* Calls GET_STATUS so that the kernel cannot write the answer. */
static int ask_in_vain(struct stream *stream)
{
	void *page = mmap(NULL, getpagesize(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret = -EFAULT;

	if (page == MAP_FAILED)
		return -errno;
	for (int i = 0; ret == -EFAULT && i < ATTEMPTS; i++)
		ret = command(stream->fd, POSIXTRACE_IOC_GET_STATUS, page);
	munmap(page, getpagesize());
	return ret == -EFAULT ? 0 : -EPROTO;
}

TEST_F(log, unreported_overrun_is_reported_later)
{
	struct posixtrace_status status;

	self->stream.arg.attr.log_policy = POSIXTRACE_POLICY_LOOP;
	self->stream.arg.attr.log_size = 20000;
	ASSERT_EQ(0, log_create(&self->stream));
	ASSERT_EQ(0, start_and_record(self, 5000));
	ASSERT_EQ(0, flush(&self->stream));
	ASSERT_EQ(0, wait_flushed(&self->stream));
	/* wait_flushed() may already have reported the overrun, so cause another one. */
	for (int i = 0; i < 5000; i++)
		ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)));
	ASSERT_EQ(0, flush(&self->stream));
	ASSERT_EQ(0, ask_in_vain(&self->stream));
	do {
		ASSERT_EQ(0, stream_status(&self->stream, &status));
	} while (status.flags & POSIXTRACE_STATUS_FLUSHING &&
		 !(status.flags & POSIXTRACE_STATUS_LOG_OVERRUN));
	EXPECT_TRUE(status.flags & POSIXTRACE_STATUS_LOG_OVERRUN);
}

TEST_F(log, unreported_error_is_reported_later)
{
	struct posixtrace_status status;
	int ends[2], i = 0;

	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	self->stream.arg.log_fd = ends[1];
	ASSERT_EQ(0, log_create(&self->stream));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)));
	close(ends[0]);
	ASSERT_EQ(0, flush(&self->stream));
	ASSERT_EQ(0, ask_in_vain(&self->stream));
	do {
		ASSERT_EQ(0, stream_status(&self->stream, &status));
	} while (status.flags & POSIXTRACE_STATUS_FLUSHING && !status.flush_error);
	EXPECT_EQ(EPIPE, status.flush_error);
	close(ends[1]);
}

/* ------------------------------------------------------------------ */
/* Sockets								*/

static int append_to(struct stream *stream, int fd)
{
	create_init(&stream->arg, 0);
	stream->arg.log_fd = fd;
	stream->arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	return log_create(stream);
}

/*
 * Sockets that carry credentials are refused: the peer, or a service such as journald, would see
 * the id and credentials of a kernel thread.
 */
TEST(sockets_that_carry_credentials_are_refused)
{
	static const int types[][2] = {
		{ AF_UNIX, SOCK_STREAM }, { AF_UNIX, SOCK_DGRAM }, { AF_UNIX, SOCK_SEQPACKET },
		{ AF_NETLINK, SOCK_RAW }, { AF_INET, SOCK_DGRAM },
	};
	struct stream stream;
	int fd, ends[2];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		fd = socket(types[i][0], types[i][1] | SOCK_CLOEXEC, 0);
		ASSERT_LE(0, fd);
		EXPECT_EQ(-EINVAL, append_to(&stream, fd))
			TH_LOG("family %d, type %d", types[i][0], types[i][1]);
		close(stream.fd);
		close(fd);
	}
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	EXPECT_EQ(-EINVAL, append_to(&stream, ends[1]));
	close(stream.fd);
	close(ends[0]);
	close(ends[1]);
}

TEST(tcp_sockets_are_accepted)
{
	struct stream stream;
	int ends[2];

	ASSERT_EQ(0, loopback_pair(ends));
	EXPECT_EQ(0, append_to(&stream, ends[1]));
	EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	close(stream.fd);
	close(ends[0]);
	close(ends[1]);
}

TEST_HARNESS_MAIN
