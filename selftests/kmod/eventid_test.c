// SPDX-License-Identifier: GPL-2.0
/*
 * Event types: names and ids for both roles, and the list of types.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

#define USER_EVENT_MAX	POSIXTRACE_IMAGE_TYPES

FIXTURE(eventid)
{
	struct stream stream;
	struct target target;
};

FIXTURE_SETUP(eventid)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

FIXTURE_TEARDOWN(eventid)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static int event_name(int fd, unsigned int id, char *name)
{
	struct posixtrace_eventid arg = { .id = id };
	int ret = command(fd, POSIXTRACE_IOC_EVENT_NAME, &arg);

	memcpy(name, arg.name, sizeof(arg.name));
	return ret;
}

/* Gets up to @count ids of a stream, starting with number @first. */
static int event_types(int fd, unsigned int first, unsigned int *ids, unsigned int count)
{
	struct posixtrace_event_types arg = {
		.ids = (uintptr_t)ids,
		.first = first,
		.count = count,
	};
	int ret = command(fd, POSIXTRACE_IOC_EVENT_TYPES, &arg);

	return ret < 0 ? ret : (int)arg.count;
}

TEST_F(eventid, same_name_gives_the_same_id)
{
	int id = eventid_open(self->target.fd, "same");

	EXPECT_LT(POSIXTRACE_ID_UNNAMED, id);
	EXPECT_GT(POSIXTRACE_ID_MAX, id);
	EXPECT_EQ(id, eventid_open(self->target.fd, "same"));
}

TEST_F(eventid, different_names_give_different_ids)
{
	int id = eventid_open(self->target.fd, "one");

	EXPECT_NE(id, eventid_open(self->target.fd, "on"));
	EXPECT_NE(id, eventid_open(self->target.fd, "one "));
	EXPECT_NE(id, eventid_open(self->target.fd, "One"));
}

TEST_F(eventid, controller_and_traced_process_get_the_same_id)
{
	int id = eventid_open(self->stream.fd, "from the controller");

	EXPECT_LT(POSIXTRACE_ID_UNNAMED, id);
	EXPECT_EQ(id, eventid_open(self->target.fd, "from the controller"));
	id = eventid_open(self->target.fd, "from the program");
	EXPECT_LT(POSIXTRACE_ID_UNNAMED, id);
	EXPECT_EQ(id, eventid_open(self->stream.fd, "from the program"));
}

TEST_F(eventid, streams_on_one_process_share_the_types)
{
	struct stream other;
	int id = eventid_open(self->stream.fd, "shared");

	ASSERT_EQ(0, stream_create(&other, 0));
	EXPECT_EQ(id, eventid_open(other.fd, "shared"));
	stream_close(&other);
}

TEST(types_outlive_the_stream)
{
	struct target target;
	struct stream stream;
	int id;

	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, stream_create(&stream, 0));
	id = eventid_open(stream.fd, "lasting");
	stream_close(&stream);
	EXPECT_NE(id, eventid_open(target.fd, "another"));
	EXPECT_EQ(id, eventid_open(target.fd, "lasting"));
	target_close(&target);
}

TEST(types_exist_before_any_stream)
{
	struct target target;
	struct stream stream;
	int id;

	ASSERT_EQ(0, target_open(&target));
	id = eventid_open(target.fd, "early");
	EXPECT_LT(POSIXTRACE_ID_UNNAMED, id);
	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_EQ(id, eventid_open(stream.fd, "early"));
	stream_close(&stream);
	target_close(&target);
}

/* A child forked before any name was opened inherits no names. */
TEST_F(eventid, processes_have_their_own_types)
{
	struct child child;
	struct stream other;
	unsigned int ids[64];

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_LT(0, eventid_open(self->stream.fd, "mine"));
	ASSERT_EQ(0, stream_create(&other, child.pid));
	ASSERT_LT(0, eventid_open(other.fd, "its"));
	for (int i = event_types(self->stream.fd, 0, ids, 64); i-- > 0;) {
		struct posixtrace_eventid arg = { .id = ids[i] };

		ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_EVENT_NAME, &arg));
		EXPECT_STRNE("its", arg.name);
	}
	stream_close(&other);
	EXPECT_EQ(0, child_wait(&child));
}

FIXTURE(predefined)
{
	struct stream stream;
	struct target target;
};

FIXTURE_VARIANT(predefined)
{
	const char *name;
	int id;
};

FIXTURE_VARIANT_ADD(predefined, error) { "posix_trace_error", POSIXTRACE_ID_ERROR };
FIXTURE_VARIANT_ADD(predefined, start) { "posix_trace_start", POSIXTRACE_ID_START };
FIXTURE_VARIANT_ADD(predefined, stop) { "posix_trace_stop", POSIXTRACE_ID_STOP };
FIXTURE_VARIANT_ADD(predefined, overflow) { "posix_trace_overflow", POSIXTRACE_ID_OVERFLOW };
FIXTURE_VARIANT_ADD(predefined, resume) { "posix_trace_resume", POSIXTRACE_ID_RESUME };
FIXTURE_VARIANT_ADD(predefined, flush_start) {
	"posix_trace_flush_start", POSIXTRACE_ID_FLUSH_START
};

FIXTURE_VARIANT_ADD(predefined, flush_stop) { "posix_trace_flush_stop", POSIXTRACE_ID_FLUSH_STOP };
FIXTURE_VARIANT_ADD(predefined, filter) { "posix_trace_filter", POSIXTRACE_ID_FILTER };
FIXTURE_VARIANT_ADD(predefined, unnamed) {
	"posix_trace_unnamed_userevent", POSIXTRACE_ID_UNNAMED
};

FIXTURE_SETUP(predefined)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

FIXTURE_TEARDOWN(predefined)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(predefined, name_opens_its_id)
{
	EXPECT_EQ(variant->id, eventid_open(self->target.fd, variant->name));
	EXPECT_EQ(variant->id, eventid_open(self->stream.fd, variant->name));
}

TEST_F(predefined, id_has_its_name)
{
	char name[POSIXTRACE_EVENT_NAME_SIZE];

	ASSERT_EQ(0, event_name(self->stream.fd, variant->id, name));
	EXPECT_STREQ(variant->name, name);
}

TEST_F(eventid, name_of_an_opened_type)
{
	char name[POSIXTRACE_EVENT_NAME_SIZE];
	int id = eventid_open(self->target.fd, "opened");

	ASSERT_EQ(0, event_name(self->stream.fd, id, name));
	EXPECT_STREQ("opened", name);
}

TEST_F(eventid, name_of_an_unknown_type_is_invalid)
{
	char name[POSIXTRACE_EVENT_NAME_SIZE];

	EXPECT_EQ(-EINVAL, event_name(self->stream.fd, 0, name));
	EXPECT_EQ(-EINVAL, event_name(self->stream.fd, POSIXTRACE_ID_FILTER + 1, name));
	EXPECT_EQ(-EINVAL, event_name(self->stream.fd, POSIXTRACE_ID_UNNAMED - 1, name));
	EXPECT_EQ(-EINVAL, event_name(self->stream.fd, POSIXTRACE_ID_MAX - 1, name));
	EXPECT_EQ(-EINVAL, event_name(self->stream.fd, POSIXTRACE_ID_MAX, name));
	EXPECT_EQ(-EINVAL, event_name(self->stream.fd, ~0U, name));
}

TEST_F(eventid, name_refuses_reserved_words_and_bad_addresses)
{
	struct posixtrace_eventid arg = { .id = POSIXTRACE_ID_START, .reserved = 1 };

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_EVENT_NAME, &arg));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_EVENT_NAME, BAD_POINTER));
}

TEST_F(eventid, longest_name)
{
	struct posixtrace_eventid arg = { .id = 0 };
	char name[POSIXTRACE_EVENT_NAME_SIZE];

	memset(arg.name, 'x', sizeof(arg.name) - 1);
	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENTID_OPEN, &arg));
	ASSERT_EQ(0, event_name(self->stream.fd, arg.id, name));
	EXPECT_STREQ(arg.name, name);
}

FIXTURE(refused)
{
	struct stream stream;
	struct target target;
};

FIXTURE_VARIANT(refused)
{
	struct posixtrace_eventid arg;
};

FIXTURE_VARIANT_ADD(refused, empty_name) { { .name = "" } };
FIXTURE_VARIANT_ADD(refused, name_without_end) {
	{ .name = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" }
};

FIXTURE_VARIANT_ADD(refused, name_not_zero_behind) { { .name = "name\0x" } };
FIXTURE_VARIANT_ADD(refused, name_empty_but_not_zero_behind) { { .name = "\0name" } };
FIXTURE_VARIANT_ADD(refused, reserved) { { .name = "name", .reserved = 1 } };

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

FIXTURE_TEARDOWN(refused)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(refused, argument_is_invalid_and_defines_nothing)
{
	struct posixtrace_eventid arg = variant->arg;
	unsigned int ids[64];
	int types = event_types(self->stream.fd, 0, ids, 64);

	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_EVENTID_OPEN, &arg));
	arg = variant->arg;
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_EVENTID_OPEN, &arg));
	EXPECT_EQ(types, event_types(self->stream.fd, 0, ids, 64));
}

TEST_F(eventid, open_at_a_bad_address_is_a_fault)
{
	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_EVENTID_OPEN, BAD_POINTER));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_EVENTID_OPEN, BAD_POINTER));
}

/* The unnamed type counts towards TRACE_USER_EVENT_MAX; it is returned once all ids are used. */
TEST_F(eventid, types_beyond_the_limit_are_unnamed)
{
	static char seen[POSIXTRACE_ID_MAX];
	char name[POSIXTRACE_EVENT_NAME_SIZE];

	for (int i = 0; i < USER_EVENT_MAX - 1; i++) {
		int id;

		snprintf(name, sizeof(name), "type %d", i);
		id = eventid_open(self->target.fd, name);
		ASSERT_LT(POSIXTRACE_ID_UNNAMED, id);
		ASSERT_GT(POSIXTRACE_ID_MAX, id);
		ASSERT_EQ(0, seen[id]++);
	}
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, eventid_open(self->target.fd, "one too many"));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, eventid_open(self->stream.fd, "another"));
	/* Existing types are still found; new names get the unnamed type. */
	EXPECT_LT(POSIXTRACE_ID_UNNAMED, eventid_open(self->target.fd, "type 0"));
	EXPECT_LT(POSIXTRACE_ID_UNNAMED, eventid_open(self->stream.fd, "type 1022"));
	ASSERT_EQ(0, event_name(self->stream.fd, POSIXTRACE_ID_UNNAMED, name));
	EXPECT_STREQ("posix_trace_unnamed_userevent", name);
}

/* ------------------------------------------------------------------ */
/* EVENT_TYPES								*/

TEST_F(eventid, list_begins_with_the_predefined_types)
{
	unsigned int ids[16];

	EXPECT_EQ(9, event_types(self->stream.fd, 0, ids, 16));
	for (unsigned int i = 0; i < 8; i++)
		EXPECT_EQ(i + 1, ids[i]);
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, ids[8]);
}

TEST_F(eventid, list_continues_in_the_order_of_opening)
{
	unsigned int ids[16];
	int id[3];

	id[0] = eventid_open(self->target.fd, "first");
	id[1] = eventid_open(self->stream.fd, "second");
	id[2] = eventid_open(self->target.fd, "third");
	ASSERT_EQ(12, event_types(self->stream.fd, 0, ids, 16));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(id[i], ids[9 + i]);
}

TEST_F(eventid, list_in_pieces_has_each_type_once)
{
	static char seen[POSIXTRACE_ID_MAX];
	unsigned int ids[4];
	unsigned int first = 0;
	int n;

	for (int i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "piece %d", i);
		ASSERT_LT(0, eventid_open(self->target.fd, name));
	}
	while ((n = event_types(self->stream.fd, first, ids, 4)) > 0) {
		for (int i = 0; i < n; i++)
			ASSERT_EQ(0, seen[ids[i]]++);
		first += n;
	}
	EXPECT_EQ(0, n);
	EXPECT_EQ(19, first);
}

TEST_F(eventid, type_opened_during_the_listing_is_last)
{
	unsigned int ids[16];
	int id;

	ASSERT_EQ(9, event_types(self->stream.fd, 0, ids, 16));
	EXPECT_EQ(0, event_types(self->stream.fd, 9, ids, 16));
	id = eventid_open(self->target.fd, "meanwhile");
	ASSERT_EQ(1, event_types(self->stream.fd, 9, ids, 16));
	EXPECT_EQ(id, ids[0]);
}

TEST_F(eventid, list_from_far_beyond_the_end_is_empty)
{
	unsigned int ids[4];

	EXPECT_EQ(0, event_types(self->stream.fd, POSIXTRACE_ID_MAX, ids, 4));
	EXPECT_EQ(0, event_types(self->stream.fd, ~0U, ids, 4));
}

TEST_F(eventid, list_without_space_is_empty)
{
	EXPECT_EQ(0, event_types(self->stream.fd, 0, NULL, 0));
}

TEST_F(eventid, list_writes_no_more_than_the_space_allows)
{
	unsigned int ids[4] = { 0, 0, 0xdead, 0xdead };

	EXPECT_EQ(2, event_types(self->stream.fd, 0, ids, 2));
	EXPECT_NE(0, ids[1]);
	EXPECT_EQ(0xdead, ids[2]);
}

TEST_F(eventid, list_can_have_more_space_than_ids)
{
	static unsigned int ids[16];

	/* A count that overflows when multiplied is not an error. */
	EXPECT_EQ(9, event_types(self->stream.fd, 0, ids, 0x40000001));
}

TEST_F(eventid, list_refuses_reserved_words_and_bad_addresses)
{
	unsigned int ids[4];
	struct posixtrace_event_types arg = { .ids = (uintptr_t)ids, .count = 4, .reserved = 1 };

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_EVENT_TYPES, &arg));
	EXPECT_EQ(-EFAULT, event_types(self->stream.fd, 0, BAD_POINTER, 4));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_EVENT_TYPES, BAD_POINTER));
}

TEST_HARNESS_MAIN
