// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getgenversion(): Documentation/conformance/posix_trace_attr_getgenversion.rst
 */
#define _GNU_SOURCE
#include "attr_fixture.h"

TEST_F(attr, a01_is_a_string)
{
	char version[TRACE_NAME_MAX + 1];

	memset(version, 0, sizeof(version));
	ASSERT_EQ(0, posix_trace_attr_getgenversion(&self->attr, version));
	EXPECT_EQ(0, strncmp(version, "posixtrace ", 11));
	EXPECT_LT(11, strlen(version));
}

/* True if only the string is written and it ends within TRACE_NAME_MAX characters. */
static int writes_the_string_only(const trace_attr_t *attr)
{
	char version[TRACE_NAME_MAX + 1];
	size_t len;

	memset(version, 'x', sizeof(version));
	if (posix_trace_attr_getgenversion(attr, version))
		return 0;
	len = strnlen(version, sizeof(version));
	if (len >= TRACE_NAME_MAX)
		return 0;
	while (++len < sizeof(version)) {
		if (version[len] != 'x')
			return 0;
	}
	return 1;
}

TEST_F(attr, a02_writes_only_the_string)
{
	trace_attr_t granted;

	EXPECT_TRUE(writes_the_string_only(&self->attr));
	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	EXPECT_TRUE(writes_the_string_only(&granted));
}

TEST_F(attr, a03_stream_has_the_version_of_the_module)
{
	char version[TRACE_NAME_MAX + 1];
	trace_attr_t granted;

	ASSERT_EQ(0, attr_granted(&self->attr, &granted));
	ASSERT_EQ(0, posix_trace_attr_getgenversion(&granted, version));
	EXPECT_STREQ(attr_module_version(), version);
}

TEST_F(invalid, a04_invalid_object)
{
	char version[TRACE_NAME_MAX + 1];

	EXPECT_EQ(EINVAL, posix_trace_attr_getgenversion(self->attr, version));
}

TEST_F(attr, a04_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getgenversion(&self->attr, NULL));
}

TEST_HARNESS_MAIN
