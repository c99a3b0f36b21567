// SPDX-License-Identifier: GPL-2.0
/*
 * Traced processes die at any point.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <posixtrace.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "family.h"
#include "polling.h"
#include "reading.h"

static int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Returns the poll() events of a stream's descriptor. */
static int poll_now(trace_id_t trid)
{
	return poll_say(posixtrace_fd(trid), 0);
}

FIXTURE(death)
{
	trace_id_t trid;	/* on this process and its children */
};

FIXTURE_SETUP(death)
{
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
}

FIXTURE_TEARDOWN(death)
{
	posix_trace_shutdown(self->trid);
}

/* ------------------------------------------------------------------ */
/* At any point								*/

struct life {
	int begun;		/* number of events begun */
	int done;
	struct line line;
};

/* Limit of events to record. If the kill comes late, reading more of them would take too long. */
#define EVENTS_MAX	200

static void record_until_killed(struct life *life)
{
	int limit = life->begun + EVENTS_MAX;

	line_up(&life->line, 2);
	for (;;) {
		if (life->begun == limit) {
			sched_yield();
			continue;
		}
		record_plain(__atomic_fetch_add(&life->begun, 1, __ATOMIC_ACQ_REL));
		__atomic_store_n(&life->done, life->begun, __ATOMIC_RELEASE);
	}
}

/* Expects all completed events, and perhaps also the last one that was begun. */
static void check_life(struct __test_metadata *_metadata, trace_id_t trid, pid_t pid,
		       const struct life *life)
{
	struct event event;
	int count = 0;

	while (take_user(trid, &event) == 1) {
		ASSERT_EQ(pid, event.info.posix_pid);
		ASSERT_EQ(count++, event_number(&event));
	}
	ASSERT_LE(life->done, count);
	ASSERT_GE(life->begun, count);
}

static void kill_in_the_middle(struct __test_metadata *_metadata, trace_id_t trid,
			       int events, int step)
{
	struct life *life = share(sizeof(*life));
	struct posixtrace_stats_info stats;

	ASSERT_NE(NULL, life);
	for (int i = 0; i < rounds(400); i++) {
		pid_t pid;

		memset(life, 0, sizeof(*life));
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			record_until_killed(life);
		line_up(&life->line, 2);
		while (load(&life->done) < events)
			sched_yield();
		dawdle(i * step % 5003);
		kill(pid, SIGKILL);
		ASSERT_EQ(-SIGKILL, ended(pid));
		check_life(_metadata, trid, pid, life);
		ASSERT_EQ(1, processes_of(trid));
	}
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(0, stats.damaged);
	EXPECT_EQ(0, stats.dropped);
	EXPECT_EQ(stats.recorded, stats.read);
	/* The remaining process records as before. */
	record_plain(1);
	EXPECT_EQ(stats.recorded + 1, generated_for(trid));
}

TEST_F(death, while_recording)
{
	kill_in_the_middle(_metadata, self->trid, 2, 131);
}

/* The first event attaches the process, which takes much longer. */
TEST_F(death, while_attaching)
{
	kill_in_the_middle(_metadata, self->trid, 0, 3001);
}

static void *record_in_thread(void *arg)
{
	record_until_killed(arg);
	return NULL;
}

/* Each thread records its own events, and dies at an arbitrary point. */
TEST_F(death, of_threads_while_recording)
{
	struct life *lives = share(2 * sizeof(*lives));
	struct event event;

	ASSERT_NE(NULL, lives);
	for (int i = 0; i < rounds(150); i++) {
		int count[2] = { 0 };
		pid_t pid;

		memset(lives, 0, 2 * sizeof(*lives));
		lives[1].begun = 1000000;
		lives[1].done = lives[1].begun;
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0) {
			pthread_t thread;

			if (!pthread_create(&thread, NULL, record_in_thread, &lives[1]))
				record_until_killed(&lives[0]);
			_exit(1);
		}
		line_up(&lives[0].line, 2);
		line_up(&lives[1].line, 2);
		while (load(&lives[1].done) < 1000001)
			sched_yield();
		dawdle(i * 131 % 20011);
		kill(pid, SIGKILL);
		ASSERT_EQ(-SIGKILL, ended(pid));
		while (take_user(self->trid, &event) == 1) {
			int thread = event_number(&event) / 1000000;

			ASSERT_EQ(count[thread]++, event_number(&event) % 1000000);
		}
		for (int j = 0; j < 2; j++) {
			ASSERT_LE(lives[j].done % 1000000, count[j]);
			ASSERT_GE(lives[j].begun % 1000000, count[j]);
		}
		ASSERT_EQ(1, processes_of(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* Several controllers							*/

#define CONTROLLERS	3

/* Receives the pid to trace. When that process has ended, reports the number of its events. */
static int count_events(void *arg, const struct talk *talk)
{
	struct event event;
	trace_id_t trid;
	int count;
	long pid;

	(void)arg;
	while ((pid = hear(talk)) > 0) {
		say(talk, new_family_stream(pid, POSIX_TRACE_CLOSE_FOR_CHILD, 512 << 10,
					    POSIX_TRACE_UNTIL_FULL, &trid) ||
		    posix_trace_start(trid));
		hear(talk);
		for (count = 0; take_user(trid, &event) == 1; count++) {
			if (event.info.posix_pid != pid || event_number(&event) != count)
				return 1;
		}
		if (processes_of(trid) != 0 || poll_now(trid) != POLLHUP)
			return 2;
		say(talk, count);
		if (posix_trace_shutdown(trid))
			return 3;
	}
	return 0;
}

TEST(death_with_streams_of_several_controllers)
{
	struct life *life = share(sizeof(*life));
	struct child controllers[CONTROLLERS];

	ASSERT_NE(NULL, life);
	for (int i = 0; i < CONTROLLERS; i++)
		ASSERT_EQ(0, child_start(&controllers[i], count_events, NULL));
	for (int i = 0; i < rounds(60); i++) {
		pid_t pid;

		memset(life, 0, sizeof(*life));
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			record_until_killed(life);
		for (int j = 0; j < CONTROLLERS; j++) {
			say(&controllers[j].talk, pid);
			ASSERT_EQ(0, hear(&controllers[j].talk));
		}
		line_up(&life->line, 2);
		while (load(&life->done) < 2)
			sched_yield();
		dawdle(i * 131 % 20011);
		kill(pid, SIGKILL);
		ASSERT_EQ(-SIGKILL, ended(pid));
		for (int j = 0; j < CONTROLLERS; j++) {
			long count;

			say(&controllers[j].talk, 0);
			count = hear(&controllers[j].talk);
			ASSERT_LE(life->done, count);
			ASSERT_GE(life->begun, count);
		}
	}
	/* The controllers hold each other's pipes, so closing one does not end its reader. */
	for (int i = 0; i < CONTROLLERS; i++) {
		say(&controllers[i].talk, 0);
		EXPECT_EQ(0, child_wait(&controllers[i]));
	}
}

/* The process ends while the stream is created. */
TEST(death_while_a_stream_is_created)
{
	struct life *life = share(sizeof(*life));
	int created = 0, refused = 0;
	trace_id_t trid;

	ASSERT_NE(NULL, life);
	for (int i = 0; i < rounds(300); i++) {
		pid_t pid = fork();
		int err;

		ASSERT_LE(0, pid);
		if (pid == 0) {
			line_up(&life->line, 2);
			dawdle(i * 7919 % 100003);
			_exit(0);
		}
		line_up(&life->line, 2);
		err = new_stream(pid, POSIX_TRACE_LOOP, &trid);
		ASSERT_EQ(0, ended(pid));
		if (!err) {
			created++;
			ASSERT_EQ(0, processes_of(trid));
			ASSERT_EQ(POLLHUP, poll_now(trid));
			ASSERT_EQ(0, posix_trace_shutdown(trid));
		} else {
			refused++;
			ASSERT_EQ(ESRCH, err);
		}
		ASSERT_EQ(ESRCH, new_stream(pid, POSIX_TRACE_LOOP, &trid));
	}
	TH_LOG("%d created, %d refused", created, refused);
}

/* ------------------------------------------------------------------ */
/* Reused process ids							*/

/* Starts a child with this pid. */
static int start_numbered(struct child *child, pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	int there[2], back[2];

	*child = (struct child){ .pid = -1 };
	if (pipe(there) || pipe(back))
		return -errno;
	child->pid = syscall(SYS_clone3, &args, sizeof(args));
	if (child->pid == 0) {
		struct talk talk = { .in = there[0], .out = back[1] };

		close(there[1]);
		close(back[0]);
		_exit(record_on_request(NULL, &talk));
	}
	if (child->pid < 0)
		return -errno;
	close(there[0]);
	close(back[1]);
	child->talk = (struct talk){ .in = back[0], .out = there[1] };
	return 0;
}

TEST(process_with_a_reused_id_is_not_traced)
{
	struct child first, second;
	struct event event;
	trace_id_t old, new;

	for (int i = 0; i < rounds(50); i++) {
		ASSERT_EQ(0, child_start(&first, record_on_request, NULL));
		ASSERT_EQ(0, hear(&first.talk));
		ASSERT_EQ(0, new_family_stream(first.pid, POSIX_TRACE_INHERITED, 32 << 10,
					       POSIX_TRACE_LOOP, &old));
		ASSERT_EQ(0, posix_trace_start(old));
		if (i % 2) {
			say(&first.talk, 1);
			ASSERT_EQ(1, hear(&first.talk));
		}
		child_kill(&first);
		ASSERT_EQ(0, start_numbered(&second, first.pid));
		ASSERT_EQ(first.pid, second.pid);
		ASSERT_EQ(0, hear(&second.talk));
		say(&second.talk, 2);
		ASSERT_EQ(2, hear(&second.talk));
		ASSERT_EQ(0, processes_of(old));
		ASSERT_EQ(0, new_stream(second.pid, POSIX_TRACE_LOOP, &new));
		ASSERT_EQ(0, posix_trace_start(new));
		say(&second.talk, 3);
		ASSERT_EQ(3, hear(&second.talk));
		if (i % 2) {
			ASSERT_EQ(1, take_user(old, &event));
			ASSERT_EQ(1, event_number(&event));
		}
		ASSERT_EQ(0, take_user(old, &event));
		ASSERT_EQ(1, take_user(new, &event));
		ASSERT_EQ(3, event_number(&event));
		ASSERT_EQ(0, child_wait(&second));
		ASSERT_EQ(0, posix_trace_shutdown(old));
		ASSERT_EQ(0, posix_trace_shutdown(new));
	}
}

/* ------------------------------------------------------------------ */
/* No process is left							*/

FIXTURE(last)
{
	struct child child;
	trace_id_t trid;
	struct event event;
};

FIXTURE_SETUP(last)
{
	ASSERT_EQ(0, child_start(&self->child, record_on_request, NULL));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, start_family_stream(self->child.pid, &self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(last)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(last, its_events_can_be_read)
{
	EXPECT_EQ(1, processes_of(self->trid));
	EXPECT_EQ(0, poll_now(self->trid));
	for (int i = 1; i <= 3; i++) {
		say(&self->child.talk, i);
		ASSERT_EQ(i, hear(&self->child.talk));
	}
	EXPECT_EQ(POLLIN, poll_now(self->trid));
	child_kill(&self->child);
	EXPECT_EQ(0, processes_of(self->trid));
	for (int i = 1; i <= 3; i++) {
		EXPECT_EQ(POLLIN | POLLHUP, poll_now(self->trid));
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		EXPECT_EQ(i, event_number(&self->event));
	}
	EXPECT_EQ(POLLHUP, poll_now(self->trid));
	EXPECT_EQ(0, take(self->trid, &self->event));
	/* The stream is unchanged. */
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(POLLIN | POLLHUP, poll_now(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_STOP, self->event.info.posix_event_id);
}

TEST_F(last, reader_keeps_waiting)
{
	struct reader reader;

	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	say(&self->child.talk, 1);
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(1, event_number(&reader.event));

	ASSERT_EQ(1, hear(&self->child.talk));
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	EXPECT_EQ(0, child_wait(&self->child));
	EXPECT_EQ(0, processes_of(self->trid));
	EXPECT_EQ(POLLHUP, poll_now(self->trid));
	ASSERT_TRUE(reader_sleeps(&reader));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, reader_end(&reader));
}

TEST_F(last, later_reader_waits)
{
	struct timespec soon;
	struct reader reader;

	EXPECT_EQ(0, child_wait(&self->child));
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	clock_gettime(CLOCK_REALTIME, &soon);
	EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, 8, &soon));
	/* The reader gets an event of the controller. */
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(POSIX_TRACE_STOP, reader.event.info.posix_event_id);
}

TEST_F(last, poller_wakes_up)
{
	struct poller poller;

	ASSERT_EQ(0, poller_start(&poller, poll_say, posixtrace_fd(self->trid)));
	EXPECT_EQ(0, child_wait(&self->child));
	EXPECT_EQ(POLLHUP, poller_end(&poller));
}

/* A traced process with a child; it lives until the next message, and the child outlives it. */
static int bear_one(void *arg, const struct talk *talk)
{
	int *line = arg;
	char c;

	if (hear(talk))
		return 1;
	if (fork() == 0) {
		close(line[1]);
		if (read(line[0], &c, 1) == 1)
			record_plain(7);
		_exit(0);
	}
	say(talk, 0);
	hear(talk);
	return 0;
}

TEST(poller_wakes_up_when_the_last_process_ends)
{
	struct poller poller;
	struct child child;
	struct event event;
	trace_id_t trid;
	int line[2];

	ASSERT_EQ(0, pipe(line));
	ASSERT_EQ(0, child_start(&child, bear_one, line));
	ASSERT_EQ(0, start_family_stream(child.pid, &trid));
	ASSERT_EQ(1, take(trid, &event));
	say(&child.talk, 0);
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(2, processes_of(trid));
	ASSERT_EQ(0, poller_start(&poller, poll_say, posixtrace_fd(trid)));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(1, processes_of(trid));
	EXPECT_EQ(0, poll_now(trid));
	EXPECT_FALSE(load(&poller.done));
	ASSERT_EQ(1, write(line[1], "", 1));
	/* Either the event or the end wakes the poller. */
	EXPECT_TRUE(poller_end(&poller) & POLLIN);
	ASSERT_EQ(0, posix_trace_getnext_event(trid, &event.info, event.data, sizeof(event.data),
					       &event.len, &event.unavailable));
	EXPECT_EQ(7, event_number(&event));
	while (processes_of(trid))
		sched_yield();
	EXPECT_EQ(POLLHUP, poll_now(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

#define DEPTH	20

struct chain {
	int depth;		/* depth of the youngest process */
	int over;
};

/*
 * Creates processes one after the other. Each ends as soon as it has a child, which may not have
 * run yet.
 */
static int bear_and_end(void *arg, const struct talk *talk)
{
	struct chain *chain = arg;
	pid_t pid;

	if (hear(talk))
		return 1;
	for (int depth = 1; depth < DEPTH; depth++) {
		pid = fork();
		if (pid)
			_exit(pid < 0);
		__atomic_store_n(&chain->depth, depth, __ATOMIC_RELEASE);
	}
	record_plain(DEPTH);
	__atomic_store_n(&chain->over, 1, __ATOMIC_RELEASE);
	_exit(0);
}

TEST(poller_sleeps_while_a_process_is_being_created)
{
	struct chain *chain = share(sizeof(*chain));
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_NE(NULL, chain);
	ASSERT_EQ(0, adopt_orphans());
	for (int i = 0; i < rounds(30); i++) {
		struct pollfd pollfd;

		chain->over = 0;
		ASSERT_EQ(0, child_start(&child, bear_and_end, chain));
		ASSERT_EQ(0, new_family_stream(child.pid, POSIX_TRACE_INHERITED, 32 << 10,
					       POSIX_TRACE_LOOP, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		say(&child.talk, 0);
		/* Poll without blocking, or block until woken up. */
		pollfd = (struct pollfd){ .fd = posixtrace_fd(trid) };
		while (poll(&pollfd, 1, i % 2 ? 0 : -1) == 0) {
			if (!processes_of(trid))
				ASSERT_EQ(1, load(&chain->over));
		}
		ASSERT_EQ(POLLHUP, pollfd.revents);
		ASSERT_EQ(1, load(&chain->over));
		ASSERT_EQ(1, take_user(trid, &event));
		ASSERT_EQ(DEPTH, event_number(&event));
		ASSERT_EQ(0, all_ended());
		close(child.talk.in);
		close(child.talk.out);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
}

TEST_HARNESS_MAIN
