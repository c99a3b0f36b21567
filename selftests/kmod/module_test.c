// SPDX-License-Identifier: GPL-2.0
/*
 * The module stays while anything of it is in use, and knows when that ends.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

static int refcount(void)
{
	FILE *file = fopen("/sys/module/posixtrace/refcnt", "re");
	int count = -1;

	if (file) {
		if (fscanf(file, "%d", &count) != 1)
			count = -1;
		fclose(file);
	}
	return count;
}

/* Only called while it must be refused. */
static int try_unload(void)
{
	return syscall(SYS_delete_module, "posixtrace", O_NONBLOCK) ? -errno : 0;
}

TEST(open_file_holds_the_module)
{
	int before = refcount();
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(before + 1, refcount());
	EXPECT_EQ(-EWOULDBLOCK, try_unload());
	close(fd);
	EXPECT_EQ(before, refcount());
}

TEST(stream_and_target_hold_the_module)
{
	int before = refcount();
	struct stream stream;
	struct target target;

	ASSERT_EQ(0, target_open(&target));
	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	EXPECT_EQ(-EWOULDBLOCK, try_unload());
	EXPECT_EQ(0, target_event(&target, POSIXTRACE_ID_UNNAMED, NULL, 0));
	stream_close(&stream);
	target_close(&target);
	EXPECT_EQ(before, refcount());
}

TEST(mapping_alone_holds_the_module)
{
	int before = refcount();
	struct target target;

	ASSERT_EQ(0, target_open(&target));
	close(target.fd);
	EXPECT_LT(before, refcount());
	EXPECT_EQ(-EWOULDBLOCK, try_unload());
	EXPECT_EQ(0, LOAD(target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	munmap((void *)target.gate, target.arg.gate.size);
	EXPECT_EQ(before, refcount());
}

static int use_and_idle(void *arg, const struct talk *talk)
{
	struct stream stream;
	struct target target;

	(void)arg;
	if (target_open(&target) || stream_create(&stream, 0) || stream_start(&stream))
		return 1;
	return child_idle(NULL, talk);
}

TEST(killed_process_leaves_no_reference)
{
	int before = refcount();
	struct child child;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, child_start(&child, use_and_idle, NULL));
		ASSERT_EQ(0, hear(&child.talk));
		EXPECT_LT(before, refcount());
		EXPECT_EQ(-EWOULDBLOCK, try_unload());
		child_kill(&child);
		EXPECT_EQ(before, refcount());
	}
}

TEST(refused_commands_leave_no_reference)
{
	struct posixtrace_create arg;
	int before = refcount();
	int fd = device_open();

	ASSERT_LE(0, fd);
	create_init(&arg, 0x7fffffff);
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(-ESRCH, command(fd, POSIXTRACE_IOC_CREATE, &arg));
	close(fd);
	EXPECT_EQ(before, refcount());
}

TEST_HARNESS_MAIN
