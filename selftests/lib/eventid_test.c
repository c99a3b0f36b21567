// SPDX-License-Identifier: GPL-2.0
/*
 * Event types by name: posix_trace_eventid_open() and related functions.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "trace_test.h"

FIXTURE(eventid)
{
	trace_id_t trid;
};

FIXTURE_SETUP(eventid)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(eventid)
{
	posix_trace_shutdown(self->trid);
}

TEST(same_name_gives_the_same_id_before_any_stream)
{
	trace_event_id_t a, b, c;

	ASSERT_EQ(0, posix_trace_eventid_open("one", &a));
	ASSERT_EQ(0, posix_trace_eventid_open("one", &b));
	ASSERT_EQ(0, posix_trace_eventid_open("two", &c));
	EXPECT_EQ(a, b);
	EXPECT_NE(a, c);
}

TEST_F(eventid, controller_gets_the_id_of_the_traced_process)
{
	trace_event_id_t mine, its;

	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "controller first", &its));
	ASSERT_EQ(0, posix_trace_eventid_open("controller first", &mine));
	EXPECT_TRUE(posix_trace_eventid_equal(self->trid, mine, its));
	ASSERT_EQ(0, posix_trace_eventid_open("process first", &mine));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "process first", &its));
	EXPECT_TRUE(posix_trace_eventid_equal(self->trid, mine, its));
}

TEST_F(eventid, equal_compares)
{
	trace_event_id_t a, b;

	ASSERT_EQ(0, posix_trace_eventid_open("a", &a));
	ASSERT_EQ(0, posix_trace_eventid_open("b", &b));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, a, a));
	EXPECT_EQ(0, posix_trace_eventid_equal(self->trid, a, b));
	EXPECT_NE(0, posix_trace_eventid_equal(self->trid, POSIX_TRACE_START, POSIX_TRACE_START));
	EXPECT_EQ(0, posix_trace_eventid_equal(self->trid, POSIX_TRACE_START, a));
}

TEST_F(eventid, name_of_an_opened_type)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_eventid_open("opened", &id));
	ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, id, name));
	EXPECT_STREQ("opened", name);
}

TEST_F(eventid, names_of_the_predefined_types)
{
	static const struct {
		trace_event_id_t id;
		const char *name;
	} types[] = {
		{ POSIX_TRACE_ERROR, "posix_trace_error" },
		{ POSIX_TRACE_START, "posix_trace_start" },
		{ POSIX_TRACE_STOP, "posix_trace_stop" },
		{ POSIX_TRACE_OVERFLOW, "posix_trace_overflow" },
		{ POSIX_TRACE_RESUME, "posix_trace_resume" },
		{ POSIX_TRACE_FLUSH_START, "posix_trace_flush_start" },
		{ POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop" },
		{ POSIX_TRACE_FILTER, "posix_trace_filter" },
		{ POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent" },
	};
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, types[i].id, name));
		EXPECT_STREQ(types[i].name, name);
		ASSERT_EQ(0, posix_trace_eventid_open(types[i].name, &id));
		EXPECT_EQ(types[i].id, id);
		ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, types[i].name, &id));
		EXPECT_EQ(types[i].id, id);
	}
}

TEST_F(eventid, longest_name)
{
	char name[TRACE_EVENT_NAME_MAX + 1], got[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	memset(name, 'l', TRACE_EVENT_NAME_MAX);
	name[TRACE_EVENT_NAME_MAX] = '\0';
	ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
	ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, id, got));
	EXPECT_STREQ(name, got);
}

TEST_F(eventid, longer_name_is_too_long)
{
	char name[TRACE_EVENT_NAME_MAX + 2];
	trace_event_id_t id = 4711;

	memset(name, 'l', TRACE_EVENT_NAME_MAX + 1);
	name[TRACE_EVENT_NAME_MAX + 1] = '\0';
	EXPECT_EQ(ENAMETOOLONG, posix_trace_eventid_open(name, &id));
	EXPECT_EQ(ENAMETOOLONG, posix_trace_trid_eventid_open(self->trid, name, &id));
	EXPECT_EQ(4711, id);
}

TEST_F(eventid, empty_name_is_invalid)
{
	trace_event_id_t id;

	EXPECT_EQ(EINVAL, posix_trace_eventid_open("", &id));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(self->trid, "", &id));
}

TEST_F(eventid, null_pointers_are_invalid)
{
	trace_event_id_t id;

	EXPECT_EQ(EINVAL, posix_trace_eventid_open(NULL, &id));
	EXPECT_EQ(EINVAL, posix_trace_eventid_open("x", NULL));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(self->trid, NULL, &id));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(self->trid, "x", NULL));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, POSIX_TRACE_START, NULL));
}

TEST_F(eventid, name_of_an_unknown_id_is_invalid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, 0, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, 4095, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, 4096, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, ~0U, name));
}

TEST_F(eventid, types_beyond_the_limit_are_unnamed)
{
	trace_event_id_t id, first = 0;
	char name[TRACE_EVENT_NAME_MAX + 1];

	for (int i = 0; i < TRACE_USER_EVENT_MAX - 1; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		ASSERT_EQ(0, posix_trace_eventid_open(name, &id));
		ASSERT_NE(POSIX_TRACE_UNNAMED_USEREVENT, id);
		if (i == 0)
			first = id;
	}
	ASSERT_EQ(0, posix_trace_eventid_open("one more", &id));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, id);
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "and one", &id));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, id);
	ASSERT_EQ(0, posix_trace_eventid_open("type 0", &id));
	EXPECT_EQ(first, id);
}

/* A child process opens its own event types. */
static int open_and_report(void *arg, const struct talk *talk)
{
	trace_event_id_t id;

	(void)arg;
	if (posix_trace_eventid_open("of the child", &id))
		return 1;
	say(talk, id);
	hear(talk);
	return 0;
}

TEST(controller_gets_the_ids_of_another_process)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	struct child child;
	trace_id_t trid;
	long its;

	ASSERT_EQ(0, child_start(&child, open_and_report, NULL));
	its = hear(&child.talk);
	ASSERT_LT(POSIX_TRACE_UNNAMED_USEREVENT, its);
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, "of the child", &id));
	EXPECT_EQ(its, id);
	ASSERT_EQ(0, posix_trace_eventid_get_name(trid, its, name));
	EXPECT_STREQ("of the child", name);
	EXPECT_EQ(0, child_wait(&child));

	/* Also after the process has ended. */
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, its, name));
	EXPECT_STREQ("of the child", name);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
