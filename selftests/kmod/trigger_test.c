// SPDX-License-Identifier: GPL-2.0
/*
 * TRIGGER and TRIGGERED: a controller learns that a thread was blocked or runnable for longer than
 * a threshold.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>

#include "pxt_test.h"
#include "polling.h"
#include "process.h"
#include "uapi.h"

#define MSEC		1000000ULL
#define NEVER		(3600 * NSEC)
#define SLEEP		(30 * MSEC)
#define FEWER		(20 * MSEC)

/* Shared with the child. */
struct scene {
	int go;
	int done;
};

FIXTURE(trigger)
{
	struct scene *scene;
	struct child child;
	struct stream stream;
};

/*
 * The main function of a child that computes until it is told to go, sleeps once, and computes
 * until it is told to stop.
 */
static int sleeper(void *arg, const struct talk *talk)
{
	const struct timespec time = { .tv_nsec = SLEEP };
	struct scene *scene = arg;

	say(talk, 0);
	while (hear(talk) >= 0) {
		say(talk, 0);
		while (!LOAD(scene->go))
			;
		nanosleep(&time, NULL);
		__atomic_store_n(&scene->done, 1, __ATOMIC_RELEASE);
		while (LOAD(scene->go))
			;
		say(talk, 0);
	}
	return 0;
}

static int open_stream(struct stream *stream, pid_t pid)
{
	int err;

	create_init(&stream->arg, pid);
	stream->arg.attr.classes = POSIXTRACE_CLASS_SCHED;
	err = stream_open(stream);
	return err ? err : stream_start(stream);
}

FIXTURE_SETUP(trigger)
{
	self->scene = mmap(NULL, sizeof(*self->scene), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->scene);
	ASSERT_EQ(0, child_start(&self->child, sleeper, self->scene));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, open_stream(&self->stream, self->child.pid));
}

FIXTURE_TEARDOWN(trigger)
{
	if (self->stream.fd >= 0)
		stream_close(&self->stream);
	child_kill(&self->child);
	munmap(self->scene, sizeof(*self->scene));
}

static int set(const struct stream *stream, unsigned long long blocked, unsigned long long runnable)
{
	struct posixtrace_trigger arg = { .blocked = blocked, .runnable = runnable };

	return command(stream->fd, POSIXTRACE_IOC_TRIGGER, &arg);
}

static struct posixtrace_triggered take(const struct stream *stream)
{
	struct posixtrace_triggered arg;

	memset(&arg, 0xff, sizeof(arg));
	if (command(stream->fd, POSIXTRACE_IOC_TRIGGERED, &arg))
		arg.kind = ~0U;
	return arg;
}

static bool is_pending(const struct stream *stream)
{
	struct pollfd fd = { .fd = stream->fd, .events = POLLPRI };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLPRI;
}

/* Makes the child compute: it is not blocked between this call and its sleep. */
static void compute(const struct child *child)
{
	say(&child->talk, 0);
	hear(&child->talk);
}

/* Makes the child sleep, and waits until it computes again. */
static void let_sleep(struct scene *scene)
{
	__atomic_store_n(&scene->go, 1, __ATOMIC_RELEASE);
	while (!LOAD(scene->done))
		usleep(1000);
}

static void end_scene(struct scene *scene, const struct child *child)
{
	scene->done = 0;
	__atomic_store_n(&scene->go, 0, __ATOMIC_RELEASE);
	hear(&child->talk);
}

TEST_F(trigger, thread_that_was_blocked_for_longer_meets_the_condition)
{
	unsigned long long before, after;
	struct posixtrace_triggered met;

	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	before = now();
	let_sleep(self->scene);
	after = now();
	EXPECT_TRUE(is_pending(&self->stream));
	met = take(&self->stream);
	EXPECT_EQ(1, met.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_BLOCKED, met.kind);
	EXPECT_EQ(self->child.pid, met.pid);
	EXPECT_EQ(self->child.pid, met.tid);
	EXPECT_LE(SLEEP, met.duration);
	EXPECT_GE(after - before, met.duration);
	EXPECT_LE(before + SLEEP, met.time);
	EXPECT_GE(after, met.time);
	EXPECT_EQ(0, met.label);
}

TEST_F(trigger, thread_that_was_blocked_for_less_does_not)
{
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, NEVER, NEVER));
	let_sleep(self->scene);
	EXPECT_FALSE(is_pending(&self->stream));
	EXPECT_EQ(0, take(&self->stream).count);
}

TEST_F(trigger, without_thresholds_no_condition_is_met)
{
	compute(&self->child);
	let_sleep(self->scene);
	EXPECT_EQ(0, take(&self->stream).count);
	end_scene(self->scene, &self->child);
	ASSERT_EQ(0, set(&self->stream, 1, 1));
	ASSERT_EQ(0, set(&self->stream, 0, 0));
	compute(&self->child);
	let_sleep(self->scene);
	EXPECT_FALSE(is_pending(&self->stream));
	EXPECT_EQ(0, take(&self->stream).count);
}

TEST_F(trigger, thread_that_was_runnable_meets_the_other_condition)
{
	struct posixtrace_triggered met;

	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, 0, 1));
	let_sleep(self->scene);
	met = take(&self->stream);
	EXPECT_LE(1, met.count);
	EXPECT_EQ(POSIXTRACE_TRIGGER_RUNNABLE, met.kind);
	EXPECT_EQ(self->child.pid, met.tid);
	EXPECT_LT(1, met.duration);
}

TEST_F(trigger, both_conditions_are_counted)
{
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 1));
	let_sleep(self->scene);
	EXPECT_LE(2, take(&self->stream).count);
}

TEST_F(trigger, reading_resets_and_setting_does_too)
{
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	let_sleep(self->scene);
	EXPECT_EQ(1, take(&self->stream).count);
	EXPECT_FALSE(is_pending(&self->stream));
	EXPECT_EQ(0, take(&self->stream).kind);
	end_scene(self->scene, &self->child);

	compute(&self->child);
	let_sleep(self->scene);
	EXPECT_TRUE(is_pending(&self->stream));
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	EXPECT_FALSE(is_pending(&self->stream));
	EXPECT_EQ(0, take(&self->stream).count);
}

TEST_F(trigger, further_conditions_leave_the_first_one)
{
	struct posixtrace_triggered met;
	unsigned long long first;
	int i;

	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	let_sleep(self->scene);
	first = now();
	end_scene(self->scene, &self->child);
	for (i = 0; i < 3; i++) {
		compute(&self->child);
		let_sleep(self->scene);
		end_scene(self->scene, &self->child);
	}
	met = take(&self->stream);
	/* The child may also have waited for the test for longer than 20 ms. */
	EXPECT_LE(4, met.count);
	EXPECT_GE(first, met.time);
}

/* ------------------------------------------------------------------ */
/* Polling								*/

static int poll_priority(int fd, int timeout)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLPRI };

	return poll(&poll_fd, 1, timeout) < 0 ? -errno : poll_fd.revents;
}

static int epoll_priority(int epfd, int timeout)
{
	struct epoll_event event = { .events = 0 };
	int n = epoll_wait(epfd, &event, 1, timeout);

	return n < 0 ? -errno : n && event.events & EPOLLPRI ? POLLPRI : 0;
}

TEST_F(trigger, wakes_a_sleeping_poller)
{
	struct poller poller = { .done = 0 };

	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	ASSERT_EQ(0, poller_start(&poller, poll_priority, self->stream.fd));
	let_sleep(self->scene);
	EXPECT_EQ(POLLPRI, poller_end(&poller));
}

TEST_F(trigger, wakes_edge_triggered_epoll_once_until_it_is_read)
{
	struct poller poller = { .done = 0 };
	int epfd = epoll_with(self->stream.fd, EPOLLPRI | EPOLLET);

	ASSERT_LE(0, epfd);
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	while (epoll_priority(epfd, 0))
		;
	ASSERT_EQ(0, poller_start(&poller, epoll_priority, epfd));
	let_sleep(self->scene);
	EXPECT_EQ(POLLPRI, poller_end(&poller));
	end_scene(self->scene, &self->child);
	compute(&self->child);
	let_sleep(self->scene);
	EXPECT_EQ(0, epoll_priority(epfd, 0));
	EXPECT_LE(2, take(&self->stream).count);
	close(epfd);
}

/* ------------------------------------------------------------------ */
/* Streams								*/

TEST_F(trigger, stopped_stream_meets_no_condition)
{
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, 1, 1));
	ASSERT_EQ(0, stream_stop(&self->stream));
	take(&self->stream);
	let_sleep(self->scene);
	EXPECT_EQ(0, take(&self->stream).count);
	end_scene(self->scene, &self->child);
	ASSERT_EQ(0, stream_start(&self->stream));
	compute(&self->child);
	let_sleep(self->scene);
	EXPECT_LE(2, take(&self->stream).count);
}

TEST_F(trigger, filter_does_not_end_the_conditions)
{
	struct posixtrace_filter filter = { .how = POSIXTRACE_FILTER_SET };

	memset(&filter.set, 0xff, sizeof(filter.set));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SET_FILTER, &filter));
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	let_sleep(self->scene);
	EXPECT_EQ(1, take(&self->stream).count);
}

TEST_F(trigger, each_stream_has_its_own_conditions)
{
	struct stream other;

	ASSERT_EQ(0, open_stream(&other, self->child.pid));
	compute(&self->child);
	ASSERT_EQ(0, set(&other, FEWER, 0));
	let_sleep(self->scene);
	EXPECT_EQ(1, take(&other).count);
	EXPECT_EQ(0, take(&self->stream).count);
	end_scene(self->scene, &self->child);
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	ASSERT_EQ(0, set(&other, NEVER, 0));
	let_sleep(self->scene);
	EXPECT_EQ(0, take(&other).count);
	EXPECT_EQ(1, take(&self->stream).count);
	stream_close(&other);
}

/* The sleep of a controller that traces itself would meet the next condition. */
TEST_F(trigger, threads_of_the_controller_meet_no_condition)
{
	struct stream stream;

	ASSERT_EQ(0, open_stream(&stream, 0));
	ASSERT_EQ(0, set(&stream, 1, 1));
	usleep(1000);
	EXPECT_EQ(0, take(&stream).count);
	stream_close(&stream);
}

TEST_F(trigger, stream_without_class_sched_is_not_supported)
{
	struct posixtrace_triggered met;
	struct stream stream;

	create_init(&stream.arg, 0);
	stream.arg.attr.classes = POSIXTRACE_CLASS_PROCESS;
	ASSERT_EQ(0, stream_open(&stream));
	EXPECT_EQ(-EOPNOTSUPP, set(&stream, 1, 1));
	EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_TRIGGERED, &met));
	EXPECT_EQ(0, met.count);
	stream_close(&stream);
}

TEST_F(trigger, wrong_arguments_are_refused)
{
	struct posixtrace_trigger arg = { .reserved = 1 };

	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_TRIGGER, &arg));
	arg = (struct posixtrace_trigger){ .conditions = 4096 };
	EXPECT_EQ(-EINVAL, command(self->stream.fd, POSIXTRACE_IOC_TRIGGER, &arg));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_TRIGGER, BAD_POINTER));
	EXPECT_EQ(-EFAULT, command(self->stream.fd, POSIXTRACE_IOC_TRIGGERED, BAD_POINTER));
	ASSERT_EQ(0, command(self->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	EXPECT_EQ(-ESHUTDOWN, set(&self->stream, 1, 1));
}

static int control(void *arg, const struct talk *talk)
{
	const pid_t *pid = arg;
	struct stream stream;

	if (open_stream(&stream, *pid) || set(&stream, 1, 1))
		return 1;
	say(talk, 0);
	return hear(talk) != -EPIPE;
}

/* The target meets conditions before, while and after its controller is killed. */
TEST_F(trigger, controller_may_die)
{
	struct child controller;
	int i;

	stream_close(&self->stream);
	self->stream.fd = -1;
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, child_start(&controller, control, &self->child.pid));
		ASSERT_EQ(0, hear(&controller.talk));
		compute(&self->child);
		__atomic_store_n(&self->scene->go, 1, __ATOMIC_RELEASE);
		EXPECT_EQ(SIGKILL, child_kill(&controller));
		let_sleep(self->scene);
		end_scene(self->scene, &self->child);
	}
	ASSERT_EQ(0, open_stream(&self->stream, self->child.pid));
	compute(&self->child);
	ASSERT_EQ(0, set(&self->stream, FEWER, 0));
	let_sleep(self->scene);
	EXPECT_EQ(1, take(&self->stream).count);
}

TEST_HARNESS_MAIN
