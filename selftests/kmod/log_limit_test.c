// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of a log that CREATE takes from its controller: the maximum file size (RLIMIT_FSIZE), the
 * position in the file at which the log thread starts to write, and the memory.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "pxt_test.h"
#include "actor.h"
#include "disk.h"
#include "logfile.h"
#include "memgroup.h"

#define BEFORE	5000		/* bytes in a file before an appended log */
#define EVENTS	4000		/* recorded in each round, about 200 KB */
#define ALICE	1000

/* A kind of log. */
struct kind {
	unsigned int log_policy;
	unsigned int stream_policy;
	bool append;		/* the file was opened with O_APPEND */
	int setfl;		/* flags set with F_SETFL after CREATE */
};

static const struct kind kinds[] = {
	{ POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_LOOP, false, 0 },
	{ POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, false, 0 },
	{ POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_UNTIL_FULL, true, 0 },
	{ POSIXTRACE_POLICY_UNTIL_FULL, POSIXTRACE_POLICY_LOOP, false, 0 },
	{ POSIXTRACE_POLICY_UNTIL_FULL, POSIXTRACE_POLICY_FLUSH, true, 0 },
	{ POSIXTRACE_POLICY_LOOP, POSIXTRACE_POLICY_FLUSH, false, 0 },
	{ POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, false, O_APPEND },
	{ POSIXTRACE_POLICY_UNTIL_FULL, POSIXTRACE_POLICY_FLUSH, false, O_APPEND },
	{ POSIXTRACE_POLICY_LOOP, POSIXTRACE_POLICY_FLUSH, false, O_APPEND },
	{ POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, true, O_DIRECT },
	{ POSIXTRACE_POLICY_LOOP, POSIXTRACE_POLICY_FLUSH, false, O_DIRECT },
};

#define KINDS	((int)(sizeof(kinds) / sizeof(kinds[0])))

static int file_open(const char *dir, const struct kind *kind)
{
	static const char before[BEFORE];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (kind->append && (write(fd, before, sizeof(before)) != sizeof(before) ||
			     fcntl(fd, F_SETFL, O_APPEND)))
		return -errno;
	return fd;
}

static off_t file_size(int fd)
{
	struct stat stat;

	return fstat(fd, &stat) ? -errno : stat.st_size;
}

static int set_limit(rlim_t bytes)
{
	const struct rlimit limit = { bytes, RLIM_INFINITY };

	return setrlimit(RLIMIT_FSIZE, &limit) ? -errno : 0;
}

static int log_create(struct stream *stream, const struct kind *kind, int fd)
{
	create_init(&stream->arg, 0);
	stream->arg.log_fd = fd;
	stream->arg.attr.stream_policy = kind->stream_policy;
	stream->arg.attr.log_policy = kind->log_policy;
	stream->arg.attr.log_size = 400000;
	stream->fd = device_open();
	if (stream->fd < 0)
		return stream->fd;
	return command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
}

/* Flushes and waits. Returns the error of the flush, negative. */
static int flush(struct stream *stream)
{
	struct posixtrace_origin origin = { .prog_address = 0x1234, .thread_id = 0x4321 };
	struct posixtrace_status status;
	int ret = command(stream->fd, POSIXTRACE_IOC_FLUSH, &origin), error = 0;

	if (ret)
		return ret;
	do {
		ret = stream_status(stream, &status);
		if (ret)
			return ret;
		if (status.flush_error)
			error = -status.flush_error;
		sched_yield();
	} while (status.flags & POSIXTRACE_STATUS_FLUSHING);
	return error;
}

static int record(struct target *target, int count)
{
	int ret = 0;

	for (int i = 0; i < count && !ret; i++)
		ret = target_event(target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i));
	return ret;
}

/* Counts the user events of a sequential log that starts at @start. */
static long long count_events(int fd, off_t start, struct posixtrace_log_end *end)
{
	const struct posixtrace_log_block *block;
	unsigned long long seq = 1;
	struct logfile log, part;
	long long events = 0;
	size_t pos;
	int err = logfile_read(&log, fd);

	memset(end, 0, sizeof(*end));
	if (err && err != -EPROTO)
		return err;
	part = log;
	part.bytes += start;
	part.size -= start;
	memcpy(&part.header, part.bytes, sizeof(part.header));
	pos = part.header.data_offset;
	while ((block = logfile_block(&part, pos, seq++))) {
		if (block->type == POSIXTRACE_LOG_EVENTS && block->cpu < part.header.nr_cpus)
			events += block->count;
		if (block->type == POSIXTRACE_LOG_END)
			memcpy(end, block + 1, sizeof(*end));
		pos = logfile_next(block, pos);
	}
	logfile_free(&log);
	return events;
}

/* ------------------------------------------------------------------ */
/* RLIMIT_FSIZE								*/

/* A file system with O_DIRECT. */
FIXTURE(limit)
{
	struct disk disk;
	struct target target;
	struct stream stream;
	int fd;
};

FIXTURE_SETUP(limit)
{
	ASSERT_EQ(0, disk_begin(&self->disk, "ext4"));
	ASSERT_EQ(0, target_open(&self->target));
}

FIXTURE_TEARDOWN(limit)
{
	target_close(&self->target);
	disk_end(&self->disk);
}

/* The test neither blocks nor ignores SIGXFSZ, so the signal would kill it. */
TEST_F(limit, file_is_never_larger_than_the_limit_at_create)
{
	off_t limit;

	for (int i = 0; i < KINDS; i++) {
		limit = kinds[i].log_policy == POSIXTRACE_POLICY_LOOP ? 330001 : 40001;
		self->fd = file_open(self->disk.dir, &kinds[i]);
		ASSERT_LE(0, self->fd);
		ASSERT_EQ(0, set_limit(limit));
		ASSERT_EQ(0, log_create(&self->stream, &kinds[i], self->fd));
		ASSERT_EQ(0, set_limit(RLIM_INFINITY));
		ASSERT_EQ(0, fcntl(self->fd, F_SETFL, fcntl(self->fd, F_GETFL) | kinds[i].setfl));
		ASSERT_EQ(0, stream_start(&self->stream));
		ASSERT_EQ(0, record(&self->target, EVENTS));
		EXPECT_EQ(-EFBIG, flush(&self->stream)) {
			TH_LOG("kind %d", i);
		}
		EXPECT_EQ(-EFBIG, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL)) {
			TH_LOG("kind %d", i);
		}
		EXPECT_GE(limit, file_size(self->fd)) {
			TH_LOG("kind %d", i);
		}
		close(self->stream.fd);
		close(self->fd);
	}
}

/* Unlike for a process, raising the limit later does not affect a log. */
TEST_F(limit, events_beyond_the_limit_are_counted)
{
	const struct kind kind = { POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_LOOP, false, 0 };
	struct posixtrace_log_end end;
	struct posixtrace_status status;
	long long events;

	self->fd = file_open(self->disk.dir, &kind);
	ASSERT_LE(0, self->fd);
	/* The last bytes have space for the status of the log, but not for a sub-buffer. */
	ASSERT_EQ(0, set_limit(512 + 8 * (128 + 4096) + 1000));
	ASSERT_EQ(0, log_create(&self->stream, &kind, self->fd));
	ASSERT_EQ(0, set_limit(RLIM_INFINITY));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, record(&self->target, EVENTS));
	EXPECT_EQ(-EFBIG, flush(&self->stream));
	ASSERT_EQ(0, stream_status(&self->stream, &status));
	EXPECT_EQ(-EFBIG, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	events = count_events(self->fd, 0, &end);
	EXPECT_LT(0, events);
	EXPECT_EQ(EFBIG, end.error);
	EXPECT_EQ(POSIXTRACE_LOG_END_FINAL, end.flags);
	EXPECT_EQ(EVENTS, events + end.lost);
	close(self->stream.fd);
	close(self->fd);
}

/* ------------------------------------------------------------------ */
/* Flags that change after CREATE					*/

/*
 * Limit of the metadata after the ring, in bytes, for the log of one process with one thread and a
 * long command line.
 */
#define METADATA_MOST	8192

/* Does the ring have a block after @offset? */
static bool has_block_behind(const struct logfile *log, size_t offset)
{
	const __u32 magic = POSIXTRACE_LOG_BLOCK_MAGIC;
	size_t from = log->header.data_offset + offset, to = log->header.metadata_offset;

	return to <= log->size && from < to &&
	       memmem(log->bytes + from, to - from, &magic, sizeof(magic));
}

/* The ring has 400,000 bytes, and is filled several times. */
TEST_F(limit, log_keeps_its_place_with_any_flags_of_the_file)
{
	const int flags[] = { O_APPEND, O_DIRECT, O_APPEND | O_DIRECT };
	const struct kind kind = { POSIXTRACE_POLICY_LOOP, POSIXTRACE_POLICY_LOOP, false, 0 };
	struct logfile log;

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		self->fd = file_open(self->disk.dir, &kind);
		ASSERT_LE(0, self->fd);
		ASSERT_EQ(0, log_create(&self->stream, &kind, self->fd));
		ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags[i]));
		ASSERT_EQ(0, stream_start(&self->stream));
		for (int round = 0; round < 20; round++) {
			ASSERT_EQ(0, record(&self->target, 1000));
			EXPECT_EQ(0, flush(&self->stream));
		}
		EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
		ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
		EXPECT_EQ(0, logfile_read(&log, self->fd));
		EXPECT_TRUE(has_block_behind(&log, 300000));
		EXPECT_GE((off_t)(log.header.metadata_offset + METADATA_MOST), file_size(self->fd));
		logfile_free(&log);
		close(self->stream.fd);
		close(self->fd);
	}
}

/* The log is appended even if O_APPEND is cleared after CREATE. */
TEST_F(limit, appended_log_is_written_at_its_end)
{
	const struct kind kind = { POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_LOOP, true, 0 };
	const int flags[] = { O_APPEND, 0, O_APPEND | O_DIRECT };
	struct posixtrace_log_end end;

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		self->fd = file_open(self->disk.dir, &kind);
		ASSERT_LE(0, self->fd);
		ASSERT_EQ(0, log_create(&self->stream, &kind, self->fd));
		ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags[i]));
		ASSERT_EQ(0, stream_start(&self->stream));
		ASSERT_EQ(0, record(&self->target, 100));
		EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
		ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
		EXPECT_EQ(100, count_events(self->fd, BEFORE, &end));
		EXPECT_EQ(POSIXTRACE_LOG_END_FINAL, end.flags);
		close(self->stream.fd);
		close(self->fd);
	}
}

/* ------------------------------------------------------------------ */
/* Memory								*/

/* A controller whose flushes fail. */
struct vain {
	rlim_t memlock;		/* 0: with all capabilities, in the memory cgroup */
	size_t stream_size;
	int flushes;
};

static int vain_begin(const struct vain *vain, struct stream *stream)
{
	const struct actor_is alice = { ALICE, -1, 0, vain->memlock };
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	err = vain->memlock ? actor_become(&alice) : memgroup_enter();
	if (!err)
		err = set_limit(1000);
	if (err)
		return err;
	create_init(&stream->arg, 0);
	stream->arg.log_fd = fd;
	stream->arg.attr.stream_size = vain->stream_size;
	stream->arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	stream->fd = device_open();
	if (stream->fd < 0)
		return stream->fd;
	err = command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
	return err ? err : stream_start(stream);
}

static long memory_of(struct stream *stream)
{
	struct posixtrace_status status;
	int err = stream_status(stream, &status);

	return err ? err : (long)status.memory;
}

/* Each flush records two events, which stay in memory. */
static int flush_in_vain(void *arg, const struct talk *talk)
{
	const struct vain *vain = arg;
	struct stream stream;
	int err = vain_begin(vain, &stream);

	say(talk, err);
	if (err)
		return 1;
	say(talk, memory_of(&stream));
	hear(talk);
	for (int i = 0; i < vain->flushes; i++) {
		err = flush(&stream);
		if (err != -EFBIG)
			return 1;
	}
	say(talk, memory_of(&stream));
	hear(talk);
	return 0;
}

/*
 * The first controller has a higher limit, so its memory grows. Use few flushes: each closes a
 * sub-buffer, so a few are enough. Many would take seconds, because the log threads of a user have
 * a budget of CPU time.
 */
TEST(memory_for_events_of_a_flush_is_locked_within_the_limit_of_the_controller)
{
	struct vain vain = { 7 << 20, 64 << 10, 5 };
	struct child child;
	long before, after;

	ASSERT_EQ(0, child_start(&child, flush_in_vain, &vain));
	ASSERT_EQ(0, hear(&child.talk));
	before = hear(&child.talk);
	EXPECT_LT(0, before);
	say(&child.talk, 0);
	after = hear(&child.talk);
	EXPECT_LT(before, after);
	say(&child.talk, 0);
	child_wait(&child);

	vain.memlock = before;
	ASSERT_EQ(0, child_start(&child, flush_in_vain, &vain));
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(before, hear(&child.talk));
	say(&child.talk, 0);
	EXPECT_EQ(before, hear(&child.talk));
	say(&child.talk, 0);
	child_wait(&child);
}

TEST(memory_for_events_of_a_flush_is_charged_to_the_cgroup_of_the_controller)
{
	struct vain vain = { 0, 4 << 20, 200 };
	long before, after, group;
	struct child child;

	ASSERT_EQ(0, memgroup_begin("max"));
	ASSERT_EQ(0, child_start(&child, flush_in_vain, &vain));
	ASSERT_EQ(0, hear(&child.talk));
	before = hear(&child.talk);
	group = memgroup_current();
	say(&child.talk, 0);
	after = hear(&child.talk);
	EXPECT_LT(before + (2 << 20), after);
	EXPECT_LT(group + (after - before) / 2, memgroup_current());
	say(&child.talk, 0);
	child_wait(&child);
	EXPECT_EQ(0, memgroup_end());
}

TEST_HARNESS_MAIN
