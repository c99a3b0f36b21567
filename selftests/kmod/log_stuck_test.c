// SPDX-License-Identifier: GPL-2.0
/*
 * Logs that accept no data: their log threads end after the controller has ended. Only the
 * controller waits for such a log.
 */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "pxt_test.h"
#include "fuse.h"
#include "logfile.h"
#include "stuck.h"

/* More than a pipe or the queue of a socket can hold. */
#define EVENTS		2000

#define SECONDS		(20 * pxt_patience())

/* The controller, and what it does with its stream. */
struct job {
	int log;		/* descriptor of the log */
	int device;		/* an open file of the device */
	int socket;		/* socket that the file of the stream is sent to, or -1 */
	bool ring;		/* register it in an io_uring */
	bool cycle;		/* send it to a socket that only references itself */
};

static int send_file(int socket, const int *fds, int count)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {};
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

static int receive_file(int socket)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(int));
	return fd;
}

/*
 * Puts the file into an io_uring, so that only the ring has a reference to it. Returns 0 or
 * negative errno.
 */
static int put_into_ring(int fd)
{
	struct io_uring_params params = { 0 };
	int ring = syscall(SYS_io_uring_setup, 1, &params);

	if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1))
		return -errno;
	return 0;
}

/*
 * Sends the file to a queue that no process can reach, so that the kernel's garbage collector frees
 * it later.
 */
static int put_into_cycle(int fd)
{
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	ret = send_file(pair[0], (int[]){ pair[1], fd }, 2);
	close(pair[0]);
	close(pair[1]);
	return ret;
}

/* The controller: creates a stuck log, reports that, and waits for its end. */
static int control(void *arg, const struct talk *talk)
{
	const struct job *job = arg;
	struct stream stream = { .fd = job->device };
	int ret = stuck_create(&stream, job->log);

	/* Close the log now. At exit, closing it would also wait for the server of the file. */
	close(job->log);
	if (!ret)
		ret = stuck_record(&stream, EVENTS);
	if (!ret && job->socket >= 0)
		ret = send_file(job->socket, &stream.fd, 1);
	if (!ret && job->ring)
		ret = put_into_ring(stream.fd);
	if (!ret && job->cycle)
		ret = put_into_cycle(stream.fd);
	say(talk, ret);
	return hear(talk);
}

static int start_controller(struct child *child, struct job *job)
{
	int ret;

	job->device = device_open();
	if (job->device < 0)
		return job->device;
	ret = child_start(child, control, job);
	close(job->device);
	return ret ? ret : (int)hear(&child->talk);
}

/* ------------------------------------------------------------------ */
/* The end of the thread						*/

FIXTURE(stuck)
{
	struct child child;
	struct job job;
	int references;
};

FIXTURE_VARIANT(stuck)
{
	int (*open)(void);
};

FIXTURE_VARIANT_ADD(stuck, pipe_that_is_its_own_reader) { .open = stuck_blocking_fifo };
FIXTURE_VARIANT_ADD(stuck, pipe_that_does_not_block) { .open = stuck_nonblocking_fifo };
FIXTURE_VARIANT_ADD(stuck, socket_with_an_error_queue) { .open = stuck_error_queue };

FIXTURE_SETUP(stuck)
{
	self->references = module_refcount();
	self->job = (struct job){ .log = variant->open(), .socket = -1 };
	ASSERT_LE(0, self->job.log);
}

FIXTURE_TEARDOWN(stuck)
{
	write_text(LOG_TIMEOUT, "1");
	close(self->job.log);
	becomes_true(no_log_thread, NULL, SECONDS);
	write_text(LOG_TIMEOUT, "10");
}

/* The thread ends although the test keeps the log open. */
TEST_F(stuck, thread_ends_after_its_controller)
{
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "1"));
	ASSERT_EQ(0, start_controller(&self->child, &self->job));
	EXPECT_LT(0, log_thread_find());
	EXPECT_EQ(SIGKILL, child_kill(&self->child));
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
	EXPECT_TRUE(becomes_true(module_refcount_is, &self->references, SECONDS));
}

TEST_F(stuck, thread_sleeps_while_the_log_is_stuck)
{
	int tid;

	ASSERT_EQ(0, start_controller(&self->child, &self->job));
	tid = log_thread_find();
	/*
	 * With an error queue, poll() does not wait, so the thread retries many times. Otherwise it
	 * sleeps once.
	 */
	if (variant->open == stuck_error_queue) {
		EXPECT_TRUE(becomes_true(has_slept_often, &tid, SECONDS));
	} else {
		while (!is_asleep(tid))
			sched_yield();
	}
	/* The exit of the controller waits for its log, but only for this many seconds. */
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "1"));
	child_kill(&self->child);
}

TEST_F(stuck, thread_ends_by_a_signal_of_root)
{
	struct posixtrace_status status;
	struct stream stream;

	stream.fd = device_open();
	ASSERT_EQ(0, stuck_create(&stream, self->job.log));
	ASSERT_EQ(0, stuck_record(&stream, EVENTS));
	ASSERT_EQ(0, kill(log_thread_find(), SIGTERM));
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
	EXPECT_EQ(-ESHUTDOWN, stream_status(&stream, &status));
	close(stream.fd);
}

static void end_by_shutdown(int fd)
{
	command(fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
}

static void end_by_close(int fd)
{
	close(fd);
}

static void end_by_exec(int fd)
{
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	execl("/bin/true", "true", NULL);
}

/* Creates a stream, then calls @end, which ends the stream and waits for the log. */
static void run_and_end(int log, void (*end)(int fd))
{
	struct stream stream = { .fd = device_open() };

	if (stuck_create(&stream, log) || stuck_record(&stream, EVENTS))
		_exit(1);
	end(stream.fd);
	_exit(2);
}

/*
 * A process that is killed while it waits for its log may take long to exit. But it must exit, and
 * so must the log thread.
 */
TEST_F(stuck, end_of_a_stream_can_be_killed)
{
	static void (*const end[])(int fd) = { end_by_shutdown, end_by_close, end_by_exec };
	int status;
	pid_t pid;

	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "1"));
	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		pid = fork();
		if (!pid)
			run_and_end(self->job.log, end[i]);
		while (thread_state(pid) != 'D' && thread_state(pid) != 'Z')
			sched_yield();
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(SIGKILL, status)
			TH_LOG("way %zu", i);
		EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
		/* Make room for the next log. */
		close(self->job.log);
		self->job.log = variant->open();
		ASSERT_LE(0, self->job.log);
	}
}

/* ------------------------------------------------------------------ */
/* Waiting								*/

FIXTURE(release)
{
	struct child child;
	struct job job;
	int references;
	int pair[2];
};

FIXTURE_SETUP(release)
{
	self->references = module_refcount();
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->pair));
	self->job = (struct job){ .log = stuck_blocking_fifo(), .socket = -1 };
	ASSERT_LE(0, self->job.log);
	/* The timeout of logs must not end the wait. */
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "3600"));
}

FIXTURE_TEARDOWN(release)
{
	int tid = log_thread_find();

	if (tid)
		kill(tid, SIGKILL);
	close(self->job.log);
	close(self->pair[0]);
	close(self->pair[1]);
	becomes_true(no_log_thread, NULL, SECONDS);
	write_text(LOG_TIMEOUT, "10");
}

/*
 * Is the log thread the only one that holds references? It holds one to the module, and one through
 * the stream's file for mappings. The stream's own file held a third one, but is gone.
 */
static bool only_thread_is_left(int references)
{
	int count = references + 2;

	return log_thread_find() && becomes_true(module_refcount_is, &count, SECONDS);
}

/* Receives the file of a stream, and closes it on request. */
static int server(void *arg, const struct talk *talk)
{
	int fd = receive_file(*(int *)arg);

	say(talk, fd < 0 ? fd : 0);
	hear(talk);
	close(fd);
	say(talk, 0);
	hear(talk);
	return 0;
}

TEST_F(release, last_close_by_another_process_does_not_wait)
{
	struct pollfd answer = { .events = POLLIN };
	struct child holder;

	ASSERT_EQ(0, child_start(&holder, server, &self->pair[1]));
	self->job.socket = self->pair[0];
	ASSERT_EQ(0, start_controller(&self->child, &self->job));
	ASSERT_EQ(0, hear(&holder.talk));
	child_kill(&self->child);
	say(&holder.talk, 0);
	answer.fd = holder.talk.in;
	EXPECT_EQ(1, poll(&answer, 1, SECONDS * 1000));
	EXPECT_TRUE(only_thread_is_left(self->references));
	child_kill(&holder);
}

TEST_F(release, ring_of_io_uring_releases_it)
{
	self->job.ring = true;
	ASSERT_EQ(0, start_controller(&self->child, &self->job));
	child_kill(&self->child);
	EXPECT_TRUE(only_thread_is_left(self->references));
}

TEST_F(release, garbage_of_sockets_is_collected)
{
	int pair[2];

	self->job.cycle = true;
	ASSERT_EQ(0, start_controller(&self->child, &self->job));
	child_kill(&self->child);
	/* Closing a socket triggers the garbage collector. */
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	close(pair[0]);
	close(pair[1]);
	EXPECT_TRUE(only_thread_is_left(self->references));
}

/* Runs CREATE, which waits for space for the header of the log. */
static int create_only(void *arg, const struct talk *talk)
{
	const struct job *job = arg;
	struct stream stream = { .fd = job->device };

	say(talk, 0);
	return stuck_create(&stream, job->log) ? 1 : 0;
}

static void *attach(void *arg)
{
	struct posixtrace_attach attach = { 0 };
	static int ret;

	ret = command(*(int *)arg, POSIXTRACE_IOC_ATTACH, &attach);
	return &ret;
}

TEST_F(release, waiting_create_does_not_block_other_calls)
{
	struct timespec end;
	pthread_t thread;
	int *ret;

	stuck_fill(self->job.log, 0);
	self->job.device = device_open();
	ASSERT_EQ(0, child_start(&self->child, create_only, &self->job));
	ASSERT_EQ(0, hear(&self->child.talk));
	/* Wait until CREATE has started the log thread, and waits for it. */
	while (!log_thread_find() || !is_asleep(self->child.pid))
		sched_yield();
	ASSERT_EQ(0, pthread_create(&thread, NULL, attach, &self->job.device));
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += SECONDS;
	ASSERT_EQ(0, pthread_timedjoin_np(thread, (void **)&ret, &end));
	EXPECT_EQ(-EBUSY, *ret);
	child_kill(&self->child);
	/* No event was recorded, so the end of the stream does not wait for the log. */
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
	EXPECT_EQ(0, *(int *)attach(&self->job.device));
	close(self->job.device);
}

/* ------------------------------------------------------------------ */
/* Files								*/

/* The end of the log has the exact number of events that were lost because of a signal. */
TEST(signal_is_answered_by_an_exact_end)
{
	const struct posixtrace_log_block *block;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), found = 0;
	struct posixtrace_log_end end = { 0 };
	unsigned long long seq = 1, events = 0;
	struct stream stream;
	struct logfile log;
	size_t pos;

	ASSERT_LE(0, fd);
	stream.fd = device_open();
	ASSERT_EQ(0, stuck_create(&stream, fd));
	ASSERT_EQ(0, stuck_record(&stream, EVENTS));
	ASSERT_EQ(0, stuck_record(&stream, 100));
	ASSERT_EQ(0, kill(log_thread_find(), SIGKILL));
	ASSERT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
	ASSERT_EQ(0, logfile_read(&log, fd));
	pos = log.header.data_offset;
	while ((block = logfile_block(&log, pos, seq++))) {
		if (block->type == POSIXTRACE_LOG_EVENTS && block->cpu < log.header.nr_cpus)
			events += block->count;
		if (block->type == POSIXTRACE_LOG_END) {
			memcpy(&end, block + 1, sizeof(end));
			found++;
		}
		pos = logfile_next(block, pos);
	}
	EXPECT_EQ(1, found);
	EXPECT_EQ(POSIXTRACE_LOG_END_FINAL, end.flags);
	EXPECT_EQ(ECANCELED, end.error);
	EXPECT_EQ(EVENTS + 100, events + end.lost);
	logfile_free(&log);
	close(stream.fd);
	close(fd);
}

static void *get_status(void *arg)
{
	struct posixtrace_status status;
	struct stream *stream = arg;
	char path[64], text[512];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", stream->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = read(fd, text, sizeof(text));
	close(fd);
	return stream_status(stream, &status) || len <= 0 ? NULL : arg;
}

/* The server delays each write, including the STOP of a full log. */
TEST(status_is_available_whichever_write_hangs)
{
	struct posixtrace_status status;
	struct stream stream;
	struct fuse_disk fuse;
	struct timespec end;
	pthread_t thread;
	void *ret;
	int fd;

	ASSERT_EQ(0, fuse_begin(&fuse));
	fd = fuse_open(&fuse, O_RDWR);
	ASSERT_LE(0, fd);
	stream.fd = device_open();
	create_init(&stream.arg, 0);
	stream.arg.log_fd = fd;
	stream.arg.attr.log_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	stream.arg.attr.log_size = 8192;
	ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_CREATE, &stream.arg));
	fuse_hang(&fuse);
	ASSERT_EQ(0, stuck_record(&stream, 500));
	do {
		fuse_wait_hanging(&fuse);
		ASSERT_EQ(0, pthread_create(&thread, NULL, get_status, &stream));
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_sec += SECONDS;
		EXPECT_EQ(0, pthread_timedjoin_np(thread, &ret, &end)) {
			fuse_kill(&fuse);
			return;
		}
		EXPECT_EQ(&stream, ret);
		ASSERT_EQ(0, stream_status(&stream, &status));
		fuse_resume(&fuse);
		fuse_hang(&fuse);
		/* Wait for the next write, or for the end of the flush. */
		while (status.flags & POSIXTRACE_STATUS_FLUSHING &&
		       !atomic_load(&fuse.shared->hanging))
			ASSERT_EQ(0, stream_status(&stream, &status));
	} while (status.flags & POSIXTRACE_STATUS_FLUSHING);
	EXPECT_TRUE(status.flags & POSIXTRACE_STATUS_LOG_FULL);
	fuse_resume(&fuse);
	EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	close(stream.fd);
	close(fd);
	fuse_end(&fuse);
}

/* ------------------------------------------------------------------ */
/* Logs that a server writes						*/

FIXTURE(served)
{
	struct fuse_disk fuse;
	struct job job;
	struct child child;
};

FIXTURE_SETUP(served)
{
	ASSERT_EQ(0, fuse_begin(&self->fuse));
	self->job = (struct job){ .log = fuse_open(&self->fuse, O_RDWR), .socket = -1 };
	ASSERT_LE(0, self->job.log);
}

FIXTURE_TEARDOWN(served)
{
	close(self->job.log);
	fuse_end(&self->fuse);
	write_text(LOG_TIMEOUT, "10");
}

/* The server never answers, but exit of the controller takes at most log_timeout. */
TEST_F(served, controller_ends_although_the_server_of_its_log_hangs)
{
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "1"));
	ASSERT_EQ(0, start_controller(&self->child, &self->job));
	fuse_hang(&self->fuse);
	EXPECT_EQ(SIGKILL, child_kill(&self->child));
	fuse_kill(&self->fuse);
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
}

/* Like control(), but records events only after another message from the test. */
static int control_later(void *arg, const struct talk *talk)
{
	struct stream stream = { .fd = device_open() };
	const struct job *job = arg;
	int ret = stuck_create(&stream, job->log);

	close(job->log);
	say(talk, ret);
	hear(talk);
	say(talk, stuck_record(&stream, EVENTS));
	return hear(talk);
}

/* The stopped server does not read the write request, so a signal can interrupt the thread. */
TEST_F(served, thread_ends_although_the_server_of_its_log_is_stopped)
{
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "1"));
	ASSERT_EQ(0, child_start(&self->child, control_later, &self->job));
	ASSERT_EQ(0, hear(&self->child.talk));
	/* Do not stop the server in the middle of a request. */
	while (!is_asleep(log_thread_find()) || !is_asleep(self->fuse.server))
		sched_yield();
	ASSERT_EQ(0, kill(self->fuse.server, SIGSTOP));
	while (thread_state(self->fuse.server) != 'T')
		sched_yield();
	say(&self->child.talk, 0);
	ASSERT_EQ(0, hear(&self->child.talk));
	EXPECT_EQ(SIGKILL, child_kill(&self->child));
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
}

/*
 * A controller that is killed in SHUTDOWN leaves a dead stream. At exit it still waits until the
 * log, which is a file, is complete.
 */
TEST_F(served, controller_that_is_killed_in_shutdown_waits_for_its_file)
{
	struct stream stream;
	int status;
	pid_t pid;

	ASSERT_EQ(0, write_text(LOG_TIMEOUT, "3600"));
	pid = fork();
	if (!pid) {
		stream.fd = device_open();
		if (stuck_create(&stream, self->job.log) || stuck_record(&stream, 10))
			_exit(1);
		fuse_hang(&self->fuse);
		end_by_shutdown(stream.fd);
		_exit(2);
	}
	fuse_wait_hanging(&self->fuse);
	kill(pid, SIGKILL);
	/* An exiting task that waits for its log is in the idle state. */
	while (thread_state(pid) != 'I' && thread_state(pid) != 'Z')
		sched_yield();
	EXPECT_EQ('I', thread_state(pid));
	EXPECT_FALSE(no_log_thread(NULL));
	fuse_resume(&self->fuse);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(SIGKILL, status);
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
}

#define LOGS	6

/* Creates streams with logs in the same file, and records to all of them. */
static int control_many(void *arg, const struct talk *talk)
{
	struct stream streams[LOGS];
	const struct job *job = arg;
	int ret = 0;

	for (int i = 0; i < LOGS && !ret; i++) {
		streams[i].fd = device_open();
		ret = stuck_create(&streams[i], job->log);
	}
	close(job->log);
	for (int i = 0; i < LOGS && !ret; i++)
		ret = stuck_record(&streams[i], 10);
	say(talk, ret);
	return hear(talk);
}

/* A controller waits for all its logs together at exit, not for one after the other. */
TEST_F(served, controller_waits_for_its_logs_together)
{
	const int seconds = 2 * pxt_patience();
	long long begin;
	char text[12];

	snprintf(text, sizeof(text), "%d", seconds);
	ASSERT_EQ(0, write_text(LOG_TIMEOUT, text));
	ASSERT_EQ(0, child_start(&self->child, control_many, &self->job));
	ASSERT_EQ(0, hear(&self->child.talk));
	fuse_hang(&self->fuse);
	begin = coarse_now();
	EXPECT_EQ(SIGKILL, child_kill(&self->child));
	EXPECT_GE(1000 * seconds * LOGS / 2, coarse_now() - begin);
	fuse_kill(&self->fuse);
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
}

/* A process that is killed in CREATE. The test controls how long its exit takes. */
struct killed {
	struct job job;
	int other;		/* a file in another FUSE file system */
};

static void *create_stream(void *arg)
{
	struct job *job = arg;
	struct stream stream = { .fd = job->device };

	stuck_create(&stream, job->log);
	return NULL;
}

static int create_and_write(void *arg, const struct talk *talk)
{
	struct killed *killed = arg;
	pthread_t thread;

	killed->job.device = device_open();
	if (pthread_create(&thread, NULL, create_stream, &killed->job))
		return 1;
	while (!log_thread_find())
		sched_yield();
	hear(talk);
	/*
	 * From now on, only CREATE holds the file. When the process is killed, CREATE ends, while
	 * this thread still hangs in write().
	 */
	close(killed->job.device);
	return write(killed->other, talk, sizeof(*talk)) < 0;
}

/* Returns true if only one thread of the process is left. */
static bool is_alone(void *pid)
{
	char path[64];
	struct stat stat_of;

	snprintf(path, sizeof(path), "/proc/%d/task", *(pid_t *)pid);
	return !stat(path, &stat_of) && stat_of.st_nlink == 3;
}

/* If CREATE did not hold the file long enough, KASAN would report a use after free. */
TEST(failed_create_releases_the_file_before_its_thread_ends)
{
	struct fuse_disk fuse, other;
	struct killed killed = { .job = { .socket = -1 } };
	struct child child;

	ASSERT_EQ(0, fuse_begin(&fuse));
	ASSERT_EQ(0, fuse_begin(&other));
	killed.job.log = fuse_open(&fuse, O_RDWR);
	killed.other = fuse_open(&other, O_RDWR);
	ASSERT_LE(0, killed.job.log);
	ASSERT_LE(0, killed.other);
	fuse_hang(&fuse);
	fuse_hang(&other);
	ASSERT_EQ(0, child_start(&child, create_and_write, &killed));
	fuse_wait_hanging(&fuse);
	say(&child.talk, 0);
	fuse_wait_hanging(&other);
	ASSERT_EQ(0, kill(child.pid, SIGKILL));
	EXPECT_TRUE(becomes_true(is_alone, &child.pid, SECONDS));
	/* Wait for all tasks that may still see the file, and until it is freed. */
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0));
	EXPECT_LT(0, log_thread_find());
	fuse_resume(&other);
	EXPECT_EQ(SIGKILL, child_kill(&child));
	fuse_resume(&fuse);
	EXPECT_TRUE(becomes_true(no_log_thread, NULL, SECONDS));
	close(killed.job.log);
	close(killed.other);
	fuse_end(&other);
	fuse_end(&fuse);
}

TEST_HARNESS_MAIN
