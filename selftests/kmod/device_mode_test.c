// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameter device_mode: access to the device. Removes and inserts the module, so no
 * other process may use the module during this test.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "process.h"

/* Location of the module in a guest. */
#define MODULE		"/run/vm/posixtrace.ko"
#define PARAMETER	"/sys/module/posixtrace/parameters/device_mode"

static int insert(const char *params)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static int take_out(void)
{
	return syscall(SYS_delete_module, "posixtrace", O_NONBLOCK) ? -errno : 0;
}

static int mode(void)
{
	struct stat st;

	return stat(PXT_DEVICE, &st) ? -errno : (int)(st.st_mode & 07777);
}

/* Returns the value of the parameter, which is octal text, or a negative number. */
static int parameter(void)
{
	FILE *file = fopen(PARAMETER, "re");
	unsigned int value = 0;
	char line[16];
	int ret = -1;

	if (!file)
		return -errno;
	if (fgets(line, sizeof(line), file) && line[0] == '0' && sscanf(line, "%o\n", &value) == 1)
		ret = value;
	fclose(file);
	return ret;
}

static int try_open(void *arg, const struct talk *talk)
{
	const gid_t *gid = arg;

	(void)talk;
	if (setgid(*gid) || setuid(65534))
		return 100;
	return open(PXT_DEVICE, O_RDWR | O_CLOEXEC) < 0 ? errno : 0;
}

/* Opens the device as an unprivileged process with this group, and returns the result. */
static int open_as(gid_t gid)
{
	struct child child;
	int status;

	if (child_start(&child, try_open, &gid))
		return -1;
	status = child_wait(&child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

FIXTURE(device)
{
};

FIXTURE_SETUP(device)
{
	ASSERT_EQ(0, access(MODULE, R_OK));
	ASSERT_EQ(0, take_out());
}

/* Inserts the module for the next program. No assertion comes before this, so it always happens. */
FIXTURE_TEARDOWN(device)
{
	if (!access(PXT_DEVICE, F_OK))
		EXPECT_EQ(0, take_out());
	EXPECT_EQ(0, insert(""));
	EXPECT_EQ(0666, mode());
}

TEST_F(device, mode_is_0666_by_default)
{
	EXPECT_EQ(0, insert(""));
	EXPECT_EQ(0666, mode());
	EXPECT_EQ(0666, parameter());
	EXPECT_EQ(0, open_as(65534));
}

TEST_F(device, mode_can_be_restricted_to_a_group)
{
	EXPECT_EQ(0, insert("device_mode=0660"));
	EXPECT_EQ(0660, mode());
	EXPECT_EQ(0660, parameter());
	EXPECT_EQ(EACCES, open_as(65534));
	EXPECT_EQ(0, chown(PXT_DEVICE, 0, 65534));
	EXPECT_EQ(0, open_as(65534));
	EXPECT_EQ(EACCES, open_as(65533));
}

TEST_F(device, mode_can_be_restricted_to_root)
{
	EXPECT_EQ(0, insert("device_mode=600"));
	EXPECT_EQ(0600, mode());
	EXPECT_EQ(EACCES, open_as(0));
}

TEST_F(device, invalid_mode_is_refused)
{
	static const char *const bad[] = {
		"device_mode=0", "device_mode=01000", "device_mode=02666", "device_mode=668",
		"device_mode=rw-rw-rw-", "device_mode=0x1b6", "device_mode=-1", "device_mode=",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_GT(0, insert(bad[i])) {
			TH_LOG("accepted: %s", bad[i]);
			take_out();
		}
		EXPECT_EQ(-ENOENT, mode());
	}
}

TEST_F(device, mode_cannot_be_changed_later)
{
	EXPECT_EQ(0, insert(""));
	EXPECT_EQ(0, access(PARAMETER, R_OK));
	EXPECT_GT(0, open(PARAMETER, O_WRONLY | O_CLOEXEC));
}

TEST_HARNESS_MAIN
