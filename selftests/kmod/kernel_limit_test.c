// SPDX-License-Identifier: GPL-2.0
/*
 * The limit on streams with kernel events that trace one process. Each of them costs time whenever
 * another process wakes one of its threads, or the scheduler switches to it.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "credentials.h"
#include "process.h"
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

/* Ends a case that runs as USER; the line tells which check failed. */
#define CHECK(expression) \
	do { \
		if (!(expression)) { \
			fprintf(stderr, "# failed: line %d\n", __LINE__); \
			return 1; \
		} \
	} while (0)

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

/* Begins when the parent says so. */
static int create_until_limit(void *arg, const struct talk *talk)
{
	const uint32_t classes = *(const uint32_t *)arg;
	struct stream streams[MOST], more;

	CHECK(!become_user(USER));
	CHECK(!hear(talk));
	CHECK(!open_streams(streams, MOST, 0, classes));
	CHECK(open_stream(&more, 0, classes) == -EAGAIN);
	CHECK(!open_stream(&more, 0, 0));
	stream_close(&streams[0]);
	CHECK(!open_stream(&streams[0], 0, classes));
	return 0;
}

TEST_F(limit, a_user_has_four_streams_with_kernel_events_on_a_process)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, create_until_limit, (void *)&variant->classes));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(limit, cap_sys_resource_lifts_it)
{
	struct stream streams[MOST + 1];

	EXPECT_EQ(0, open_streams(streams, MOST + 1, 0, variant->classes));
	for (int i = 0; i <= MOST; i++)
		stream_close(&streams[i]);
}

/* A stream has the same slot in all its processes, so other streams must leave it free. */
static int add_to_full(void *arg, const struct talk *talk)
{
	const uint32_t classes = *(const uint32_t *)arg;
	struct stream both[MOST - 1], none, its, mine;
	struct child child;

	(void)talk;
	CHECK(!become_user(USER));
	CHECK(!child_start(&child, child_idle, NULL));
	CHECK(!hear(&child.talk));
	CHECK(!open_streams(both, MOST - 1, 0, classes));
	for (int i = 0; i < MOST - 1; i++)
		CHECK(!command(both[i].fd, POSIXTRACE_IOC_ADD, &child.pid));
	CHECK(!open_stream(&none, 0, 0));
	CHECK(!open_stream(&its, child.pid, classes));
	CHECK(!open_stream(&mine, 0, classes));
	CHECK(command(mine.fd, POSIXTRACE_IOC_ADD, &child.pid) == -EAGAIN);
	stream_close(&both[0]);
	CHECK(!command(mine.fd, POSIXTRACE_IOC_ADD, &child.pid));
	child_wait(&child);
	return 0;
}

TEST_F(limit, add_keeps_it)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, add_to_full, (void *)&variant->classes));
	EXPECT_EQ(0, child_wait(&child));
}

/* Streams of root on the process do not count. */
TEST(streams_of_root_take_nothing_from_the_user)
{
	uint32_t classes = POSIXTRACE_CLASS_SCHED;
	struct stream streams[MOST + 1];
	struct child child;

	ASSERT_EQ(0, child_start(&child, create_until_limit, &classes));
	EXPECT_EQ(0, open_streams(streams, MOST + 1, child.pid, classes));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	for (int i = 0; i <= MOST; i++)
		stream_close(&streams[i]);
}

TEST_HARNESS_MAIN
