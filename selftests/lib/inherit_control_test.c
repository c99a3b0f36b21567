// SPDX-License-Identifier: GPL-2.0
/*
 * A controller's operations on an inherited stream must immediately affect the parent and its
 * children. The children cannot control the stream.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <posixtrace.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "badtrid.h"
#include "family.h"
#include "polling.h"

#include <linux/posixtrace.h>

#define CHILDREN	3

/* Data that the test shares with a child. */
struct recorder {
	pid_t pid;
	int id;			/* event type */
	int begun;		/* number of the last event begun */
	int done;		/* number of the last completed event */
};

struct recorders {
	struct recorder recorder[CHILDREN];
	int granted;		/* largest number that the children may record */
	int end;
};

FIXTURE(control)
{
	trace_id_t trid;
	struct recorders *shared;
};

FIXTURE_SETUP(control)
{
	self->shared = share(sizeof(*self->shared));
	ASSERT_NE(NULL, self->shared);
	ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_INHERITED, 256 << 10, POSIX_TRACE_LOOP,
				       &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(control)
{
	posix_trace_shutdown(self->trid);
}

static int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Runs in a child: records numbers from 1 on, as fast as @granted allows. */
static void record_on_and_on(struct recorders *shared, int index)
{
	struct recorder *me = &shared->recorder[index];
	int granted, number;

	run_on(index + 1);
	while (!load(&shared->end)) {
		granted = load(&shared->granted);
		if (me->done == granted) {
			syscall(SYS_futex, &shared->granted, FUTEX_WAIT, granted, NULL);
			continue;
		}
		number = me->begun + 1;
		__atomic_store_n(&me->begun, number, __ATOMIC_RELEASE);
		record_as(load(&me->id), number);
		__atomic_store_n(&me->done, number, __ATOMIC_RELEASE);
	}
	_exit(0);
}

/* Allows each child @count more events. */
static void grant(struct recorders *shared, int count)
{
	__atomic_store_n(&shared->granted, shared->granted + count, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->granted, FUTEX_WAKE, INT_MAX);
}

/* Waits until all children have recorded all numbers that they may record. */
static void wait_for_all(const struct recorders *shared)
{
	for (int i = 0; i < CHILDREN; i++) {
		while (load(&shared->recorder[i].done) < shared->granted)
			sched_yield();
	}
}

/* Lets the children record; returns at a different point in each round. */
static void let_run(struct recorders *shared, int round)
{
	int before = shared->granted;

	grant(shared, 8);
	while (load(&shared->recorder[round % CHILDREN].begun) < before + 1 + round % 4)
		sched_yield();
	dawdle(round * 37 % 500);
}

static void start_recorders(struct __test_metadata *_metadata, struct recorders *shared)
{
	memset(shared, 0, sizeof(*shared));
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid;

		shared->recorder[i].id = POSIX_TRACE_UNNAMED_USEREVENT;
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			record_on_and_on(shared, i);
		shared->recorder[i].pid = pid;
	}
}

static void end_recorders(struct __test_metadata *_metadata, struct recorders *shared)
{
	__atomic_store_n(&shared->end, 1, __ATOMIC_RELEASE);
	/*
	 * The recorders sleep on @granted, so change it to wake them: a child that is about to
	 * sleep would miss any other wake-up.
	 */
	grant(shared, 1);
	ASSERT_EQ(0, all_ended());
}

/* Gets the number of events that each child has begun so far. */
static void note_begun(const struct recorders *shared, int *begun)
{
	for (int i = 0; i < CHILDREN; i++)
		begun[i] = load(&shared->recorder[i].begun);
}

static int index_of(const struct recorders *shared, pid_t pid)
{
	for (int i = 0; i < CHILDREN; i++) {
		if (shared->recorder[i].pid == pid)
			return i;
	}
	return -1;
}

/*
 * Reads all events. For each child, checks that no number is larger than in @last, and that none is
 * missing after that in @first. @first and @last may be NULL.
 */
static void check_events(struct __test_metadata *_metadata, trace_id_t trid,
			 const struct recorders *shared, const int *last, const int *first)
{
	int count[CHILDREN] = { 0 }, latest[CHILDREN] = { 0 };
	struct event event;
	int child, number;

	while (take_user(trid, &event) == 1) {
		child = index_of(shared, event.info.posix_pid);
		number = event_number(&event);
		ASSERT_LE(0, child);
		ASSERT_LT(latest[child], number);
		latest[child] = number;
		if (last)
			ASSERT_GE(last[child], number);
		if (first)
			count[child] += number > first[child];
	}
	for (child = 0; first && child < CHILDREN; child++)
		ASSERT_EQ(shared->granted - first[child], count[child]);
}

#define ROUNDS	600

TEST_F(control, nothing_is_recorded_by_a_child_after_stop)
{
	int begun[CHILDREN];

	start_recorders(_metadata, self->shared);
	for (int i = 0; i < rounds(ROUNDS); i++) {
		let_run(self->shared, i);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		note_begun(self->shared, begun);
		grant(self->shared, 2);
		wait_for_all(self->shared);
		check_events(_metadata, self->trid, self->shared, begun, NULL);
		ASSERT_EQ(0, posix_trace_start(self->trid));
	}
	end_recorders(_metadata, self->shared);
}

TEST_F(control, stop_is_the_last_event_of_children)
{
	struct event event;
	int last = 0;

	start_recorders(_metadata, self->shared);
	for (int i = 0; i < rounds(ROUNDS / 2); i++) {
		let_run(self->shared, i);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		wait_for_all(self->shared);
		while (take(self->trid, &event) == 1) {
			ASSERT_NE(POSIX_TRACE_STOP, last);
			last = event.info.posix_event_id;
		}
		ASSERT_EQ(POSIX_TRACE_STOP, last);
		ASSERT_EQ(0, posix_trace_start(self->trid));
		last = 0;
	}
	end_recorders(_metadata, self->shared);
}

TEST_F(control, everything_is_recorded_by_a_child_after_start)
{
	int begun[CHILDREN];

	start_recorders(_metadata, self->shared);
	for (int i = 0; i < rounds(ROUNDS); i++) {
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		let_run(self->shared, i);
		ASSERT_EQ(0, posix_trace_start(self->trid));
		note_begun(self->shared, begun);
		grant(self->shared, 2);
		wait_for_all(self->shared);
		check_events(_metadata, self->trid, self->shared, NULL, begun);
	}
	end_recorders(_metadata, self->shared);
}

TEST_F(control, filter_acts_on_children)
{
	int begun[CHILDREN];
	trace_event_set_t set;
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_eventid_open("by children", &id));
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(id, &set));
	start_recorders(_metadata, self->shared);
	for (int i = 0; i < CHILDREN; i++)
		__atomic_store_n(&self->shared->recorder[i].id, id, __ATOMIC_RELEASE);
	for (int i = 0; i < rounds(ROUNDS / 2); i++) {
		let_run(self->shared, i);
		ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_ADD_EVENTSET));
		note_begun(self->shared, begun);
		grant(self->shared, 2);
		wait_for_all(self->shared);
		check_events(_metadata, self->trid, self->shared, begun, NULL);

		let_run(self->shared, i);
		ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SUB_EVENTSET));
		note_begun(self->shared, begun);
		grant(self->shared, 2);
		wait_for_all(self->shared);
		check_events(_metadata, self->trid, self->shared, NULL, begun);
	}
	end_recorders(_metadata, self->shared);
}

TEST_F(control, clear_removes_the_events_of_children)
{
	int before[CHILDREN], after[CHILDREN];
	struct event event;

	start_recorders(_metadata, self->shared);
	for (int i = 0; i < rounds(ROUNDS); i++) {
		int next[CHILDREN] = { 0 };

		let_run(self->shared, i);
		note_begun(self->shared, before);
		ASSERT_EQ(0, posix_trace_clear(self->trid));
		note_begun(self->shared, after);
		wait_for_all(self->shared);
		while (take_user(self->trid, &event) == 1) {
			int child = index_of(self->shared, event.info.posix_pid);
			int number = event_number(&event);

			ASSERT_LE(0, child);
			/* An event that was begun before the call may be recorded after it. */
			ASSERT_LE(before[child], number);
			/*
			 * All remaining events were recorded after the call, so their numbers have
			 * no gap.
			 */
			ASSERT_TRUE(!next[child] || next[child] == number);
			next[child] = number + 1;
		}
		for (int child = 0; child < CHILDREN; child++)
			ASSERT_TRUE(next[child] == self->shared->granted + 1 ||
				    after[child] == self->shared->granted);
	}
	end_recorders(_metadata, self->shared);
}

TEST_F(control, shutdown_ends_the_tracing_of_children)
{
	struct posixtrace_stats_info stats;
	struct event event;

	for (int i = 0; i < rounds(150); i++) {
		start_recorders(_metadata, self->shared);
		let_run(self->shared, i);
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
		/* The new stream has the same slot. It traces this process but not its children. */
		ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_INHERITED, 64 << 10,
					       POSIX_TRACE_LOOP, &self->trid));
		ASSERT_EQ(0, posix_trace_start(self->trid));
		grant(self->shared, 2);
		wait_for_all(self->shared);
		ASSERT_EQ(0, take_user(self->trid, &event));
		ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
		ASSERT_EQ(1, stats.processes);
		ASSERT_EQ(0, stats.recorded + stats.dropped);
		end_recorders(_metadata, self->shared);
	}
}

TEST_F(control, event_of_a_child_wakes_the_reader_up)
{
	struct event event;

	start_recorders(_metadata, self->shared);
	for (int i = 0; i < rounds(ROUNDS / 2); i++) {
		int left = CHILDREN;

		grant(self->shared, 1);
		while (left) {
			ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data,
							       sizeof(event.data), &event.len,
							       &event.unavailable));
			if (event.info.posix_event_id == POSIX_TRACE_START)
				continue;
			ASSERT_LE(0, index_of(self->shared, event.info.posix_pid));
			left--;
		}
	}
	end_recorders(_metadata, self->shared);
}

/* ------------------------------------------------------------------ */
/* Calls that fail in a child						*/

static int call_all(void *arg)
{
	const char *name = accepts(*(trace_id_t *)arg);

	if (!*name)
		return 0;
	fprintf(stderr, "# posix_trace_%s takes the trace id of the parent\n", name);
	return 1;
}

TEST_F(control, child_cannot_use_the_trace_id)
{
	pid_t pid;

	for (int recorded = 0; recorded < 2; recorded++) {
		pid = by_fork(call_all, &self->trid);
		ASSERT_LT(0, pid);
		EXPECT_EQ(0, ended(pid));
		record_plain(1);
	}
	EXPECT_EQ(2, generated_for(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
}

/* Tries all commands with valid arguments. Returns 0 if each fails as expected. */
static int try_commands(int fd)
{
	const struct {
		unsigned long cmd;
		int expected;
	} commands[] = {
		{ POSIXTRACE_IOC_START, EINVAL },
		{ POSIXTRACE_IOC_STOP, EINVAL },
		{ POSIXTRACE_IOC_SHUTDOWN, EINVAL },
		{ POSIXTRACE_IOC_GET_STATUS, EINVAL },
		{ POSIXTRACE_IOC_GET_ATTR, EINVAL },
		{ POSIXTRACE_IOC_EVENT_NAME, EINVAL },
		{ POSIXTRACE_IOC_EVENT_TYPES, EINVAL },
		{ POSIXTRACE_IOC_WAIT, EINVAL },
		{ POSIXTRACE_IOC_RELEASE, EINVAL },
		{ POSIXTRACE_IOC_SET_FILTER, EINVAL },
		{ POSIXTRACE_IOC_GET_FILTER, EINVAL },
		{ POSIXTRACE_IOC_CLEAR, EINVAL },
		{ POSIXTRACE_IOC_GET_STATS, EINVAL },
		{ POSIXTRACE_IOC_DEFER, EINVAL },
		{ POSIXTRACE_IOC_DESCRIPTION, EINVAL },
		{ POSIXTRACE_IOC_DESCRIBE, EINVAL },
		{ POSIXTRACE_IOC_EVENTID_OPEN, EINVAL },
		{ POSIXTRACE_IOC_SYNC, EINVAL },
		{ POSIXTRACE_IOC_NEXT, EINVAL },
		{ POSIXTRACE_IOC_EVENT, EINVAL },
		{ POSIXTRACE_IOC_WAKE, EINVAL },
		{ POSIXTRACE_IOC_MET, EINVAL },
		/* CREATE fails with EBUSY, because the descriptor already has a role. */
		{ POSIXTRACE_IOC_CREATE, EBUSY },
		{ POSIXTRACE_IOC_ATTACH, EBUSY },
	};
	static long long arg[2048];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		memset(arg, 0, sizeof(arg));
		if (ioctl(fd, commands[i].cmd, arg) != -1 || errno != commands[i].expected) {
			fprintf(stderr, "# command %zu: errno %d\n", i, errno);
			return 1;
		}
	}
	return 0;
}

static int try_poll(int fd)
{
	return poll_say(fd, -1) != POLLERR;
}

static int try_mmap(int fd)
{
	/* Try the offsets of the gate and of all streams. */
	for (unsigned long long offset = 0; offset < 4ULL << 34; offset += 1ULL << 34) {
		for (int i = 0; i < 8; i++) {
			if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd,
				 offset + i * 4096) != MAP_FAILED || errno != EINVAL)
				return 1;
		}
	}
	return 0;
}

struct held {
	int fd;
	int other;
};

static int use_descriptor(void *arg)
{
	struct held *held = arg;
	int copy;

	for (int recorded = 0; recorded < 2; recorded++) {
		if (try_commands(held->fd))
			return 1;
		if (try_poll(held->fd))
			return 2;
		if (try_mmap(held->fd))
			return 3;
		record_plain(1);
	}
	/* The child has inherited the descriptor that attached the parent. */
	if (held->other >= 0 && try_commands(held->other))
		return 4;
	copy = dup(held->fd);
	if (copy < 0 || close(copy) || close(held->fd))
		return 5;
	return 0;
}

/* Returns the descriptor that attached this process, or -1. */
static int target_fd(int stream_fd)
{
	char path[64], target[64];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		if (fd == stream_fd || len < 0)
			continue;
		target[len] = '\0';
		if (!strcmp(target, "/dev/posixtrace"))
			return fd;
	}
	return -1;
}

TEST_F(control, child_cannot_use_the_descriptor)
{
	struct held held = { .fd = posixtrace_fd(self->trid) };
	struct event event;
	pid_t pid;

	record_plain(1);
	held.other = target_fd(held.fd);
	ASSERT_LE(0, held.fd);
	ASSERT_LE(0, held.other);
	pid = by_fork(use_descriptor, &held);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, ended(pid));
	record_plain(1);
	/* The child has closed its copy of the descriptor, without any effect. */
	EXPECT_EQ(4, generated_for(self->trid));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(1, take_user(self->trid, &event));
		EXPECT_EQ(i % 3 ? pid : getpid(), event.info.posix_pid);
	}
	EXPECT_EQ(0, posix_trace_stop(self->trid));
}

/* The child does not inherit this stream, and shares the memory. */
TEST_F(control, child_with_shared_memory_cannot_use_the_descriptor)
{
	struct held held = { .other = -1 };
	trace_id_t trid;
	pid_t pid;

	PXT_NOT_WITH_TSAN("does not survive two processes that run in one memory");
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	held.fd = posixtrace_fd(trid);
	ASSERT_LE(0, held.fd);
	pid = by_clone_vm(use_descriptor, &held);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, ended(pid));
	EXPECT_EQ(2, generated_for(self->trid));
	EXPECT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* The child holds the descriptor of the stream during its shutdown, and afterwards. */
static int hold_descriptor(void *arg, const struct talk *talk)
{
	int fd = *(int *)arg;

	say(talk, try_commands(fd) || try_poll(fd));
	hear(talk);
	return try_commands(fd) || try_poll(fd) || try_mmap(fd);
}

TEST_F(control, child_with_the_descriptor_does_not_keep_the_stream)
{
	int fd = posixtrace_fd(self->trid);
	struct child child;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, child_start(&child, hold_descriptor, &fd));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
