// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setname(): Documentation/conformance/posix_trace_attr_setname.rst
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include "attr_fixture.h"

/* Sets @name, and returns the name that was set. */
static const char *set(trace_attr_t *attr, const char *name)
{
	static char got[TRACE_NAME_MAX + 1];

	if (posix_trace_attr_setname(attr, name) || posix_trace_attr_getname(attr, got))
		return "an error";
	return got;
}

TEST_F(attr, a01_sets_the_name)
{
	EXPECT_STREQ("first, and longer", set(&self->attr, "first, and longer"));
	EXPECT_STREQ("second", set(&self->attr, "second"));
	EXPECT_STREQ("", set(&self->attr, ""));
}

TEST_F(attr, a01_copies_the_name)
{
	char name[] = "name", got[TRACE_NAME_MAX + 1];

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
	memset(name, 'x', sizeof(name));
	ASSERT_EQ(0, posix_trace_attr_getname(&self->attr, got));
	EXPECT_STREQ("name", got);
}

TEST_F(attr, a02_is_empty_by_default)
{
	char got[TRACE_NAME_MAX + 1] = "x";

	ASSERT_EQ(0, posix_trace_attr_getname(&self->attr, got));
	EXPECT_STREQ("", got);
}

TEST_F(attr, a03_longest_name_is_kept)
{
	char name[TRACE_NAME_MAX + 1];

	memset(name, 'n', TRACE_NAME_MAX);
	name[TRACE_NAME_MAX] = '\0';
	EXPECT_STREQ(name, set(&self->attr, name));
}

TEST_F(attr, a04_longer_name_is_truncated)
{
	size_t lens[] = { TRACE_NAME_MAX + 1, TRACE_NAME_MAX + 2, 1000 };
	char name[1001], expected[TRACE_NAME_MAX];

	for (int i = 0; i < TRACE_NAME_MAX - 1; i++)
		expected[i] = 'a' + i % 26;
	expected[TRACE_NAME_MAX - 1] = '\0';
	for (int i = 0; i < 3; i++) {
		for (size_t k = 0; k < lens[i]; k++)
			name[k] = 'a' + k % 26;
		name[lens[i]] = '\0';
		EXPECT_STREQ(expected, set(&self->attr, name));
	}
}

TEST_F(attr, a05_sets_only_this_attribute)
{
	struct attr_values expected, values;
	char name[TRACE_NAME_MAX + 2];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ASSERT_EQ(0, attr_read(&self->attr, &expected));
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, name));
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "name"));
	strcpy(expected.name, "name");
	ASSERT_EQ(0, attr_read(&self->attr, &values));
	EXPECT_EQ(0, memcmp(&expected, &values, sizeof(values)));
}

TEST_F(invalid, a06_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_setname(self->attr, "name"));
}

TEST_F(attr, a07_null_name)
{
	trace_attr_t before;

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "before"));
	before = self->attr;
	EXPECT_EQ(EINVAL, posix_trace_attr_setname(&self->attr, NULL));
	EXPECT_EQ(0, memcmp(&before, &self->attr, sizeof(before)));
}

TEST_HARNESS_MAIN
