// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of /proc/PID/fdinfo for open files of the device, and access to it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

#define VALUE_SIZE	512

/* Stores the value after "posixtrace-@key:", without the tab. Returns 0 or -ENOENT. */
static int info_of(pid_t pid, int fd, const char *key, char *value)
{
	char path[64], line[VALUE_SIZE], wanted[64];
	int err = -ENOENT;
	FILE *file;

	snprintf(wanted, sizeof(wanted), "posixtrace-%s:\t", key);
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, wanted, strlen(wanted)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		strcpy(value, line + strlen(wanted));
		err = 0;
	}
	fclose(file);
	return err;
}

/* Returns true if an open file of this process has this value. */
static bool info_is(int fd, const char *key, const char *wanted)
{
	char value[VALUE_SIZE] = "";
	int err = info_of(getpid(), fd, key, value);

	if (err || strcmp(value, wanted))
		fprintf(stderr, "# %s: \"%s\" instead of \"%s\" (%d)\n", key, value, wanted, err);
	return !err && !strcmp(value, wanted);
}

static bool info_is_number(int fd, const char *key, long long wanted)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", wanted);
	return info_is(fd, key, text);
}

FIXTURE(fdinfo)
{
	struct target target;
	struct stream stream;
};

FIXTURE_SETUP(fdinfo)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
}

FIXTURE_TEARDOWN(fdinfo)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

TEST_F(fdinfo, file_without_a_role_says_so)
{
	char value[VALUE_SIZE];
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_TRUE(info_is(fd, "role", "none"));
	EXPECT_EQ(-ENOENT, info_of(getpid(), fd, "pid", value));
	close(fd);
}

TEST_F(fdinfo, target_shows_its_process_and_named_types)
{
	struct posixtrace_eventid name = { .name = "one" };

	EXPECT_TRUE(info_is(self->target.fd, "role", "target"));
	EXPECT_TRUE(info_is_number(self->target.fd, "pid", getpid()));
	EXPECT_TRUE(info_is(self->target.fd, "types", "0"));
	ASSERT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_EVENTID_OPEN, &name));
	EXPECT_TRUE(info_is(self->target.fd, "types", "1"));
}

TEST_F(fdinfo, stream_shows_number_and_controller)
{
	EXPECT_TRUE(info_is(self->stream.fd, "role", "stream"));
	EXPECT_TRUE(info_is_number(self->stream.fd, "pid", getpid()));
	EXPECT_TRUE(info_is_number(self->stream.fd, "stream", self->stream.arg.stream));
	EXPECT_TRUE(info_is(self->stream.fd, "log", "0"));
	EXPECT_TRUE(info_is(self->stream.fd, "name", "selftest"));
	EXPECT_TRUE(info_is_number(self->stream.fd, "processes", getpid()));
}

TEST_F(fdinfo, state_of_a_stream_is_current)
{
	EXPECT_TRUE(info_is(self->stream.fd, "state", "suspended"));
	ASSERT_EQ(0, stream_start(&self->stream));
	EXPECT_TRUE(info_is(self->stream.fd, "state", "running"));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_TRUE(info_is(self->stream.fd, "state", "suspended"));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_TRUE(info_is(self->stream.fd, "state", "ended"));
	EXPECT_TRUE(info_is_number(self->stream.fd, "stream", self->stream.arg.stream));
}

/* The ended stream must not show the process of the stream that takes over its slot. */
TEST_F(fdinfo, ended_stream_traces_no_process)
{
	char value[VALUE_SIZE];
	struct stream other;

	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	ASSERT_EQ(0, stream_create(&other, 0));
	EXPECT_EQ(self->stream.arg.slot, other.arg.slot);
	EXPECT_EQ(-ENOENT, info_of(getpid(), self->stream.fd, "processes", value));
	EXPECT_TRUE(info_is_number(other.fd, "processes", getpid()));
	stream_close(&other);
}

TEST_F(fdinfo, full_stream_is_shown_as_full)
{
	struct stream stream;
	char data[200] = "";

	create_init(&stream.arg, 0);
	stream.arg.attr.stream_policy = POSIXTRACE_POLICY_UNTIL_FULL;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	for (int i = 0; i < 2000; i++)
		target_event(&self->target, POSIXTRACE_ID_UNNAMED, data, sizeof(data));
	EXPECT_TRUE(info_is(stream.fd, "state", "full"));
	stream_close(&stream);
}

TEST_F(fdinfo, stream_with_log_is_shown_as_such)
{
	struct stream stream = { };
	FILE *log = tmpfile();

	ASSERT_NE(NULL, log);
	create_init(&stream.arg, 0);
	stream.arg.log_fd = fileno(log);
	stream.fd = device_open();
	ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_CREATE, &stream.arg));
	EXPECT_TRUE(info_is(stream.fd, "log", "1"));
	close(stream.fd);
	fclose(log);
}

TEST_F(fdinfo, name_stays_on_its_line)
{
	struct stream stream;

	create_init(&stream.arg, 0);
	strcpy(stream.arg.attr.name, "a\nposixtrace-pid:\t1\033\\\xff!");
	ASSERT_EQ(0, stream_open(&stream));
	EXPECT_TRUE(info_is(stream.fd, "name",
			    "a\\x0aposixtrace-pid:\\x091\\x1b\\x5c\\xff!"));
	EXPECT_TRUE(info_is_number(stream.fd, "pid", getpid()));
	stream_close(&stream);
}

TEST_F(fdinfo, stream_shows_all_traced_processes)
{
	char wanted[64], value[VALUE_SIZE];
	struct stream stream;
	struct child child;

	create_init(&stream.arg, 0);
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	snprintf(wanted, sizeof(wanted), "%d\t%d", (int)getpid(), (int)child.pid);
	EXPECT_TRUE(info_is(stream.fd, "processes", wanted));
	/* The child's copy of the descriptor belongs to the parent's stream. */
	ASSERT_EQ(0, info_of(child.pid, stream.fd, "pid", value));
	EXPECT_EQ(getpid(), atoi(value));
	child_kill(&child);
	EXPECT_TRUE(info_is_number(stream.fd, "processes", getpid()));
	stream_close(&stream);
}

static int look_as_user(void *arg, const struct talk *talk)
{
	const struct stream *stream = arg;
	char value[VALUE_SIZE];

	(void)talk;
	if (setgid(65534) || setuid(65534))
		return 100;
	return -info_of(getppid(), stream->fd, "role", value);
}

TEST_F(fdinfo, other_users_see_nothing)
{
	struct child child;
	int status;

	ASSERT_EQ(0, child_start(&child, look_as_user, &self->stream));
	status = child_wait(&child);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EACCES, WEXITSTATUS(status));
}

/*
 * Runs in the first process of a PID namespace that has its own /proc. Its files show the ids in
 * that namespace, and 0 for processes outside.
 */
static int look_in_namespace(void *arg, const struct talk *talk)
{
	const struct stream *outside = arg;
	struct target target;
	struct stream inside;

	(void)talk;
	if (mount("proc", "/proc", "proc", 0, NULL))
		return 100;
	if (target_open(&target) || stream_create(&inside, 0))
		return 101;
	if (!info_is(target.fd, "pid", "1") || !info_is(inside.fd, "pid", "1") ||
	    !info_is(inside.fd, "processes", "1"))
		return 102;
	/* This file was inherited from outside. */
	if (!info_is(outside->fd, "pid", "0") || !info_is(outside->fd, "processes", "0"))
		return 103;
	return 0;
}

static int enter_namespace(void *arg, const struct talk *talk)
{
	struct child child;
	int status;

	(void)talk;
	if (unshare(CLONE_NEWPID | CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 99;
	if (child_start(&child, look_in_namespace, arg))
		return 98;
	status = child_wait(&child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}

TEST_F(fdinfo, ids_belong_to_the_namespace_of_the_proc)
{
	struct child child;
	int status;

	ASSERT_EQ(0, child_start(&child, enter_namespace, &self->stream));
	status = child_wait(&child);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

static int read_forever(void *arg, const struct talk *talk)
{
	const struct stream *stream = arg;
	char value[VALUE_SIZE];

	(void)talk;
	/* Read until this process or the test is killed. */
	while (getppid() != 1)
		info_of(getppid(), stream->fd, "processes", value);
	return 0;
}

/* Without expectations: KCSAN and lockdep report data races and lock inversions. */
TEST_F(fdinfo, can_be_read_while_the_stream_changes)
{
	struct child reader, traced;
	struct stream stream;

	create_init(&stream.arg, 0);
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, child_start(&reader, read_forever, &stream));
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, stream_start(&stream));
		ASSERT_EQ(0, child_start(&traced, child_idle, NULL));
		ASSERT_EQ(0, hear(&traced.talk));
		ASSERT_EQ(0, stream_stop(&stream));
		child_kill(&traced);
	}
	EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_TRUE(info_is(stream.fd, "state", "ended"));
	child_kill(&reader);
	stream_close(&stream);
}

TEST_HARNESS_MAIN
