// SPDX-License-Identifier: GPL-2.0
/*
 * Memory limits on a user's streams: RLIMIT_MEMLOCK and the memory cgroup. See quota_test.c for
 * the number of streams.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "actor.h"
#include "memgroup.h"

#define ALICE		1000
#define BOB		1001

FIXTURE(memlock)
{
	unsigned long long size;	/* memory of an actor's stream */
	struct actor actor[4];
};

static int start(struct actor *actor, uid_t uid, uint64_t caps, rlim_t memlock)
{
	*actor = (struct actor){ .is = { uid, -1, caps, memlock } };
	actor->attr.stream_size = 64 << 10;
	actor->attr.max_data_size = 256;
	return actor_start(actor);
}

FIXTURE_SETUP(memlock)
{
	ASSERT_EQ(0, start(&self->actor[0], 0, CAPS_ALL, 0));
	ASSERT_EQ(1, actor_do(&self->actor[0], ACTOR_CREATE, 1).count);
	self->size = actor_do(&self->actor[0], ACTOR_MEMORY, 1).count;
	actor_end(&self->actor[0]);
	ASSERT_LT(64 << 10, self->size);
}

FIXTURE_TEARDOWN(memlock)
{
}

TEST_F(memlock, is_exactly_the_memory_in_the_status)
{
	ASSERT_EQ(0, start(&self->actor[0], ALICE, 0, 2 * self->size));
	EXPECT_EQ(2, actor_fill(&self->actor[0], -ENOMEM));
	actor_end(&self->actor[0]);
	ASSERT_EQ(0, start(&self->actor[0], ALICE, 0, 2 * self->size - 1));
	EXPECT_EQ(1, actor_fill(&self->actor[0], -ENOMEM));
	actor_end(&self->actor[0]);
}

TEST_F(memlock, is_of_all_processes_of_a_user)
{
	ASSERT_EQ(0, start(&self->actor[0], ALICE, 0, 3 * self->size));
	ASSERT_EQ(0, start(&self->actor[1], ALICE, 0, 3 * self->size));
	ASSERT_EQ(0, start(&self->actor[2], BOB, 0, 3 * self->size));
	EXPECT_EQ(1, actor_add(&self->actor[0], 1));
	EXPECT_EQ(2, actor_fill(&self->actor[1], -ENOMEM));
	EXPECT_EQ(0, actor_fill(&self->actor[0], -ENOMEM));
	EXPECT_EQ(3, actor_fill(&self->actor[2], -ENOMEM));
	for (int i = 0; i < 3; i++)
		actor_end(&self->actor[i]);
}

TEST_F(memlock, does_not_apply_with_the_capability)
{
	ASSERT_EQ(0, start(&self->actor[0], ALICE, CAP(IPC_LOCK), self->size));
	ASSERT_EQ(0, start(&self->actor[1], 0, CAP(SYS_RESOURCE) | CAP(SYS_ADMIN), self->size));
	ASSERT_EQ(0, start(&self->actor[2], ALICE, 0, self->size));
	EXPECT_EQ(5, actor_add(&self->actor[0], 5));
	EXPECT_EQ(1, actor_fill(&self->actor[1], -ENOMEM));
	/* The streams of actor 0, which has CAP_IPC_LOCK, were not charged to Alice. */
	EXPECT_EQ(1, actor_fill(&self->actor[2], -ENOMEM));
	for (int i = 0; i < 3; i++)
		actor_end(&self->actor[i]);
}

TEST_F(memlock, is_released_by_shutdown_close_and_kill)
{
	struct actor *actor = self->actor;

	ASSERT_EQ(0, start(&actor[0], ALICE, 0, 3 * self->size));
	ASSERT_EQ(0, start(&actor[1], ALICE, 0, 3 * self->size));
	EXPECT_EQ(3, actor_fill(&actor[0], -ENOMEM));
	EXPECT_EQ(1, actor_do(&actor[0], ACTOR_SHUTDOWN, 1).count);
	EXPECT_EQ(1, actor_fill(&actor[1], -ENOMEM));
	EXPECT_EQ(1, actor_do(&actor[0], ACTOR_CLOSE, 1).count);
	EXPECT_EQ(1, actor_fill(&actor[1], -ENOMEM));
	child_kill(&actor[0].child);
	EXPECT_EQ(1, actor_fill(&actor[1], -ENOMEM));
	actor_end(&actor[1]);
}

TEST_F(memlock, is_free_after_many_streams)
{
	ASSERT_EQ(0, start(&self->actor[0], ALICE, 0, self->size));
	for (int i = 0; i < 50; i++) {
		EXPECT_EQ(1, actor_fill(&self->actor[0], -ENOMEM));
		ASSERT_EQ(1, actor_do(&self->actor[0], ACTOR_CLOSE, 1).count);
	}
	EXPECT_EQ(50, actor_do(&self->actor[0], ACTOR_BAD_CREATE, 50).count);
	EXPECT_EQ(1, actor_fill(&self->actor[0], -ENOMEM));
	actor_end(&self->actor[0]);
}

/* The limit on the number of streams is checked before the limit on memory. */
TEST_F(memlock, error_differs_from_too_many_streams)
{
	rlim_t enough = 64 * self->size;

	ASSERT_EQ(0, start(&self->actor[0], ALICE, 0, enough));
	ASSERT_EQ(0, start(&self->actor[1], ALICE, 0, enough));
	ASSERT_EQ(0, start(&self->actor[2], ALICE, 0, self->size));
	ASSERT_EQ(0, start(&self->actor[3], ALICE, 0, enough));
	EXPECT_EQ(31, actor_add(&self->actor[0], 31));
	EXPECT_EQ(31, actor_add(&self->actor[1], 31));
	EXPECT_EQ(1, actor_add(&self->actor[3], 1));
	EXPECT_EQ(0, actor_fill(&self->actor[2], -ENOMEM));
	EXPECT_EQ(1, actor_add(&self->actor[3], 1));
	EXPECT_EQ(-EAGAIN, actor_do(&self->actor[2], ACTOR_CREATE, 1).error);
	for (int i = 0; i < 4; i++)
		actor_end(&self->actor[i]);
}

/* System events use memory that is allocated on demand. */
TEST_F(memlock, counts_memory_that_comes_later)
{
	struct actor *actor = self->actor;
	struct actor_answer answer;

	ASSERT_EQ(0, start(&actor[0], ALICE, 0, self->size));
	EXPECT_EQ(1, actor_add(&actor[0], 1));
	answer = actor_do(&actor[0], ACTOR_START, 1000);
	EXPECT_LT(0, answer.count);
	EXPECT_EQ(-ENOMEM, answer.error);
	EXPECT_EQ(self->size, actor_do(&actor[0], ACTOR_MEMORY, 1).count);

	EXPECT_EQ(0, actor_do(&actor[0], ACTOR_MEMLOCK, self->size + (8 << 10)).error);
	answer = actor_do(&actor[0], ACTOR_START, 1000);
	EXPECT_LT(0, answer.count);
	EXPECT_EQ(-ENOMEM, answer.error);
	EXPECT_EQ(self->size + (8 << 10), actor_do(&actor[0], ACTOR_MEMORY, 1).count);

	/* SHUTDOWN frees all of it. */
	EXPECT_EQ(1, actor_do(&actor[0], ACTOR_SHUTDOWN, 1).count);
	ASSERT_EQ(0, start(&actor[1], ALICE, 0, self->size));
	EXPECT_EQ(1, actor_fill(&actor[1], -ENOMEM));
	actor_end(&actor[0]);
	actor_end(&actor[1]);
}

/* ------------------------------------------------------------------ */
/* Smaller sub-buffers							*/

/*
 * Sub-buffers for this data have nine pages if memory is not limited, and at least three otherwise.
 */
#define LARGE_DATA	4096
#define LARGE_RECORD	(24 + 24 + LARGE_DATA)

static void large_init(struct posixtrace_create *arg)
{
	create_init(arg, 0);
	arg->attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	arg->attr.stream_size = 8 << 10;
	arg->attr.max_data_size = LARGE_DATA;
}

/* Properties of a stream. */
struct large {
	long err;
	long stream_size;
	long memory;
	long lost;		/* lost although the stream promises to hold them */
};

static int large_look(struct stream *stream, struct large *large)
{
	static const char data[LARGE_DATA];
	struct posixtrace_status status;
	struct posixtrace_attr attr;
	struct target target;
	int err;

	err = command(stream->fd, POSIXTRACE_IOC_GET_ATTR, &attr);
	if (!err)
		err = target_open(&target);
	if (!err)
		err = stream_start(stream);
	if (err)
		return err;
	large->stream_size = attr.stream_size;
	for (unsigned int i = 0; !err && i < attr.stream_size / ((LARGE_RECORD * 8 + 6) / 7); i++)
		err = target_event(&target, POSIXTRACE_ID_UNNAMED, data, sizeof(data));
	if (!err)
		err = stream_status(stream, &status);
	large->memory = status.memory;
	large->lost = status.lost;
	target_close(&target);
	return err;
}

/* Creates one stream as a user with that limit. */
static int large_child(void *arg, const struct talk *talk)
{
	const struct actor_is is = { *(rlim_t *)arg ? ALICE : 0, -1, *(rlim_t *)arg ? 0 : CAPS_ALL,
				     *(rlim_t *)arg };
	struct stream stream = {};
	struct large large = {};

	large.err = actor_become(&is);
	if (!large.err) {
		large_init(&stream.arg);
		large.err = stream_open(&stream);
	}
	if (!large.err)
		large.err = large_look(&stream, &large);
	say(talk, large.err);
	say(talk, large.stream_size);
	say(talk, large.memory);
	say(talk, large.lost);
	return 0;
}

static struct large large_stream(rlim_t memlock)
{
	struct large large = { .err = -ECHILD };
	struct child child;

	if (child_start(&child, large_child, &memlock))
		return large;
	large.err = hear(&child.talk);
	large.stream_size = hear(&child.talk);
	large.memory = hear(&child.talk);
	large.lost = hear(&child.talk);
	child_wait(&child);
	return large;
}

TEST(low_memlock_makes_sub_buffers_smaller)
{
	struct large usual = large_stream(0), large = usual;
	rlim_t memlock = usual.memory;

	ASSERT_EQ(0, usual.err);
	EXPECT_EQ(0, usual.lost);
	while (memlock > 4096) {
		memlock -= 4096;
		large = large_stream(memlock);
		if (large.err)
			break;
		EXPECT_GE(memlock, large.memory);
		EXPECT_EQ(usual.stream_size, large.stream_size);
		EXPECT_EQ(0, large.lost);
	}
	EXPECT_EQ(-ENOMEM, large.err);
	EXPECT_GT(usual.memory / 10 * 8, memlock);
}

/*
 * The limit is enough for one stream with the usual sub-buffers, and another with the smallest
 * ones.
 */
TEST(memlock_is_for_more_streams_with_smaller_sub_buffers)
{
	struct large usual = large_stream(0), smallest = usual, large = usual;
	struct actor actor = { .is = { ALICE, -1, 0, 0 } };

	ASSERT_EQ(0, usual.err);
	while (!large.err) {
		smallest = large;
		large = large_stream(large.memory - 4096);
	}
	ASSERT_GT(usual.memory, smallest.memory);
	actor.is.memlock = usual.memory + smallest.memory;
	actor.attr.stream_size = 8 << 10;
	actor.attr.max_data_size = LARGE_DATA;
	ASSERT_EQ(0, actor_start(&actor));
	EXPECT_LE(2, actor_fill(&actor, -ENOMEM));
	actor_end(&actor);
}

/* ------------------------------------------------------------------ */
/* Memory cgroup							*/

static int enter_group(void *arg, const struct talk *talk)
{
	int err = memgroup_enter();

	if (err) {
		say(talk, err);
		return 1;
	}
	return actor_run(arg, talk);
}

FIXTURE(cgroup)
{
	struct actor actor;
};

FIXTURE_SETUP(cgroup)
{
	ASSERT_EQ(0, memgroup_begin("33554432"));
	self->actor = (struct actor){ .is = { .user_ns = -1, .caps = CAPS_ALL } };
	self->actor.attr.stream_size = 256 << 20;
	self->actor.attr.max_data_size = 256;
}

FIXTURE_TEARDOWN(cgroup)
{
	EXPECT_EQ(0, memgroup_end());
}

TEST_F(cgroup, limit_is_ENOMEM_and_kills_no_process)
{
	struct actor_answer answer;

	ASSERT_EQ(0, child_start(&self->actor.child, enter_group, &self->actor));
	ASSERT_EQ(0, hear(&self->actor.child.talk));
	for (int i = 0; i < 3; i++) {
		answer = actor_do(&self->actor, ACTOR_CREATE, 1);
		EXPECT_EQ(0, answer.count);
		EXPECT_EQ(-ENOMEM, answer.error);
	}
	EXPECT_LT(0, memgroup_event("max"));
	EXPECT_EQ(0, memgroup_event("oom_kill"));
	actor_end(&self->actor);
}

TEST_F(cgroup, is_charged_with_the_memory_of_a_stream)
{
	long before;

	self->actor.attr.stream_size = 16 << 20;
	ASSERT_EQ(0, child_start(&self->actor.child, enter_group, &self->actor));
	ASSERT_EQ(0, hear(&self->actor.child.talk));
	before = memgroup_current();
	EXPECT_EQ(1, actor_add(&self->actor, 1));
	EXPECT_LE(before + (16 << 20), memgroup_current());
	actor_end(&self->actor);
}

TEST_HARNESS_MAIN
