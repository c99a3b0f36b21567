// SPDX-License-Identifier: GPL-2.0
/*
 * Logs that cannot be written. Errors must be reported, and must have no other effect.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "disk.h"
#include "logdrain.h"
#include "pxt_test.h"

static const struct log_kind append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };
static const struct log_kind by_hand = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
static const struct log_kind loop = { POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1 << 20 };
static const struct log_kind until_full = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 1 << 20 };

#define ROUND	200

/* Records rounds of numbers until a flush fails. Returns the number of rounds, and the error. */
static int record_until_error(trace_id_t trid, int *err)
{
	int rounds = 0;

	*err = 0;
	while (!*err && rounds < 1000) {
		withlog_record(rounds * ROUND, ROUND);
		*err = withlog_flush(trid);
		rounds++;
	}
	return rounds;
}

static int stream_state(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 : status.posix_stream_status;
}

/* ------------------------------------------------------------------ */
/* A full disk								*/

/* A log that fills a small file system, except for the space that the test needs. */
FIXTURE(disk)
{
	struct disk disk;
	trace_id_t trid;
};

FIXTURE_VARIANT(disk)
{
	const struct log_kind *kind;
	const char *type;
};

FIXTURE_VARIANT_ADD(disk, append) { &by_hand, "tmpfs" };
FIXTURE_VARIANT_ADD(disk, loop) { &loop, "tmpfs" };
FIXTURE_VARIANT_ADD(disk, until_full) { &until_full, "tmpfs" };
FIXTURE_VARIANT_ADD(disk, ext4_append) { &by_hand, "ext4" };
FIXTURE_VARIANT_ADD(disk, ext4_loop) { &loop, "ext4" };
FIXTURE_VARIANT_ADD(disk, ext4_until_full) { &until_full, "ext4" };

FIXTURE_SETUP(disk)
{
	self->trid = -1;
	ASSERT_EQ(0, disk_begin(&self->disk, variant->type));
}

FIXTURE_TEARDOWN(disk)
{
	posix_trace_shutdown(self->trid);
	disk_end(&self->disk);
}

TEST_F(disk, full_at_the_beginning_is_reported_immediately)
{
	trace_id_t trid = 4711;

	ASSERT_EQ(0, disk_fill(self->disk.ballast, 0));
	EXPECT_EQ(ENOSPC, withlog_new(0, variant->kind, self->disk.fd, &trid));
	EXPECT_EQ(4711, trid);
	/* The failed call has no effect and can be repeated. */
	ASSERT_EQ(0, ftruncate(self->disk.ballast, 0));
	EXPECT_EQ(0, withlog_new(0, variant->kind, self->disk.fd, &self->trid));
}

TEST_F(disk, full_later_damages_no_written_events)
{
	struct posix_trace_status_info status;
	struct log_content content;
	int rounds, err;

	ASSERT_EQ(0, withlog_start(variant->kind, self->disk.fd, &self->trid));
	ASSERT_EQ(0, disk_fill(self->disk.ballast, 64 << 10));
	rounds = record_until_error(self->trid, &err);
	EXPECT_EQ(ENOSPC, err);
	EXPECT_LT(3, rounds);
	/* The error is reported once. */
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
	/* The stream continues. */
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	log_content_fd(self->disk.fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_LE((rounds - 1) * ROUND, content.numbers);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors + content.gaps);
	/* Unwritten events are still there, and can be written now. */
	ASSERT_EQ(0, ftruncate(self->disk.ballast, 0));
	withlog_record(rounds * ROUND, ROUND);
	EXPECT_EQ(0, withlog_flush(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->disk.fd, &content);
	EXPECT_TRUE(log_content_is(&content, (rounds + 1) * ROUND)) {
		TH_LOG("%d numbers of %d, %d holes, %d errors, %d gaps, err %d", content.numbers,
		       (rounds + 1) * ROUND, content.holes, content.errors, content.gaps,
		       content.err);
	}
}

TEST_F(disk, full_at_the_end_is_reported_by_shutdown)
{
	struct log_content content;
	int rounds, err;

	ASSERT_EQ(0, withlog_start(variant->kind, self->disk.fd, &self->trid));
	ASSERT_EQ(0, disk_fill(self->disk.ballast, 64 << 10));
	rounds = record_until_error(self->trid, &err);
	EXPECT_EQ(ENOSPC, err);
	EXPECT_EQ(ENOSPC, posix_trace_shutdown(self->trid));
	/* The stream is gone anyway. */
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	log_content_fd(self->disk.fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_LE((rounds - 1) * ROUND, content.numbers);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_log_overrun_status);
}

TEST_F(disk, full_during_clear_does_not_end_the_log)
{
	struct log_content content;
	int err;

	ASSERT_EQ(0, withlog_start(variant->kind, self->disk.fd, &self->trid));
	ASSERT_EQ(0, disk_fill(self->disk.ballast, 64 << 10));
	record_until_error(self->trid, &err);
	EXPECT_EQ(ENOSPC, err);
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	withlog_record(0, ROUND);
	EXPECT_EQ(0, withlog_flush(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->disk.fd, &content);
	EXPECT_TRUE(log_content_is(&content, ROUND));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
}

/* Shutdown closes the log, so the file system is no longer in use. */
TEST_F(disk, can_be_made_read_only_and_unmounted_after_shutdown)
{
	struct log_content content;
	int fd;

	ASSERT_EQ(0, withlog_start(variant->kind, self->disk.fd, &self->trid));
	fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
	withlog_record(0, ROUND);
	close(fd);
	close(self->disk.ballast);
	/* This fails, because the log thread has the file open for writing. */
	EXPECT_EQ(-1, mount("none", self->disk.dir, NULL, MS_REMOUNT | MS_RDONLY, NULL));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(0, withlog_flush(self->trid));
	log_content_fd(self->disk.fd, &content);
	EXPECT_TRUE(log_content_is(&content, ROUND));
	close(self->disk.fd);
	EXPECT_EQ(-1, umount(self->disk.dir));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(0, mount("none", self->disk.dir, NULL, MS_REMOUNT | MS_RDONLY, NULL));
	EXPECT_EQ(0, umount(self->disk.dir));
}

/* Returns true if the log has all events that were synced. It may also have later ones. */
static bool has_what_was_synced(const struct log_content *content, int count)
{
	return !content->err && content->first == 0 && content->last == content->numbers - 1 &&
	       content->numbers >= count && !content->holes && !content->disorder &&
	       !content->errors && !content->gaps;
}

/* A disk that can fail. A file system in memory never does. */
FIXTURE(broken_disk)
{
	struct disk disk;
	trace_id_t trid;
};

FIXTURE_VARIANT(broken_disk)
{
	const struct log_kind *kind;
};

FIXTURE_VARIANT_ADD(broken_disk, append) { &by_hand };
FIXTURE_VARIANT_ADD(broken_disk, loop) { &loop };
FIXTURE_VARIANT_ADD(broken_disk, until_full) { &until_full };

FIXTURE_SETUP(broken_disk)
{
	self->trid = -1;
	ASSERT_EQ(0, disk_begin(&self->disk, "ext4"));
}

FIXTURE_TEARDOWN(broken_disk)
{
	posix_trace_shutdown(self->trid);
	disk_end(&self->disk);
}

/*
 * The file system may lose data that were written but not synced. On newer kernels, a broken file
 * system cannot be read until it is remounted.
 */
TEST_F(broken_disk, is_reported_and_keeps_synced_events)
{
	struct posix_trace_status_info status;
	struct log_content content;
	char name[64];
	int err, fd, device;

	snprintf(name, sizeof(name), "%s/log", self->disk.dir);
	fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, fd);
	/* The open descriptor keeps the device while the file system is unmounted. */
	device = open(self->disk.name, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, device);
	ASSERT_EQ(0, withlog_start(variant->kind, fd, &self->trid));
	withlog_record(0, ROUND);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, fsync(fd));
	ASSERT_EQ(0, disk_break(self->disk.name));
	ASSERT_EQ(-1, disk_tmpfile(&self->disk));
	ASSERT_TRUE(errno == EROFS || errno == EIO);
	withlog_record(ROUND, ROUND);
	/*
	 * The flush may succeed: some file systems accept data that they will never write, which
	 * cannot be detected.
	 */
	err = withlog_flush(self->trid);
	EXPECT_TRUE(!err || err == EROFS || err == EIO);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	EXPECT_EQ(err, posix_trace_shutdown(self->trid));
	close(fd);
	close(self->disk.ballast);
	close(self->disk.fd);
	ASSERT_EQ(0, umount(self->disk.dir));
	ASSERT_EQ(0, mount(self->disk.name, self->disk.dir, "ext4", 0, NULL));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	log_content_fd(fd, &content);
	EXPECT_TRUE(has_what_was_synced(&content, ROUND)) {
		TH_LOG("%d numbers from %d to %d, %d holes, %d errors, err %d", content.numbers,
		       content.first, content.last, content.holes, content.errors, content.err);
	}
	close(fd);
	close(device);
}

/* With the stream policy FLUSH, the stream retries automatically and recovers. */
TEST(self_flushing_stream_survives_a_full_disk)
{
	char dir[] = "/tmp/diskXXXXXX";
	struct log_content content;
	int ballast, fd, count = 0;
	trace_id_t trid;

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, mount("none", dir, "tmpfs", 0, "size=512k"));
	ballast = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, ballast);
	ASSERT_EQ(0, withlog_start(&append, fd, &trid));
	ASSERT_EQ(0, disk_fill(ballast, 64 << 10));
	/* Record until the memory is also full. */
	while (stream_state(trid) == POSIX_TRACE_RUNNING) {
		withlog_record(count, 10);
		count += 10;
	}
	withlog_record(count, 10);
	count += 10;
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, stream_state(trid));
	ASSERT_EQ(0, ftruncate(ballast, 0));
	while (stream_state(trid) == POSIX_TRACE_SUSPENDED)
		sched_yield();
	withlog_record(count, 10);
	count += 10;
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_EQ(count - 1, content.last);
	EXPECT_EQ(0, content.disorder + content.errors);
	EXPECT_EQ(content.holes, content.gaps);
	EXPECT_LE(1, content.gaps);
	close(fd);
	close(ballast);
	EXPECT_EQ(0, umount(dir));
	rmdir(dir);
}

/* ------------------------------------------------------------------ */
/* Other limits								*/

/*
 * The log has the file size limit that the process had when it created the log. SIGXFSZ would kill
 * this test.
 */
TEST(log_observes_the_file_size_limit)
{
	const struct rlimit small = { 32 << 10, RLIM_INFINITY };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	const struct rlimit tiny = { 100, RLIM_INFINITY };
	struct log_content content;
	int fd = log_tmpfile(), rounds, err;
	trace_id_t trid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &tiny));
	EXPECT_EQ(EFBIG, withlog_new(0, &by_hand, fd, &trid));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
	ASSERT_EQ(0, withlog_new(0, &by_hand, fd, &trid));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &none));
	ASSERT_EQ(0, posix_trace_start(trid));
	rounds = record_until_error(trid, &err);
	EXPECT_EQ(EFBIG, err);
	EXPECT_GE(32 << 10, log_file_size(fd));
	EXPECT_EQ(EFBIG, posix_trace_shutdown(trid));
	EXPECT_GE(32 << 10, log_file_size(fd));
	log_content_fd(fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_LE((rounds - 1) * ROUND, content.numbers);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors);
	close(fd);
}

TEST(log_with_o_append_observes_the_file_size_limit)
{
	const struct rlimit small = { 32 << 10, RLIM_INFINITY };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	static const char before[31 << 10];
	int fd = log_tmpfile(), err;
	trace_id_t trid;

	ASSERT_LE(0, fd);
	ASSERT_EQ((ssize_t)sizeof(before), write(fd, before, sizeof(before)));
	ASSERT_EQ(0, fcntl(fd, F_SETFL, O_APPEND));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
	ASSERT_EQ(0, withlog_new(0, &by_hand, fd, &trid));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &none));
	ASSERT_EQ(0, posix_trace_start(trid));
	record_until_error(trid, &err);
	EXPECT_EQ(EFBIG, err);
	EXPECT_EQ(EFBIG, posix_trace_shutdown(trid));
	EXPECT_GE(32 << 10, log_file_size(fd));
	close(fd);
}

/* SIGPIPE is neither blocked nor ignored, so it would kill this test. */
TEST(pipe_without_a_reader_is_an_error_and_no_signal)
{
	trace_id_t trid;
	int pipe[2];

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_EQ(SIG_DFL, signal(SIGPIPE, SIG_DFL));
	ASSERT_EQ(0, withlog_start(&by_hand, pipe[1], &trid));
	withlog_record(0, 10);
	close(pipe[0]);
	EXPECT_EQ(EPIPE, withlog_flush(trid));
	EXPECT_EQ(POSIX_TRACE_RUNNING, stream_state(trid));
	withlog_record(10, 10);
	EXPECT_EQ(EPIPE, posix_trace_shutdown(trid));
	EXPECT_EQ(EPIPE, withlog_new(0, &by_hand, pipe[1], &trid));
	close(pipe[1]);
}

/*
 * The reader closes the pipe when it contains half of a block. The log then ends with the previous
 * block.
 */
TEST(reader_that_leaves_has_the_events_before)
{
	struct log_content content;
	int fd = log_tmpfile(), i;
	trace_id_t trid;
	int pipe[2];

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(pipe[1], F_SETPIPE_SZ, 4096));
	ASSERT_EQ(0, withlog_new(0, &by_hand, pipe[1], &trid));
	close(pipe[1]);
	ASSERT_EQ(0, posix_trace_start(trid));
	withlog_record(0, 600);
	ASSERT_EQ(0, posix_trace_flush(trid));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(1, copy_once(pipe[0], fd));
	close(pipe[0]);
	EXPECT_EQ(EPIPE, withlog_wait(trid));
	EXPECT_EQ(EPIPE, posix_trace_shutdown(trid));
	log_content_fd(fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_GT(600, content.numbers);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_log_overrun_status);
	close(fd);
}

TEST(removed_file_is_still_written)
{
	char name[] = "/tmp/logXXXXXX";
	struct log_content content;
	int fd = mkstemp(name);
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&by_hand, fd, &trid));
	withlog_record(0, 100);
	ASSERT_EQ(0, unlink(name));
	EXPECT_EQ(0, withlog_flush(trid));
	withlog_record(100, 100);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	log_content_fd(fd, &content);
	EXPECT_TRUE(log_content_is(&content, 200));
	close(fd);
}

/* Changes by another process damage the file, but not the stream. */
TEST(truncation_by_another_process_is_harmless)
{
	const struct log_kind kinds[] = { by_hand, loop, until_full };
	struct log_content content;
	trace_id_t trid;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		fd = log_tmpfile();
		ASSERT_EQ(0, withlog_start(&kinds[i], fd, &trid));
		withlog_record(0, 100);
		ASSERT_EQ(0, withlog_flush(trid));
		ASSERT_EQ(0, ftruncate(fd, 1000));
		withlog_record(100, 100);
		ASSERT_EQ(0, withlog_flush(trid));
		EXPECT_EQ(0, posix_trace_shutdown(trid));
		log_content_fd(fd, &content);
		EXPECT_EQ(0, content.err);
		EXPECT_EQ(199, content.last);
		EXPECT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_log_overrun_status);
		close(fd);
	}
}

TEST_HARNESS_MAIN
