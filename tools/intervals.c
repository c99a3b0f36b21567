// SPDX-License-Identifier: GPL-2.0
/*
 * States of threads: see intervals.h.
 *
 * A list has the threads whose state is known. Lost events end the intervals of all of them, and
 * take them off the list: the next loss does not visit them again. Each process has such a list,
 * too: an exec visits the threads of its process only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "intervals.h"
#include "threads.h"

/* The lists of known threads that a thread is on. */
enum list {
	LIST_ALL,
	LIST_PROCESS,
	NR_LISTS,
};

struct place {
	struct thread *next;
	struct thread **link;		/* to this one */
};

/* A wake-up. */
struct wakeup {
	uint64_t time;
	struct waker waker;
};

struct thread {
	struct interval now;		/* the open interval */
	bool begun;			/* there is one */
	bool known;			/* it is on the lists */
	struct place places[NR_LISTS];
	uint32_t process;		/* number of its process */
	uint64_t losses;		/* struct intervals.losses at its last event */
	bool woken;			/* but it did not become runnable by that */
	struct wakeup wakeup;
	bool exiting;
	uint64_t exit_time;
};

struct intervals {
	struct thread **threads;	/* by number; NULL: none yet */
	size_t max;
	bool scheduled;			/* the log has the scheduler's events */
	struct thread *known;
	struct threads *processes;	/* numbers of processes, by their ids */
	struct thread **known_of;	/* by number of the process */
	uint64_t losses;
	uint64_t first_time;		/* of all events */
	bool started;			/* there is a first event */
	intervals_put put;
	void *to;
};

const char *interval_name(const struct interval *interval)
{
	static const char *const names[NR_STATES] = {
		[STATE_UNKNOWN] = "unknown",
		[STATE_RUNNING] = "running",
		[STATE_RUNNABLE] = "runnable",
		[STATE_SLEEP] = "blocked (sleep)",
		[STATE_DISK] = "blocked (uninterruptible)",
		[STATE_STOPPED] = "stopped",
	};

	return interval->io ? "blocked (I/O)" : names[interval->state];
}

int intervals_new(size_t max, bool scheduled, intervals_put put, void *to,
		  struct intervals **intervals)
{
	struct intervals *new = calloc(1, sizeof(*new));

	*intervals = NULL;
	if (!new)
		return -ENOMEM;
	new->max = max;
	new->scheduled = scheduled;
	new->put = put;
	new->to = to;
	new->threads = calloc(max + 1, sizeof(*new->threads));
	/* There are no more processes than threads. */
	new->known_of = calloc(max + 1, sizeof(*new->known_of));
	if (!new->threads || !new->known_of || threads_new(max, &new->processes)) {
		intervals_free(new);
		return -ENOMEM;
	}
	*intervals = new;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Intervals								*/

static void list_add(struct thread **first, struct thread *thread, enum list list)
{
	struct place *place = &thread->places[list];

	place->next = *first;
	place->link = first;
	if (place->next)
		place->next->places[list].link = &place->next;
	*first = thread;
}

static void list_remove(struct thread *thread, enum list list)
{
	struct place *place = &thread->places[list];

	*place->link = place->next;
	if (place->next)
		place->next->places[list].link = place->link;
}

static void list_known(struct intervals *intervals, struct thread *thread)
{
	bool known = thread->begun && thread->now.state != STATE_UNKNOWN;

	if (known == thread->known)
		return;
	thread->known = known;
	if (known) {
		list_add(&intervals->known, thread, LIST_ALL);
		list_add(&intervals->known_of[thread->process], thread, LIST_PROCESS);
	} else {
		list_remove(thread, LIST_ALL);
		list_remove(thread, LIST_PROCESS);
	}
}

/* Ends the open interval. Returns 0 or a negative error number. */
static int end_interval(struct intervals *intervals, struct thread *thread, uint64_t time)
{
	struct interval *now = &thread->now;

	if (!thread->begun)
		return 0;
	thread->begun = false;
	list_known(intervals, thread);
	/* Times may go back in a damaged log; intervals do not. */
	now->end = time > now->begin ? time : now->begin;
	return now->end > now->begin ? intervals->put(intervals->to, now) : 0;
}

/* Begins the next interval, not before the end of the last. */
static struct interval *begin_interval(struct intervals *intervals, struct thread *thread,
				       enum state state, uint64_t time)
{
	struct interval *now = &thread->now;

	*now = (struct interval){
		.thread = now->thread,
		.pid = now->pid,
		.state = state,
		.begin = time > now->end ? time : now->end,
		.cpu = SOURCE_NO_CPU,
	};
	now->end = now->begin;
	thread->begun = true;
	thread->woken = false;
	list_known(intervals, thread);
	return now;
}

static void run(struct intervals *intervals, struct thread *thread, uint64_t time, unsigned int cpu)
{
	begin_interval(intervals, thread, STATE_RUNNING, time)->cpu = cpu;
}

/* The events contradict each other: forget the state since the begin of the interval. */
static void forget(struct thread *thread)
{
	const struct interval *now = &thread->now;

	thread->woken = false;
	thread->now = (struct interval){
		.thread = now->thread,
		.pid = now->pid,
		.state = STATE_UNKNOWN,
		.begin = now->begin,
		.end = now->end,
		.cpu = SOURCE_NO_CPU,
	};
}

static bool in_state(const struct thread *thread, enum state state)
{
	return thread->begun && thread->now.state == state;
}

static bool is_unknown(const struct thread *thread)
{
	return !thread->begun || thread->now.state == STATE_UNKNOWN;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static int become_runnable(struct intervals *intervals, struct thread *thread, uint64_t time,
			   const struct wakeup *wakeup)
{
	struct interval *now = &thread->now;
	int err;

	if (wakeup && thread->begun && now->state >= STATE_SLEEP)
		now->waker = wakeup->waker;
	err = end_interval(intervals, thread, time);
	now = begin_interval(intervals, thread, STATE_RUNNABLE, time);
	if (wakeup)
		now->waker = wakeup->waker;
	return err;
}

static int switch_in(struct intervals *intervals, struct thread *thread, const struct event *event,
		     const struct kevent *kevent)
{
	uint64_t runnable = (uint64_t)kevent->runnable;	/* 0: not known */
	struct wakeup wakeup = thread->wakeup;
	uint64_t since = 0;
	int err = 0;

	if (in_state(thread, STATE_RUNNING))
		forget(thread);
	if (runnable && runnable < event->time)
		since = event->time - runnable;
	if (since < intervals->first_time)
		since = intervals->first_time;
	if (thread->woken && is_unknown(thread)) {
		/* It has not run since: then it would have left the processor first. */
		err = become_runnable(intervals, thread, wakeup.time, &wakeup);
	} else if (thread->woken && thread->now.state >= STATE_SLEEP) {
		/* It was woken when it was about to wait. */
		err = become_runnable(intervals, thread, since, &wakeup);
	} else if (!in_state(thread, STATE_RUNNABLE) && runnable) {
		err = become_runnable(intervals, thread, since, NULL);
	}
	if (!err)
		err = end_interval(intervals, thread, event->time);
	run(intervals, thread, event->time, event->cpu);
	return err ? err : 1;
}

/* States of blocked threads: the letter of ps(1), and what it means. */
static const struct {
	char letter;
	enum state state;
} blocked_states[KEVENT_STATES] = {
	[KEVENT_STATE_S] = { 'S', STATE_SLEEP },
	[KEVENT_STATE_D] = { 'D', STATE_DISK },
	[KEVENT_STATE_T] = { 'T', STATE_STOPPED },
	[KEVENT_STATE_t] = { 't', STATE_STOPPED },
	[KEVENT_STATE_P] = { 'P', STATE_SLEEP },
	[KEVENT_STATE_I] = { 'I', STATE_SLEEP },
};

static bool is_state(int64_t state)
{
	return state >= 0 && state < KEVENT_STATES;
}

static enum state state_of(const struct kevent *kevent)
{
	switch (kevent->reason) {
	case KEVENT_PREEMPTED:
		return STATE_RUNNABLE;
	case KEVENT_IO:
		return STATE_DISK;
	case KEVENT_BLOCKED:
		return is_state(kevent->state) ? blocked_states[kevent->state].state :
						 STATE_UNKNOWN;
	default:
		return STATE_UNKNOWN;
	}
}

static int switch_out(struct intervals *intervals, struct thread *thread, const struct event *event,
		      const struct kevent *kevent, const struct call *call)
{
	bool early = thread->woken && in_state(thread, STATE_RUNNING);
	struct interval *now;
	int err;

	if (thread->begun && thread->now.state != STATE_RUNNING)
		forget(thread);
	err = end_interval(intervals, thread, event->time);
	thread->exiting = false;
	if (kevent->reason == KEVENT_ENDED)
		return err ? err : 1;
	now = begin_interval(intervals, thread, state_of(kevent), event->time);
	now->preempted = now->state == STATE_RUNNABLE;
	if (now->state >= STATE_SLEEP) {
		thread->woken = early;
		if (is_state(kevent->state))
			now->letter = blocked_states[kevent->state].letter;
		now->io = kevent->reason == KEVENT_IO;
		if (call)
			memcpy(now->call, call->name, sizeof(now->call));
	}
	return err ? err : 1;
}

static int wake_up(struct intervals *intervals, struct thread *thread, const struct event *event,
		   const struct kevent *kevent)
{
	const struct wakeup wakeup = { .time = event->time, .waker = waker_of(kevent) };
	int err;

	if (in_state(thread, STATE_RUNNABLE))
		return 0;
	if (!in_state(thread, STATE_RUNNING) && (!is_unknown(thread) || kevent->new)) {
		err = become_runnable(intervals, thread, event->time, &wakeup);
		return err ? err : 1;
	}
	/* It runs, or may run: the next events show what the wake-up was good for. */
	if (in_state(thread, STATE_RUNNING) || !thread->woken) {
		thread->woken = true;
		thread->wakeup = wakeup;
	}
	return 0;
}

/* After exec, the process has one thread, which has the id of the process. */
static int end_others(struct intervals *intervals, const struct thread *thread, uint64_t time)
{
	struct thread *other, *next;
	int err = 0;

	for (other = intervals->known_of[thread->process]; other && !err; other = next) {
		next = other->places[LIST_PROCESS].next;
		if (other != thread)
			err = end_interval(intervals, other, time);
	}
	return err;
}

/* The last switch of the last thread of a process is not recorded: the exit is its end. */
static int exit_thread(struct intervals *intervals, struct thread *thread, uint64_t time,
		       const struct kevent *kevent)
{
	thread->exiting = !kevent->group_dead;
	thread->exit_time = time;
	return thread->exiting ? 0 : end_interval(intervals, thread, time);
}

/* An event that a thread records itself shows that it is running. */
static int record(struct intervals *intervals, struct thread *thread, const struct event *event,
		  const struct kevent *kevent)
{
	int err = 0;

	/* Without events of the scheduler, there are no states. */
	if (!intervals->scheduled)
		return 0;
	if (is_unknown(thread)) {
		thread->woken = false;
		err = end_interval(intervals, thread, event->time);
		run(intervals, thread, event->time, event->cpu);
	}
	if (!err && event->type == POSIXTRACE_EXEC)
		err = end_others(intervals, thread, event->time);
	if (!err && event->type == POSIXTRACE_EXIT)
		err = exit_thread(intervals, thread, event->time, kevent);
	return err;
}

static struct thread *new_thread(struct intervals *intervals, uint32_t number, pid_t pid)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	if (threads_find(intervals->processes, pid, 0, &thread->process) < 0) {
		free(thread);
		return NULL;
	}
	thread->now.thread = number;
	thread->now.pid = pid;
	intervals->threads[number] = thread;
	return thread;
}

static struct thread *find(struct intervals *intervals, uint32_t number, const struct event *event)
{
	struct thread *thread = intervals->threads[number];

	if (!thread)
		thread = new_thread(intervals, number, event->pid);
	if (!thread)
		return NULL;
	if (thread->losses != intervals->losses)
		thread->woken = false;
	thread->losses = intervals->losses;
	return thread;
}

int intervals_event(struct intervals *intervals, uint32_t number, const struct event *event,
		    const struct kevent *kevent, const struct call *call)
{
	struct thread *thread;

	if (!intervals->started)
		intervals->first_time = event->time;
	intervals->started = true;
	if (!number || number > intervals->max || (!kevent && !event->user))
		return 0;
	thread = find(intervals, number, event);
	if (!thread)
		return -ENOMEM;
	switch (event->type) {
	case POSIXTRACE_SWITCH_IN:
		return switch_in(intervals, thread, event, kevent);
	case POSIXTRACE_SWITCH_OUT:
		return switch_out(intervals, thread, event, kevent, call);
	case POSIXTRACE_WAKEUP:
		return wake_up(intervals, thread, event, kevent);
	default:
		return event_shows_running(event) ? record(intervals, thread, event, kevent) : 0;
	}
}

/* Its last switch may be missing: then the exit is its end. */
static uint64_t end_of(const struct thread *thread, uint64_t time)
{
	return thread->exiting ? thread->exit_time : time;
}

int intervals_lost(struct intervals *intervals, uint64_t time)
{
	struct thread *thread;
	int err;

	intervals->losses++;
	while ((thread = intervals->known)) {
		bool exiting = thread->exiting;

		err = end_interval(intervals, thread, end_of(thread, time));
		thread->exiting = false;
		if (!exiting)
			begin_interval(intervals, thread, STATE_UNKNOWN, time);
		if (err)
			return err;
	}
	return 0;
}

int intervals_end(struct intervals *intervals, uint64_t time)
{
	struct thread *thread;
	int err = 0;

	for (size_t i = 1; i <= intervals->max && !err; i++) {
		thread = intervals->threads[i];
		if (!thread)
			continue;
		thread->now.open = !thread->exiting;
		err = end_interval(intervals, thread, end_of(thread, time));
	}
	return err;
}

const struct interval *intervals_now(const struct intervals *intervals, uint32_t number)
{
	const struct thread *thread = intervals->threads[number];

	return thread && thread->begun ? &thread->now : NULL;
}

void intervals_drop(struct intervals *intervals, uint32_t number)
{
	struct thread *thread = intervals->threads[number];

	if (!thread)
		return;
	thread->begun = false;
	thread->woken = false;
	thread->exiting = false;
	list_known(intervals, thread);
}

void intervals_free(struct intervals *intervals)
{
	if (!intervals)
		return;
	for (size_t i = 0; intervals->threads && i <= intervals->max; i++)
		free(intervals->threads[i]);
	free(intervals->threads);
	free(intervals->known_of);
	threads_free(intervals->processes);
	free(intervals);
}
