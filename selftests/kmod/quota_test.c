// SPDX-License-Identifier: GPL-2.0
/*
 * The limit on the number of streams of a user: when alone, when others have streams, and in user
 * namespaces. memlock_test.c tests the limits on memory.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "pxt_test.h"
#include "actor.h"
#include "textfile.h"

#define PARAMETER	"/sys/module/posixtrace/parameters/user_streams"

/* Streams reserved for users with CAP_SYS_RESOURCE. */
#define RESERVED	32

#define ALICE		1000
#define BOB		1001

static int parameter(void)
{
	FILE *file = fopen(PARAMETER, "re");
	int value = -1;

	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = -1;
		fclose(file);
	}
	return value;
}

static int set_parameter(int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	return write_text(PARAMETER, text);
}

static int start_user(struct actor *actor, uid_t uid)
{
	*actor = (struct actor){ .is = { .uid = uid, .user_ns = -1 } };
	return actor_start(actor);
}

static int start_inside(struct actor *actor, int user_ns, uid_t uid, uint64_t caps)
{
	*actor = (struct actor){ .is = { .uid = uid, .user_ns = user_ns, .caps = caps } };
	return actor_start(actor);
}

FIXTURE(share)
{
	int before;
	struct actor actor[3];
};

FIXTURE_SETUP(share)
{
	self->before = parameter();
	ASSERT_EQ(0, set_parameter(8));
}

FIXTURE_TEARDOWN(share)
{
	EXPECT_EQ(0, set_parameter(self->before));
}

TEST(default_share_is_64)
{
	struct actor actor[3];

	ASSERT_EQ(64, parameter());
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, start_user(&actor[i], ALICE));
	EXPECT_EQ(31, actor_add(&actor[0], 31));
	EXPECT_EQ(31, actor_add(&actor[1], 31));
	EXPECT_EQ(2, actor_fill(&actor[2], -EAGAIN));
	for (int i = 0; i < 3; i++)
		actor_end(&actor[i]);
}

TEST_F(share, is_of_all_processes_of_a_user)
{
	ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
	ASSERT_EQ(0, start_user(&self->actor[1], ALICE));
	EXPECT_EQ(5, actor_add(&self->actor[0], 5));
	EXPECT_EQ(3, actor_fill(&self->actor[1], -EAGAIN));
	EXPECT_EQ(0, actor_fill(&self->actor[0], -EAGAIN));
	actor_end(&self->actor[0]);
	actor_end(&self->actor[1]);
}

TEST_F(share, used_up_does_not_affect_other_users)
{
	ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
	ASSERT_EQ(0, start_user(&self->actor[1], BOB));
	EXPECT_EQ(8, actor_fill(&self->actor[0], -EAGAIN));
	EXPECT_EQ(8, actor_fill(&self->actor[1], -EAGAIN));
	actor_end(&self->actor[0]);
	actor_end(&self->actor[1]);
}

TEST_F(share, depends_on_the_capability_and_not_on_the_user_id)
{
	/* Alice with CAP_SYS_RESOURCE, and root without capabilities. */
	ASSERT_EQ(0, start_inside(&self->actor[0], -1, ALICE, CAP(SYS_RESOURCE)));
	ASSERT_EQ(0, start_inside(&self->actor[1], -1, 0, 0));
	EXPECT_EQ(20, actor_add(&self->actor[0], 20));
	EXPECT_EQ(8, actor_fill(&self->actor[1], -EAGAIN));
	/* Alice's streams with the capability do not count towards her share. */
	ASSERT_EQ(0, start_user(&self->actor[2], ALICE));
	EXPECT_EQ(8, actor_fill(&self->actor[2], -EAGAIN));
	for (int i = 0; i < 3; i++)
		actor_end(&self->actor[i]);
}

TEST_F(share, other_capabilities_do_not_exempt)
{
	ASSERT_EQ(0, start_inside(&self->actor[0], -1, ALICE, ~CAP(SYS_RESOURCE) &
				  (CAP(SYS_PTRACE) | CAP(SYS_ADMIN) | CAP(IPC_LOCK))));
	EXPECT_EQ(8, actor_fill(&self->actor[0], -EAGAIN));
	actor_end(&self->actor[0]);
}

TEST_F(share, is_released_by_shutdown)
{
	ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
	ASSERT_EQ(0, start_user(&self->actor[1], ALICE));
	EXPECT_EQ(8, actor_fill(&self->actor[0], -EAGAIN));
	EXPECT_EQ(2, actor_do(&self->actor[0], ACTOR_SHUTDOWN, 2).count);
	EXPECT_EQ(2, actor_fill(&self->actor[1], -EAGAIN));
	actor_end(&self->actor[0]);
	actor_end(&self->actor[1]);
}

TEST_F(share, is_released_by_close)
{
	ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
	ASSERT_EQ(0, start_user(&self->actor[1], ALICE));
	EXPECT_EQ(8, actor_fill(&self->actor[0], -EAGAIN));
	EXPECT_EQ(3, actor_do(&self->actor[0], ACTOR_CLOSE, 3).count);
	EXPECT_EQ(3, actor_fill(&self->actor[1], -EAGAIN));
	actor_end(&self->actor[0]);
	actor_end(&self->actor[1]);
}

TEST_F(share, is_released_by_the_end_of_a_killed_controller)
{
	ASSERT_EQ(0, start_user(&self->actor[1], ALICE));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
		EXPECT_EQ(8, actor_fill(&self->actor[0], -EAGAIN));
		EXPECT_EQ(0, actor_fill(&self->actor[1], -EAGAIN));
		child_kill(&self->actor[0].child);
	}
	EXPECT_EQ(8, actor_fill(&self->actor[1], -EAGAIN));
	actor_end(&self->actor[1]);
}

TEST_F(share, is_free_after_many_streams)
{
	ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(5, actor_do(&self->actor[0], ACTOR_CREATE, 5).count);
		ASSERT_EQ(5, actor_do(&self->actor[0], ACTOR_CLOSE, 5).count);
	}
	EXPECT_EQ(8, actor_fill(&self->actor[0], -EAGAIN));
	actor_end(&self->actor[0]);
}

TEST_F(share, is_exact_when_processes_race_for_it)
{
	struct actor *actor = self->actor;
	struct actor_answer answer;

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, start_user(&actor[i], ALICE));
	for (int round = 0; round < 30; round++) {
		int sum = 0;

		for (int i = 0; i < 3; i++)
			actor_tell(&actor[i], ACTOR_CREATE, 9);
		for (int i = 0; i < 3; i++) {
			answer = actor_answer(&actor[i]);
			EXPECT_EQ(-EAGAIN, answer.error);
			sum += answer.count;
		}
		EXPECT_EQ(8, sum);
		/* All processes close their streams at the same time. */
		for (int i = 0; i < 3; i++)
			actor_tell(&actor[i], ACTOR_CLOSE, POSIXTRACE_SLOTS_MAX);
		for (int i = 0; i < 3; i++)
			actor_answer(&actor[i]);
	}
	for (int i = 0; i < 3; i++)
		actor_end(&actor[i]);
}

TEST_F(share, is_free_after_failed_creates)
{
	struct actor *actor = self->actor;

	ASSERT_EQ(0, set_parameter(POSIXTRACE_SLOTS_MAX + 1));
	ASSERT_EQ(0, start_user(&actor[0], ALICE));
	ASSERT_EQ(0, start_user(&actor[1], ALICE));
	/*
	 * Each failed CREATE must return its share of the limit. First, CREATE fails in its last
	 * step, writing the answer.
	 */
	EXPECT_EQ(50, actor_do(&actor[0], ACTOR_BAD_CREATE, 50).count);
	/* Then it fails in the previous step, which reserves a slot on the process. */
	EXPECT_EQ(POSIXTRACE_SLOTS_MAX, actor_add(&actor[0], POSIXTRACE_SLOTS_MAX));
	for (int i = 0; i < 20; i++)
		EXPECT_EQ(0, actor_fill(&actor[0], -EAGAIN));
	EXPECT_EQ(1, actor_fill(&actor[1], -EAGAIN));
	/* Then it fails because the share is used up. */
	EXPECT_EQ(1, actor_do(&actor[1], ACTOR_CLOSE, 1).count);
	EXPECT_EQ(1, actor_fill(&actor[1], -EAGAIN));
	/* Finally it fails in an earlier step, which allocates the memory of the stream. */
	ASSERT_EQ(0, start_inside(&actor[2], -1, BOB, 0));
	EXPECT_EQ(0, actor_do(&actor[2], ACTOR_MEMLOCK, 4096).error);
	for (int i = 0; i < 50; i++)
		EXPECT_EQ(-ENOMEM, actor_do(&actor[2], ACTOR_CREATE, 1).error);
	ASSERT_EQ(0, set_parameter(8));
	EXPECT_EQ(0, actor_do(&actor[2], ACTOR_MEMLOCK, 4 << 20).error);
	EXPECT_EQ(8, actor_fill(&actor[2], -EAGAIN));
	for (int i = 0; i < 3; i++)
		actor_end(&actor[i]);
}

TEST_F(share, reduction_keeps_existing_streams)
{
	ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
	EXPECT_EQ(6, actor_add(&self->actor[0], 6));
	ASSERT_EQ(0, set_parameter(2));
	EXPECT_EQ(0, actor_fill(&self->actor[0], -EAGAIN));
	EXPECT_EQ(4, actor_do(&self->actor[0], ACTOR_CLOSE, 4).count);
	EXPECT_EQ(0, actor_fill(&self->actor[0], -EAGAIN));
	EXPECT_EQ(1, actor_do(&self->actor[0], ACTOR_CLOSE, 1).count);
	EXPECT_EQ(1, actor_fill(&self->actor[0], -EAGAIN));
	actor_end(&self->actor[0]);
}

TEST_F(share, can_be_zero)
{
	ASSERT_EQ(0, set_parameter(0));
	ASSERT_EQ(0, start_user(&self->actor[0], ALICE));
	EXPECT_EQ(0, actor_fill(&self->actor[0], -EAGAIN));
	ASSERT_EQ(0, start_inside(&self->actor[1], -1, 0, CAPS_ALL));
	EXPECT_EQ(1, actor_add(&self->actor[1], 1));
	actor_end(&self->actor[0]);
	actor_end(&self->actor[1]);
}

TEST_F(share, last_streams_of_the_system_are_for_the_privileged)
{
	enum { EACH = 16, USERS = (POSIXTRACE_STREAMS_MAX - RESERVED) / EACH };
	struct actor user[USERS], other, root[RESERVED / EACH];

	ASSERT_EQ(0, set_parameter(EACH));
	for (int i = 0; i < USERS; i++) {
		ASSERT_EQ(0, start_user(&user[i], ALICE + i));
		EXPECT_EQ(EACH, actor_add(&user[i], EACH));
	}
	ASSERT_EQ(0, start_user(&other, ALICE + USERS));
	EXPECT_EQ(0, actor_fill(&other, -EAGAIN));
	for (size_t i = 0; i < ARRAY_SIZE(root); i++) {
		ASSERT_EQ(0, start_inside(&root[i], -1, 0, CAPS_ALL));
		EXPECT_EQ(EACH, actor_add(&root[i], EACH));
	}
	EXPECT_EQ(0, actor_fill(&other, -EAGAIN));
	EXPECT_EQ(1, actor_do(&user[0], ACTOR_CLOSE, 1).count);
	EXPECT_EQ(1, actor_fill(&other, -EAGAIN));
	for (int i = 0; i < USERS; i++)
		actor_end(&user[i]);
	actor_end(&other);
	for (size_t i = 0; i < ARRAY_SIZE(root); i++)
		actor_end(&root[i]);
}

/* ------------------------------------------------------------------ */
/* User namespaces							*/

struct maker {
	int parent_ns;	/* or -1 */
	uid_t uid;
	pid_t pid;
	const char *map;
};

static int make_user_ns(void *arg, const struct talk *talk)
{
	const struct maker *maker = arg;
	struct actor_is is = { .uid = maker->uid, .user_ns = maker->parent_ns, .caps = CAPS_ALL };
	int err = actor_become(&is);

	if (!err && unshare(CLONE_NEWUSER))
		err = -errno;
	say(talk, err);
	hear(talk);
	return 0;
}

/* The writer must have an id of the outer namespace. */
static int write_map(void *arg, const struct talk *talk)
{
	const struct maker *maker = arg;
	char path[64];

	(void)talk;
	if (maker->parent_ns >= 0 && setns(maker->parent_ns, CLONE_NEWUSER))
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/gid_map", maker->pid);
	if (write_text(path, maker->map))
		return 2;
	snprintf(path, sizeof(path), "/proc/%d/uid_map", maker->pid);
	return write_text(path, maker->map) ? 3 : 0;
}

/*
 * Creates a user namespace in @parent_ns (-1: the initial one), as user @uid of @parent_ns. @map
 * has the ids of @parent_ns. The namespace exists until the returned descriptor is closed.
 */
static int user_ns(int parent_ns, uid_t uid, const char *map)
{
	struct maker maker = { .parent_ns = parent_ns, .uid = uid, .map = map };
	struct child child, writer;
	char path[64];
	int fd;

	if (child_start(&child, make_user_ns, &maker))
		return -1;
	fd = (int)hear(&child.talk);
	maker.pid = child.pid;
	if (!fd && (child_start(&writer, write_map, &maker) || child_wait(&writer)))
		fd = -1;
	if (!fd) {
		snprintf(path, sizeof(path), "/proc/%d/ns/user", child.pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	child_wait(&child);
	return fd;
}

/* A map as newuidmap(1) writes it for Alice: she is root inside, and has some more ids. */
#define MAP_OF_ALICE	"0 1000 1\n1 100000 1000\n"

TEST_F(share, namespace_of_a_user_adds_nothing)
{
	int ns = user_ns(-1, ALICE, MAP_OF_ALICE);
	struct actor *actor = self->actor;

	ASSERT_LE(0, ns);
	/* This actor is root with all capabilities inside, but Alice outside. */
	ASSERT_EQ(0, start_inside(&actor[0], ns, 0, CAPS_ALL));
	EXPECT_EQ(8, actor_fill(&actor[0], -EAGAIN));
	ASSERT_EQ(0, start_user(&actor[1], ALICE));
	EXPECT_EQ(0, actor_fill(&actor[1], -EAGAIN));
	EXPECT_EQ(3, actor_do(&actor[0], ACTOR_CLOSE, 3).count);
	EXPECT_EQ(3, actor_fill(&actor[1], -EAGAIN));
	actor_end(&actor[0]);
	actor_end(&actor[1]);
}

TEST_F(share, more_user_ids_in_a_namespace_add_nothing)
{
	int ns = user_ns(-1, ALICE, MAP_OF_ALICE);
	struct actor *actor = self->actor;

	ASSERT_LE(0, ns);
	ASSERT_EQ(0, start_inside(&actor[0], ns, 1, CAPS_ALL));
	ASSERT_EQ(0, start_inside(&actor[1], ns, 2, CAPS_ALL));
	ASSERT_EQ(0, start_user(&actor[2], ALICE));
	EXPECT_EQ(4, actor_add(&actor[0], 4));
	EXPECT_EQ(4, actor_fill(&actor[1], -EAGAIN));
	EXPECT_EQ(0, actor_fill(&actor[2], -EAGAIN));
	for (int i = 0; i < 3; i++)
		actor_end(&actor[i]);
}

TEST_F(share, namespaces_in_namespaces_add_nothing)
{
	struct actor *actor = self->actor;
	int outer, middle, inner;

	outer = user_ns(-1, ALICE, MAP_OF_ALICE);
	ASSERT_LE(0, outer);
	/* Another user id of Alice creates each namespace. */
	middle = user_ns(outer, 1, "0 1 1\n1 101 100\n");
	ASSERT_LE(0, middle);
	inner = user_ns(middle, 1, "0 1 1\n1 50 10\n");
	ASSERT_LE(0, inner);
	ASSERT_EQ(0, start_inside(&actor[0], inner, 5, CAPS_ALL));
	ASSERT_EQ(0, start_inside(&actor[1], outer, 0, CAPS_ALL));
	ASSERT_EQ(0, start_user(&actor[2], ALICE));
	/* The inner process has no capabilities outside, so it cannot get the reserved eighth. */
	EXPECT_EQ(7, actor_fill(&actor[0], -EAGAIN));
	EXPECT_EQ(1, actor_fill(&actor[1], -EAGAIN));
	EXPECT_EQ(0, actor_fill(&actor[2], -EAGAIN));
	for (int i = 0; i < 3; i++)
		actor_end(&actor[i]);
	close(inner);
	close(middle);
	close(outer);
}

TEST_F(share, is_of_a_user_id_inside_and_outside_of_a_namespace)
{
	int ns = user_ns(-1, ALICE, MAP_OF_ALICE);
	struct actor *actor = self->actor;

	ASSERT_LE(0, ns);
	ASSERT_EQ(0, start_user(&actor[0], 100001));
	ASSERT_EQ(0, start_inside(&actor[1], ns, 2, 0));
	/* User id 2 inside is user id 100001 outside, so both actors share a limit. */
	EXPECT_EQ(6, actor_add(&actor[0], 6));
	EXPECT_EQ(2, actor_fill(&actor[1], -EAGAIN));
	actor_end(&actor[0]);
	actor_end(&actor[1]);
}

TEST_F(share, user_in_a_namespace_does_not_exclude_its_root)
{
	int ns = user_ns(-1, ALICE, MAP_OF_ALICE);
	struct actor *actor = self->actor;

	ASSERT_LE(0, ns);
	ASSERT_EQ(0, start_inside(&actor[0], ns, 1, 0));
	ASSERT_EQ(0, start_inside(&actor[1], ns, 2, 0));
	ASSERT_EQ(0, start_inside(&actor[2], ns, 0, CAPS_ALL));
	EXPECT_EQ(7, actor_fill(&actor[0], -EAGAIN));
	EXPECT_EQ(0, actor_fill(&actor[1], -EAGAIN));
	EXPECT_EQ(1, actor_fill(&actor[2], -EAGAIN));
	for (int i = 0; i < 3; i++)
		actor_end(&actor[i]);
}

TEST_F(share, each_namespace_of_root_has_a_share)
{
	int one = user_ns(-1, 0, "0 100000 1000\n"), two = user_ns(-1, 0, "0 200000 1000\n");
	struct actor *actor = self->actor;

	ASSERT_LE(0, one);
	ASSERT_LE(0, two);
	ASSERT_EQ(0, start_inside(&actor[0], one, 1, 0));
	ASSERT_EQ(0, start_inside(&actor[1], one, 0, CAPS_ALL));
	ASSERT_EQ(0, start_inside(&actor[2], two, 0, CAPS_ALL));
	EXPECT_EQ(7, actor_fill(&actor[0], -EAGAIN));
	EXPECT_EQ(1, actor_fill(&actor[1], -EAGAIN));
	EXPECT_EQ(8, actor_fill(&actor[2], -EAGAIN));
	actor_end(&actor[2]);
	/* Root without capabilities is a user like any other. */
	ASSERT_EQ(0, start_inside(&actor[2], -1, 0, 0));
	EXPECT_EQ(8, actor_fill(&actor[2], -EAGAIN));
	for (int i = 0; i < 3; i++)
		actor_end(&actor[i]);
}

TEST_F(share, capability_in_a_namespace_does_not_exempt)
{
	int ns = user_ns(-1, 0, "0 0 1\n");
	struct actor *actor = self->actor;

	ASSERT_LE(0, ns);
	ASSERT_EQ(0, start_inside(&actor[0], ns, 0, CAPS_ALL));
	EXPECT_EQ(8, actor_fill(&actor[0], -EAGAIN));
	actor_end(&actor[0]);
}

TEST_HARNESS_MAIN
