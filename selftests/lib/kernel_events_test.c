// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events in streams that request them. Their number must agree with the kernel's own
 * counters. There must be no others, and their order and times must be possible.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <posixtrace/fields.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "kernel_fixture.h"

#define SCHED		POSIXTRACE_CLASS_SCHED
#define PROCESS		POSIXTRACE_CLASS_PROCESS
#define BOTH		(SCHED | PROCESS)

#define ROUNDS		200

/* ------------------------------------------------------------------ */
/* The attribute							*/

FIXTURE(attribute)
{
	trace_attr_t attr;
	trace_id_t trid;
};

FIXTURE_SETUP(attribute)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
}

FIXTURE_TEARDOWN(attribute)
{
	posix_trace_attr_destroy(&self->attr);
}

TEST_F(attribute, default_is_none)
{
	unsigned int classes = 1;

	ASSERT_EQ(0, posixtrace_attr_getkernel(&self->attr, &classes));
	EXPECT_EQ(0, classes);
	ASSERT_EQ(0, posixtrace_attr_setkernel(&self->attr, POSIXTRACE_CLASS_ALL));
	ASSERT_EQ(0, posixtrace_attr_getkernel(&self->attr, &classes));
	EXPECT_EQ(POSIXTRACE_CLASS_ALL, classes);
	ASSERT_EQ(0, posixtrace_attr_setkernel(&self->attr, 0));
	ASSERT_EQ(0, posixtrace_attr_getkernel(&self->attr, &classes));
	EXPECT_EQ(0, classes);
}

TEST_F(attribute, other_values_and_objects_are_refused)
{
	unsigned int classes = 0;

	ASSERT_EQ(0, posixtrace_attr_setkernel(&self->attr, SCHED));
	EXPECT_EQ(EINVAL, posixtrace_attr_setkernel(&self->attr, 2 * POSIXTRACE_CLASS_STRINGS));
	EXPECT_EQ(EINVAL, posixtrace_attr_setkernel(&self->attr, ~0U));
	EXPECT_EQ(EINVAL, posixtrace_attr_setkernel(NULL, SCHED));
	EXPECT_EQ(EINVAL, posixtrace_attr_getkernel(NULL, &classes));
	EXPECT_EQ(EINVAL, posixtrace_attr_getkernel(&self->attr, NULL));
	ASSERT_EQ(0, posixtrace_attr_getkernel(&self->attr, &classes));
	EXPECT_EQ(SCHED, classes);
}

TEST_F(attribute, stream_has_the_classes_of_its_attributes)
{
	unsigned int classes = 0;
	trace_attr_t attr;

	ASSERT_EQ(0, posixtrace_attr_setkernel(&self->attr, BOTH));
	ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
	ASSERT_EQ(0, posix_trace_get_attr(self->trid, &attr));
	ASSERT_EQ(0, posixtrace_attr_getkernel(&attr, &classes));
	EXPECT_EQ(BOTH, classes);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(attribute, classes_that_the_kernel_cannot_record_are_not_supported)
{
	long classes = posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);

	EXPECT_EQ(BOTH, classes & BOTH);
	for (unsigned int class = 1; class <= POSIXTRACE_CLASS_ALL; class <<= 1) {
		ASSERT_EQ(0, posixtrace_attr_setkernel(&self->attr, class));
		if (!(classes & class)) {
			EXPECT_EQ(ENOTSUP, posix_trace_create(0, &self->attr, &self->trid));
			continue;
		}
		ASSERT_EQ(0, posix_trace_create(0, &self->attr, &self->trid));
		EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	}
}

/* ------------------------------------------------------------------ */
/* Streams of a worker							*/

TEST_F(kernel, types_are_listed_named_and_described)
{
	static char text[POSIXTRACE_DESCRIPTION_MAX + 1];
	char name[TRACE_EVENT_NAME_MAX + 1];
	unsigned int classes = posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
	const struct kernel_type *type = kernel_type_next(classes, NULL);
	struct posixtrace_fields *fields;
	trace_event_id_t id;
	int unavailable;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, classes, POSIX_TRACE_LOOP, &self->trid));
	for (;;) {
		ASSERT_EQ(0, posix_trace_eventtypelist_getnext_id(self->trid, &id, &unavailable));
		if (unavailable)
			break;
		if (id < POSIXTRACE_SWITCH_OUT || id >= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		ASSERT_NE(NULL, type);
		EXPECT_EQ(type->id, id);
		ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, id, name));
		EXPECT_STREQ(type->name, name);
		ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, name, &id));
		EXPECT_EQ(type->id, id);
		ASSERT_EQ(0, posixtrace_eventid_get_description(self->trid, id, text, sizeof(text),
								NULL));
		ASSERT_EQ(0, posixtrace_fields_parse(text, &fields, NULL));
		posixtrace_fields_free(fields);
		type = kernel_type_next(classes, type);
	}
	EXPECT_EQ(NULL, type);
}

TEST_F(kernel, only_types_of_the_classes_exist)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[8];
	trace_event_id_t id;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, PROCESS, POSIX_TRACE_LOOP, &self->trid));
	EXPECT_EQ(0, posix_trace_eventid_get_name(self->trid, POSIXTRACE_FORK, name));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(self->trid, POSIXTRACE_WAKEUP, name));
	EXPECT_EQ(EINVAL, posixtrace_eventid_get_description(self->trid, POSIXTRACE_WAKEUP, text,
							     sizeof(text), NULL));
	/* The name of a kernel event can still be used for a user event type. */
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "sched_wakeup", &id));
	EXPECT_LT(POSIX_TRACE_UNNAMED_USEREVENT, id);
}

TEST_F(kernel, number_of_switches_matches_the_kernel)
{
	struct switches before, after;
	unsigned int blocked, preempted;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->trid));
	before = worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, ROUNDS));
	after = worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_stop(self->trid));

	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(0, self->events.lost);
	blocked = kernel_events_blocked(&self->events);
	preempted = kernel_events_count(&self->events, POSIXTRACE_SWITCH_OUT) - blocked;
	EXPECT_EQ(after.voluntary - before.voluntary, blocked);
	EXPECT_EQ(after.involuntary - before.involuntary, preempted);
	/*
	 * Each thread waits at the start and at the end, so it leaves its CPU as often as it gets a
	 * CPU.
	 */
	EXPECT_EQ(kernel_events_count(&self->events, POSIXTRACE_SWITCH_OUT),
		  kernel_events_count(&self->events, POSIXTRACE_SWITCH_IN));
	EXPECT_LE(ROUNDS / 2, blocked);
}

TEST_F(kernel, threads_wait_wake_up_and_run_in_this_order)
{
	unsigned int other = 0, self_made = 0;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, ROUNDS));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(0, self->events.lost);

	/* This also prints what is wrong. */
	EXPECT_EQ(0, kernel_events_impossible(&self->events));
	for (size_t i = 0; i < self->events.count; i++) {
		const struct kernel_event *event = &self->events.event[i];

		EXPECT_EQ(self->worker.pid, event->pid);
		if (event->id != POSIXTRACE_WAKEUP)
			continue;
		if (event->data.wakeup.by == BY_THREAD &&
		    event->data.wakeup.waker_pid == self->worker.pid)
			self_made++;
		else if (event->data.wakeup.by == BY_THREAD &&
			 event->data.wakeup.waker_pid == getpid())
			other++;
	}
	/*
	 * The controller has woken the worker for the task, and the two threads have woken each
	 * other.
	 */
	EXPECT_LE(1, other);
	EXPECT_LE(ROUNDS / 2, self_made);
}

TEST_F(kernel, events_are_between_their_calls)
{
	unsigned long long start, stop;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, BOTH, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	start = now();
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	stop = now();
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));

	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	ASSERT_LT(0, self->events.count);
	for (size_t i = 0; i < self->events.count; i++) {
		EXPECT_LE(start, self->events.event[i].time);
		EXPECT_LE(self->events.event[i].time, stop);
		EXPECT_LT(self->events.event[i].cpu, sysconf(_SC_NPROCESSORS_CONF));
		if (i)
			EXPECT_LE(self->events.event[i - 1].time, self->events.event[i].time);
	}
	EXPECT_EQ(1, self->events.starts);
	EXPECT_EQ(1, self->events.stops);
}

/* The worker has two threads: only its main thread records events itself. */
TEST_F(kernel, events_and_those_of_the_program_have_the_same_thread)
{
	const struct kernel_event *event;
	unsigned long long thread = 0;
	unsigned int same = 0, others = 0;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_EVENT, 1));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 1));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	for (size_t i = 0; i < self->events.count; i++) {
		if (self->events.event[i].id == POSIX_TRACE_UNNAMED_USEREVENT)
			thread = self->events.event[i].thread;
	}
	ASSERT_NE(0, thread);
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		if (event->id == POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		same += event->data.tid == self->worker.pid;
		others += event->data.tid != self->worker.pid;
#ifdef __x86_64__
		EXPECT_EQ(event->data.tid == self->worker.pid, event->thread == thread);
#else
		EXPECT_EQ(0, event->thread);
#endif
	}
	EXPECT_LT(0, same);
	EXPECT_LT(0, others);
}

/* ------------------------------------------------------------------ */
/* Births, programs, ends, names					*/

TEST_F(kernel, children_programs_and_ends_are_recorded)
{
	unsigned int forks = 0, exits = 0, programs = 0, i, k;
	const struct kernel_event *event;
	int children[10], status[10];

	ASSERT_EQ(0, kernel_stream(self->worker.pid, PROCESS, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	/* Every second child executes a program. */
	ASSERT_EQ(0, worker_do(&self->worker, DO_CHILDREN, 10));
	for (i = 0; i < 10; i++) {
		children[i] = hear(&self->worker.talk);
		status[i] = hear(&self->worker.talk);
	}
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));

	for (i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		if (event->id == POSIXTRACE_FORK) {
			EXPECT_EQ(self->worker.pid, event->pid);
			EXPECT_EQ(self->worker.pid, event->data.fork.tid);
			ASSERT_LT(forks, 10);
			EXPECT_EQ(children[forks], event->data.fork.child_pid);
			EXPECT_EQ(children[forks], event->data.fork.child_tid);
			forks++;
			continue;
		}
		for (k = 0; k < 10 && children[k] != event->pid; k++)
			;
		ASSERT_LT(k, 10);
		EXPECT_EQ(children[k], event->data.tid);
		if (event->id == POSIXTRACE_EXIT) {
			EXPECT_EQ(status[k], event->data.exit.exit_code);
			EXPECT_EQ(1, event->data.exit.group_dead);
			exits++;
		} else if (event->id == POSIXTRACE_EXEC) {
			EXPECT_STREQ("./exec_helper", event->data.exec.filename);
			EXPECT_EQ(1, k % 2);
			programs++;
		} else {
			EXPECT_EQ(POSIXTRACE_RENAME, event->id);
			EXPECT_STREQ("exec_helper", event->data.rename.newcomm);
		}
	}
	EXPECT_EQ(10, forks);
	EXPECT_EQ(10, exits);
	EXPECT_EQ(5, programs);
	EXPECT_EQ(5, kernel_events_count(&self->events, POSIXTRACE_RENAME));
}

TEST_F(kernel, threads_and_their_names_are_recorded)
{
	const struct kernel_event *event;
	int tid = 0;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, BOTH, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_THREAD, 0));
	/* The thread's exit in the kernel continues after pthread_join() has returned. */
	worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(1, kernel_events_count(&self->events, POSIXTRACE_FORK));
	EXPECT_EQ(1, kernel_events_count(&self->events, POSIXTRACE_RENAME));
	EXPECT_EQ(1, kernel_events_count(&self->events, POSIXTRACE_EXIT));
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		if (event->id == POSIXTRACE_FORK) {
			EXPECT_EQ(self->worker.pid, event->data.fork.child_pid);
			tid = event->data.fork.child_tid;
		} else if (event->id == POSIXTRACE_RENAME) {
			EXPECT_EQ(tid, event->data.tid);
			EXPECT_STREQ("renamed", event->data.rename.newcomm);
		} else if (event->id == POSIXTRACE_EXIT) {
			EXPECT_EQ(tid, event->data.tid);
			EXPECT_EQ(0, event->data.exit.group_dead);
		} else if (event->id == POSIXTRACE_WAKEUP && event->data.wakeup.new) {
			EXPECT_EQ(tid, event->data.tid);
			EXPECT_EQ(self->worker.pid, event->data.wakeup.waker_tid);
		} else if (event->id == POSIXTRACE_SWITCH_OUT && event->data.out.reason == ENDED) {
			EXPECT_EQ(tid, event->data.tid);
			EXPECT_EQ(STATE_DEAD, event->data.out.state);
			tid = -1;
		}
	}
	/* The thread was traced until its last switch. */
	EXPECT_EQ(-1, tid);
}

/* ------------------------------------------------------------------ */
/* Other streams, other threads						*/

TEST_F(kernel, streams_without_classes_have_no_kernel_events)
{
	struct kernel_events events = { 0 };
	struct posixtrace_stats_info stats;
	struct posixtrace_kernel_info info;
	unsigned long long memory;
	trace_id_t trid;
	trace_event_id_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];

	ASSERT_EQ(0, kernel_stream(self->worker.pid, 0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	memory = stats.memory;
	ASSERT_EQ(0, kernel_stream(self->worker.pid, BOTH, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, worker_do(&self->worker, DO_PING_PONG, 10));
	ASSERT_EQ(0, worker_do(&self->worker, DO_EVENT, 3));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_stop(trid));

	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	EXPECT_EQ(3, kernel_events_count(&self->events, POSIX_TRACE_UNNAMED_USEREVENT));
	EXPECT_LE(10, kernel_events_count(&self->events, POSIXTRACE_SWITCH_OUT));
	ASSERT_EQ(0, kernel_events_read(&events, trid));
	EXPECT_EQ(3, events.count);
	EXPECT_EQ(3, kernel_events_count(&events, POSIX_TRACE_UNNAMED_USEREVENT));
	kernel_events_free(&events);

	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(memory, stats.memory);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_LT(memory, stats.memory);
	EXPECT_EQ(0, posixtrace_get_kernel_info(trid, &info));
	EXPECT_EQ(0, info.recorded[CLASS_SCHED]);
	EXPECT_EQ(0, info.dropped[CLASS_SCHED]);
	EXPECT_EQ(EINVAL, posixtrace_get_kernel_info(trid, NULL));
	EXPECT_EQ(EINVAL, posixtrace_get_kernel_info(-1, &info));
	EXPECT_EQ(EINVAL, posix_trace_eventid_get_name(trid, POSIXTRACE_WAKEUP, name));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(trid, "sched_wakeup", &id));
	EXPECT_LT(POSIX_TRACE_UNNAMED_USEREVENT, id);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* Wakes the worker once, then waits for its end. */
static int wake_once(void *arg, const struct talk *talk)
{
	const struct child *worker = arg;

	say(&worker->talk, DO_NOTHING);
	say(&worker->talk, 0);
	say(talk, 0);
	return hear(talk) != 0;
}

/* kernel_waker_rights_test tests which wakers an event may name. */
TEST_F(kernel, switches_name_no_thread_of_another_process)
{
	const struct kernel_event *event;
	unsigned int switches = 0;
	struct child other;

	ASSERT_EQ(0, kernel_stream(self->worker.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, child_start(&other, wake_once, &self->worker));
	ASSERT_EQ(0, hear(&other.talk));
	ASSERT_EQ(0, hear(&self->worker.talk));
	worker_switches(&self->worker);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	child_kill(&other);

	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		switch (event->id) {
		case POSIXTRACE_SWITCH_OUT:
			switches++;
			if (event->data.out.next_tid == getpid())
				break;
			EXPECT_EQ(0, event->data.out.next_tid);
			EXPECT_EQ(0, event->data.out.next_prio);
			break;
		case POSIXTRACE_SWITCH_IN:
			if (event->data.in.prev_tid == getpid())
				break;
			EXPECT_EQ(0, event->data.in.prev_tid);
			EXPECT_EQ(0, event->data.in.prev_prio);
			break;
		}
	}
	EXPECT_LE(1, switches);
}

TEST_HARNESS_MAIN
