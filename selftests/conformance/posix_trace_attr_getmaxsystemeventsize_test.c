// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getmaxsystemeventsize():
 * Documentation/conformance/posix_trace_attr_getmaxsystemeventsize.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"
#include "promise.h"
#include "pxt_test.h"

#define SYSTEM_MAX	1000

TEST_F(attr, a01_has_space_for_two_event_sets)
{
	size_t size = 0;

	EXPECT_EQ(0, posix_trace_attr_getmaxsystemeventsize(&self->attr, &size));
	EXPECT_LT(2 * sizeof(trace_event_set_t), size);
	EXPECT_GT(4096, size);
}

/* ------------------------------------------------------------------ */
/* The promise								*/

/* A stream, and the events that it should have recorded. */
struct traced {
	trace_attr_t attr;	/* attributes of the created stream */
	trace_id_t trid;
	size_t stream_size;
	int running;
	int filtered;
	int count;		/* system events so far */
	trace_event_id_t system[SYSTEM_MAX];
};

FIXTURE(promise)
{
	struct traced traced;
};

FIXTURE_VARIANT(promise)
{
	int policy;
	size_t stream_size;
	size_t max_data_size;
};

FIXTURE_VARIANT_ADD(promise, smallest) { POSIX_TRACE_UNTIL_FULL, 0, 100 };
FIXTURE_VARIANT_ADD(promise, small) { POSIX_TRACE_UNTIL_FULL, 64 << 10, 464 };
FIXTURE_VARIANT_ADD(promise, small_loop) { POSIX_TRACE_LOOP, 64 << 10, 464 };
FIXTURE_VARIANT_ADD(promise, usual) { POSIX_TRACE_UNTIL_FULL, 256 << 10, 1024 };
FIXTURE_VARIANT_ADD(promise, large_events) { POSIX_TRACE_UNTIL_FULL, 0, 8 << 10 };

FIXTURE_SETUP(promise)
{
	ASSERT_EQ(0, promise_create(variant->policy, variant->stream_size, variant->max_data_size,
				    &self->traced.trid, &self->traced.attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&self->traced.attr, &self->traced.stream_size));
}

FIXTURE_TEARDOWN(promise)
{
	posix_trace_shutdown(self->traced.trid);
}

static struct plan plan;

/* Records START or STOP, in turn. */
static int toggle_running(struct traced *traced)
{
	traced->system[traced->count++] = traced->running ? POSIX_TRACE_STOP : POSIX_TRACE_START;
	traced->running = !traced->running;
	return traced->running ? posix_trace_start(traced->trid) : posix_trace_stop(traced->trid);
}

/* Records FILTER: adds a type without events to the filter, and removes it again. */
static int toggle_filter(struct traced *traced)
{
	trace_event_set_t set;
	int how;

	traced->system[traced->count++] = POSIX_TRACE_FILTER;
	traced->filtered = !traced->filtered;
	how = traced->filtered ? POSIX_TRACE_ADD_EVENTSET : POSIX_TRACE_SUB_EVENTSET;
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT + 1, &set);
	return posix_trace_set_filter(traced->trid, &set, how);
}

/* A description of the first error in the recorded events, or "". */
static const char *wrong(const struct traced *traced)
{
	return plan_verify(&plan, traced->trid, traced->system, traced->count);
}

/* Returns how many system events fit into stream-min-size. */
static int system_events(const struct traced *traced)
{
	return traced->stream_size / system_size(&traced->attr);
}

TEST_F(promise, a02_start_and_stop)
{
	int count = system_events(&self->traced);

	ASSERT_LT(0, count);
	ASSERT_GE(SYSTEM_MAX, count);
	while (self->traced.count < count)
		ASSERT_EQ(0, toggle_running(&self->traced));
	EXPECT_STREQ("", wrong(&self->traced));
}

TEST_F(promise, a03_filter)
{
	int count = system_events(&self->traced);

	ASSERT_GE(SYSTEM_MAX, count);
	ASSERT_EQ(0, toggle_running(&self->traced));
	while (self->traced.count < count)
		ASSERT_EQ(0, toggle_filter(&self->traced));
	EXPECT_STREQ("", wrong(&self->traced));
}

TEST_F(promise, a03_filter_start_and_stop)
{
	int count = system_events(&self->traced), err;

	ASSERT_GE(SYSTEM_MAX, count);
	while (self->traced.count < count) {
		/* Start the stream first if it is suspended, because then it records no FILTER. */
		err = !self->traced.running || self->traced.count % 7 == 6 ?
		      toggle_running(&self->traced) : toggle_filter(&self->traced);
		ASSERT_EQ(0, err);
	}
	EXPECT_STREQ("", wrong(&self->traced));
}

/*
 * Fills a part of the stream with system events and the rest with user events on all CPUs,
 * alternately.
 */
static int record_both(struct traced *traced, int count)
{
	static const size_t lens[] = { 464, 464, 464, 464, 464, 464, 216, 208 };
	size_t rest;
	int err = 0, done = 0;

	/* Choose the number so that the stream is running when the user events are recorded. */
	count = traced->running ? count / 2 * 2 : (count - 1) / 2 * 2 + 1;
	rest = traced->stream_size - count * system_size(&traced->attr);
	plan_make(&plan, &traced->attr, rest, 0, lens, 8);
	count += traced->count;
	if (!traced->running)
		err = toggle_running(traced);
	for (int i = 0; !err && i < plan.count; i++) {
		next_cpu(i, plan.count);
		plan_record(&plan, i);
		/* Spread them evenly, two system events at a time. */
		while (!err && traced->count + 2 <= count && done * plan.count <= i * count) {
			if (done % 3 == 0) {
				err = toggle_running(traced);
				if (!err)
					err = toggle_running(traced);
			} else {
				err = toggle_filter(traced);
				if (!err)
					err = toggle_filter(traced);
			}
			done += 2;
		}
	}
	while (!err && traced->count < count)
		err = toggle_filter(traced);
	return err;
}

TEST_F(promise, a04_few_among_user_events)
{
	ASSERT_EQ(0, record_both(&self->traced, system_events(&self->traced) / 8));
	EXPECT_STREQ("", wrong(&self->traced));
}

TEST_F(promise, a04_as_many_as_user_events)
{
	ASSERT_EQ(0, record_both(&self->traced, system_events(&self->traced) / 2));
	EXPECT_STREQ("", wrong(&self->traced));
}

TEST_F(promise, a04_many_among_few_user_events)
{
	ASSERT_EQ(0, record_both(&self->traced, system_events(&self->traced) * 7 / 8));
	EXPECT_STREQ("", wrong(&self->traced));
}

TEST_F(promise, a05_after_clear)
{
	ASSERT_EQ(0, record_both(&self->traced, system_events(&self->traced) / 2));
	ASSERT_EQ(0, posix_trace_clear(self->traced.trid));
	self->traced.count = 0;
	ASSERT_EQ(0, record_both(&self->traced, system_events(&self->traced) / 2));
	EXPECT_STREQ("", wrong(&self->traced));
}

/* After that, the LOOP stream is cleared, and the UNTIL_FULL stream is read until it is empty. */
TEST_F(promise, a05_after_the_stream_was_full)
{
	ASSERT_EQ(0, toggle_running(&self->traced));
	ASSERT_TRUE(record_until_full(self->traced.trid, &self->traced.attr));
	if (variant->policy == POSIX_TRACE_LOOP)
		ASSERT_EQ(0, posix_trace_clear(self->traced.trid));
	/* Also read the START that the stream records when it restarts because it is empty. */
	EXPECT_LE(0, take_all(self->traced.trid));
	self->traced.count = 0;
	ASSERT_EQ(0, record_both(&self->traced, system_events(&self->traced) / 2));
	EXPECT_STREQ("", wrong(&self->traced));
}

TEST_F(promise, a06_same_size_for_the_stream)
{
	trace_attr_t asked;

	ASSERT_EQ(0, posix_trace_attr_init(&asked));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&asked, variant->stream_size));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&asked, variant->max_data_size));
	EXPECT_LT(0, system_size(&asked));
	EXPECT_EQ(system_size(&asked), system_size(&self->traced.attr));
}

TEST_F(invalid, a07_invalid_object)
{
	size_t size;

	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxsystemeventsize(self->attr, &size));
}

TEST_F(attr, a07_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxsystemeventsize(&self->attr, NULL));
}

TEST_HARNESS_MAIN
