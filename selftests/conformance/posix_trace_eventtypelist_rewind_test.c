// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventtypelist_rewind():
 * Documentation/conformance/posix_trace_eventtypelist_rewind.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "cancel.h"
#include "name_test.h"
#include "trace_test.h"
#include "log_reading.h"

/* More names than the library fetches at a time. */
#define NAMES	200

FIXTURE(rewind)
{
	trace_id_t trid;
	trace_id_t other;
	int first;
};

FIXTURE_SETUP(rewind)
{
	for (int i = 0; i < NAMES; i++)
		ASSERT_NE(0, open_id(numbered("type", i).text));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->other));
	self->first = next_id(self->other);
	ASSERT_LT(0, self->first);
}

FIXTURE_TEARDOWN(rewind)
{
	posix_trace_shutdown(self->trid);
	posix_trace_shutdown(self->other);
}

TEST_F(rewind, a01_first_type_is_next_again)
{
	static const int steps[] = { 0, 1, 2, PREDEFINED, 63, 64, 65, 128, 150 };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		for (int j = 0; j < steps[i]; j++)
			ASSERT_LT(0, next_id(self->trid));
		ASSERT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
		ASSERT_EQ(self->first, next_id(self->trid));
		ASSERT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	}
}

TEST_F(rewind, a01_first_type_is_next_again_after_the_end)
{
	while (next_id(self->trid) > 0)
		;
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	EXPECT_EQ(self->first, next_id(self->trid));
}

TEST_F(rewind, a02_same_list)
{
	int before[PREDEFINED + NAMES], i, id;
	trace_event_id_t new;

	for (i = 0; i < PREDEFINED + NAMES; i++) {
		before[i] = next_id(self->trid);
		ASSERT_LT(0, before[i]);
	}
	ASSERT_EQ(0, next_id(self->trid));
	new = open_id("since");
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	for (i = 0; i < PREDEFINED + NAMES; i++)
		ASSERT_EQ(before[i], next_id(self->trid));
	id = next_id(self->trid);
	EXPECT_EQ(new, id);
	EXPECT_EQ(0, next_id(self->trid));
}

TEST_F(rewind, a03_other_trace_ids)
{
	int second;

	ASSERT_LT(0, next_id(self->trid));
	second = next_id(self->trid);
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	EXPECT_EQ(second, next_id(self->other));
}

TEST_F(rewind, a04_events_do_not_change)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 3; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(1, event_number(&event));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(rewind, a05_bad_trace_ids)
{
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_rewind(0));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_rewind(-1));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_rewind(4711));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_rewind(trid));
}

TEST_F(rewind, a07_cancelled_thread_holds_no_lock)
{
	int ret = call_trid_cancelled(posix_trace_eventtypelist_rewind, self->trid);

	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	EXPECT_EQ(self->first, next_id(self->trid));
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST(a06_list_of_a_log)
{
	struct log_writer log;
	trace_id_t trid;
	int first, count;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_name(&log, LOG_FIRST_NAMED, "first");
	ASSERT_EQ(0, log_open(&log, &trid));
	first = next_id(trid);
	ASSERT_LT(0, first);
	for (int round = 0; round < 3; round++) {
		ASSERT_EQ(0, posix_trace_eventtypelist_rewind(trid));
		EXPECT_EQ(first, next_id(trid));
		for (count = 1; next_id(trid) > 0; count++)
			;
		EXPECT_EQ(10, count);
	}
	EXPECT_EQ(0, posix_trace_close(trid));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_rewind(trid));
	log_free(&log);
}

TEST_HARNESS_MAIN
