// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_get_attr(): Documentation/conformance/posix_trace_get_attr.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "attr_fixture.h"
#include "trace_test.h"
#include "log_reading.h"

TEST_F(attr, a01_attributes_that_were_set)
{
	struct attr_values values;
	trace_attr_t granted;

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "set"));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 128 << 10));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 333));
	ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, 12345678));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, attr_read(&granted, &values));
	EXPECT_STREQ("set", values.name);
	EXPECT_EQ(128 << 10, values.stream_size);
	EXPECT_EQ(333, values.max_data_size);
	EXPECT_EQ(12345678, values.log_size);
	EXPECT_EQ(POSIX_TRACE_APPEND, values.log_policy);
	EXPECT_EQ(POSIX_TRACE_UNTIL_FULL, values.stream_policy);
	EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, values.inherited);
}

TEST_F(attr, a02_defaults)
{
	trace_attr_t *objects[] = { &self->attr, NULL };
	struct attr_values values;
	trace_attr_t granted;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, attr_granted(objects[i], &granted));
		ASSERT_EQ(0, attr_read(&granted, &values));
		EXPECT_STREQ("", values.name);
		EXPECT_LE(256 << 10, values.stream_size);
		EXPECT_GE(2 * 256 << 10, values.stream_size);
		EXPECT_EQ(1024, values.max_data_size);
		EXPECT_EQ(16 << 20, values.log_size);
		EXPECT_EQ(POSIX_TRACE_LOOP, values.log_policy);
		EXPECT_EQ(POSIX_TRACE_LOOP, values.stream_policy);
		EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, values.inherited);
	}
}

TEST_F(attr, a03_sizes_are_the_granted_ones)
{
	size_t sizes[] = { 0, 1, 8 << 10, 10000, 64 << 10, (64 << 10) + 1, 1 << 20 };
	struct attr_values values;
	trace_attr_t granted;

	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 100));
	for (int i = 0; i < 7; i++) {
		ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, sizes[i]));
		ASSERT_EQ(0, attr_granted(&self->attr, &granted));
		ASSERT_EQ(0, attr_read(&granted, &values));
		/* The stream gets whole pages, at least two. */
		EXPECT_EQ(sizes[i] > 1 ? (sizes[i] + 4095) / 4096 * 4096 : 8192,
			  values.stream_size);
		EXPECT_EQ(100, values.max_data_size);
	}
}

TEST_F(attr, a04_stream_full_policy_in_effect)
{
	struct attr_values values;
	trace_attr_t granted;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, attr_read(&granted, &values));
	EXPECT_EQ(POSIX_TRACE_LOOP, values.stream_policy);
	/* A policy that was set is granted. */
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&granted, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, attr_granted(&granted, &self->attr));
	ASSERT_EQ(0, attr_read(&self->attr, &values));
	EXPECT_EQ(POSIX_TRACE_UNTIL_FULL, values.stream_policy);
}

TEST_F(attr, a05_creation_time)
{
	unsigned long long before, after, created;
	struct attr_values values;
	trace_attr_t granted;
	trace_id_t trid;

	before = now();
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	after = now();
	ASSERT_EQ(0, posix_trace_get_attr(trid, &granted));
	ASSERT_EQ(0, attr_read(&granted, &values));
	created = values.created.tv_sec * NSEC + values.created.tv_nsec;
	EXPECT_LE(before, created);
	EXPECT_GE(after, created);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a06_attributes_of_the_module)
{
	struct attr_values values;
	struct timespec clock;
	trace_attr_t granted;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, attr_read(&granted, &values));
	EXPECT_STREQ(attr_module_version(), values.version);
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &clock));
	EXPECT_EQ(0, memcmp(&clock, &values.resolution, sizeof(clock)));
}

TEST_F(attr, a07_each_stream_has_its_own_attributes)
{
	struct attr_values values;
	trace_attr_t granted;
	trace_id_t trid[5];
	char name[16];

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "stream %d", i);
		ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
		ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 100 + i));
		ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid[i]));
	}
	for (int i = 4; i >= 0; i--) {
		snprintf(name, sizeof(name), "stream %d", i);
		ASSERT_EQ(0, posix_trace_get_attr(trid[i], &granted));
		ASSERT_EQ(0, attr_read(&granted, &values));
		EXPECT_STREQ(name, values.name);
		EXPECT_EQ(100 + i, values.max_data_size);
	}
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
}

/*
 * Returns true if the stream has these attributes. @fill presets the memory that they are written
 * to.
 */
static int has(trace_id_t trid, const struct attr_values *expected, int fill)
{
	struct attr_values values;
	trace_attr_t attr;

	memset(&attr, fill, sizeof(attr));
	return !posix_trace_get_attr(trid, &attr) && !attr_read(&attr, &values) &&
	       !memcmp(expected, &values, sizeof(values));
}

TEST_F(attr, a08_no_change_in_any_state)
{
	struct attr_values values;
	char data[1000] = "data";
	trace_event_set_t set;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "name"));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 10000));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &self->attr));
	ASSERT_EQ(0, attr_read(&self->attr, &values));

	ASSERT_EQ(0, posix_trace_start(trid));
	EXPECT_TRUE(has(trid, &values, 0));
	ASSERT_EQ(0, posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_TRUE(has(trid, &values, 1));
	for (int i = 0; i < 200; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	EXPECT_TRUE(has(trid, &values, 2));
	EXPECT_LE(0, take_all(trid));
	EXPECT_TRUE(has(trid, &values, 3));
	ASSERT_EQ(0, posix_trace_clear(trid));
	EXPECT_TRUE(has(trid, &values, 4));
	ASSERT_EQ(0, posix_trace_stop(trid));
	EXPECT_TRUE(has(trid, &values, 5));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

FIXTURE(again)
{
	trace_attr_t attr;
};

FIXTURE_VARIANT(again)
{
	size_t stream_size;
	size_t max_data_size;
};

FIXTURE_VARIANT_ADD(again, smallest) { 0, 0 };
FIXTURE_VARIANT_ADD(again, rounded) { 10001, 100 };
FIXTURE_VARIANT_ADD(again, usual) { 256 << 10, 1024 };
FIXTURE_VARIANT_ADD(again, large_events) { 0, 65488 };
FIXTURE_VARIANT_ADD(again, large) { (8 << 20) - 1, 1000 };
FIXTURE_VARIANT_ADD(again, a_bit_larger) { (8 << 20) + 1, 100 };
FIXTURE_VARIANT_ADD(again, larger) { (12 << 20) + 4097, 100 };

FIXTURE_SETUP(again)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "again"));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, variant->stream_size));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, variant->max_data_size));
}

FIXTURE_TEARDOWN(again)
{
	posix_trace_attr_destroy(&self->attr);
}

TEST_F(again, a09_stream_created_with_them_has_the_same_attributes)
{
	trace_attr_t granted, granted_again;
	struct attr_values first, second;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, attr_granted(&granted, &granted_again));
	ASSERT_EQ(0, attr_read(&granted, &first));
	ASSERT_EQ(0, attr_read(&granted_again, &second));
	EXPECT_EQ(first.stream_size, second.stream_size);
	memset(&first.created, 0, sizeof(first.created));
	memset(&second.created, 0, sizeof(second.created));
	EXPECT_EQ(0, memcmp(&first, &second, sizeof(first)));
}

TEST_F(attr, a10_object_need_not_be_initialized)
{
	struct attr_values expected;
	trace_attr_t granted;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	/* Write to an initialized object, to uninitialized ones, and to a destroyed one. */
	ASSERT_EQ(0, posix_trace_get_attr(trid, &self->attr));
	ASSERT_EQ(0, attr_read(&self->attr, &expected));
	EXPECT_TRUE(has(trid, &expected, 0));
	EXPECT_TRUE(has(trid, &expected, 0xff));
	ASSERT_EQ(0, posix_trace_attr_init(&granted));
	ASSERT_EQ(0, posix_trace_attr_destroy(&granted));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &granted));
	EXPECT_EQ(0, memcmp(&self->attr, &granted, sizeof(granted)));
	EXPECT_EQ(0, posix_trace_attr_setname(&granted, "it is one now"));
	EXPECT_EQ(0, posix_trace_attr_destroy(&granted));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a12_returns_the_error_number)
{
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	errno = 4711;
	EXPECT_EQ(0, posix_trace_get_attr(trid, &self->attr));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(0, &self->attr));
	EXPECT_EQ(4711, errno);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	errno = 4711;
	EXPECT_EQ(EINVAL, posix_trace_get_attr(trid, &self->attr));
	EXPECT_EQ(4711, errno);
}

TEST_F(attr, a13_bad_trace_ids)
{
	trace_attr_t before;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "before"));
	before = self->attr;
	ASSERT_EQ(0, posix_trace_create(0, NULL, &trid));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(0, &self->attr));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(-1, &self->attr));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(trid + 4711, &self->attr));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(trid, &self->attr));
	EXPECT_EQ(0, memcmp(&before, &self->attr, sizeof(before)));
}

static int get_in_child(void *arg, const struct talk *talk)
{
	trace_attr_t attr;

	say(talk, posix_trace_get_attr(*(trace_id_t *)arg, &attr));
	return 0;
}

TEST_F(attr, a13_trace_id_of_the_parent)
{
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, child_start(&child, get_in_child, &trid));
	EXPECT_EQ(EINVAL, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(attr, a14_null)
{
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	EXPECT_EQ(EINVAL, posix_trace_get_attr(trid, NULL));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static void *get_cancelled(void *trid)
{
	trace_attr_t attr;

	pthread_cancel(pthread_self());
	posix_trace_get_attr(*(trace_id_t *)trid, &attr);
	pthread_testcancel();
	return NULL;
}

TEST_F(attr, a15_cancelled_thread_leaves_nothing_behind)
{
	struct event event;
	pthread_t thread;
	trace_id_t trid;
	void *result;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, get_cancelled, &trid));
		ASSERT_EQ(0, pthread_join(thread, &result));
		EXPECT_EQ(PTHREAD_CANCELED, result);
	}
	EXPECT_EQ(0, posix_trace_get_attr(trid, &self->attr));
	EXPECT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(1, take(trid, &event));
	/* This would wait forever if a cancelled thread still counted as a user of the stream. */
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a11_attributes_of_a_log)
{
	char name[TRACE_NAME_MAX + 1];
	struct log_writer log;
	struct timespec time;
	trace_attr_t attr;
	trace_id_t trid;
	size_t size;
	int policy;

	log_begin(&log, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH, 2, 0);
	log.header.attr.inherited = POSIX_TRACE_INHERITED;
	log.header.attr.log_size = 123456;
	log_header(&log);
	ASSERT_EQ(0, log_open(&log, &trid));
	memset(&attr, 0xa5, sizeof(attr));
	ASSERT_EQ(0, posix_trace_get_attr(trid, &attr));
	EXPECT_EQ(0, posix_trace_attr_getname(&attr, name));
	EXPECT_STREQ("of a test", name);
	EXPECT_EQ(0, posix_trace_attr_getgenversion(&attr, name));
	EXPECT_STREQ("posixtrace 1.0", name);
	EXPECT_EQ(0, posix_trace_attr_getinherited(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_INHERITED, policy);
	EXPECT_EQ(0, posix_trace_attr_getlogfullpolicy(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_UNTIL_FULL, policy);
	EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_FLUSH, policy);
	EXPECT_EQ(0, posix_trace_attr_getlogsize(&attr, &size));
	EXPECT_EQ(123456, size);
	EXPECT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(LOG_MAX_DATA, size);
	EXPECT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_EQ(64 << 10, size);
	EXPECT_EQ(0, posix_trace_attr_getcreatetime(&attr, &time));
	EXPECT_EQ(LOG_TIME0, time.tv_sec * NSEC + time.tv_nsec);
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

TEST_HARNESS_MAIN
