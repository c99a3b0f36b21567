// SPDX-License-Identifier: GPL-2.0
/*
 * ROTATE when the task that writes the log is interrupted: another task continues at any point of
 * the old log. lib/rotate_test tests posixtrace_rotate().
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "credentials.h"
#include "disk.h"
#include "logworker.h"
#include "stuck.h"

#define PAGE		4096
#define ENDED		POSIXTRACE_LOG_END_FINAL
#define CONTINUED	(POSIXTRACE_LOG_END_FINAL | POSIXTRACE_LOG_END_CONTINUED)

static void do_nothing(int sig)
{
	(void)sig;
}

static int new_file(void)
{
	return open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int rotate(int stream_fd, int log_fd)
{
	struct posixtrace_rotate arg = { .log_fd = log_fd };
	int ret = command(stream_fd, POSIXTRACE_IOC_ROTATE, &arg);

	return ret ? ret : -(int)arg.error;
}

/* Returns 0 or negative errno. */
static int record(int events, size_t size)
{
	static const char data[256];
	struct target target;
	int ret = target_open(&target);

	for (int i = 0; i < events && !ret; i++)
		ret = target_event(&target, POSIXTRACE_ID_UNNAMED, data, size);
	target_close(&target);
	return ret;
}

/* Is the second log the next part after the first one? */
static bool continues(int first, int second)
{
	struct logfile before, after;
	bool ret = !logfile_read(&before, first);

	ret = !logfile_read(&after, second) && ret;
	if (ret)
		ret = after.header.previous == before.header.cookie &&
		      after.header.part == (before.header.part ? before.header.part : 1) + 1 &&
		      after.header.series == (before.header.series ? before.header.series :
							       before.header.cookie);
	logfile_free(&before);
	logfile_free(&after);
	return ret;
}

/* ------------------------------------------------------------------ */
/* Each write is interrupted						*/

#define EVENTS		40
#define SIZE_MIN	100
/*
 * The end of the log moves by EVENTS * SIZE_STEP bytes from round to round, and by a page in total.
 */
#define SIZES		34
#define SIZE_STEP	3

/* A worker that calls WRITE_LOG again after each signal. */
struct stubborn {
	int fd;
	int tid;
	int interrupts;
	int ended;
};

static void *serve_again(void *arg)
{
	struct stubborn *worker = arg;

	__atomic_store_n(&worker->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (command(worker->fd, POSIXTRACE_IOC_WRITE_LOG, NULL) == -EINTR)
		__atomic_fetch_add(&worker->interrupts, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&worker->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

struct control {
	struct stubborn *worker;	/* in shared memory */
	int old;
	int new;
	size_t size;
};

/* Returns after the rotation, whose old log is a pipe that the parent empties. */
static int rotate_pipe(void *arg, const struct talk *talk)
{
	struct stream stream = { .fd = device_open() };
	const struct control *control = arg;
	pthread_t thread;
	int ret = stuck_create(&stream, control->old);

	close(control->old);
	control->worker->fd = stream.fd;
	if (!ret)
		ret = -pthread_create(&thread, NULL, serve_again, control->worker);
	if (!ret && falls_asleep(&control->worker->tid, NULL))
		ret = stream_start(&stream);
	if (!ret)
		ret = record(EVENTS, control->size);
	say(talk, ret);
	if (!ret)
		ret = rotate(stream.fd, control->new);
	if (!ret)
		ret = record(EVENTS, control->size);
	if (!ret)
		ret = command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
	if (!ret)
		ret = -pthread_join(thread, NULL);
	return -ret;
}

/* Waits until the writer of a pipe sleeps although there is data. Returns false if it is gone. */
static bool is_full(int from, int tid)
{
	struct pollfd end = { .fd = from };
	int bytes;

	while (!poll(&end, 1, 0)) {
		if (!ioctl(from, FIONREAD, &bytes) && bytes && is_asleep(tid))
			return true;
		sched_yield();
	}
	return false;
}

/*
 * Empties a pipe, and sends a signal to its writer each time it is full. Returns the number of
 * signals, or -1.
 */
static int copy_interrupted(int from, int to, const struct child *child,
			    const struct stubborn *worker)
{
	char page[PAGE];
	int before, signals = 0;
	ssize_t n;

	do {
		if (is_full(from, LOAD(worker->tid))) {
			before = LOAD(worker->interrupts);
			syscall(SYS_tgkill, child->pid, worker->tid, SIGUSR1);
			/* After the rotation, the log may end before the signal arrives. */
			while (LOAD(worker->interrupts) == before && !LOAD(worker->ended))
				sched_yield();
			signals++;
		}
		n = read(from, page, sizeof(page));
	} while (n > 0 && write(to, page, n) == n);
	return n ? -1 : signals;
}

FIXTURE(pipe)
{
	struct stubborn *worker;
};

FIXTURE_SETUP(pipe)
{
	const struct sigaction action = { .sa_handler = do_nothing };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	self->worker = mmap(NULL, sizeof(*self->worker), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->worker);
}

FIXTURE_TEARDOWN(pipe)
{
}

TEST_F_TIMEOUT(pipe, both_logs_are_whole_wherever_the_writer_is_interrupted, 120)
{
	struct control control = { .worker = self->worker };
	int old[2], new[2], first, second, signals = 0, ret;
	struct child child;

	for (int i = 0; i < SIZES; i++) {
		memset(self->worker, 0, sizeof(*self->worker));
		ASSERT_EQ(0, pipe2(old, O_CLOEXEC));
		ASSERT_EQ(0, pipe2(new, O_CLOEXEC));
		ASSERT_EQ(PAGE, fcntl(old[1], F_SETPIPE_SZ, PAGE));
		first = new_file();
		second = new_file();
		control.old = old[1];
		control.new = new[1];
		control.size = SIZE_MIN + i * SIZE_STEP;
		ASSERT_EQ(0, child_start(&child, rotate_pipe, &control));
		close(old[1]);
		close(new[1]);
		ASSERT_EQ(0, hear(&child.talk));
		ret = copy_interrupted(old[0], first, &child, self->worker);
		ASSERT_LE(0, ret);
		signals += ret;
		copy_all(&(struct copy){ .from = new[0], .to = second });
		EXPECT_EQ(0, child_wait(&child));
		EXPECT_EQ(EVENTS, count_events(first, CONTINUED)) TH_LOG("size %zu", control.size);
		EXPECT_EQ(EVENTS, count_events(second, ENDED)) TH_LOG("size %zu", control.size);
		EXPECT_TRUE(continues(first, second));
		close(old[0]);
		close(new[0]);
		close(first);
		close(second);
	}
	EXPECT_LE(SIZES, signals);
}

/* ------------------------------------------------------------------ */
/* With other commands							*/

#define LOGS		200

/* What the threads of the storm share. */
static struct storm {
	struct stream stream;
	struct stubborn worker;
	bool over;
	int failed;
} storm;

static void *send_signals(void *unused)
{
	(void)unused;
	while (!LOAD(storm.over)) {
		syscall(SYS_tgkill, getpid(), LOAD(storm.worker.tid), SIGUSR1);
		sched_yield();
	}
	return NULL;
}

static void *record_always(void *unused)
{
	(void)unused;
	while (!LOAD(storm.over)) {
		if (record(100, SIZE_MIN))
			__atomic_store_n(&storm.failed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *clear_always(void *unused)
{
	(void)unused;
	while (!LOAD(storm.over)) {
		if (command(storm.stream.fd, POSIXTRACE_IOC_CLEAR, NULL))
			__atomic_store_n(&storm.failed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(logs_stay_a_series_between_signals_and_clears)
{
	static void *(*const threads[])(void *unused) = {
		send_signals, record_always, clear_always,
	};
	const struct sigaction action = { .sa_handler = do_nothing };
	pthread_t thread[ARRAY_SIZE(threads)], worker;
	int fd[LOGS + 2];

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	fd[0] = new_file();
	storm.stream.fd = device_open();
	ASSERT_EQ(0, stuck_create(&storm.stream, fd[0]));
	ASSERT_EQ(0, stream_start(&storm.stream));
	storm.worker.fd = storm.stream.fd;
	ASSERT_EQ(0, pthread_create(&worker, NULL, serve_again, &storm.worker));
	ASSERT_EQ(true, falls_asleep(&storm.worker.tid, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, threads[i], NULL));
	for (int i = 1; i <= LOGS; i++) {
		fd[i] = new_file();
		ASSERT_EQ(0, rotate(storm.stream.fd, fd[i]));
	}
	__atomic_store_n(&storm.over, true, __ATOMIC_RELEASE);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	EXPECT_EQ(0, storm.failed);
	/* Now that the other threads have ended, the numbers of events are known. */
	ASSERT_EQ(0, command(storm.stream.fd, POSIXTRACE_IOC_CLEAR, NULL));
	ASSERT_EQ(0, record(EVENTS, SIZE_MIN));
	fd[LOGS + 1] = new_file();
	ASSERT_EQ(0, rotate(storm.stream.fd, fd[LOGS + 1]));
	ASSERT_EQ(0, record(EVENTS, SIZE_MIN));
	ASSERT_EQ(0, command(storm.stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	ASSERT_EQ(0, pthread_join(worker, NULL));
	EXPECT_LT(0, storm.worker.interrupts);
	EXPECT_EQ(EVENTS, count_events(fd[LOGS], CONTINUED));
	EXPECT_EQ(EVENTS, count_events(fd[LOGS + 1], ENDED));
	for (int i = 0; i <= LOGS; i++) {
		EXPECT_LE(0, count_events(fd[i], CONTINUED)) TH_LOG("log %d", i);
		EXPECT_TRUE(continues(fd[i], fd[i + 1])) TH_LOG("log %d", i);
		close(fd[i]);
	}
	close(fd[LOGS + 1]);
	close(storm.stream.fd);
}

/* ------------------------------------------------------------------ */
/* A CLEAR while the old log is flushed					*/

/* Events for which the last flush makes several writes. */
#define FLUSHED		1000

/* A thread in a command that waits for the log. */
struct waiting {
	int fd;
	int next;
	int tid;
	int ret;
	pthread_t thread;
};

static void *wait_in_rotate(void *arg)
{
	struct waiting *waiting = arg;

	waiting->ret = rotate(waiting->fd, waiting->next);
	return NULL;
}

static void *wait_in_clear(void *arg)
{
	struct waiting *waiting = arg;

	__atomic_store_n(&waiting->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	waiting->ret = command(waiting->fd, POSIXTRACE_IOC_CLEAR, NULL);
	return NULL;
}

/* Starts a stream with a large log on a disk. Returns when the log has everything due at START. */
static int create_on_disk(struct stream *stream, int fd)
{
	int ret;

	create_init(&stream->arg, 0);
	stream->arg.log_fd = fd;
	stream->arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	stream->arg.attr.stream_size = 2 << 20;
	ret = command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
	if (!ret)
		ret = stream_start(stream);
	/* The second CLEAR begins after everything that was due with the first one is written. */
	for (int i = 0; i < 2 && !ret; i++)
		ret = command(stream->fd, POSIXTRACE_IOC_CLEAR, NULL);
	return ret;
}

/*
 * The kernel thread begins the rotation and waits for the frozen disk of the old log. The worker
 * continues, clears the old log, and meets the frozen disk of the next one: it leaves the new
 * header, which names the cleared log, to the kernel thread.
 */
TEST(next_log_continues_an_old_one_that_was_cleared_meanwhile)
{
	struct stream stream = { .fd = device_open() };
	struct waiting rotation = { .fd = stream.fd }, clear = { .fd = stream.fd };
	struct worker worker;
	struct disk old, new;

	ASSERT_EQ(0, disk_begin(&old, "ext4"));
	ASSERT_EQ(0, disk_begin(&new, "ext4"));
	ASSERT_EQ(0, create_on_disk(&stream, old.fd));
	ASSERT_EQ(0, record(FLUSHED, 256));
	ASSERT_EQ(0, disk_freeze(old.fd));
	rotation.next = new.fd;
	ASSERT_EQ(0, pthread_create(&rotation.thread, NULL, wait_in_rotate, &rotation));
	while (!lseek(new.fd, 0, SEEK_END))
		sched_yield();
	ASSERT_EQ(0, disk_freeze(new.fd));
	ASSERT_EQ(0, pthread_create(&clear.thread, NULL, wait_in_clear, &clear));
	while (syscall_of(LOAD(clear.tid)) != SYS_ioctl)
		sched_yield();
	/* If the kernel thread does not wait for the disk yet, WRITE_LOG returns immediately. */
	while (!worker_start(&worker, stream.fd))
		ASSERT_EQ(-EINTR, worker_join(&worker));
	EXPECT_EQ(0, disk_thaw(old.fd));
	EXPECT_EQ(-EINTR, worker_join(&worker));
	EXPECT_EQ(0, disk_thaw(new.fd));
	ASSERT_EQ(0, pthread_join(clear.thread, NULL));
	ASSERT_EQ(0, pthread_join(rotation.thread, NULL));
	EXPECT_EQ(0, clear.ret);
	EXPECT_EQ(0, rotation.ret);
	EXPECT_EQ(0, record(EVENTS, SIZE_MIN));
	EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, count_events(old.fd, CONTINUED));
	EXPECT_EQ(EVENTS, count_events(new.fd, ENDED));
	EXPECT_TRUE(continues(old.fd, new.fd));
	close(stream.fd);
	disk_end(&new);
	disk_end(&old);
}

/* ------------------------------------------------------------------ */
/* What the logs contain						*/

#define THREADS		100
/* Events for which the log thread makes several writes of sub-buffers. */
#define BATCHES		150

static void *do_nothing_else(void *unused)
{
	return unused;
}

/* The number of names of threads in a log, or -1. */
static long count_names(int fd)
{
	const struct posixtrace_log_block *block;
	unsigned long long seq = 1;
	struct logfile log;
	long names = 0;
	size_t pos;

	if (logfile_read(&log, fd))
		return -1;
	pos = log.header.data_offset;
	while ((block = logfile_block(&log, pos, seq++))) {
		if (block->type == POSIXTRACE_LOG_TASKS)
			names += block->count;
		pos = logfile_next(block, pos);
	}
	logfile_free(&log);
	return names;
}

/* Both logs need the names of the threads, because each may have the last event of a thread. */
TEST(each_log_has_the_threads_that_have_ended_once)
{
	struct stream stream = { .fd = device_open() };
	int old = new_file(), new = new_file();
	pthread_t thread;

	ASSERT_EQ(0, stuck_create(&stream, old));
	ASSERT_EQ(0, stream_start(&stream));
	for (int i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, do_nothing_else, NULL));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	ASSERT_EQ(0, record(BATCHES, 256));
	ASSERT_EQ(0, rotate(stream.fd, new));
	ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(BATCHES, count_events(old, CONTINUED));
	/* Each log also has the name of the main thread. */
	EXPECT_EQ(THREADS + 1, count_names(old));
	EXPECT_EQ(THREADS + 1, count_names(new));
	close(old);
	close(new);
	close(stream.fd);
}

#define LIMIT		65536

TEST(next_log_keeps_to_the_limit_of_its_rotation)
{
	const struct rlimit limit = { .rlim_cur = LIMIT, .rlim_max = LIMIT };
	struct stream stream = { .fd = device_open() };
	int old = new_file(), new = new_file();

	create_init(&stream.arg, 0);
	stream.arg.log_fd = old;
	stream.arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	stream.arg.attr.stream_size = 4 * LIMIT;
	ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_CREATE, &stream.arg));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &limit));
	ASSERT_EQ(0, rotate(stream.fd, new));
	ASSERT_EQ(0, record(2 * LIMIT / 256, 256));
	EXPECT_EQ(-EFBIG, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_LT(LIMIT / 2, lseek(new, 0, SEEK_END));
	EXPECT_GE(LIMIT, lseek(new, 0, SEEK_END));
	close(old);
	close(new);
	close(stream.fd);
}

/* ------------------------------------------------------------------ */
/* A next log that accepts no data					*/

/* @arg: the old log, and the next one, which is full. Does not return. */
static int rotate_to_a_full_pipe(void *arg, const struct talk *talk)
{
	struct stream stream = { .fd = device_open() };
	const int *fds = arg;
	int ret = stuck_create(&stream, fds[0]);

	if (!ret)
		ret = stream_start(&stream);
	if (!ret)
		ret = record(EVENTS, SIZE_MIN);
	close(fds[0]);
	say(talk, ret);
	return ret ? 1 : -rotate(stream.fd, fds[1]);
}

TEST(old_log_is_complete_when_the_controller_dies_before_the_next_one_begins)
{
	int old[2], fds[2], copy = new_file(), tid;
	struct child child;

	ASSERT_EQ(0, pipe2(old, O_CLOEXEC));
	fds[0] = old[1];
	fds[1] = stuck_blocking_fifo();
	ASSERT_LE(0, fds[1]);
	stuck_fill(fds[1], 0);
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "1"));
	ASSERT_EQ(0, child_start(&child, rotate_to_a_full_pipe, fds));
	close(old[1]);
	ASSERT_EQ(0, hear(&child.talk));
	tid = log_thread_find();
	ASSERT_LT(0, tid);
	while (syscall_of(child.pid) != SYS_ioctl)
		sched_yield();
	/* The request has woken the kernel thread: asleep again, it waits for the next log. */
	while (!is_asleep(tid))
		sched_yield();
	EXPECT_EQ(SIGKILL, child_kill(&child));
	copy_all(&(struct copy){ .from = old[0], .to = copy });
	EXPECT_EQ(0, write_text(LOG_TIMEOUT, "10"));
	EXPECT_EQ(EVENTS, count_events(copy, ENDED));
	close(old[0]);
	close(fds[1]);
	close(copy);
}

/* ------------------------------------------------------------------ */
/* Without processor time						*/

#define USER		1000
#define ROTATIONS	2
/* Events of 256 bytes. Their flush takes longer than the thread may work without a rest. */
#define MANY		600

/* A user without a thread in WRITE_LOG: the kernel thread rotates within the user's budget. */
static int rotate_as_user(void *arg, const struct talk *talk)
{
	struct stream stream = { .fd = device_open() };
	const int *fds = arg;
	int ret = become_user(USER);

	(void)talk;
	if (ret)
		return 1;
	create_init(&stream.arg, 0);
	stream.arg.log_fd = fds[0];
	stream.arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	stream.arg.attr.stream_size = 2 << 20;
	ret = command(stream.fd, POSIXTRACE_IOC_CREATE, &stream.arg);
	if (!ret)
		ret = stream_start(&stream);
	for (int i = 1; i <= ROTATIONS && !ret; i++) {
		ret = record(MANY, 256);
		if (!ret)
			ret = rotate(stream.fd, fds[i]);
	}
	if (!ret)
		ret = command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
	return -ret;
}

TEST(rotation_ends_when_the_budget_of_the_user_is_used_up)
{
	int fds[ROTATIONS + 1];
	struct child child;

	for (int i = 0; i <= ROTATIONS; i++)
		fds[i] = new_file();
	ASSERT_EQ(0, child_start(&child, rotate_as_user, fds));
	EXPECT_EQ(0, child_wait(&child));
	for (int i = 0; i <= ROTATIONS; i++) {
		EXPECT_EQ(i < ROTATIONS ? MANY : 0,
			  count_events(fds[i], i < ROTATIONS ? CONTINUED : ENDED));
		close(fds[i]);
	}
}

TEST_HARNESS_MAIN
