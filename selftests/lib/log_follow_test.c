// SPDX-License-Identifier: GPL-2.0
/*
 * Logs that are read while they are being written. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <pthread.h>

#include "pxt_test.h"
#include "log_reading.h"

#define CPUS	3

/* Appends pieces of any length to the log. The reader must get each complete block exactly once. */
TEST(growing)
{
	static const size_t pieces[] = { 1, 7, 64, 129, 1000, 4096 };
	struct log_writer log;
	struct log_sum sum;
	trace_id_t trid;
	__u64 end;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	end = log_epochs(&log, 0, 5, 10);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	for (size_t p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
		unsigned int events = 0;
		size_t len;
		__u64 times = 0;

		fd = log_bytes_file(log.data, LOG_HEADER);
		ASSERT_EQ(0, posix_trace_open(fd, &trid));
		for (len = LOG_HEADER; len < log.len; len += pieces[p]) {
			size_t piece = len + pieces[p] < log.len ? pieces[p] : log.len - len;

			log_sum_rest(trid, &sum);
			ASSERT_EQ(0, sum.err);
			ASSERT_EQ(0, sum.errors);
			ASSERT_EQ(0, sum.wrong);
			ASSERT_EQ(POSIX_TRACE_OVERRUN, sum.status.posix_log_overrun_status);
			events += sum.events;
			times += sum.sum;
			ASSERT_EQ((ssize_t)piece, pwrite(fd, log.data + len, piece, len));
		}
		log_sum_rest(trid, &sum);
		events += sum.events;
		times += sum.sum;
		EXPECT_EQ(end, events);
		EXPECT_EQ(end * (end - 1) / 2, times);
		/* Now the log is complete. */
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_log_overrun_status);
		EXPECT_EQ(0, posix_trace_close(trid));
		close(fd);
	}
	log_free(&log);
}

TEST(later_names)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[32];
	trace_event_id_t id;
	struct log_writer log;
	trace_id_t trid;
	int fd, unavailable;
	size_t written;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	fd = log_file(&log);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	for (int i = 0; i < 9; i++)
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
		EXPECT_NE(0, unavailable);
		EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED + i, name));
		written = log.len;
		snprintf(text, sizeof(text), "number %d", i);
		log_name(&log, LOG_FIRST_NAMED + i, text);
		ASSERT_EQ(0, log_write(&log, fd, written));
		if (i % 2) {
			ASSERT_EQ(0, posix_trace_eventid_get_name(trid, LOG_FIRST_NAMED + i,
								  name));
			EXPECT_STREQ(text, name);
		}
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
		ASSERT_EQ(0, unavailable);
		EXPECT_EQ((trace_event_id_t)LOG_FIRST_NAMED + i, id);
	}
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&log);
}

/* If a log is cleared while it is read, unread events are gone. */
TEST(reset)
{
	struct log_writer log;
	struct event event;
	trace_id_t trid;
	size_t written;
	__u64 end = 0;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	fd = log_file(&log);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	for (int i = 0; i < 20; i++) {
		written = log.len;
		end = log_epochs(&log, 1000 * i, 4, 10);
		ASSERT_EQ(0, log_write(&log, fd, written));
		ASSERT_EQ(1, log_take(trid, &event));
		ASSERT_EQ(1000U * i, log_time(&event));
		written = log.len;
		log_reset(&log);
		ASSERT_EQ(0, log_write(&log, fd, written));
		for (int k = 0; k < i; k++)
			log_take(trid, &event);
		/* A rewind discards the index, so the log is empty now. */
		ASSERT_EQ(0, posix_trace_rewind(trid));
		ASSERT_EQ(0, log_take(trid, &event));
	}
	EXPECT_LT(0, end);
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&log);
}

/* The reader's status may already belong to a later reset than the events that it has read. */
TEST(rewind_starts_after_the_last_known_reset)
{
	struct posix_trace_status_info status;
	struct log_writer log;
	struct event event;
	trace_id_t trid;
	int fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	fd = log_file(&log);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	log_epochs(&log, 1000, 4, 10);
	log_reset(&log);
	log_epochs(&log, 2000, 4, 10);
	log_reset(&log);
	log_epochs(&log, 3000, 4, 10);
	ASSERT_EQ(0, log_write(&log, fd, LOG_HEADER));
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	do {
		ASSERT_EQ(1, log_take(trid, &event));
	} while (log_time(&event) < 2000);
	EXPECT_EQ(2000, log_time(&event));
	ASSERT_EQ(0, posix_trace_rewind(trid));
	ASSERT_EQ(1, log_take(trid, &event));
	EXPECT_EQ(3000, log_time(&event));
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&log);
}

/* ------------------------------------------------------------------ */
/* By another thread							*/

struct writer {
	const struct log_writer *log;
	int fd;
	int done;
	int err;
};

static void *append(void *arg)
{
	struct writer *writer = arg;
	size_t len = LOG_HEADER, piece = 1;
	ssize_t n;

	for (; len < writer->log->len; len += n) {
		if (piece > writer->log->len - len)
			piece = writer->log->len - len;
		n = pwrite(writer->fd, writer->log->data + len, piece, len);
		if (n <= 0) {
			writer->err = errno;
			break;
		}
		piece = piece % 5000 + 37;
	}
	__atomic_store_n(&writer->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST(written_by_another_thread)
{
	unsigned int events = 0, errors = 0;
	struct writer writer = { 0 };
	struct log_writer log;
	struct log_sum sum;
	pthread_t thread;
	trace_id_t trid;
	__u64 end, times = 0;
	int done, fd;

	log_begin(&log, POSIX_TRACE_APPEND, POSIX_TRACE_FLUSH, CPUS, 0);
	end = log_epochs(&log, 0, 100, 40);
	log_end(&log, POSIXTRACE_LOG_END_FINAL);
	fd = log_bytes_file(log.data, LOG_HEADER);
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	writer.log = &log;
	writer.fd = fd;
	ASSERT_EQ(0, pthread_create(&thread, NULL, append, &writer));
	do {
		done = __atomic_load_n(&writer.done, __ATOMIC_ACQUIRE);
		log_sum_rest(trid, &sum);
		ASSERT_EQ(0, sum.err);
		events += sum.events;
		errors += sum.errors + sum.wrong;
		times += sum.sum;
	} while (!done);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, writer.err);
	EXPECT_EQ(end, events);
	EXPECT_EQ(end * (end - 1) / 2, times);
	EXPECT_EQ(0, errors);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, sum.status.posix_log_overrun_status);
	EXPECT_EQ(0, posix_trace_close(trid));
	close(fd);
	log_free(&log);
}

TEST_HARNESS_MAIN
