// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventtypelist_getnext_id():
 * Documentation/conformance/posix_trace_eventtypelist_getnext_id.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "stream_fixtures.h"
#include "cancel.h"
#include "name_test.h"
#include "trace_test.h"
#include "log_reading.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT
#define MAX	(UNNAMED + TRACE_USER_EVENT_MAX)

/* More names than the library fetches at a time. */
#define NAMES	200

TEST_F(suspended, a01_all_types_once)
{
	bool seen[MAX] = { false };
	int id, count = 0;

	for (int i = 0; i < NAMES; i++)
		ASSERT_LT(UNNAMED, open_id(numbered("type", i).text));
	while ((id = next_id(self->trid)) > 0) {
		ASSERT_GT(MAX, id);
		ASSERT_FALSE(seen[id]);
		seen[id] = true;
		count++;
	}
	EXPECT_EQ(0, id);
	EXPECT_EQ(PREDEFINED + NAMES, count);
	for (int i = 0; i < NAMES; i++)
		EXPECT_TRUE(seen[open_id(numbered("type", i).text)]);
	EXPECT_TRUE(seen[POSIX_TRACE_ERROR] && seen[POSIX_TRACE_START] &&
		    seen[POSIX_TRACE_STOP] && seen[POSIX_TRACE_OVERFLOW] &&
		    seen[POSIX_TRACE_RESUME] && seen[POSIX_TRACE_FLUSH_START] &&
		    seen[POSIX_TRACE_FLUSH_STOP] && seen[POSIX_TRACE_FILTER] && seen[UNNAMED]);
}

TEST_F(suspended, a01_largest_list)
{
	int count = 0;

	for (int i = 0; i < TRACE_USER_EVENT_MAX; i++)
		open_id(numbered("type", i).text);
	while (next_id(self->trid) > 0)
		count++;
	EXPECT_EQ(PREDEFINED + TRACE_USER_EVENT_MAX - 1, count);
}

TEST_F(suspended, a02_order)
{
	trace_event_id_t one, two, three;

	one = open_id("one");
	two = open_trid_id(self->trid, "two");
	three = open_id("three");
	for (int i = 0; i < PREDEFINED; i++) {
		int id = next_id(self->trid);

		ASSERT_LT(0, id);
		ASSERT_GE(UNNAMED, id);
	}
	EXPECT_EQ(one, next_id(self->trid));
	EXPECT_EQ(two, next_id(self->trid));
	EXPECT_EQ(three, next_id(self->trid));
	EXPECT_EQ(0, next_id(self->trid));
}

TEST_F(suspended, a03_zero_with_each_identifier)
{
	trace_event_id_t id;

	for (int i = 0; i < PREDEFINED; i++) {
		int unavailable = 4711;

		id = 0;
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(self->trid, &id, &unavailable));
		EXPECT_EQ(0, unavailable);
		EXPECT_LT(0, id);
	}
}

TEST_F(suspended, a04_end)
{
	while (next_id(self->trid) > 0)
		;
	for (int i = 0; i < 3; i++) {
		trace_event_id_t id = 4711;
		int unavailable = 0;

		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(self->trid, &id, &unavailable));
		EXPECT_NE(0, unavailable);
		EXPECT_EQ(4711, id);
	}
}

TEST_F(suspended, a05_types_defined_during_the_listing)
{
	trace_event_id_t new;

	for (int i = 0; i < 3; i++)
		ASSERT_LT(0, next_id(self->trid));
	new = open_id("in the middle");
	for (int i = 3; i < PREDEFINED; i++)
		ASSERT_LT(0, next_id(self->trid));
	EXPECT_EQ(new, next_id(self->trid));
	EXPECT_EQ(0, next_id(self->trid));
	/* Define types when the listing is at its end, twice. */
	new = open_trid_id(self->trid, "at the end");
	EXPECT_EQ(new, next_id(self->trid));
	EXPECT_EQ(0, next_id(self->trid));
	new = open_id("at the new end");
	EXPECT_EQ(new, next_id(self->trid));
	EXPECT_EQ(0, next_id(self->trid));
}

/* ------------------------------------------------------------------ */
/* Types defined concurrently						*/

#define DEFINERS	3
#define DEFINED		300	/* types that each definer defines */

struct definer {
	trace_id_t trid;	/* 0 for a thread of the traced process */
	int number;
};

static void *define(void *arg)
{
	struct definer *definer = arg;

	for (int i = 0; i < DEFINED; i++) {
		struct name name = numbered("defined", i * DEFINERS + definer->number);

		if (!(definer->trid ? open_trid_id(definer->trid, name.text) : open_id(name.text)))
			return arg;
	}
	return NULL;
}

/* The traced process: two threads define types. */
static int define_in_child(void *arg, const struct talk *talk)
{
	struct definer definer[2] = { { .number = 1 }, { .number = 2 } };
	pthread_t thread;
	void *result;

	(void)arg;
	if (hear(talk) || pthread_create(&thread, NULL, define, &definer[0]) ||
	    define(&definer[1]) || pthread_join(thread, &result) || result)
		return 1;
	return 0;
}

TEST(a06_complete_and_in_order)
{
	int list[PREDEFINED + DEFINERS * DEFINED], passes = 0, known = 0, count, id;
	struct definer definer = { .number = 0 };
	bool seen[MAX] = { false };
	struct child child;
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, child_start(&child, define_in_child, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &definer.trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, define, &definer));
	say(&child.talk, 0);
	do {
		ASSERT_EQ(0, posix_trace_eventtypelist_rewind(definer.trid));
		for (count = 0; (id = next_id(definer.trid)) > 0; count++) {
			ASSERT_GT((int)ARRAY_SIZE(list), count);
			/* Types that were known before are reported again, at the same position. */
			if (count < known)
				ASSERT_EQ(list[count], id);
			list[count] = id;
			/* A new type already has its name when it is reported. */
			if (count >= known)
				ASSERT_STRNE("", name_of(definer.trid, id).text);
		}
		ASSERT_EQ(0, id);
		ASSERT_LE(known, count);
		known = count;
		passes++;
	} while (known < (int)ARRAY_SIZE(list));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(NULL, result);
	EXPECT_EQ(0, child_wait(&child));
	for (int i = 0; i < known; i++) {
		EXPECT_FALSE(seen[list[i]]);
		seen[list[i]] = true;
	}
	for (int i = 0; i < DEFINERS * DEFINED; i++)
		EXPECT_TRUE(seen[open_trid_id(definer.trid, numbered("defined", i).text)]);
	EXPECT_EQ(0, next_id(definer.trid));
	EXPECT_EQ(0, posix_trace_shutdown(definer.trid));
}

/* ------------------------------------------------------------------ */
/* Positions								*/

TEST_F(suspended, a07_each_trace_id_has_its_own_position)
{
	int first, second;
	trace_id_t other;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &other));
	first = next_id(self->trid);
	second = next_id(self->trid);
	EXPECT_EQ(first, next_id(other));
	EXPECT_EQ(second, next_id(other));
	while (next_id(other) > 0)
		;
	EXPECT_LT(0, next_id(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

struct lister {
	pthread_barrier_t *barrier;
	trace_id_t trid;
	int seen[UNNAMED + 1 + NAMES];
	int err;
};

static void *list_all(void *arg)
{
	struct lister *lister = arg;
	int id;

	pthread_barrier_wait(lister->barrier);
	while ((id = next_id(lister->trid)) > 0) {
		lister->seen[id]++;
		sched_yield();
	}
	lister->err = -id;
	return NULL;
}

TEST_F(suspended, a08_threads_share_the_position)
{
	struct lister lister[3] = { 0 };
	pthread_barrier_t barrier;
	pthread_t thread[3];
	int total = 0;

	for (int i = 0; i < NAMES; i++)
		ASSERT_LT(UNNAMED, open_id(numbered("type", i).text));
	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, 3));
	for (int i = 0; i < 3; i++) {
		lister[i].barrier = &barrier;
		lister[i].trid = self->trid;
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, list_all, &lister[i]));
	}
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
		EXPECT_EQ(0, lister[i].err);
	}
	for (trace_event_id_t id = 0; id <= UNNAMED + NAMES; id++) {
		int seen = lister[0].seen[id] + lister[1].seen[id] + lister[2].seen[id];

		ASSERT_GE(1, seen);
		total += seen;
	}
	EXPECT_EQ(PREDEFINED + NAMES, total);
}

/* ------------------------------------------------------------------ */
/* Errors								*/

TEST(a09_bad_trace_ids)
{
	trace_event_id_t id = 4711;
	int unavailable = 4711;
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(0, &id, &unavailable));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(-1, &id, &unavailable));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(4711, &id, &unavailable));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	EXPECT_EQ(4711, id);
	EXPECT_EQ(4711, unavailable);
}

TEST_F(suspended, a11_null_pointers)
{
	trace_event_id_t id;
	int unavailable, first;

	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(self->trid, NULL, &unavailable));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(self->trid, &id, NULL));
	first = next_id(self->trid);
	ASSERT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	EXPECT_EQ(first, next_id(self->trid));
}

static int define_and_end(void *arg, const struct talk *talk)
{
	(void)arg;
	if (hear(talk))
		return 1;
	return open_id("of one that has ended") == 0;
}

TEST(a12_process_that_has_ended)
{
	struct child child;
	trace_id_t trid;
	int count = 0;

	ASSERT_EQ(0, child_start(&child, define_and_end, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	say(&child.talk, 0);
	ASSERT_EQ(0, child_wait(&child));
	while (next_id(trid) > 0)
		count++;
	EXPECT_EQ(PREDEFINED + 1, count);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static int next_id_fails(trace_id_t trid)
{
	return next_id(trid) <= 0;
}

TEST_F(suspended, a13_cancelled_thread_holds_no_lock)
{
	int ret = call_trid_cancelled(next_id_fails, self->trid);

	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	EXPECT_LT(0, next_id(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST(a10_types_of_a_log)
{
	struct log_writer log;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_name(&log, LOG_FIRST_NAMED + 5, "first");
	log_epochs(&log, 0, 1, 10);
	log_name(&log, LOG_FIRST_NAMED, "second");
	ASSERT_EQ(0, log_open(&log, &trid));
	/* Predefined types come first, then the others in the order of their definition. */
	for (int i = 0; i < PREDEFINED; i++) {
		int id = next_id(trid);

		EXPECT_LT(0, id);
		EXPECT_GE((int)UNNAMED, id);
	}
	EXPECT_EQ(LOG_FIRST_NAMED + 5, next_id(trid));
	EXPECT_EQ(LOG_FIRST_NAMED, next_id(trid));
	EXPECT_EQ(0, next_id(trid));
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_GT(0, next_id(trid));
	log_free(&log);
}

TEST_HARNESS_MAIN
