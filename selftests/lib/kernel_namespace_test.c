// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events must have the ids of the controller's PID namespace, whatever namespace their
 * thread is in.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "pxt_test.h"
#include "kernel_events.h"

#define CLASSES	(POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS)

/* The ids in the events of a worker that creates a thread. */
struct ids {
	pid_t worker;
	pid_t helper;		/* id of an earlier thread of the worker; 0: it has no event yet */
	pid_t thread;		/* id in the thread's fork, rename and exit */
	bool ends;		/* its end event was seen */
	bool is_lost;		/* the thread may have no id in this namespace */
	pid_t last;		/* id in the thread's last switch */
	int wrong;
};

static bool is_own(struct ids *ids, pid_t tid)
{
	if (tid == ids->worker || tid == ids->thread)
		return true;
	if (!tid)
		return ids->is_lost && ids->ends;
	if (!ids->helper)
		ids->helper = tid;
	return tid == ids->helper;
}

static void look_at(struct ids *ids, const struct kernel_event *event)
{
	pid_t tid = event->data.tid;

	ids->wrong += event->pid != ids->worker;
	if (event->id == POSIXTRACE_FORK) {
		ids->wrong += tid != ids->worker || event->data.fork.child_pid != ids->worker;
		ids->thread = event->data.fork.child_tid;
	} else if (event->id == POSIXTRACE_SWITCH_OUT && event->data.out.reason == ENDED) {
		ids->last = tid;
	} else if (event->id == POSIXTRACE_RENAME || event->id == POSIXTRACE_EXIT) {
		ids->wrong += tid != ids->thread;
		ids->ends |= event->id == POSIXTRACE_EXIT;
	} else {
		ids->wrong += !is_own(ids, tid);
	}
	if (event->id == POSIXTRACE_WAKEUP && event->data.wakeup.new)
		ids->wrong += event->data.wakeup.waker_pid != ids->worker ||
			      event->data.wakeup.waker_tid != ids->worker;
	/* The thread that left the CPU may be the controller. */
	if (event->id == POSIXTRACE_SWITCH_IN && event->data.in.prev_tid &&
	    event->data.in.prev_tid != getpid())
		ids->wrong += !is_own(ids, event->data.in.prev_tid);
}

/* Lets a worker create a thread, and checks all events until the thread has left its CPU. */
static int trace_thread(const struct child *worker, bool is_lost, struct ids *ids)
{
	struct kernel_events events = { .event = NULL };
	trace_id_t trid;
	size_t i;
	int err;

	*ids = (struct ids){ .worker = worker->pid, .is_lost = is_lost, .last = -1 };
	err = kernel_stream(worker->pid, CLASSES, POSIX_TRACE_UNTIL_FULL, &trid);
	if (err)
		return err;
	err = posix_trace_start(trid);
	if (!err)
		err = worker_do(worker, DO_THREAD, 0);
	for (i = 0; !err && ids->last < 0;) {
		err = kernel_events_read(&events, trid);
		for (; i < events.count; i++)
			look_at(ids, &events.event[i]);
		sched_yield();
	}
	kernel_events_free(&events);
	posix_trace_shutdown(trid);
	return err;
}

FIXTURE(namespace)
{
	struct child child;
};

/* The child of this process has a PID namespace, where its id is 1. */
FIXTURE_SETUP(namespace)
{
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
}

FIXTURE_TEARDOWN(namespace)
{
	child_kill(&self->child);
}

TEST_F(namespace, process_inside_has_the_ids_that_it_has_outside)
{
	struct ids ids;

	ASSERT_EQ(0, child_start(&self->child, worker, NULL));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_LT(4, self->child.pid);
	ASSERT_EQ(0, trace_thread(&self->child, false, &ids));
	EXPECT_EQ(0, ids.wrong);
	EXPECT_TRUE(!ids.helper || ids.helper > 4);
	EXPECT_LT(4, ids.thread);
	EXPECT_EQ(ids.thread, ids.last);
}

/* Returns how many ids are wrong, or 100 on other failures. */
static int control(void *arg, const struct talk *talk)
{
	struct child child;
	struct ids ids;
	int wrong;

	(void)arg;
	(void)talk;
	if (getpid() != 1 || child_start(&child, worker, NULL) || hear(&child.talk) ||
	    child.pid != 2 || trace_thread(&child, true, &ids))
		return 100;
	wrong = ids.wrong + (ids.helper && ids.helper != 3) + (ids.thread != 4);
	wrong += ids.last && ids.last != ids.thread;
	child_kill(&child);
	return wrong;
}

TEST_F(namespace, controller_inside_gets_the_ids_of_its_namespace)
{
	ASSERT_EQ(0, child_start(&self->child, control, NULL));
	EXPECT_EQ(0, child_wait(&self->child));
}

TEST_HARNESS_MAIN
