// SPDX-License-Identifier: GPL-2.0
/*
 * Interruptions of the task that writes a log: the next task continues the flush that was
 * interrupted, the kernel thread ends after any number of signals, and CLEAR waits for no lease.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "logworker.h"
#include "stuck.h"

#define SECONDS		(20 * pxt_patience())
#define PAGE		4096

static void do_nothing(int sig)
{
	(void)sig;
}

/* Creates a stream on the calling process, with much memory and its log in @fd, and starts it. */
static int create_large(struct stream *stream, int fd)
{
	int ret;

	stream->fd = device_open();
	create_init(&stream->arg, 0);
	stream->arg.log_fd = fd;
	stream->arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	stream->arg.attr.stream_size = 4 << 20;
	ret = command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
	return ret ? ret : stream_start(stream);
}

static int flush(struct stream *stream)
{
	struct posixtrace_origin origin = { .prog_address = 1 };

	return command(stream->fd, POSIXTRACE_IOC_FLUSH, &origin);
}

/* Records on one CPU. Returns 0 or negative errno. */
static int record_on(unsigned int cpu, int bytes)
{
	static const char data[200];
	struct target target;
	int ret;

	if (run_on(cpu) < 0)
		return -errno;
	ret = target_open(&target);
	for (; bytes > 0 && !ret; bytes -= sizeof(data))
		ret = target_event(&target, POSIXTRACE_ID_UNNAMED, data, sizeof(data));
	target_close(&target);
	return ret;
}

FIXTURE(pipe)
{
	struct stream stream;
	struct worker worker;
	int ends[2];
};

FIXTURE_SETUP(pipe)
{
	const struct sigaction action = { .sa_handler = do_nothing };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pipe2(self->ends, O_CLOEXEC));
	ASSERT_EQ(PAGE, fcntl(self->ends[1], F_SETPIPE_SZ, PAGE));
	ASSERT_EQ(0, create_large(&self->stream, self->ends[1]));
	ASSERT_TRUE(worker_start(&self->worker, self->stream.fd));
}

FIXTURE_TEARDOWN(pipe)
{
	close(self->stream.fd);
	close(self->ends[0]);
	close(self->ends[1]);
}

static bool has_data(int pipe)
{
	struct pollfd ready = { .fd = pipe, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}

/* Waits until the worker waits for room in the pipe. */
static void wait_stuck(const struct worker *worker, int pipe)
{
	while (stuck_has_room(pipe) || !is_asleep(worker->tid))
		sched_yield();
}

static void interrupt(const struct worker *worker)
{
	syscall(SYS_tgkill, getpid(), worker->tid, SIGUSR1);
}

/* ------------------------------------------------------------------ */
/* The order of a log							*/

#define INTERRUPTIONS	8
/* More than one sub-buffer. */
#define FILLS		(64 << 10)

/*
 * @opened: the latest time at which a sub-buffer was opened: of this epoch, of the previous one,
 * and of all earlier ones.
 */
struct youngest {
	uint64_t epoch;
	uint64_t opened[3];
};

static void next_epoch(struct youngest *youngest, uint64_t epoch)
{
	while (youngest->epoch < epoch) {
		if (youngest->opened[2] < youngest->opened[1])
			youngest->opened[2] = youngest->opened[1];
		youngest->opened[1] = youngest->opened[0];
		youngest->opened[0] = 0;
		youngest->epoch++;
	}
}

/*
 * Readers rely on this order: a sub-buffer of epoch N was opened after all those of epochs up to
 * N - 2.
 */
static bool epochs_are_in_order(int fd)
{
	const struct posixtrace_log_block *block;
	struct youngest youngest = { 0 };
	struct logfile log;
	uint64_t seq = 1;
	bool right = true;
	size_t pos;

	if (logfile_read(&log, fd))
		return false;
	pos = log.header.data_offset;
	while ((block = logfile_block(&log, pos, seq++))) {
		pos = logfile_next(block, pos);
		if (block->type != POSIXTRACE_LOG_EVENTS || block->cpu >= log.header.nr_cpus)
			continue;
		next_epoch(&youngest, block->epoch);
		right &= block->epoch == youngest.epoch && block->opened > youngest.opened[2];
		if (block->opened > youngest.opened[0])
			youngest.opened[0] = block->opened;
	}
	logfile_free(&log);
	return right;
}

static bool is_flushing(struct stream *stream)
{
	struct posixtrace_status status;

	return !stream_status(stream, &status) && status.flags & POSIXTRACE_STATUS_FLUSHING;
}

/* Copies @pages pages, or fewer if the flush ends earlier. Returns 0, or -1 with errno. */
static int drain(struct stream *stream, int from, int to, int pages)
{
	char page[PAGE];
	ssize_t n;

	while (pages && (has_data(from) || is_flushing(stream))) {
		if (!has_data(from)) {
			sched_yield();
			continue;
		}
		n = read(from, page, sizeof(page));
		if (n < 0 || write(to, page, n) != n)
			return -1;
		pages--;
	}
	return 0;
}

/*
 * The worker is interrupted again and again, while one CPU fills sub-buffers, and a sub-buffer that
 * was opened long ago is still open on another CPU.
 */
TEST_F(pipe, interrupted_flush_begins_one_epoch)
{
	int log = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct copy copy = { .from = self->ends[0], .to = log };

	ASSERT_LE(0, log);
	ASSERT_EQ(0, record_on(0, FILLS));
	ASSERT_EQ(0, flush(&self->stream));
	wait_stuck(&self->worker, self->ends[1]);
	ASSERT_EQ(0, record_on(1, 1));
	for (int i = 0; i < INTERRUPTIONS; i++) {
		ASSERT_EQ(0, record_on(0, FILLS));
		interrupt(&self->worker);
		ASSERT_EQ(-EINTR, worker_join(&self->worker));
		ASSERT_TRUE(worker_start(&self->worker, self->stream.fd));
		ASSERT_EQ(0, drain(&self->stream, self->ends[0], log, FILLS / PAGE + 2));
	}
	ASSERT_EQ(0, pthread_create(&copy.thread, NULL, copy_all, &copy));
	close(self->ends[1]);
	self->ends[1] = -1;
	ASSERT_EQ(0, flush(&self->stream));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, worker_join(&self->worker));
	ASSERT_EQ(0, pthread_join(copy.thread, NULL));
	EXPECT_LT(0, count_events(log, POSIXTRACE_LOG_END_FINAL));
	EXPECT_TRUE(epochs_are_in_order(log));
	close(log);
}

/* ------------------------------------------------------------------ */
/* Signals to the kernel thread						*/

/* The second signal arrives while the worker writes and the kernel thread waits for its turn. */
TEST_F(pipe, kernel_thread_ends_after_two_signals)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), tid = log_thread_find();
	struct copy copy = { .from = self->ends[0], .to = null };
	bool ended;

	ASSERT_LT(0, tid);
	ASSERT_EQ(0, record_on(0, 4 * FILLS));
	ASSERT_EQ(0, flush(&self->stream));
	wait_stuck(&self->worker, self->ends[1]);
	ASSERT_EQ(0, kill(tid, SIGTERM));
	while (thread_state(tid) != 'I')
		sched_yield();
	ASSERT_EQ(0, kill(tid, SIGKILL));
	interrupt(&self->worker);
	EXPECT_EQ(-EINTR, worker_join(&self->worker));
	ASSERT_EQ(0, pthread_create(&copy.thread, NULL, copy_all, &copy));
	close(self->ends[1]);
	self->ends[1] = -1;
	ended = becomes_true(no_log_thread, NULL, SECONDS);
	EXPECT_TRUE(ended);
	/* Otherwise the thread would never end, and would disturb the other tests. */
	if (!ended && worker_start(&self->worker, self->stream.fd))
		worker_join(&self->worker);
	ASSERT_EQ(0, pthread_join(copy.thread, NULL));
	close(null);
}

/* ------------------------------------------------------------------ */
/* Leases								*/

/* Shorter than /proc/sys/fs/lease-break-time. */
#define LEASE_SECONDS	30

FIXTURE(file)
{
	struct stream stream;
	int fd;
};

FIXTURE_SETUP(file)
{
	self->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, create_large(&self->stream, self->fd));
}

FIXTURE_TEARDOWN(file)
{
	close(self->stream.fd);
	close(self->fd);
}

/* The kernel thread would wait for the owner of the lease, and could not be frozen until then. */
TEST_F_TIMEOUT(file, clear_does_not_wait_for_a_lease, 120)
{
	unsigned long long before = now();

	ASSERT_NE(SIG_ERR, signal(SIGIO, SIG_IGN));
	ASSERT_EQ(0, fcntl(self->fd, F_SETLEASE, F_WRLCK));
	ASSERT_EQ(0, record_on(0, FILLS));
	EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
	EXPECT_GT(LEASE_SECONDS * NSEC, now() - before);
	EXPECT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, count_events(self->fd, POSIXTRACE_LOG_END_FINAL));
}

TEST_HARNESS_MAIN
