// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_trid_eventid_open():
 * Documentation/conformance/posix_trace_trid_eventid_open.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "cancel.h"
#include "family.h"
#include "name_test.h"
#include "trace_test.h"
#include "withlog.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT
#define NAMES	50

/* The traced process executes these requests. */
enum question {
	OPEN,		/* opens the name with the number that follows, and answers with its id */
	OPEN_MANY,	/* opens names; answers 0, or 1 if two names have the same id */
	RECORD,		/* records an event of the type that follows */
};

static long open_own_names(void)
{
	trace_event_id_t ids[NAMES];

	for (int i = 0; i < NAMES; i++) {
		ids[i] = open_id(numbered("of the process", i).text);
		for (int j = 0; j < i; j++)
			if (ids[j] == ids[i])
				return 1;
	}
	return 0;
}

static int answer(void *arg, const struct talk *talk)
{
	long question, number;

	(void)arg;
	for (;;) {
		question = hear(talk);
		number = hear(talk);
		switch (question) {
		case OPEN:
			say(talk, open_id(numbered("name", number).text));
			break;
		case OPEN_MANY:
			say(talk, open_own_names());
			break;
		case RECORD:
			posix_trace_event(number, NULL, 0);
			say(talk, 0);
			break;
		default:
			return 0;
		}
	}
}

static long ask(struct child *child, enum question question, long number)
{
	say(&child->talk, question);
	say(&child->talk, number);
	return hear(&child->talk);
}

FIXTURE(trid_open)
{
	struct child child;
	trace_id_t trid;
};

FIXTURE_SETUP(trid_open)
{
	ASSERT_EQ(0, child_start(&self->child, answer, NULL));
	ASSERT_EQ(0, new_stream(self->child.pid, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(trid_open)
{
	child_wait(&self->child);
	posix_trace_shutdown(self->trid);
}

TEST_F(trid_open, a01_events_have_the_type)
{
	trace_event_id_t id = 0;
	struct event event;

	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "by the controller", &id));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, ask(&self->child, RECORD, id));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(id, event.info.posix_event_id);
	EXPECT_STREQ("by the controller", name_of(self->trid, id).text);
}

TEST_F(trid_open, a02_same_name_same_type)
{
	trace_event_id_t id = open_trid_id(self->trid, "same");
	trace_id_t other;

	ASSERT_LT(UNNAMED, id);
	EXPECT_EQ(id, open_trid_id(self->trid, "same"));
	ASSERT_EQ(0, new_stream(self->child.pid, POSIX_TRACE_UNTIL_FULL, &other));
	EXPECT_EQ(id, open_trid_id(other, "same"));
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(trid_open, a03_controller_asks_first)
{
	for (int i = 0; i < 3; i++) {
		trace_event_id_t id = open_trid_id(self->trid, numbered("name", i).text);

		ASSERT_LT(UNNAMED, id);
		EXPECT_EQ(id, ask(&self->child, OPEN, i));
	}
}

TEST_F(trid_open, a03_process_asks_first)
{
	for (int i = 0; i < 3; i++) {
		long id = ask(&self->child, OPEN, i);

		ASSERT_LT(UNNAMED, id);
		EXPECT_EQ(id, open_trid_id(self->trid, numbered("name", i).text));
	}
}

TEST_F(trid_open, a04_another_name_another_type)
{
	EXPECT_NE(open_trid_id(self->trid, "one"), open_trid_id(self->trid, "two"));
}

TEST_F(trid_open, a04_both_sides_at_the_same_time)
{
	bool seen[UNNAMED + TRACE_USER_EVENT_MAX] = { false };
	trace_event_id_t ids[NAMES];

	say(&self->child.talk, OPEN_MANY);
	say(&self->child.talk, 0);
	for (int i = 0; i < NAMES; i++)
		ids[i] = open_trid_id(self->trid, numbered("of the controller", i).text);
	ASSERT_EQ(0, hear(&self->child.talk));
	for (int i = 0; i < 2 * NAMES; i++) {
		trace_event_id_t id = i < NAMES ? ids[i] :
			open_trid_id(self->trid, numbered("of the process", i - NAMES).text);

		ASSERT_LT(UNNAMED, id);
		ASSERT_FALSE(seen[id]);
		seen[id] = true;
	}
	/* The process had already defined its names, so opening them again defined no new types. */
	EXPECT_EQ(UNNAMED + 2 * NAMES + 1, open_trid_id(self->trid, "next"));
}

TEST_F(trid_open, a05_longest_name)
{
	struct name name = long_name(TRACE_EVENT_NAME_MAX, 'x');
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, name.text, &id));
	EXPECT_STREQ(name.text, name_of(self->trid, id).text);
	EXPECT_NE(id, open_trid_id(self->trid, long_name(TRACE_EVENT_NAME_MAX, 'y').text));
	EXPECT_NE(id, open_trid_id(self->trid, long_name(TRACE_EVENT_NAME_MAX - 1, 'n').text));
}

TEST_F(trid_open, a06_longer_name)
{
	struct name name = long_name(TRACE_EVENT_NAME_MAX + 1, 'x');
	trace_event_id_t id = 4711;

	EXPECT_EQ(ENAMETOOLONG, posix_trace_trid_eventid_open(self->trid, name.text, &id));
	EXPECT_EQ(4711, id);
}

TEST_F(trid_open, a07_limit_of_the_traced_process)
{
	trace_event_id_t id;

	ASSERT_LT(UNNAMED, ask(&self->child, OPEN, 0));
	for (int i = 0; i < TRACE_USER_EVENT_MAX - 2; i++)
		ASSERT_LT(UNNAMED, open_trid_id(self->trid, numbered("type", i).text));
	EXPECT_EQ(0, posix_trace_trid_eventid_open(self->trid, "one more", &id));
	EXPECT_EQ(UNNAMED, id);
	EXPECT_EQ(UNNAMED, ask(&self->child, OPEN, 1));
	EXPECT_LT(UNNAMED, open_trid_id(self->trid, "name 0"));
	/* The limit applies to the traced process, not to the controller. */
	EXPECT_LT(UNNAMED, open_id("one more"));
}

TEST_F(trid_open, a08_bad_trace_ids)
{
	trace_event_id_t id = 4711;
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(0, "x", &id));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(-1, "x", &id));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(self->trid + 1, "x", &id));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(trid, "x", &id));
	EXPECT_EQ(4711, id);
}

/* A process that answers requests, with a child that answers every second one. */
static int answer_for_both(void *arg, const struct talk *talk)
{
	struct child child;
	long number;
	int which;

	if (hear(talk) || child_start(&child, answer, arg))
		return 1;
	say(talk, child.pid);
	for (which = 0; (number = hear(talk)) >= 0; which = !which)
		say(talk, which ? ask(&child, OPEN, number) :
			  (long)open_id(numbered("name", number).text));
	return child_wait(&child);
}

TEST(a10_all_traced_processes_have_the_same_types)
{
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, answer_for_both, NULL));
	ASSERT_EQ(0, start_family_stream(child.pid, &trid));
	say(&child.talk, 0);
	ASSERT_LT(0, hear(&child.talk));
	for (long i = 0; i < NAMES; i++) {
		/* The controller and the processes take turns at opening the name first. */
		trace_event_id_t first = i % 2 ? open_trid_id(trid, numbered("name", i).text) : 0;
		long parent, its_child;

		say(&child.talk, i);
		parent = hear(&child.talk);
		say(&child.talk, i);
		its_child = hear(&child.talk);
		ASSERT_LT(UNNAMED, parent);
		EXPECT_EQ(parent, its_child);
		EXPECT_EQ(parent, open_trid_id(trid, numbered("name", i).text));
		if (i % 2)
			EXPECT_EQ(parent, first);
	}
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(trid_open, a11_process_before_its_first_call)
{
	trace_event_id_t id = open_trid_id(self->trid, "name 7");

	ASSERT_LT(UNNAMED, id);
	/* These are the first calls of the process. */
	EXPECT_EQ(id + 1, ask(&self->child, OPEN, 8));
	EXPECT_EQ(id, ask(&self->child, OPEN, 7));
}

TEST(a11_process_that_has_ended)
{
	trace_event_id_t id;
	struct child child;
	trace_id_t trid;
	long its;

	ASSERT_EQ(0, child_start(&child, answer, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	its = ask(&child, OPEN, 0);
	ASSERT_EQ(0, child_wait(&child));
	EXPECT_EQ(its, open_trid_id(trid, "name 0"));
	EXPECT_EQ(0, posix_trace_trid_eventid_open(trid, "name 1", &id));
	EXPECT_EQ(its + 1, id);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(trid_open, a12_predefined_names)
{
	EXPECT_EQ(POSIX_TRACE_ERROR, open_trid_id(self->trid, "posix_trace_error"));
	EXPECT_EQ(POSIX_TRACE_START, open_trid_id(self->trid, "posix_trace_start"));
	EXPECT_EQ(POSIX_TRACE_STOP, open_trid_id(self->trid, "posix_trace_stop"));
	EXPECT_EQ(POSIX_TRACE_FILTER, open_trid_id(self->trid, "posix_trace_filter"));
	EXPECT_EQ(POSIX_TRACE_OVERFLOW, open_trid_id(self->trid, "posix_trace_overflow"));
	EXPECT_EQ(POSIX_TRACE_RESUME, open_trid_id(self->trid, "posix_trace_resume"));
	EXPECT_EQ(POSIX_TRACE_FLUSH_START, open_trid_id(self->trid, "posix_trace_flush_start"));
	EXPECT_EQ(POSIX_TRACE_FLUSH_STOP, open_trid_id(self->trid, "posix_trace_flush_stop"));
	EXPECT_EQ(UNNAMED, open_trid_id(self->trid, "posix_trace_unnamed_userevent"));
}

TEST_F(trid_open, a13_empty_name_and_null_pointers)
{
	trace_event_id_t id = 4711;

	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(self->trid, "", &id));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(self->trid, NULL, &id));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(self->trid, "x", NULL));
	EXPECT_EQ(4711, id);
}

static int open_name(trace_id_t trid)
{
	return open_trid_id(trid, "cancelled") > UNNAMED ? 0 : EINVAL;
}

TEST_F(trid_open, a14_no_cancellation_point)
{
	EXPECT_EQ(0, call_trid_cancelled(open_name, self->trid));
}

TEST(a09_einval_for_a_log)
{
	trace_event_id_t id;
	trace_id_t log;

	ASSERT_EQ(0, withlog_open_empty(&log));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(log, "name", &id));
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_HARNESS_MAIN
