// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setinherited(): Documentation/conformance/posix_trace_attr_setinherited.rst
 */
#define _GNU_SOURCE
#include <limits.h>
#include <spawn.h>

#include "attr_fixture.h"
#include "family.h"
#include "trace_test.h"

TEST_F(attr, a01_sets_only_this_attribute)
{
	const long policies[] = { POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD };

	expect_set_alone(_metadata, &attr_inherited, &self->attr, policies, ARRAY_SIZE(policies));
}

static void record(int number)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
}

static int record_in_child(void *arg, const struct talk *talk)
{
	(void)arg;
	record(2);
	say(talk, 0);
	/* Record again after the answer to the parent, while the parent continues. */
	record(3);
	return 0;
}

TEST_F(attr, a02_child_is_not_traced)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_setinherited(&self->attr, POSIX_TRACE_CLOSE_FOR_CHILD));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	record(1);
	ASSERT_EQ(0, child_start(&child, record_in_child, NULL));
	EXPECT_EQ(0, hear(&child.talk));
	/* The parent is traced while the child is alive, and afterwards. */
	record(4);
	EXPECT_EQ(0, child_wait(&child));
	record(5);
	for (int i = 0; i < 3; i++) {
		int expected[] = { 1, 4, 5 };

		ASSERT_EQ(1, take_user(trid, &event));
		EXPECT_EQ(expected[i], event_number(&event));
		EXPECT_EQ(getpid(), event.info.posix_pid);
	}
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* Records 1, spawns a program that records 2 and 3, and then records 4. */
static pid_t spawn_between(void)
{
	char *const argv[] = { "./spawned_helper", "2", "3", NULL };
	pid_t pid;

	record(1);
	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) || ended(pid))
		return -1;
	record(4);
	return pid;
}

/* Expects that the next user event is @number of process @pid. */
static void expect_event(struct __test_metadata *_metadata, trace_id_t trid, pid_t pid, int number)
{
	struct event event;

	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(number, event_number(&event));
	EXPECT_EQ(pid, event.info.posix_pid);
}

TEST(a03_spawned_child_is_not_traced)
{
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_CLOSE_FOR_CHILD, 64 << 10,
				       POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_LT(0, spawn_between());
	expect_event(_metadata, trid, getpid(), 1);
	expect_event(_metadata, trid, getpid(), 4);
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

static int record_in_turns(void *arg, const struct talk *talk)
{
	(void)arg;
	record(2);
	say(talk, 0);
	hear(talk);
	record(4);
	return 0;
}

TEST(a04_child_is_traced_into_the_same_stream)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, start_family_stream(0, &trid));
	record(1);
	ASSERT_EQ(0, child_start(&child, record_in_turns, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	/* Parent and child are traced at the same time. */
	record(3);
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	record(5);
	for (int i = 1; i <= 5; i++)
		expect_event(_metadata, trid, i % 2 ? getpid() : child.pid, i);
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST(a05_spawned_child_is_traced_into_the_same_stream)
{
	struct event event;
	trace_id_t trid;
	pid_t pid;

	ASSERT_EQ(0, start_family_stream(0, &trid));
	pid = spawn_between();
	ASSERT_LT(0, pid);
	expect_event(_metadata, trid, getpid(), 1);
	expect_event(_metadata, trid, pid, 2);
	expect_event(_metadata, trid, pid, 3);
	expect_event(_metadata, trid, getpid(), 4);
	EXPECT_EQ(0, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(invalid, a06_invalid_object)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_setinherited(self->attr, POSIX_TRACE_INHERITED));
}

TEST_F(attr, a07_other_policies)
{
	const long policies[] = { -1, 2, 4711, INT_MAX, INT_MIN };

	expect_refused(_metadata, &attr_inherited, &self->attr, POSIX_TRACE_INHERITED, policies,
		       ARRAY_SIZE(policies));
}

TEST_HARNESS_MAIN
