// SPDX-License-Identifier: GPL-2.0
/*
 * The controller and the traced process are two processes. One reads the events of the other, and
 * either may end.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "trace_test.h"

/* The traced process: records each number from the test until the pipe is closed. */
static int record_on_demand(void *arg, const struct talk *talk)
{
	trace_event_id_t id;
	long number;

	(void)arg;
	if (posix_trace_eventid_open("on demand", &id))
		return 1;
	say(talk, id);
	while ((number = hear(talk)) != -EPIPE) {
		int data = number;

		posix_trace_event(id, &data, sizeof(data));
		say(talk, number);
	}
	return 0;
}

FIXTURE(process)
{
	struct child child;
	trace_event_id_t id;
	trace_id_t trid;
};

FIXTURE_SETUP(process)
{
	long id;

	ASSERT_EQ(0, child_start(&self->child, record_on_demand, NULL));
	id = hear(&self->child.talk);
	ASSERT_LT(0, id);
	self->id = id;
	ASSERT_EQ(0, new_stream(self->child.pid, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(process)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(process, events_arrive_with_the_pid_of_their_process)
{
	struct event event;

	for (int i = 0; i < 10; i++) {
		say(&self->child.talk, i);
		ASSERT_EQ(i, hear(&self->child.talk));
		ASSERT_EQ(1, take_user(self->trid, &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(self->child.pid, event.info.posix_pid);
		EXPECT_TRUE(posix_trace_eventid_equal(self->trid, self->id,
						      event.info.posix_event_id));
	}
	EXPECT_EQ(0, child_wait(&self->child));
}

TEST_F(process, event_of_the_other_process_wakes_the_reader_up)
{
	struct event event;

	ASSERT_EQ(1, take(self->trid, &event));
	for (int i = 0; i < 10; i++) {
		say(&self->child.talk, i);
		ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data,
						       sizeof(event.data), &event.len,
						       &event.unavailable));
		EXPECT_EQ(i, event_number(&event));
		ASSERT_EQ(i, hear(&self->child.talk));
	}
	EXPECT_EQ(0, child_wait(&self->child));
}

TEST_F(process, two_streams_on_one_process_get_the_same_events)
{
	struct event event;
	trace_id_t other;

	ASSERT_EQ(0, new_stream(self->child.pid, POSIX_TRACE_LOOP, &other));
	ASSERT_EQ(0, posix_trace_start(other));
	say(&self->child.talk, 7);
	ASSERT_EQ(7, hear(&self->child.talk));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(7, event_number(&event));
	ASSERT_EQ(1, take_user(other, &event));
	EXPECT_EQ(7, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(other));
	EXPECT_EQ(0, child_wait(&self->child));
}

/* ------------------------------------------------------------------ */
/* The end of the controller						*/

static int control(void *arg, const struct talk *talk)
{
	struct event event;
	trace_id_t trid;

	if (new_stream(*(pid_t *)arg, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
		return 1;
	say(talk, 0);
	/* Reads until it is killed or the pipe is closed. */
	while (hear(talk) == 0)
		say(talk, take_user(trid, &event) == 1 ? event_number(&event) : -1);
	return 0;
}

static void record_number(int number)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
}

TEST(controller_can_be_killed)
{
	struct child child;
	pid_t pid = getpid();
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, control, &pid));
	ASSERT_EQ(0, hear(&child.talk));
	record_number(4711);
	say(&child.talk, 0);
	EXPECT_EQ(4711, hear(&child.talk));
	child_kill(&child);

	/* The traced process continues, and can be traced again. */
	record_number(1);
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	record_number(2);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(controllers_come_and_go)
{
	pid_t pid = getpid();

	for (int i = 0; i < 10; i++) {
		struct child child;

		ASSERT_EQ(0, child_start(&child, control, &pid));
		ASSERT_EQ(0, hear(&child.talk));
		record_number(i);
		say(&child.talk, 0);
		ASSERT_EQ(i, hear(&child.talk));
		if (i % 2)
			child_kill(&child);
		else
			EXPECT_EQ(0, child_wait(&child));
	}
}

/* ------------------------------------------------------------------ */
/* fork									*/

static int record_and_control(void *arg, const struct talk *talk)
{
	trace_id_t parents = *(trace_id_t *)arg;
	struct event event;
	trace_id_t trid;

	(void)talk;
	/* The child cannot use the parent's stream. */
	record_number(99);
	if (posix_trace_stop(parents) != EINVAL)
		return 1;
	/* But it can trace itself. */
	if (new_stream(0, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
		return 2;
	record_number(100);
	if (take_user(trid, &event) != 1 || event_number(&event) != 100)
		return 3;
	return posix_trace_shutdown(trid) ? 4 : 0;
}

TEST(forked_child_is_not_traced_and_controls_nothing)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	record_number(1);
	ASSERT_EQ(0, child_start(&child, record_and_control, &trid));
	EXPECT_EQ(0, child_wait(&child));
	record_number(2);
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(1, event_number(&event));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(2, event_number(&event));
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
