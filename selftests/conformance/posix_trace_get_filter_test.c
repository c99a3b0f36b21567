// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_get_filter(): Documentation/conformance/posix_trace_get_filter.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "cancel.h"
#include "eventset.h"
#include "interrupt.h"
#include "trace_test.h"
#include "withlog.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT

FIXTURE(get)
{
	trace_id_t trid;
};

FIXTURE_SETUP(get)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &self->trid));
}

FIXTURE_TEARDOWN(get)
{
	posix_trace_shutdown(self->trid);
}

/* Returns the set of all types whose number is @rest modulo 3. */
static trace_event_set_t every_third(unsigned int rest)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	for (trace_event_id_t id = 1; id < IDS_MAX; id++)
		if (id % 3 == rest)
			posix_trace_eventset_add(id, &set);
	return set;
}

TEST_F(get, a01_filter_that_was_set)
{
	trace_event_set_t set, filter;

	for (unsigned int rest = 0; rest < 3; rest++) {
		set = every_third(rest);
		ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
		memset(&filter, 0xa5, sizeof(filter));
		ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
		for (trace_event_id_t id = 1; id < IDS_MAX; id++)
			ASSERT_EQ(id % 3 == rest, set_has(&filter, id));
	}
}

TEST_F(get, a02_new_stream_has_an_empty_filter)
{
	trace_event_set_t filter = set_filled(POSIX_TRACE_ALL_EVENTS);

	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(0, set_count(&filter, 1, IDS_MAX));
}

TEST_F(get, a03_in_every_state)
{
	struct posix_trace_status_info status;
	trace_event_set_t filter;
	char data[256] = "";

	ASSERT_EQ(0, filter_one(self->trid, 100, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(1, set_has(&filter, 100));
	for (int i = 0; i < 1000; i++)
		posix_trace_event(UNNAMED, data, sizeof(data));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	ASSERT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	posix_trace_eventset_empty(&filter);
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(1, set_has(&filter, 100));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	posix_trace_eventset_empty(&filter);
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(1, set_has(&filter, 100));
}

TEST_F(get, a04_nothing_changes)
{
	trace_event_set_t first, second;
	struct event event;

	ASSERT_EQ(0, filter_one(self->trid, 100, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &first));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &second));
	EXPECT_TRUE(set_equal(&first, &second));
	EXPECT_EQ(0, take(self->trid, &event));
}

struct changer {
	trace_id_t trid;
	trace_event_set_t sets[2];
	int stop;
};

static void *change(void *arg)
{
	struct changer *changer = arg;
	int n = 0;

	while (!__atomic_load_n(&changer->stop, __ATOMIC_ACQUIRE))
		if (posix_trace_set_filter(changer->trid, &changer->sets[++n % 2],
					   POSIX_TRACE_SET_EVENTSET))
			return arg;
	return NULL;
}

/* The old and new sets are disjoint: a mixture would have members of both, or be empty. */
TEST_F(get, a05_old_or_new_filter_but_no_mixture)
{
	struct changer changer = { .sets = { every_third(1), every_third(2) } };
	trace_event_set_t filter;
	int seen[2] = { 0, 0 };
	pthread_t thread;
	void *result;

	/* FILTER events do not suspend a LOOP stream, however many there are. */
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &changer.trid));
	ASSERT_EQ(0, posix_trace_set_filter(changer.trid, &changer.sets[0],
					    POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, pthread_create(&thread, NULL, change, &changer));
	while (seen[0] < 20 || seen[1] < 20) {
		int which;

		ASSERT_EQ(0, posix_trace_get_filter(changer.trid, &filter));
		which = set_equal(&filter, &changer.sets[1]);
		ASSERT_TRUE(set_equal(&filter, &changer.sets[which]));
		seen[which]++;
	}
	__atomic_store_n(&changer.stop, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(NULL, result);
	EXPECT_EQ(0, posix_trace_shutdown(changer.trid));
}

TEST_F(get, a06_each_stream_has_its_own_filter)
{
	trace_event_set_t filter;
	trace_id_t other;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &other));
	ASSERT_EQ(0, filter_one(self->trid, 100, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, filter_one(other, 101, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(1, set_has(&filter, 100));
	EXPECT_EQ(0, set_has(&filter, 101));
	ASSERT_EQ(0, posix_trace_get_filter(other, &filter));
	EXPECT_EQ(0, set_has(&filter, 100));
	EXPECT_EQ(1, set_has(&filter, 101));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST(a07_bad_trace_ids)
{
	trace_event_set_t filter = set_of(100), before = filter;
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_get_filter(0, &filter));
	EXPECT_EQ(EINVAL, posix_trace_get_filter(-1, &filter));
	EXPECT_EQ(EINVAL, posix_trace_get_filter(4711, &filter));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_get_filter(trid, &filter));
	EXPECT_TRUE(set_equal(&before, &filter));
}

static int get_as_child(void *arg, const struct talk *talk)
{
	trace_event_set_t filter;

	(void)talk;
	return posix_trace_get_filter(*(trace_id_t *)arg, &filter);
}

TEST_F(get, a07_trace_id_of_the_parent)
{
	struct child child;
	int status;

	ASSERT_EQ(0, child_start(&child, get_as_child, &self->trid));
	status = child_wait(&child);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EINVAL, WEXITSTATUS(status));
}

TEST_F(get, a09_null_set)
{
	EXPECT_EQ(EINVAL, posix_trace_get_filter(self->trid, NULL));
}

TEST_F(get, a10_signals)
{
	trace_event_set_t set = every_third(1), filter;
	int err;

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, interrupts_begin(NULL));
	while (interrupts.hits < 30) {
		posix_trace_eventset_empty(&filter);
		interrupts_before();
		err = posix_trace_get_filter(self->trid, &filter);
		interrupts_after();
		ASSERT_TRUE(err == EINTR || (!err && set_equal(&set, &filter)));
	}
	interrupts_end();
}

static int get_filter(trace_id_t trid)
{
	trace_event_set_t filter;

	return posix_trace_get_filter(trid, &filter);
}

TEST_F(get, a11_cancelled_thread_holds_no_lock)
{
	trace_event_set_t filter;
	int ret = call_trid_cancelled(get_filter, self->trid);

	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	EXPECT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST(a08_einval_for_a_log)
{
	trace_event_set_t set;
	trace_id_t log;

	ASSERT_EQ(0, withlog_open_empty(&log));
	EXPECT_EQ(EINVAL, posix_trace_get_filter(log, &set));
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_HARNESS_MAIN
