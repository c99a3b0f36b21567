// SPDX-License-Identifier: GPL-2.0
/*
 * posixtrace_fd(): the results of poll(), select() and epoll for a stream.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "polling.h"
#include "reading.h"

static int by_epoll(int fd, int timeout)
{
	int epfd = epoll_with(fd, EPOLLIN);
	int ret = epfd < 0 ? epfd : epoll_say(epfd, timeout);

	close(epfd);
	return ret;
}

FIXTURE(poll)
{
	trace_id_t trid;
	int fd;
	struct event event;
};

FIXTURE_VARIANT(poll)
{
	int (*say)(int fd, int timeout);
};

FIXTURE_VARIANT_ADD(poll, poll) { poll_say };
FIXTURE_VARIANT_ADD(poll, select) { select_say };
FIXTURE_VARIANT_ADD(poll, epoll) { by_epoll };

FIXTURE_SETUP(poll)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	self->fd = posixtrace_fd(self->trid);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(poll)
{
	posix_trace_shutdown(self->trid);
}

/* ------------------------------------------------------------------ */
/* Readable or not							*/

TEST_F(poll, readable_while_there_is_an_event)
{
	EXPECT_EQ(0, variant->say(self->fd, 0));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(POLLIN, variant->say(self->fd, 0));
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(0, variant->say(self->fd, 0));
	for (int i = 0; i < 3; i++)
		record_number(i);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(POLLIN, variant->say(self->fd, 0));
		EXPECT_EQ(POLLIN, variant->say(self->fd, -1));
		ASSERT_EQ(1, take(self->trid, &self->event));
	}
	EXPECT_EQ(0, variant->say(self->fd, 0));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(POLLIN, variant->say(self->fd, 0));
}

TEST_F(poll, not_readable_after_clear)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	record_number(1);
	EXPECT_EQ(POLLIN, variant->say(self->fd, 0));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, variant->say(self->fd, 0));
	record_number(2);
	EXPECT_EQ(POLLIN, variant->say(self->fd, 0));
}

/* OVERFLOW, RESUME and the next event are reported one at a time. */
TEST_F(poll, readable_until_the_last_event_of_a_gap)
{
	char data[256] = "";
	int ret;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 600; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	do {
		EXPECT_EQ(POLLIN, variant->say(self->fd, 0));
		ASSERT_EQ(1, take(self->trid, &self->event));
	} while (self->event.info.posix_event_id != POSIX_TRACE_OVERFLOW);
	/* Readable until the last one. */
	while ((ret = variant->say(self->fd, 0)) == POLLIN)
		ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, take(self->trid, &self->event));
}

/* Events that the library has read ahead count as readable, even if the stream has no others. */
TEST_F(poll, readable_when_only_the_end_of_a_gap_remains)
{
	char data[256] = "";
	int left = 0;

	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &self->trid));
	self->fd = posixtrace_fd(self->trid);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	for (int i = 0; i < 600; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	/* The stream restarts, so there are OVERFLOW, RESUME and START. */
	do {
		ASSERT_EQ(1, take(self->trid, &self->event));
	} while (self->event.info.posix_event_id != POSIX_TRACE_OVERFLOW);
	while (variant->say(self->fd, 0) == POLLIN) {
		ASSERT_EQ(1, take(self->trid, &self->event));
		left++;
	}
	EXPECT_EQ(2, left);
	EXPECT_EQ(POSIX_TRACE_START, self->event.info.posix_event_id);
	EXPECT_EQ(0, take(self->trid, &self->event));
}

TEST_F(poll, readable_when_a_batch_leaves_an_event)
{
	struct posixtrace_batch_event events[4];
	char buffer[8];
	size_t count;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "12345678", 8);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "12345678", 8);
	ASSERT_EQ(0, posixtrace_getevents(self->trid, events, 4, buffer, 8, &count, 0));
	ASSERT_EQ(1, count);
	EXPECT_EQ(POLLIN, variant->say(self->fd, 0));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(0, variant->say(self->fd, 0));
}

/* ------------------------------------------------------------------ */
/* Waking up								*/

TEST_F(poll, woken_by_an_event)
{
	struct poller poller;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, poller_start(&poller, variant->say, self->fd));
		record_number(i);
		EXPECT_EQ(POLLIN, poller_end(&poller));
		ASSERT_EQ(1, take(self->trid, &self->event));
		EXPECT_EQ(i, event_number(&self->event));
	}
}

TEST_F(poll, woken_by_a_system_event)
{
	struct poller poller;

	ASSERT_EQ(0, poller_start(&poller, variant->say, self->fd));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(POLLIN, poller_end(&poller));
}

TEST_F(poll, woken_by_an_event_of_another_process)
{
	struct poller poller;
	struct child child;
	trace_id_t trid;

	ASSERT_EQ(0, child_start(&child, record_on_request, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(1, take(trid, &self->event));
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, poller_start(&poller, variant->say, posixtrace_fd(trid)));
		say(&child.talk, i);
		EXPECT_EQ(POLLIN, poller_end(&poller));
		EXPECT_EQ(i, hear(&child.talk));
		ASSERT_EQ(1, take(trid, &self->event));
		EXPECT_EQ(i, event_number(&self->event));
	}
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(poll, several_pollers_and_readers_wake_up)
{
	struct poller pollers[3];
	struct reader reader;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, poller_start(&pollers[i], variant->say, self->fd));
	record_number(1);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(POLLIN, poller_end(&pollers[i]));
	ASSERT_EQ(1, take(self->trid, &self->event));
	/* A reader and a poller both wake up. */
	ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
	ASSERT_EQ(0, poller_start(&pollers[0], variant->say, self->fd));
	record_number(2);
	EXPECT_EQ(0, reader_end(&reader));
	record_number(3);
	EXPECT_EQ(POLLIN, poller_end(&pollers[0]));
}

/* ------------------------------------------------------------------ */
/* Hung up								*/

/* The stream's own descriptor is already closed. */
TEST_F(poll, hung_up_after_shutdown)
{
	/* select() reports a hang-up only as readable. */
	int hung_up = variant->say == select_say ? POLLIN : POLLHUP;
	int copy = dup(self->fd);
	struct poller poller;

	ASSERT_LE(0, copy);
	ASSERT_EQ(0, poller_start(&poller, variant->say, copy));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(POLLIN, poller_end(&poller));
	ASSERT_EQ(1, take(self->trid, &self->event));
	ASSERT_EQ(0, poller_start(&poller, variant->say, copy));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	EXPECT_EQ(hung_up, poller_end(&poller));
	EXPECT_EQ(hung_up, variant->say(copy, 0));
	close(copy);
}

/* A thread that sleeps on the descriptor wakes up, but may find the descriptor closed. */
TEST_F(poll, shutdown_ends_the_sleep)
{
	struct poller poller;
	int ret;

	if (variant->say == by_epoll)
		return;		/* epoll forgets closed descriptors */
	ASSERT_EQ(0, poller_start(&poller, variant->say, self->fd));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ret = poller_end(&poller);
	if (variant->say == select_say)
		ret = ret == POLLIN || ret == -EBADF ? POLLHUP : 0;
	EXPECT_NE(0, ret & (POLLHUP | POLLNVAL));
}

/* ------------------------------------------------------------------ */
/* Only with epoll							*/

FIXTURE(epoll)
{
	trace_id_t trid;
	int fd;
	struct event event;
};

FIXTURE_SETUP(epoll)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	self->fd = posixtrace_fd(self->trid);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
}

FIXTURE_TEARDOWN(epoll)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(epoll, edge_is_reported_once)
{
	int epfd = epoll_with(self->fd, EPOLLIN | EPOLLET);

	ASSERT_LE(0, epfd);
	EXPECT_EQ(0, epoll_say(epfd, 0));
	for (int i = 0; i < 5; i++) {
		record_number(i);
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
		EXPECT_EQ(0, epoll_say(epfd, 0));
	}
	/* Reading an event does not cause an edge. */
	ASSERT_EQ(1, take(self->trid, &self->event));
	EXPECT_EQ(0, epoll_say(epfd, 0));
	EXPECT_LE(0, take_all(self->trid));
	record_number(5);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	close(epfd);
}

/* An event before the registration also causes an edge. */
TEST_F(epoll, edge_of_an_earlier_event)
{
	int epfd;

	record_number(1);
	epfd = epoll_with(self->fd, EPOLLIN | EPOLLET);
	ASSERT_LE(0, epfd);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	EXPECT_EQ(0, epoll_say(epfd, 0));
	close(epfd);
}

#define ROUNDS	150

/* Waits for each edge without a timeout, so the test hangs if an edge is lost. */
TEST_F(epoll, no_edge_of_another_process_is_lost)
{
	struct child child;
	trace_id_t trid;
	int epfd;

	ASSERT_EQ(0, child_start(&child, record_on_request, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_LOOP, &trid));
	epfd = epoll_with(posixtrace_fd(trid), EPOLLIN | EPOLLET);
	ASSERT_LE(0, epfd);
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(1, take(trid, &self->event));
	epoll_say(epfd, 0);
	for (int i = 0; i < ROUNDS; i++) {
		say(&child.talk, i);
		ASSERT_EQ(EPOLLIN, epoll_say(epfd, -1));
		ASSERT_EQ(1, take(trid, &self->event));
		ASSERT_EQ(i, event_number(&self->event));
		ASSERT_EQ(0, take(trid, &self->event));
	}
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
	close(epfd);
}

/* A child function: records as fast as it can, many events at a time. */
static int record_many(void *arg, const struct talk *talk)
{
	int count = *(int *)arg;

	if (hear(talk))
		return 1;
	for (int i = 0; i < count; i++)
		record_number(i);
	return 0;
}

FIXTURE(flow)
{
	struct child child;
	trace_id_t trid;
	int epfd;
};

FIXTURE_VARIANT(flow)
{
	unsigned int events;
};

FIXTURE_VARIANT_ADD(flow, level) { EPOLLIN };
FIXTURE_VARIANT_ADD(flow, edge) { EPOLLIN | EPOLLET };
FIXTURE_VARIANT_ADD(flow, oneshot) { EPOLLIN | EPOLLONESHOT };

static int flow_count = 1000;

FIXTURE_SETUP(flow)
{
	trace_attr_t attr;

	/* Make the stream large enough for all events. */
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, child_start(&self->child, record_many, &flow_count));
	ASSERT_EQ(0, posix_trace_create(self->child.pid, &attr, &self->trid));
	self->epfd = epoll_with(posixtrace_fd(self->trid), variant->events);
	ASSERT_LE(0, self->epfd);
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(flow)
{
	close(self->epfd);
	posix_trace_shutdown(self->trid);
}

TEST_F(flow, all_events_of_another_process_arrive)
{
	struct epoll_event again = { .events = variant->events };
	struct event event;
	int next = 0;

	say(&self->child.talk, 0);
	while (next < flow_count) {
		/* There may also be EPOLLHUP, if the process has ended. */
		ASSERT_EQ(EPOLLIN, epoll_say(self->epfd, -1) & ~EPOLLHUP);
		while (take(self->trid, &event) == 1) {
			if (event.info.posix_event_id == POSIX_TRACE_START)
				continue;
			ASSERT_EQ(next++, event_number(&event));
		}
		if (variant->events & EPOLLONESHOT)
			ASSERT_EQ(0, epoll_ctl(self->epfd, EPOLL_CTL_MOD,
					       posixtrace_fd(self->trid), &again));
	}
	EXPECT_EQ(0, child_wait(&self->child));
}

/* ------------------------------------------------------------------ */
/* The descriptor							*/

TEST_F(epoll, descriptor_does_not_survive_exec)
{
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(self->fd, posixtrace_fd(self->trid));
}

TEST_F(epoll, bad_trace_ids_have_no_descriptor)
{
	const trace_id_t bad[] = { 0, -1, 4711, self->trid + 1 };
	trace_id_t trid;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		errno = 0;
		EXPECT_EQ(-1, posixtrace_fd(bad[i]));
		EXPECT_EQ(EINVAL, errno);
	}
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(-1, posixtrace_fd(trid));
}

TEST_HARNESS_MAIN
