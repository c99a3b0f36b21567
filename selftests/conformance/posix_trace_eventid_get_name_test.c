// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_eventid_get_name(): Documentation/conformance/posix_trace_eventid_get_name.rst
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "stream_fixtures.h"
#include "cancel.h"
#include "name_test.h"
#include "trace_test.h"
#include "log_reading.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT

TEST_F(suspended, a01_names_of_both_sides)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t of_process, of_controller;

	ASSERT_EQ(0, posix_trace_eventid_open("of the process", &of_process));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "of the controller",
						   &of_controller));
	EXPECT_EQ(0, posix_trace_eventid_get_name(self->trid, of_process, name));
	EXPECT_STREQ("of the process", name);
	EXPECT_EQ(0, posix_trace_eventid_get_name(self->trid, of_controller, name));
	EXPECT_STREQ("of the controller", name);
}

TEST_F(suspended, a02_predefined_types)
{
	for (size_t i = 0; i < PREDEFINED; i++)
		EXPECT_STREQ(predefined[i].name, name_of(self->trid, predefined[i].id).text);
}

TEST_F(suspended, a03_longest_name)
{
	struct name name = long_name(TRACE_EVENT_NAME_MAX, 'x');
	char got[TRACE_EVENT_NAME_MAX + 2];

	memset(got, '#', sizeof(got));
	ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, open_id(name.text), got));
	EXPECT_EQ('#', got[TRACE_EVENT_NAME_MAX + 1]);
	EXPECT_EQ('\0', got[TRACE_EVENT_NAME_MAX]);
	EXPECT_STREQ(name.text, got);
}

TEST_F(suspended, a04_same_name_every_time)
{
	trace_event_id_t id = open_id("every time");
	struct event event;

	EXPECT_STREQ("every time", name_of(self->trid, id).text);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_STREQ("every time", name_of(self->trid, id).text);
	for (int i = 0; i < 100; i++)
		open_id(numbered("another", i).text);
	EXPECT_STREQ("every time", name_of(self->trid, id).text);
	posix_trace_event(id, NULL, 0);
	while (take(self->trid, &event) == 1)
		EXPECT_STREQ("every time", name_of(self->trid, id).text);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_STREQ("every time", name_of(self->trid, id).text);
	EXPECT_STREQ("posix_trace_start", name_of(self->trid, POSIX_TRACE_START).text);
}

TEST_F(suspended, a05_names_of_events_that_were_read)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(open_id("read"), NULL, 0);
	posix_trace_event(UNNAMED, NULL, 0);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_STREQ("posix_trace_start", name_of(self->trid, event.info.posix_event_id).text);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_STREQ("read", name_of(self->trid, event.info.posix_event_id).text);
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_STREQ("posix_trace_unnamed_userevent",
		     name_of(self->trid, event.info.posix_event_id).text);
}

TEST_F(suspended, a07_bad_trace_ids)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "as it was";
	trace_event_id_t id = open_id("x");
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(0, id, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(-1, POSIX_TRACE_START, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid + 1, id, name));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name));
	EXPECT_STREQ("as it was", name);
}

TEST_F(suspended, a08_no_such_type)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "as it was";
	trace_event_id_t last = open_id("last");

	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, 0, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, UNNAMED - 1, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, last + 1, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, 4095, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, 4096, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, ~0U, name));
	EXPECT_STREQ("as it was", name);
}

TEST_F(suspended, a09_null_array)
{
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, POSIX_TRACE_START, NULL));
}

static int open_and_end(void *arg, const struct talk *talk)
{
	(void)arg;
	if (hear(talk))
		return 1;
	say(talk, open_id("of one that has ended"));
	return 0;
}

TEST(a10_process_that_has_ended)
{
	struct child child;
	trace_id_t trid;
	long id;

	ASSERT_EQ(0, child_start(&child, open_and_end, NULL));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	say(&child.talk, 0);
	id = hear(&child.talk);
	ASSERT_EQ(0, child_wait(&child));
	EXPECT_STREQ("of one that has ended", name_of(trid, id).text);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static int compare_name(trace_id_t trid)
{
	return strcmp(name_of(trid, POSIX_TRACE_STOP).text, "posix_trace_stop");
}

TEST_F(suspended, a11_no_cancellation_point)
{
	EXPECT_EQ(0, call_trid_cancelled(compare_name, self->trid));
}

TEST(a06_names_of_a_log)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct log_writer log;
	trace_id_t trid;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_name(&log, LOG_FIRST_NAMED, "first");
	log_epochs(&log, 0, 1, 10);
	log_name(&log, LOG_FIRST_NAMED + 1, "second");
	ASSERT_EQ(0, log_open(&log, &trid));
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name));
	EXPECT_STREQ("posix_trace_start", name);
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, UNNAMED, name));
	EXPECT_STREQ("posix_trace_unnamed_userevent", name);
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED, name));
	EXPECT_STREQ("first", name);
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED + 1, name));
	EXPECT_STREQ("second", name);
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED + 2, name));
	EXPECT_STREQ("second", name);
	EXPECT_EQ(0, posix_trace_close(trid));
	log_free(&log);
}

TEST_HARNESS_MAIN
