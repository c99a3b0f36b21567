// SPDX-License-Identifier: GPL-2.0
/*
 * Loading the module: the device, its mode, and access to it.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "pxt_test.h"

#define MISC_MAJOR 10

TEST(device_is_a_misc_character_device)
{
	struct stat st;

	ASSERT_EQ(0, stat(PXT_DEVICE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(MISC_MAJOR, major(st.st_rdev));
}

TEST(device_mode_is_0666)
{
	struct stat st;

	ASSERT_EQ(0, stat(PXT_DEVICE, &st));
	EXPECT_EQ(0666, st.st_mode & 07777);
}

/* udev gives the device this mode unless a rule sets another one. Without udev, devtmpfs does. */
TEST(udev_gets_the_mode)
{
	char line[64];
	FILE *file = fopen("/sys/class/misc/posixtrace/uevent", "re");
	int found = 0;

	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file))
		found += !strcmp(line, "DEVMODE=0666\n");
	fclose(file);
	EXPECT_EQ(1, found);
}

TEST(unprivileged_process_opens_the_device)
{
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(100);
		_exit(open(PXT_DEVICE, O_RDWR | O_CLOEXEC) < 0 ? errno : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

TEST(open_device_holds_the_module)
{
	char count[2][16] = {};
	int fd, i, refs;

	fd = open(PXT_DEVICE, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	for (i = 0; i < 2; i++) {
		refs = open("/sys/module/posixtrace/refcnt", O_RDONLY | O_CLOEXEC);
		ASSERT_LE(0, refs);
		ASSERT_LT(0, read(refs, count[i], sizeof(count[i]) - 1));
		close(refs);
		if (i == 0)
			ASSERT_EQ(0, close(fd));
	}
	EXPECT_LT(atoi(count[1]), atoi(count[0]));
}

TEST_HARNESS_MAIN
