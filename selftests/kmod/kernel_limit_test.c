// SPDX-License-Identifier: GPL-2.0
/*
 * How many streams with kernel events can trace one process: whoever wakes one of its threads, or
 * switches to it, spends time for each of them.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "pxt_test.h"
#include "credentials.h"
#include "uapi.h"

#define USER	1000
#define MOST	POSIXTRACE_KERNEL_SLOTS_MAX

static int open_stream(struct stream *stream, pid_t pid, uint32_t classes)
{
	create_init(&stream->arg, pid);
	stream->arg.attr.classes = classes;
	stream->arg.attr.stream_size = 0;
	return stream_open(stream);
}

static int open_streams(struct stream *streams, int count, pid_t pid, uint32_t classes)
{
	int err = 0;

	for (int i = 0; i < count && !err; i++)
		err = open_stream(&streams[i], pid, classes);
	return err;
}

/* The result of a case that runs as USER is the line that failed. */
#define CHECK(expression)	do { if (!(expression)) return __LINE__; } while (0)

static int in_child(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -1;
	if (!pid) {
		/* An exit status has only eight bits. */
		int line = become_user(USER) ? 1 : run();

		if (line)
			fprintf(stderr, "# failed in line %d\n", line);
		_exit(!!line);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

FIXTURE(limit)
{
};

FIXTURE_VARIANT(limit)
{
	uint32_t classes;
};

FIXTURE_VARIANT_ADD(limit, sched) { POSIXTRACE_CLASS_SCHED };
FIXTURE_VARIANT_ADD(limit, process) { POSIXTRACE_CLASS_PROCESS };
FIXTURE_VARIANT_ADD(limit, all) {
	POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS | POSIXTRACE_CLASS_FAULT |
	POSIXTRACE_CLASS_SIGNAL
};

FIXTURE_SETUP(limit)
{
}

FIXTURE_TEARDOWN(limit)
{
}

static uint32_t classes;

static int create_until_limit(void)
{
	struct stream streams[MOST], more;

	CHECK(!open_streams(streams, MOST, 0, classes));
	CHECK(open_stream(&more, 0, classes) == -EAGAIN);
	CHECK(!open_stream(&more, 0, 0));
	stream_close(&streams[0]);
	CHECK(!open_stream(&streams[0], 0, classes));
	return 0;
}

TEST_F(limit, a_user_has_four_streams_with_kernel_events_on_a_process)
{
	classes = variant->classes;
	EXPECT_EQ(0, in_child(create_until_limit));
}

TEST_F(limit, cap_sys_resource_lifts_it)
{
	struct stream streams[MOST + 1];

	EXPECT_EQ(0, open_streams(streams, MOST + 1, 0, variant->classes));
	for (int i = 0; i <= MOST; i++)
		stream_close(&streams[i]);
}

/* A stream has the same slot in all its processes, so other streams must leave it free. */
static int add_to_full(void)
{
	struct stream both[MOST - 1], none, its, mine;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	CHECK(!open_streams(both, MOST - 1, 0, classes));
	for (int i = 0; i < MOST - 1; i++)
		CHECK(!command(both[i].fd, POSIXTRACE_IOC_ADD, &pid));
	CHECK(!open_stream(&none, 0, 0));
	CHECK(!open_stream(&its, pid, classes));
	CHECK(!open_stream(&mine, 0, classes));
	CHECK(command(mine.fd, POSIXTRACE_IOC_ADD, &pid) == -EAGAIN);
	stream_close(&both[0]);
	CHECK(!command(mine.fd, POSIXTRACE_IOC_ADD, &pid));
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, NULL, 0) == pid);
	return 0;
}

TEST_F(limit, add_keeps_it)
{
	classes = variant->classes;
	EXPECT_EQ(0, in_child(add_to_full));
}

/* Streams of root on the process do not count. */
TEST(streams_of_root_take_nothing_from_the_user)
{
	struct stream streams[MOST + 1];
	int talk[2], status;
	pid_t pid;
	char byte;

	classes = POSIXTRACE_CLASS_SCHED;
	ASSERT_EQ(0, pipe(talk));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(talk[1]);
		if (become_user(USER) || read(talk[0], &byte, 1) < 0)
			_exit(1);
		_exit(create_until_limit() ? 2 : 0);
	}
	close(talk[0]);
	EXPECT_EQ(0, open_streams(streams, MOST + 1, pid, classes));
	close(talk[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	for (int i = 0; i <= MOST; i++)
		stream_close(&streams[i]);
}

TEST_HARNESS_MAIN
