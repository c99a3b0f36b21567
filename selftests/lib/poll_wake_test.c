// SPDX-License-Identifier: GPL-2.0
/*
 * What poll(), select(), epoll and io_uring cost the writers: one WAKE for each check that found no
 * event, and no WAKE for further events. Every event must still be reported.
 */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <posixtrace.h>
#include <sys/mman.h>

#include "pxt_test.h"
#include "polling.h"
#include "reading.h"
#include "sequences.h"
#include "wakeups.h"

#define MANY	50

/* Returns the number of WAKE commands since the last call. */
static int woken(void)
{
	return (int)__atomic_exchange_n(&wakeups, 0, __ATOMIC_RELAXED);
}

/* Returns the expected number of WAKE commands: @count, or 0 if the module records. */
static int expected(int count)
{
	return __rseq_size ? count : 0;
}

FIXTURE(poll_wake)
{
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(poll_wake)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	self->fd = posixtrace_fd(self->trid);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take_all(self->trid));
	woken();
}

FIXTURE_TEARDOWN(poll_wake)
{
	posix_trace_shutdown(self->trid);
}

static void record_many(void)
{
	for (int i = 0; i < MANY; i++)
		record_number(i);
}

/* ------------------------------------------------------------------ */
/* Level-triggered							*/

TEST_F(poll_wake, registered_epoll_costs_one_wakeup_for_many_events)
{
	int epfd = epoll_with(self->fd, EPOLLIN);

	ASSERT_LE(0, epfd);
	EXPECT_EQ(0, epoll_say(epfd, 0));
	record_many();
	EXPECT_EQ(expected(1), woken());
	/* A poller that does not check again costs no further WAKE. */
	EXPECT_EQ(MANY, take_all(self->trid));
	record_many();
	EXPECT_EQ(0, woken());
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	close(epfd);
}

TEST_F(poll_wake, each_epoll_wait_finds_later_events)
{
	int epfd = epoll_with(self->fd, EPOLLIN);

	ASSERT_LE(0, epfd);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, epoll_say(epfd, 0));
		record_many();
		EXPECT_EQ(expected(1), woken());
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
		EXPECT_EQ(MANY, take_all(self->trid));
	}
	/* No event was recorded since. */
	EXPECT_EQ(0, epoll_say(epfd, 0));
	close(epfd);
}

/* Each check finds unread events, so no wake-up is requested. */
TEST_F(poll_wake, unread_events_cost_no_wakeup)
{
	struct event event;
	int epfd;

	record_number(1);
	epfd = epoll_with(self->fd, EPOLLIN);
	ASSERT_LE(0, epfd);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	record_many();
	ASSERT_EQ(1, take(self->trid, &event));
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	record_many();
	EXPECT_EQ(0, woken());
	EXPECT_EQ(2 * MANY, take_all(self->trid));
	EXPECT_EQ(0, epoll_say(epfd, 0));
	record_number(2);
	EXPECT_EQ(expected(1), woken());
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	close(epfd);
}

TEST_F(poll_wake, poll_and_select_cost_one_wakeup_for_each_call)
{
	int (*const say[])(int fd, int timeout) = { poll_say, select_say };

	for (int i = 0; i < 6; i++) {
		EXPECT_EQ(0, say[i % 2](self->fd, 0));
		record_many();
		EXPECT_EQ(expected(1), woken());
		EXPECT_EQ(POLLIN, say[i % 2](self->fd, 0));
		record_many();
		EXPECT_EQ(0, woken());
		EXPECT_EQ(2 * MANY, take_all(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* Other kinds								*/

TEST_F(poll_wake, edge_triggered_epoll_reports_each_event)
{
	int epfd = epoll_with(self->fd, EPOLLIN | EPOLLET);

	ASSERT_LE(0, epfd);
	EXPECT_EQ(0, epoll_say(epfd, 0));
	for (int i = 0; i < 5; i++) {
		record_number(i);
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
		EXPECT_EQ(1, take_all(self->trid));
	}
	EXPECT_EQ(expected(5), woken());
	/* A closed epoll instance costs no further WAKE. */
	close(epfd);
	record_number(5);
	woken();
	record_many();
	EXPECT_EQ(0, woken());
}

/*
 * An edge-triggered epoll reports an event only once. Its next report must be about the next event.
 */
TEST_F(poll_wake, edge_after_an_earlier_event_is_reported)
{
	int epfd;

	record_number(0);
	epfd = epoll_with(self->fd, EPOLLIN | EPOLLET);
	ASSERT_LE(0, epfd);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	EXPECT_EQ(1, take_all(self->trid));
	record_number(1);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	EXPECT_EQ(0, epoll_say(epfd, 0));
	close(epfd);
}

TEST_F(poll_wake, epoll_that_becomes_edge_triggered_reports_each_event)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	int epfd = epoll_with(self->fd, EPOLLIN);

	ASSERT_LE(0, epfd);
	EXPECT_EQ(0, epoll_say(epfd, 0));
	ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_MOD, self->fd, &edge));
	for (int i = 0; i < 5; i++) {
		record_number(i);
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
		EXPECT_EQ(1, take_all(self->trid));
	}
	close(epfd);
}

TEST_F(poll_wake, one_shot_costs_one_wakeup_each_time_it_is_armed)
{
	const unsigned int edge[] = { 0, EPOLLET };

	for (size_t k = 0; k < ARRAY_SIZE(edge); k++) {
		struct epoll_event again = { .events = EPOLLIN | EPOLLONESHOT | edge[k] };
		int epfd = epoll_with(self->fd, again.events);

		ASSERT_LE(0, epfd);
		for (int i = 0; i < 3; i++) {
			EXPECT_EQ(0, epoll_say(epfd, 0));
			record_many();
			EXPECT_EQ(expected(1), woken());
			EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
			EXPECT_EQ(0, epoll_say(epfd, 0));
			EXPECT_EQ(MANY, take_all(self->trid));
			ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_MOD, self->fd, &again));
		}
		close(epfd);
	}
}

/* One of two threads takes the first event, and is then busy. */
TEST_F(poll_wake, next_event_reaches_another_exclusive_poller)
{
	int other = epoll_with(self->fd, EPOLLIN | EPOLLEXCLUSIVE);
	int epfd = epoll_with(self->fd, EPOLLIN | EPOLLEXCLUSIVE);
	struct poller poller;

	ASSERT_LE(0, other);
	ASSERT_LE(0, epfd);
	ASSERT_EQ(0, poller_start(&poller, epoll_say, epfd));
	record_number(1);
	EXPECT_EQ(EPOLLIN, poller_end(&poller));
	record_number(2);
	EXPECT_EQ(EPOLLIN, epoll_say(other, 0));
	close(epfd);
	close(other);
}

/* The outer epoll instance watches the inner one, and may be edge-triggered. */
TEST_F(poll_wake, nested_epoll_finds_all_events)
{
	int inner = epoll_with(self->fd, EPOLLIN);
	const unsigned int edge[] = { 0, EPOLLET };

	ASSERT_LE(0, inner);
	for (size_t k = 0; k < ARRAY_SIZE(edge); k++) {
		int outer = epoll_with(inner, EPOLLIN | edge[k]);

		ASSERT_LE(0, outer);
		for (int i = 0; i < 3; i++) {
			EXPECT_EQ(0, epoll_say(outer, 0));
			record_many();
			EXPECT_EQ(expected(1), woken());
			EXPECT_EQ(EPOLLIN, epoll_say(outer, 0));
			EXPECT_EQ(EPOLLIN, epoll_say(inner, 0));
			EXPECT_EQ(MANY, take_all(self->trid));
			EXPECT_EQ(0, epoll_say(inner, 0));
		}
		close(outer);
	}
	close(inner);
}

/* ------------------------------------------------------------------ */
/* io_uring								*/

#define ENTRIES	4

struct ring {
	int fd;
	struct io_uring_params params;
	struct io_uring_sqe *sqe;
	char *sq;
	char *cq;
};

static int ring_open(struct ring *ring)
{
	const int prot = PROT_READ | PROT_WRITE;

	*ring = (struct ring){ 0 };
	ring->fd = syscall(SYS_io_uring_setup, ENTRIES, &ring->params);
	if (ring->fd < 0)
		return -errno;
	ring->sqe = mmap(NULL, ENTRIES * sizeof(*ring->sqe), prot, MAP_SHARED, ring->fd,
			 IORING_OFF_SQES);
	ring->sq = mmap(NULL, 4096, prot, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->cq = mmap(NULL, 4096, prot, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
	return ring->sqe == MAP_FAILED || ring->sq == MAP_FAILED || ring->cq == MAP_FAILED;
}

/* Poll requests with these flags. Returns 0 or an error. */
static int ring_poll(struct ring *ring, int fd, unsigned int flags)
{
	unsigned int *tail = (void *)(ring->sq + ring->params.sq_off.tail);
	unsigned int *array = (void *)(ring->sq + ring->params.sq_off.array);
	unsigned int index = *tail % ENTRIES;

	ring->sqe[index] = (struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD,
		.fd = fd,
		.len = flags,
		.poll32_events = POLLIN,
	};
	array[index] = index;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1 ? 0 : -errno;
}

/* Reaps completions. Returns their number, or the negative result of one. */
static int ring_reap(struct ring *ring)
{
	unsigned int *head = (void *)(ring->cq + ring->params.cq_off.head);
	unsigned int *tail = (void *)(ring->cq + ring->params.cq_off.tail);
	struct io_uring_cqe *cqes = (void *)(ring->cq + ring->params.cq_off.cqes);
	unsigned int mask = *(unsigned int *)(void *)(ring->cq + ring->params.cq_off.ring_mask);
	int count = 0;

	/* The kernel posts them in the thread that made the request. */
	if (syscall(SYS_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0))
		return -errno;
	for (; *head != __atomic_load_n(tail, __ATOMIC_ACQUIRE); count++) {
		if (cqes[*head & mask].res < 0)
			return cqes[*head & mask].res;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	}
	return count;
}

TEST_F(poll_wake, io_uring_reports_each_event_of_a_multishot)
{
	struct ring ring;

	ASSERT_EQ(0, ring_open(&ring));
	ASSERT_EQ(0, ring_poll(&ring, self->fd, IORING_POLL_ADD_MULTI));
	EXPECT_EQ(0, ring_reap(&ring));
	for (int i = 0; i < 5; i++) {
		record_number(i);
		EXPECT_EQ(1, ring_reap(&ring));
		EXPECT_EQ(1, take_all(self->trid));
	}
	close(ring.fd);
}

TEST_F(poll_wake, io_uring_costs_one_wakeup_for_each_one_shot)
{
	struct ring ring;

	ASSERT_EQ(0, ring_open(&ring));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, ring_poll(&ring, self->fd, 0));
		EXPECT_EQ(0, ring_reap(&ring));
		record_many();
		EXPECT_EQ(expected(1), woken());
		EXPECT_EQ(1, ring_reap(&ring));
		EXPECT_EQ(MANY, take_all(self->trid));
	}
	close(ring.fd);
}

/* ------------------------------------------------------------------ */
/* Recorded by the module						*/

/* If the module records, it wakes the reader itself, without a WAKE command. */
TEST_F(poll_wake, events_of_the_module_are_reported)
{
	struct epoll_event again = { .events = EPOLLIN | EPOLLONESHOT };
	int level = epoll_with(self->fd, EPOLLIN);
	int edge = epoll_with(self->fd, EPOLLIN | EPOLLET);
	int once = epoll_with(self->fd, again.events);

	ASSERT_LE(0, level);
	ASSERT_LE(0, edge);
	ASSERT_LE(0, once);
	if (__rseq_size)
		ASSERT_EQ(0, forgo_sequences());
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, epoll_say(level, 0));
		EXPECT_EQ(0, epoll_say(edge, 0));
		EXPECT_EQ(0, epoll_say(once, 0));
		record_many();
		EXPECT_EQ(EPOLLIN, epoll_say(level, 0));
		EXPECT_EQ(EPOLLIN, epoll_say(edge, 0));
		EXPECT_EQ(EPOLLIN, epoll_say(once, 0));
		EXPECT_EQ(MANY, take_all(self->trid));
		ASSERT_EQ(0, epoll_ctl(once, EPOLL_CTL_MOD, self->fd, &again));
	}
	EXPECT_EQ(0, woken());
	close(level);
	close(edge);
	close(once);
}

TEST_HARNESS_MAIN
