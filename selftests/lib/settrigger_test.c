// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_settrigger() and posixtrace_get_triggered(). kmod/trigger_test checks the conditions
 * themselves.
 */
#define _GNU_SOURCE
#include <poll.h>

#include <posixtrace.h>

#include "pxt_test.h"
#include "kernel_events.h"
#include "process.h"
#include "withlog.h"

FIXTURE(triggers)
{
	struct child child;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(triggers)
{
	self->fd = log_tmpfile();
	ASSERT_EQ(0, child_start(&self->child, child_idle, NULL));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, kernel_withlog(self->child.pid, POSIXTRACE_CLASS_SCHED, 1 << 20,
				    POSIX_TRACE_APPEND, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(triggers)
{
	posix_trace_shutdown(self->trid);
	child_kill(&self->child);
	close(self->fd);
}

static int poll_priority(trace_id_t trid, int timeout)
{
	struct pollfd fd = { .fd = posixtrace_fd(trid), .events = POLLPRI };

	return poll(&fd, 1, timeout) < 0 ? -errno : fd.revents;
}

/* Wakes the child, and wakes it again after it has slept for at least two milliseconds. */
static void let_wait(const struct child *child)
{
	say(&child->talk, 0);
	while (!is_asleep(child->pid))
		sched_yield();
	usleep(2000);
	say(&child->talk, 0);
}

TEST_F(triggers, condition_is_reported_once)
{
	static const struct posixtrace_trigger_info none;
	struct posixtrace_trigger_info info;
	unsigned long long before = now(), time;

	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 1000000, 0));
	EXPECT_EQ(0, poll_priority(self->trid, 0));
	let_wait(&self->child);
	EXPECT_EQ(POLLPRI, poll_priority(self->trid, -1));
	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 0, 0));
	EXPECT_EQ(0, poll_priority(self->trid, 0));

	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 1000000, 0));
	let_wait(&self->child);
	EXPECT_EQ(POLLPRI, poll_priority(self->trid, -1));
	ASSERT_EQ(0, posixtrace_get_triggered(self->trid, &info));
	time = info.time.tv_sec * NSEC + info.time.tv_nsec;
	EXPECT_LE(1, info.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_BLOCKED, info.kind);
	EXPECT_EQ(self->child.pid, info.pid);
	EXPECT_EQ(self->child.pid, info.tid);
	EXPECT_LT(1000000, info.duration);
	EXPECT_TRUE(before < time && time <= now());
	ASSERT_EQ(0, posixtrace_settrigger(self->trid, 0, 0));
	ASSERT_EQ(0, posixtrace_get_triggered(self->trid, &info));
	EXPECT_EQ(0, memcmp(&none, &info, sizeof(info)));
}

TEST_F(triggers, errors)
{
	struct posixtrace_trigger_info info;
	trace_id_t plain;

	EXPECT_EQ(EINVAL, posixtrace_settrigger(self->trid + 1, 1, 1));
	EXPECT_EQ(EINVAL, posixtrace_get_triggered(self->trid + 1, &info));
	EXPECT_EQ(EINVAL, posixtrace_get_triggered(self->trid, NULL));
	ASSERT_EQ(0, posix_trace_create(0, NULL, &plain));
	EXPECT_EQ(ENOTSUP, posixtrace_settrigger(plain, 1, 1));
	EXPECT_EQ(ENOTSUP, posixtrace_get_triggered(plain, &info));
	posix_trace_shutdown(plain);
}

TEST_HARNESS_MAIN
