// SPDX-License-Identifier: GPL-2.0
/*
 * CHECKED: runs a command only if the file is the stream or the target that the caller expects.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

static int checked(int fd, __u64 stream, unsigned long cmd, void *arg)
{
	struct posixtrace_checked checked = {
		.stream = stream,
		.arg = (uintptr_t)arg,
		.cmd = cmd,
	};

	return command(fd, POSIXTRACE_IOC_CHECKED, &checked);
}

FIXTURE(checked)
{
	struct stream stream;
	struct stream other;
	struct target target;
	struct posixtrace_origin origin;
	struct posixtrace_info info;
	__u64 number;
};

FIXTURE_SETUP(checked)
{
	memset(&self->origin, 0, sizeof(self->origin));
	memset(&self->info, 0, sizeof(self->info));
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_create(&self->other, 0));
	self->number = self->stream.arg.stream;
}

FIXTURE_TEARDOWN(checked)
{
	stream_close(&self->other);
	stream_close(&self->stream);
	target_close(&self->target);
}

static int is_running(struct stream *stream)
{
	struct posixtrace_status status;

	return stream_status(stream, &status) ? -1 : !!(status.flags & POSIXTRACE_STATUS_RUNNING);
}

/* ------------------------------------------------------------------ */
/* The number								*/

TEST_F(checked, streams_have_different_numbers)
{
	struct stream third;
	__u64 last;

	EXPECT_NE(0, self->number);
	EXPECT_LT(self->number, self->other.arg.stream);
	/* A new stream gets a new number even if it reuses the slot of an old one. */
	last = self->other.arg.stream;
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, stream_create(&third, 0));
		EXPECT_LT(last, third.arg.stream);
		last = third.arg.stream;
		stream_close(&third);
	}
}

TEST_F(checked, traced_process_gets_the_same_number)
{
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_EQ(self->number, self->target.slots[self->stream.arg.slot].stream);
	EXPECT_EQ(self->other.arg.stream, self->target.slots[self->other.arg.slot].stream);
}

/* ------------------------------------------------------------------ */
/* The expected file							*/

TEST_F(checked, command_of_the_stream_runs)
{
	EXPECT_EQ(0, checked(self->stream.fd, self->number, POSIXTRACE_IOC_START, &self->origin));
	EXPECT_EQ(1, is_running(&self->stream));
	EXPECT_EQ(0, checked(self->stream.fd, self->number, POSIXTRACE_IOC_STOP, &self->origin));
	EXPECT_EQ(0, is_running(&self->stream));
}

TEST_F(checked, answer_is_written)
{
	struct posixtrace_attr attr = { 0 };

	ASSERT_EQ(0, checked(self->stream.fd, self->number, POSIXTRACE_IOC_GET_ATTR, &attr));
	EXPECT_STREQ("selftest", attr.name);
	EXPECT_EQ(0, checked(self->stream.fd, self->number, POSIXTRACE_IOC_INFO, &self->info));
	EXPECT_EQ(POSIXTRACE_ABI_VERSION, self->info.abi_version);
}

TEST_F(checked, command_of_the_target_runs)
{
	struct posixtrace_eventid eventid = { .name = "checked" };
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED };
	struct record record;

	ASSERT_EQ(0, checked(self->target.fd, 0, POSIXTRACE_IOC_EVENTID_OPEN, &eventid));
	EXPECT_EQ(eventid.id, eventid_open(self->stream.fd, "checked"));
	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_EQ(0, checked(self->target.fd, 0, POSIXTRACE_IOC_EVENT, &event));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	ASSERT_EQ(1, stream_take(&self->stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
}

/* A stream that another thread has shut down is still recognised. */
TEST_F(checked, dead_stream_is_still_recognised)
{
	EXPECT_EQ(0, checked(self->stream.fd, self->number, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(-ESHUTDOWN, checked(self->stream.fd, self->number, POSIXTRACE_IOC_START,
				      &self->origin));
	EXPECT_EQ(0, checked(self->stream.fd, self->number, POSIXTRACE_IOC_INFO, &self->info));
}

/* ------------------------------------------------------------------ */
/* Another file								*/

TEST_F(checked, command_for_another_stream_is_stale)
{
	EXPECT_EQ(-ESTALE, checked(self->other.fd, self->number, POSIXTRACE_IOC_START,
				   &self->origin));
	EXPECT_EQ(0, is_running(&self->other));
	EXPECT_EQ(0, is_running(&self->stream));
	EXPECT_EQ(-ESTALE, checked(self->other.fd, self->number, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(0, is_running(&self->other));
	EXPECT_EQ(-ESTALE, checked(self->other.fd, self->number, POSIXTRACE_IOC_INFO,
				   &self->info));
	EXPECT_EQ(0, self->info.abi_version);
}

TEST_F(checked, command_for_a_stream_is_stale_on_a_target)
{
	EXPECT_EQ(-ESTALE, checked(self->target.fd, self->number, POSIXTRACE_IOC_START,
				   &self->origin));
	EXPECT_EQ(-ESTALE, checked(self->target.fd, self->number, POSIXTRACE_IOC_INFO,
				   &self->info));
}

TEST_F(checked, command_for_a_target_is_stale_on_a_stream)
{
	struct posixtrace_eventid eventid = { .name = "checked" };
	struct posixtrace_event_types types = { .first = POSIXTRACE_ID_MAX };
	__u32 ids[16];

	EXPECT_EQ(-ESTALE, checked(self->stream.fd, 0, POSIXTRACE_IOC_EVENTID_OPEN, &eventid));
	types = (struct posixtrace_event_types){ .ids = (uintptr_t)ids, .count = 16 };
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_EVENT_TYPES, &types));
	EXPECT_EQ(9, types.count);
}

TEST_F(checked, number_of_an_ended_stream_is_stale)
{
	__u64 gone = self->other.arg.stream;

	stream_close(&self->other);
	ASSERT_EQ(0, stream_create(&self->other, 0));
	EXPECT_EQ(-ESTALE, checked(self->other.fd, gone, POSIXTRACE_IOC_START, &self->origin));
	EXPECT_EQ(0, is_running(&self->other));
}

/* ------------------------------------------------------------------ */
/* Errors, and their order						*/

TEST_F(checked, reserved_is_zero)
{
	struct posixtrace_checked arg = {
		.stream = self->number,
		.arg = (uintptr_t)&self->info,
		.cmd = POSIXTRACE_IOC_INFO,
		.reserved = 1,
	};

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_CHECKED, &arg));
	/* EPERM takes precedence over a wrong number. */
	arg.stream++;
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_CHECKED, &arg));
	arg.reserved = 0;
	EXPECT_EQ(-ESTALE, command(self->stream.fd, POSIXTRACE_IOC_CHECKED, &arg));
}

TEST_F(checked, bad_addresses_fault)
{
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_CHECKED, BAD_POINTER));
	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_CHECKED, BAD_POINTER));
	EXPECT_EQ(-EFAULT, checked(self->stream.fd, self->number, POSIXTRACE_IOC_START,
				   BAD_POINTER));
	EXPECT_EQ(-EFAULT, checked(self->stream.fd, self->number, POSIXTRACE_IOC_INFO,
				   BAD_POINTER));
	/* A wrong number takes precedence over an error in the command's argument. */
	EXPECT_EQ(-ESTALE, checked(self->stream.fd, self->number + 1, POSIXTRACE_IOC_START,
				   BAD_POINTER));
}

TEST_F(checked, command_fails_with_the_same_error_as_without_checked)
{
	struct posixtrace_attach attach = { 0 };
	struct posixtrace_met met = { .number = 1 };
	struct posixtrace_create create;
	__u32 mask = 0;

	create_init(&create, 0);
	EXPECT_EQ(-EBUSY, checked(self->stream.fd, self->number, POSIXTRACE_IOC_CREATE, &create));
	EXPECT_EQ(-EINVAL, checked(self->target.fd, 0, POSIXTRACE_IOC_MET, &met));
	EXPECT_EQ(-EBUSY, checked(self->target.fd, 0, POSIXTRACE_IOC_ATTACH, &attach));
	EXPECT_EQ(-EINVAL, checked(self->stream.fd, self->number, POSIXTRACE_IOC_WAKE, &mask));
	EXPECT_EQ(-EINVAL, checked(self->target.fd, 0, POSIXTRACE_IOC_START, &self->origin));
	EXPECT_EQ(-ENOTTY, checked(self->stream.fd, self->number, 0, NULL));
	EXPECT_EQ(-ENOTTY, checked(self->stream.fd, self->number,
				   _IO(POSIXTRACE_IOC_MAGIC, 0xff), NULL));
}

TEST_F(checked, checked_cannot_be_nested)
{
	struct posixtrace_checked inner = {
		.stream = self->number,
		.arg = (uintptr_t)&self->info,
		.cmd = POSIXTRACE_IOC_INFO,
	};

	EXPECT_EQ(-ENOTTY, checked(self->stream.fd, self->number, POSIXTRACE_IOC_CHECKED,
				   &inner));
	EXPECT_EQ(0, self->info.abi_version);
}

TEST_F(checked, file_without_role_is_stale)
{
	struct posixtrace_attach attach = { 0 };
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, checked(fd, 0, POSIXTRACE_IOC_INFO, &self->info));
	EXPECT_EQ(-EINVAL, checked(fd, self->number, POSIXTRACE_IOC_INFO, &self->info));
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_CHECKED, BAD_POINTER));
	/* The file still has no role. */
	EXPECT_EQ(0, command(fd, POSIXTRACE_IOC_ATTACH, &attach));
	close(fd);
}

static int ask_as_child(void *arg, const struct talk *talk)
{
	struct stream *stream = arg;
	struct posixtrace_info info;

	(void)talk;
	return -checked(stream->fd, stream->arg.stream, POSIXTRACE_IOC_INFO, &info);
}

/* INFO works for any process, but CHECKED requires the process of the file. */
TEST_F(checked, child_cannot_use_the_file_of_the_parent)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, ask_as_child, &self->stream));
	EXPECT_EQ(EINVAL << 8, child_wait(&child));
}

TEST_HARNESS_MAIN
