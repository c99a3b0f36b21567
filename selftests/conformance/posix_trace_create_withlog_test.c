// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_create_withlog(): Documentation/conformance/posix_trace_create_withlog.rst
 */
#define _GNU_SOURCE
#include <sys/mount.h>

#include "pxt_test.h"
#include "stream_state.h"
#include "withlog.h"

/* Value of trid before a call, to see that a failed call does not write it. */
#define UNTOUCHED	4711

FIXTURE(withlog)
{
	trace_attr_t attr;
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(withlog)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	self->trid = UNTOUCHED;
	self->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(withlog)
{
	close(self->fd);
}

TEST_F(withlog, a01_ebadf_for_a_number_out_of_range)
{
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, -1, &self->trid));
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, NULL, INT_MIN, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

TEST_F(withlog, a02_einval_for_uninitialized_attributes)
{
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	memset(&self->attr, 0, sizeof(self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

TEST_F(withlog, a03_einval_for_a_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, NULL));
}

TEST_F(withlog, a04_failed_call_does_not_change_the_file)
{
	ASSERT_EQ(7, write(self->fd, "content", 7));
	ASSERT_EQ(0, posix_trace_attr_destroy(&self->attr));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, NULL, self->fd, NULL));
	EXPECT_EQ(7, lseek(self->fd, 0, SEEK_CUR));
	EXPECT_EQ(7, lseek(self->fd, 0, SEEK_END));
}

TEST_F(withlog, a05_errno_does_not_change)
{
	errno = 4711;
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, -1, &self->trid));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, NULL));
	EXPECT_EQ(4711, errno);
}

TEST_F(withlog, a06_ebadf_for_a_file_not_open_for_writing)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), pipe[2];

	ASSERT_LE(0, fd);
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, NULL, fd, &self->trid));
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, fd, &self->trid));
	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, pipe[0], &self->trid));
	close(pipe[0]);
	close(pipe[1]);
	close(fd);
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, fd, &self->trid));
	EXPECT_EQ(EBADF, posix_trace_create_withlog(0, &self->attr, 1000000, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
}

TEST_F(withlog, a07_acts_as_posix_trace_create)
{
	char name[TRACE_NAME_MAX + 1];
	trace_event_set_t set;
	struct child child;
	trace_attr_t attr;
	size_t size;

	EXPECT_EQ(ESRCH, posix_trace_create_withlog(INT_MAX, NULL, self->fd, &self->trid));
	EXPECT_EQ(EPERM, posix_trace_create_withlog(2, NULL, self->fd, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
	ASSERT_EQ(0, posix_trace_attr_setname(&self->attr, "name"));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 100000));
	ASSERT_EQ(0, child_start(&child, child_record, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, posix_trace_create_withlog(child.pid, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(STATE(SUSPENDED, NOT_FULL), state_of(self->trid));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &set));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	EXPECT_EQ(0, posix_trace_attr_getname(&attr, name));
	EXPECT_STREQ("name", name);
	EXPECT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_LE(100000, size);
	/* The child is the traced process. */
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	EXPECT_EQ(2, let_record(&child, 2));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	child_kill(&child);
	EXPECT_EQ(1, log_has_number(self->fd, 2));
	EXPECT_EQ(0, log_has_number(self->fd, 1));
}

TEST_F(withlog, a08_default_policy_is_flush)
{
	trace_attr_t attr;
	int policy;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, posix_trace_create_withlog(0, i ? &self->attr : NULL, self->fd,
							&self->trid));
		ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
		EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
		EXPECT_EQ(POSIX_TRACE_FLUSH, policy);
		EXPECT_EQ(0, posix_trace_attr_getlogfullpolicy(&attr, &policy));
		EXPECT_EQ(POSIX_TRACE_LOOP, policy);
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	}
}

TEST_F(withlog, a09_log_is_written_to_the_file)
{
	struct log_content content;

	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 100);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 100));
}

TEST_F(withlog, a10_einval_if_the_file_does_not_suit_the_policy)
{
	const int regular_only[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	int pipe[2];

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	/* The default is POSIX_TRACE_LOOP. */
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, NULL, pipe[1], &self->trid));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, regular_only[i]));
		EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, pipe[1],
							     &self->trid));
	}
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_APPEND));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_LOOP));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, NULL, self->fd, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
	EXPECT_EQ(0, lseek(self->fd, 0, SEEK_END));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_UNTIL_FULL));
	EXPECT_EQ(0, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	EXPECT_EQ(0, posix_trace_create_withlog(0, &self->attr, pipe[1], &self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	close(pipe[0]);
	close(pipe[1]);
}

TEST_F(withlog, a11_enospc_if_the_header_does_not_fit)
{
	static const char page[4096];
	char dir[] = "/tmp/diskXXXXXX";
	int fd, other;

	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, mount("none", dir, "tmpfs", 0, "size=8k"));
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	other = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	while (write(other, page, sizeof(page)) > 0)
		;
	EXPECT_EQ(ENOSPC, posix_trace_create_withlog(0, &self->attr, fd, &self->trid));
	EXPECT_EQ(UNTOUCHED, self->trid);
	close(fd);
	close(other);
	EXPECT_EQ(0, umount(dir));
	rmdir(dir);
}

TEST_F(withlog, a12_functions_of_active_streams_accept_the_trace_id)
{
	struct posix_trace_status_info status;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_set_t set;
	trace_event_id_t id;
	int unavailable;

	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, self->fd, &self->trid));
	EXPECT_EQ(0, posix_trace_trid_eventid_open(self->trid, "name", &id));
	EXPECT_EQ(0, posix_trace_eventid_get_name(self->trid, id, name));
	EXPECT_STREQ("name", name);
	EXPECT_EQ(1, posix_trace_eventid_equal(self->trid, id, id));
	EXPECT_EQ(0, posix_trace_eventtypelist_getnext_id(self->trid, &id, &unavailable));
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(self->trid));
	EXPECT_EQ(0, posix_trace_get_attr(self->trid, &self->attr));
	EXPECT_EQ(0, posix_trace_get_filter(self->trid, &set));
	EXPECT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(0, withlog_flush(self->trid));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(withlog, a13_functions_of_logs_reject_the_trace_id)
{
	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, self->fd, &self->trid));
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_close(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(withlog, a14_einval_for_reading_an_active_stream_with_log)
{
	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	EXPECT_EQ(0, withlog_readable(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* The call is interrupted while it waits for the reader of a full pipe. */
TEST_F(withlog, a15_interrupted_call_creates_no_stream)
{
	static const char page[4096];
	static char back[4096];
	int pipe[2];

	ASSERT_EQ(0, pipe2(pipe, O_CLOEXEC));
	ASSERT_LE(0, fcntl(pipe[1], F_SETPIPE_SZ, sizeof(page)));
	ASSERT_EQ((ssize_t)sizeof(page), write(pipe[1], page, sizeof(page)));
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	ASSERT_EQ(0, signals_begin());
	/*
	 * More rounds than there can be streams, so that leaked streams would make a later call
	 * fail.
	 */
	for (int i = 0; i < 40; i++) {
		EXPECT_EQ(EINTR, posix_trace_create_withlog(0, &self->attr, pipe[1],
							    &self->trid));
		EXPECT_EQ(UNTOUCHED, self->trid);
	}
	ASSERT_EQ(0, signals_end());
	ASSERT_EQ((ssize_t)sizeof(back), read(pipe[0], back, sizeof(back)));
	close(pipe[0]);
	close(pipe[1]);
	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, self->fd, &self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

static int log_fd;

static int create_and_end(trace_id_t unused)
{
	trace_id_t trid;
	int err;

	(void)unused;
	err = posix_trace_create_withlog(0, NULL, log_fd, &trid);
	return err ? err : posix_trace_shutdown(trid);
}

TEST_F(withlog, a16_cancelled_thread_leaves_no_stream_behind)
{
	int ret;

	log_fd = self->fd;
	/*
	 * More rounds than there can be streams, so that leaked streams would make a later call
	 * fail.
	 */
	for (int i = 0; i < 40; i++) {
		ret = call_trid_cancelled(create_and_end, 0);
		EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	}
	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, self->fd, &self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/*
 * A LOOP log has space for two sub-buffers, an UNTIL_FULL log for one. With the default sizes of
 * stream and data, a sub-buffer has 12 KiB.
 */
TEST_F(withlog, a17_log_size_is_a_maximum_or_einval)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	const size_t least[] = { 24832, 12344 };
	trace_attr_t granted;
	size_t size;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, policies[i]));
		for (size_t asked = least[i] - 9; asked < least[i] + 9; asked++) {
			int expected = asked < least[i] ? EINVAL : 0;

			ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, asked));
			ASSERT_EQ(expected, posix_trace_create_withlog(0, &self->attr, self->fd,
								       &self->trid));
			if (expected)
				continue;
			ASSERT_EQ(0, posix_trace_get_attr(self->trid, &granted));
			ASSERT_EQ(0, posix_trace_attr_getlogsize(&granted, &size));
			EXPECT_GE(asked, size);
			EXPECT_LT(asked, size + 8);
			EXPECT_EQ(0, posix_trace_shutdown(self->trid));
		}
	}
	ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, POSIX_TRACE_APPEND));
	ASSERT_EQ(0, posix_trace_attr_setlogsize(&self->attr, 0));
	ASSERT_EQ(0, posix_trace_create_withlog(0, &self->attr, self->fd, &self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_HARNESS_MAIN
