// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_create() and posix_trace_get_attr(): granted attributes and errors.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "trace_test.h"

FIXTURE(create)
{
	trace_attr_t attr;
	trace_id_t trid;
};

FIXTURE_SETUP(create)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	self->trid = 4711;
}

FIXTURE_TEARDOWN(create)
{
	posix_trace_attr_destroy(&self->attr);
}

TEST_F(create, pid_0_is_the_caller)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(getpid(), event.info.posix_pid);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, own_pid_is_the_caller)
{
	struct event event;

	ASSERT_EQ(0, posix_trace_create(getpid(), &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	EXPECT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, new_stream_is_suspended_and_not_full)
{
	struct posix_trace_status_info status;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	memset(&status, 0xff, sizeof(status));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FLUSHING, status.posix_stream_flush_status);
	EXPECT_EQ(0, status.posix_stream_flush_error);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_log_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_log_overrun_status);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, without_attributes_has_the_defaults)
{
	trace_attr_t attr;
	size_t size;
	int policy;

	ASSERT_EQ(0, posix_trace_create(0, NULL, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_LE(256 << 10, size);
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(1024, size);
	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_LOOP, policy);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, attributes_are_the_given_ones)
{
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t size;
	int policy;

	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "given"));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 100000));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 333));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getname(&attr, name));
	EXPECT_STREQ("given", name);
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_LE(100000, size);
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(333, size);
	ASSERT_EQ(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_UNTIL_FULL, policy);
	ASSERT_EQ(0, posix_trace_attr_getinherited(&attr, &policy));
	EXPECT_EQ(POSIX_TRACE_CLOSE_FOR_CHILD, policy);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, attributes_are_copied)
{
	trace_attr_t attr;
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 333));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 444));
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&attr, &size));
	EXPECT_EQ(333, size);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, creation_time_is_that_of_the_call)
{
	unsigned long long before, created;
	struct timespec time;
	trace_attr_t attr;

	before = now();
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getcreatetime(&attr, &time));
	created = time.tv_sec * NSEC + time.tv_nsec;
	EXPECT_LE(before, created);
	EXPECT_GE(now(), created);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, small_size_is_rounded_up_and_reported)
{
	trace_attr_t attr;
	size_t size;

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 1));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_LT(4096, size);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(create, attributes_of_a_stream_make_another)
{
	trace_attr_t attr;
	trace_id_t other;

	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	EXPECT_EQ(0, posix_trace_create(0, &attr, &other));
	EXPECT_NE(self->trid, other);
	EXPECT_EQ(0, posix_trace_shutdown(other));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* ------------------------------------------------------------------ */
/* Errors								*/

TEST_F(create, flush_needs_a_log)
{
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&self->attr, POSIX_TRACE_FLUSH));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(4711, self->trid);
}

TEST_F(create, destroyed_attributes_are_invalid)
{
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, &self->trid));
	EXPECT_EQ(4711, self->trid);
}

TEST_F(create, result_must_not_be_null)
{
	EXPECT_EQ(EINVAL, posix_trace_create(0, &self->attr, NULL));
}

TEST_F(create, missing_process)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	child_kill(&child);
	EXPECT_EQ(ESRCH, posix_trace_create(child.pid, &self->attr, &self->trid));
	EXPECT_EQ(4711, self->trid);
	EXPECT_EQ(ESRCH, posix_trace_create(0x7fffffff, &self->attr, &self->trid));
	EXPECT_EQ(ESRCH, posix_trace_create(-1, &self->attr, &self->trid));
}

TEST_F(create, bad_attributes_precede_the_missing_process)
{
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create(0x7fffffff, &self->attr, &self->trid));
}

static int create_on_init(void *arg, const struct talk *talk)
{
	trace_id_t trid;

	(void)arg;
	(void)talk;
	return setgid(65534) || setuid(65534) ? 255 : posix_trace_create(1, NULL, &trid);
}

TEST_F(create, process_of_another_user_is_not_permitted)
{
	struct child child;

	ASSERT_EQ(0, child_start(&child, create_on_init, NULL));
	EXPECT_EQ(EPERM << 8, child_wait(&child));
}

TEST_F(create, one_process_has_32_streams_at_most)
{
	trace_id_t trid[33];

	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 8192));
	for (int i = 0; i < 32; i++)
		ASSERT_EQ(0, posix_trace_create(0, &self->attr, &trid[i]));
	EXPECT_EQ(EAGAIN, posix_trace_create(0, &self->attr, &trid[32]));
	EXPECT_EQ(0, posix_trace_shutdown(trid[3]));
	EXPECT_EQ(0, posix_trace_create(0, &self->attr, &trid[3]));
	for (int i = 0; i < 32; i++)
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
}

TEST_HARNESS_MAIN
