// SPDX-License-Identifier: GPL-2.0
/*
 * The list of event types of a stream.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "trace_test.h"

#define PREDEFINED	9

FIXTURE(typelist)
{
	trace_id_t trid;
};

FIXTURE_SETUP(typelist)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(typelist)
{
	posix_trace_shutdown(self->trid);
}

/* The next id, 0 at the end, negative on error. */
static int next_id(trace_id_t trid)
{
	trace_event_id_t id = 4711;
	int unavailable = -1;
	int err = posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);

	if (err)
		return -err;
	return unavailable ? 0 : (int)id;
}

TEST_F(typelist, predefined_types_come_first_and_once)
{
	bool seen[POSIX_TRACE_UNNAMED_USEREVENT + 1] = { false };
	trace_event_id_t user;

	ASSERT_EQ(0, posix_trace_eventid_open("user", &user));
	for (int i = 0; i < PREDEFINED; i++) {
		int id = next_id(self->trid);

		ASSERT_LT(0, id);
		ASSERT_GE(POSIX_TRACE_UNNAMED_USEREVENT, id);
		ASSERT_FALSE(seen[id]);
		seen[id] = true;
	}
	EXPECT_TRUE(seen[POSIX_TRACE_UNNAMED_USEREVENT]);
	EXPECT_EQ(user, next_id(self->trid));
	EXPECT_EQ(0, next_id(self->trid));
	EXPECT_EQ(0, next_id(self->trid));
}

TEST_F(typelist, has_each_of_many_types_once)
{
	static bool seen[4096];
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int count = 0, next;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
	}
	while ((next = next_id(self->trid)) > 0) {
		ASSERT_FALSE(seen[next]);
		seen[next] = true;
		ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, next, name));
		count++;
	}
	EXPECT_EQ(0, next);
	EXPECT_EQ(PREDEFINED + 200, count);
}

TEST_F(typelist, rewind_starts_over)
{
	int first = next_id(self->trid);

	ASSERT_LT(0, first);
	next_id(self->trid);
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	EXPECT_EQ(first, next_id(self->trid));
	while (next_id(self->trid) > 0)
		;
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	EXPECT_EQ(first, next_id(self->trid));
}

TEST_F(typelist, type_defined_meanwhile_appears_at_the_end)
{
	trace_event_id_t id;
	int next, last = 0;

	for (int i = 0; i < 3; i++)
		ASSERT_LT(0, next_id(self->trid));
	ASSERT_EQ(0, posix_trace_eventid_open("meanwhile", &id));
	while ((next = next_id(self->trid)) > 0)
		last = next;
	EXPECT_EQ(id, last);

	/* Also after the end was reported. */
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "still later", &id));
	EXPECT_EQ(id, next_id(self->trid));
	EXPECT_EQ(0, next_id(self->trid));
}

TEST_F(typelist, streams_have_their_own_positions)
{
	trace_id_t other;
	int first;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &other));
	first = next_id(self->trid);
	next_id(self->trid);
	EXPECT_EQ(first, next_id(other));
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(other));
	EXPECT_NE(first, next_id(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(typelist, null_pointers_are_invalid)
{
	trace_event_id_t id;
	int unavailable;

	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(self->trid, NULL, &unavailable));
	EXPECT_EQ(EINVAL, posix_trace_eventtypelist_getnext_id(self->trid, &id, NULL));
	/* The failed calls have skipped no type. */
	EXPECT_EQ(0, posix_trace_eventtypelist_getnext_id(self->trid, &id, &unavailable));
	EXPECT_EQ(POSIX_TRACE_ERROR, id);
}

TEST_HARNESS_MAIN
