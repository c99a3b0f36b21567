// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to a log that fail for a while. The missing parts must be written as soon as possible.
 * Events must not wait for parts that readers can do without.
 */
#define _GNU_SOURCE
#include <linux/posixtrace_log.h>
#include <poll.h>
#include <sys/prctl.h>

#include "fuse.h"
#include "pxt_test.h"
#include "withlog.h"

#define ROUND	100

/* ------------------------------------------------------------------ */
/* Which writes the server of the file refuses				*/

static bool all(const struct fuse_shared *shared, uint64_t pos, const void *data, size_t size)
{
	(void)shared;
	(void)pos;
	(void)data;
	(void)size;
	return true;
}

/* Selects writes after the ring of a LOOP log. */
static bool metadata(const struct fuse_shared *shared, uint64_t pos, const void *data, size_t size)
{
	struct posixtrace_log_header header;

	(void)data;
	(void)size;
	memcpy(&header, shared->data, sizeof(header));
	return pos >= header.metadata_offset;
}

/* Selects the write of the last event of a full log, which is alone in its block. */
static bool stop(const struct fuse_shared *shared, uint64_t pos, const void *data, size_t size)
{
	const struct {
		struct posixtrace_log_block block;
		struct posixtrace_writer writer;
		struct posixtrace_record record;
	} *write = data;

	(void)shared;
	(void)pos;
	return size > sizeof(*write) && write->block.type == POSIXTRACE_LOG_EVENTS &&
	       write->block.count == 1 &&
	       write->record.type == POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_STOP, 0);
}

/* ------------------------------------------------------------------ */
/* A log in a file of the server					*/

FIXTURE(server)
{
	struct fuse_disk fuse;
	trace_id_t trid;
	int fd;
};

FIXTURE_VARIANT(server)
{
	int error;
};

FIXTURE_VARIANT_ADD(server, full) { ENOSPC };
FIXTURE_VARIANT_ADD(server, quota) { EDQUOT };
FIXTURE_VARIANT_ADD(server, large) { EFBIG };

FIXTURE_SETUP(server)
{
	self->fd = -1;
	self->trid = -1;
}

FIXTURE_TEARDOWN(server)
{
	posix_trace_shutdown(self->trid);
	close(self->fd);
	fuse_end(&self->fuse);
}

/* Starts a stream. Returns 0 or an error number. */
static int begin(struct fuse_disk *fuse, const struct log_kind *kind, int flags, int *fd,
		 trace_id_t *trid)
{
	int err = fuse_begin_refusing(fuse);

	if (err)
		return -err;
	*fd = fuse_open(fuse, O_RDWR | flags);
	if (*fd < 0)
		return errno;
	err = withlog_new(0, kind, *fd, trid);
	return err ? err : posix_trace_start(*trid);
}

/* From now on, writes fail with @error; 0: no error. */
static void refuse(struct fuse_disk *fuse, int error)
{
	atomic_store(&fuse->shared->error, error);
}

static void read_log(const struct fuse_shared *shared, struct log_content *content)
{
	ssize_t size = atomic_load(&shared->size);
	int fd = log_tmpfile();

	memset(content, 0, sizeof(*content));
	content->err = write(fd, shared->data, size) == size ? 0 : errno;
	if (!content->err)
		log_content_fd(fd, content);
	close(fd);
}

static bool has(const struct fuse_shared *shared, const char *text)
{
	return memmem(shared->data, atomic_load(&shared->size), text, strlen(text));
}

TEST_F(server, of_a_ring_without_metadata_gets_the_events)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1 << 20 };
	struct log_content content;

	self->fuse.refuse = metadata;
	ASSERT_EQ(0, begin(&self->fuse, &kind, 0, &self->fd, &self->trid));
	withlog_record(0, ROUND);
	ASSERT_EQ(0, withlog_flush(self->trid));
	refuse(&self->fuse, variant->error);
	ASSERT_EQ(0, prctl(PR_SET_NAME, "pxt-late-name"));
	for (int i = 1; i < 5; i++) {
		withlog_record(i * ROUND, ROUND);
		EXPECT_EQ(0, withlog_flush(self->trid));
	}
	EXPECT_FALSE(has(self->fuse.shared, "pxt-late-name"));
	refuse(&self->fuse, 0);
	EXPECT_EQ(0, withlog_flush(self->trid));
	EXPECT_TRUE(has(self->fuse.shared, "pxt-late-name"));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	read_log(self->fuse.shared, &content);
	EXPECT_TRUE(log_content_is(&content, 5 * ROUND));
}

/* Records until the log is full, or there is another error. Returns the error of the last flush. */
static int fill(trace_id_t trid)
{
	int err = 0;

	for (int i = 0; i < 100 && !err; i++) {
		withlog_record(i * ROUND, ROUND);
		err = withlog_flush(trid);
	}
	return err;
}

TEST_F(server, of_a_full_log_gets_its_last_event_later)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 16 << 10 };
	struct posix_trace_status_info status;
	struct log_content content;

	self->fuse.refuse = stop;
	ASSERT_EQ(0, begin(&self->fuse, &kind, 0, &self->fd, &self->trid));
	refuse(&self->fuse, variant->error);
	EXPECT_EQ(variant->error, fill(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_log_full_status);
	read_log(self->fuse.shared, &content);
	EXPECT_EQ(0, content.stops);
	refuse(&self->fuse, 0);
	EXPECT_EQ(0, withlog_flush(self->trid));
	read_log(self->fuse.shared, &content);
	EXPECT_EQ(1, content.stops_auto);
	/* The shutdown does not write STOP again. */
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	read_log(self->fuse.shared, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(1, content.stops);
	EXPECT_EQ(0, content.errors);
	EXPECT_EQ(POSIX_TRACE_FULL, content.status.posix_log_full_status);
}

/* The full stream is stopped, so no event starts a flush. The log thread must retry without one. */
TEST_F(server, of_a_full_log_gets_its_last_event_by_itself)
{
	const struct log_kind kind = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 16 << 10 };
	struct log_content content;

	self->fuse.refuse = stop;
	ASSERT_EQ(0, begin(&self->fuse, &kind, 0, &self->fd, &self->trid));
	refuse(&self->fuse, variant->error);
	EXPECT_EQ(variant->error, fill(self->trid));
	refuse(&self->fuse, 0);
	do {
		poll(NULL, 0, 100);
		read_log(self->fuse.shared, &content);
	} while (!content.stops);
	EXPECT_EQ(1, content.stops_auto);
}

/* An appended log cannot be truncated, so a block must inform readers of the clear. */
TEST_F(server, of_a_log_that_is_appended_gets_the_clear_later)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
	struct log_content content;

	self->fuse.refuse = all;
	ASSERT_EQ(0, begin(&self->fuse, &kind, O_APPEND, &self->fd, &self->trid));
	withlog_record(ROUND, ROUND);
	ASSERT_EQ(0, withlog_flush(self->trid));
	refuse(&self->fuse, variant->error);
	EXPECT_EQ(variant->error, posix_trace_clear(self->trid));
	refuse(&self->fuse, 0);
	withlog_record(0, ROUND);
	EXPECT_EQ(0, withlog_flush(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	read_log(self->fuse.shared, &content);
	EXPECT_TRUE(log_content_is(&content, ROUND));
}

TEST_HARNESS_MAIN
