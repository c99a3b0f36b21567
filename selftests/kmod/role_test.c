// SPDX-License-Identifier: GPL-2.0
/*
 * The first command gives an open file its role. After that, commands of the other role fail with
 * EINVAL, and unknown commands with ENOTTY.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "uapi.h"

/* A valid argument for the command, so that only the role is wrong. */
union any {
	struct posixtrace_create create;
	struct posixtrace_attach attach;
	struct posixtrace_origin origin;
	struct posixtrace_status status;
	struct posixtrace_attr attr;
	struct posixtrace_eventid eventid;
	struct posixtrace_description description;
	struct posixtrace_event_types types;
	struct posixtrace_wait wait;
	struct posixtrace_release release;
	struct posixtrace_filter filter;
	struct posixtrace_event_set set;
	struct posixtrace_stats stats;
	struct posixtrace_sync sync;
	struct posixtrace_next next;
	struct posixtrace_event event;
	struct posixtrace_met met;
	struct posixtrace_checked checked;
	__u32 mask;
};

static struct posixtrace_slot slots[POSIXTRACE_SLOTS_MAX];

static void any_init(union any *arg, unsigned long cmd)
{
	memset(arg, 0, sizeof(*arg));
	switch (cmd) {
	case POSIXTRACE_IOC_CREATE:
		create_init(&arg->create, 0);
		break;
	case POSIXTRACE_IOC_EVENT_NAME:
		arg->eventid.id = POSIXTRACE_ID_START;
		break;
	case POSIXTRACE_IOC_DESCRIPTION:
		arg->description.id = POSIXTRACE_ID_START;
		break;
	case POSIXTRACE_IOC_EVENTID_OPEN:
		strcpy(arg->eventid.name, "role");
		break;
	case POSIXTRACE_IOC_WAIT:
		/* Must not block if accepted by mistake. */
		arg->wait.flags = POSIXTRACE_WAIT_DEADLINE;
		arg->wait.deadline = 1;
		break;
	case POSIXTRACE_IOC_RELEASE:
		arg->release.subbuf = POSIXTRACE_NONE;
		break;
	case POSIXTRACE_IOC_SYNC:
		arg->sync.slots = (uintptr_t)slots;
		break;
	case POSIXTRACE_IOC_EVENT:
		arg->event.event_id = POSIXTRACE_ID_UNNAMED;
		break;
	case POSIXTRACE_IOC_MET:
		arg->met.number = 1;
		arg->met.count = 1;
		break;
	}
}

static int any_command(int fd, unsigned long cmd)
{
	union any arg;

	any_init(&arg, cmd);
	return command(fd, cmd, &arg);
}

#define OF_STREAM	1
#define OF_TARGET	2

FIXTURE(role)
{
	struct stream stream;
	struct target target;
	int fresh;
};

FIXTURE_VARIANT(role)
{
	unsigned long cmd;
	int roles;
};

FIXTURE_VARIANT_ADD(role, START) { POSIXTRACE_IOC_START, OF_STREAM };
FIXTURE_VARIANT_ADD(role, STOP) { POSIXTRACE_IOC_STOP, OF_STREAM };
FIXTURE_VARIANT_ADD(role, SHUTDOWN) { POSIXTRACE_IOC_SHUTDOWN, OF_STREAM };
FIXTURE_VARIANT_ADD(role, GET_STATUS) { POSIXTRACE_IOC_GET_STATUS, OF_STREAM };
FIXTURE_VARIANT_ADD(role, GET_ATTR) { POSIXTRACE_IOC_GET_ATTR, OF_STREAM };
FIXTURE_VARIANT_ADD(role, EVENT_NAME) { POSIXTRACE_IOC_EVENT_NAME, OF_STREAM };
FIXTURE_VARIANT_ADD(role, EVENT_TYPES) { POSIXTRACE_IOC_EVENT_TYPES, OF_STREAM };
FIXTURE_VARIANT_ADD(role, WAIT) { POSIXTRACE_IOC_WAIT, OF_STREAM };
FIXTURE_VARIANT_ADD(role, RELEASE) { POSIXTRACE_IOC_RELEASE, OF_STREAM };
FIXTURE_VARIANT_ADD(role, SET_FILTER) { POSIXTRACE_IOC_SET_FILTER, OF_STREAM };
FIXTURE_VARIANT_ADD(role, GET_FILTER) { POSIXTRACE_IOC_GET_FILTER, OF_STREAM };
FIXTURE_VARIANT_ADD(role, CLEAR) { POSIXTRACE_IOC_CLEAR, OF_STREAM };
FIXTURE_VARIANT_ADD(role, GET_STATS) { POSIXTRACE_IOC_GET_STATS, OF_STREAM };
FIXTURE_VARIANT_ADD(role, KERNEL_STATS) { POSIXTRACE_IOC_KERNEL_STATS, OF_STREAM };
FIXTURE_VARIANT_ADD(role, STATES) { POSIXTRACE_IOC_STATES, OF_STREAM };
FIXTURE_VARIANT_ADD(role, FILES) { POSIXTRACE_IOC_FILES, OF_STREAM };
FIXTURE_VARIANT_ADD(role, ADD) { POSIXTRACE_IOC_ADD, OF_STREAM };
FIXTURE_VARIANT_ADD(role, ROTATE) { POSIXTRACE_IOC_ROTATE, OF_STREAM };
FIXTURE_VARIANT_ADD(role, TRIGGER) { POSIXTRACE_IOC_TRIGGER, OF_STREAM };
FIXTURE_VARIANT_ADD(role, TRIGGERED) { POSIXTRACE_IOC_TRIGGERED, OF_STREAM };
FIXTURE_VARIANT_ADD(role, CLOCK_ERROR) { POSIXTRACE_IOC_CLOCK_ERROR, OF_STREAM };
FIXTURE_VARIANT_ADD(role, DESCRIPTION) { POSIXTRACE_IOC_DESCRIPTION, OF_STREAM };
FIXTURE_VARIANT_ADD(role, DESCRIBE) { POSIXTRACE_IOC_DESCRIBE, OF_STREAM | OF_TARGET };
FIXTURE_VARIANT_ADD(role, DEFER) { POSIXTRACE_IOC_DEFER, OF_STREAM };
FIXTURE_VARIANT_ADD(role, SYNC) { POSIXTRACE_IOC_SYNC, OF_TARGET };
FIXTURE_VARIANT_ADD(role, NEXT) { POSIXTRACE_IOC_NEXT, OF_TARGET };
FIXTURE_VARIANT_ADD(role, EVENT) { POSIXTRACE_IOC_EVENT, OF_TARGET };
FIXTURE_VARIANT_ADD(role, WAKE) { POSIXTRACE_IOC_WAKE, OF_TARGET };
FIXTURE_VARIANT_ADD(role, MET) { POSIXTRACE_IOC_MET, OF_TARGET };
FIXTURE_VARIANT_ADD(role, EVENTID_OPEN) { POSIXTRACE_IOC_EVENTID_OPEN, OF_STREAM | OF_TARGET };
FIXTURE_VARIANT_ADD(role, CHECKED) { POSIXTRACE_IOC_CHECKED, OF_STREAM | OF_TARGET };
FIXTURE_VARIANT_ADD(role, MAP) { POSIXTRACE_IOC_MAP, OF_STREAM | OF_TARGET };

FIXTURE_SETUP(role)
{
	self->fresh = device_open();
	ASSERT_LE(0, self->fresh);
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, target_open(&self->target));
}

FIXTURE_TEARDOWN(role)
{
	target_close(&self->target);
	stream_close(&self->stream);
	close(self->fresh);
}

TEST_F(role, command_without_role_is_refused)
{
	EXPECT_EQ(-EINVAL, any_command(self->fresh, variant->cmd));
}

TEST_F(role, refused_command_gives_no_role)
{
	struct posixtrace_attach attach = { 0 };

	any_command(self->fresh, variant->cmd);
	EXPECT_EQ(0, command(self->fresh, POSIXTRACE_IOC_ATTACH, &attach));
}

TEST_F(role, command_of_the_other_role_is_refused)
{
	if (!(variant->roles & OF_STREAM))
		EXPECT_EQ(-EINVAL, any_command(self->stream.fd, variant->cmd));
	if (!(variant->roles & OF_TARGET))
		EXPECT_EQ(-EINVAL, any_command(self->target.fd, variant->cmd));
}

TEST(second_create_on_a_stream_is_busy)
{
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_EQ(-EBUSY, any_command(stream.fd, POSIXTRACE_IOC_CREATE));
	EXPECT_EQ(0, stream_start(&stream));
	stream_close(&stream);
}

TEST(attach_on_a_stream_is_busy)
{
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_EQ(-EBUSY, any_command(stream.fd, POSIXTRACE_IOC_ATTACH));
	EXPECT_EQ(0, stream_start(&stream));
	stream_close(&stream);
}

TEST(second_attach_on_a_target_is_busy)
{
	struct target target;

	ASSERT_EQ(0, target_open(&target));
	EXPECT_EQ(-EBUSY, any_command(target.fd, POSIXTRACE_IOC_ATTACH));
	EXPECT_EQ(0, target_sync(&target));
	target_close(&target);
}

TEST(create_on_a_target_is_busy)
{
	struct target target;

	ASSERT_EQ(0, target_open(&target));
	EXPECT_EQ(-EBUSY, any_command(target.fd, POSIXTRACE_IOC_CREATE));
	EXPECT_EQ(0, target_sync(&target));
	target_close(&target);
}

TEST(unknown_command_is_enotty)
{
	struct target target;
	struct stream stream;
	union any arg = { 0 };
	int fd = device_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_EQ(-ENOTTY, command(fd, _IO(POSIXTRACE_IOC_MAGIC, 0xff), &arg));
	EXPECT_EQ(-ENOTTY, command(stream.fd, _IO(POSIXTRACE_IOC_MAGIC, 0xff), &arg));
	EXPECT_EQ(-ENOTTY, command(target.fd, _IO(POSIXTRACE_IOC_MAGIC, 0xff), &arg));
	stream_close(&stream);
	target_close(&target);
	close(fd);
}

TEST(command_of_another_device_is_enotty)
{
	struct posixtrace_info info;
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENOTTY, command(fd, _IOR('T', 0, struct posixtrace_info), &info));
	close(fd);
}

/* The number of a command contains the size, so an extended structure makes another command. */
TEST(command_with_another_size_is_enotty)
{
	union any arg = { 0 };
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENOTTY, command(fd, _IOR(POSIXTRACE_IOC_MAGIC, 0x00, __u64), &arg));
	EXPECT_EQ(-ENOTTY, command(fd, _IOW(POSIXTRACE_IOC_MAGIC, 0x00, struct posixtrace_info),
				   &arg));
	close(fd);
}

TEST(device_has_neither_read_nor_write)
{
	char byte = 0;
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

TEST_HARNESS_MAIN
