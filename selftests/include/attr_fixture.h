/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures with a valid and an invalid attributes object, and checks for each attribute that has a
 * get and a set function.
 */
#ifndef _SELFTESTS_ATTR_FIXTURE_H
#define _SELFTESTS_ATTR_FIXTURE_H

#include "attr_test.h"
#include "pxt_test.h"

FIXTURE(attr)
{
	trace_attr_t attr;
};

FIXTURE_SETUP(attr)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
}

FIXTURE_TEARDOWN(attr)
{
	posix_trace_attr_destroy(&self->attr);
}

/* Each case of this fixture runs with a null pointer and with three invalid objects. */
FIXTURE(invalid)
{
	trace_attr_t object;
	trace_attr_t *attr;
};

FIXTURE_VARIANT(invalid)
{
	bool null;
	bool destroyed;
	int byte;
};

FIXTURE_VARIANT_ADD(invalid, null) { .null = true };
FIXTURE_VARIANT_ADD(invalid, destroyed) { .destroyed = true };
FIXTURE_VARIANT_ADD(invalid, zeros) { .byte = 0 };
FIXTURE_VARIANT_ADD(invalid, ones) { .byte = 0xff };

FIXTURE_SETUP(invalid)
{
	self->attr = variant->null ? NULL : &self->object;
	memset(&self->object, variant->byte, sizeof(self->object));
	if (variant->destroyed) {
		ASSERT_EQ(0, posix_trace_attr_init(&self->object));
		ASSERT_EQ(0, posix_trace_attr_destroy(&self->object));
	}
}

FIXTURE_TEARDOWN(invalid)
{
}

/* Expects that the attribute of the object has this value. */
static inline void expect_value(struct __test_metadata *_metadata,
				const struct attribute *attribute, const trace_attr_t *attr,
				long expected)
{
	long value;

	EXPECT_EQ(0, attribute_get(attribute, attr, &value));
	EXPECT_EQ(expected, value);
}

/* Expects that an object returns each value that was set. */
static inline void expect_stored(struct __test_metadata *_metadata,
				 const struct attribute *attribute, trace_attr_t *attr,
				 const long *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ASSERT_EQ(0, attribute_set(attribute, attr, values[i]));
		expect_value(_metadata, attribute, attr, values[i]);
	}
}

/* Expects that a stream has the value with which it was created. */
static inline void expect_granted(struct __test_metadata *_metadata,
				  const struct attribute *attribute, trace_attr_t *attr,
				  const long *values, size_t count)
{
	trace_attr_t granted;

	for (size_t i = 0; i < count; i++) {
		ASSERT_EQ(0, attribute_set(attribute, attr, values[i]));
		ASSERT_EQ(0, attr_granted(attr, &granted));
		expect_value(_metadata, attribute, &granted, values[i]);
	}
}

/* Expects that setting the attribute changes no other attribute. */
static inline void expect_set_alone(struct __test_metadata *_metadata,
				    const struct attribute *attribute, trace_attr_t *attr,
				    const long *values, size_t count)
{
	struct attr_values expected, got;

	ASSERT_EQ(0, attr_read(attr, &expected));
	for (size_t i = 0; i < count; i++) {
		EXPECT_EQ(0, attribute_set(attribute, attr, values[i]));
		memcpy((char *)&expected + attribute->offset, &values[i], sizeof(values[i]));
		ASSERT_EQ(0, attr_read(attr, &got));
		EXPECT_EQ(0, memcmp(&expected, &got, sizeof(got)));
	}
}

/* Sets @valid. Expects other values to fail with EINVAL and not to change the object. */
static inline void expect_refused(struct __test_metadata *_metadata,
				  const struct attribute *attribute, trace_attr_t *attr,
				  long valid, const long *values, size_t count)
{
	trace_attr_t before;

	ASSERT_EQ(0, attribute_set(attribute, attr, valid));
	before = *attr;
	for (size_t i = 0; i < count; i++) {
		EXPECT_EQ(EINVAL, attribute_set(attribute, attr, values[i]));
		EXPECT_EQ(0, memcmp(&before, attr, sizeof(before)));
	}
}

#endif /* _SELFTESTS_ATTR_FIXTURE_H */
