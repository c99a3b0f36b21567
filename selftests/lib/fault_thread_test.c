// SPDX-License-Identifier: GPL-2.0
/*
 * Logs when memory allocation fails in the thread that writes them: the kernel's thread at first,
 * then the library's thread. The thread flushes, clears, or writes the start or the end of a log.
 * During this, the first allocation fails, then the second, and so on until all succeed. Each
 * request must fail or be carried out, and repeating it must make the log complete.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "fault.h"
#include "logdrain.h"
#include "loopback.h"
#include "pxt_test.h"

/* For a try: if the condition is false, returns the line number from the function. */
#define MUST(condition) do {			\
	if (!(condition))			\
		return __LINE__;		\
} while (0)

/*
 * EVENTS take more than a page. After QUIET_TRIES successes in a row, assume that no later
 * allocation can fail.
 */
#define EVENTS		134
#define QUIET_TRIES	20

enum medium { FILE_LOG, PIPE_LOG, SOCKET_LOG };

/**
 * struct world - the state of a try
 * @kind: kind of the stream and its log
 * @medium: the kind of file that the log is written to
 * @thread: the id of the kernel thread, or 0
 * @worker: the id of the library's thread, or 0
 * @fault: the fault counter of the thread that writes
 * @trid: the stream
 * @to: descriptor of the log, or of the writing end of a pipe or socket
 * @content: the file with the complete log
 * @drain: copies the log to @content, if it is a pipe or socket
 */
struct world {
	const struct log_kind *kind;
	enum medium medium;
	int thread;
	int worker;
	struct fault fault;
	trace_id_t trid;
	int to;
	int content;
	struct drain drain;
};

/* The result of a try. */
struct outcome {
	bool failed;		/* an allocation failed */
	int err;		/* the reported error */
};

static bool is_memory(int err)
{
	/* Without memory, a socket may also return ENOBUFS. */
	return err == ENOMEM || err == ENOBUFS;
}

/* ------------------------------------------------------------------ */
/* The thread								*/

static bool writes_logs(const char *pid)
{
	char path[300], name[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	close(fd);
	return !strncmp(name, "posixtrace/", strlen("posixtrace/"));
}

/* Returns the id of the only log thread, or 0. */
static int find_thread(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int pid = 0;

	while (proc && !pid && (entry = readdir(proc))) {
		if (writes_logs(entry->d_name))
			pid = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return pid;
}

/*
 * Waits for the end of the thread of an ended stream, so that it is not mistaken for the next one.
 */
static void await_end_of(int thread)
{
	while (thread && !kill(thread, 0))
		sched_yield();
}

/* Like fault_open(), but for the log thread. */
static int fault_open_thread(struct fault *fault, int thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fail-nth", thread);
	fault->fd = open(path, O_RDWR | O_CLOEXEC);
	return fault->fd < 0 ? -errno : 0;
}

/* From now on all allocations of the thread fail, or all succeed. Returns 0 or negative errno. */
static int thread_fails(int thread, bool fails)
{
	static const char * const kinds[] = { "failslab", "fail_page_alloc" };
	char path[64];
	int err = 0, fd;

	for (size_t i = 0; !err && i < ARRAY_SIZE(kinds); i++) {
		err = fault_set_knob(kinds[i], "task-filter", "Y");
		if (!err)
			err = fault_set_knob(kinds[i], "times", "-1");
		if (!err)
			err = fault_set_knob(kinds[i], "probability", fails ? "100" : "0");
	}
	snprintf(path, sizeof(path), "/proc/%d/make-it-fail", thread);
	fd = err ? -1 : open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err ? err : -errno;
	if (write(fd, fails ? "1" : "0", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

/* ------------------------------------------------------------------ */
/* The log								*/

static int open_ends(enum medium medium, int ends[2])
{
	if (medium == PIPE_LOG)
		return pipe2(ends, O_CLOEXEC);
	/* The first socket is for reading. */
	return loopback_pair(ends);
}

static int world_open(struct world *world)
{
	int ends[2];

	world->trid = -1;
	world->content = log_tmpfile();
	MUST(world->content >= 0);
	world->to = world->content;
	if (world->medium == FILE_LOG)
		return 0;
	MUST(!open_ends(world->medium, ends));
	world->to = ends[1];
	world->drain.from = ends[0];
	return 0;
}

/*
 * Starts the copying to @content. This must not run while allocations fail: a pipe keeps a page or
 * two after they were read, and a fast reader would return each page before the next one is needed.
 * The pipe or socket has space for everything that is written until then.
 */
static int drain_begin(struct world *world)
{
	if (world->medium == FILE_LOG)
		return 0;
	return drain_start(&world->drain, world->drain.from, world->content);
}

/* Waits until the file has everything that was written. */
static int drain_finish(struct world *world)
{
	if (world->medium == FILE_LOG)
		return 0;
	close(world->to);
	MUST(!drain_end(&world->drain));
	return close(world->drain.from);
}

/* A running stream, and a thread with allocations that can fail. */
static int world_start(struct world *world)
{
	int line = world_open(world);

	if (line)
		return line;
	MUST(!withlog_new(0, world->kind, world->to, &world->trid));
	world->thread = find_thread();
	world->worker = log_worker();
	MUST(!fault_open_thread(&world->fault, world->worker));
	MUST(!posix_trace_start(world->trid));
	withlog_record(0, EVENTS);
	return 0;
}

static int world_end(struct world *world, struct log_content *content)
{
	await_end_of(world->worker);
	await_end_of(world->thread);
	MUST(!drain_finish(world));
	log_content_fd(world->content, content);
	close(world->content);
	return 0;
}

/* ------------------------------------------------------------------ */
/* Tries: each returns 0 or a line number				*/

/* Requests @what while the @n-th allocation of the thread fails; then reads the log. */
static int failing(struct world *world, int n, int (*what)(trace_id_t trid),
		   struct outcome *outcome)
{
	fault_arm(&world->fault, n);
	outcome->err = what(world->trid);
	outcome->failed = fault_disarm(&world->fault);
	close(world->fault.fd);
	return drain_begin(world);
}

/* Ends the stream; its log has this many events. Returns 0 or a line number. */
static int end_with(struct world *world, int events)
{
	struct log_content content;
	int line;

	MUST(!posix_trace_shutdown(world->trid));
	line = world_end(world, &content);
	if (line)
		return line;
	MUST(log_content_is(&content, events));
	return 0;
}

static int try_flush(struct world *world, int n, struct outcome *outcome)
{
	int line = world_start(world);

	if (line)
		return line;
	MUST(!failing(world, n, withlog_flush, outcome));
	if (outcome->err)
		MUST(!withlog_flush(world->trid));
	withlog_record(EVENTS, EVENTS);
	MUST(!withlog_flush(world->trid));
	return end_with(world, 2 * EVENTS);
}

/* Lets all allocations fail until the flush has failed. */
static int fail_flush(struct world *world)
{
	int line = world_start(world);

	if (line)
		return line;
	close(world->fault.fd);
	MUST(!withlog_flush(world->trid));
	withlog_record(EVENTS, 4 * EVENTS);
	MUST(!thread_fails(world->worker, true));
	MUST(is_memory(withlog_flush(world->trid)));
	withlog_record(5 * EVENTS, EVENTS);
	MUST(is_memory(withlog_flush(world->trid)));
	MUST(!thread_fails(world->worker, false));
	MUST(!drain_begin(world));
	MUST(!withlog_flush(world->trid));
	withlog_record(6 * EVENTS, EVENTS);
	return end_with(world, 7 * EVENTS);
}

static void *flusher(void *arg)
{
	struct world *world = arg;

	return (void *)(long)withlog_flush(world->trid);
}

static bool flushes(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return !posix_trace_get_status(trid, &status) &&
	       status.posix_stream_flush_status == POSIX_TRACE_FLUSHING;
}

/* TCP does not fail without memory, but waits. So the flush waits as well. */
static int wait_in_flush(struct world *world)
{
	int line = world_start(world);
	pthread_t thread;
	void *ret;

	if (line)
		return line;
	close(world->fault.fd);
	MUST(!withlog_flush(world->trid));
	withlog_record(EVENTS, 4 * EVENTS);
	MUST(!thread_fails(world->worker, true));
	MUST(!pthread_create(&thread, NULL, flusher, world));
	while (!flushes(world->trid))
		sched_yield();
	withlog_record(5 * EVENTS, EVENTS);
	MUST(!thread_fails(world->worker, false));
	MUST(!drain_begin(world));
	MUST(!pthread_join(thread, &ret) && !ret);
	withlog_record(6 * EVENTS, EVENTS);
	return end_with(world, 7 * EVENTS);
}

/* Clears. If the clear fails, repeats it. */
static int try_clear(struct world *world, int n, struct outcome *outcome)
{
	int line = world_start(world);

	if (line)
		return line;
	MUST(!withlog_flush(world->trid));
	MUST(!failing(world, n, posix_trace_clear, outcome));
	if (outcome->err)
		MUST(!posix_trace_clear(world->trid));
	withlog_record(0, EVENTS);
	return end_with(world, EVENTS);
}

/*
 * Clears. If the clear fails, does not repeat it, so the stream stays stopped. The file must
 * contain a valid log, either with all old events or without events.
 */
static int try_clear_and_end(struct world *world, int n, struct outcome *outcome)
{
	struct log_content content;
	int line = world_start(world);

	if (line)
		return line;
	MUST(!posix_trace_stop(world->trid));
	MUST(!withlog_flush(world->trid));
	MUST(!failing(world, n, posix_trace_clear, outcome));
	MUST(!posix_trace_shutdown(world->trid));
	line = world_end(world, &content);
	if (line)
		return line;
	MUST(log_content_is(&content, 0) || (outcome->err && log_content_is(&content, EVENTS)));
	MUST(content.status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN);
	return 0;
}

/*
 * Shuts the stream down, which cannot be repeated. Whether an allocation failed is unknown, because
 * the thread has ended.
 */
static int try_shutdown(struct world *world, int n, struct outcome *outcome)
{
	struct log_content content;
	int line = world_start(world);

	if (line)
		return line;
	MUST(!withlog_flush(world->trid));
	withlog_record(EVENTS, EVENTS);
	fault_arm(&world->fault, n);
	outcome->err = posix_trace_shutdown(world->trid);
	outcome->failed = outcome->err;
	close(world->fault.fd);
	MUST(!drain_begin(world));
	line = world_end(world, &content);
	if (line)
		return line;
	if (!outcome->err) {
		MUST(log_content_is(&content, 2 * EVENTS));
		return 0;
	}
	MUST(!content.err && content.numbers >= EVENTS && content.first == 0);
	MUST(!content.holes && !content.disorder && !content.errors);
	MUST(content.numbers == 2 * EVENTS ||
	     content.status.posix_log_overrun_status == POSIX_TRACE_OVERRUN);
	return 0;
}

static void *creator(void *arg)
{
	struct world *world = arg;

	return (void *)(long)withlog_new(0, world->kind, world->to, &world->trid);
}

/*
 * Fills a socket, so that the thread waits for space. Sent data takes up space until it is
 * acknowledged, so the socket remains full only if all sent data has been acknowledged.
 */
static int fill(int fd)
{
	static const char junk[4096];
	int unacked, unsent;
	ssize_t n;

	do {
		do {
			n = send(fd, junk, sizeof(junk), MSG_DONTWAIT);
		} while (n > 0);
		if (n == 0 || errno != EAGAIN || ioctl(fd, SIOCOUTQ, &unacked) ||
		    ioctl(fd, SIOCOUTQNSD, &unsent))
			return -1;
		sched_yield();
	} while (unacked != unsent);
	return 0;
}

static int try_create(struct world *world, int n, struct outcome *outcome)
{
	int line = world_open(world);
	pthread_t thread;
	void *ret;

	if (line)
		return line;
	MUST(!fill(world->to));
	MUST(!pthread_create(&thread, NULL, creator, world));
	do {
		world->thread = find_thread();
	} while (fault_open_thread(&world->fault, world->thread));
	fault_arm(&world->fault, n);
	MUST(!drain_begin(world));
	MUST(!pthread_join(thread, &ret));
	outcome->err = (long)ret;
	/* After an error, the thread has ended, so its counter cannot be read. */
	outcome->failed = outcome->err || fault_disarm(&world->fault);
	close(world->fault.fd);
	if (outcome->err) {
		await_end_of(world->thread);
		MUST(!withlog_new(0, world->kind, world->to, &world->trid));
		world->thread = find_thread();
	}
	MUST(!posix_trace_start(world->trid));
	withlog_record(0, EVENTS);
	world->worker = log_worker();
	MUST(!posix_trace_shutdown(world->trid));
	await_end_of(world->worker);
	await_end_of(world->thread);
	MUST(!drain_finish(world));
	return close(world->content);
}

FIXTURE(thread)
{
	bool skip;
	struct world world;
};

FIXTURE_VARIANT(thread)
{
	struct log_kind kind;
	enum medium medium;
};

FIXTURE_VARIANT_ADD(thread, append) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 }, FILE_LOG
};

FIXTURE_VARIANT_ADD(thread, until_full) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 1 << 20 }, FILE_LOG
};

FIXTURE_VARIANT_ADD(thread, loop) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1 << 20 }, FILE_LOG
};

FIXTURE_VARIANT_ADD(thread, pipe) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 }, PIPE_LOG
};

FIXTURE_VARIANT_ADD(thread, socket) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 }, SOCKET_LOG
};

FIXTURE_SETUP(thread)
{
	self->skip = !fault_possible();
	if (self->skip)
		return;
	ASSERT_EQ(0, fault_setup());
	await_end_of(find_thread());
	self->world = (struct world){ .kind = &variant->kind, .medium = variant->medium };
}

FIXTURE_TEARDOWN(thread)
{
}

/* Returns the number of tries with a known failure, or a negative number if a try was wrong. */
static int fail_each(struct __test_metadata *_metadata, struct world *world,
		     int (*try)(struct world *world, int n, struct outcome *outcome))
{
	int n, line, failures = 0, quiet = 0;
	struct outcome outcome;

	for (n = 1; n < FAULT_MAX && quiet < QUIET_TRIES; n = fault_after(n)) {
		outcome = (struct outcome){ 0 };
		line = try(world, n, &outcome);
		if (line || (outcome.err && !(outcome.failed && is_memory(outcome.err)))) {
			TH_LOG("failure %d: error %d, line %d", n, outcome.err, line);
			return -1;
		}
		quiet = outcome.failed ? 0 : quiet + 1;
		failures += outcome.failed;
	}
	return n < FAULT_MAX ? failures : -1;
}

/* Failures that fail_each() must see: the few places that fail may be among those it skips. */
static int least_failures(void)
{
	return pxt_stride() == 1;
}

TEST_F(thread, repeated_flush_loses_nothing)
{
	if (self->skip)
		SKIP(return, FAULT_SKIP);
	EXPECT_LE(least_failures(), fail_each(_metadata, &self->world, try_flush));
}

TEST_F(thread, no_memory_at_all_loses_nothing)
{
	if (self->skip)
		SKIP(return, FAULT_SKIP);
	EXPECT_EQ(0, variant->medium == SOCKET_LOG ? wait_in_flush(&self->world)
						   : fail_flush(&self->world));
}

TEST_F(thread, repeated_clear_succeeds)
{
	if (self->skip)
		SKIP(return, FAULT_SKIP);
	/*
	 * A clear may need no memory: a file keeps its first page, and a pipe has space after the
	 * written data.
	 */
	EXPECT_LE(0, fail_each(_metadata, &self->world, try_clear));
}

TEST_F(thread, failed_clear_leaves_a_log)
{
	if (self->skip)
		SKIP(return, FAULT_SKIP);
	EXPECT_LE(0, fail_each(_metadata, &self->world, try_clear_and_end));
}

TEST_F(thread, failed_end_reports_what_is_missing)
{
	if (self->skip)
		SKIP(return, FAULT_SKIP);
	EXPECT_LE(0, fail_each(_metadata, &self->world, try_shutdown));
}

TEST(thread_that_cannot_begin_creates_no_stream)
{
	static const struct log_kind append = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
	struct world world = { .kind = &append, .medium = SOCKET_LOG };

	if (!fault_possible())
		SKIP(return, FAULT_SKIP);
	ASSERT_EQ(0, fault_setup());
	await_end_of(find_thread());
	EXPECT_LE(least_failures(), fail_each(_metadata, &world, try_create));
}

TEST_HARNESS_MAIN
