// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_open(): Documentation/conformance/posix_trace_open.rst
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include "pxt_test.h"
#include "stream_state.h"
#include "log_reading.h"

/* Value of trid before a call, to see that a failed call does not write it. */
#define UNTOUCHED	4711

TEST(a01_ebadf_for_a_number_out_of_range)
{
	trace_id_t trid = UNTOUCHED;

	EXPECT_EQ(EBADF, posix_trace_open(-1, &trid));
	EXPECT_EQ(EBADF, posix_trace_open(INT_MIN, &trid));
	EXPECT_EQ(UNTOUCHED, trid);
}

TEST(a02_einval_for_a_null_result)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(EINVAL, posix_trace_open(fd, NULL));
	close(fd);
}

/* Whatever the error, a file that is not a log yields no trace id. */
TEST(a03_result_is_written_only_on_success)
{
	trace_id_t trid = UNTOUCHED;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_NE(0, posix_trace_open(fd, &trid));
	EXPECT_EQ(UNTOUCHED, trid);
	close(fd);
}

TEST(a04_errno_does_not_change)
{
	trace_id_t trid;

	errno = 4711;
	EXPECT_EQ(EBADF, posix_trace_open(-1, &trid));
	EXPECT_EQ(4711, errno);
}

/* ------------------------------------------------------------------ */
/* Logs									*/

FIXTURE(open)
{
	struct log_writer log;
	int fd;
};

FIXTURE_SETUP(open)
{
	log_begin(&self->log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, 2, 0);
	log_name(&self->log, LOG_FIRST_NAMED, "named");
	log_epochs(&self->log, 0, 2, 50);
	log_end(&self->log, POSIXTRACE_LOG_END_FINAL);
	self->fd = log_file(&self->log);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(open)
{
	close(self->fd);
	log_free(&self->log);
}

TEST_F(open, a05_ebadf_for_a_file_not_open_for_reading)
{
	trace_id_t trid = UNTOUCHED;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(EBADF, posix_trace_open(fd, &trid));
	close(fd);
	EXPECT_EQ(EBADF, posix_trace_open(fd, &trid));
	EXPECT_EQ(UNTOUCHED, trid);
}

TEST_F(open, a06_einval_without_a_log)
{
	trace_id_t trid = UNTOUCHED;
	struct log_sum sum;
	char text[4096];
	int fd;

	memset(text, 'x', sizeof(text));
	log_sum_bytes(text, sizeof(text), &sum);
	EXPECT_EQ(EINVAL, sum.err);
	log_sum_bytes(self->log.data, 0, &sum);
	EXPECT_EQ(EINVAL, sum.err);
	log_sum_bytes(self->log.data, LOG_HEADER - 1, &sum);
	EXPECT_EQ(EINVAL, sum.err);
	self->log.data[100] ^= 1;
	log_sum_log(&self->log, &sum);
	EXPECT_EQ(EINVAL, sum.err);
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	EXPECT_EQ(EINVAL, posix_trace_open(fd, &trid));
	EXPECT_EQ(UNTOUCHED, trid);
	close(fd);
}

TEST_F(open, a07_trace_id_of_the_log)
{
	trace_id_t trid = UNTOUCHED;
	struct log_sum sum;

	ASSERT_EQ(0, posix_trace_open(self->fd, &trid));
	EXPECT_NE(UNTOUCHED, trid);
	log_sum_rest(trid, &sum);
	EXPECT_EQ(200, sum.events);
	EXPECT_EQ(0, sum.wrong);
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(open, a08_first_event_is_the_oldest)
{
	struct event event;
	trace_id_t trid;

	/* The file offset does not matter. */
	ASSERT_LT(0, lseek(self->fd, -10, SEEK_END));
	ASSERT_EQ(0, posix_trace_open(self->fd, &trid));
	EXPECT_EQ(1, log_take(trid, &event));
	EXPECT_EQ(0, log_time(&event));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(open, a09_functions_of_logs_accept_the_trace_id)
{
	struct posix_trace_status_info status;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	struct event event;
	trace_attr_t attr;
	trace_id_t trid;
	int unavailable;

	ASSERT_EQ(0, posix_trace_open(self->fd, &trid));
	EXPECT_EQ(1, posix_trace_eventid_equal(trid, 65, 65));
	EXPECT_EQ(0, posix_trace_eventid_get_name(trid, 65, name));
	EXPECT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	EXPECT_EQ(0, posix_trace_eventtypelist_rewind(trid));
	EXPECT_EQ(0, posix_trace_get_attr(trid, &attr));
	EXPECT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(1, log_take(trid, &event));
	EXPECT_EQ(0, posix_trace_rewind(trid));
	EXPECT_EQ(0, posix_trace_close(trid));
}

TEST_F(open, a10_functions_of_controllers_reject_the_trace_id)
{
	trace_event_set_t set = { 0 };
	trace_event_id_t id;
	struct log_sum sum;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_open(self->fd, &trid));
	EXPECT_EQ(EINVAL, posix_trace_start(trid));
	EXPECT_EQ(EINVAL, posix_trace_stop(trid));
	EXPECT_EQ(EINVAL, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_clear(trid));
	EXPECT_EQ(EINVAL, posix_trace_flush(trid));
	EXPECT_EQ(EINVAL, posix_trace_get_filter(trid, &set));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(EINVAL, posix_trace_trid_eventid_open(trid, "name", &id));
	log_sum_rest(trid, &sum);
	EXPECT_EQ(200, sum.events);
	EXPECT_EQ(0, posix_trace_close(trid));
}

static int read_in_child(void *arg, const struct talk *talk)
{
	struct log_sum sum;

	(void)talk;
	log_sum_fd(*(int *)arg, &sum);
	return sum.err || sum.events != 200;
}

TEST_F(open, a11_can_be_opened_many_times_in_any_process)
{
	trace_id_t trid[50];
	struct log_sum sum;
	struct child child;

	for (int i = 0; i < 50; i++)
		ASSERT_EQ(0, posix_trace_open(self->fd, &trid[i]));
	ASSERT_EQ(0, child_start(&child, read_in_child, &self->fd));
	for (int i = 49; i >= 0; i--) {
		log_sum_rest(trid[i], &sum);
		EXPECT_EQ(200, sum.events);
		EXPECT_EQ(0, posix_trace_close(trid[i]));
	}
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(open, a12_truncated_and_damaged_logs)
{
	/*
	 * Keep the name, two blocks of fifty events, and a part of the third block, which is then
	 * cut off.
	 */
	size_t block = LOG_BLOCK + sizeof(struct posixtrace_writer) +
		       50 * POSIXTRACE_RECORD_STEP(8);
	size_t len = LOG_HEADER + LOG_BLOCK + 72 + 2 * block + 100;
	struct log_sum sum;

	log_sum_bytes(self->log.data, len, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(100, sum.events);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
	self->log.data[LOG_HEADER + 1000] ^= 1;
	log_sum_log(&self->log, &sum);
	EXPECT_EQ(0, sum.err);
	EXPECT_EQ(1, sum.errors);
	EXPECT_EQ(150, sum.events);
	EXPECT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
}

TEST_F(open, a13_is_not_interrupted)
{
	int before = signals_handled;
	trace_id_t trid;

	ASSERT_EQ(0, signals_begin());
	while (signals_handled < before + 50) {
		ASSERT_EQ(0, posix_trace_open(self->fd, &trid));
		ASSERT_EQ(0, posix_trace_close(trid));
	}
	EXPECT_EQ(0, signals_end());
}

static int opened_by_call;

static int open_cancelled(trace_id_t fd)
{
	trace_id_t trid;
	int err = posix_trace_open(fd, &trid);

	if (!err)
		__atomic_store_n(&opened_by_call, trid, __ATOMIC_RELEASE);
	return err;
}

static int free_descriptor(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);

	close(fd);
	return fd;
}

TEST_F(open, a14_cancelled_thread_leaves_nothing_behind)
{
	int before = free_descriptor();
	int ret = call_trid_cancelled(open_cancelled, self->fd);

	EXPECT_TRUE(ret == 0 || ret == -ECANCELED);
	if (opened_by_call)
		EXPECT_EQ(0, posix_trace_close(opened_by_call));
	EXPECT_EQ(before, free_descriptor());
	/* The function still works, so the cancelled thread has left no lock held. */
	EXPECT_EQ(0, open_cancelled(self->fd));
	EXPECT_EQ(0, posix_trace_close(opened_by_call));
}

TEST_HARNESS_MAIN
