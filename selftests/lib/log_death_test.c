// SPDX-License-Identifier: GPL-2.0
/*
 * A controller ends in many ways and at any point. Its log must be complete when waitpid() returns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <linux/posixtrace_log.h>

#include "logdrain.h"
#include "pxt_test.h"

#define THREADS		2

/* The first number that a thread records. */
#define NUMBERS(thread)	((thread) * 100000000)

/* Shared with a controller that dies. */
struct words {
	int recorded[THREADS];	/* number of the last event that each thread has completed */
	int end;		/* stop recording */
};

struct controller {
	struct log_kind kind;
	int fd;
	pid_t target;		/* process to trace; 0: the controller itself */
	struct words *words;
	const struct talk *talk;
	trace_id_t trid;
	void (*end)(struct controller *controller);
};

struct load {
	struct controller *controller;
	int thread;
};

static void *load_thread(void *arg)
{
	struct load *load = arg;
	struct words *words = load->controller->words;
	int *recorded = &words->recorded[load->thread], number;

	while (!__atomic_load_n(&words->end, __ATOMIC_RELAXED)) {
		number = NUMBERS(load->thread) + *recorded;
		posix_trace_event(withlog_type(), &number, sizeof(number));
		__atomic_store_n(recorded, *recorded + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Records as fast as possible, and flushes. Reports when this has begun. */
static int loaded_controller(void *arg, const struct talk *talk)
{
	struct controller *controller = arg;
	struct load load[THREADS];
	pthread_t thread;

	if (withlog_new(0, &controller->kind, controller->fd, &controller->trid))
		return 1;
	withlog_type();
	if (posix_trace_start(controller->trid))
		return 2;
	for (int i = 0; i < THREADS; i++) {
		load[i] = (struct load){ controller, i };
		if (pthread_create(&thread, NULL, load_thread, &load[i]))
			return 3;
	}
	say(talk, 0);
	for (;;) {
		posix_trace_flush(controller->trid);
		usleep(500);
	}
}

/* A complete log, parsed from the bytes of the file. */
struct last_words {
	int numbers[THREADS];
	int disorder;
	int errors;
	trace_event_id_t last_id;
	struct posix_trace_status_info status;
	struct posixtrace_log_end end;
};

static int read_end(int fd, struct posixtrace_log_end *end)
{
	struct posixtrace_log_header header;
	off_t pos = log_file_size(fd) - sizeof(*end);

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return -EIO;
	if (header.end_offset)
		pos = header.end_offset;
	return pread(fd, end, sizeof(*end), pos) == sizeof(*end) &&
	       end->cookie == header.cookie ? 0 : -EPROTO;
}

static int read_last_words(int fd, struct last_words *words)
{
	int last[THREADS] = { -1, -1 }, number, thread, err;
	struct event event;
	trace_id_t log;

	memset(words, 0, sizeof(*words));
	err = posix_trace_open(fd, &log);
	if (err)
		return -err;
	for (;;) {
		err = posix_trace_getnext_event(log, &event.info, event.data,
						sizeof(event.data), &event.len,
						&event.unavailable);
		if (err || event.unavailable)
			break;
		words->last_id = event.info.posix_event_id;
		words->errors += words->last_id == POSIX_TRACE_ERROR;
		if (words->last_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		number = event_number(&event);
		thread = number >= NUMBERS(1);
		words->numbers[thread]++;
		words->disorder += number <= last[thread];
		last[thread] = number;
	}
	if (!err)
		err = posix_trace_get_status(log, &words->status);
	posix_trace_close(log);
	return err ? -err : read_end(fd, &words->end);
}

/*
 * Counts the user events in the blocks of a log that is not a ring. Includes events that the
 * library skips because the stream has overwritten later ones.
 */
static int events_in_blocks(int fd)
{
	struct posixtrace_log_header header;
	struct posixtrace_log_block block;
	int events = 0;
	off_t pos;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return -EIO;
	pos = header.data_offset;
	while (pread(fd, &block, sizeof(block), pos) == sizeof(block)) {
		if (block.type == POSIXTRACE_LOG_EVENTS && block.cpu < header.nr_cpus)
			events += block.count;
		pos += sizeof(block) + block.size;
	}
	return events;
}

FIXTURE(death)
{
	struct words *words;
	int fd;
};

FIXTURE_SETUP(death)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	self->words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->words);
}

FIXTURE_TEARDOWN(death)
{
	munmap(self->words, 4096);
	close(self->fd);
}

FIXTURE(killed)
{
	struct words *words;
	int fd;
};

FIXTURE_VARIANT(killed)
{
	struct log_kind kind;
	int rounds;
};

/* 300 rounds in total. */
FIXTURE_VARIANT_ADD(killed, flush_into_append) {
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 }, 80
};

FIXTURE_VARIANT_ADD(killed, flush_into_loop) {
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 64 << 10 }, 80
};

FIXTURE_VARIANT_ADD(killed, flush_into_until_full) {
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 64 << 10 }, 80
};

FIXTURE_VARIANT_ADD(killed, loop_into_append) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 }, 30
};

FIXTURE_VARIANT_ADD(killed, until_full_into_loop) {
	{ POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 64 << 10 }, 30
};

FIXTURE_SETUP(killed)
{
	self->words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->words);
}

FIXTURE_TEARDOWN(killed)
{
	munmap(self->words, 4096);
}

static void random_moment(void)
{
	unsigned int random;

	if (getrandom(&random, sizeof(random), 0) == sizeof(random))
		usleep(random % 20000);
}

/*
 * Each event that was completed before the kill must be in the log, or be counted there as lost.
 * Each thread may have been recording one more event.
 */
TEST_F_TIMEOUT(killed, at_any_point_its_log_has_or_counts_all_events, 120)
{
	struct controller controller = { .kind = variant->kind, .words = self->words };
	int rounds = variant->rounds / pxt_time_scale(), recorded, known;
	struct last_words last;
	struct child child;

	for (int i = 0; i < (rounds < 3 ? 3 : rounds); i++) {
		memset(self->words, 0, sizeof(*self->words));
		controller.fd = log_tmpfile();
		ASSERT_LE(0, controller.fd);
		ASSERT_EQ(0, child_start(&child, loaded_controller, &controller));
		ASSERT_EQ(0, hear(&child.talk));
		random_moment();
		ASSERT_EQ(SIGKILL, child_kill(&child));
		ASSERT_EQ(0, read_last_words(controller.fd, &last));
		recorded = self->words->recorded[0] + self->words->recorded[1];
		known = last.numbers[0] + last.numbers[1];
		if (variant->kind.stream_policy == POSIX_TRACE_LOOP) {
			EXPECT_LE(known, events_in_blocks(controller.fd));
			known = events_in_blocks(controller.fd);
		}
		known += (int)last.end.lost + (int)last.end.overwritten;
		EXPECT_LE(recorded, known);
		/* A LOOP stream also counts lost system events. */
		if (variant->kind.stream_policy != POSIX_TRACE_LOOP)
			EXPECT_GE(recorded + THREADS, known);
		EXPECT_GE(self->words->recorded[0] + 1, last.numbers[0]);
		EXPECT_GE(self->words->recorded[1] + 1, last.numbers[1]);
		EXPECT_EQ(0, last.disorder);
		EXPECT_EQ(0, last.errors);
		EXPECT_EQ(0, last.end.error);
		EXPECT_NE(0, last.end.flags & POSIXTRACE_LOG_END_FINAL);
		EXPECT_EQ(POSIX_TRACE_STOP, last.last_id);
		if (variant->kind.log_policy == POSIX_TRACE_APPEND)
			EXPECT_EQ(0, last.end.overwritten);
		close(controller.fd);
	}
}

/* ------------------------------------------------------------------ */
/* Each way to end							*/

static int quiet_controller(void *arg, const struct talk *talk)
{
	struct controller *controller = arg;

	controller->talk = talk;
	if (withlog_new(controller->target, &controller->kind, controller->fd, &controller->trid))
		return 1;
	if (posix_trace_start(controller->trid))
		return 2;
	say(talk, 0);
	hear(talk);
	if (!controller->target)
		withlog_record(0, 500);
	say(talk, 0);
	hear(talk);
	controller->end(controller);
	return 3;
}

static void by_exit(struct controller *controller)
{
	(void)controller;
	exit(0);
}

static void by_signal(struct controller *controller)
{
	(void)controller;
	raise(SIGTERM);
}

static void by_kill(struct controller *controller)
{
	(void)controller;
	raise(SIGKILL);
}

static void by_exec(struct controller *controller)
{
	(void)controller;
	execl("/bin/true", "true", NULL);
}

static void *exit_thread(void *arg)
{
	(void)arg;
	_exit(0);
}

static void by_exit_of_a_thread(struct controller *controller)
{
	pthread_t thread;

	(void)controller;
	pthread_create(&thread, NULL, exit_thread, NULL);
	for (;;)
		pause();
}

/* The stream ends before the process does. */
static void by_close(struct controller *controller)
{
	close_range(3 + 0, ~0U, 0);
	(void)controller;
	_exit(0);
}

FIXTURE(end)
{
	struct words *words;
	int fd;
};

FIXTURE_VARIANT(end)
{
	void (*end)(struct controller *controller);
	bool other_target;
};

FIXTURE_VARIANT_ADD(end, exit) { by_exit, false };
FIXTURE_VARIANT_ADD(end, signal) { by_signal, false };
FIXTURE_VARIANT_ADD(end, kill) { by_kill, false };
FIXTURE_VARIANT_ADD(end, exec) { by_exec, false };
FIXTURE_VARIANT_ADD(end, exit_of_a_thread) { by_exit_of_a_thread, false };
FIXTURE_VARIANT_ADD(end, close) { by_close, false };
FIXTURE_VARIANT_ADD(end, exit_while_another_records) { by_exit, true };
FIXTURE_VARIANT_ADD(end, kill_while_another_records) { by_kill, true };
FIXTURE_VARIANT_ADD(end, exec_while_another_records) { by_exec, true };

FIXTURE_SETUP(end)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(end)
{
	close(self->fd);
}

TEST_F(end, of_the_controller_ends_the_log)
{
	struct controller controller = {
		.kind = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 },
		.fd = self->fd,
		.end = variant->end,
		.target = variant->other_target ? getpid() : 0,
	};
	struct log_content content;
	struct child child;

	withlog_type();
	ASSERT_EQ(0, child_start(&child, quiet_controller, &controller));
	ASSERT_EQ(0, hear(&child.talk));
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	if (variant->other_target)
		withlog_record(0, 500);
	say(&child.talk, 0);
	child_wait(&child);
	/* The stream has ended, so these events must not be recorded. */
	withlog_record(1000, 10);
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 500));
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
}

/* The end of the controller does not wait for the reader of a pipe. Still no event is lost. */
TEST_F(death, of_a_controller_is_not_delayed_by_a_pipe)
{
	struct controller controller = {
		.kind = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 },
		.end = by_kill,
	};
	struct log_content content;
	struct drain drain;
	struct child child;
	int pipe[2];

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(pipe[1], F_SETPIPE_SZ, 4096));
	controller.fd = pipe[1];
	ASSERT_EQ(0, child_start(&child, quiet_controller, &controller));
	ASSERT_EQ(0, hear(&child.talk));
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	say(&child.talk, 0);
	EXPECT_EQ(SIGKILL, child_wait(&child));
	/* The controller has ended before this first read of the pipe. */
	close(pipe[1]);
	ASSERT_EQ(0, drain_start(&drain, pipe[0], self->fd));
	EXPECT_EQ(0, drain_end(&drain));
	close(pipe[0]);
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 500));
}

/* The controller is killed in CREATE or SHUTDOWN, both of which wait for the reader of a pipe. */
static int blocked_in_create(void *arg, const struct talk *talk)
{
	const struct log_kind kind = { POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 };
	trace_id_t trid;

	say(talk, getpid());
	return withlog_new(0, &kind, *(int *)arg, &trid);
}

static int blocked_in_shutdown(void *arg, const struct talk *talk)
{
	const struct log_kind kind = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };
	trace_id_t trid;

	if (withlog_new(0, &kind, *(int *)arg, &trid) || posix_trace_start(trid))
		return 1;
	withlog_record(0, 600);
	say(talk, getpid());
	return posix_trace_shutdown(trid);
}

static void ignore(int signal)
{
	(void)signal;
}

static int interrupted_in_create(void *arg, const struct talk *talk)
{
	struct sigaction action = { .sa_handler = ignore };

	sigaction(SIGUSR1, &action, NULL);
	return blocked_in_create(arg, talk);
}

FIXTURE(blocked)
{
	int pipe[2];
};

FIXTURE_VARIANT(blocked)
{
	int (*fn)(void *arg, const struct talk *talk);
	bool full;
	int signal;
	int status;
};

FIXTURE_VARIANT_ADD(blocked, in_create_and_killed) {
	blocked_in_create, true, SIGKILL, SIGKILL
};

FIXTURE_VARIANT_ADD(blocked, in_create_and_interrupted) {
	interrupted_in_create, true, SIGUSR1, EINTR << 8
};

FIXTURE_VARIANT_ADD(blocked, in_shutdown_and_killed) {
	blocked_in_shutdown, false, SIGKILL, SIGKILL
};

FIXTURE_SETUP(blocked)
{
	ASSERT_EQ(0, pipe2(self->pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(self->pipe[1], F_SETPIPE_SZ, 4096));
}

FIXTURE_TEARDOWN(blocked)
{
	close(self->pipe[0]);
	close(self->pipe[1]);
}

static bool waits_for_long(pid_t pid)
{
	int asleep = 0;

	while (asleep < 20) {
		usleep(1000);
		asleep = strchr("SD", thread_state(pid)) ? asleep + 1 : 0;
		if (thread_state(pid) == 'Z')
			return false;
	}
	return true;
}

TEST_F(blocked, by_a_pipe_process_can_end)
{
	static char page[4096];
	struct child child;

	if (variant->full)
		ASSERT_EQ((ssize_t)sizeof(page), write(self->pipe[1], page, sizeof(page)));
	ASSERT_EQ(0, child_start(&child, variant->fn, &self->pipe[1]));
	ASSERT_EQ(child.pid, hear(&child.talk));
	ASSERT_TRUE(waits_for_long(child.pid));
	kill(child.pid, variant->signal);
	EXPECT_EQ(variant->status, child_wait(&child));
}

TEST_HARNESS_MAIN
