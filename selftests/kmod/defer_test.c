// SPDX-License-Identifier: GPL-2.0
/*
 * DEFER: the reader reports no record before a given time. Until then, WAIT sleeps and poll()
 * reports no event.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>

#include "polling.h"
#include "pxt_test.h"
#include "writer.h"

#define WINDOW		(NSEC / 4)
/* Minimum time between two checks of the kernel for lost wake-ups. */
#define LOOK		(NSEC / 2)
#define FOREVER		POSIXTRACE_WINDOW_NS_MAX

FIXTURE(defer)
{
	struct stream stream;
	struct target target;
};

/* The stream has one record, START. */
FIXTURE_SETUP(defer)
{
	ASSERT_EQ(0, target_open(&self->target));
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, target_sync(&self->target));
	ASSERT_EQ(0, stream_start(&self->stream));
}

FIXTURE_TEARDOWN(defer)
{
	stream_close(&self->stream);
	target_close(&self->target);
}

static int stream_defer(struct stream *stream, unsigned long long time, unsigned long long window,
			struct posixtrace_defer *answer)
{
	*answer = (struct posixtrace_defer){ .time = time, .window = window, .now = 1 };
	return command(stream->fd, POSIXTRACE_IOC_DEFER, answer);
}

/* Returns the time of the record, which is the current time, or 0 on error. */
static unsigned long long defer_now(struct stream *stream, unsigned long long window)
{
	struct posixtrace_defer arg;
	unsigned long long time = now();

	return stream_defer(stream, time, window, &arg) ? 0 : time;
}

static int stream_wait(struct stream *stream, unsigned long long deadline)
{
	struct posixtrace_wait wait = {
		.flags = deadline ? POSIXTRACE_WAIT_DEADLINE : 0,
		.deadline = deadline,
	};

	return command(stream->fd, POSIXTRACE_IOC_WAIT, &wait);
}

static int record(struct target *target)
{
	return target_event(target, POSIXTRACE_ID_UNNAMED, NULL, 0);
}

/* A thread that calls WAIT, and the result. */
struct waiter {
	struct stream *stream;
	pthread_t thread;
	int ret;
	int tid;
};

static void *waiting(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	waiter->ret = stream_wait(waiter->stream, 0);
	return NULL;
}

/* Starts the thread. Returns when it sleeps, which it can only do in WAIT. */
static int waiter_start(struct waiter *waiter, struct stream *stream)
{
	int err;

	*waiter = (struct waiter){ .stream = stream, .ret = 4711 };
	err = pthread_create(&waiter->thread, NULL, waiting, waiter);
	if (err)
		return err;
	falls_asleep(&waiter->tid, NULL);
	return 0;
}

static int waiter_end(struct waiter *waiter)
{
	pthread_join(waiter->thread, NULL);
	return waiter->ret;
}

/* ------------------------------------------------------------------ */
/* The answer								*/

TEST_F(defer, answer_has_the_time_and_what_may_be_reported)
{
	unsigned long long before = now();
	struct posixtrace_defer arg;

	ASSERT_EQ(0, stream_defer(&self->stream, before, WINDOW, &arg));
	EXPECT_EQ(before, arg.time);
	EXPECT_EQ(WINDOW, arg.window);
	EXPECT_LE(before, arg.now);
	EXPECT_GE(now(), arg.now);
	EXPECT_EQ(arg.now - WINDOW, arg.settled);
	ASSERT_EQ(0, stream_defer(&self->stream, 0, 0, &arg));
	EXPECT_EQ(arg.now, arg.settled);
}

TEST_F(defer, window_has_a_limit)
{
	struct posixtrace_defer arg;

	EXPECT_EQ(0, stream_defer(&self->stream, 1, FOREVER, &arg));
	EXPECT_EQ(-EINVAL, stream_defer(&self->stream, now(), FOREVER + 1, &arg));
	EXPECT_EQ(-EINVAL, stream_defer(&self->stream, now(), ~0ULL, &arg));
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
}

TEST_F(defer, stream_with_log_has_no_reader)
{
	struct stream logged = { .fd = device_open() };
	struct posixtrace_defer arg;

	ASSERT_LE(0, logged.fd);
	create_init(&logged.arg, 0);
	logged.arg.log_fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ASSERT_LE(0, logged.arg.log_fd);
	ASSERT_EQ(0, command(logged.fd, POSIXTRACE_IOC_CREATE, &logged.arg));
	EXPECT_EQ(-EINVAL, stream_defer(&logged, now(), WINDOW, &arg));
	close(logged.arg.log_fd);
	close(logged.fd);
}

/* ------------------------------------------------------------------ */
/* Until the end of the window						*/

TEST_F(defer, record_is_not_readable_before_the_end_of_the_window)
{
	unsigned long long time;

	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
	time = defer_now(&self->stream, FOREVER);
	ASSERT_NE(0, time);
	EXPECT_EQ(0, poll_say(self->stream.fd, 0));
	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, 1));
	EXPECT_EQ(-ETIMEDOUT, stream_wait(&self->stream, now() + NSEC / 100));
	time = defer_now(&self->stream, WINDOW);
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, -1));
	EXPECT_LE(time + WINDOW, now());
	EXPECT_EQ(0, stream_wait(&self->stream, 1));
}

TEST_F(defer, wait_ends_with_the_window)
{
	struct waiter waiter;
	unsigned long long time;

	/*
	 * In the first round, set the window before the reader sleeps. In the second round, while
	 * it sleeps.
	 */
	for (int i = 0; i < 2; i++) {
		time = defer_now(&self->stream, i ? FOREVER : WINDOW);
		ASSERT_NE(0, time);
		ASSERT_EQ(0, waiter_start(&waiter, &self->stream));
		if (i)
			time = defer_now(&self->stream, WINDOW);
		EXPECT_EQ(0, waiter_end(&waiter));
		EXPECT_LE(time + WINDOW, now());
	}
}

TEST_F(defer, shorter_window_ends_a_longer_one)
{
	struct posixtrace_defer arg;
	struct waiter waiter;

	ASSERT_NE(0, defer_now(&self->stream, FOREVER));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream));
	ASSERT_EQ(0, stream_defer(&self->stream, 0, 0, &arg));
	EXPECT_EQ(0, waiter_end(&waiter));
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
}

TEST_F(defer, edge_triggered_poller_gets_an_edge_when_the_window_has_passed)
{
	int epfd = epoll_with(self->stream.fd, EPOLLIN | EPOLLET);
	unsigned long long begin = now(), time;
	unsigned int more = 0;

	ASSERT_LE(0, epfd);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	for (int i = 0; i < 5; i++) {
		time = defer_now(&self->stream, WINDOW);
		ASSERT_NE(0, time);
		/* Further records cause no edge. */
		EXPECT_EQ(0, record(&self->target));
		EXPECT_EQ(0, epoll_say(epfd, 0));
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
		EXPECT_LE(time + WINDOW, now());
		more += epoll_say(epfd, 0) != 0;
	}
	/*
	 * Each window causes one edge. The kernel's periodic checks for lost wake-ups may cause
	 * others.
	 */
	EXPECT_GE((now() - begin) / LOOK + 1, more);
	/* Without a window, each record causes an edge. */
	EXPECT_EQ(0, record(&self->target));
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	close(epfd);
}

/* The poller first looks while the records are deferred, and then reads all of them. */
TEST_F(defer, edge_triggered_poller_gets_each_record_after_the_window)
{
	unsigned long long time = defer_now(&self->stream, WINDOW);
	int epfd = epoll_with(self->stream.fd, EPOLLIN | EPOLLET);
	struct record taken;

	ASSERT_NE(0, time);
	ASSERT_LE(0, epfd);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
	EXPECT_LE(time + WINDOW, now());
	while (stream_take(&self->stream, &taken, NULL, 0) == 1)
		;
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, epoll_say(epfd, 0));
		EXPECT_EQ(0, record(&self->target));
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	}
	close(epfd);
}

TEST_F(defer, level_triggered_poller_sleeps_until_the_window_has_passed)
{
	int epfd = epoll_with(self->stream.fd, EPOLLIN);
	unsigned long long time;

	ASSERT_LE(0, epfd);
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	for (int i = 0; i < 2; i++) {
		time = defer_now(&self->stream, WINDOW);
		ASSERT_NE(0, time);
		EXPECT_EQ(0, record(&self->target));
		EXPECT_EQ(0, epoll_say(epfd, 0));
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, -1));
		EXPECT_LE(time + WINDOW, now());
		EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	}
	close(epfd);
}

/* Writers need not wake the reader during the window. */
TEST_F(defer, sleeping_reader_costs_writers_nothing)
{
	struct waiter waiter;
	struct writer writer;

	ASSERT_EQ(0, writer_open(&writer, &self->target, self->stream.arg.slot, 0));
	ASSERT_NE(0, defer_now(&self->stream, FOREVER));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream));
	EXPECT_EQ(0, LOAD(writer.wakeup->need_wakeup));
	EXPECT_EQ(0, record(&self->target));
	EXPECT_EQ(0, LOAD(writer.wakeup->need_wakeup));
	EXPECT_EQ(4711, __atomic_load_n(&waiter.ret, __ATOMIC_RELAXED));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, waiter_end(&waiter));
	writer_close(&writer);
}

/* ------------------------------------------------------------------ */
/* Events that end the window early					*/

TEST_F(defer, event_that_was_taken_is_not_deferred)
{
	ASSERT_NE(0, defer_now(&self->stream, FOREVER));
	EXPECT_EQ(0, poll_say(self->stream.fd, 0));
	self->stream.reader->held = 1;
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
	EXPECT_EQ(0, stream_wait(&self->stream, 0));
}

TEST_F(defer, stop_ends_it)
{
	struct posixtrace_defer arg;
	struct waiter waiter;
	int epfd = epoll_with(self->stream.fd, EPOLLIN | EPOLLET);

	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	ASSERT_NE(0, defer_now(&self->stream, FOREVER));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream));
	EXPECT_EQ(0, epoll_say(epfd, 0));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, waiter_end(&waiter));
	EXPECT_EQ(EPOLLIN, epoll_say(epfd, 0));
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
	/* A suspended stream defers no record. */
	ASSERT_EQ(0, stream_defer(&self->stream, now(), FOREVER, &arg));
	EXPECT_EQ(arg.now, arg.settled);
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
	close(epfd);
}

TEST_F(defer, stop_that_is_filtered_ends_it)
{
	struct posixtrace_filter filter = { .how = POSIXTRACE_FILTER_ADD };
	struct waiter waiter;

	filter.set.bits[0] = 1ULL << POSIXTRACE_ID_STOP;
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SET_FILTER, &filter));
	ASSERT_NE(0, defer_now(&self->stream, FOREVER));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream));
	ASSERT_EQ(0, stream_stop(&self->stream));
	EXPECT_EQ(0, waiter_end(&waiter));
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
}

TEST_F(defer, shutdown_ends_it)
{
	struct waiter waiter;

	ASSERT_NE(0, defer_now(&self->stream, FOREVER));
	ASSERT_EQ(0, waiter_start(&waiter, &self->stream));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(-ESHUTDOWN, waiter_end(&waiter));
}

/* The timer must not touch the freed memory. */
TEST_F(defer, shutdown_comes_before_the_end_of_the_window)
{
	struct waiter waiter;
	struct stream stream;

	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(0, stream_create(&stream, 0));
		ASSERT_EQ(0, stream_start(&stream));
		ASSERT_NE(0, defer_now(&stream, i * NSEC / 10000));
		waiter = (struct waiter){ .stream = &stream };
		ASSERT_EQ(0, pthread_create(&waiter.thread, NULL, waiting, &waiter));
		ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
		waiter_end(&waiter);
		EXPECT_TRUE(waiter.ret == -ESHUTDOWN || waiter.ret == 0);
		stream_close(&stream);
	}
}

TEST_F(defer, end_of_the_last_process_ends_it)
{
	struct posixtrace_defer arg;
	struct waiter waiter;
	struct stream stream;
	struct child child;

	/* In the first round, only poll. In the second round, also sleep in WAIT. */
	for (int waits = 0; waits < 2; waits++) {
		ASSERT_EQ(0, child_start(&child, child_idle, NULL));
		ASSERT_EQ(0, stream_create(&stream, child.pid));
		ASSERT_EQ(0, stream_start(&stream));
		ASSERT_NE(0, defer_now(&stream, FOREVER));
		if (waits)
			ASSERT_EQ(0, waiter_start(&waiter, &stream));
		EXPECT_EQ(0, poll_say(stream.fd, 0));
		EXPECT_EQ(0, child_wait(&child));
		EXPECT_EQ(POLLIN | POLLHUP, poll_say(stream.fd, -1));
		if (waits)
			EXPECT_EQ(0, waiter_end(&waiter));
		ASSERT_EQ(0, stream_defer(&stream, now(), FOREVER, &arg));
		EXPECT_EQ(arg.now, arg.settled);
		EXPECT_EQ(POLLIN | POLLHUP, poll_say(stream.fd, 0));
		stream_close(&stream);
	}
}

TEST_F(defer, end_of_another_process_does_not_end_it)
{
	struct stream stream;
	struct child child;

	create_init(&stream.arg, 0);
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&stream));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_NE(0, defer_now(&stream, FOREVER));
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, poll_say(stream.fd, 0));
	stream_close(&stream);
}

/* A reader that passes wrong times to DEFER harms only itself. */
TEST_F(defer, wrong_times_defer_for_at_most_one_window)
{
	const unsigned long long later[] = { NSEC, 3600 * NSEC, ~0ULL / 2, ~0ULL };
	struct posixtrace_defer arg;

	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		unsigned long long time = later[i] < ~0ULL / 2 ? now() + later[i] : later[i];

		ASSERT_NE(0, defer_now(&self->stream, FOREVER));
		ASSERT_EQ(0, stream_defer(&self->stream, time, FOREVER, &arg));
		EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
	}
	ASSERT_EQ(0, stream_defer(&self->stream, 0, FOREVER, &arg));
	EXPECT_EQ(POLLIN, poll_say(self->stream.fd, 0));
}

TEST_HARNESS_MAIN
