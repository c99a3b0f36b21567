// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getstreamsize(): Documentation/conformance/posix_trace_attr_getstreamsize.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"
#include "trace_test.h"

TEST_F(attr, a01_stores_the_value_that_was_set)
{
	const long sizes[] = { 0, 1, 12345, 1 << 30 };

	expect_stored(_metadata, &attr_stream_size, &self->attr, sizes, ARRAY_SIZE(sizes));
}

TEST_F(attr, a02_default)
{
	expect_value(_metadata, &attr_stream_size, &self->attr, 256 << 10);
}

/* The size of a stream that is created with these attributes. */
static size_t granted_size(const trace_attr_t *attr)
{
	trace_attr_t granted;
	size_t size;

	if (attr_granted(attr, &granted) || posix_trace_attr_getstreamsize(&granted, &size))
		return 0;
	return size;
}

/* An event takes @len bytes of data and a description of at most 48 bytes in memory. */
TEST_F(attr, a03_stream_has_that_much_memory_for_events)
{
	size_t sizes[] = { 8 << 10, 64 << 10, 256 << 10 };
	char data[464] = "data";
	struct event event;
	trace_id_t trid;
	size_t used;

	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, sizeof(data)));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	for (int i = 0; i < 3; i++) {
		size_t size;

		ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, sizes[i]));
		size = granted_size(&self->attr);
		ASSERT_LE(sizes[i], size);
		ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
		ASSERT_EQ(0, posix_trace_start(trid));
		for (size_t n = 0; n < size * 3 / sizeof(data); n++)
			posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
		used = 0;
		while (take_user(trid, &event) == 1)
			used += 48 + event.len;
		EXPECT_LE(size, used);
		/* Each CPU may hold an additional sub-buffer of 4 KiB. */
		EXPECT_GE(size + (4 << 10) * sysconf(_SC_NPROCESSORS_CONF), used);
		EXPECT_EQ(0, posix_trace_shutdown(trid));
	}
}

TEST_F(attr, a04_covers_events_only)
{
	char name[TRACE_NAME_MAX + 1];
	trace_event_id_t id;
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 64 << 10));
	size = granted_size(&self->attr);
	/* The memory of the name and the event types does not count. */
	memset(name, 'n', TRACE_NAME_MAX);
	name[TRACE_NAME_MAX] = '\0';
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "event type %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
	}
	EXPECT_LE(64 << 10, size);
	EXPECT_EQ(size, granted_size(&self->attr));
}

TEST_F(invalid, a05_invalid_object)
{
	size_t size;

	EXPECT_EQ(EINVAL, posix_trace_attr_getstreamsize(self->attr, &size));
}

TEST_F(attr, a05_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getstreamsize(&self->attr, NULL));
}

TEST_HARNESS_MAIN
