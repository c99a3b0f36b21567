// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_setinherited(): Documentation/conformance/posix_trace_attr_setinherited.rst
 */
#define _GNU_SOURCE
#include <limits.h>
#include <spawn.h>

#include "attr_test.h"
#include "family.h"
#include "pxt_test.h"
#include "trace_test.h"

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

TEST_F(attr, a01_sets_only_this_attribute)
{
	int policies[] = { POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD };
	struct attr_values expected, values;

	ASSERT_EQ(0, attr_read(&self->attr, &expected));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, posix_trace_attr_setinherited(&self->attr, policies[i]));
		expected.inherited = policies[i];
		ASSERT_EQ(0, attr_read(&self->attr, &values));
		EXPECT_EQ(0, memcmp(&expected, &values, sizeof(values)));
	}
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
	/* Record again after the answer, while the parent continues. */
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

/* Expects this as the next user event. */
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

static int set_invalid(trace_attr_t *attr)
{
	return posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
}

TEST(a06_invalid_objects)
{
	trace_attr_t attr;

	for (int i = 0; i < ATTR_INVALID; i++)
		EXPECT_EQ(EINVAL, set_invalid(attr_invalid(i, &attr)));
}

TEST_F(attr, a07_other_policies)
{
	int policies[] = { -1, 2, 4711, INT_MAX, INT_MIN };
	trace_attr_t before;

	ASSERT_EQ(0, posix_trace_attr_setinherited(&self->attr, POSIX_TRACE_INHERITED));
	before = self->attr;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		EXPECT_EQ(EINVAL, posix_trace_attr_setinherited(&self->attr, policies[i]));
		EXPECT_EQ(0, memcmp(&before, &self->attr, sizeof(before)));
	}
}

TEST_HARNESS_MAIN
