// SPDX-License-Identifier: GPL-2.0
/*
 * INFO: information about the module, before any other command.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <time.h>

#include "pxt_test.h"
#include "uapi.h"

FIXTURE(info)
{
	int fd;
};

FIXTURE_SETUP(info)
{
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(info)
{
	close(self->fd);
}

TEST_F(info, returns_the_limits_of_the_header)
{
	struct posixtrace_info info;

	memset(&info, 0xff, sizeof(info));
	ASSERT_EQ(0, command(self->fd, POSIXTRACE_IOC_INFO, &info));
	EXPECT_EQ(POSIXTRACE_ABI_VERSION, info.abi_version);
	EXPECT_EQ(sysconf(_SC_PAGESIZE), info.page_size);
	EXPECT_EQ(POSIXTRACE_STREAMS_MAX, info.streams_max);
	EXPECT_EQ(POSIXTRACE_SLOTS_MAX, info.slots_max);
	EXPECT_EQ(POSIXTRACE_ID_MAX, info.ids_max);
	EXPECT_NE(0, info.features & POSIXTRACE_FEATURE_EVENT);
}

TEST_F(info, resolution_matches_the_clock)
{
	struct posixtrace_info info;
	struct timespec res;

	ASSERT_EQ(0, command(self->fd, POSIXTRACE_IOC_INFO, &info));
	ASSERT_EQ(0, clock_getres(CLOCK_REALTIME, &res));
	EXPECT_EQ(0, res.tv_sec);
	EXPECT_EQ(res.tv_nsec, info.clock_resolution);
}

TEST_F(info, reserved_words_are_zero)
{
	struct posixtrace_info info;

	memset(&info, 0xff, sizeof(info));
	ASSERT_EQ(0, command(self->fd, POSIXTRACE_IOC_INFO, &info));
	for (size_t i = 0; i < sizeof(info.reserved) / sizeof(info.reserved[0]); i++)
		EXPECT_EQ(0, info.reserved[i]);
}

TEST_F(info, works_in_each_role)
{
	struct posixtrace_info info;
	struct target target;
	struct stream stream;

	EXPECT_EQ(0, command(self->fd, POSIXTRACE_IOC_INFO, &info));
	ASSERT_EQ(0, target_open(&target));
	EXPECT_EQ(0, command(target.fd, POSIXTRACE_IOC_INFO, &info));
	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_INFO, &info));
	stream_close(&stream);
	target_close(&target);
}

TEST_F(info, gives_no_role)
{
	struct posixtrace_info info;
	struct posixtrace_create create;

	ASSERT_EQ(0, command(self->fd, POSIXTRACE_IOC_INFO, &info));
	create_init(&create, 0);
	EXPECT_EQ(0, command(self->fd, POSIXTRACE_IOC_CREATE, &create));
}

TEST_F(info, bad_address_is_a_fault)
{
	EXPECT_EQ(-EFAULT, command(self->fd, POSIXTRACE_IOC_INFO, BAD_POINTER));
}

/* 32-bit programs, 64-bit programs and the module share this layout. */
TEST(structures_have_no_holes_and_known_sizes)
{
	EXPECT_EQ(64, sizeof(struct posixtrace_info));
	EXPECT_EQ(16, sizeof(struct posixtrace_record));
	EXPECT_EQ(32, sizeof(struct posixtrace_writer));
	EXPECT_EQ(64, sizeof(struct posixtrace_cpu_head));
	EXPECT_EQ(64, sizeof(struct posixtrace_subbuf));
	EXPECT_EQ(4096 + 4 * POSIXTRACE_ID_MAX + 2 * 4096, sizeof(struct posixtrace_gate));
	EXPECT_EQ(512, sizeof(struct posixtrace_event_set));
	EXPECT_EQ(240, sizeof(struct posixtrace_attr));
	EXPECT_EQ(16 + 240 + 4 * 16 + 64, sizeof(struct posixtrace_create));
	EXPECT_EQ(88, sizeof(struct posixtrace_slot));
	EXPECT_EQ(64, sizeof(struct posixtrace_wakeup));
	EXPECT_EQ(192, sizeof(struct posixtrace_ctrl));
	EXPECT_EQ(64, offsetof(struct posixtrace_reader, consumed));
	EXPECT_EQ(88, sizeof(struct posixtrace_eventid));
}

TEST_HARNESS_MAIN
