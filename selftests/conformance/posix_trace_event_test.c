// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_event(): Documentation/conformance/posix_trace_event.rst. Tests recorded data,
 * streams, bad data, errno and cancellation. posix_trace_event_callers_test.c and
 * posix_trace_event_handler_test.c test different callers. xsh_2_11_events_test.c tests the other
 * members of an event.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "pxt_test.h"
#include "event_stream.h"
#include "eventset.h"
#include "family.h"
#include "trace_test.h"

#define MAX_DATA	256	/* max-data-size of new_stream() */

TEST_F(event, a01_type_and_data)
{
	struct event event;

	posix_trace_event(self->id, "some data", 10);
	posix_trace_event(UNNAMED, "other", 6);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(self->id, event.info.posix_event_id);
	ASSERT_EQ(10, event.len);
	EXPECT_STREQ("some data", (char *)event.data);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(UNNAMED, event.info.posix_event_id);
	ASSERT_EQ(6, event.len);
	EXPECT_STREQ("other", (char *)event.data);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(event, a02_data_that_fits)
{
	unsigned char data[MAX_DATA];
	struct event event;

	for (int i = 0; i < MAX_DATA; i++)
		data[i] = i * 31;
	for (size_t len = 1; len <= MAX_DATA; len += len < 20 || len > 240 ? 1 : 13) {
		/* Use every alignment. */
		size_t skip = len < 240 ? len % 8 : 0;

		posix_trace_event(self->id, data + skip, len);
		ASSERT_EQ(1, take(self->trid, &event));
		ASSERT_EQ(len, event.len);
		ASSERT_EQ(0, memcmp(data + skip, event.data, len));
		ASSERT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	}
}

/* Maps two pages. The second one is not readable. */
static unsigned char *half_readable(size_t page)
{
	unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		return NULL;
	return pages;
}

TEST_F(event, a03_data_that_does_not_fit)
{
	static const size_t lens[] = { MAX_DATA + 1, MAX_DATA + 8, 4096, 1 << 20, SIZE_MAX };
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *pages = half_readable(page), *data = pages + page - MAX_DATA;
	struct event event;

	ASSERT_NE(NULL, pages);
	for (int i = 0; i < MAX_DATA; i++)
		data[i] = i * 31;
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		posix_trace_event(self->id, data, lens[i]);
		ASSERT_EQ(1, take(self->trid, &event));
		ASSERT_EQ(MAX_DATA, event.len);
		ASSERT_EQ(0, memcmp(data, event.data, MAX_DATA));
		ASSERT_EQ(POSIX_TRACE_TRUNCATED_RECORD, event.info.posix_truncation_status);
	}
	munmap(pages, 2 * page);
}

/* ------------------------------------------------------------------ */
/* The streams that record						*/

TEST(a04_no_effect_without_a_stream)
{
	trace_event_id_t id;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_eventid_open("before", &id));
	posix_trace_event(id, "x", 1);
	posix_trace_event(UNNAMED, "x", 1);
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(0, take(trid, &event));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	posix_trace_event(id, "x", 1);
}

TEST_F(event, a05_suspended_stream_records_nothing)
{
	struct event event;
	trace_id_t fresh;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &fresh));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	record(1);
	EXPECT_EQ(0, take_user(fresh, &event));
	EXPECT_EQ(0, take_user(self->trid, &event));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record(2);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(fresh));
}

TEST(a05_full_stream_records_nothing)
{
	struct posix_trace_status_info status;
	struct event event;
	trace_id_t trid;
	int last = 0;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	do {
		record(++last);
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	} while (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
	for (int i = 0; i < 100; i++)
		record(-1);
	/* All earlier events are there, except the last one, for which there was no space. */
	for (int i = 1; i < last; i++) {
		ASSERT_EQ(1, take_user(trid, &event));
		ASSERT_EQ(i, event_number(&event));
	}
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(event, a06_filtered_event_is_not_recorded)
{
	struct event event;

	ASSERT_EQ(0, filter_one(self->trid, self->id, POSIX_TRACE_SET_EVENTSET));
	posix_trace_event(self->id, "x", 1);
	EXPECT_EQ(0, take_user(self->trid, &event));
	record(1);
	EXPECT_EQ(1, take_user(self->trid, &event));
}

TEST_F(event, a07_every_other_stream_records_it)
{
	trace_id_t narrow, filtering, stopped;
	struct event event;
	trace_attr_t attr;
	char data[100] = "";

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&attr, 64));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &narrow));
	ASSERT_EQ(0, posix_trace_start(narrow));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &filtering));
	ASSERT_EQ(0, filter_one(filtering, self->id, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(filtering));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &stopped));
	posix_trace_event(self->id, data, sizeof(data));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(sizeof(data), event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	ASSERT_EQ(1, take_user(narrow, &event));
	EXPECT_EQ(64, event.len);
	EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, event.info.posix_truncation_status);
	EXPECT_EQ(0, take_user(filtering, &event));
	EXPECT_EQ(0, take_user(stopped, &event));
	EXPECT_EQ(0, posix_trace_shutdown(narrow));
	EXPECT_EQ(0, posix_trace_shutdown(filtering));
	EXPECT_EQ(0, posix_trace_shutdown(stopped));
}

static int record_inherited(void *arg)
{
	posix_trace_event(*(trace_event_id_t *)arg, "inherited", 10);
	return 0;
}

TEST_F(event, a08_inherited_streams_record_it)
{
	trace_id_t trids[2];
	struct event event;
	pid_t pid;

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, start_family_stream(0, &trids[i]));
	pid = by_fork(record_inherited, &self->id);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take_user(trids[i], &event));
		EXPECT_EQ(self->id, event.info.posix_event_id);
		EXPECT_EQ(pid, event.info.posix_pid);
		EXPECT_STREQ("inherited", (char *)event.data);
		EXPECT_EQ(0, take_user(trids[i], &event));
		EXPECT_EQ(0, posix_trace_shutdown(trids[i]));
	}
	/* This stream is not inherited, so the event of the child is not in it. */
	EXPECT_EQ(0, take(self->trid, &event));
}

static int record_in_child(void *arg, const struct talk *talk)
{
	(void)arg;
	record(2);
	say(talk, 0);
	if (hear(talk))
		return 1;
	record(3);
	return 0;
}

TEST_F(event, a09_child_does_not_record_into_other_streams)
{
	struct child child;
	struct event event;
	trace_id_t its;

	record(1);
	ASSERT_EQ(0, child_start(&child, record_in_child, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &its));
	ASSERT_EQ(0, posix_trace_start(its));
	say(&child.talk, 0);
	ASSERT_EQ(0, child_wait(&child));
	record(4);
	ASSERT_EQ(1, take_user(its, &event));
	EXPECT_EQ(3, event_number(&event));
	EXPECT_EQ(0, take_user(its, &event));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(1, event_number(&event));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(4, event_number(&event));
	EXPECT_EQ(0, take_user(self->trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(its));
}

/* ------------------------------------------------------------------ */
/* Types and data							*/

TEST_F(event, a10_system_types_and_invalid_types)
{
	struct event event;

	for (trace_event_id_t id = 0; id < UNNAMED; id++)
		posix_trace_event(id, "x", 1);
	posix_trace_event(self->id + 1, "x", 1);
	posix_trace_event(4095, "x", 1);
	posix_trace_event(4096, "x", 1);
	/* Invalid numbers with the lower bits of a valid type. */
	posix_trace_event(4096 + UNNAMED, "x", 1);
	posix_trace_event(4096 + self->id, "x", 1);
	posix_trace_event(1U << 31 | UNNAMED, "x", 1);
	posix_trace_event(~0U, "x", 1);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(event, a11_event_without_data)
{
	struct event event;

	posix_trace_event(self->id, NULL, 0);
	/* Without data, the pointer is not used. */
	posix_trace_event(self->id, (void *)8, 0);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take(self->trid, &event));
		EXPECT_EQ(self->id, event.info.posix_event_id);
		EXPECT_EQ(0, event.len);
		EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	}
}

TEST_F(event, a12_data_is_copied)
{
	char data[] = "at the time";
	struct event event;

	posix_trace_event(self->id, data, sizeof(data));
	memset(data, '#', sizeof(data));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_STREQ("at the time", (char *)event.data);
}

/* ------------------------------------------------------------------ */
/* Bad data, errno, cancellation					*/

struct bad {
	const void *data;
	size_t len;
};

static int record_bad(void *arg, const struct talk *talk)
{
	struct bad *bad = arg;

	if (hear(talk))
		return 1;
	record(1);
	posix_trace_event(UNNAMED, bad->data, bad->len);
	record(2);
	posix_trace_event(UNNAMED, bad->data, bad->len);
	record(3);
	return 0;
}

TEST(a22_bad_data)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *pages = half_readable(page);
	struct bad bad[] = {
		{ NULL, 8 },
		{ (void *)8, 16 },
		{ (void *)8, SIZE_MAX },
		{ (void *)0xffffffff80000000UL, 8 },
		{ (void *)-8UL, 64 },
		{ pages + page, 8 },
		{ pages + page - 8, 200 },
		{ pages + page - 255, 256 },
	};

	ASSERT_NE(NULL, pages);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct child child;
		struct event event;
		int number = 0, status;
		trace_id_t trid;

		ASSERT_EQ(0, child_start(&child, record_bad, &bad[i]));
		ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		say(&child.talk, 0);
		status = child_wait(&child);
		while (take_user(trid, &event) == 1) {
			ASSERT_EQ(sizeof(int), event.len);
			ASSERT_EQ(++number, event_number(&event));
		}
		if (WIFSIGNALED(status)) {
			ASSERT_EQ(SIGSEGV, WTERMSIG(status));
			ASSERT_EQ(1, number);
		} else {
			ASSERT_EQ(0, status);
			ASSERT_EQ(3, number);
		}
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
}

TEST_F(event, a23_errno_does_not_change)
{
	char data[MAX_DATA + 1] = "";

	errno = 4711;
	posix_trace_event(self->id, data, 1);
	EXPECT_EQ(4711, errno);
	posix_trace_event(self->id, data, sizeof(data));
	EXPECT_EQ(4711, errno);
	posix_trace_event(POSIX_TRACE_START, data, 1);
	EXPECT_EQ(4711, errno);
	posix_trace_event(self->id + 1, data, 1);
	EXPECT_EQ(4711, errno);
	posix_trace_event(~0U, data, 1);
	EXPECT_EQ(4711, errno);
}

static int first_errno(void *arg, const struct talk *talk)
{
	(void)arg;
	(void)talk;
	errno = 4711;
	record(1);
	return errno != 4711;
}

TEST(a23_first_call_does_not_change_errno)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, first_errno, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

static void *record_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	record(1);
	*(int *)arg = 1;
	return NULL;
}

/* Returns 0 if a thread with a pending cancellation completes the call. */
static int complete_a_cancelled_call(void *arg, const struct talk *talk)
{
	pthread_t thread;
	int past = 0;

	(void)arg;
	(void)talk;
	if (pthread_create(&thread, NULL, record_cancelled, &past) || pthread_join(thread, NULL))
		return 1;
	return !past;
}

TEST_F(event, a24_no_cancellation_point)
{
	struct child child;
	struct event event;

	EXPECT_EQ(0, complete_a_cancelled_call(NULL, NULL));
	EXPECT_EQ(1, take_user(self->trid, &event));
	/* In a child, the cancelled call is the first one. */
	ASSERT_EQ(0, child_start(&child, complete_a_cancelled_call, NULL));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_HARNESS_MAIN
