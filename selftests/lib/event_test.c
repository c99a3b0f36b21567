// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_event(): which events reach the reader, and which calls record nothing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "pxt_test.h"
#include "trace_test.h"

#define MAX_DATA	256	/* of new_stream() */

FIXTURE(event)
{
	trace_id_t trid;
	trace_event_id_t id;
};

FIXTURE_SETUP(event)
{
	struct event start;

	ASSERT_EQ(0, posix_trace_eventid_open("event", &self->id));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &start));
}

FIXTURE_TEARDOWN(event)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(event, carries_type_and_data)
{
	struct event event;

	posix_trace_event(self->id, "some data", 10);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_TRUE(posix_trace_eventid_equal(self->trid, self->id, event.info.posix_event_id));
	ASSERT_EQ(10, event.len);
	EXPECT_STREQ("some data", (char *)event.data);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(event, carries_process_and_thread)
{
	struct event event;

	posix_trace_event(self->id, NULL, 0);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(getpid(), event.info.posix_pid);
	EXPECT_TRUE(pthread_equal(pthread_self(), event.info.posix_thread_id));
}

static void *record_one(void *arg)
{
	posix_trace_event(*(trace_event_id_t *)arg, NULL, 0);
	return NULL;
}

TEST_F(event, carries_the_id_of_another_thread)
{
	struct event event;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, record_one, &self->id));
	pthread_join(thread, NULL);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(getpid(), event.info.posix_pid);
	EXPECT_TRUE(event.info.posix_thread_id == thread);
	EXPECT_FALSE(event.info.posix_thread_id == pthread_self());
}

TEST_F(event, carries_the_time_of_the_call)
{
	unsigned long long before, after;
	struct event event;

	before = now();
	posix_trace_event(self->id, NULL, 0);
	after = now();
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_LE(before, event_time(&event));
	EXPECT_GE(after, event_time(&event));
	EXPECT_GT(NSEC, event.info.posix_timestamp.tv_nsec);
}

static void call_trace_point(trace_event_id_t id)
{
	posix_trace_event(id, NULL, 0);
	/* Prevents a tail call, which would return elsewhere. */
	__asm__ volatile("" ::: "memory");
}

static void call_another(trace_event_id_t id)
{
	__asm__ volatile("nop");
	posix_trace_event(id, NULL, 0);
	__asm__ volatile("" ::: "memory");
}

TEST_F(event, carries_the_address_in_the_calling_function)
{
	void (*trace_point)(trace_event_id_t) = call_trace_point;
	void (*another)(trace_event_id_t) = call_another;
	struct event first, second, third;

	/* Hide the functions from the compiler, so that it does not inline them. */
	__asm__("" : "+r"(trace_point), "+r"(another));
	trace_point(self->id);
	trace_point(self->id);
	another(self->id);
	ASSERT_EQ(1, take(self->trid, &first));
	ASSERT_EQ(1, take(self->trid, &second));
	ASSERT_EQ(1, take(self->trid, &third));
	EXPECT_EQ(first.info.posix_prog_address, second.info.posix_prog_address);
	EXPECT_NE(first.info.posix_prog_address, third.info.posix_prog_address);
	EXPECT_LT((char *)call_trace_point, (char *)first.info.posix_prog_address);
	EXPECT_GT((char *)call_trace_point + 128, (char *)first.info.posix_prog_address);
	EXPECT_LT((char *)call_another, (char *)third.info.posix_prog_address);
	EXPECT_GT((char *)call_another + 128, (char *)third.info.posix_prog_address);
}

TEST_F(event, without_data)
{
	struct event event;

	posix_trace_event(self->id, NULL, 0);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(0, event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
}

TEST_F(event, data_of_every_length_is_complete)
{
	unsigned char data[MAX_DATA];
	struct event event;

	for (int i = 0; i < MAX_DATA; i++)
		data[i] = i * 31;
	for (size_t len = 0; len <= MAX_DATA; len += len < 20 ? 1 : 59) {
		posix_trace_event(self->id, data, len);
		ASSERT_EQ(1, take(self->trid, &event));
		ASSERT_EQ(len, event.len);
		ASSERT_EQ(0, memcmp(data, event.data, len));
		ASSERT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	}
}

TEST_F(event, data_beyond_the_maximum_is_truncated_when_recorded)
{
	unsigned char data[MAX_DATA + 1];
	struct event event;

	for (int i = 0; i < MAX_DATA + 1; i++)
		data[i] = i * 31;
	posix_trace_event(self->id, data, MAX_DATA + 1);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(MAX_DATA, event.len);
	EXPECT_EQ(0, memcmp(data, event.data, MAX_DATA));
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, event.info.posix_truncation_status);
}

TEST_F(event, unnamed_events_are_recorded)
{
	struct event event;

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "u", 1);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USER_EVENT, event.info.posix_event_id);
}

TEST_F(event, is_recorded_in_every_running_stream)
{
	struct event event;
	trace_id_t other, suspended;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &other));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &suspended));
	ASSERT_EQ(0, posix_trace_start(other));
	posix_trace_event(self->id, "x", 1);
	EXPECT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(1, take_user(other, &event));
	EXPECT_EQ(0, take_user(suspended, &event));
	EXPECT_EQ(0, posix_trace_shutdown(other));
	EXPECT_EQ(0, posix_trace_shutdown(suspended));
}

/* ------------------------------------------------------------------ */
/* Calls that record nothing						*/

TEST_F(event, system_types_have_no_effect)
{
	struct event event;

	posix_trace_event(POSIX_TRACE_START, "x", 1);
	posix_trace_event(POSIX_TRACE_STOP, "x", 1);
	posix_trace_event(POSIX_TRACE_ERROR, "x", 1);
	posix_trace_event(0, "x", 1);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(event, unknown_types_have_no_effect)
{
	struct event event;

	posix_trace_event(self->id + 1, "x", 1);
	posix_trace_event(4095, "x", 1);
	posix_trace_event(4096, "x", 1);
	posix_trace_event(~0U, "x", 1);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(event, suspended_stream_gets_nothing)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_stop(self->trid));
	posix_trace_event(self->id, "x", 1);
	EXPECT_EQ(0, take_user(self->trid, &event));
}

TEST(no_stream_at_all)
{
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_eventid_open("not traced", &id));
	posix_trace_event(id, "x", 1);
}

TEST_F(event, errno_is_kept)
{
	errno = 4711;
	posix_trace_event(self->id, "x", 1);
	EXPECT_EQ(4711, errno);
	posix_trace_event(4095, "x", 1);
	EXPECT_EQ(4711, errno);
	posix_trace_event(POSIX_TRACE_START, "x", 1);
	EXPECT_EQ(4711, errno);
}

static int first_call(void *arg, const struct talk *talk)
{
	(void)arg;
	(void)talk;
	errno = 4711;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	return errno == 4711 ? 0 : 1;
}

/* The first call attaches the process: make it in a child, where nothing is set up yet. */
TEST(errno_is_kept_by_the_first_call)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, first_call, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

/* The process may fault as with memcpy(), or record nothing; other events are unaffected. */
TEST_F(event, bad_data_does_not_affect_other_events)
{
	struct event event;
	pid_t pid = fork();
	int status;

	ASSERT_LE(0, pid);
	if (pid == 0) {
		posix_trace_event(self->id, (void *)8, 16);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status) || WTERMSIG(status) == SIGSEGV);
	posix_trace_event(self->id, "good", 4);
	EXPECT_EQ(1, take(self->trid, &event));
}

/* ------------------------------------------------------------------ */
/* Order								*/

TEST_F(event, events_are_reported_in_the_order_of_their_recording)
{
	unsigned long long last = 0;
	struct event event;

	for (int i = 0; i < 300; i++) {
		posix_trace_event(self->id, &i, sizeof(i));
		if (i % 16 == 0)
			run_on(i / 16);
	}
	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
		ASSERT_LE(last, event_time(&event));
		last = event_time(&event);
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

/* ------------------------------------------------------------------ */
/* Descriptors that a program closes without the library's knowledge	*/

/* Closes all descriptors, and opens others with the same numbers, as a daemon does. */
static int close_all(void *arg, const struct talk *talk)
{
	(void)arg;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "before", 7);
	say(talk, 0);
	if (hear(talk))
		return 1;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "before", 7);
	for (int fd = 3; fd < 64; fd++) {
		if (fd != talk->in && fd != talk->out)
			close(fd);
	}
	for (int i = 0; i < 30; i++) {
		if (open("/dev/null", O_RDWR) < 0)
			return 2;
	}
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "after", 6);
	/* The library has not closed the program's files. */
	for (int i = 0; i < 30; i++) {
		if (fcntl(i + 3, F_GETFD) < 0)
			return 3;
	}
	say(talk, 0);
	return 0;
}

TEST(program_can_close_all_descriptors)
{
	struct event event;
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, close_all, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	say(&child.talk, 0);
	EXPECT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_STREQ("before", (char *)event.data);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_STREQ("after", (char *)event.data);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
