// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setmaxdatasize(): Documentation/conformance/posix_trace_attr_setmaxdatasize.rst
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "attr_fixture.h"
#include "trace_test.h"

TEST_F(attr, a01_sets_only_this_attribute)
{
	const long sizes[] = { 1, 0, 333, 65488 };

	expect_set_alone(_metadata, &attr_max_data_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

/*
 * Records @len bytes of data into a stream with max-data-size @max. Returns true if the event is as
 * expected.
 */
static int records(trace_attr_t *attr, size_t max, size_t len)
{
	static unsigned char data[70000], got[70000];
	struct posix_trace_event_info info = { 0 };
	size_t kept = len < max ? len : max, got_len = 0;
	int unavailable, err, truncated;
	trace_id_t trid;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i % 251 + 1;
	memset(got, 0, sizeof(got));
	if (posix_trace_attr_setmaxdatasize(attr, max) || posix_trace_create(0, attr, &trid))
		return 0;
	posix_trace_start(trid);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, len);
	do {
		err = posix_trace_trygetnext_event(trid, &info, got, sizeof(got), &got_len,
						   &unavailable);
	} while (!err && !unavailable && info.posix_event_id == POSIX_TRACE_START);
	posix_trace_shutdown(trid);
	if (err || unavailable)
		return 0;
	truncated = kept < len ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	return info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT && got_len == kept &&
	       info.posix_truncation_status == truncated && !memcmp(data, got, kept) &&
	       (!kept || kept == sizeof(got) || !got[kept]);
}

TEST_F(attr, a02_data_that_fits_is_complete)
{
	EXPECT_TRUE(records(&self->attr, 0, 0));
	EXPECT_TRUE(records(&self->attr, 1, 1));
	EXPECT_TRUE(records(&self->attr, 333, 332));
	EXPECT_TRUE(records(&self->attr, 333, 333));
	EXPECT_TRUE(records(&self->attr, 1024, 1024));
	EXPECT_TRUE(records(&self->attr, 65488, 65488));
}

TEST_F(attr, a03_longer_data_is_truncated)
{
	EXPECT_TRUE(records(&self->attr, 0, 1));
	EXPECT_TRUE(records(&self->attr, 1, 2));
	EXPECT_TRUE(records(&self->attr, 333, 334));
	EXPECT_TRUE(records(&self->attr, 333, 70000));
	EXPECT_TRUE(records(&self->attr, 65488, 70000));
}

TEST_F(attr, a04_each_stream_truncates_to_its_size)
{
	size_t sizes[] = { 4, 100, 0 };
	char data[150] = "data";
	struct event event;
	trace_id_t trid[3];

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, sizes[i]));
		ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid[i]));
		ASSERT_EQ(0, posix_trace_start(trid[i]));
	}
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(1, take_user(trid[i], &event));
		EXPECT_EQ(sizes[i], event.len);
		EXPECT_EQ(POSIX_TRACE_TRUNCATED_RECORD, event.info.posix_truncation_status);
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
	}
}

TEST_F(invalid, a05_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_setmaxdatasize(self->attr, 1024));
}

TEST_F(attr, a06_too_large)
{
	const long sizes[] = { 65489, 1UL << 32, SIZE_MAX };

	expect_refused(_metadata, &attr_max_data_size, &self->attr, 54321, sizes,
		       ARRAY_SIZE(sizes));
}

TEST_HARNESS_MAIN
