// SPDX-License-Identifier: GPL-2.0
/*
 * A guest is a process that shares the event types of a family, but may not trace the first process
 * of the family, for example a worker that has dropped root. Guests get a limited share of the ids,
 * and cannot describe types that a more privileged process has opened.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "pxt_test.h"
#include "credentials.h"
#include "uapi.h"

#define USER		65534
#define NAMED_MAX	(POSIXTRACE_IMAGE_TYPES - 1)
#define GUEST_MAX	((POSIXTRACE_ID_MAX - POSIXTRACE_ID_UNNAMED - 1) / 16)
#define GUESTS_MAX	(NAMED_MAX / 2)
#define MANY		5000

/* Opens @count names with this prefix. Returns the number of new types. */
static int open_names(int fd, const char *prefix, int count)
{
	char name[POSIXTRACE_EVENT_NAME_SIZE];
	int named = 0, id;

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s %d", prefix, i);
		id = eventid_open(fd, name);
		if (id < 0)
			return id;
		named += id != POSIXTRACE_ID_UNNAMED;
	}
	return named;
}

static int stay_root(void)
{
	return 0;
}

static int give_up_root(void)
{
	return become_user(USER);
}

/* Changes the effective user. The saved user id remains root. */
static int lay_root_aside(void)
{
	return seteuid(USER) ? -errno : 0;
}

static int give_up_capabilities(void)
{
	return set_capabilities(0);
}

/* A process of a family that changes its credentials and then opens event names. */
struct opener {
	int (*change)(void);
	const char *prefix;
	int count;
};

static int change_and_attach(const struct opener *opener, struct target *target)
{
	int err = opener->change();

	return err ? err : target_open(target);
}

static int open_as(void *arg, const struct talk *talk)
{
	const struct opener *opener = arg;
	struct target target;
	int err = change_and_attach(opener, &target);

	say(talk, err ? err : open_names(target.fd, opener->prefix, opener->count));
	return 0;
}

/* Returns the number of names that a child got. */
static int names_of(const struct opener *opener)
{
	struct child child;
	int count;

	if (child_start(&child, open_as, (void *)opener))
		return -1;
	count = hear(&child.talk);
	return child_wait(&child) ? -1 : count;
}

FIXTURE(guest)
{
	struct target target;
	int id;
};

FIXTURE_SETUP(guest)
{
	ASSERT_EQ(0, target_open(&self->target));
	/* Children share the table only if it already contains a name. */
	self->id = eventid_open(self->target.fd, "of the parent");
	ASSERT_LT(POSIXTRACE_ID_UNNAMED, self->id);
}

FIXTURE_TEARDOWN(guest)
{
	target_close(&self->target);
}

/* ------------------------------------------------------------------ */
/* Names								*/

TEST_F(guest, child_that_gave_up_root_leaves_names_to_its_parent)
{
	const struct opener worker = { give_up_root, "worker", MANY };

	EXPECT_EQ(GUEST_MAX, names_of(&worker));
	EXPECT_NE(POSIXTRACE_ID_UNNAMED, eventid_open(self->target.fd, "next of the parent"));
	EXPECT_EQ(NAMED_MAX - GUEST_MAX - 2, open_names(self->target.fd, "parent", MANY));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, eventid_open(self->target.fd, "one too many"));
}

/* Opening an existing name takes nothing from the share. */
TEST_F(guest, child_with_a_used_share_still_finds_all_names)
{
	const struct opener worker = { give_up_root, "worker", MANY };
	const struct opener other = { give_up_root, "parent", 700 };

	ASSERT_EQ(700, open_names(self->target.fd, "parent", 700));
	ASSERT_EQ(GUEST_MAX, names_of(&worker));
	EXPECT_EQ(700, names_of(&other));
}

TEST_F(guest, many_children_leave_half_of_the_names)
{
	struct opener worker = { give_up_root, NULL, 300 };
	char prefix[16];
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		snprintf(prefix, sizeof(prefix), "worker %d", i);
		worker.prefix = prefix;
		sum += names_of(&worker);
	}
	EXPECT_EQ(GUESTS_MAX, sum);
	EXPECT_EQ(NAMED_MAX - GUESTS_MAX - 1, open_names(self->target.fd, "parent", MANY));
}

/*
 * Without capabilities, a process may not trace another one of the same user that has all of them.
 */
TEST_F(guest, child_that_gave_up_capabilities_is_a_guest)
{
	const struct opener worker = { give_up_capabilities, "worker", 1000 };

	EXPECT_EQ(GUEST_MAX, names_of(&worker));
}

TEST_F(guest, child_that_can_regain_root_is_no_guest)
{
	const struct opener worker = { lay_root_aside, "worker", 1000 };

	EXPECT_EQ(1000, names_of(&worker));
}

TEST_F(guest, child_with_the_same_rights_shares_all_names)
{
	const struct opener child = { stay_root, "child", MANY };

	EXPECT_EQ(NAMED_MAX - 1, names_of(&child));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, eventid_open(self->target.fd, "one too many"));
}

/* Runs in the first process of a family, as an ordinary user. */
static int be_family(void *arg, const struct talk *talk)
{
	const struct opener *opener = arg;
	struct target target;
	int first;

	if (give_up_root() || target_open(&target))
		return 1;
	first = eventid_open(target.fd, "first");
	say(talk, first > POSIXTRACE_ID_UNNAMED ? names_of(opener) : -1);
	say(talk, eventid_open(target.fd, "one too many"));
	return 0;
}

/*
 * The first process is a child of root. It does not share root's table, because root has no names.
 */
TEST(family_of_one_user_shares_all_names)
{
	const struct opener child = { stay_root, "child", MANY };
	struct child family;

	ASSERT_EQ(0, child_start(&family, be_family, (void *)&child));
	EXPECT_EQ(NAMED_MAX - 1, hear(&family.talk));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, hear(&family.talk));
	EXPECT_EQ(0, child_wait(&family));
}

static int open_then_give_up_root(void *arg, const struct talk *talk)
{
	const struct opener *opener = arg;
	struct target target;
	struct child child;
	int first;

	if (target_open(&target))
		return 1;
	first = eventid_open(target.fd, "before");
	if (give_up_root())
		return 1;
	say(talk, first > 0 ? open_names(target.fd, "after", 600) : -1);
	if (child_start(&child, open_as, (void *)opener))
		return 1;
	say(talk, hear(&child.talk));
	return child_wait(&child);
}

/* A server that drops root before it forks has the same privileges as its workers. */
TEST(lone_process_that_gives_up_root_is_no_guest)
{
	const struct opener worker = { stay_root, "worker", MANY };
	struct child server;

	ASSERT_EQ(0, child_start(&server, open_then_give_up_root, (void *)&worker));
	EXPECT_EQ(600, hear(&server.talk));
	EXPECT_EQ(NAMED_MAX - 601, hear(&server.talk));
	EXPECT_EQ(0, child_wait(&server));
}

/* ------------------------------------------------------------------ */
/* Descriptions								*/

struct describer {
	struct opener opener;
	int id;
	const char *text;
};

static int describe_as(void *arg, const struct talk *talk)
{
	const struct describer *describer = arg;
	struct target target;
	int err = change_and_attach(&describer->opener, &target);

	say(talk, err ? err : type_describe(target.fd, describer->id, describer->text));
	return 0;
}

/* Returns the result of DESCRIBE in a child that has dropped root. */
static int describe_in_child(int id, const char *text)
{
	struct describer describer = { { give_up_root, NULL, 0 }, id, text };
	struct child child;
	int err;

	if (child_start(&child, describe_as, &describer))
		return -1;
	err = hear(&child.talk);
	return child_wait(&child) ? -1 : err;
}

TEST_F(guest, does_not_describe_the_types_of_its_parent)
{
	EXPECT_EQ(-EPERM, describe_in_child(self->id, "{ u32 of_the_child; }"));
	EXPECT_EQ(0, type_describe(self->target.fd, self->id, "{ u32 x; }"));
	/*
	 * Describing a type again with the same text must succeed: a worker may reach the same
	 * trace points as its parent.
	 */
	EXPECT_EQ(0, describe_in_child(self->id, "{ u32 x; }"));
	EXPECT_EQ(-EEXIST, describe_in_child(self->id, "{ u32 y; }"));
	EXPECT_EQ(-ENOENT, describe_in_child(self->id + 1, "{ u32 y; }"));
}

static int open_and_describe(void *arg, const struct talk *talk)
{
	const struct opener *opener = arg;
	struct target target;
	int id = change_and_attach(opener, &target);

	if (!id)
		id = eventid_open(target.fd, opener->prefix);
	say(talk, id);
	say(talk, type_describe(target.fd, id, "{ u32 of_the_child; }"));
	say(talk, eventid_open(target.fd, "without a description"));
	hear(talk);
	return 0;
}

TEST_F(guest, describes_its_own_types_and_so_does_its_parent)
{
	struct opener worker = { give_up_root, "of the child", 1 };
	char text[32] = "";
	struct stream stream;
	struct child child;
	int id, other;

	ASSERT_EQ(0, child_start(&child, open_and_describe, &worker));
	id = hear(&child.talk);
	EXPECT_EQ(0, hear(&child.talk));
	other = hear(&child.talk);
	EXPECT_EQ(0, type_describe(self->target.fd, other, "{ u8 of_the_parent; }"));
	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_LT(0, type_description(stream.fd, id, text, sizeof(text)));
	EXPECT_STREQ("{ u32 of_the_child; }", text);
	EXPECT_LT(0, type_description(stream.fd, other, text, sizeof(text)));
	EXPECT_STREQ("{ u8 of_the_parent; }", text);
	stream_close(&stream);
	EXPECT_EQ(0, child_wait(&child));
}

/* Opens and describes types until one of them is refused. Reports their number and the error. */
static int describe_many(void *arg, const struct talk *talk)
{
	char text[POSIXTRACE_DESCRIPTION_SIZE], name[32];
	const struct opener *opener = arg;
	struct target target;
	int err = change_and_attach(opener, &target), count = 0;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (; !err && count < opener->count; count += !err) {
		snprintf(name, sizeof(name), "%s %d", opener->prefix, count);
		err = type_describe(target.fd, eventid_open(target.fd, name), text);
	}
	say(talk, count);
	say(talk, err);
	return 0;
}

TEST_F(guest, leaves_room_for_the_descriptions_of_its_parent)
{
	const int fit = POSIXTRACE_DESCRIPTIONS_MAX / POSIXTRACE_DESCRIPTION_SIZE;
	struct opener worker = { give_up_root, NULL, 100 };
	struct child child;
	char prefix[16];
	int sum = 0;

	for (int i = 0; i < 10; i++) {
		snprintf(prefix, sizeof(prefix), "worker %d", i);
		worker.prefix = prefix;
		ASSERT_EQ(0, child_start(&child, describe_many, &worker));
		sum += hear(&child.talk);
		EXPECT_EQ(-ENOSPC, hear(&child.talk));
		EXPECT_EQ(0, child_wait(&child));
		if (!i)
			EXPECT_EQ(fit / 16, sum);
	}
	EXPECT_EQ(fit / 2, sum);
	EXPECT_EQ(0, type_describe(self->target.fd, self->id, "{ u32 x; }"));
}

/* ------------------------------------------------------------------ */
/* A controller with the rights of the guest					*/

static int control(void *arg, const struct talk *talk)
{
	int id = *(int *)arg;
	struct stream stream;

	if (give_up_root() || stream_create(&stream, hear(talk)))
		return 1;
	say(talk, open_names(stream.fd, "controller", MANY));
	say(talk, type_describe(stream.fd, id, "{ u32 of_the_controller; }"));
	return 0;
}

static int be_traced(void *arg, const struct talk *talk)
{
	(void)arg;
	say(talk, give_up_root());
	hear(talk);
	return 0;
}

TEST_F(guest, controller_of_a_guest_is_a_guest)
{
	struct child controller, child;

	/* Start this before the child, so that it does not inherit the child's pipe. */
	ASSERT_EQ(0, child_start(&controller, control, &self->id));
	ASSERT_EQ(0, child_start(&child, be_traced, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	say(&controller.talk, child.pid);
	EXPECT_EQ(GUEST_MAX, hear(&controller.talk));
	EXPECT_EQ(-EPERM, hear(&controller.talk));
	EXPECT_EQ(0, child_wait(&controller));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, type_describe(self->target.fd, self->id, "{ u32 x; }"));
}

TEST_HARNESS_MAIN
