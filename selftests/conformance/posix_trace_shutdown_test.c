// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_shutdown(): Documentation/conformance/posix_trace_shutdown.rst
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "stream_fixtures.h"
#include "foreign.h"
#include "idle.h"
#include "stream_state.h"
#include "logged_stream.h"
#include "logdrain.h"

/* The maximum number of streams per process. */
#define STREAMS_MAX	31

/* Returns how many streams can be created on a process. Creates them and shuts them down again. */
static int free_slots(pid_t pid)
{
	trace_id_t trid[STREAMS_MAX];
	int n = 0;

	while (n < STREAMS_MAX && !new_stream(pid, POSIX_TRACE_LOOP, &trid[n]))
		n++;
	for (int i = 0; i < n; i++)
		posix_trace_shutdown(trid[i]);
	return n;
}

/* Returns the number that the next descriptor will get. */
static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

TEST_F(started, a01_trace_points_keep_working_and_record_nothing)
{
	trace_id_t other;

	ASSERT_EQ(0, new_stream(0, variant->policy, &other));
	record_number(1);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	for (int i = 0; i < 10; i++)
		record_number(i);
	/* The events of the stream do not appear in any other stream, older or newer. */
	EXPECT_EQ(0, posix_trace_start(other));
	EXPECT_EQ(1, take_all(other));
	EXPECT_EQ(0, posix_trace_shutdown(other));
	ASSERT_EQ(0, new_stream(0, variant->policy, &other));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(other));
	EXPECT_EQ(0, take_all(other));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(started, a01_no_other_stream_is_stopped)
{
	struct event event;
	trace_id_t other;

	ASSERT_EQ(0, start_new_stream(variant->policy, &other));
	record_number(1);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	record_number(2);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(other));
	for (int i = 1; i <= 2; i++) {
		ASSERT_EQ(1, take_user(other, &event));
		EXPECT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

static void *record_until_stopped(void *arg)
{
	int *recorded = arg;

	/* A negative number ends the thread. */
	while (__atomic_fetch_add(recorded, 1, __ATOMIC_ACQ_REL) >= 0)
		record_number(1);
	return NULL;
}

/* Shutdown can come in the middle of an event. */
TEST_F(started, a01_shutdown_while_a_thread_records)
{
	pthread_t thread;
	int recorded = 0;

	ASSERT_EQ(0, pthread_create(&thread, NULL, record_until_stopped, &recorded));
	for (int i = 0; i < 20; i++) {
		int seen = __atomic_load_n(&recorded, __ATOMIC_ACQUIRE);

		while (__atomic_load_n(&recorded, __ATOMIC_ACQUIRE) < seen + 5)
			sched_yield();
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
		ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
	}
	__atomic_store_n(&recorded, INT_MIN, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

TEST_F(started, a02_all_resources_are_free_again)
{
	int fd, maps;

	record_number(1);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	fd = next_fd();
	maps = count_device_maps();
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
		record_number(1);
		ASSERT_EQ(1, take_all(self->trid) > 0);
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	}
	EXPECT_EQ(fd, next_fd());
	EXPECT_EQ(maps, count_device_maps());
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
}

/* The next stream needs the last free slot, so a late release would make it fail. */
TEST_F(started, a03_resources_are_free_on_return)
{
	trace_id_t trid[STREAMS_MAX - 1];

	for (int i = 0; i < STREAMS_MAX - 1; i++)
		ASSERT_EQ(0, new_stream(0, variant->policy, &trid[i]));
	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
		ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
		record_number(i);
	}
	for (int i = 0; i < STREAMS_MAX - 1; i++)
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
}

TEST_F(started, a04_trace_id_is_invalid_afterwards)
{
	struct posix_trace_status_info status;
	trace_id_t other;

	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_start(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(-EINVAL, take_all(self->trid));
	/* A new stream does not make the old trace id valid again. */
	ASSERT_EQ(0, new_stream(0, variant->policy, &other));
	EXPECT_NE(self->trid, other);
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(started, a05_unread_events_do_not_matter)
{
	for (int i = 0; i < 50; i++)
		record_number(i);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
}

TEST_F(started, a06_suspended_stream)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
}

TEST_F(started, a06_new_stream)
{
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, variant->policy, &trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(started, a06_full_stream)
{
	overfill(0);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	overfill(0);
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
}

TEST_F(started, a06_stream_after_the_end_of_the_traced_process)
{
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, child_record, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, variant->policy, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(1, let_record(&child, 1));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* Threads that wait for an event					*/

struct waiter {
	pthread_t thread;
	trace_id_t trid;
	pid_t tid;
	int err;
};

static void *wait_getnext(void *arg)
{
	struct waiter *waiter = arg;
	struct event event;

	__atomic_store_n(&waiter->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	waiter->err = posix_trace_getnext_event(waiter->trid, &event.info, event.data,
						sizeof(event.data), &event.len,
						&event.unavailable);
	return NULL;
}

static void *wait_timedgetnext(void *arg)
{
	struct timespec in_an_hour;
	struct waiter *waiter = arg;
	struct event event;

	clock_gettime(CLOCK_REALTIME, &in_an_hour);
	in_an_hour.tv_sec += 3600;
	__atomic_store_n(&waiter->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	waiter->err = posix_trace_timedgetnext_event(waiter->trid, &event.info, event.data,
						     sizeof(event.data), &event.len,
						     &event.unavailable, &in_an_hour);
	return NULL;
}

TEST_F(started, a07_blocked_threads_return_einval)
{
	void *(*const fns[])(void *) = { wait_getnext, wait_timedgetnext, wait_getnext };
	struct waiter waiter[3];

	ASSERT_EQ(1, take_all(self->trid));
	for (int i = 0; i < 3; i++) {
		waiter[i] = (struct waiter){ .trid = self->trid };
		ASSERT_EQ(0, pthread_create(&waiter[i].thread, NULL, fns[i], &waiter[i]));
	}
	for (int i = 0; i < 3; i++)
		falls_asleep(&waiter[i].tid, NULL);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_join(waiter[i].thread, NULL));
		EXPECT_EQ(EINVAL, waiter[i].err);
	}
}

TEST_F(started, a07_threads_on_other_streams_remain_blocked)
{
	struct waiter waiter = { 0 };
	trace_id_t other;

	ASSERT_EQ(0, start_new_stream(variant->policy, &other));
	ASSERT_EQ(1, take_all(other));
	waiter.trid = other;
	ASSERT_EQ(0, pthread_create(&waiter.thread, NULL, wait_getnext, &waiter));
	falls_asleep(&waiter.tid, NULL);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	record_number(1);
	ASSERT_EQ(0, pthread_join(waiter.thread, NULL));
	EXPECT_EQ(0, waiter.err);
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

/* ------------------------------------------------------------------ */
/* The end of the controller						*/

struct control {
	pid_t pid;
	int policy;
	enum { BY_EXIT, BY_QUICK_EXIT, BY_EXEC, BY_SIGNAL } end;
};

/*
 * Runs in the controller: creates all streams that the traced process can have. Half of them run,
 * and are full.
 */
static int control(void *arg, const struct talk *talk)
{
	struct control *control = arg;
	trace_id_t trid[STREAMS_MAX];

	for (int i = 0; i < STREAMS_MAX; i++) {
		if (new_stream(control->pid, control->policy, &trid[i]) ||
		    (i % 2 && posix_trace_start(trid[i])))
			return 1;
	}
	say(talk, STREAMS_MAX);
	hear(talk);
	switch (control->end) {
	case BY_EXIT:
		exit(0);
	case BY_QUICK_EXIT:
		_exit(0);
	case BY_EXEC:
		become_idle(talk);
		break;
	case BY_SIGNAL:
		kill(getpid(), SIGKILL);
	}
	return 1;
}

FIXTURE(end)
{
	struct child child;
	struct control control;
};

FIXTURE_VARIANT(end)
{
	int end;
	int policy;
};

FIXTURE_VARIANT_ADD(end, exit) { BY_EXIT, POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(end, _exit) { BY_QUICK_EXIT, POSIX_TRACE_UNTIL_FULL };
FIXTURE_VARIANT_ADD(end, exec) { BY_EXEC, POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(end, signal) { BY_SIGNAL, POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(end)
{
	self->control = (struct control){ getpid(), variant->policy, variant->end };
	ASSERT_EQ(0, child_start(&self->child, control, &self->control));
	ASSERT_EQ(STREAMS_MAX, hear(&self->child.talk));
}

FIXTURE_TEARDOWN(end)
{
}

TEST_F(end, a08_streams_of_a_controller_end_with_it)
{
	trace_id_t trid;

	ASSERT_EQ(EAGAIN, new_stream(0, POSIX_TRACE_LOOP, &trid));
	overfill(0);
	say(&self->child.talk, 0);
	/* If the controller executes a program, the new program reports that it runs. */
	ASSERT_EQ(variant->end == BY_EXEC ? IDLE : -EPIPE, hear(&self->child.talk));
	if (variant->end != BY_EXEC)
		child_wait(&self->child);
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
	overfill(0);
	if (variant->end == BY_EXEC)
		EXPECT_EQ(0, child_wait(&self->child));
}

/* A child of the controller has copies of all its descriptors, and outlives it. */
static int control_with_child(void *arg, const struct talk *talk)
{
	struct child child;
	trace_id_t trid;

	if (new_stream(*(pid_t *)arg, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid) ||
	    child_start(&child, child_idle, NULL) || hear(&child.talk))
		return 1;
	say(talk, child.pid);
	hear(talk);
	/* Exit without waiting for the child. */
	_exit(0);
}

TEST(a08_streams_end_even_if_a_child_of_the_controller_survives)
{
	pid_t pid = getpid();
	struct child child;

	ASSERT_EQ(0, child_start(&child, control_with_child, &pid));
	ASSERT_LT(0, hear(&child.talk));
	ASSERT_EQ(STREAMS_MAX - 1, free_slots(0));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
}

static int end_at_once(void *arg, const struct talk *talk)
{
	(void)arg;
	(void)talk;
	return 0;
}

TEST_F(started, a09_end_of_a_child_does_not_end_the_stream)
{
	struct child child;
	struct event event;

	ASSERT_EQ(0, child_start(&child, end_at_once, NULL));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	record_number(1);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(1, event_number(&event));
}

TEST_F(started, a10_einval_without_an_active_stream)
{
	EXPECT_EQ(0, bad_trids_accepted(posix_trace_shutdown, self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
}

TEST_F(started, a11_cancelled_thread_leaves_the_stream_unchanged_or_shut_down)
{
	int ret = call_trid_cancelled(posix_trace_shutdown, self->trid);

	/* The thread was cancelled either before the shutdown or not at all. */
	if (ret == -ECANCELED)
		ret = posix_trace_shutdown(self->trid);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(EINVAL, posix_trace_shutdown(self->trid));
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
}

struct user {
	pthread_t thread;
	trace_id_t trid;
	int calls;
	int failed;
	int ended;
};

/* Calls functions of the stream until it is gone. */
static void *use(void *arg)
{
	struct posix_trace_status_info status;
	struct user *user = arg;
	int err[4];

	do {
		err[0] = posix_trace_start(user->trid);
		err[1] = posix_trace_get_status(user->trid, &status);
		err[2] = posix_trace_clear(user->trid);
		err[3] = -take_all(user->trid);
		for (int i = 0; i < 4; i++)
			user->failed += err[i] > 0 && err[i] != EINVAL;
		__atomic_fetch_add(&user->calls, 1, __ATOMIC_RELEASE);
	} while (err[0] != EINVAL);
	user->ended = posix_trace_shutdown(user->trid);
	return NULL;
}

TEST_F(started, a12_other_threads_can_use_the_stream_during_the_call)
{
	struct user user[3];

	for (int i = 0; i < 3; i++) {
		user[i] = (struct user){ .trid = self->trid };
		ASSERT_EQ(0, pthread_create(&user[i].thread, NULL, use, &user[i]));
	}
	for (int i = 0; i < 3; i++) {
		while (__atomic_load_n(&user[i].calls, __ATOMIC_ACQUIRE) < 5)
			sched_yield();
	}
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_join(user[i].thread, NULL));
		EXPECT_EQ(0, user[i].failed);
		EXPECT_EQ(EINVAL, user[i].ended);
	}
	EXPECT_EQ(STREAMS_MAX, free_slots(0));
}

static void *shut_down(void *arg)
{
	return (void *)(long)posix_trace_shutdown(*(trace_id_t *)arg);
}

TEST_F(started, a12_one_of_many_threads_shuts_it_down)
{
	for (int round = 0; round < 10; round++) {
		pthread_t thread[4];
		int done = 0;

		for (int i = 0; i < 4; i++)
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, shut_down, &self->trid));
		for (int i = 0; i < 4; i++) {
			void *result;

			ASSERT_EQ(0, pthread_join(thread[i], &result));
			EXPECT_TRUE(!result || (long)result == EINVAL);
			done += !result;
		}
		EXPECT_EQ(1, done);
		ASSERT_EQ(0, new_stream(0, variant->policy, &self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* With a log								*/

TEST_F(logged, a13_unflushed_events_are_flushed)
{
	struct log_content content;

	withlog_record(0, 100);
	ASSERT_EQ(0, withlog_flush(self->trid));
	withlog_record(100, 100);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 200));
}

TEST_F(logged, a14_log_has_attributes_names_and_status)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t log;

	ASSERT_EQ(0, posix_trace_eventid_open("never recorded", &id));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &log));
	EXPECT_EQ(0, posix_trace_get_attr(log, &attr));
	EXPECT_EQ(0, posix_trace_attr_getname(&attr, name));
	EXPECT_STREQ("withlog", name);
	EXPECT_EQ(0, posix_trace_eventid_get_name(log, id, name));
	EXPECT_STREQ("never recorded", name);
	EXPECT_EQ(0, posix_trace_get_status(log, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_F(logged, a15_posix_trace_open_recognizes_the_log)
{
	trace_id_t log;

	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &log));
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_F(logged, a16_returns_after_all_is_written)
{
	int pipe[2], fd = log_tmpfile(), ret;
	struct log_content content;
	trace_id_t trid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_EQ(0, withlog_new(0, &by_hand, pipe[1], &trid));
	close(pipe[1]);
	ASSERT_EQ(0, posix_trace_start(trid));
	withlog_record(0, 500);
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	/* The log was also closed, so the reader gets the end of the file without waiting. */
	ASSERT_EQ(0, fcntl(pipe[0], F_SETFL, O_NONBLOCK));
	do {
		ret = copy_once(pipe[0], fd);
	} while (ret > 0);
	EXPECT_EQ(0, ret);
	close(pipe[0]);
	log_content_fd(fd, &content);
	EXPECT_TRUE(log_content_is(&content, 500));
	close(fd);
}

TEST_HARNESS_MAIN
