// SPDX-License-Identifier: GPL-2.0
/*
 * Thread states: see intervals.h.
 *
 * Threads with a known state are on a list. A loss of events ends the intervals of these threads
 * and empties the list, so the next loss does not visit them again. Each process has a list of its
 * live threads, so an exec and the end of a process visit only those.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/intervals.h"
#include "event/hosts.h"
#include "util/threads.h"

/* Missing switches between two threads are only detected on CPUs below this number. */
#define CPUS_MAX	4096

/* Lists that a thread can be on. */
enum list {
	LIST_KNOWN,
	LIST_PROCESS,
	NR_LISTS,
};

/* The series of a thread that has no event yet, only a state at the start of the log. */
#define NO_SERIES	UINT32_MAX

struct place {
	struct thread *next;
	struct thread **link;		/* the pointer to this thread in the list */
};

/* A wake-up. */
struct wakeup {
	uint64_t time;
	struct waker waker;
};

struct thread {
	struct interval now;		/* the open interval */
	bool begun;			/* @now is valid */
	bool known;			/* the state is known, so the thread is on LIST_KNOWN */
	struct place places[NR_LISTS];
	uint32_t process;		/* number of its process */
	uint64_t born;			/* before, another thread may have had its ids */
	uint64_t losses;		/* struct intervals.losses at its last event */
	uint32_t series;		/* series of its last event, or NO_SERIES */
	uint64_t seen;			/* if running: time of its last event */
	bool woken;			/* woken by @wakeup, but not yet runnable */
	struct wakeup wakeup;
	bool ended;			/* ignore all further events */
	bool dropped;			/* the thread ended at an unknown time */
	bool exiting;
	uint64_t exit_time;
};

struct intervals {
	struct thread **threads;	/* index: number of the thread; entries may be NULL */
	size_t max;
	bool scheduled;			/* the log has scheduler events */
	struct thread *known;
	struct thread **on_cpu[HOSTS_MAX + 1];	/* index: host; the last thread on each CPU */
	struct threads *processes;	/* numbers for process keys */
	struct thread **threads_of;	/* index: process number; list of live threads */
	struct thread **exiting_of;	/* index: process number; list of exiting threads */
	struct threads *ids;		/* numbers for thread ids */
	struct thread **last_of;	/* index: number in @ids; the last thread with the id */
	uint64_t losses;
	uint64_t first_time;		/* time of the first event */
	bool started;			/* @first_time is valid */
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
	/* There are at most as many processes as threads. */
	new->threads_of = calloc(max + 1, sizeof(*new->threads_of));
	new->exiting_of = calloc(max + 1, sizeof(*new->exiting_of));
	new->last_of = calloc(max + 1, sizeof(*new->last_of));
	if (!new->threads || !new->threads_of || !new->exiting_of || !new->last_of ||
	    threads_new(max, &new->processes) || threads_new(max, &new->ids)) {
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
	if (known)
		list_add(&intervals->known, thread, LIST_KNOWN);
	else
		list_remove(thread, LIST_KNOWN);
}

static void set_ended(struct thread *thread)
{
	if (!thread->ended)
		list_remove(thread, LIST_PROCESS);
	thread->ended = true;
}

/*
 * Keeps exiting threads on a separate list, so that an exec does not visit them. Otherwise a forged
 * log with many execs and many exiting threads would take quadratic time.
 */
static void set_exiting(struct intervals *intervals, struct thread *thread, bool exiting)
{
	struct thread **lists = exiting ? intervals->exiting_of : intervals->threads_of;

	if (thread->exiting != exiting && !thread->ended) {
		list_remove(thread, LIST_PROCESS);
		list_add(&lists[thread->process], thread, LIST_PROCESS);
	}
	thread->exiting = exiting;
}

/* Ends the open interval. Returns 0 or a negative error number. */
static int end_interval(struct intervals *intervals, struct thread *thread, uint64_t time)
{
	struct interval *now = &thread->now;

	if (!thread->begun)
		return 0;
	thread->begun = false;
	list_known(intervals, thread);
	/*
	 * Time may run backwards in a damaged log, but an interval must not end before its start.
	 */
	now->end = time > now->begin ? time : now->begin;
	return now->end > now->begin ? intervals->put(intervals->to, now) : 0;
}

/*
 * Ends the open interval at the last time at which the thread is known to have been in its state.
 */
static int cut_interval(struct intervals *intervals, struct thread *thread, uint64_t time)
{
	thread->now.complete = false;
	return end_interval(intervals, thread, time);
}

/*
 * Begins the next interval at @time, but not before the end of the previous one. Leaves @complete
 * false: a caller that knows the exact begin must set it. The end of the interval may clear it
 * again.
 */
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

static bool in_state(const struct thread *thread, enum state state)
{
	return thread->begun && thread->now.state == state;
}

/*
 * Returns where the last thread that ran on a CPU is stored. NULL if the number is too large, or if
 * there is not enough memory.
 */
static struct thread **cpu_slot(struct intervals *intervals, unsigned int cpu)
{
	struct thread ***on_cpu = &intervals->on_cpu[(cpu >> HOSTS_CPU_BITS) % (HOSTS_MAX + 1)];

	cpu &= (1U << HOSTS_CPU_BITS) - 1;
	if (cpu >= CPUS_MAX)
		return NULL;
	if (!*on_cpu)
		*on_cpu = calloc(CPUS_MAX, sizeof(**on_cpu));
	return *on_cpu ? *on_cpu + cpu : NULL;
}

/*
 * Ends the running state of the previous thread on the CPU where @thread runs now. If the event of
 * that switch is missing, the previous thread is known to have run only until its own last event.
 */
static int leave_cpu(struct intervals *intervals, struct thread *other,
		     const struct thread *thread, unsigned int cpu)
{
	int err;

	if (!other || other == thread || !in_state(other, STATE_RUNNING) || other->now.cpu != cpu)
		return 0;
	err = cut_interval(intervals, other, other->seen);
	begin_interval(intervals, other, STATE_UNKNOWN, other->seen);
	return err;
}

static int run(struct intervals *intervals, struct thread *thread, uint64_t time, unsigned int cpu)
{
	struct thread **slot = cpu_slot(intervals, cpu);
	int err = slot ? leave_cpu(intervals, *slot, thread, cpu) : 0;

	begin_interval(intervals, thread, STATE_RUNNING, time)->cpu = cpu;
	if (slot)
		*slot = thread;
	return err;
}

/*
 * Makes the state unknown since the start of the interval, because events contradict the state.
 */
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

static bool is_unknown(const struct thread *thread)
{
	return !thread->begun || thread->now.state == STATE_UNKNOWN;
}

/* ------------------------------------------------------------------ */
/* Events								*/

/* @exact: the thread became runnable at @time, not earlier */
static int become_runnable(struct intervals *intervals, struct thread *thread, uint64_t time,
			   bool exact, const struct wakeup *wakeup)
{
	struct interval *now = &thread->now;
	int err;

	if (wakeup && thread->begun && now->state >= STATE_SLEEP)
		now->waker = wakeup->waker;
	now->complete &= exact;
	err = end_interval(intervals, thread, time);
	now = begin_interval(intervals, thread, STATE_RUNNABLE, time);
	now->complete = exact && now->begin == time;
	if (wakeup)
		now->waker = wakeup->waker;
	return err;
}

static int switch_in(struct intervals *intervals, struct thread *thread, const struct event *event,
		     const struct kevent *kevent)
{
	uint64_t runnable = (uint64_t)kevent->runnable;	/* 0: unknown */
	struct wakeup wakeup = thread->wakeup;
	uint64_t since = 0;
	bool exact;
	int err = 0;

	if (in_state(thread, STATE_RUNNING))
		forget(thread);
	if (runnable && runnable < event->time)
		since = event->time - runnable;
	exact = since >= intervals->first_time && since >= thread->born;
	if (since < intervals->first_time)
		since = intervals->first_time;
	if (since < thread->born)
		since = thread->born;
	if (thread->woken && is_unknown(thread)) {
		/*
		 * No switch-out followed the wake-up, so the thread has been runnable since the
		 * wake-up.
		 */
		err = become_runnable(intervals, thread, wakeup.time, true, &wakeup);
	} else if (thread->woken && thread->now.state >= STATE_SLEEP) {
		/* The thread was woken after it had decided to wait, but before it switched out. */
		err = become_runnable(intervals, thread, since, exact, &wakeup);
	} else if (!in_state(thread, STATE_RUNNABLE) && runnable) {
		err = become_runnable(intervals, thread, since, exact, NULL);
	}
	/*
	 * A switch-in can only follow the runnable state. Otherwise the end of the old state is
	 * missing.
	 */
	if (!in_state(thread, STATE_RUNNABLE))
		thread->now.complete = false;
	if (!err)
		err = end_interval(intervals, thread, event->time);
	if (!err)
		err = run(intervals, thread, event->time, event->cpu);
	thread->now.complete = thread->now.begin == event->time;
	return err ? err : 1;
}

/* States of blocked threads: the letter in ps(1) and its meaning. */
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
	set_exiting(intervals, thread, false);
	if (kevent->reason == KEVENT_ENDED) {
		set_ended(thread);
		return err ? err : 1;
	}
	now = begin_interval(intervals, thread, state_of(kevent), event->time);
	now->complete = now->state != STATE_UNKNOWN && now->begin == event->time;
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
		err = become_runnable(intervals, thread, event->time, true, &wakeup);
		return err ? err : 1;
	}
	/*
	 * The thread runs, or its state is unknown. A later event shows the effect of the wake-up.
	 */
	if (in_state(thread, STATE_RUNNING) || !thread->woken) {
		thread->woken = true;
		thread->wakeup = wakeup;
	}
	return 0;
}

/*
 * Ends other threads of a process. After an exec, only the thread with the process id is left. At
 * the end of a process, no thread is left. Exiting threads are not ended, because they may still
 * have a switch-out.
 */
static int end_others(struct intervals *intervals, const struct thread *thread, uint64_t time)
{
	struct thread *other, *next;
	int err = 0;

	for (other = intervals->threads_of[thread->process]; other && !err; other = next) {
		next = other->places[LIST_PROCESS].next;
		if (other == thread)
			continue;
		set_ended(other);
		err = cut_interval(intervals, other, time);
	}
	return err;
}

/* The last switch-out of a process is not recorded, so its last thread ends at its exit event. */
static int exit_thread(struct intervals *intervals, struct thread *thread, uint64_t time,
		       const struct kevent *kevent)
{
	int err;

	set_exiting(intervals, thread, !kevent->group_dead);
	thread->exit_time = time;
	if (thread->exiting)
		return 0;
	err = end_others(intervals, thread, time);
	set_ended(thread);
	return err ? err : end_interval(intervals, thread, time);
}

/* Handles an event that the thread itself recorded: the thread was running. */
static int record(struct intervals *intervals, struct thread *thread, const struct event *event,
		  const struct kevent *kevent)
{
	int err = 0;

	/* Without scheduler events, states are unknown. */
	if (!intervals->scheduled)
		return 0;
	if (is_unknown(thread)) {
		thread->woken = false;
		err = end_interval(intervals, thread, event->time);
		if (!err)
			err = run(intervals, thread, event->time, event->cpu);
	}
	if (!err && event->type == POSIXTRACE_EXEC)
		err = end_others(intervals, thread, event->time);
	if (!err && event->type == POSIXTRACE_EXIT)
		err = exit_thread(intervals, thread, event->time, kevent);
	return err;
}

/* Ends a thread because its ids were reused. Discards its last state, whose end is unknown. */
static void drop(struct intervals *intervals, struct thread *thread)
{
	if (thread->ended)
		return;
	if (thread->begun)
		thread->now.end = thread->now.begin;
	thread->begun = false;
	thread->dropped = true;
	set_ended(thread);
	list_known(intervals, thread);
}

/* Drops all threads of the previous process with this id. */
static int drop_process(struct intervals *intervals, const struct event *event)
{
	struct event before = *event;
	struct thread *thread;
	uint32_t number;

	before.process_life--;
	if (threads_find(intervals->processes, before.pid, event_process_key(&before), &number) < 0)
		return -ENOMEM;
	while (number && (thread = intervals->threads_of[number]))
		drop(intervals, thread);
	while (number && (thread = intervals->exiting_of[number]))
		drop(intervals, thread);
	return 0;
}

/* Finds the process and id numbers of a new thread, and ends the previous owners of its ids. */
static int take_ids(struct intervals *intervals, struct thread *thread, const struct event *event)
{
	struct thread **last;
	uint32_t number;
	int ret = threads_find(intervals->processes, event->pid, event_process_key(event),
			       &thread->process);

	if (ret > 0 && event->process_life)
		ret = drop_process(intervals, event);
	if (ret >= 0)
		ret = threads_find(intervals->ids, event->pid, (uint32_t)event->tid, &number);
	if (ret < 0)
		return ret;
	last = &intervals->last_of[number];
	if (!ret && *last && number && event->tid) {
		drop(intervals, *last);
		thread->born = (*last)->now.end;
	}
	*last = thread;
	list_add(&intervals->threads_of[thread->process], thread, LIST_PROCESS);
	return 0;
}

static struct thread *new_thread(struct intervals *intervals, uint32_t number,
				 const struct event *event)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	if (take_ids(intervals, thread, event)) {
		free(thread);
		return NULL;
	}
	thread->now.thread = number;
	thread->now.pid = event->pid;
	thread->series = NO_SERIES;
	intervals->threads[number] = thread;
	return thread;
}

static struct thread *find(struct intervals *intervals, uint32_t number, const struct event *event)
{
	struct thread *thread = intervals->threads[number];

	if (!thread)
		thread = new_thread(intervals, number, event);
	if (!thread)
		return NULL;
	if (thread->losses != intervals->losses)
		thread->woken = false;
	thread->losses = intervals->losses;
	return thread;
}

int intervals_begin(struct intervals *intervals, uint32_t number, const struct event *event)
{
	if (!number || number > intervals->max)
		return 0;
	return find(intervals, number, event) ? 0 : -ENOMEM;
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
	thread->series = event->series;
	/* Ignore events that the kernel records for the last thread of a process after its exit. */
	if (thread->ended)
		return 0;
	if (event->time > thread->seen)
		thread->seen = event->time;
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

/* Returns the state of a thread that is neither running nor runnable. */
static enum state blocked_state(const struct posixtrace_thread_state *state)
{
	if (state->flags & POSIXTRACE_STATE_IO)
		return STATE_DISK;
	return is_state(state->state) ? blocked_states[state->state].state : STATE_UNKNOWN;
}

void interval_of_state(const struct posixtrace_thread_state *state, struct interval *interval)
{
	if (!state->state)
		interval->state = state->flags & POSIXTRACE_STATE_RUNNING ? STATE_RUNNING :
									    STATE_RUNNABLE;
	else
		interval->state = blocked_state(state);
	if (interval->state == STATE_RUNNING)
		interval->cpu = state->cpu;
	if (interval->state < STATE_SLEEP)
		return;
	if (is_state(state->state))
		interval->letter = blocked_states[state->state].letter;
	interval->io = state->flags & POSIXTRACE_STATE_IO;
	if (state->flags & POSIXTRACE_STATE_CALL)
		snprintf(interval->call, sizeof(interval->call), "%s", state->call_name);
}

static int begin_state(struct intervals *intervals, struct thread *thread,
		       const struct posixtrace_thread_state *state, uint64_t begin)
{
	struct interval like = { }, *now;

	interval_of_state(state, &like);
	if (like.state == STATE_RUNNING)
		return run(intervals, thread, begin, like.cpu);
	now = begin_interval(intervals, thread, like.state, begin);
	if (like.state < STATE_SLEEP)
		return 0;
	now->letter = like.letter;
	now->io = like.io;
	memcpy(now->call, like.call, sizeof(now->call));
	return 0;
}

int intervals_state(struct intervals *intervals, uint32_t number, const struct event *event,
		    const struct posixtrace_thread_state *state, uint64_t begin)
{
	struct thread *thread;
	int err;

	if (!intervals->scheduled || !number || number > intervals->max ||
	    (state->state && !is_state(state->state)))
		return 0;
	thread = find(intervals, number, event);
	if (!thread)
		return -ENOMEM;
	if (thread->ended || thread->woken || !is_unknown(thread))
		return 0;
	err = end_interval(intervals, thread, begin);
	if (!err)
		err = begin_state(intervals, thread, state, begin);
	thread->seen = event->time;
	return err ? err : 1;
}

/*
 * Returns the end of a thread: its exit event if its last switch-out is missing, otherwise @time.
 */
static uint64_t end_of(const struct thread *thread, uint64_t time)
{
	return thread->exiting ? thread->exit_time : time;
}

/* Makes the state of a thread unknown, and removes it from the list of known states. */
static int lose(struct intervals *intervals, struct thread *thread, uint64_t time)
{
	bool exiting = thread->exiting;
	int err = cut_interval(intervals, thread, end_of(thread, time));

	set_exiting(intervals, thread, false);
	if (exiting)
		set_ended(thread);
	else
		begin_interval(intervals, thread, STATE_UNKNOWN, time);
	return err;
}

int intervals_lost(struct intervals *intervals, uint64_t time)
{
	int err = 0;

	intervals->losses++;
	while (!err && intervals->known)
		err = lose(intervals, intervals->known, time);
	return err;
}

int intervals_stopped(struct intervals *intervals, const struct event *event)
{
	struct thread *thread, *next;
	int err = 0;

	if (event->type != POSIX_TRACE_STOP)
		return 0;
	for (thread = intervals->known; !err && thread; thread = next) {
		next = thread->places[LIST_KNOWN].next;
		if (thread->series == event->series || thread->series == NO_SERIES)
			err = lose(intervals, thread, event->time);
	}
	return err;
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
		err = cut_interval(intervals, thread, end_of(thread, time));
	}
	return err;
}

const struct interval *intervals_now(const struct intervals *intervals, uint32_t number)
{
	const struct thread *thread = intervals->threads[number];

	return thread && thread->begun ? &thread->now : NULL;
}

bool intervals_dropped(const struct intervals *intervals, uint32_t number, uint64_t *since)
{
	const struct thread *thread = intervals->threads[number];

	if (!thread || !thread->dropped)
		return false;
	*since = thread->now.end;
	return true;
}

void intervals_free(struct intervals *intervals)
{
	if (!intervals)
		return;
	for (size_t i = 0; intervals->threads && i <= intervals->max; i++)
		free(intervals->threads[i]);
	free(intervals->threads);
	free(intervals->threads_of);
	free(intervals->exiting_of);
	free(intervals->last_of);
	for (size_t i = 0; i <= HOSTS_MAX; i++)
		free(intervals->on_cpu[i]);
	threads_free(intervals->ids);
	threads_free(intervals->processes);
	free(intervals);
}
