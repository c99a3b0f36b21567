// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_set_filter(): Documentation/conformance/posix_trace_set_filter.rst. See
 * posix_trace_set_filter_load_test.c for changes under load, and
 * posix_trace_set_filter_system_test.c for system event types and full streams.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "eventset.h"
#include "cancel.h"
#include "filter_stream.h"
#include "interrupt.h"
#include "trace_test.h"
#include "withlog.h"

TEST_F(filter, a01_before_the_start)
{
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->b);
}

TEST_F(filter, a02_running)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a, POSIX_TRACE_FILTER, self->b);
}

TEST_F(filter, a03_all_types_are_recorded_by_default)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->c, NULL, 0);
	posix_trace_event(UNNAMED, NULL, 0);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a, self->c, UNNAMED, POSIX_TRACE_STOP);
}

/* Expects exactly the members of @wanted in the filter. */
static void expect_filter(struct __test_metadata *_metadata, trace_id_t trid,
			  const trace_event_set_t *wanted)
{
	trace_event_set_t filter;

	ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
	for (trace_event_id_t id = 1; id < IDS_MAX; id++)
		ASSERT_EQ(set_has(wanted, id), set_has(&filter, id));
}

TEST_F(filter, a04_set)
{
	trace_event_set_t wanted = set_of(self->b);

	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	EXPECT_EQ(0, filter_one(self->trid, self->b, SET));
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a);
}

TEST_F(filter, a05_add)
{
	trace_event_set_t wanted = set_of(self->a), more = set_of(self->b);

	/* One type is in both sets. All other types are in only one of them. */
	posix_trace_eventset_add(4000, &wanted);
	posix_trace_eventset_add(4000, &more);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &wanted, ADD));
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &more, ADD));
	posix_trace_eventset_add(self->b, &wanted);
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	posix_trace_event(self->c, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->c);
}

TEST_F(filter, a06_sub)
{
	trace_event_set_t wanted = set_filled(POSIX_TRACE_ALL_EVENTS), less = set_of(self->b);

	posix_trace_eventset_del(self->a, &wanted);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &wanted, SET));
	/* One type is in both sets, another one only in the new set. */
	posix_trace_eventset_add(self->a, &less);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &less, SUB));
	posix_trace_eventset_del(self->b, &wanted);
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	posix_trace_event(self->c, NULL, 0);
	EXPECT_TYPES(self->trid, self->a, self->b);
}

static void expect_change(struct __test_metadata *_metadata, trace_id_t trid,
			  const trace_event_set_t *old, const trace_event_set_t *new)
{
	struct event event;

	ASSERT_EQ(1, take(trid, &event));
	ASSERT_EQ(POSIX_TRACE_FILTER, event.info.posix_event_id);
	ASSERT_EQ(2 * sizeof(trace_event_set_t), event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	EXPECT_EQ(0, memcmp(event.data, old, sizeof(*old)));
	EXPECT_EQ(0, memcmp(event.data + sizeof(*old), new, sizeof(*new)));
}

TEST_F(filter, a07_change_is_recorded_with_both_filters)
{
	trace_event_set_t none = set_filled(POSIX_TRACE_WOPID_EVENTS);
	trace_event_set_t a = set_of(self->a), b = set_of(self->b), both = a;
	struct event event;

	posix_trace_eventset_add(self->b, &both);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &a, SET));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &b, ADD));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &a, SUB));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &none, SET));
	expect_change(_metadata, self->trid, &none, &a);
	expect_change(_metadata, self->trid, &a, &both);
	expect_change(_metadata, self->trid, &both, &b);
	expect_change(_metadata, self->trid, &b, &none);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(filter, a07_change_is_recorded_if_the_filter_stays_the_same)
{
	trace_event_set_t none = set_filled(POSIX_TRACE_WOPID_EVENTS), a = set_of(self->a);
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &none, SET));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &a, SUB));
	expect_change(_metadata, self->trid, &none, &none);
	expect_change(_metadata, self->trid, &none, &none);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(filter, a08_not_recorded_while_suspended)
{
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	EXPECT_TYPES(self->trid);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, filter_one(self->trid, self->b, SET));
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, POSIX_TRACE_STOP);
}

TEST_F(filter, a09_filter_is_filtered)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_FILTER, SET));
	ASSERT_EQ(0, filter_one(self->trid, self->a, ADD));
	ASSERT_EQ(0, filter_one(self->trid, self->a, SUB));
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_FILTER, SUB));
	EXPECT_TYPES(self->trid, POSIX_TRACE_START);
	ASSERT_EQ(0, filter_one(self->trid, self->a, ADD));
	EXPECT_TYPES(self->trid, POSIX_TRACE_FILTER);
}

/* ------------------------------------------------------------------ */
/* Other properties of a filter						*/

TEST_F(filter, a16_types_that_are_not_defined_yet)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS);
	trace_event_id_t of_all, other;

	posix_trace_eventset_del(self->a, &set);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_eventid_open("later", &of_all));
	posix_trace_event(of_all, NULL, 0);
	posix_trace_event(self->a, NULL, 0);
	EXPECT_TYPES(self->trid, self->a);
	/* The controller defines the next type. */
	ASSERT_EQ(0, filter_one(self->trid, of_all + 1, SET));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "still later", &other));
	ASSERT_EQ(of_all + 1, other);
	posix_trace_event(other, NULL, 0);
	posix_trace_event(of_all, NULL, 0);
	EXPECT_TYPES(self->trid, of_all);
}

TEST_F(filter, a17_other_streams_record_as_before)
{
	trace_id_t other;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &other));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_start(other));
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	ASSERT_EQ(0, filter_one(other, self->b, SET));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, POSIX_TRACE_FILTER, self->b);
	EXPECT_TYPES(other, POSIX_TRACE_START, POSIX_TRACE_FILTER, self->a);
	EXPECT_EQ(0, posix_trace_shutdown(other));
	/* A new stream may reuse the slot of an ended one, but its filter is empty. */
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &other));
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(other, POSIX_TRACE_START, self->b);
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(filter, a18_filter_does_not_change_through_stop_and_start)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, POSIX_TRACE_FILTER, POSIX_TRACE_STOP,
		     POSIX_TRACE_START, self->b);
}

TEST_F(filter, a19_set_is_copied)
{
	trace_event_set_t set = set_of(self->a);

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, SET));
	memset(&set, 0xff, sizeof(set));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->b);
}

TEST(a20_no_space_for_the_change)
{
	struct posix_trace_status_info status;
	int changes = 0, recorded = 0;
	trace_event_set_t filter;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &trid));
	do {
		changes++;
		ASSERT_EQ(0, filter_one(trid, UNNAMED + changes, SET));
		ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
		ASSERT_EQ(1, set_has(&filter, UNNAMED + changes));
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		ASSERT_GT(1000, changes);
	} while (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	/* The stream is now suspended, so a further change records no event. */
	ASSERT_EQ(0, filter_one(trid, UNNAMED, SET));

	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	while (take(trid, &event) == 1 && event.info.posix_event_id == POSIX_TRACE_FILTER)
		recorded++;
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	EXPECT_NE(0, event_number(&event));
	EXPECT_EQ(changes - 1, recorded);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(filter, a21_signals)
{
	trace_event_set_t sets[2] = { set_of(self->a), set_of(self->b) }, filter;
	struct posix_trace_status_info status;
	int now_set = 0, changed = 0, recorded = 0, err;
	struct event event;

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &sets[0], SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, interrupts_begin(NULL));
	while (interrupts.hits < 30) {
		interrupts_before();
		err = posix_trace_set_filter(self->trid, &sets[!now_set], SET);
		interrupts_after();
		ASSERT_TRUE(!err || err == EINTR);
		if (!err) {
			now_set = !now_set;
			changed++;
		}
		ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
		ASSERT_TRUE(set_equal(&sets[now_set], &filter));
		while (take(self->trid, &event) == 1)
			recorded += event.info.posix_event_id == POSIX_TRACE_FILTER;
		ASSERT_EQ(changed, recorded);
	}
	interrupts_end();
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
}

/* ------------------------------------------------------------------ */
/* Errors								*/

TEST(a22_bad_trace_ids)
{
	trace_event_set_t set = set_of(UNNAMED);
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_set_filter(0, &set, SET));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(-1, &set, SET));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(4711, &set, SET));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(trid, &set, SET));
}

static int set_as_child(void *arg, const struct talk *talk)
{
	(void)talk;
	return filter_one(*(trace_id_t *)arg, UNNAMED, SET);
}

TEST_F(filter, a22_trace_id_of_the_parent)
{
	struct child child;
	int status;

	ASSERT_EQ(0, child_start(&child, set_as_child, &self->trid));
	status = child_wait(&child);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EINVAL, WEXITSTATUS(status));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(UNNAMED, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, UNNAMED);
}

TEST_F(filter, a24_bad_arguments)
{
	trace_event_set_t set = set_of(self->a);

	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(self->trid, NULL, SET));
	for (int how = -2; how < 16; how++)
		if (how != SET && how != ADD && how != SUB)
			EXPECT_EQ(EINVAL, posix_trace_set_filter(self->trid, &set, how));
	posix_trace_event(self->a, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a);
}

static int set_filter(trace_id_t trid)
{
	return filter_one(trid, UNNAMED, SET);
}

TEST_F(filter, a25_cancelled_thread_holds_no_lock)
{
	trace_event_set_t none = set_filled(POSIX_TRACE_WOPID_EVENTS);
	trace_event_set_t all = set_of(UNNAMED), filter;
	int ret;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ret = call_trid_cancelled(set_filter, self->trid);
	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_TRUE(set_equal(&filter, &none) || set_equal(&filter, &all));
	EXPECT_EQ(0, filter_one(self->trid, self->a, SET));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST(a23_einval_for_a_log)
{
	trace_event_set_t set;
	trace_id_t log;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, withlog_open_empty(&log));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(log, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_HARNESS_MAIN
