// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with log, from posix_trace_create_withlog() to reading the log with posix_trace_open().
 */
#define _GNU_SOURCE
#include <pthread.h>

#include <posixtrace.h>

#include "pxt_test.h"
#include "reading.h"
#include "withlog.h"

FIXTURE(withlog)
{
	trace_id_t trid;
	trace_id_t log;
	int fd;
};

FIXTURE_VARIANT(withlog)
{
	struct log_kind kind;
};

FIXTURE_VARIANT_ADD(withlog, loop_into_loop) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 0 }
};

FIXTURE_VARIANT_ADD(withlog, loop_into_until_full) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 0 }
};

FIXTURE_VARIANT_ADD(withlog, loop_into_append) {
	{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 }
};

FIXTURE_VARIANT_ADD(withlog, until_full_into_loop) {
	{ POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 0 }
};

FIXTURE_VARIANT_ADD(withlog, until_full_into_until_full) {
	{ POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_UNTIL_FULL, 0 }
};

FIXTURE_VARIANT_ADD(withlog, until_full_into_append) {
	{ POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0 }
};

FIXTURE_VARIANT_ADD(withlog, flush_into_loop) {
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 0 }
};

FIXTURE_VARIANT_ADD(withlog, flush_into_until_full) {
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 0 }
};

FIXTURE_VARIANT_ADD(withlog, flush_into_append) {
	{ POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 }
};

FIXTURE_SETUP(withlog)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, withlog_new(0, &variant->kind, self->fd, &self->trid));
	self->log = -1;
}

FIXTURE_TEARDOWN(withlog)
{
	posix_trace_shutdown(self->trid);
	posix_trace_close(self->log);
	close(self->fd);
}

/* The contents of an event when the event was recorded. */
struct recorded {
	trace_event_id_t id;
	unsigned long long before;
	unsigned long long after;
	pthread_t thread;
	size_t len;
	unsigned char data[2 * LOG_DATA_SIZE];
};

#define EVENTS	300

struct recording {
	trace_event_id_t ids[2];
	struct recorded events[EVENTS];
};

static void record_all(struct recording *recording)
{
	struct recorded *event;

	for (int i = 0; i < EVENTS; i++) {
		event = &recording->events[i];
		event->id = recording->ids[i % 2];
		event->thread = pthread_self();
		/* Some events have more data than max-data-size. */
		event->len = i % (LOG_DATA_SIZE + 8);
		memset(event->data, i, sizeof(event->data));
		event->before = now();
		posix_trace_event(event->id, event->data, event->len);
		event->after = now();
	}
}

static bool same(const struct event *event, const struct recorded *recorded)
{
	size_t len = recorded->len < LOG_DATA_SIZE ? recorded->len : LOG_DATA_SIZE;

	return event->info.posix_event_id == recorded->id &&
	       event->info.posix_pid == getpid() &&
	       pthread_equal(event->info.posix_thread_id, recorded->thread) &&
	       event_time(event) >= recorded->before && event_time(event) <= recorded->after &&
	       event->len == len && !memcmp(event->data, recorded->data, len) &&
	       event->info.posix_truncation_status == (recorded->len > len ?
						       POSIX_TRACE_TRUNCATED_RECORD :
						       POSIX_TRACE_NOT_TRUNCATED);
}

/* Returns the index of the first event that differs from the recorded one, or EVENTS. */
static int first_difference(trace_id_t log, const struct recording *recording)
{
	struct event event;
	int i;

	for (i = 0; i < EVENTS; i++) {
		do {
			if (read_next(log, &event, sizeof(event.data)) || event.unavailable)
				return i;
		} while (event.info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
		if (!same(&event, &recording->events[i]))
			return i;
	}
	return i;
}

TEST_F(withlog, every_event_is_in_the_log_unchanged)
{
	static struct recording recording;
	struct log_content content;

	ASSERT_EQ(0, posix_trace_eventid_open("even", &recording.ids[0]));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "odd", &recording.ids[1]));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_all(&recording);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	EXPECT_EQ(EVENTS, first_difference(self->log, &recording));
	ASSERT_EQ(0, posix_trace_rewind(self->log));
	log_content_rest(self->log, &content);
	EXPECT_EQ(0, content.err);
	EXPECT_EQ(EVENTS, content.numbers);
	EXPECT_EQ(1, content.starts);
	EXPECT_EQ(1, content.stops);
	EXPECT_EQ(0, content.stops_auto);
	EXPECT_EQ(0, content.errors + content.gaps);
}

TEST_F(withlog, flushes_in_between_do_not_matter)
{
	struct log_content content;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 10; i++) {
		withlog_record(i * 100, 100);
		ASSERT_EQ(0, withlog_flush(self->trid));
		log_content_fd(self->fd, &content);
		EXPECT_TRUE(log_content_is(&content, (i + 1) * 100));
	}
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 1000));
	EXPECT_EQ(10, content.flush_starts);
	EXPECT_EQ(10, content.flush_stops);
	/* The flush of the shutdown has written STOP. */
	EXPECT_EQ(1, content.stops);
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_log_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, content.status.posix_log_full_status);
}

TEST_F(withlog, shutdown_stops_a_running_stream)
{
	struct log_content content;
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 10);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	withlog_record(10, 10);
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 10));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	while (!read_next(self->log, &event, sizeof(event.data)) && !event.unavailable)
		;
	EXPECT_EQ(POSIX_TRACE_STOP, content.last_id);
	EXPECT_EQ(getpid(), event.info.posix_pid);
	EXPECT_EQ(0, content.stops_auto);
}

TEST_F(withlog, log_has_the_attributes_of_the_stream)
{
	char name[TRACE_NAME_MAX + 1], version[TRACE_NAME_MAX + 1];
	char log_version[TRACE_NAME_MAX + 1];
	size_t size, log_size;
	struct timespec time, log_time;
	trace_attr_t attr, log_attr;
	int policy;

	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	ASSERT_EQ(0, posix_trace_get_attr(self->log, &log_attr));
	EXPECT_EQ(0, posix_trace_attr_getstreamfullpolicy(&log_attr, &policy));
	EXPECT_EQ(variant->kind.stream_policy, policy);
	EXPECT_EQ(0, posix_trace_attr_getlogfullpolicy(&log_attr, &policy));
	EXPECT_EQ(variant->kind.log_policy, policy);
	EXPECT_EQ(0, posix_trace_attr_getname(&log_attr, name));
	EXPECT_STREQ("withlog", name);
	EXPECT_EQ(0, posix_trace_attr_getgenversion(&attr, version));
	EXPECT_EQ(0, posix_trace_attr_getgenversion(&log_attr, log_version));
	EXPECT_STREQ(version, log_version);
	EXPECT_EQ(0, posix_trace_attr_getstreamsize(&attr, &size));
	EXPECT_EQ(0, posix_trace_attr_getstreamsize(&log_attr, &log_size));
	EXPECT_EQ(size, log_size);
	EXPECT_EQ(0, posix_trace_attr_getlogsize(&attr, &size));
	EXPECT_EQ(0, posix_trace_attr_getlogsize(&log_attr, &log_size));
	EXPECT_EQ(size, log_size);
	EXPECT_EQ(0, posix_trace_attr_getcreatetime(&attr, &time));
	EXPECT_EQ(0, posix_trace_attr_getcreatetime(&log_attr, &log_time));
	EXPECT_EQ(time.tv_sec, log_time.tv_sec);
	EXPECT_EQ(time.tv_nsec, log_time.tv_nsec);
}

/*
 * Returns the user types in the log with these names, as bits: 1 for "used", 2 for "never
 * recorded", 4 for "late".
 */
static int user_types(trace_id_t log)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	int unavailable, seen = 0;
	trace_event_id_t id;

	for (;;) {
		if (posix_trace_eventtypelist_getnext_id(log, &id, &unavailable))
			return -1;
		if (unavailable)
			return seen;
		if (posix_trace_eventid_get_name(log, id, name))
			return -1;
		if (id <= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		seen |= !strcmp(name, "used") ? 1 : 0;
		seen |= !strcmp(name, "never recorded") ? 2 : 0;
		seen |= !strcmp(name, "late") ? 4 : 0;
	}
}

TEST_F(withlog, all_event_types_are_in_the_log_with_their_names)
{
	trace_event_id_t used, never, late;
	char name[TRACE_EVENT_NAME_MAX + 1];

	ASSERT_EQ(0, posix_trace_eventid_open("used", &used));
	ASSERT_EQ(0, posix_trace_eventid_open("never recorded", &never));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(used, NULL, 0);
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, posix_trace_eventid_open("late", &late));
	posix_trace_event(late, NULL, 0);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	EXPECT_EQ(7, user_types(self->log));
	EXPECT_EQ(0, posix_trace_eventid_get_name(self->log, late, name));
	EXPECT_STREQ("late", name);
	EXPECT_EQ(0, posix_trace_eventid_get_name(self->log, POSIX_TRACE_FLUSH_START, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->log, late + 1, name));
}

TEST_F(withlog, two_opens_of_one_descriptor_read_independently)
{
	struct log_content content;
	struct event a, b;
	trace_id_t other;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 100);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	ASSERT_EQ(0, posix_trace_open(self->fd, &other));
	EXPECT_NE(self->log, other);
	ASSERT_EQ(0, read_next(self->log, &a, sizeof(a.data)));
	ASSERT_EQ(0, read_next(self->log, &a, sizeof(a.data)));
	ASSERT_EQ(0, read_next(other, &b, sizeof(b.data)));
	EXPECT_EQ(POSIX_TRACE_START, b.info.posix_event_id);
	EXPECT_EQ(0, event_number(&a));
	log_content_rest(other, &content);
	EXPECT_TRUE(log_content_is(&content, 100));
	EXPECT_EQ(0, posix_trace_close(other));
	ASSERT_EQ(0, read_next(self->log, &a, sizeof(a.data)));
	EXPECT_EQ(1, event_number(&a));
}

TEST_F(withlog, clear_restarts_stream_and_log)
{
	struct posix_trace_status_info status;
	struct log_content content;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(100, 100);
	ASSERT_EQ(0, withlog_flush(self->trid));
	withlog_record(200, 100);
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 0));
	withlog_record(0, 50);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 50));
	/* Each event type in the log has a name, though it was known before the clear. */
	ASSERT_EQ(0, posix_trace_open(self->fd, &self->log));
	EXPECT_LT(0, user_types(self->log) + 1);
}

/*
 * The log must have no gap from before it was cleared. The file or the ring may restart, or the
 * reader may have to skip the old part.
 */
TEST(log_has_no_gap_from_before_it_was_cleared)
{
	static const struct log_kind kinds[] = {
		{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 },
		{ POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1 << 20 },
		{ POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 },
	};
	struct log_content content;
	trace_id_t trid;
	int fd;

	for (int i = 0; i < 3; i++) {
		fd = log_tmpfile();
		ASSERT_LE(0, fd);
		if (i == 2)
			ASSERT_EQ(0, fcntl(fd, F_SETFL, O_APPEND));
		ASSERT_EQ(0, withlog_start(&kinds[i], fd, &trid));
		withlog_record(0, 20000);
		ASSERT_EQ(0, withlog_flush(trid));
		log_content_fd(fd, &content);
		EXPECT_LT(0, content.gaps);
		ASSERT_EQ(0, posix_trace_clear(trid));
		withlog_record(0, 10);
		ASSERT_EQ(0, posix_trace_shutdown(trid));
		log_content_fd(fd, &content);
		EXPECT_TRUE(log_content_is(&content, 10)) {
			TH_LOG("kind %d: %d numbers, %d gaps", i, content.numbers, content.gaps);
		}
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, content.status.posix_stream_overrun_status);
		close(fd);
	}
}

TEST_F(withlog, events_can_be_read_from_the_log_only)
{
	const struct timespec epoch = { 0, 0 };
	struct posixtrace_batch_event batch;
	struct posixtrace_stats_info stats;
	struct log_content content;
	struct event event;
	size_t count;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 10);
	EXPECT_EQ(EINVAL, read_next(self->trid, &event, sizeof(event.data)));
	EXPECT_EQ(EINVAL, read_try(self->trid, &event, sizeof(event.data)));
	EXPECT_EQ(EINVAL, read_timed(self->trid, &event, sizeof(event.data), &epoch));
	EXPECT_EQ(EINVAL, posixtrace_getevents(self->trid, &batch, 1, NULL, 0, &count, 0));
	EXPECT_EQ(EINVAL, posix_trace_rewind(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_close(self->trid));
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(10, stats.recorded);
	EXPECT_EQ(0, stats.read);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 10));
}

TEST_F(withlog, filter_keeps_events_out_of_the_log)
{
	struct log_content content;
	trace_event_set_t set;
	trace_event_id_t id;

	ASSERT_EQ(0, posix_trace_eventid_open("unwanted", &id));
	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, posix_trace_eventset_add(id, &set));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 10);
	posix_trace_event(id, &set, 4);
	withlog_record(10, 10);
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 20));
}

/* ------------------------------------------------------------------ */
/* Errors and granted attributes					*/

FIXTURE(refusal)
{
	trace_id_t trid;
	trace_attr_t attr;
	int fd;
};

FIXTURE_SETUP(refusal)
{
	self->trid = 4711;
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
}

FIXTURE_TEARDOWN(refusal)
{
	close(self->fd);
}

/*
 * If the log was a file of /proc, a kernel thread would write to it, without the permission checks
 * of the user.
 */
TEST_F(refusal, einval_for_a_file_of_proc)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };
	char before[65] = "", after[65] = "";
	int fd = open("/proc/sys/kernel/hostname", O_WRONLY | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EROFS))
		SKIP(return, "may not be written");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, gethostname(before, sizeof(before) - 1));
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		ASSERT_EQ(0, posix_trace_attr_setlogfullpolicy(&self->attr, policies[i]));
		EXPECT_EQ(EINVAL, posix_trace_create_withlog(0, &self->attr, fd, &self->trid));
	}
	ASSERT_EQ(0, gethostname(after, sizeof(after) - 1));
	EXPECT_STREQ(before, after);
	close(fd);
}

TEST_F(refusal, descriptor_can_be_closed_and_its_offset_does_not_change)
{
	struct log_content content;
	int copy = dup(self->fd);

	ASSERT_LE(0, copy);
	ASSERT_EQ(7, write(self->fd, "content", 7));
	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, copy, &self->trid));
	close(copy);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	withlog_record(0, 100);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(7, lseek(self->fd, 0, SEEK_CUR));
	log_content_fd(self->fd, &content);
	EXPECT_TRUE(log_content_is(&content, 100));
}

/* The old contents of the file must not reappear as events. */
TEST_F(refusal, file_can_have_been_a_longer_log)
{
	const struct log_kind kinds[] = {
		{ POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 0 },
		{ POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP, 0 },
		{ POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0 },
	};
	struct log_content content;

	for (int i = 0; i < 6; i++) {
		ASSERT_EQ(0, withlog_start(&kinds[i % 3], self->fd, &self->trid));
		withlog_record(0, 600 - 100 * i);
		ASSERT_EQ(0, posix_trace_shutdown(self->trid));
		log_content_fd(self->fd, &content);
		EXPECT_TRUE(log_content_is(&content, 600 - 100 * i)) {
			TH_LOG("round %d: %d numbers, %d errors, %d gaps, err %d", i,
			       content.numbers, content.errors, content.gaps, content.err);
		}
	}
}

TEST_HARNESS_MAIN
