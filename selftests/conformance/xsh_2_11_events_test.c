// SPDX-License-Identifier: GPL-2.0
/*
 * XSH 2.11, event types and the members of events:
 * Documentation/conformance/xsh_2_11_events.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "stream_fixtures.h"
#include "eventset.h"
#include "function.h"
#include "name_test.h"
#include "trace_limits.h"
#include "trace_test.h"
#include "writer.h"
#include "logged_stream.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT

static void record(int number)
{
	posix_trace_event(UNNAMED, &number, sizeof(number));
}

TEST_F(suspended, a01_predefined_types)
{
	bool listed[UNNAMED + 1] = { false };

	for (size_t i = 0; i < PREDEFINED; i++) {
		int id = next_id(self->trid);

		ASSERT_LT(0, id);
		ASSERT_GE(UNNAMED, id);
		listed[id] = true;
	}
	for (size_t i = 0; i < PREDEFINED; i++) {
		EXPECT_TRUE(listed[predefined[i].id]);
		EXPECT_STREQ(predefined[i].name, name_of(self->trid, predefined[i].id).text);
		EXPECT_EQ(predefined[i].id, open_id(predefined[i].name));
	}
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_UNNAMED_USER_EVENT);
}

/* ------------------------------------------------------------------ */
/* START, STOP, FILTER							*/

static void expect_start(struct __test_metadata *_metadata, const struct event *event,
			 const trace_event_set_t *filter)
{
	ASSERT_EQ(POSIX_TRACE_START, event->info.posix_event_id);
	ASSERT_EQ(sizeof(*filter), event->len);
	EXPECT_EQ(0, memcmp(filter, event->data, sizeof(*filter)));
}

TEST_F(suspended, a02_start)
{
	trace_event_set_t filter = set_filled(POSIX_TRACE_WOPID_EVENTS);
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	expect_start(_metadata, &event, &filter);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));

	/* START contains the filter at the time of the start, not the current one. */
	filter = set_of(1000);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &filter, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, filter_one(self->trid, 1001, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(1, take(self->trid, &event));
	expect_start(_metadata, &event, &filter);
}

TEST_F(suspended, a03_stop)
{
	struct event event;
	int automatic = 4711;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	ASSERT_EQ(sizeof(automatic), event.len);
	memcpy(&automatic, event.data, sizeof(automatic));
	EXPECT_EQ(0, automatic);
	EXPECT_EQ(0, take(self->trid, &event));
}

/* Records until the stream is full. Returns the number of events in it. */
static int fill(trace_id_t trid)
{
	struct posix_trace_status_info status;
	int count = -1;

	do {
		record(++count);
		if (posix_trace_get_status(trid, &status))
			return -1;
	} while (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
	return count;
}

FIXTURE(full)
{
	trace_id_t trid;
	int count;
	trace_event_set_t filter;
};

/* A stream that is full of numbered events; START has been read. */
FIXTURE_SETUP(full)
{
	struct event event;

	self->filter = set_of(1000);
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &self->filter,
					    POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	self->count = fill(self->trid);
	ASSERT_LT(10, self->count);
}

FIXTURE_TEARDOWN(full)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(full, a04_automatic_stop)
{
	struct event event;

	for (int i = 0; i < self->count; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		ASSERT_EQ(i, event_number(&event));
	}
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	EXPECT_EQ(sizeof(int), event.len);
	EXPECT_NE(0, event_number(&event));
}

/* Reads until an event of this type is found. */
static int take_type(trace_id_t trid, trace_event_id_t id, struct event *event)
{
	int ret;

	do {
		ret = take(trid, event);
	} while (ret == 1 && event->info.posix_event_id != id);
	return ret;
}

TEST_F(full, a05_automatic_start)
{
	struct event event;

	ASSERT_EQ(1, take_type(self->trid, POSIX_TRACE_STOP, &event));
	ASSERT_EQ(1, take_type(self->trid, POSIX_TRACE_START, &event));
	expect_start(_metadata, &event, &self->filter);
}

TEST_F(suspended, a06_window)
{
	struct event event;
	int number = 0;

	for (int i = 0; i < 3; i++) {
		record(-1);
		ASSERT_EQ(0, posix_trace_start(self->trid));
		record(number++);
		record(number++);
		ASSERT_EQ(0, posix_trace_stop(self->trid));
		record(-1);
	}
	number = 0;
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
		for (int j = 0; j < 2; j++) {
			ASSERT_EQ(1, take(self->trid, &event));
			EXPECT_EQ(UNNAMED, event.info.posix_event_id);
			EXPECT_EQ(number++, event_number(&event));
		}
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	}
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(suspended, a07_filter)
{
	trace_event_set_t old = set_of(1000), new = set_of(1001);
	struct event event;

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &old, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &new, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(POSIX_TRACE_FILTER, event.info.posix_event_id);
	ASSERT_EQ(sizeof(old) + sizeof(new), event.len);
	EXPECT_EQ(0, memcmp(&old, event.data, sizeof(old)));
	EXPECT_EQ(0, memcmp(&new, event.data + sizeof(old), sizeof(new)));
}

/* ------------------------------------------------------------------ */
/* OVERFLOW, RESUME, ERROR						*/

/* Records more events than the stream holds. The first one has the number 0. */
static void flood(void)
{
	char data[256] = "";

	for (int i = 0; i < 1000; i++)
		posix_trace_event(UNNAMED, data, sizeof(data));
}

TEST_F(suspended, a08_overflow_of_loop)
{
	unsigned long long before, after;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	record(1);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(1, take(self->trid, &event));
	before = now();
	record(2);
	after = now();
	flood();
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_OVERFLOW, event.info.posix_event_id);
	EXPECT_LE(before, event_time(&event));
	EXPECT_GE(after, event_time(&event));
	EXPECT_EQ(0, event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
}

TEST(a08_overflow_of_until_full)
{
	struct posix_trace_status_info status;
	unsigned long long before, after;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	do {
		before = now();
		record(0);
		after = now();
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	} while (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
	record(0);
	ASSERT_EQ(1, take_type(trid, POSIX_TRACE_OVERFLOW, &event));
	EXPECT_LE(before, event_time(&event));
	EXPECT_GE(after, event_time(&event));
	EXPECT_EQ(0, event.len);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(suspended, a09_resume_of_loop)
{
	struct event resume, next;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	flood();
	ASSERT_EQ(1, take(self->trid, &resume));
	EXPECT_EQ(POSIX_TRACE_OVERFLOW, resume.info.posix_event_id);
	ASSERT_EQ(1, take(self->trid, &resume));
	EXPECT_EQ(POSIX_TRACE_RESUME, resume.info.posix_event_id);
	EXPECT_EQ(0, resume.len);
	ASSERT_EQ(1, take(self->trid, &next));
	EXPECT_EQ(UNNAMED, next.info.posix_event_id);
	EXPECT_EQ(event_time(&next), event_time(&resume));
}

TEST_F(full, a09_resume_of_until_full)
{
	struct event resume, next;

	record(-1);
	ASSERT_EQ(1, take_type(self->trid, POSIX_TRACE_RESUME, &resume));
	EXPECT_EQ(0, resume.len);
	/* The stream runs again: START is the first valid event. */
	ASSERT_EQ(1, take(self->trid, &next));
	EXPECT_EQ(POSIX_TRACE_START, next.info.posix_event_id);
	EXPECT_EQ(event_time(&next), event_time(&resume));
}

static void expect_pairs(struct __test_metadata *_metadata, trace_id_t trid, int pairs)
{
	int overflows = 0, resumes = 0;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(trid));
	for (int i = 0; i < pairs; i++) {
		flood();
		while (take(trid, &event) == 1) {
			overflows += event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
			resumes += event.info.posix_event_id == POSIX_TRACE_RESUME;
			ASSERT_LE(resumes, overflows);
			ASSERT_LE(overflows, resumes + 1);
		}
	}
	/* The last overflow ends only when the stream runs again, so record an event. */
	record(0);
	while (take(trid, &event) == 1) {
		overflows += event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		resumes += event.info.posix_event_id == POSIX_TRACE_RESUME;
	}
	EXPECT_EQ(pairs, overflows);
	EXPECT_EQ(pairs, resumes);
}

TEST_F(suspended, a10_loop_records_one_pair_for_each_gap)
{
	expect_pairs(_metadata, self->trid, 3);
}

TEST(a10_until_full_records_one_pair_for_each_gap)
{
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	expect_pairs(_metadata, trid, 3);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* A traced process that corrupts its records on one CPU. */
TEST_F(suspended, a11_error)
{
	struct writer writer = { 0 };
	struct target target;
	struct event event;
	uint64_t head;

	ASSERT_LE(0, run_on(0));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	record(1);
	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, target_sync(&target));
	ASSERT_EQ(0, writer_open(&writer, &target, 0, 0));
	head = LOAD(writer.head->head);
	memset(writer.pool + POSIXTRACE_HEAD_POS(head), 0xff, 64);
	__atomic_store_n(&writer.head->head,
			 POSIXTRACE_HEAD(POSIXTRACE_HEAD_POS(head) + 64,
					 POSIXTRACE_HEAD_COUNT(head) + 1), __ATOMIC_RELEASE);
	writer_close(&writer);
	target_close(&target);

	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(1, event_number(&event));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_ERROR, event.info.posix_event_id);
	EXPECT_EQ(sizeof(int), event.len);
	EXPECT_EQ(EIO, event_number(&event));
	EXPECT_EQ(0, event.info.posix_pid);
	record(2);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
}

/* ------------------------------------------------------------------ */
/* Members of an event							*/

TEST_F(suspended, a12_unnamed)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "of the application", 19);
	posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(UNNAMED, event.info.posix_event_id);
	EXPECT_STREQ("of the application", (char *)event.data);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(UNNAMED, event.info.posix_event_id);
	EXPECT_EQ(0, event.len);
}

__attribute__((__noinline__)) static int call_event(trace_id_t trid)
{
	posix_trace_event(UNNAMED, &trid, sizeof(trid));
	__asm__ volatile("" ::: "memory");
	return 0;
}

__attribute__((__noinline__)) static int call_start(trace_id_t trid)
{
	int err = posix_trace_start(trid);

	__asm__ volatile("" : "+r"(err) : : "memory");
	return err;
}

__attribute__((__noinline__)) static int call_stop(trace_id_t trid)
{
	int err = posix_trace_stop(trid);

	__asm__ volatile("" : "+r"(err) : : "memory");
	return err;
}

__attribute__((__noinline__)) static int call_filter(trace_id_t trid)
{
	static const trace_event_set_t set;
	int err = posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);

	__asm__ volatile("" : "+r"(err) : : "memory");
	return err;
}

struct caller {
	trace_id_t trid;
	int (*function)(trace_id_t trid);
	unsigned long long before, after;
};

static void *call(void *arg)
{
	struct caller *caller = arg;

	caller->before = now();
	if (caller->function(caller->trid))
		return NULL;
	caller->after = now();
	return arg;
}

/* Makes the call in another thread, and checks the next event. */
static void expect_call(struct __test_metadata *_metadata, trace_id_t trid,
			int (*function)(trace_id_t trid), trace_event_id_t type)
{
	struct caller caller = { trid, function, 0, 0 };
	struct event event;
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, pthread_create(&thread, NULL, call, &caller));
	ASSERT_EQ(0, pthread_join(thread, &result));
	ASSERT_EQ(&caller, result);
	ASSERT_EQ(1, take(trid, &event));
	ASSERT_EQ(type, event.info.posix_event_id);
	EXPECT_EQ(getpid(), event.info.posix_pid);
	EXPECT_TRUE(event.info.posix_thread_id == thread);
	EXPECT_TRUE(is_in_function(event.info.posix_prog_address, function));
	EXPECT_LE(caller.before, event_time(&event));
	EXPECT_GE(caller.after, event_time(&event));
}

TEST_F(suspended, a13_user_event)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	expect_call(_metadata, self->trid, call_event, UNNAMED);
}

static int call_in_child(void *arg, const struct talk *talk)
{
	(void)arg;
	if (hear(talk))
		return 1;
	call_event(0);
	return 0;
}

TEST(a13_user_event_of_another_process)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, trace_child(&child, call_in_child, NULL, &trid));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(child.pid, event.info.posix_pid);
	/* The child is a copy of this process, so its thread id and addresses are the same. */
	EXPECT_TRUE(event.info.posix_thread_id == pthread_self());
	EXPECT_TRUE(is_in_function(event.info.posix_prog_address, call_event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(suspended, a14_times)
{
	unsigned long long before, last = 0;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 100; i++) {
		/* Change the CPU for each event. */
		run_on(i);
		before = now();
		record(i);
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_LE(before, event_time(&event));
		ASSERT_GE(now(), event_time(&event));
		ASSERT_LE(last, event_time(&event));
		ASSERT_LE(0, event.info.posix_timestamp.tv_nsec);
		ASSERT_GT(NSEC, event.info.posix_timestamp.tv_nsec);
		last = event_time(&event);
	}
}

TEST_F(suspended, a15_calls_of_the_controller)
{
	expect_call(_metadata, self->trid, call_start, POSIX_TRACE_START);
	expect_call(_metadata, self->trid, call_filter, POSIX_TRACE_FILTER);
	expect_call(_metadata, self->trid, call_stop, POSIX_TRACE_STOP);
}

/* The caller is not the traced process. */
TEST(a15_controller_is_not_the_traced_process)
{
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	expect_call(_metadata, trid, call_start, POSIX_TRACE_START);
	expect_call(_metadata, trid, call_stop, POSIX_TRACE_STOP);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	child_wait(&child);
}

static void expect_no_process(struct __test_metadata *_metadata, trace_id_t trid,
			      trace_event_id_t type)
{
	struct event event;

	ASSERT_EQ(1, take_type(trid, type, &event));
	EXPECT_EQ(0, event.info.posix_pid);
	EXPECT_TRUE(event.info.posix_thread_id == 0);
	EXPECT_EQ(NULL, event.info.posix_prog_address);
}

TEST_F(full, a16_events_without_a_process)
{
	record(-1);
	expect_no_process(_metadata, self->trid, POSIX_TRACE_STOP);
	expect_no_process(_metadata, self->trid, POSIX_TRACE_OVERFLOW);
	expect_no_process(_metadata, self->trid, POSIX_TRACE_RESUME);
	expect_no_process(_metadata, self->trid, POSIX_TRACE_START);
}

/* Reads the next event into an array of @num_bytes, which may be too small for the data. */
static int take_cut(trace_id_t trid, struct event *event, size_t num_bytes)
{
	return posix_trace_trygetnext_event(trid, &event->info, event->data, num_bytes,
					    &event->len, &event->unavailable);
}

TEST_F(suspended, a17_truncation)
{
	static const struct {
		size_t recorded, read, len;
		int status;
	} cases[] = {
		{ 100, 100, 100, POSIX_TRACE_NOT_TRUNCATED },
		{ 256, 256, 256, POSIX_TRACE_NOT_TRUNCATED },
		{ 257, 256, 256, POSIX_TRACE_TRUNCATED_RECORD },
		{ 100, 99, 99, POSIX_TRACE_TRUNCATED_READ },
		{ 257, 255, 255, POSIX_TRACE_TRUNCATED_READ },
		{ 1, 0, 0, POSIX_TRACE_TRUNCATED_READ },
		{ 0, 0, 0, POSIX_TRACE_NOT_TRUNCATED },
	};
	char data[257] = "";
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		posix_trace_event(UNNAMED, data, cases[i].recorded);
		ASSERT_EQ(0, take_cut(self->trid, &event, cases[i].read));
		ASSERT_EQ(0, event.unavailable);
		EXPECT_EQ(cases[i].len, event.len);
		EXPECT_EQ(cases[i].status, event.info.posix_truncation_status);
	}
}

TEST(a18_data_of_system_events)
{
	struct event event;
	trace_attr_t attr;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&attr, 1));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, filter_one(trid, 1000, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_stop(trid));
	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(sizeof(trace_event_set_t), event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	ASSERT_EQ(0, take_cut(trid, &event, 2 * sizeof(trace_event_set_t) - 1));
	EXPECT_EQ(POSIX_TRACE_FILTER, event.info.posix_event_id);
	EXPECT_EQ(2 * sizeof(trace_event_set_t) - 1, event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_READ, event.info.posix_truncation_status);
	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(sizeof(int), event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a19_limits)
{
	expect_limits(_metadata);
}

TEST_F(logged, a20_beginning_and_end_of_a_flush)
{
	struct log_content content;

	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(1, content.flush_starts);
	EXPECT_EQ(1, content.flush_stops);
}

TEST_HARNESS_MAIN
