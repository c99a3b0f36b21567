// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getname(): Documentation/conformance/posix_trace_attr_getname.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"

TEST_F(attr, a01_stores_the_name)
{
	char name[TRACE_NAME_MAX + 1] = "x";

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "a name, with blanks"));
	EXPECT_EQ(0, posix_trace_attr_getname(&self->attr, name));
	EXPECT_STREQ("a name, with blanks", name);
}

TEST_F(attr, a02_writes_only_the_string)
{
	char name[TRACE_NAME_MAX], got[TRACE_NAME_MAX + 1];
	size_t lens[] = { 0, 1, 8, TRACE_NAME_MAX - 1 };

	for (int i = 0; i < 4; i++) {
		memset(name, 'n', sizeof(name));
		name[lens[i]] = '\0';
		ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
		memset(got, 'x', sizeof(got));
		ASSERT_EQ(0, posix_trace_attr_getname(&self->attr, got));
		EXPECT_STREQ(name, got);
		for (size_t k = lens[i] + 1; k < sizeof(got); k++)
			ASSERT_EQ('x', got[k]);
	}
}

TEST_F(attr, a03_stream_has_the_name)
{
	char name[TRACE_NAME_MAX + 1] = "x";
	trace_attr_t granted;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, posix_trace_attr_getname(&granted, name));
	EXPECT_STREQ("", name);
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "stream"));
	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, posix_trace_attr_getname(&granted, name));
	EXPECT_STREQ("stream", name);
}

TEST_F(attr, a03_stream_has_the_longest_name)
{
	char name[TRACE_NAME_MAX + 1], got[TRACE_NAME_MAX + 1];
	trace_attr_t granted;

	memset(name, 'n', TRACE_NAME_MAX);
	name[TRACE_NAME_MAX] = '\0';
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, posix_trace_attr_getname(&granted, got));
	EXPECT_STREQ(name, got);
}

TEST_F(invalid, a04_invalid_object)
{
	char name[TRACE_NAME_MAX + 1];

	EXPECT_EQ(EINVAL, posix_trace_attr_getname(self->attr, name));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getname(&self->attr, NULL));
}

TEST_HARNESS_MAIN
