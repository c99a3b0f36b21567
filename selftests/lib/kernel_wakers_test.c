// SPDX-License-Identifier: GPL-2.0
/*
 * What woke a thread, compared with what the test has done: a call of another thread, a softirq, a
 * signal, the end of a child, or a timer. The stream does not trace the waker.
 */
#define _GNU_SOURCE
#include "pxt_test.h"
#include "credentials.h"
#include "wakers.h"

#define USER	1000

FIXTURE(scene)
{
	struct scene scene;
};

FIXTURE_VARIANT(scene)
{
	const struct way *way;
};

FIXTURE_VARIANT_ADD(scene, pipe) { &way_pipe };
FIXTURE_VARIANT_ADD(scene, socketpair) { &way_socketpair };
FIXTURE_VARIANT_ADD(scene, loopback_tcp) { &way_tcp };
FIXTURE_VARIANT_ADD(scene, unix_socket) { &way_unix };
FIXTURE_VARIANT_ADD(scene, futex) { &way_futex };
FIXTURE_VARIANT_ADD(scene, epoll) { &way_epoll };
FIXTURE_VARIANT_ADD(scene, eventfd) { &way_eventfd };
FIXTURE_VARIANT_ADD(scene, io_uring) { &way_io_uring };
FIXTURE_VARIANT_ADD(scene, timer) { &way_timer };
FIXTURE_VARIANT_ADD(scene, signal) { &way_signal };
FIXTURE_VARIANT_ADD(scene, waitpid) { &way_child };
FIXTURE_VARIANT_ADD(scene, waitpid_of_a_process_without_main_thread) { &way_threaded_child };

FIXTURE_SETUP(scene)
{
	ASSERT_EQ(0, scene_open(&self->scene, variant->way));
	ASSERT_EQ(0, scene_start_waker(&self->scene, USER, NULL));
	ASSERT_EQ(0, become_user(USER));
	ASSERT_EQ(0, scene_start_sleeper(&self->scene, POSIXTRACE_CLASS_SCHED));
}

FIXTURE_TEARDOWN(scene)
{
	scene_close(&self->scene);
}

/* Is a waker missing, or is it neither the expected one nor this test? */
static bool is_strange(const struct scene *scene, const struct kernel_event *event, pid_t waker)
{
	pid_t pid = event->data.wakeup.waker_pid;

	if (event->id != POSIXTRACE_WAKEUP || event->pid != scene->sleeper.pid)
		return false;
	return event->data.wakeup.by == BY_ANOTHER || (pid && pid != waker && pid != getpid());
}

TEST_F(scene, waker_is_named_with_its_context)
{
	pid_t waker = self->scene.waker.pid;
	const struct kernel_event *event;
	int strange = 0;

	ASSERT_EQ(0, scene_play(&self->scene));
	ASSERT_LE(0, self->scene.result);
	if (variant->way->by == BY_CHILD)
		waker = (pid_t)self->scene.result;
	if (variant->way->by == BY_TIMER)
		waker = 0;
	EXPECT_LE(1, scene_count(&self->scene, variant->way->by, waker));
	for (size_t i = 0; i < self->scene.events.count; i++) {
		event = &self->scene.events.event[i];
		if (!is_strange(&self->scene, event, waker))
			continue;
		TH_LOG("woken by %d, thread %d", event->data.wakeup.by,
		       event->data.wakeup.waker_tid);
		strange++;
	}
	EXPECT_EQ(0, strange);
}

TEST_HARNESS_MAIN
