// SPDX-License-Identifier: GPL-2.0
/*
 * What the threads of a trace did over time: see states.h.
 *
 * intervals.c tracks the states, and states_threads.c tracks when threads begin and end. This file
 * sums up the times for each thread and place.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/holder.h"
#include "analyze/intervals.h"
#include "analyze/latest.h"
#include "analyze/states.h"
#include "analyze/states_threads.h"
#include "elf/lock_wait.h"
#include "event/event_names.h"
#include "util/threads.h"

/* ------------------------------------------------------------------ */
/* Times								*/

static uint32_t place_of(const struct summary *thread)
{
	return thread->fault ? WAITS_IN_FAULT : thread->place;
}

static int add_wait(struct states *states, struct summary *thread, const struct interval *interval)
{
	struct wait wait = {
		.thread = (uint32_t)(thread - states->threads),
		.place = thread->waits_in,
		.io = interval->io,
		.begin = interval->begin,
		.length = interval->end - interval->begin,
		.waker = interval->waker,
	};
	const struct locks_sum lock = {
		.process = (uint32_t)thread->pub.pid,
		.address = thread->wait.address,
		.holder = thread->wait.holder,
	};
	int err = 0;

	if (wait.waker.kind == WAKER_UNKNOWN)
		wait.waker.kind = states->no_waker;
	if (wait.io)
		thread->pub.io += wait.length;
	if (thread->wait.place)
		err = locks_add(states->locks, &lock, wait.length);
	return err ? err : waits_add(states->waits, &wait);
}

static int put_interval(void *to, const struct interval *interval)
{
	struct states *states = to;
	struct summary *thread = &states->threads[interval->thread - 1];
	/* Do not count the part of the interval before the thread was first seen. */
	uint64_t begin = interval->begin > thread->born ? interval->begin : thread->born;
	uint64_t ns = interval->end > begin ? interval->end - begin : 0;

	switch (interval->state) {
	case STATE_RUNNING:
		/* If events are missing, the interval may end before its last interrupts end. */
		if (thread->runs_since == interval->begin)
			thread->pub.interrupted +=
				thread->interrupts < ns ? thread->interrupts : ns;
		thread->pub.time[STATES_RUNNING] += ns;
		return 0;
	case STATE_RUNNABLE:
		thread->pub.time[STATES_RUNNABLE] += ns;
		return 0;
	case STATE_SLEEP:
	case STATE_DISK:
	case STATE_STOPPED:
		thread->pub.time[STATES_BLOCKED] += ns;
		return add_wait(states, thread, interval);
	default:
		return 0;
	}
}

int states_new(unsigned int classes, struct states **states)
{
	struct states *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->classes = classes;
	err = threads_new(STATES_THREADS, &new->numbers);
	if (!err)
		err = intervals_new(STATES_THREADS, classes & POSIXTRACE_CLASS_SCHED, put_interval,
				    new, &new->intervals);
	if (!err)
		err = threads_new(STATES_THREADS, &new->process_numbers);
	if (!err)
		err = waits_new(&new->waits);
	if (!err)
		err = locks_new(&new->locks);
	if (!err)
		err = latest_new(2 * STATES_THREADS, &new->latest);
	if (!err)
		err = lock_wait_new(&new->lock_wait);
	if (err)
		states_free(new);
	else
		*states = new;
	return err;
}

void states_free(struct states *states)
{
	if (!states)
		return;
	threads_free(states->numbers);
	threads_free(states->process_numbers);
	intervals_free(states->intervals);
	waits_free(states->waits);
	locks_free(states->locks);
	latest_free(states->latest);
	lock_wait_free(states->lock_wait);
	free(states->threads);
	free(states->results);
	free(states->processes);
	free(states);
}

/* ------------------------------------------------------------------ */
/* Events								*/

static void switch_out(struct states *states, struct summary *thread, const struct kevent *kevent)
{
	switch (kevent->reason) {
	case KEVENT_PREEMPTED:
		thread->pub.preempted++;
		break;
	case KEVENT_BLOCKED:
	case KEVENT_IO:
		thread->pub.voluntary++;
		thread->wait = thread->futex;
		thread->waits_in = thread->wait.place ? thread->wait.place : place_of(thread);
		thread->blocked = states->now;
		break;
	case KEVENT_ENDED:
		states_end_life(states, thread, states->now);
		break;
	}
}

/* Finds the thread that holds the lock for which a thread waits; 0 if unknown. */
static uint32_t find_holder(struct states *states, const struct event *event,
			    const struct kevent *kevent)
{
	const pid_t tid = holder_of_wait(states->lock_wait, event, kevent);
	const uint32_t holder = tid ? latest_get(states->latest, event->pid, tid) : 0;
	const struct summary *thread = holder ? &states->threads[holder - 1] : NULL;

	return thread && thread->alive && !thread->exiting ? holder : 0;
}

static int wait_for_futex(struct states *states, struct summary *thread, const struct event *event,
			  const struct kevent *kevent)
{
	struct futex futex = { .place = thread->place, .address = (uint64_t)kevent->address };
	struct kevent entry;
	int err = 0;

	/* Without the class syscall, only the futex_wait shows that the thread is in futex(). */
	if (futex.place < WAITS_IN_CALL) {
		holder_call(kevent, &entry);
		err = waits_call(states->waits, &entry, &futex.place);
	}
	if (!err)
		futex.holder = find_holder(states, event, kevent);
	thread->futex = futex;
	return err;
}

/*
 * Counts the time of an interrupt, unless it is nested, but at most the time that the thread ran.
 */
static void interrupt(struct states *states, struct summary *thread, const struct kevent *kevent)
{
	const struct interval *interval = states_interval_of(states, thread);
	uint64_t ns = (uint64_t)kevent->duration, from, most;

	if (!interval || interval->state != STATE_RUNNING || kevent->nested)
		return;
	if (thread->runs_since != interval->begin)
		thread->interrupts = 0;
	thread->runs_since = interval->begin;
	from = interval->begin > thread->interrupted ? interval->begin : thread->interrupted;
	most = states->now > from ? states->now - from : 0;
	thread->interrupts += ns < most ? ns : most;
	thread->interrupted = states->now;
}

/* Creates the thread named by a fork event. Its state is unknown until its first event. */
static int fork_thread(struct states *states, const struct event *event,
		       const struct kevent *kevent)
{
	const struct event child = {
		.pid = (pid_t)kevent->child_pid,
		.tid = (pid_t)kevent->child_tid,
		.life = event->child_life,
		.process_life = event->child_process_life,
	};
	struct summary *thread;
	int err = 0;

	if (child.pid && child.tid)
		err = states_find_thread(states, &child, states->now, &thread);
	/* Register the child before its first event, to end the previous owner of its ids. */
	if (child.pid && child.tid && !err && thread)
		err = intervals_begin(states->intervals, states_number_of(states, thread), &child);
	return err;
}

/* Ends the other threads of a process, when it executes a program or ends. */
static void end_others(struct states *states, const struct summary *thread)
{
	struct summary *other;
	uint32_t next;

	for (uint32_t i = states->processes[thread->process]; i != STATES_NO_THREAD; i = next) {
		other = &states->threads[i];
		next = other->next;
		if (other != thread)
			states_end_life(states, other, states->now);
	}
}

static void exit_thread(struct states *states, struct summary *thread, const struct kevent *kevent)
{
	/* End the last thread of the process here, because its last switch is not recorded. */
	if (kevent->group_dead) {
		end_others(states, thread);
		states_end_life(states, thread, states->now);
	}
	/*
	 * Unlink the thread, so that an exec does not visit it: a forged log may have many of both.
	 */
	states_unlink_thread(states, thread);
	thread->exiting = !kevent->group_dead;
	thread->exited = states->now;
}

/* Handles an event recorded by the thread, or by the kernel about the thread's actions. */
static int act(struct states *states, struct summary *thread, const struct event *event,
	       const struct kevent *kevent)
{
	if (event->type == POSIXTRACE_IRQ) {
		interrupt(states, thread, kevent);
		return 0;
	}
	thread->fault = event->type == POSIXTRACE_PAGE_FAULT;
	thread->futex.place = 0;
	/* A user event shows that the thread is not in a system call. */
	if (event->user && thread->place == WAITS_IN_UNKNOWN &&
	    states->classes & POSIXTRACE_CLASS_SYSCALL)
		thread->place = WAITS_IN_NO_CALL;
	switch (event->type) {
	case POSIXTRACE_FORK:
		return fork_thread(states, event, kevent);
	case POSIXTRACE_EXEC:
		end_others(states, thread);
		break;
	case POSIXTRACE_EXIT:
		exit_thread(states, thread, kevent);
		break;
	case POSIXTRACE_SIGNAL_DELIVER:
		thread->pub.signals++;
		break;
	case POSIXTRACE_PAGE_FAULT:
		thread->pub.faults++;
		break;
	case POSIXTRACE_SYSCALL_ENTRY:
		thread->pub.calls++;
		return waits_call(states->waits, kevent, &thread->place);
	case POSIXTRACE_SYSCALL_EXIT:
		thread->place = WAITS_IN_NO_CALL;
		break;
	case POSIXTRACE_FUTEX_WAIT:
		return wait_for_futex(states, thread, event, kevent);
	}
	return 0;
}

static int handle(struct states *states, struct summary *thread, const struct event *event,
		  const struct kevent *kevent)
{
	int ret;

	/* Ignore events that the kernel records for the last thread of a process after its exit. */
	if (!thread->alive)
		return 0;
	if (thread->gaps != states->gaps) {
		thread->place = WAITS_IN_UNKNOWN;
		thread->fault = false;
		thread->futex.place = 0;
	}
	thread->gaps = states->gaps;
	thread->start = NULL;
	thread->blocked = 0;
	/* Get the name now: once the thread has ended, a stream may no longer have it. */
	if (!thread->pub.seen && !event_thread_label(event, thread->pub.label))
		thread->pub.label[0] = '\0';
	thread->pub.seen = true;
	/* An exec ends the waits of the other threads without a wake-up. */
	states->no_waker = event->type == POSIXTRACE_EXEC ? WAKER_NONE : WAKER_UNKNOWN;
	ret = intervals_event(states->intervals, states_number_of(states, thread), event,
			      event->user ? NULL : kevent, NULL);
	if (ret < 0)
		return ret;
	switch (event->type) {
	case POSIXTRACE_SWITCH_OUT:
		switch_out(states, thread, kevent);
		thread->futex.place = 0;
		return 0;
	case POSIXTRACE_SWITCH_IN:
		thread->fault = false;
		return 0;
	case POSIXTRACE_WAKEUP:
		return 0;
	default:
		return act(states, thread, event, kevent);
	}
}

/* ------------------------------------------------------------------ */
/* All events								*/

/* Checks if the event shows anything about the state of its thread. */
static bool tells(const struct event *event)
{
	switch (event->type) {
	case POSIXTRACE_SWITCH_OUT:
	case POSIXTRACE_SWITCH_IN:
	case POSIXTRACE_WAKEUP:
		return true;
	default:
		return event_shows_running(event);
	}
}

/* Makes states and places unknown from @from on. */
static int forget(struct states *states, uint64_t from, enum waker_kind waker)
{
	states->gaps++;
	states->no_waker = waker;
	return intervals_lost(states->intervals, from);
}

/*
 * If events are missing, makes states unknown from the start of the gap, or else from the last
 * event.
 */
static int note_gap(struct states *states, const struct event *event)
{
	uint64_t from = event->time < states->now ? event->time : states->now;
	bool lost = event->lost > states->lost;

	snapshot_see(&states->walk, event, lost);
	states->lost = event->lost;
	if (event->partial && !lost)
		return intervals_stopped(states->intervals, event);
	switch (event->type) {
	case POSIX_TRACE_OVERFLOW:
		return forget(states, from, WAKER_UNKNOWN);
	case POSIX_TRACE_STOP:
		return forget(states, from, WAKER_NONE);
	case POSIX_TRACE_RESUME:
	case POSIX_TRACE_START:
	case POSIX_TRACE_ERROR:
		return forget(states, states->now, WAKER_UNKNOWN);
	}
	return lost ? forget(states, states->now, WAKER_UNKNOWN) : 0;
}

/* ------------------------------------------------------------------ */
/* States at the start							*/

void states_start(struct states *states, struct source *source, const struct snapshot *snapshot)
{
	states->source = source;
	snapshot_begin(&states->walk, snapshot);
}

/*
 * Notes the system call in a state. It becomes the current place only if events will show its end.
 */
static int note_call(struct states *states, struct summary *thread,
		     const struct posixtrace_thread_state *state)
{
	uint32_t place = WAITS_IN_UNKNOWN;
	struct kevent entry;
	int err = 0;

	if (snapshot_call(state, &entry))
		err = waits_call(states->waits, &entry, &place);
	else if (state->flags & POSIXTRACE_STATE_USER)
		place = WAITS_IN_NO_CALL;
	thread->waits_in = place;
	thread->wait.place = 0;
	if (states->classes & POSIXTRACE_CLASS_SYSCALL)
		thread->place = place;
	return err;
}

static void note_label(struct summary *thread, const struct event *event,
		       const struct posixtrace_thread_state *state)
{
	if (!thread->pub.seen && !event_thread_label(event, thread->pub.label))
		event_label(event, state->name, thread->pub.label);
	thread->pub.seen = true;
}

static int use_state(struct states *states, const struct posixtrace_thread_state *state)
{
	const uint64_t begin = states->walk.complete_from;
	struct summary *thread;
	struct event event;
	int ret = snapshot_event(states->source, state, &event);

	if (!ret)
		ret = states_find_thread(states, &event, begin, &thread);
	if (ret || !thread || !thread->alive ||
	    (thread->pub.seen && thread->gaps == states->gaps))
		return ret;
	ret = intervals_state(states->intervals, states_number_of(states, thread), &event, state,
			      begin);
	if (ret < 0)
		return ret;
	thread->gaps = states->gaps;
	thread->start = ret && state->state ? state : NULL;
	note_label(thread, &event, state);
	return note_call(states, thread, state);
}

/* Uses the states of the snapshot that are older than @until, the time of the next event. */
static int use_states(struct states *states, uint64_t until)
{
	const struct posixtrace_thread_state *state;
	int err = 0;

	while (!err && (state = snapshot_next(&states->walk, until)))
		err = use_state(states, state);
	return err;
}

int states_event(struct states *states, const struct event *event, bool selected)
{
	struct summary *thread;
	struct kevent kevent;
	int err;

	if (!states->begun) {
		states->begun = true;
		states->first = event->time;
		states->now = event->time;
		states->lost = event->lost;
		/* Pass the first event to intervals.c, because the states before it are unknown. */
		intervals_event(states->intervals, 0, event, NULL, NULL);
	}
	err = selected ? use_states(states, event->time) : 0;
	if (err)
		return err;
	/*
	 * OVERFLOW and STOP tell when a gap began, so states are known until then. For any other
	 * gap, they are known until the previous event.
	 */
	if (selected && event->time > states->now &&
	    (event->type == POSIX_TRACE_OVERFLOW || event->type == POSIX_TRACE_STOP))
		states->now = event->time;
	err = note_gap(states, event);
	/*
	 * An unselected event may have changed the state of its thread, so do not use older states.
	 */
	if (!selected && event->tid)
		snapshot_see(&states->walk, event, true);
	if (err || !selected)
		return err;
	if (event->time > states->now)
		states->now = event->time;
	if (!tells(event) || !event->tid || (!event->user && !kevent_read(event, &kevent)))
		return 0;
	err = states_find_thread(states, event, states->now, &thread);
	return err || !thread ? err : handle(states, thread, event, &kevent);
}

/* ------------------------------------------------------------------ */
/* Results								*/

/* Returns the end of the thread, or the last time at which it is known to exist. */
static uint64_t end_of(const struct states *states, const struct summary *thread)
{
	const struct interval *interval = states_interval_of(states, thread);
	uint64_t since;

	if (intervals_dropped(states->intervals, states_number_of(states, thread), &since))
		return since > thread->born ? since : thread->born;
	/* If the last switch of the thread is missing, the thread ended at its exit event. */
	if (thread->exiting && (!interval || interval->begin <= thread->exited))
		return thread->exited;
	return states->now;
}

/* The rest of the lifetime was spent in an unknown state. */
static void set_unknown(struct states_thread *thread)
{
	uint64_t known = thread->time[STATES_RUNNING] + thread->time[STATES_RUNNABLE] +
			 thread->time[STATES_BLOCKED];

	thread->time[STATES_UNKNOWN] = thread->lifetime > known ? thread->lifetime - known : 0;
}

int states_end(struct states *states)
{
	struct summary *thread;
	int err;

	states->results = calloc(states->nr_threads + 1, sizeof(*states->results));
	if (!states->results)
		return -ENOMEM;
	states->no_waker = WAKER_NONE;
	for (size_t i = 0; i < states->nr_threads; i++) {
		thread = &states->threads[i];
		if (thread->alive)
			states_end_life(states, thread, end_of(states, thread));
	}
	err = intervals_end(states->intervals, states->now);
	for (size_t i = 0; i < states->nr_threads; i++) {
		set_unknown(&states->threads[i].pub);
		states->results[i] = states->threads[i].pub;
	}
	return err;
}

const struct states_thread *states_threads(const struct states *states, size_t *count)
{
	*count = states->nr_threads;
	return states->results;
}

const struct waits *states_waits(const struct states *states)
{
	return states->waits;
}

bool states_blocked(const struct states *states, uint32_t thread, struct states_blocked *blocked)
{
	const struct summary *summary = &states->threads[thread];

	*blocked = (struct states_blocked){ .thread = thread, .state = summary->start };
	if (summary->start) {
		blocked->since = snapshot_ns(&summary->start->since);
		blocked->exact = summary->start->flags & POSIXTRACE_STATE_SINCE;
	} else {
		blocked->since = summary->blocked;
		blocked->exact = true;
		if (summary->wait.place) {
			blocked->address = summary->wait.address;
			blocked->holder = summary->wait.holder;
		}
	}
	return summary->start || summary->blocked;
}

const struct locks *states_locks(const struct states *states)
{
	return states->locks;
}

bool states_more(const struct states *states)
{
	return states->more;
}

uint64_t states_first(const struct states *states)
{
	return states->first;
}

uint64_t states_last(const struct states *states)
{
	return states->now;
}

bool states_has(const struct states *states, unsigned int class)
{
	return states->classes & class;
}
