// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_setwindow(): events are held back until their order is certain, or until something
 * ends the wait.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "polling.h"
#include "pxt_test.h"
#include "reading.h"
#include "writer.h"

#define WINDOW		(NSEC / 4)
#define LONG		(10 * NSEC)

/* Returns true if the window has passed since the time of the event. */
static bool is_due(const struct event *event)
{
	return now() >= event_time(event) + WINDOW;
}

FIXTURE(window)
{
	trace_id_t trid;
	struct event event;
	struct reader reader;
};

/* The stream is running, and START was read. */
FIXTURE_SETUP(window)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(window)
{
	posix_trace_shutdown(self->trid);
}

/* ------------------------------------------------------------------ */
/* Reading								*/

TEST_F(window, default_is_none)
{
	record_number(1);
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(1, event_number(&self->event));
	EXPECT_GT(event_time(&self->event) + LONG, now());
}

TEST_F(window, functions_that_do_not_wait_find_no_event_before_it_has_passed)
{
	struct posixtrace_batch_event batch;
	size_t count = 1;

	ASSERT_EQ(0, posixtrace_setwindow(self->trid, WINDOW));
	record_number(1);
	EXPECT_EQ(0, take(self->trid, &self->event));
	EXPECT_EQ(1, self->event.unavailable);
	ASSERT_EQ(0, posixtrace_getevents(self->trid, &batch, 1, NULL, 0, &count,
					  POSIXTRACE_NOWAIT));
	EXPECT_EQ(0, count);
	EXPECT_EQ(POLLIN, poll_say(posixtrace_fd(self->trid), -1));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(1, event_number(&self->event));
	EXPECT_TRUE(is_due(&self->event));
}

TEST_F(window, reader_waits_until_it_has_passed)
{
	struct posixtrace_batch_event batch;
	size_t count;

	ASSERT_EQ(0, posixtrace_setwindow(self->trid, WINDOW));
	record_number(1);
	ASSERT_EQ(0, read_next(self->trid, &self->event, sizeof(int)));
	EXPECT_EQ(1, event_number(&self->event));
	EXPECT_TRUE(is_due(&self->event));
	/* Here the reader sleeps before the event is recorded. */
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	record_number(2);
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(2, event_number(&self->reader.event));
	EXPECT_TRUE(is_due(&self->reader.event));
	record_number(3);
	ASSERT_EQ(0, posixtrace_getevents(self->trid, &batch, 1, NULL, 0, &count, 0));
	ASSERT_EQ(1, count);
	self->event.info = batch.event;
	EXPECT_TRUE(is_due(&self->event));
	EXPECT_EQ(0, batch.flags);
}

TEST_F(window, deadline_is_kept)
{
	struct timespec deadline;

	ASSERT_EQ(0, posixtrace_setwindow(self->trid, LONG));
	record_number(1);
	clock_gettime(CLOCK_REALTIME, &deadline);
	EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, sizeof(int), &deadline));
	deadline.tv_nsec += 20000000;
	deadline.tv_sec += deadline.tv_nsec / NSEC;
	deadline.tv_nsec %= NSEC;
	EXPECT_EQ(ETIMEDOUT, read_timed(self->trid, &self->event, sizeof(int), &deadline));
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, WINDOW));
	deadline.tv_sec += 3600;
	ASSERT_EQ(0, read_timed(self->trid, &self->event, sizeof(int), &deadline));
	EXPECT_EQ(1, event_number(&self->event));
	EXPECT_TRUE(is_due(&self->event));
}

TEST_F(window, each_of_several_readers_gets_its_event)
{
	struct reader second;

	ASSERT_EQ(0, posixtrace_setwindow(self->trid, WINDOW));
	record_number(1);
	record_number(2);
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	ASSERT_EQ(0, reader_start(&second, self->trid, NULL));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(0, reader_end(&second));
	EXPECT_EQ(3, event_number(&self->reader.event) + event_number(&second.event));
	EXPECT_TRUE(is_due(&self->reader.event));
	EXPECT_TRUE(is_due(&second.event));
}

TEST_F(window, cancelled_reader_loses_no_event)
{
	PXT_CANCELS_A_THREAD;
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, LONG));
	record_number(1);
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	ASSERT_EQ(0, pthread_cancel(self->reader.thread));
	ASSERT_EQ(0, pthread_join(self->reader.thread, NULL));
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, 0));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(1, event_number(&self->event));
}

TEST_F(window, shorter_one_applies_to_readers_that_wait)
{
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, LONG));
	record_number(1);
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, 0));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(1, event_number(&self->reader.event));
	EXPECT_GT(event_time(&self->reader.event) + LONG, now());
}

/* ------------------------------------------------------------------ */
/* Polling								*/

TEST_F(window, descriptor_is_not_readable_before_it_has_passed)
{
	int epfd = epoll_with(posixtrace_fd(self->trid), EPOLLIN);

	ASSERT_LE(0, epfd);
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, WINDOW));
	for (int i = 0; i < 2; i++) {
		record_number(i);
		/* The stream does not know that the event is held back until this call. */
		EXPECT_EQ(0, take(self->trid, &self->event));
		EXPECT_EQ(0, poll_say(posixtrace_fd(self->trid), 0));
		EXPECT_EQ(0, epoll_say(epfd, 0));
		if (i)
			EXPECT_EQ(POLLIN, poll_say(posixtrace_fd(self->trid), -1));
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_TRUE(is_due(&self->event));
		EXPECT_EQ(0, poll_say(posixtrace_fd(self->trid), 0));
	}
	close(epfd);
}

TEST_F(window, edge_triggered_poller_gets_an_edge_when_it_has_passed)
{
	int epfd = epoll_with(posixtrace_fd(self->trid), EPOLLIN | EPOLLET);
	int number = 0, recorded = 0;

	ASSERT_LE(0, epfd);
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, WINDOW));
	/* Each edge except the first is caused by the end of an event's window. */
	record_number(recorded++);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
	EXPECT_EQ(0, take(self->trid, &self->event));
	while (number < 3) {
		record_number(recorded++);
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
		while (take(self->trid, &self->event) == 1) {
			EXPECT_EQ(number++, event_number(&self->event));
			EXPECT_TRUE(is_due(&self->event));
		}
	}
	close(epfd);
}

/* ------------------------------------------------------------------ */
/* What ends it								*/

TEST_F(window, stop_releases_all_events)
{
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, LONG));
	record_number(1);
	record_number(2);
	EXPECT_EQ(0, take(self->trid, &self->event));
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(1, event_number(&self->reader.event));
	EXPECT_EQ(POLLIN, poll_say(posixtrace_fd(self->trid), 0));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(2, event_number(&self->event));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_STOP, self->event.info.posix_event_id);
	/* The window also holds back events after a restart. */
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(window, end_of_the_last_process_releases_all_events)
{
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, record_on_request, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(1, take(trid, &self->event));
	ASSERT_EQ(0, posixtrace_setwindow(trid, LONG));
	say(&child.talk, 1);
	ASSERT_EQ(1, hear(&child.talk));
	say(&child.talk, 2);
	ASSERT_EQ(2, hear(&child.talk));
	EXPECT_EQ(0, take(trid, &self->event));
	EXPECT_EQ(0, poll_say(posixtrace_fd(trid), 0));
	ASSERT_EQ(0, reader_start(&self->reader, trid, NULL));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, reader_end(&self->reader));
	EXPECT_EQ(1, event_number(&self->reader.event));
	EXPECT_EQ(POLLIN | POLLHUP, poll_say(posixtrace_fd(trid), 0));
	ASSERT_EQ(1, take(trid, &self->event));
	EXPECT_EQ(2, event_number(&self->event));
	EXPECT_EQ(POLLHUP, poll_say(posixtrace_fd(trid), 0));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(window, full_stream_releases_all_events)
{
	trace_id_t trid;
	int number = 0;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posixtrace_setwindow(trid, LONG));
	ASSERT_EQ(0, posix_trace_start(trid));
	EXPECT_EQ(0, take(trid, &self->event));
	for (int i = 0; i < 100000; i++)
		record_number(i);
	EXPECT_EQ(POLLIN, poll_say(posixtrace_fd(trid), 0));
	ASSERT_EQ(1, take(trid, &self->event));
	EXPECT_EQ(POSIX_TRACE_START, self->event.info.posix_event_id);
	do {
		ASSERT_EQ(1, take(trid, &self->event));
		if (self->event.info.posix_event_id == POSIX_TRACE_STOP)
			break;
		ASSERT_EQ(number++, event_number(&self->event));
	} while (number < 100000);
	EXPECT_EQ(POSIX_TRACE_STOP, self->event.info.posix_event_id);
	EXPECT_LT(0, number);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(window, clear_forgets_events_that_are_held_back)
{
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, WINDOW));
	record_number(1);
	EXPECT_EQ(0, take(self->trid, &self->event));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	record_number(2);
	ASSERT_EQ(0, read_next(self->trid, &self->event, sizeof(int)));
	EXPECT_EQ(2, event_number(&self->event));
	EXPECT_TRUE(is_due(&self->event));
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(window, shutdown_ends_readers_that_wait)
{
	ASSERT_EQ(0, posixtrace_setwindow(self->trid, LONG));
	record_number(1);
	ASSERT_EQ(0, reader_start(&self->reader, self->trid, NULL));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(EINVAL, reader_end(&self->reader));
}

/* ------------------------------------------------------------------ */
/* A delayed processor							*/

/* Requests to the writer. */
enum request {
	READ_CLOCK,	/* read the clock on CPU 0 */
	RECORD_YOUNG,	/* record an event on CPU 1 */
	COMMIT_OLD,	/* commit an event on CPU 0, with the time that was read */
};

#define OLD	10
#define YOUNG	11

static int write_number(struct writer *writer, int cpu, unsigned long long time, int number)
{
	if (run_on(cpu) < 0)
		return -1;
	return writer_event_at(writer, time, POSIX_TRACE_UNNAMED_USEREVENT, &number,
			       sizeof(number));
}

/* A child function: writes to sub-buffers of two CPUs, with delays. Never calls WAKE. */
static int write_on_request(void *arg, const struct talk *talk)
{
	unsigned long long time = 0;
	struct writer writer[2];
	struct target target;
	long request;
	int err;

	(void)arg;
	err = target_open(&target);
	say(talk, err);
	/* The stream was created. */
	hear(talk);
	if (!err)
		err = target_sync(&target);
	for (int i = 0; i < 2 && !err; i++) {
		err = writer_open(&writer[i], &target, 0, i);
		if (!err)
			err = write_number(&writer[i], i, 0, i);
	}
	say(talk, err);
	while ((request = hear(talk)) >= 0) {
		switch (request) {
		case READ_CLOCK:
			time = now();
			break;
		case RECORD_YOUNG:
			err = write_number(&writer[1], 1, 0, YOUNG);
			break;
		case COMMIT_OLD:
			err = write_number(&writer[0], 0, time, OLD);
			break;
		}
		say(talk, err);
	}
	return 0;
}

/* A stream on a process that records on two processors, and the events that were read last. */
struct delayed {
	trace_id_t trid;
	struct child child;
	struct posixtrace_batch_event events[4];
	int data[256];	/* large enough for START, which has 512 bytes */
	size_t count;
};

static int request(struct delayed *delayed, enum request what)
{
	say(&delayed->child.talk, what);
	return hear(&delayed->child.talk);
}

/* Reads the available events. */
static int read_events(struct delayed *delayed, int flags)
{
	return posixtrace_getevents(delayed->trid, delayed->events, 4, delayed->data,
				    sizeof(delayed->data), &delayed->count, flags);
}

static int number_of(const struct posixtrace_batch_event *event)
{
	return *(const int *)event->data;
}

FIXTURE(delayed)
{
	struct delayed all;
};

FIXTURE_SETUP(delayed)
{
	ASSERT_EQ(0, child_start(&self->all.child, write_on_request, NULL));
	ASSERT_EQ(0, hear(&self->all.child.talk));
	ASSERT_EQ(0, new_stream(self->all.child.pid, POSIX_TRACE_LOOP, &self->all.trid));
	ASSERT_EQ(0, posix_trace_start(self->all.trid));
	say(&self->all.child.talk, 0);
	ASSERT_EQ(0, hear(&self->all.child.talk));
	/* Read START and the first record of each CPU. */
	ASSERT_EQ(0, read_events(&self->all, POSIXTRACE_NOWAIT));
	ASSERT_EQ(3, self->all.count);
}

FIXTURE_TEARDOWN(delayed)
{
	posix_trace_shutdown(self->all.trid);
	child_wait(&self->all.child);
}

TEST_F(delayed, event_is_late_without_a_window)
{
	ASSERT_EQ(0, request(&self->all, READ_CLOCK));
	ASSERT_EQ(0, request(&self->all, RECORD_YOUNG));
	ASSERT_EQ(0, read_events(&self->all, POSIXTRACE_NOWAIT));
	ASSERT_EQ(1, self->all.count);
	EXPECT_EQ(YOUNG, number_of(&self->all.events[0]));
	EXPECT_EQ(0, self->all.events[0].flags);
	ASSERT_EQ(0, request(&self->all, COMMIT_OLD));
	ASSERT_EQ(0, read_events(&self->all, POSIXTRACE_NOWAIT));
	ASSERT_EQ(1, self->all.count);
	EXPECT_EQ(OLD, number_of(&self->all.events[0]));
	EXPECT_EQ(POSIXTRACE_EVENT_LATE, self->all.events[0].flags);
	/* The next event is not late. */
	ASSERT_EQ(0, request(&self->all, RECORD_YOUNG));
	ASSERT_EQ(0, read_events(&self->all, POSIXTRACE_NOWAIT));
	ASSERT_EQ(1, self->all.count);
	EXPECT_EQ(0, self->all.events[0].flags);
}

TEST_F(delayed, event_is_in_order_with_a_window)
{
	ASSERT_EQ(0, posixtrace_setwindow(self->all.trid, NSEC * pxt_time_scale()));
	ASSERT_EQ(0, request(&self->all, READ_CLOCK));
	ASSERT_EQ(0, request(&self->all, RECORD_YOUNG));
	ASSERT_EQ(0, read_events(&self->all, POSIXTRACE_NOWAIT));
	EXPECT_EQ(0, self->all.count);
	ASSERT_EQ(0, request(&self->all, COMMIT_OLD));
	ASSERT_EQ(0, read_events(&self->all, 0));
	ASSERT_LE(1, self->all.count);
	EXPECT_EQ(OLD, number_of(&self->all.events[0]));
	EXPECT_EQ(0, self->all.events[0].flags);
	if (self->all.count == 1) {
		ASSERT_EQ(0, read_events(&self->all, 0));
		ASSERT_EQ(1, self->all.count);
		self->all.events[1] = self->all.events[0];
	}
	EXPECT_EQ(YOUNG, number_of(&self->all.events[1]));
	EXPECT_EQ(0, self->all.events[1].flags);
}

TEST_F(delayed, event_is_late_if_the_window_is_too_short)
{
	ASSERT_EQ(0, posixtrace_setwindow(self->all.trid, 1));
	ASSERT_EQ(0, request(&self->all, READ_CLOCK));
	ASSERT_EQ(0, request(&self->all, RECORD_YOUNG));
	ASSERT_EQ(0, read_events(&self->all, 0));
	ASSERT_EQ(1, self->all.count);
	EXPECT_EQ(YOUNG, number_of(&self->all.events[0]));
	ASSERT_EQ(0, request(&self->all, COMMIT_OLD));
	ASSERT_EQ(0, read_events(&self->all, 0));
	ASSERT_EQ(1, self->all.count);
	EXPECT_EQ(OLD, number_of(&self->all.events[0]));
	EXPECT_EQ(POSIXTRACE_EVENT_LATE, self->all.events[0].flags);
}

/* ------------------------------------------------------------------ */
/* Arguments								*/

TEST_F(window, ten_seconds_is_the_maximum)
{
	EXPECT_EQ(0, posixtrace_setwindow(self->trid, LONG));
	EXPECT_EQ(EINVAL, posixtrace_setwindow(self->trid, LONG + 1));
	EXPECT_EQ(EINVAL, posixtrace_setwindow(self->trid, UINT64_MAX));
	/* The old window is still set. */
	record_number(1);
	EXPECT_EQ(0, take(self->trid, &self->event));
	EXPECT_EQ(0, posixtrace_setwindow(self->trid, 0));
	EXPECT_EQ(1, take(self->trid, &self->event));
}

TEST_F(window, stream_without_events_to_read_has_none)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	trace_id_t trid;

	ASSERT_LE(0, fd);
	EXPECT_EQ(EINVAL, posixtrace_setwindow(self->trid + 1000, 1));
	ASSERT_EQ(0, posix_trace_create_withlog(0, NULL, fd, &trid));
	EXPECT_EQ(EINVAL, posixtrace_setwindow(trid, 1));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posixtrace_setwindow(trid, 1));
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	ASSERT_EQ(0, posix_trace_open(fd, &trid));
	EXPECT_EQ(EINVAL, posixtrace_setwindow(trid, 1));
	ASSERT_EQ(0, posix_trace_close(trid));
	close(fd);
}

TEST_HARNESS_MAIN
