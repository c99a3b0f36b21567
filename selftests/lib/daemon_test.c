// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that close the library's descriptors without its knowledge and open files with the same
 * numbers, like daemons. A traced process must remain traced, a closed stream must be gone, and the
 * library must not touch those files.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <posixtrace.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "badtrid.h"
#include "foreign.h"
#include "no_door.h"
#include "pxt_test.h"
#include "sequences.h"
#include "reading.h"
#include "scale.h"

#define NOBODY_ID	65534

static int is_running(trace_id_t trid)
{
	struct posix_trace_status_info status;

	return posix_trace_get_status(trid, &status) ? -1 :
	       status.posix_stream_status == POSIX_TRACE_RUNNING;
}

/* Returns the number of the next user event of a stream, or -1. */
static int take_number(trace_id_t trid)
{
	struct event event;

	return take_user(trid, &event) == 1 ? event_number(&event) : -1;
}

/* ------------------------------------------------------------------ */
/* The descriptor of a stream						*/

FIXTURE(closed_stream)
{
	struct child other;	/* a process to trace */
	struct foreign file;
	trace_id_t trid;
	int fd;
};

FIXTURE_VARIANT(closed_stream)
{
	enum foreign_kind kind;
};

FIXTURE_VARIANT_ADD(closed_stream, nothing) { FOREIGN_NONE };
FIXTURE_VARIANT_ADD(closed_stream, file) { FOREIGN_FILE };
FIXTURE_VARIANT_ADD(closed_stream, pipe) { FOREIGN_PIPE };
FIXTURE_VARIANT_ADD(closed_stream, socket) { FOREIGN_SOCKET };
FIXTURE_VARIANT_ADD(closed_stream, device) { FOREIGN_DEVICE };
FIXTURE_VARIANT_ADD(closed_stream, target) { FOREIGN_TARGET };
FIXTURE_VARIANT_ADD(closed_stream, stream) { FOREIGN_STREAM };
FIXTURE_VARIANT_ADD(closed_stream, dead_stream) { FOREIGN_DEAD_STREAM };

FIXTURE_SETUP(closed_stream)
{
	ASSERT_EQ(0, child_start(&self->other, child_idle, NULL));
	ASSERT_EQ(0, hear(&self->other.talk));
	/* Attach now, so that any later change is caused by the stream. */
	record_number(0);
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	record_number(1);
	self->fd = posixtrace_fd(self->trid);
	ASSERT_LT(2, self->fd);
	ASSERT_EQ(0, foreign_place(&self->file, variant->kind, self->fd, self->other.pid));
}

FIXTURE_TEARDOWN(closed_stream)
{
	foreign_close(&self->file);
	child_wait(&self->other);
}

TEST_F(closed_stream, trid_is_invalid_everywhere)
{
	errno = 0;
	EXPECT_EQ(-1, posixtrace_fd(self->trid));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_STREQ("", accepts(self->trid));
	/* accepts() calls shutdown last, so everything has been freed. */
	EXPECT_STREQ("", accepts(self->trid));
	EXPECT_STREQ("", foreign_check(&self->file));
}

TEST_F(closed_stream, file_with_its_number_is_unharmed_by_shutdown)
{
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	EXPECT_STREQ("", foreign_check(&self->file));
}

TEST_F(closed_stream, shutdown_frees_the_resources_of_the_library)
{
	int maps = count_device_maps(), fds = count_device_fds(NULL);

	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	/* The shutdown has unmapped the writable and the read-only mapping. */
	EXPECT_EQ(maps - 2, count_device_maps());
	EXPECT_EQ(fds, count_device_fds(NULL));
}

TEST_F(closed_stream, another_stream_can_be_created)
{
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	record_number(2);
	EXPECT_EQ(2, take_number(trid));
	EXPECT_EQ(EINVAL, posix_trace_stop(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	EXPECT_EQ(1, is_running(trid));
	record_number(3);
	EXPECT_EQ(3, take_number(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_STREQ("", foreign_check(&self->file));
}

TEST(blocked_reader_of_a_stream_that_is_closed_gets_einval)
{
	struct reader reader;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, reader_start(&reader, trid, NULL));
	closefrom(3);
	EXPECT_EQ(EINVAL, reader_end(&reader));
	EXPECT_EQ(EINVAL, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* One number for two descriptors					*/

FIXTURE(number)
{
	trace_id_t first;
	trace_id_t second;
	int fd;
};

FIXTURE_SETUP(number)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->first));
	self->fd = posixtrace_fd(self->first);
	ASSERT_LT(2, self->fd);
	close(self->fd);
}

FIXTURE_TEARDOWN(number)
{
}

static const char *second_works(trace_id_t trid, int fd)
{
	if (posixtrace_fd(trid) != fd)
		return "another number, or none";
	if (is_running(trid) != 1)
		return "not running";
	record_number(4711);
	return take_number(trid) == 4711 ? "" : "event lost";
}

TEST_F(number, of_a_closed_stream_can_be_reused_by_the_next)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->second));
	ASSERT_STREQ("", second_works(self->second, self->fd));
	EXPECT_STREQ("", accepts(self->first));
	EXPECT_STREQ("", second_works(self->second, self->fd));
	EXPECT_EQ(0, posix_trace_shutdown(self->second));
	EXPECT_STREQ("", accepts(self->second));
}

/*
 * dup2() closes the old stream, and duplicates the descriptor of the other one. Closing that
 * descriptor would end the other stream.
 */
TEST_F(number, can_be_a_copy_of_another_streams_descriptor)
{
	/* Take the number that is free now. */
	int hole = dup(0), fd;

	ASSERT_EQ(self->fd, hole);
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->second));
	fd = posixtrace_fd(self->second);
	ASSERT_NE(self->fd, fd);
	ASSERT_EQ(self->fd, dup2(fd, self->fd));
	EXPECT_STREQ("", accepts(self->first));
	EXPECT_STREQ("", second_works(self->second, fd));
	EXPECT_EQ(0, posix_trace_shutdown(self->second));
}

TEST_F(number, of_a_closed_stream_can_be_reused_by_the_target)
{
	int fds, target = -1;

	/* The process has recorded no event, so it has not attached yet. */
	ASSERT_EQ(0, count_device_fds(NULL));
	record_number(1);
	ASSERT_EQ(1, count_device_fds(&target));
	ASSERT_EQ(self->fd, target);
	EXPECT_STREQ("", accepts(self->first));
	EXPECT_EQ(1, count_device_fds(NULL));

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->second));
	fds = count_device_fds(NULL);
	record_number(2);
	EXPECT_EQ(2, take_number(self->second));
	/* The process uses the descriptor that it has. */
	EXPECT_EQ(fds, count_device_fds(NULL));
	EXPECT_EQ(0, posix_trace_shutdown(self->second));
}

TEST_F(number, of_the_target_can_be_reused_by_a_stream)
{
	struct event event;
	trace_event_id_t id, again;
	int target = -1;

	posix_trace_shutdown(self->first);
	ASSERT_EQ(0, posix_trace_eventid_open("number", &id));
	ASSERT_EQ(1, count_device_fds(&target));
	close(target);
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->second));
	ASSERT_EQ(target, posixtrace_fd(self->second));
	ASSERT_EQ(0, posix_trace_start(self->second));
	posix_trace_event(id, "x", 1);
	ASSERT_EQ(1, take_user(self->second, &event));
	EXPECT_EQ(id, event.info.posix_event_id);
	EXPECT_EQ(0, posix_trace_eventid_open("number", &again));
	EXPECT_EQ(id, again);
	EXPECT_EQ(2, count_device_fds(NULL));
	EXPECT_STREQ("", second_works(self->second, target));
	EXPECT_EQ(0, posix_trace_shutdown(self->second));
}

/* ------------------------------------------------------------------ */
/* The descriptor of the traced process					*/

FIXTURE(closed_target)
{
	struct child other;
	struct foreign file;
	trace_event_id_t id;
	trace_id_t trid;
	int fds;
};

FIXTURE_VARIANT(closed_target)
{
	enum foreign_kind kind;
};

FIXTURE_VARIANT_ADD(closed_target, nothing) { FOREIGN_NONE };
FIXTURE_VARIANT_ADD(closed_target, file) { FOREIGN_FILE };
FIXTURE_VARIANT_ADD(closed_target, pipe) { FOREIGN_PIPE };
FIXTURE_VARIANT_ADD(closed_target, socket) { FOREIGN_SOCKET };
FIXTURE_VARIANT_ADD(closed_target, device) { FOREIGN_DEVICE };
FIXTURE_VARIANT_ADD(closed_target, target) { FOREIGN_TARGET };
FIXTURE_VARIANT_ADD(closed_target, stream) { FOREIGN_STREAM };
FIXTURE_VARIANT_ADD(closed_target, dead_stream) { FOREIGN_DEAD_STREAM };

FIXTURE_SETUP(closed_target)
{
	int target = -1;

	/* Stay on one CPU: another one would need a sub-buffer, and a descriptor to get it. */
	ASSERT_LE(0, run_on(0));
	ASSERT_EQ(0, child_start(&self->other, child_idle, NULL));
	ASSERT_EQ(0, hear(&self->other.talk));
	ASSERT_EQ(0, posix_trace_eventid_open("before", &self->id));
	ASSERT_EQ(1, count_device_fds(&target));
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	record_number(1);
	ASSERT_EQ(1, take_number(self->trid));
	ASSERT_EQ(0, foreign_place(&self->file, variant->kind, target, self->other.pid));
	self->fds = count_device_fds(NULL);
}

FIXTURE_TEARDOWN(closed_target)
{
	posix_trace_shutdown(self->trid);
	foreign_close(&self->file);
	child_wait(&self->other);
}

TEST_F(closed_target, process_keeps_recording)
{
	for (int i = 2; i < 10; i++) {
		record_number(i);
		EXPECT_EQ(i, take_number(self->trid));
	}
	EXPECT_STREQ("", foreign_check(&self->file));
}

/*
 * The library opens a new descriptor, unless the program has opened a target with the same number.
 */
TEST_F(closed_target, process_replaces_one_descriptor)
{
	int more = variant->kind != FOREIGN_TARGET;

	/* Threads with sequences need no descriptor. */
	ASSERT_EQ(0, forgo_sequences());
	for (int i = 2; i < 10; i++)
		record_number(i);
	EXPECT_EQ(self->fds + more, count_device_fds(NULL));
}

TEST_F(closed_target, process_needs_no_descriptor_to_write_into_its_streams)
{
	for (int i = 2; i < 10; i++)
		record_number(i);
	EXPECT_EQ(self->fds, count_device_fds(NULL));
	for (int i = 2; i < 10; i++)
		EXPECT_EQ(i, take_number(self->trid));
	EXPECT_STREQ("", foreign_check(&self->file));
}

TEST_F(closed_target, names_keep_their_meaning)
{
	trace_event_id_t id;

	/*
	 * The file with the number of the old descriptor belongs to a different process: its names
	 * must not be used.
	 */
	EXPECT_EQ(0, posix_trace_eventid_open("after", &id));
	EXPECT_NE(self->id, id);
	EXPECT_EQ(0, posix_trace_eventid_open("before", &id));
	EXPECT_EQ(self->id, id);
	EXPECT_EQ(0, posix_trace_trid_eventid_open(self->trid, "before", &id));
	EXPECT_EQ(self->id, id);
	EXPECT_STREQ("", foreign_check(&self->file));
}

TEST_F(closed_target, full_stream_keeps_counting)
{
	struct posixtrace_stats_info stats;
	trace_id_t trid;
	int n;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	for (n = 0; n < 8000; n++)
		record_number(n);
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_LT(0, stats.dropped);
	EXPECT_EQ(n, stats.recorded + stats.dropped);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_STREQ("", foreign_check(&self->file));
}

TEST(process_needs_no_memory_for_another_gate_to_attach_again)
{
	struct rlimit all, none;
	trace_event_id_t id;
	int target = -1, err;

	ASSERT_EQ(0, posix_trace_eventid_open("before", &id));
	ASSERT_EQ(1, count_device_fds(&target));
	close(target);
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &all));
	none = all;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
	err = posix_trace_eventid_open("after", &id);
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &all));
	EXPECT_EQ(0, err);
}

/* ------------------------------------------------------------------ */
/* A child with shared memory, but separate descriptors			*/

static void __attribute__((noinline)) record_in_child_of_vfork(void)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		record_number(1000);
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

TEST(parent_remains_attached_if_a_child_of_vfork_records)
{
	int fds, count = 0;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	record_number(0);
	fds = count_device_fds(NULL);
	for (int i = 1; i < 10; i++) {
		record_in_child_of_vfork();
		record_number(i);
	}
	EXPECT_EQ(fds, count_device_fds(NULL));
	for (int number; (number = take_number(trid)) >= 0;) {
		if (number != 1000)
			EXPECT_EQ(count++, number);
	}
	EXPECT_EQ(10, count);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(parent_can_attach_if_a_child_of_vfork_records_first)
{
	trace_id_t trid;

	record_in_child_of_vfork();
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	record_number(1);
	EXPECT_EQ(1, take_number(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* A daemon, from its first fork to its life as an unprivileged user	*/

/* Files that a daemon opens: some get numbers of the library's descriptors. */
#define DAEMON_FILES	10

static const enum foreign_kind daemon_kinds[] = {
	FOREIGN_FILE, FOREIGN_PIPE, FOREIGN_SOCKET, FOREIGN_FILE, FOREIGN_DEVICE,
};

static int open_files(struct foreign *files)
{
	for (int i = 0; i < DAEMON_FILES; i++) {
		if (foreign_open(&files[i], daemon_kinds[i % 5], 0))
			return -1;
	}
	return 0;
}

static int files_unharmed(const struct foreign *files)
{
	for (int i = 0; i < DAEMON_FILES; i++) {
		if (foreign_check(&files[i])[0])
			return 0;
	}
	return 1;
}

/* A stream of the daemon on itself records the same event as the stream on the daemon. */
static int trace_myself(int number)
{
	trace_id_t trid;
	int ret;

	if (new_stream(0, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
		return -1;
	record_number(number);
	ret = take_number(trid) == number ? 0 : -1;
	return posix_trace_shutdown(trid) ? -1 : ret;
}

#define DAEMON_EVENTS	9

/*
 * Runs in the daemon. Returns the number of the failed step, or 0. The test sees only that number
 * and the daemon's events.
 */
static int live_as_daemon(void)
{
	struct foreign files[DAEMON_FILES];
	trace_id_t own;

	record_number(0);
	if (new_stream(0, POSIX_TRACE_LOOP, &own) || posix_trace_start(own))
		return 1;
	umask(0);
	if (chdir("/"))
		return 2;
	record_number(1);
	if (take_number(own) != 1)
		return 3;

	closefrom(0);
	record_number(2);
	if (accepts(own)[0])
		return 4;
	if (open("/dev/null", O_RDWR) || dup(0) != 1 || dup(0) != 2)
		return 5;
	record_number(3);

	closefrom(3);
	if (open_files(files))
		return 6;
	record_number(4);
	if (!files_unharmed(files) || trace_myself(5) || !files_unharmed(files))
		return 7;

	if (setgroups(0, NULL) || setgid(NOBODY_ID) || setuid(NOBODY_ID) || !setuid(0))
		return 8;
	record_number(6);
	/* From now on the process may be unable to open the device. */
	if (close_range(3, ~0U, 0))
		return 9;
	if (open_files(files))
		return 10;
	record_number(7);
	if (!files_unharmed(files) || trace_myself(8) || !files_unharmed(files))
		return 11;
	return 0;
}

static int daemonise(void *arg, const struct talk *talk)
{
	pid_t pid;

	(void)arg;
	/*
	 * The processes before the daemon are not traced, and their children do not inherit the
	 * attachment.
	 */
	record_number(-1);
	if (setsid() < 0)
		return 1;
	record_number(-1);
	pid = fork();
	if (pid == 0) {
		/* The daemon's first event is the first one in the stream. */
		say(talk, getpid());
		if (hear(talk))
			_exit(100);
		_exit(live_as_daemon());
	}
	return pid < 0;
}

TEST(daemon_is_traced_from_its_beginning_to_its_end)
{
	struct child child;
	struct event event;
	trace_id_t trid;
	pid_t daemon;
	int status;

	/* The parent of the daemon ends before the daemon does. */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	ASSERT_EQ(0, child_start(&child, daemonise, NULL));
	daemon = hear(&child.talk);
	ASSERT_LT(0, daemon);
	ASSERT_EQ(0, new_stream(daemon, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(daemon, waitpid(daemon, &status, 0));
	EXPECT_EQ(0, status);
	for (int i = 0; i < DAEMON_EVENTS; i++) {
		ASSERT_EQ(1, take_user(trid, &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(daemon, event.info.posix_pid);
	}
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* Threads record while another one closes all descriptors		*/

#define RECORDERS	3
#define ROUND_FILES	4

static struct recorder {
	pthread_t thread;
	unsigned int count;	/* events, including the handler's; written by the thread */
	int stop;
} recorders[RECORDERS];

static __thread struct recorder *myself;

static void record_one(void)
{
	record_number(1);
	__atomic_add_fetch(&myself->count, 1, __ATOMIC_RELEASE);
}

static void record_in_handler(int signal)
{
	(void)signal;
	if (myself)
		record_one();
}

static void *record_until_stopped(void *arg)
{
	myself = arg;
	while (!__atomic_load_n(&myself->stop, __ATOMIC_ACQUIRE)) {
		record_one();
		/* There are fewer CPUs than threads. */
		sched_yield();
	}
	return NULL;
}

/* Waits until each thread has recorded two more events, so that it has completed earlier ones. */
static void wait_for_recorders(void)
{
	unsigned int before[RECORDERS], i;

	for (i = 0; i < RECORDERS; i++)
		before[i] = __atomic_load_n(&recorders[i].count, __ATOMIC_ACQUIRE);
	for (i = 0; i < RECORDERS; i++) {
		while (__atomic_load_n(&recorders[i].count, __ATOMIC_ACQUIRE) - before[i] < 2)
			sched_yield();
	}
}

struct rounds {
	int count;
	int files;		/* number of files; fewer files make the rounds faster */
	bool wait;		/* in each round, wait for all threads to record again */
};

/* Repeatedly closes all descriptors, opens files with arbitrary numbers, and checks them. */
static int close_in_rounds(const struct rounds *rounds)
{
	struct foreign files[ROUND_FILES];
	int i;

	for (int round = 0; round < rounds->count; round++) {
		closefrom(3);
		for (i = 0; i < rounds->files; i++) {
			if (foreign_open(&files[i], FOREIGN_FILE + i % 3, 0))
				return 10;
		}
		pthread_kill(recorders[round % RECORDERS].thread, SIGUSR1);
		if (rounds->wait)
			wait_for_recorders();
		for (i = 0; i < rounds->files; i++) {
			if (foreign_check(&files[i])[0])
				return 20 + i;
		}
	}
	return 0;
}

/*
 * Records until the library has attached again. After a failed attempt, for example because a
 * foreign file answered, the library drops events for 100 ms before it retries.
 */
static unsigned int record_last(void)
{
	const struct timespec interval = { .tv_nsec = 10000000 };
	unsigned int count = 0;

	for (int i = 0; i < 30; i++) {
		record_number(4711);
		count++;
		nanosleep(&interval, NULL);
	}
	return count;
}

/* Reports the number of recorded events at the end. */
static int record_and_close(void *arg, const struct talk *talk)
{
	struct sigaction action = { .sa_handler = record_in_handler };
	struct talk above = { dup2(talk->in, 0), dup2(talk->out, 1) };
	unsigned int count = 0;
	int ret;

	if (sigaction(SIGUSR1, &action, NULL))
		return 1;
	say(&above, 0);
	hear(&above);
	for (int i = 0; i < RECORDERS; i++) {
		if (pthread_create(&recorders[i].thread, NULL, record_until_stopped, &recorders[i]))
			return 2;
	}
	ret = close_in_rounds(arg);
	for (int i = 0; i < RECORDERS; i++) {
		__atomic_store_n(&recorders[i].stop, 1, __ATOMIC_RELEASE);
		pthread_join(recorders[i].thread, NULL);
		count += recorders[i].count;
	}
	/* The process is still traced, even after the last round. */
	count += record_last();
	say(&above, count);
	return ret;
}

static unsigned long long race(const struct rounds *rounds, int *status,
			       struct posixtrace_stats_info *stats, int *last)
{
	struct event event;
	struct child child;
	unsigned long long count;
	trace_id_t trid;

	*last = -1;
	if (child_start(&child, record_and_close, (void *)rounds) || hear(&child.talk))
		return 0;
	if (new_stream(child.pid, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
		return 0;
	say(&child.talk, 0);
	count = hear(&child.talk);
	*status = child_wait(&child);
	if (posixtrace_get_stats(trid, stats))
		return 0;
	while (take_user(trid, &event) == 1)
		*last = event_number(&event);
	posix_trace_shutdown(trid);
	return count;
}

TEST(no_event_is_lost_when_descriptors_are_closed)
{
	const struct rounds rounds = { .count = 100, .files = ROUND_FILES, .wait = true };
	struct posixtrace_stats_info stats = { 0 };
	unsigned long long count;
	int status = -1, last;

	count = race(&rounds, &status, &stats, &last);
	EXPECT_EQ(0, status);
	EXPECT_LT(2 * RECORDERS * rounds.count, count);
	EXPECT_EQ(count, stats.recorded);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(0, stats.untraced);
	EXPECT_EQ(4711, last);
}

/*
 * The descriptors may be closed at any point, even during an attach. An event may then be lost, but
 * no file may be harmed.
 */
TEST(no_file_is_harmed_when_descriptors_are_closed_at_any_time)
{
	const struct rounds rounds = {
		/*
		 * Use fewer rounds on a slow debug kernel, because the race that README.md
		 * describes would occur there.
		 */
		.count = (PXT_TSAN ? 800 : 8000) / pxt_time_scale(),
		.files = 1,
		.wait = false,
	};
	struct posixtrace_stats_info stats = { 0 };
	unsigned long long count;
	int status = -1, last;

	count = race(&rounds, &status, &stats, &last);
	EXPECT_EQ(0, status);
	EXPECT_GE(count, stats.recorded);
	EXPECT_LT(0, stats.recorded);
	EXPECT_EQ(4711, last);
}

TEST_HARNESS_MAIN
