// SPDX-License-Identifier: GPL-2.0
/*
 * Logs that become full, and kinds of files whose logs never become full.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <posixtrace.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "disk.h"
#include "fuse.h"
#include "logdrain.h"
#include "loopback.h"
#include "process.h"
#include "pxt_test.h"
#include "record.h"

#define LOG_SIZE	(32U << 10)

static const struct log_kind until_full = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, LOG_SIZE };
static const struct log_kind loop = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, LOG_SIZE };
static const struct log_kind append = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 100 };

FIXTURE(policy)
{
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(policy)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	self->trid = -1;
}

FIXTURE_TEARDOWN(policy)
{
	posix_trace_shutdown(self->trid);
	close(self->fd);
}

/* Records and flushes rounds of 200 numbers. Returns 0 or the first error. */
static int record_rounds(trace_id_t trid, int first, int rounds)
{
	int err = 0;

	for (int i = first; !err && i < first + rounds; i++) {
		withlog_record(i * 200, 200);
		err = withlog_flush(trid);
	}
	return err;
}

TEST_F(policy, until_full_keeps_the_oldest_and_stops)
{
	struct posix_trace_status_info status;
	struct log_content content;
	off_t size;

	ASSERT_EQ(0, withlog_start(&until_full, self->fd, &self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 1));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
	ASSERT_EQ(0, record_rounds(self->trid, 1, 9));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_log_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	size = log_file_size(self->fd);
	/* Recording has ended, and cannot be restarted. */
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 10, 2));
	EXPECT_EQ(size, log_file_size(self->fd));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));

	log_content_fd(self->fd, &content);
	ASSERT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors);
	EXPECT_LE(400, content.numbers);
	EXPECT_GT(LOG_SIZE / POSIXTRACE_RECORD_STEP(sizeof(__u64)), content.numbers);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(1, content.stops);
	EXPECT_EQ(1, content.stops_auto);
	EXPECT_EQ(POSIX_TRACE_FULL, content.status.posix_log_full_status);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_log_overrun_status);
}

TEST_F(policy, until_full_reports_that_it_became_full_at_the_end)
{
	struct log_content content;
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 16 << 10 };

	ASSERT_EQ(0, withlog_start(&kind, self->fd, &self->trid));
	withlog_record(0, 700);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	ASSERT_EQ(0, content.err);
	EXPECT_EQ(0, content.first);
	EXPECT_GT(700, content.numbers);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(1, content.stops_auto);
	EXPECT_EQ(POSIX_TRACE_FULL, content.status.posix_log_full_status);
}

TEST_F(policy, cleared_until_full_is_empty)
{
	struct posix_trace_status_info status;
	struct log_content content;

	ASSERT_EQ(0, withlog_start(&until_full, self->fd, &self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 10));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	/* The stream had stopped, and CLEAR does not restart it. */
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 2));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 400));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, content.status.posix_log_full_status);
}

TEST_F(policy, loop_keeps_the_newest_events_and_its_size)
{
	struct posix_trace_status_info status;
	struct log_content content;
	off_t largest = 0;

	ASSERT_EQ(0, withlog_start(&loop, self->fd, &self->trid));
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(0, record_rounds(self->trid, i, 1));
		log_content_fd(self->fd, &content);
		ASSERT_EQ(0, content.err);
		EXPECT_EQ(200 * i + 199, content.last);
		EXPECT_EQ(0, content.holes + content.disorder + content.errors);
		if (i == 10)
			largest = log_file_size(self->fd);
		/* The log has already wrapped around. */
		if (i > 10) {
			EXPECT_EQ(largest, log_file_size(self->fd));
			EXPECT_LT(200, content.numbers);
		}
	}
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_EQ(7999, content.last);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(0, content.stops_auto);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, content.status.posix_log_overrun_status);
}

TEST_F(policy, loop_reports_overwriting_once)
{
	struct posix_trace_status_info status;

	ASSERT_EQ(0, withlog_start(&loop, self->fd, &self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 1));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	for (int i = 1; i < 10; i++) {
		withlog_record(200 * i, 200);
		ASSERT_EQ(0, posix_trace_flush(self->trid));
		/*
		 * withlog_wait() also reads the status, so only the overrun of the last round is
		 * still there.
		 */
		ASSERT_EQ(0, withlog_wait(self->trid));
	}
	withlog_record(2000, 200);
	ASSERT_EQ(0, posix_trace_flush(self->trid));
	do {
		ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	} while (status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN);
	ASSERT_EQ(0, withlog_wait(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
}

/* Returns the number of events in a log that is still being written. Also gets its losses. */
static int account_of(int fd, struct posixtrace_log_info *info)
{
	trace_id_t log;
	int err = posix_trace_open(fd, &log);

	if (err)
		return err;
	err = posixtrace_get_log_info(log, info);
	posix_trace_close(log);
	return err;
}

/*
 * The log has more blocks than the module keeps counts for, so it merges the counts of neighbouring
 * blocks repeatedly. Each event is in a separate block.
 */
TEST_F_TIMEOUT(policy, loop_of_many_blocks_counts_overwritten_events, 120)
{
	const struct log_kind kind = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 7 << 17 };
	struct posixtrace_log_info info;
	struct log_content content;
	int number = 0;

	ASSERT_EQ(0, withlog_start(&kind, self->fd, &self->trid));
	for (int round = 0; round < 12; round++) {
		for (int i = 0; i < 500; i++) {
			withlog_record(number++, 1);
			ASSERT_EQ(0, withlog_flush(self->trid));
		}
		log_content_fd(self->fd, &content);
		ASSERT_EQ(0, account_of(self->fd, &info));
		ASSERT_EQ(0, content.err);
		EXPECT_EQ(0, content.holes + content.disorder + content.errors);
		EXPECT_EQ(number - 1, content.last);
		EXPECT_EQ(number, content.numbers + (int)info.overwritten);
	}
	EXPECT_LT(2048, content.numbers);
	EXPECT_LT(0, info.overwritten);
}

/* The log restarts and is empty. */
TEST_F(policy, cleared_loop_is_empty)
{
	struct log_content content;

	ASSERT_EQ(0, withlog_start(&loop, self->fd, &self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 10));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 1));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 200));
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
}

TEST_F(policy, append_ignores_the_size)
{
	struct log_content content;
	trace_attr_t attr;
	size_t size;

	ASSERT_EQ(0, withlog_new(0, &append, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getlogsize(&attr, &size));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 20));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 4000));
	EXPECT_LT(size, log_file_size(self->fd));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, content.status.posix_log_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
}

TEST_F(policy, append_works_with_o_append)
{
	struct log_content content;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_APPEND));
	ASSERT_EQ(0, withlog_start(&append, self->fd, &self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 5));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 5));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 1000));
}

/* ------------------------------------------------------------------ */
/* Logs in other kinds of files						*/

/* The two ends of a pipe, or of a similar kind of file. */
struct line {
	int reader;
	int writer;
};

static int open_pipe(struct line *line)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	*line = (struct line){ ends[0], ends[1] };
	return 0;
}

static int open_slow_pipe(struct line *line)
{
	if (open_pipe(line))
		return -1;
	return fcntl(line->writer, F_SETPIPE_SZ, 4096) < 0;
}

static int open_nonblocking_pipe(struct line *line)
{
	if (open_slow_pipe(line))
		return -1;
	return fcntl(line->writer, F_SETFL, O_NONBLOCK);
}

static int open_fifo(struct line *line)
{
	char name[] = "/tmp/fifoXXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || close(fd) || unlink(name) || mkfifo(name, 0600))
		return -1;
	line->reader = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	line->writer = open(name, O_WRONLY | O_CLOEXEC);
	fcntl(line->reader, F_SETFL, 0);
	return unlink(name);
}

static int open_socket(struct line *line)
{
	int ends[2];

	if (loopback_pair(ends))
		return -1;
	*line = (struct line){ ends[0], ends[1] };
	return 0;
}

static int open_nonblocking_socket(struct line *line)
{
	if (open_socket(line))
		return -1;
	return fcntl(line->writer, F_SETFL, O_NONBLOCK);
}

FIXTURE(line)
{
	trace_id_t trid;
	struct line line;
	struct drain drain;
	int fd;
};

FIXTURE_VARIANT(line)
{
	int (*open)(struct line *line);
	bool clear;
};

FIXTURE_VARIANT_ADD(line, pipe) { open_pipe, false };
FIXTURE_VARIANT_ADD(line, pipe_of_one_page) { open_slow_pipe, false };
FIXTURE_VARIANT_ADD(line, pipe_that_does_not_block) { open_nonblocking_pipe, false };
FIXTURE_VARIANT_ADD(line, fifo) { open_fifo, false };
FIXTURE_VARIANT_ADD(line, socket) { open_socket, false };
FIXTURE_VARIANT_ADD(line, socket_that_does_not_block) { open_nonblocking_socket, false };
FIXTURE_VARIANT_ADD(line, pipe_and_clear) { open_pipe, true };

FIXTURE_SETUP(line)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, variant->open(&self->line));
}

FIXTURE_TEARDOWN(line)
{
	close(self->fd);
	close(self->line.reader);
}

/* The reader must see the end of the log when posix_trace_shutdown() has returned. */
TEST_F(line, carries_a_log_to_its_reader)
{
	struct log_content content;

	ASSERT_EQ(0, drain_start(&self->drain, self->line.reader, self->fd));
	ASSERT_EQ(0, withlog_new(0, &append, self->line.writer, &self->trid));
	close(self->line.writer);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, record_rounds(self->trid, 0, 10));
	if (variant->clear) {
		ASSERT_EQ(0, posix_trace_clear(self->trid));
		ASSERT_EQ(0, record_rounds(self->trid, 0, 10));
	}
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, drain_end(&self->drain));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 2000)) {
		TH_LOG("%d numbers from %d to %d, %d holes, %d errors, err %d", content.numbers,
		       content.first, content.last, content.holes, content.errors, content.err);
	}
}

TEST(character_device_takes_a_log)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	trace_id_t trid;

	ASSERT_EQ(0, withlog_start(&append, fd, &trid));
	EXPECT_EQ(0, record_rounds(trid, 0, 5));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	close(fd);
}

/* ------------------------------------------------------------------ */
/* The threads that write logs						*/

#define PF_NOFREEZE	0x8000U

/**
 * struct log_threads - counts of log threads
 * @count: number of all log threads
 * @not_frozen: number of those that suspend does not freeze
 * @waiting: number of those that wait for a disk
 */
struct log_threads {
	int count;
	int not_frozen;
	int waiting;
};

static int log_threads(struct log_threads *threads)
{
	DIR *proc = opendir("/proc");
	unsigned int flags;
	struct dirent *entry;
	char path[300], state;
	FILE *stat;

	*threads = (struct log_threads){ 0 };
	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		stat = atoi(entry->d_name) ? fopen(path, "re") : NULL;
		if (!stat)
			continue;
		if (fscanf(stat, "%*d (posixtrace/%*d) %c %*d %*d %*d %*d %*d %u", &state,
			   &flags) == 2) {
			threads->count++;
			threads->not_frozen += !!(flags & PF_NOFREEZE);
			threads->waiting += state == 'D';
		}
		fclose(stat);
	}
	closedir(proc);
	/*
	 * Also look at the library's log thread of this process, which writes in place of a kernel
	 * thread.
	 */
	threads->waiting += thread_state(log_worker()) == 'D';
	return 0;
}

/* Returns how many of the log threads must freeze for suspend if a log is written to @fd. */
static int freezable_threads(int fd)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
	struct log_threads threads;
	trace_id_t trid;
	int err;

	if (fd < 0 || withlog_new(0, &kind, fd, &trid))
		return -1;
	err = log_threads(&threads);
	if (posix_trace_shutdown(trid) || err || threads.count != 1)
		return -1;
	return threads.count - threads.not_frozen;
}

/* Returns the number of event types in a log whose names begin with @begin. */
static int count_names(int fd, const char *begin)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	int count = 0, unavailable;
	trace_event_id_t id;
	trace_id_t trid;

	if (posix_trace_open(fd, &trid))
		return -1;
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable) {
		if (!posix_trace_eventid_get_name(trid, id, name))
			count += !strncmp(name, begin, strlen(begin));
	}
	posix_trace_close(trid);
	return count;
}

/* The file is rewritten from its start, so the new log is followed by contents of the old one. */
TEST_F(policy, loop_log_has_no_names_of_the_log_that_was_in_the_file_before)
{
	struct child child;
	char name[16];
	trace_event_id_t id;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "old %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
	}
	ASSERT_EQ(0, withlog_new(0, &loop, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(40, count_names(self->fd, "old "));
	/* This process has no event types yet. */
	ASSERT_EQ(0, withlog_new(child.pid, &loop, self->fd, &self->trid));
	EXPECT_EQ(0, count_names(self->fd, "old "));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "new", &id));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(0, count_names(self->fd, "old "));
	EXPECT_EQ(1, count_names(self->fd, "new"));
	EXPECT_EQ(0, child_wait(&child));
}

/*
 * The log threads of other files must not be frozen: suspend first freezes the reader of the pipe
 * and the FUSE server, and would then wait in vain for a log thread that waits for them.
 */
TEST(only_a_log_on_a_disk_is_frozen_for_suspend)
{
	/* On a kernel without suspend, tasks are never frozen. */
	const bool sleeps = !access("/sys/power/state", F_OK);
	struct fuse_disk fuse;
	struct disk disk;
	int pipe[2];

	ASSERT_EQ(0, fuse_begin(&fuse));
	ASSERT_EQ(0, disk_begin(&disk, "ext4"));
	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	EXPECT_EQ(0, freezable_threads(pipe[1]));
	EXPECT_EQ(0, freezable_threads(fuse_open(&fuse, O_RDWR)));
	EXPECT_EQ(sleeps ? 1 : 0, freezable_threads(disk.fd));
	disk_end(&disk);
	fuse_end(&fuse);
	close(pipe[0]);
	close(pipe[1]);
}

/*
 * The events recorded during a flush exceed the size of the log. The log must still end with the
 * last event. Use one processor: if a thread migrates, its events are in blocks of both processors,
 * and could be lost together.
 */
TEST(loop_overwrites_no_event_newer_than_those_it_keeps)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 16 << 10 };
	struct log_content content;
	struct log_threads threads;
	trace_event_set_t set;
	struct disk disk;
	trace_id_t trid;

	ASSERT_LE(0, run_on(0));
	ASSERT_EQ(0, disk_begin(&disk, "ext4"));
	ASSERT_EQ(0, withlog_new(0, &kind, disk.fd, &trid));
	/* STOP must be the only system event. */
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_FLUSH_START, &set));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &set));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(trid));
	withlog_record(0, 10);
	ASSERT_EQ(0, withlog_flush(trid));
	ASSERT_EQ(0, disk_freeze(disk.fd));
	withlog_record(10, 10);
	EXPECT_EQ(0, posix_trace_flush(trid));
	do {
		sched_yield();
		EXPECT_EQ(0, log_threads(&threads));
	} while (!threads.waiting);
	withlog_record(20, 700);
	EXPECT_EQ(0, posix_trace_stop(trid));
	ASSERT_EQ(0, disk_thaw(disk.fd));
	EXPECT_EQ(0, posix_trace_shutdown(trid));

	log_content_fd(disk.fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(719, content.last);
	EXPECT_LT(20, content.first);
	EXPECT_EQ(0, content.holes + content.disorder + content.errors);
	EXPECT_EQ(1, content.stops);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	disk_end(&disk);
}

TEST_HARNESS_MAIN
