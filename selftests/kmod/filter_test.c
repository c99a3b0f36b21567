// SPDX-License-Identifier: GPL-2.0
/*
 * SET_FILTER and GET_FILTER: the filter, and the gate that it controls.
 */
#define _GNU_SOURCE
#include <stddef.h>

#include "pxt_test.h"
#include "uapi.h"

FIXTURE(filter)
{
	struct stream stream;
	struct target target;
	int id;
};

FIXTURE_SETUP(filter)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	self->id = eventid_open(self->target.fd, "filtered");
	ASSERT_LT(POSIXTRACE_ID_UNNAMED, self->id);
}

FIXTURE_TEARDOWN(filter)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static void set_add(struct posixtrace_event_set *set, unsigned int id)
{
	set->bits[id / 64] |= 1ULL << id % 64;
}

static int filter_set(struct stream *stream, const struct posixtrace_event_set *set,
		      unsigned int how)
{
	struct posixtrace_filter arg = {
		.set = *set,
		.how = how,
		.origin = { .prog_address = 0x1111, .thread_id = 0x2222 },
	};

	return command(stream->fd, POSIXTRACE_IOC_SET_FILTER, &arg);
}

static int filter_get(struct stream *stream, struct posixtrace_event_set *set)
{
	memset(set, 0x5a, sizeof(*set));
	return command(stream->fd, POSIXTRACE_IOC_GET_FILTER, set);
}

static struct posixtrace_event_set set_of(unsigned int id)
{
	struct posixtrace_event_set set = { 0 };

	set_add(&set, id);
	return set;
}

TEST_F(filter, is_empty_in_a_new_stream)
{
	static const struct posixtrace_event_set empty;
	struct posixtrace_event_set set;

	ASSERT_EQ(0, filter_get(&self->stream, &set));
	EXPECT_EQ(0, memcmp(&empty, &set, sizeof(set)));
}

TEST_F(filter, is_set_extended_and_reduced)
{
	struct posixtrace_event_set a = set_of(self->id), b = set_of(POSIXTRACE_ID_MAX - 1);
	struct posixtrace_event_set both = a, set;

	set_add(&both, POSIXTRACE_ID_MAX - 1);
	ASSERT_EQ(0, filter_set(&self->stream, &a, POSIXTRACE_FILTER_SET));
	ASSERT_EQ(0, filter_get(&self->stream, &set));
	EXPECT_EQ(0, memcmp(&a, &set, sizeof(set)));
	ASSERT_EQ(0, filter_set(&self->stream, &b, POSIXTRACE_FILTER_ADD));
	ASSERT_EQ(0, filter_get(&self->stream, &set));
	EXPECT_EQ(0, memcmp(&both, &set, sizeof(set)));
	ASSERT_EQ(0, filter_set(&self->stream, &a, POSIXTRACE_FILTER_SUB));
	ASSERT_EQ(0, filter_get(&self->stream, &set));
	EXPECT_EQ(0, memcmp(&b, &set, sizeof(set)));
}

TEST_F(filter, shuts_and_opens_the_gate)
{
	const struct posixtrace_gate *gate = self->target.gate;
	struct posixtrace_event_set set = set_of(self->id);

	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_SET));
	EXPECT_EQ(0, LOAD(gate->enable[POSIXTRACE_ID_UNNAMED]));
	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(1, LOAD(gate->enable[POSIXTRACE_ID_UNNAMED]));
	EXPECT_EQ(0, LOAD(gate->enable[self->id]));
	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_SUB));
	EXPECT_EQ(1, LOAD(gate->enable[self->id]));
	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_ADD));
	EXPECT_EQ(0, LOAD(gate->enable[self->id]));
}

TEST_F(filter, applies_to_types_defined_later)
{
	struct posixtrace_event_set set;
	int later;

	memset(&set, 0xff, sizeof(set));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_SET));
	later = eventid_open(self->stream.fd, "later");
	ASSERT_LT(self->id, later);
	EXPECT_EQ(0, LOAD(self->target.gate->enable[later]));
}

TEST_F(filter, of_one_stream_does_not_affect_another)
{
	struct posixtrace_event_set set = set_of(self->id);
	struct stream other;

	ASSERT_EQ(0, stream_create(&other, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, stream_start(&other));
	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_SET));
	EXPECT_EQ(1U << other.arg.slot, LOAD(self->target.gate->enable[self->id]));
	stream_close(&other);
}

TEST_F(filter, change_is_recorded_with_caller_and_both_filters)
{
	struct posixtrace_event_set set = set_of(self->id), sets[2];
	struct record record;

	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_SET));
	ASSERT_EQ(1, stream_take(&self->stream, &record, sets, sizeof(sets)));
	EXPECT_EQ(POSIXTRACE_ID_FILTER, record.event_id);
	EXPECT_EQ(sizeof(sets), record.data_len);
	EXPECT_EQ(0x1111, record.prog_address);
	EXPECT_EQ(0x2222, record.thread_id);
	EXPECT_EQ(getpid(), record.pid);
	for (size_t i = 0; i < ARRAY_SIZE(sets[0].bits); i++)
		EXPECT_EQ(0, sets[0].bits[i]);
	EXPECT_EQ(0, memcmp(&set, &sets[1], sizeof(set)));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(filter, change_of_a_suspended_stream_is_not_recorded)
{
	struct posixtrace_event_set set = set_of(self->id);
	struct record record;

	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_SET));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(filter, applies_to_system_types)
{
	struct posixtrace_event_set set = set_of(POSIXTRACE_ID_START);
	struct record record;

	set_add(&set, POSIXTRACE_ID_FILTER);
	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_SET));
	EXPECT_EQ(set.bits[0], self->stream.ctrl->system_filter);
	ASSERT_EQ(0, stream_start(&self->stream));
	ASSERT_EQ(0, filter_set(&self->stream, &set, POSIXTRACE_FILTER_ADD));
	ASSERT_EQ(0, stream_stop(&self->stream));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_STOP, record.event_id);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

/*
 * Each change of the filter records the event FILTER, which needs space. The test changes the
 * filter until there is no space left.
 */
TEST(filter_change_without_space_makes_the_stream_full)
{
	struct posixtrace_event_set set = set_of(POSIXTRACE_ID_UNNAMED);
	struct posixtrace_status status;
	struct record record;
	struct stream stream;
	struct target target;
	int last = 0;

	ASSERT_EQ(0, target_open(&target));
	create_init(&stream.arg, 0);
	stream.arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	do {
		ASSERT_EQ(0, filter_set(&stream, &set, last++ % 2 ? POSIXTRACE_FILTER_ADD :
					POSIXTRACE_FILTER_SUB));
		ASSERT_EQ(0, stream_status(&stream, &status));
		ASSERT_GT(10000, last);
	} while (status.flags == POSIXTRACE_STATUS_RUNNING);
	EXPECT_EQ(POSIXTRACE_STATUS_FULL, status.flags);

	/* The filter has changed anyway, and STOP is the last event. */
	ASSERT_EQ(0, filter_set(&stream, &set, POSIXTRACE_FILTER_SET));
	EXPECT_EQ(0, LOAD(target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	while (stream_take(&stream, &record, NULL, 0) == 1)
		last = record.event_id;
	EXPECT_EQ(POSIXTRACE_ID_STOP, last);
	stream_close(&stream);
	target_close(&target);
}

/* ------------------------------------------------------------------ */
/* Errors								*/

FIXTURE(refused)
{
	struct stream stream;
};

FIXTURE_VARIANT(refused)
{
	size_t offset;		/* offset of the invalid field */
	size_t size;
	unsigned long long value;
};

#define AT(name)	offsetof(struct posixtrace_filter, name)

FIXTURE_VARIANT_ADD(refused, how_unknown) { AT(how), 4, 3 };
FIXTURE_VARIANT_ADD(refused, how_huge) { AT(how), 4, ~0U };
FIXTURE_VARIANT_ADD(refused, reserved) { AT(reserved), 4, 1 };
FIXTURE_VARIANT_ADD(refused, origin_reserved_0) { AT(origin.reserved[0]), 8, 1 };
FIXTURE_VARIANT_ADD(refused, origin_reserved_1) { AT(origin.reserved[1]), 8, 1ULL << 63 };

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
}

FIXTURE_TEARDOWN(refused)
{
	stream_close(&self->stream);
}

TEST_F(refused, argument_is_invalid_and_changes_nothing)
{
	struct posixtrace_filter arg = { .how = POSIXTRACE_FILTER_SET };
	struct posixtrace_event_set set;
	struct record record;

	set_add(&arg.set, POSIXTRACE_ID_UNNAMED);
	memcpy((char *)&arg + variant->offset, &variant->value, variant->size);
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_SET_FILTER, &arg));
	ASSERT_EQ(0, filter_get(&self->stream, &set));
	EXPECT_EQ(0, set.bits[POSIXTRACE_ID_UNNAMED / 64]);
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
}

TEST_F(filter, bad_addresses_are_faults)
{
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_SET_FILTER, BAD_POINTER));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_GET_FILTER, BAD_POINTER));
}

TEST_HARNESS_MAIN
