// SPDX-License-Identifier: GPL-2.0
/*
 * The trace points of <posixtrace/points.h>, as used by a program.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <dlfcn.h>
#include <errno.h>
#include <posixtrace.h>
#include <posixtrace/fields.h>
#include <posixtrace/points.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "points_plugin.h"
#include "pxt_test.h"
#include "trace_test.h"

#define DATA_MAX	1000
#define THREADS		8
#define LOADS		20
#define WORKER		65534

POSIXTRACE_POINT(plain);
POSIXTRACE_POINT(cache_get, (u32, id), (text, key));
POSIXTRACE_POINT(numbers, (u8, a), (u16, b), (u32, c), (u64, d), (i8, e), (i16, f), (i32, g),
		 (i64, h), (x8, i), (x16, j), (x32, k), (x64, l), (f32, m), (f64, n), (bool, o));
POSIXTRACE_POINT(strings, (string, one), (u16, number), (string, two), (text, rest));
POSIXTRACE_POINT(sixteen, (u8, a), (u8, b), (u8, c), (u8, d), (u8, e), (u8, f), (u8, g), (u8, h),
		 (u8, i), (u8, j), (u8, k), (u8, l), (u8, m), (u8, n), (u8, o), (u8, p));

FIXTURE(points)
{
	trace_id_t trid;
	struct event event;
	char name[TRACE_EVENT_NAME_MAX + 1];
	char text[POSIXTRACE_DESCRIPTION_MAX + 1];
};

static int open_stream(trace_id_t *trid)
{
	trace_attr_t attr;

	if (posix_trace_attr_init(&attr) || posix_trace_attr_setmaxdatasize(&attr, DATA_MAX) ||
	    posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) ||
	    posix_trace_create(0, &attr, trid))
		return -1;
	return posix_trace_start(*trid);
}

FIXTURE_SETUP(points)
{
	ASSERT_EQ(0, open_stream(&self->trid));
}

FIXTURE_TEARDOWN(points)
{
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* Returns true if the next event has this type. */
static bool next_is(struct _test_data_points *self, const char *name)
{
	return take_user(self->trid, &self->event) == 1 &&
	       !posix_trace_eventid_get_name(self->trid, self->event.info.posix_event_id,
					     self->name) &&
	       !strcmp(name, self->name);
}

static bool is_last(struct _test_data_points *self)
{
	return take_user(self->trid, &self->event) == 0;
}

/* Returns true if the last event has exactly this data. */
static bool has_data(const struct _test_data_points *self, const void *data, size_t len)
{
	return self->event.len == len && !memcmp(self->event.data, data, len) &&
	       self->event.info.posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED;
}

/* Returns the description of the last event's type, or "". */
static const char *description(struct _test_data_points *self)
{
	if (posixtrace_eventid_get_description(self->trid, self->event.info.posix_event_id,
					       self->text, sizeof(self->text), NULL))
		self->text[0] = '\0';
	return self->text;
}

/* Returns true if the process has a type with this name. */
static bool has_type(trace_id_t trid, const char *name)
{
	char found[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int none;

	posix_trace_eventtypelist_rewind(trid);
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &none) && !none) {
		if (!posix_trace_eventid_get_name(trid, id, found) && !strcmp(found, name))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------ */
/* Fields								*/

TEST_F(points, point_without_fields_records_no_data)
{
	posixtrace_point_plain();
	ASSERT_TRUE(next_is(self, "plain"));
	EXPECT_TRUE(has_data(self, "", 0));
	EXPECT_STREQ("", description(self));
	EXPECT_TRUE(is_last(self));
}

TEST_F(points, numbers_are_packed_in_their_order)
{
	const struct __attribute__((__packed__)) {
		uint8_t a;
		uint16_t b;
		uint32_t c;
		uint64_t d;
		int8_t e;
		int16_t f;
		int32_t g;
		int64_t h;
		uint8_t i;
		uint16_t j;
		uint32_t k;
		uint64_t l;
		float m;
		double n;
		uint8_t o;
	} expected = {
		1, 2, 3, 1ULL << 63, -5, -6, -7, -8, 9, 10, 11, 12, 13.5f, -14.25, 1
	};

	posixtrace_point_numbers(1, 2, 3, 1ULL << 63, -5, -6, -7, -8, 9, 10, 11, 12, 13.5f,
				 -14.25, 77);
	ASSERT_TRUE(next_is(self, "numbers"));
	EXPECT_TRUE(has_data(self, &expected, sizeof(expected)));
	EXPECT_STREQ("{u8 a;u16 b;u32 c;u64 d;i8 e;i16 f;i32 g;i64 h;x8 i;x16 j;x32 k;x64 l;f32 m;"
		     "f64 n;bool o;}", description(self));
}

TEST_F(points, sixteen_fields_are_possible)
{
	posixtrace_point_sixteen(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	ASSERT_TRUE(next_is(self, "sixteen"));
	EXPECT_TRUE(has_data(self, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20", 16));
}

TEST_F(points, strings_end_with_a_null_byte_and_texts_do_not)
{
	posixtrace_point_strings("first", 0x4241, "", "the rest", 3);
	ASSERT_TRUE(next_is(self, "strings"));
	EXPECT_TRUE(has_data(self, "first\0AB\0the", 12));
	EXPECT_STREQ("{string one;u16 number;string two;text rest;}", description(self));
}

TEST_F(points, null_pointers_are_empty_texts)
{
	posixtrace_point_strings(NULL, 0x4241, NULL, NULL, 5);
	ASSERT_TRUE(next_is(self, "strings"));
	EXPECT_TRUE(has_data(self, "\0AB\0", 4));
}

/*
 * A description that a macro generates must have the same form as one that the library generates.
 */
TEST_F(points, descriptions_are_in_the_form_of_the_library)
{
	struct posixtrace_fields *fields;

	posixtrace_point_numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	posixtrace_point_strings("", 0, "", "", 0);
	POSIXTRACE_COUNTER("counted", 1);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		ASSERT_EQ(0, posixtrace_fields_parse(description(self), &fields, NULL));
		EXPECT_STREQ(self->text, posixtrace_fields_text(fields));
		posixtrace_fields_free(fields);
	}
}

TEST_F(points, same_description_is_accepted_again)
{
	trace_event_id_t id;

	posixtrace_point_cache_get(7, "some key", 8);
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_TRUE(has_data(self, "\7\0\0\0some key", 12));
	EXPECT_STREQ("{u32 id;text key;}", description(self));
	ASSERT_EQ(0, posix_trace_eventid_open("cache_get", &id));
	EXPECT_EQ(self->event.info.posix_event_id, id);
	EXPECT_EQ(0, posixtrace_eventid_describe(id, "{ u32 id; text key; }"));
	EXPECT_EQ(EEXIST, posixtrace_eventid_describe(id, "{ u64 id; text key; }"));
}

/* The events of the point are still recorded. */
TEST_F(points, type_keeps_its_description_and_the_point_its_fields)
{
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_eventid_open("cache_get", &id));
	ASSERT_EQ(0, posixtrace_eventid_describe(id, "{text all;}"));
	posix_trace_event(id, "text", 4);
	posixtrace_point_cache_get(7, "key", 3);
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_STREQ("{text all;}", description(self));
	ASSERT_TRUE(next_is(self, "cache_get#2"));
	EXPECT_TRUE(has_data(self, "\7\0\0\0key", 7));
	EXPECT_STREQ("{u32 id;text key;}", description(self));
}

/* ------------------------------------------------------------------ */
/* Truncated data							*/

TEST_F(points, long_text_is_truncated_and_marked)
{
	char text[POSIXTRACE_POINT_TEXT_MAX + 1];

	memset(text, 'x', sizeof(text));
	posixtrace_point_cache_get(7, text, sizeof(text) - 1);
	posixtrace_point_cache_get(7, text, sizeof(text));
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_EQ(4 + POSIXTRACE_POINT_TEXT_MAX, self->event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, self->event.info.posix_truncation_status);
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_EQ(4 + POSIXTRACE_POINT_TEXT_MAX, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->event.info.posix_truncation_status);
	EXPECT_EQ(0, memcmp(self->event.data, "\7\0\0\0", 4));
	EXPECT_EQ(0, memcmp(self->event.data + 4, text, POSIXTRACE_POINT_TEXT_MAX));
}

/* The first event of a point also registers the point. */
TEST_F(points, no_field_follows_a_truncated_string)
{
	char text[2 * POSIXTRACE_POINT_TEXT_MAX];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	posixtrace_point_strings(text, 0x4241, "two", "rest", 4);
	ASSERT_TRUE(next_is(self, "strings"));
	EXPECT_EQ(2 + POSIXTRACE_POINT_TEXT_MAX, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->event.info.posix_truncation_status);
	EXPECT_EQ(0, memcmp(self->event.data, text, self->event.len));
}

TEST_F(points, streams_truncate_at_their_limit)
{
	trace_attr_t attr;
	trace_id_t narrow;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&attr, 6));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &narrow));
	ASSERT_EQ(0, posix_trace_start(narrow));
	posixtrace_point_cache_get(7, "key", 3);
	ASSERT_EQ(1, take_user(narrow, &self->event));
	EXPECT_EQ(6, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->event.info.posix_truncation_status);
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_TRUE(has_data(self, "\7\0\0\0key", 7));
	EXPECT_EQ(0, posix_trace_shutdown(narrow));
}

/* ------------------------------------------------------------------ */
/* Registration								*/

TEST(point_opens_its_type_when_a_stream_traces_the_process)
{
	trace_event_id_t id;
	trace_id_t trid;

	/* This process attaches, but has no stream. */
	ASSERT_EQ(0, posix_trace_eventid_open("other", &id));
	posixtrace_point_plain();
	ASSERT_EQ(0, posix_trace_create(0, NULL, &trid));
	EXPECT_FALSE(has_type(trid, "plain"));
	posixtrace_point_plain();
	EXPECT_TRUE(has_type(trid, "plain"));
	/* The stream does not run yet. */
	ASSERT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(1, take_all(trid));
	posixtrace_point_plain();
	EXPECT_EQ(1, take_all(trid));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(points, filtered_type_is_not_recorded)
{
	trace_event_set_t set;
	trace_event_id_t id;

	posixtrace_point_plain();
	ASSERT_TRUE(next_is(self, "plain"));
	id = self->event.info.posix_event_id;
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(id, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	posixtrace_point_plain();
	EXPECT_TRUE(is_last(self));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SUB_EVENTSET));
	posixtrace_point_plain();
	EXPECT_TRUE(next_is(self, "plain"));
}

/* The type is filtered before the point is first reached. */
TEST_F(points, type_that_the_controller_has_filtered_is_not_recorded)
{
	trace_event_set_t set;
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "plain", &id));
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(id, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	posixtrace_point_plain();
	EXPECT_TRUE(is_last(self));
}

TEST_F(points, without_more_types_events_are_unnamed)
{
	trace_event_id_t id;
	char name[32];

	for (int i = 0; i < TRACE_USER_EVENT_MAX; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
	}
	posixtrace_point_cache_get(7, "key", 3);
	ASSERT_EQ(1, take_user(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, self->event.info.posix_event_id);
	EXPECT_TRUE(has_data(self, "\7\0\0\0key", 7));
}

TEST_F(points, errno_is_kept)
{
	char text[2 * POSIXTRACE_POINT_TEXT_MAX] = "";

	errno = 12345;
	posixtrace_point_cache_get(1, "key", 3);
	EXPECT_EQ(12345, errno);
	posixtrace_point_cache_get(2, text, sizeof(text));
	EXPECT_EQ(12345, errno);
}

/* This includes the first event of each point, which registers the point. */
TEST(without_the_device_points_do_nothing)
{
	ASSERT_EQ(0, chroot("/proc"));
	errno = 12345;
	for (int i = 0; i < 3; i++)
		posixtrace_point_cache_get(1, "key", 3);
	POSIXTRACE_MARK("mark");
	EXPECT_EQ(12345, errno);
}

static __attribute__((__noinline__)) void reach_point(void)
{
	posixtrace_point_plain();
}

TEST_F(points, address_is_in_the_function_with_the_point)
{
	char *address;

	reach_point();
	ASSERT_TRUE(next_is(self, "plain"));
	address = self->event.info.posix_prog_address;
	EXPECT_LT((char *)reach_point, address);
	EXPECT_GT((char *)reach_point + 256, address);
}

/* ------------------------------------------------------------------ */
/* Threads, signals, processes						*/

static pthread_barrier_t barrier;

static void *record_in_thread(void *arg)
{
	const uint32_t *number = arg;

	pthread_barrier_wait(&barrier);
	posixtrace_point_cache_get(*number, "key", 3);
	return NULL;
}

TEST_F(points, threads_may_reach_a_new_point_together)
{
	uint32_t number[THREADS], seen = 0;
	pthread_t thread[THREADS];

	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, THREADS));
	for (uint32_t i = 0; i < THREADS; i++) {
		number[i] = i;
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, record_in_thread, &number[i]));
	}
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	for (int i = 0; i < THREADS; i++) {
		ASSERT_TRUE(next_is(self, "cache_get"));
		ASSERT_GT(THREADS, event_number(&self->event));
		seen |= 1U << event_number(&self->event);
	}
	EXPECT_EQ((1U << THREADS) - 1, seen);
	EXPECT_STREQ("{u32 id;text key;}", description(self));
	EXPECT_TRUE(is_last(self));
}

static void record_in_handler(int number)
{
	posixtrace_point_cache_get((uint32_t)number, "handler", 7);
}

TEST_F(points, signal_handler_may_reach_a_new_point)
{
	ASSERT_NE(SIG_ERR, signal(SIGUSR1, record_in_handler));
	ASSERT_EQ(0, raise(SIGUSR1));
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_EQ(SIGUSR1, event_number(&self->event));
	EXPECT_STREQ("{u32 id;text key;}", description(self));
}

/* Signals interrupt new processes soon after their start. */
TEST_F(points, signal_handlers_may_interrupt_the_registration)
{
	const struct timespec little = { .tv_nsec = 20000 };
	struct pollfd readable = { .events = POLLIN };
	int status, count = 0, ret;

	readable.fd = posixtrace_fd(self->trid);
	ASSERT_LE(0, readable.fd);
	ASSERT_NE(SIG_ERR, signal(SIGUSR1, record_in_handler));
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();

		ASSERT_LE(0, child);
		if (!child) {
			for (uint32_t j = 0; ; j++)
				posixtrace_point_cache_get(1000, "main", 4);
		}
		for (int j = 0; j < 10; j++) {
			EXPECT_EQ(0, kill(child, SIGUSR1));
			nanosleep(&little, NULL);
		}
		/*
		 * Half of the children live until the registration has ended, however long that
		 * takes.
		 */
		if (i % 2)
			ASSERT_EQ(1, poll(&readable, 1, -1));
		EXPECT_EQ(0, kill(child, SIGKILL));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		while ((ret = take_user(self->trid, &self->event)) == 1) {
			int number = event_number(&self->event);

			ASSERT_TRUE(number == SIGUSR1 || number == 1000);
			count++;
		}
		ASSERT_EQ(0, ret);
	}
	EXPECT_LE(25, count);
}

TEST_F(points, children_have_the_points_of_their_parent)
{
	int status;
	pid_t child;

	posixtrace_point_cache_get(1, "parent", 6);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		posixtrace_point_cache_get(2, "child", 5);
		posixtrace_point_plain();
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	posixtrace_point_plain();

	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_EQ(child, self->event.info.posix_pid);
	EXPECT_TRUE(has_data(self, "\2\0\0\0child", 9));
	ASSERT_TRUE(next_is(self, "plain"));
	EXPECT_EQ(child, self->event.info.posix_pid);
	ASSERT_TRUE(next_is(self, "plain"));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
}

/* The server opened the type without a description. The worker may not describe the type. */
TEST_F(points, worker_that_gave_up_root_records_the_points_of_its_server)
{
	trace_event_id_t id;
	int status;
	pid_t child;

	ASSERT_EQ(0, posix_trace_eventid_open("cache_get", &id));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (setresuid(WORKER, WORKER, WORKER))
			_exit(1);
		posixtrace_point_cache_get(1, "worker", 6);
		posixtrace_point_cache_get(2, "worker", 6);
		posixtrace_point_strings("one", 2, "three", "four", 4);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	for (int i = 1; i <= 2; i++) {
		ASSERT_TRUE(next_is(self, "cache_get"));
		EXPECT_EQ(child, self->event.info.posix_pid);
		EXPECT_EQ(i, event_number(&self->event));
		EXPECT_STREQ("", description(self));
	}
	/* The types of the plugin have their descriptions. */
	ASSERT_TRUE(next_is(self, "strings"));
	EXPECT_STRNE("", description(self));
	EXPECT_TRUE(is_last(self));
	posixtrace_point_cache_get(3, "server", 6);
	ASSERT_TRUE(next_is(self, "cache_get"));
	EXPECT_STREQ("{u32 id;text key;}", description(self));
}

/* An untraced child with its parent's registered points. */
TEST_F(points, points_of_an_untraced_child_record_into_its_own_stream)
{
	trace_attr_t attr;
	trace_id_t trid;
	int status;
	pid_t child;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	self->trid = trid;
	posixtrace_point_plain();
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		posixtrace_point_plain();
		if (open_stream(&trid))
			_exit(1);
		posixtrace_point_plain();
		self->trid = trid;
		_exit(next_is(self, "plain") && self->event.info.posix_pid == getpid() &&
		      is_last(self) ? 0 : 2);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_TRUE(next_is(self, "plain"));
	EXPECT_EQ(getpid(), self->event.info.posix_pid);
	EXPECT_TRUE(is_last(self));
}

/* ------------------------------------------------------------------ */
/* Marks, counters, scopes						*/

TEST_F(points, mark_records_its_name)
{
	POSIXTRACE_MARK("a mark");
	ASSERT_TRUE(next_is(self, "a mark"));
	EXPECT_TRUE(has_data(self, "", 0));
	EXPECT_STREQ("", description(self));
}

TEST_F(points, counter_records_an_integer)
{
	const int64_t low = -5, high = INT64_MAX;
	unsigned char depth = 200;

	POSIXTRACE_COUNTER("queue", low);
	POSIXTRACE_COUNTER("queue", depth + high - 200);
	ASSERT_TRUE(next_is(self, "queue"));
	EXPECT_TRUE(has_data(self, &low, sizeof(low)));
	EXPECT_STREQ("{i64 counter;}", description(self));
	ASSERT_TRUE(next_is(self, "queue"));
	EXPECT_TRUE(has_data(self, &high, sizeof(high)));
}

static int computed;

static int compute(int value)
{
	computed++;
	return value;
}

TEST_F(points, values_are_computed_only_if_they_are_recorded)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	for (int i = 0; i < 3; i++) {
		/* Only the first iteration computes the arguments, since it opens the types. */
		computed = 0;
		POSIXTRACE_SCOPE("work", (i32, value, compute(1)));
		POSIXTRACE_COUNTER("queue", compute(2));
	}
	EXPECT_EQ(0, computed);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	{
		POSIXTRACE_SCOPE("work", (i32, value, compute(3)));
		POSIXTRACE_COUNTER("queue", compute(4));
	}
	EXPECT_EQ(2, computed);
	ASSERT_TRUE(next_is(self, "work:begin"));
	EXPECT_EQ(3, event_number(&self->event));
}

TEST_F(points, point_says_whether_it_is_wanted)
{
	/* The type is opened the first time. */
	EXPECT_TRUE(posixtrace_wanted_plain());
	posixtrace_point_plain();
	EXPECT_TRUE(posixtrace_wanted_plain());
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_FALSE(posixtrace_wanted_plain());
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_TRUE(posixtrace_wanted_plain());
}

static int leave_by_return(int block)
{
	POSIXTRACE_SCOPE("outer", (i32, block));
	if (block) {
		POSIXTRACE_SCOPE("inner");
		return compute(block);
	}
	return 0;
}

TEST_F(points, scope_ends_wherever_it_is_left)
{
	EXPECT_EQ(7, leave_by_return(7));
	for (int i = 0; i < 3; i++) {
		POSIXTRACE_SCOPE("loop", (i32, i));
		if (i == 0)
			continue;
		if (i == 1)
			goto out;
	}
out:
	ASSERT_TRUE(next_is(self, "outer:begin"));
	EXPECT_TRUE(has_data(self, "\7\0\0\0", 4));
	EXPECT_STREQ("{i32 block;}", description(self));
	EXPECT_TRUE(next_is(self, "inner:begin"));
	EXPECT_TRUE(next_is(self, "inner:end"));
	EXPECT_TRUE(has_data(self, "", 0));
	EXPECT_TRUE(next_is(self, "outer:end"));
	EXPECT_TRUE(next_is(self, "loop:begin"));
	EXPECT_TRUE(next_is(self, "loop:end"));
	EXPECT_TRUE(next_is(self, "loop:begin"));
	EXPECT_TRUE(next_is(self, "loop:end"));
	EXPECT_TRUE(is_last(self));
}

TEST_F(points, fields_of_a_scope_have_their_own_values)
{
	const char *key = "key";

	{
		POSIXTRACE_SCOPE("request", (string, path, "/index"), (bool, ok, strlen(key)),
				 (f64, ratio, 1 / 2.0), (text, key));
	}
	{
		POSIXTRACE_SCOPE("part", (text, key, key + 1, 1));
	}
	ASSERT_TRUE(next_is(self, "request:begin"));
	EXPECT_TRUE(has_data(self, "/index\0\1\0\0\0\0\0\0\xe0\x3fkey", 19));
	EXPECT_STREQ("{string path;bool ok;f64 ratio;text key;}", description(self));
	EXPECT_TRUE(next_is(self, "request:end"));
	ASSERT_TRUE(next_is(self, "part:begin"));
	EXPECT_TRUE(has_data(self, "e", 1));
}

TEST_F(points, long_text_of_a_scope_is_truncated)
{
	char text[POSIXTRACE_POINT_TEXT_MAX + 1];

	memset(text, 'x', sizeof(text));
	{
		POSIXTRACE_SCOPE("part", (text, text, text, sizeof(text)));
	}
	ASSERT_TRUE(next_is(self, "part:begin"));
	EXPECT_EQ(POSIXTRACE_POINT_TEXT_MAX, self->event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, self->event.info.posix_truncation_status);
	EXPECT_TRUE(next_is(self, "part:end"));
}

TEST_F(points, no_end_is_recorded_without_its_begin)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	{
		POSIXTRACE_SCOPE("late");
		ASSERT_EQ(0, posix_trace_start(self->trid));
	}
	EXPECT_TRUE(is_last(self));
}

/* ------------------------------------------------------------------ */
/* Libraries								*/

/* The library's constructor and destructor also reach points. */
TEST_F(points, library_may_be_unloaded)
{
	void (*record)(int number);
	const char *address;
	void *library;

	for (int i = 0; i < LOADS; i++) {
		library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
		ASSERT_NE(NULL, library) {
			TH_LOG("%s", dlerror());
		}
		*(void **)&record = dlsym(library, "plugin_record");
		ASSERT_NE(NULL, record);
		record(i);
		ASSERT_EQ(0, dlclose(library));
		ASSERT_EQ(NULL, dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD));
		posixtrace_point_plain();

		ASSERT_TRUE(next_is(self, "plugin:loaded"));
		ASSERT_TRUE(next_is(self, "plugin"));
		EXPECT_EQ(i, event_number(&self->event));
		/* The library is far from the program, and small. */
		address = self->event.info.posix_prog_address;
		EXPECT_GT(1 << 20, labs(address - (char *)record));
		EXPECT_STREQ("{i32 number;}", description(self));
		ASSERT_TRUE(next_is(self, "plugin:unloaded"));
		ASSERT_TRUE(next_is(self, "plain"));
		ASSERT_TRUE(is_last(self));
	}
}

/* The helper itself checks scopes, templates, exceptions and its static objects. */
TEST(points_work_in_cxx)
{
	char path[] = "./points_cxx_helper";
	int status;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		execl(path, path, NULL);
		_exit(127);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
