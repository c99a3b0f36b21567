// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of event types: text that the module stores for both roles.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

FIXTURE(description)
{
	struct stream stream;
	struct target target;
	int id;
};

FIXTURE_SETUP(description)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	self->id = eventid_open(self->target.fd, "described");
	ASSERT_LT(POSIXTRACE_ID_UNNAMED, self->id);
}

FIXTURE_TEARDOWN(description)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(description, stream_has_the_description_of_the_target)
{
	char text[64] = "";

	ASSERT_EQ(0, type_describe(self->target.fd, self->id, "{ u32 x; }"));
	ASSERT_EQ(11, type_description(self->stream.fd, self->id, text, sizeof(text)));
	EXPECT_STREQ("{ u32 x; }", text);
}

TEST_F(description, controller_can_set_it)
{
	char text[64] = "";

	ASSERT_EQ(0, type_describe(self->stream.fd, self->id, "{ text t; }"));
	EXPECT_EQ(-EEXIST, type_describe(self->target.fd, self->id, "{ u32 t; }"));
	ASSERT_EQ(12, type_description(self->stream.fd, self->id, text, sizeof(text)));
	EXPECT_STREQ("{ text t; }", text);
}

TEST_F(description, same_description_is_accepted_and_another_one_refused)
{
	char text[64] = "";

	ASSERT_EQ(0, type_describe(self->target.fd, self->id, "{ u32 x; }"));
	EXPECT_EQ(0, type_describe(self->target.fd, self->id, "{ u32 x; }"));
	EXPECT_EQ(-EEXIST, type_describe(self->target.fd, self->id, "{ u32 y; }"));
	EXPECT_EQ(-EEXIST, type_describe(self->target.fd, self->id, "{ u32 x; } "));
	EXPECT_EQ(-EEXIST, type_describe(self->target.fd, self->id, "{"));
	ASSERT_EQ(11, type_description(self->stream.fd, self->id, text, sizeof(text)));
	EXPECT_STREQ("{ u32 x; }", text);
}

TEST_F(description, type_without_description_is_enoent)
{
	EXPECT_EQ(-ENOENT, type_description(self->stream.fd, self->id, NULL, 0));
	EXPECT_EQ(-ENOENT, type_description(self->stream.fd, POSIXTRACE_ID_START, NULL, 0));
	EXPECT_EQ(-ENOENT, type_description(self->stream.fd, POSIXTRACE_ID_UNNAMED, NULL, 0));
	EXPECT_EQ(-EINVAL, type_description(self->stream.fd, 0, NULL, 0));
	EXPECT_EQ(-EINVAL, type_description(self->stream.fd, self->id + 1, NULL, 0));
	EXPECT_EQ(-EINVAL, type_description(self->stream.fd, POSIXTRACE_ID_MAX, NULL, 0));
	EXPECT_EQ(-EINVAL, type_description(self->stream.fd, ~0U, NULL, 0));
}

TEST_F(description, only_named_types_can_have_a_description)
{
	const unsigned int ids[] = {
		0, POSIXTRACE_ID_START, POSIXTRACE_ID_UNNAMED - 1, POSIXTRACE_ID_UNNAMED,
		self->id + 1, POSIXTRACE_ID_MAX - 1, POSIXTRACE_ID_MAX, ~0U,
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		EXPECT_EQ(-ENOENT, type_describe(self->target.fd, ids[i], "{ u32 x; }"));
}

/* If the buffer is too small, it is not written, and the reader gets the required size. */
TEST_F(description, is_written_completely_or_not_at_all)
{
	char text[11];

	ASSERT_EQ(0, type_describe(self->target.fd, self->id, "{ u32 x; }"));
	memset(text, 'z', sizeof(text));
	EXPECT_EQ(11, type_description(self->stream.fd, self->id, NULL, 0));
	EXPECT_EQ(11, type_description(self->stream.fd, self->id, text, 10));
	for (size_t i = 0; i < sizeof(text); i++)
		EXPECT_EQ('z', text[i]);
	EXPECT_EQ(11, type_description(self->stream.fd, self->id, text, 11));
	EXPECT_STREQ("{ u32 x; }", text);
}

TEST_F(description, text_must_be_one_printable_line)
{
	const int fd = self->target.fd, id = self->id;

	EXPECT_EQ(-EINVAL, type_describe_bytes(fd, id, "", 0));
	EXPECT_EQ(-EINVAL, type_describe_bytes(fd, id, "", 1));
	EXPECT_EQ(-EINVAL, type_describe_bytes(fd, id, "{}", 2));
	EXPECT_EQ(-EINVAL, type_describe_bytes(fd, id, "{}\0", 4));
	EXPECT_EQ(-EINVAL, type_describe_bytes(fd, id, "{\0}", 4));
	EXPECT_EQ(-EINVAL, type_describe(fd, id, "{\n}"));
	EXPECT_EQ(-EINVAL, type_describe(fd, id, "{\t}"));
	EXPECT_EQ(-EINVAL, type_describe(fd, id, "{\033[31m}"));
	EXPECT_EQ(-EINVAL, type_describe(fd, id, "{\x7f}"));
	EXPECT_EQ(-ENOENT, type_description(self->stream.fd, id, NULL, 0));
	EXPECT_EQ(0, type_describe(fd, id, "{ \xc3\xa4 }"));
}

TEST_F(description, longest_text)
{
	char text[POSIXTRACE_DESCRIPTION_SIZE + 1], got[POSIXTRACE_DESCRIPTION_SIZE];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	EXPECT_EQ(-EINVAL, type_describe_bytes(self->target.fd, self->id, text, sizeof(text)));
	EXPECT_EQ(-EINVAL, type_describe_bytes(self->target.fd, self->id, text, ~0U));
	ASSERT_EQ(0, type_describe(self->target.fd, self->id, text + 1));
	ASSERT_EQ((int)sizeof(got), type_description(self->stream.fd, self->id, got, sizeof(got)));
	EXPECT_STREQ(text + 1, got);
}

TEST_F(description, reserved_words_and_bad_addresses)
{
	struct posixtrace_description arg = {
		.text = (uintptr_t)"{}",
		.id = self->id,
		.size = 3,
		.reserved = 1,
	};

	EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_DESCRIBE, &arg));
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_DESCRIPTION, &arg));
	EXPECT_EQ(-EFAULT, type_describe_bytes(self->target.fd, self->id, BAD_POINTER, 16));
	EXPECT_EQ(-ENOENT, type_description(self->stream.fd, self->id, NULL, 0));
}

/* The limit applies to all descriptions of one family together. Other families do not count. */
TEST_F(description, all_together_are_bounded)
{
	char text[POSIXTRACE_DESCRIPTION_SIZE], name[32];
	unsigned int i, fit = POSIXTRACE_DESCRIPTIONS_MAX / POSIXTRACE_DESCRIPTION_SIZE;
	int id;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < fit; i++) {
		snprintf(name, sizeof(name), "many %u", i);
		id = eventid_open(self->target.fd, name);
		ASSERT_EQ(0, type_describe(self->target.fd, id, text));
	}
	EXPECT_EQ(-ENOSPC, type_describe(self->target.fd, self->id, "{}"));
	EXPECT_EQ(0, type_describe(self->target.fd, id, text));
	EXPECT_EQ(-ENOENT, type_description(self->stream.fd, self->id, NULL, 0));
	EXPECT_EQ(POSIXTRACE_DESCRIPTION_SIZE,
		  type_description(self->stream.fd, id, text, sizeof(text)));
}

static int describe_as_child(void *arg, const struct talk *talk)
{
	struct target target;
	int id;

	(void)arg;
	(void)talk;
	if (target_open(&target))
		return 1;
	id = eventid_open(target.fd, "of the child");
	return id < 0 || type_describe(target.fd, id, "{ u8 c; }");
}

TEST_F(description, child_shares_the_types_and_their_descriptions)
{
	struct child child;
	char text[64] = "";
	int id;

	ASSERT_EQ(0, child_start(&child, describe_as_child, NULL));
	ASSERT_EQ(0, child_wait(&child));
	id = eventid_open(self->target.fd, "of the child");
	ASSERT_EQ(10, type_description(self->stream.fd, id, text, sizeof(text)));
	EXPECT_STREQ("{ u8 c; }", text);
}

TEST_HARNESS_MAIN
