// SPDX-License-Identifier: GPL-2.0
/*
 * The library with a module of an older or newer version. Functions that need the module must
 * return ENOTSUP. Trace points must have no effect and no cost.
 */
#define _GNU_SOURCE
#include "no_door.h"
#include "pxt_test.h"
#include "foreign.h"
#include "reading.h"
#include "standin.h"
#include "withlog.h"

FIXTURE(version)
{
	int listener;
	pid_t standin;
};

FIXTURE_VARIANT(version)
{
	__u32 abi_version;
};

FIXTURE_VARIANT_ADD(version, older) { POSIXTRACE_ABI_VERSION - 1 };
FIXTURE_VARIANT_ADD(version, newer) { POSIXTRACE_ABI_VERSION + 1 };
FIXTURE_VARIANT_ADD(version, newest) { ~0U };

/*
 * The filter applies to this process from now on. The process of the stand-in also has the filter,
 * but does not make such calls.
 */
FIXTURE_SETUP(version)
{
	self->listener = refuse_commands(&standin_filter);
	ASSERT_LE(0, self->listener);
	self->standin = fork();
	if (self->standin == 0) {
		standin_run(self->listener, variant->abi_version);
		_exit(0);
	}
	ASSERT_LT(0, self->standin);
}

FIXTURE_TEARDOWN(version)
{
	kill(self->standin, SIGKILL);
	waitpid(self->standin, NULL, 0);
	close(self->listener);
}

TEST_F(version, is_refused)
{
	trace_event_id_t type;
	trace_id_t trid;
	int fd = log_tmpfile();

	EXPECT_EQ(ENOTSUP, posix_trace_create(0, NULL, &trid));
	EXPECT_EQ(ENOTSUP, posix_trace_create_withlog(0, NULL, fd, &trid));
	EXPECT_EQ(ENOTSUP, posix_trace_eventid_open("name", &type));
	EXPECT_EQ(0, count_device_fds(NULL));
	close(fd);
}

/*
 * The first event shuts the gate. A second attempt to attach would hang, because the stand-in is
 * stopped.
 */
TEST_F(version, costs_trace_points_nothing)
{
	errno = 4711;
	record_number(0);
	EXPECT_EQ(4711, errno);
	for (int id = POSIX_TRACE_UNNAMED_USEREVENT; id < POSIXTRACE_ID_MAX; id++)
		ASSERT_EQ(0, __posix_trace_gate[1024 + id]);
	ASSERT_EQ(0, kill(self->standin, SIGSTOP));
	for (int i = 0; i < 1000; i++)
		record_number(i);
	EXPECT_EQ(0, kill(self->standin, SIGCONT));
	EXPECT_EQ(0, count_device_fds(NULL));
	EXPECT_EQ(0, count_device_maps());
}

TEST(own_version_is_used)
{
	struct event event;
	trace_id_t trid;
	int listener = refuse_commands(&standin_filter);
	pid_t standin;

	ASSERT_LE(0, listener);
	standin = fork();
	if (standin == 0) {
		standin_run(listener, POSIXTRACE_ABI_VERSION);
		_exit(0);
	}
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &trid));
	record_number(1);
	EXPECT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	kill(standin, SIGKILL);
	waitpid(standin, NULL, 0);
}

TEST_HARNESS_MAIN
