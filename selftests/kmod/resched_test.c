// SPDX-License-Identifier: GPL-2.0
/*
 * Commands whose time grows with the number of processes, threads or event types. They must let
 * other threads run on the processor, even if the kernel does not preempt tasks in the kernel.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

#define TYPES		1000
#define CHILDREN	200
/* A small guest can have 3,200 threads in total, and some of an earlier test may still exist. */
#define THREADS		2500
#define STACK		131072
/* Nanoseconds between two turns of the other thread. Much less than the time of a call. */
#define INTERVAL	50000
/*
 * During a call, the other thread waits for less than this fraction of the call. A walk lets it run
 * after 64 threads, which is a 39th of THREADS, but beside other load a 32nd is too small.
 */
#define PART		8
#define PART_THREADS	16
/*
 * Time limit in nanoseconds: by then, during one of the calls, the other thread must have run in
 * time.
 */
#define PATIENCE	(60 * NSEC)

/* The turns and longest wait of the other thread, which shares the test's processor. */
static unsigned long turns;
static unsigned long long longest;
static bool enough;

/*
 * The other thread: periodically needs the processor for a moment, with priority over all others.
 */
static void *take_turns(void *arg)
{
	const struct timespec interval = { .tv_nsec = INTERVAL };
	unsigned long long last = now(), at;

	(void)arg;
	for (; !LOAD(enough); last = at) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &interval, NULL);
		at = now();
		if (at - last > LOAD(longest))
			__atomic_store_n(&longest, at - last, __ATOMIC_RELEASE);
		__atomic_store_n(&turns, turns + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int start_turns(pthread_t *thread)
{
	const struct sched_param param = { .sched_priority = 1 };
	pthread_attr_t attr;
	int err;

	enough = false;
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	/* The thread inherits the CPU affinity, so it runs on the processor of its creator. */
	err = pthread_create(thread, &attr, take_turns, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

static void end_turns(pthread_t thread)
{
	__atomic_store_n(&enough, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* A process with many event types, which have names, and many children. */
static int be_large(void *arg, const struct talk *talk)
{
	struct target target;
	char name[16];
	int i;

	(void)arg;
	if (target_open(&target))
		return 1;
	for (i = 0; i < TYPES; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		if (eventid_open(target.fd, name) <= POSIXTRACE_ID_UNNAMED)
			return 2;
	}
	say(talk, 0);
	/* Wait until there is a stream, so that the children inherit it. */
	hear(talk);
	for (i = 0; i < CHILDREN; i++) {
		switch (fork()) {
		case -1:
			return 3;
		case 0:
			hear(talk);
			_exit(0);
		}
	}
	say(talk, 0);
	hear(talk);
	return 0;
}

FIXTURE(crowd)
{
	struct stream stream;
	struct child large;
	pthread_t other;
};

FIXTURE_SETUP(crowd)
{
	ASSERT_EQ(0, run_on(0));
	ASSERT_EQ(0, child_start(&self->large, be_large, NULL));
	ASSERT_EQ(0, hear(&self->large.talk));
	create_init(&self->stream.arg, self->large.pid);
	self->stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&self->stream));
	say(&self->large.talk, 0);
	ASSERT_EQ(0, hear(&self->large.talk));
	ASSERT_EQ(0, start_turns(&self->other));
}

FIXTURE_TEARDOWN(crowd)
{
	end_turns(self->other);
	stream_close(&self->stream);
	child_wait(&self->large);
}

/*
 * Returns 1 if the other thread had at least @part turns during a call, and waited for less than
 * this fraction of it; 0 if not; -1 if the call failed.
 */
static int shares_once(struct stream *stream, int (*call)(struct stream *stream, int i), int i,
		       unsigned int part)
{
	unsigned long before = LOAD(turns);
	unsigned long long begin, took;

	__atomic_store_n(&longest, 0, __ATOMIC_RELEASE);
	begin = now();
	if (call(stream, i))
		return -1;
	took = now() - begin;
	return LOAD(turns) - before >= part && LOAD(longest) * part < took;
}

/*
 * Returns true if, during one of several calls, the other thread had some turns and waited for no
 * more than a small part of the call. One such call is enough, because in the others, another task
 * may have used the processor. If the command never lets other threads run, there is no such call.
 */
static bool shares(struct stream *stream, int (*call)(struct stream *stream, int i),
		   void (*after)(struct stream *stream), unsigned int part)
{
	const unsigned long long start = now();
	int ret = 0;

	for (int i = 0; !ret && now() - start < PATIENCE; i++) {
		ret = shares_once(stream, call, i, part);
		if (after)
			after(stream);
	}
	return ret > 0;
}

/* Changes the gates of all children for half of the types. */
static int change_filter(struct stream *stream, int i)
{
	struct posixtrace_filter arg = { .how = POSIXTRACE_FILTER_SET };

	memset(arg.set.bits, i % 2 ? 0x55 : 0xaa, sizeof(arg.set.bits));
	return command(stream->fd, POSIXTRACE_IOC_SET_FILTER, &arg);
}

static int start_or_stop(struct stream *stream, int i)
{
	return i % 2 ? stream_stop(stream) : stream_start(stream);
}

TEST_F_TIMEOUT(crowd, set_filter_lets_other_threads_run, 120)
{
	EXPECT_TRUE(shares(&self->stream, change_filter, NULL, PART));
}

TEST_F_TIMEOUT(crowd, start_and_stop_let_other_threads_run, 120)
{
	EXPECT_TRUE(shares(&self->stream, start_or_stop, NULL, PART));
}

/* ------------------------------------------------------------------ */
/* Very many threads							*/

static void *be_asleep(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int start_threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int i = 0; i < THREADS && !err; i++)
		err = pthread_create(&thread, &attr, be_asleep, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

static int be_many(void *arg, const struct talk *talk)
{
	(void)arg;
	if (start_threads())
		return 1;
	say(talk, 0);
	hear(talk);
	return 0;
}

/* CREATE stores the names of all threads for the log. */
static int create_with_log(struct stream *stream, int i)
{
	int err;

	(void)i;
	create_init(&stream->arg, stream->arg.pid);
	stream->arg.log_fd = memfd_create("log", MFD_CLOEXEC);
	stream->fd = device_open();
	err = command(stream->fd, POSIXTRACE_IOC_CREATE, &stream->arg);
	close(stream->arg.log_fd);
	return err;
}

static void close_fd(struct stream *stream)
{
	close(stream->fd);
}

FIXTURE(threads)
{
	struct stream stream;
	struct child many;
	pthread_t other;
};

FIXTURE_SETUP(threads)
{
	ASSERT_EQ(0, run_on(0));
	ASSERT_EQ(0, child_start(&self->many, be_many, NULL));
	ASSERT_EQ(0, hear(&self->many.talk));
	create_init(&self->stream.arg, self->many.pid);
	ASSERT_EQ(0, start_turns(&self->other));
}

FIXTURE_TEARDOWN(threads)
{
	end_turns(self->other);
	child_wait(&self->many);
}

TEST_F_TIMEOUT(threads, create_with_log_lets_other_threads_run, 120)
{
	EXPECT_TRUE(shares(&self->stream, create_with_log, close_fd, PART_THREADS));
}

/* Gets the states of all threads. */
static int get_states(struct stream *stream, int i)
{
	static struct posixtrace_state state[THREADS + 1];
	struct posixtrace_states arg = { .next = 0 };
	unsigned int threads = 0;
	int err;

	(void)i;
	do {
		arg.states = (uintptr_t)state;
		arg.count = ARRAY_SIZE(state);
		err = command(stream->fd, POSIXTRACE_IOC_STATES, &arg);
		threads += arg.count;
	} while (!err && arg.next != -1);
	return err || threads < THREADS;
}

TEST_F_TIMEOUT(threads, states_let_other_threads_run, 120)
{
	self->stream.arg.attr.classes = POSIXTRACE_CLASS_SCHED;
	ASSERT_EQ(0, stream_open(&self->stream));
	EXPECT_TRUE(shares(&self->stream, get_states, NULL, PART_THREADS));
	stream_close(&self->stream);
}

/* The first SYNC looks for threads that share a thread pointer. */
static int first_sync(struct stream *stream, int i)
{
	struct target target;

	(void)stream;
	(void)i;
	return target_open(&target) || target_sync(&target);
}

/* Returns the result of shares_once() for a process that has never been a target. */
static int sync_once(void *arg, const struct talk *talk)
{
	pthread_t other;

	(void)arg;
	(void)talk;
	if (start_threads() || start_turns(&other))
		return -1;
	return shares_once(NULL, first_sync, 0, PART);
}

FIXTURE(newcomer)
{
	struct child child;
};

FIXTURE_SETUP(newcomer)
{
	ASSERT_EQ(0, run_on(0));
}

FIXTURE_TEARDOWN(newcomer)
{
}

TEST_F_TIMEOUT(newcomer, sync_lets_other_threads_run, 120)
{
	const unsigned long long start = now();
	int status = 0;

	for (int i = 0; !status && now() - start < PATIENCE; i++) {
		ASSERT_EQ(0, child_start(&self->child, sync_once, NULL));
		status = child_wait(&self->child);
	}
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
