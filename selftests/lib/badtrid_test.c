// SPDX-License-Identifier: GPL-2.0
/*
 * Every function with invalid trace ids, and functions that report events with NULL pointers: they
 * must return EINVAL, and never crash.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>

#include "badtrid.h"
#include "pxt_test.h"
#include "trace_test.h"

FIXTURE(garbage)
{
	trace_id_t trid;	/* a valid id, next to the invalid ones */
};

FIXTURE_VARIANT(garbage)
{
	trace_id_t trid;
};

FIXTURE_VARIANT_ADD(garbage, minus_one) { -1 };
FIXTURE_VARIANT_ADD(garbage, zero) { 0 };
FIXTURE_VARIANT_ADD(garbage, small) { 1 };
FIXTURE_VARIANT_ADD(garbage, large) { 0x12345678 };
FIXTURE_VARIANT_ADD(garbage, max) { INT_MAX };
FIXTURE_VARIANT_ADD(garbage, min) { INT_MIN };

FIXTURE_SETUP(garbage)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(garbage)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(garbage, is_invalid_everywhere)
{
	/* If that happens to be the valid trace id, take the next one. */
	trace_id_t trid = variant->trid == self->trid ? self->trid + 1 : variant->trid;

	EXPECT_STREQ("", accepts(trid));
	/* The valid stream is unaffected. */
	EXPECT_EQ(0, posix_trace_start(self->trid));
}

TEST(no_trid_is_valid_before_the_first_stream)
{
	for (trace_id_t trid = -2; trid < 300; trid++)
		EXPECT_STREQ("", accepts(trid));
}

TEST(trid_is_invalid_after_shutdown)
{
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_STREQ("", accepts(trid));
}

TEST(trid_is_not_reused_immediately)
{
	trace_id_t first, second;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &first));
	ASSERT_EQ(0, posix_trace_shutdown(first));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &second));
	EXPECT_NE(first, second);
	EXPECT_STREQ("", accepts(first));
	EXPECT_EQ(0, posix_trace_shutdown(second));
}

/* ------------------------------------------------------------------ */
/* One thread uses a stream while another shuts it down			*/

static trace_id_t current;
static int finished;

static void *use_until_finished(void *arg)
{
	struct posix_trace_status_info status;
	struct event event;
	trace_attr_t attr;
	int err = 0;

	while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE) && !err) {
		trace_id_t trid = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

		err = posix_trace_get_status(trid, &status);
		if (!err || err == EINVAL)
			err = posix_trace_get_attr(trid, &attr);
		if (!err || err == EINVAL)
			err = posix_trace_start(trid);
		if (!err || err == EINVAL)
			err = -take(trid, &event);
		if (err == EINVAL || err < 0)
			err = 0;
	}
	return err ? arg : NULL;
}

TEST(shutdown_while_others_use_the_trid)
{
	pthread_t threads[3];
	void *failed;

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, use_until_finished, &current));
	for (int i = 0; i < 30; i++) {
		trace_id_t trid;

		ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
		__atomic_store_n(&current, trid, __ATOMIC_RELEASE);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &failed));
		EXPECT_EQ(NULL, failed);
	}
}

/* ------------------------------------------------------------------ */
/* Pointers								*/

TEST(null_pointers_of_a_reader_are_invalid)
{
	const struct timespec epoch = { 0, 0 };
	trace_id_t trid;
	struct event e;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(1, take(trid, &e));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, NULL, e.data, 8, &e.len,
						    &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, &e.info, NULL, 8, &e.len,
						    &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, &e.info, e.data, 8, NULL,
						    &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_getnext_event(trid, &e.info, e.data, 8, &e.len,
						    NULL));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(trid, NULL, e.data, 8, &e.len,
						       &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(trid, &e.info, NULL, 8, &e.len,
						       &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(trid, &e.info, e.data, 8, NULL,
						       &e.unavailable));
	EXPECT_EQ(EINVAL, posix_trace_trygetnext_event(trid, &e.info, e.data, 8, &e.len,
						       NULL));
	EXPECT_EQ(EINVAL, posix_trace_timedgetnext_event(trid, NULL, e.data, 8, &e.len,
							 &e.unavailable, &epoch));
	EXPECT_EQ(EINVAL, posix_trace_timedgetnext_event(trid, &e.info, e.data, 8, &e.len,
							 &e.unavailable, NULL));
	/* No event was lost. */
	EXPECT_EQ(1, take(trid, &e));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
