// SPDX-License-Identifier: GPL-2.0
/*
 * Collects tracks of threads from the events of a log: see tracks.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/holder.h"
#include "analyze/latest.h"
#include "analyze/place_names.h"
#include "analyze/track_store.h"
#include "analyze/tracks.h"
#include "elf/lock_wait.h"
#include "util/threads.h"

/**
 * struct follow - what is known about a thread at the current event
 * @pub: the public part: see tracks_thread()
 * @seen: time of its last event
 * @gaps: struct tracks.gaps at its last event
 * @fault: its last event was a page fault
 * @place: its open stretch of TRACK_PLACE; @end is not valid yet
 * @cpu: its open stretch of TRACK_CPU
 * @wait: the place where it began its last wait
 * @wait_fault: the last wait began after a page fault
 * @futex: if @waits: the futex call of that event
 * @waits: its last event was a futex_wait
 * @ended: the thread has recorded its exit
 */
struct follow {
	struct track_thread pub;
	uint64_t seen;
	uint64_t gaps;
	bool fault;
	struct stretch place;
	struct stretch cpu;
	struct stretch wait;
	bool wait_fault;
	struct stretch futex;
	bool waits;
	bool ended;
};

struct tracks {
	unsigned int classes;
	struct track_store *store;
	struct intervals *intervals;
	struct place_names *names;
	struct threads *numbers;	/* by event_thread_key() */
	struct follow *threads;		/* index: thread number; entry 0 is not used */
	size_t room;
	size_t nr_threads;
	struct latest *latest;
	struct lock_wait *lock_wait;
	const struct event *event;	/* the current one */
	bool begun;
	uint64_t first;			/* time of the first event */
	uint64_t now;			/* largest time so far */
	uint64_t lost;
	uint64_t gaps;
	enum waker_kind no_waker;	/* how waits end if no event shows it */
	struct snapshot_walk walk;	/* position in the states at the start */
	bool more;
};

/* ------------------------------------------------------------------ */
/* Threads								*/

static int grow(void **array, size_t *room, size_t index, size_t size)
{
	size_t more = *room ? *room : 64;
	char *grown;

	while (more <= index)
		more *= 2;
	if (more == *room)
		return 0;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return -ENOMEM;
	memset(grown + *room * size, 0, (more - *room) * size);
	*array = grown;
	*room = more;
	return 0;
}

static void label(struct track_thread *thread, const struct event *event)
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	if (event_thread_label(event, thread->label))
		return;
	/* A waker may have no events, but the log may still contain its name. */
	if (event->tid && event_thread_name(event, name))
		event_label(event, name, thread->label);
	else if (event->tid)
		event_label(event, NULL, thread->label);
}

/* Finds the thread of an event. Its number is 0 if there are too many threads. */
static int find(struct tracks *tracks, const struct event *event, uint32_t *number)
{
	struct follow *thread;
	int ret = threads_find(tracks->numbers, event->pid, event_thread_key(event), number);

	if (ret <= 0)
		return ret;
	if (*number == THREADS_OTHERS) {
		tracks->more = true;
		return 0;
	}
	ret = grow((void **)&tracks->threads, &tracks->room, *number, sizeof(*tracks->threads));
	if (ret)
		return ret;
	thread = &tracks->threads[*number];
	thread->pub.pid = event->pid;
	thread->pub.tid = event->tid;
	thread->pub.plain_pid = source_plain_id(event->source, event->pid);
	thread->pub.plain_tid = source_plain_id(event->source, event->tid);
	thread->pub.key = event_thread_key(event);
	thread->place = (struct stretch){ .begin = tracks->now, .what = WAITS_IN_UNKNOWN };
	thread->cpu = (struct stretch){ .begin = tracks->now, .what = SOURCE_NO_CPU };
	thread->gaps = tracks->gaps;
	label(&thread->pub, event);
	tracks->nr_threads = *number;
	return latest_set(tracks->latest, event->pid, event->tid, *number);
}

/* Finds a thread that an event names by pid and tid. */
static int find_named(struct tracks *tracks, pid_t pid, pid_t tid, uint32_t *number)
{
	const struct event event = {
		.pid = pid, .tid = tid, .time = tracks->now, .source = tracks->event->source,
	};

	*number = latest_get(tracks->latest, pid, tid);
	return *number ? 0 : find(tracks, &event, number);
}

/* ------------------------------------------------------------------ */
/* Stretches								*/

/* Ends the open stretch of a track, and begins the next one. */
static int change(struct tracks *tracks, uint32_t number, enum track track,
		  const struct stretch *next)
{
	struct follow *thread = &tracks->threads[number];
	struct stretch *open = track == TRACK_PLACE ? &thread->place : &thread->cpu;
	const uint32_t unknown = track == TRACK_PLACE ? WAITS_IN_UNKNOWN : SOURCE_NO_CPU;
	struct stretch ended = *open;

	ended.end = next->begin;
	*open = *next;
	return ended.what == unknown ? 0 :
		track_store_add(tracks->store, number, track, &ended);
}

static int enter(struct tracks *tracks, uint32_t number, const struct kevent *kevent)
{
	struct stretch place = { .begin = tracks->now };
	int err = place_names_call(tracks->names, kevent, &place.what, &place.has_arg);

	if (place.has_arg)
		place.arg = (uint64_t)kevent->args[0];
	return err ? err : change(tracks, number, TRACK_PLACE, &place);
}

static int leave(struct tracks *tracks, uint32_t number)
{
	const struct stretch place = { .begin = tracks->now, .what = WAITS_IN_NO_CALL };

	return change(tracks, number, TRACK_PLACE, &place);
}

/*
 * Moves a thread to a CPU. @known: the thread is known to have been on its previous CPU until now.
 */
static int move(struct tracks *tracks, uint32_t number, uint32_t cpu, bool known)
{
	const struct stretch next = { .begin = tracks->now, .what = cpu };
	struct follow *thread = &tracks->threads[number];

	if (thread->cpu.what == cpu)
		return 0;
	if (!known)
		thread->cpu.what = SOURCE_NO_CPU;
	return change(tracks, number, TRACK_CPU, &next);
}

/* After a gap, makes the place and CPU unknown from the last event of the thread on. */
static int forget(struct tracks *tracks, uint32_t number)
{
	struct follow *thread = &tracks->threads[number];
	const struct stretch place = { .begin = thread->seen + 1, .what = WAITS_IN_UNKNOWN };
	const struct stretch cpu = { .begin = thread->seen + 1, .what = SOURCE_NO_CPU };
	int err;

	if (thread->gaps == tracks->gaps)
		return 0;
	thread->gaps = tracks->gaps;
	thread->fault = false;
	thread->waits = false;
	err = change(tracks, number, TRACK_PLACE, &place);
	return err ? err : change(tracks, number, TRACK_CPU, &cpu);
}

static int interrupt(struct tracks *tracks, uint32_t number, const struct kevent *kevent)
{
	const uint64_t duration = (uint64_t)kevent->duration;
	struct stretch irq = { .begin = tracks->first, .end = tracks->now };
	int err;

	if (kevent->nested)
		return 0;
	if (duration < irq.end - irq.begin)
		irq.begin = irq.end - duration;
	err = place_names_irq(tracks->names, kevent, &irq.what);
	return err ? err : track_store_add(tracks->store, number, TRACK_IRQ, &irq);
}

/*
 * Checks if what the waker did during the wait explains the wait. An interrupt or a softirq after
 * an interrupt runs in an arbitrary thread, which is not the cause. A softirq during a system call
 * is caused by the call, for example by sending data over loopback.
 */
static bool is_cause(const struct tracks *tracks, const struct stretch *state)
{
	return state->waker && (state->by != WAKER_SOFTIRQ ||
				tracks->threads[state->waker].place.what >= WAITS_IN_CALL);
}

/* Receives a state from intervals.c. */
static int put_state(void *to, const struct interval *interval)
{
	struct tracks *tracks = to;
	const struct follow *thread = &tracks->threads[interval->thread];
	struct stretch state = {
		.begin = interval->begin,
		.end = interval->end,
		.what = interval->state,
		.cpu = interval->cpu,
		.preempted = interval->preempted,
	};
	int err = 0;

	if (interval->state == STATE_UNKNOWN)
		return 0;
	if (interval->state >= STATE_SLEEP) {
		state.place = thread->wait.what;
		state.arg = thread->wait.arg;
		state.has_arg = thread->wait.has_arg;
		state.fault = thread->wait_fault;
		state.io = interval->io;
		state.letter = interval->letter;
		state.holder = thread->wait.holder;
		state.by = interval->waker.kind == WAKER_UNKNOWN ? tracks->no_waker :
								   interval->waker.kind;
		if (waker_is_thread(&interval->waker))
			err = find_named(tracks, interval->waker.pid, interval->waker.tid,
					 &state.waker);
		state.caused = is_cause(tracks, &state);
	}
	return err ? err : track_store_add(tracks->store, interval->thread, TRACK_STATE, &state);
}

/* ------------------------------------------------------------------ */
/* Events								*/

static int fork_thread(struct tracks *tracks, uint32_t number, const struct event *event,
		       const struct kevent *kevent)
{
	const struct event child = {
		.pid = (pid_t)kevent->child_pid,
		.tid = (pid_t)kevent->child_tid,
		.time = event->time,
		.life = event->child_life,
		.process_life = event->child_process_life,
		.source = event->source,
	};
	struct track_thread *thread;
	uint32_t born;
	int err;

	if (!child.pid || !child.tid)
		return 0;
	err = find(tracks, &child, &born);
	if (err || !born)
		return err;
	thread = &tracks->threads[born].pub;
	if (!thread->born) {
		thread->born = tracks->now;
		thread->parent = number;
	}
	return intervals_begin(tracks->intervals, born, &child);
}

/* Finds the thread that holds the lock for which a thread waits; 0 if unknown. */
static uint32_t find_holder(struct tracks *tracks, const struct event *event,
			    const struct kevent *kevent)
{
	const pid_t tid = holder_of_wait(tracks->lock_wait, event, kevent);
	const uint32_t holder = tid ? latest_get(tracks->latest, event->pid, tid) : 0;

	return holder && !tracks->threads[holder].ended ? holder : 0;
}

static int wait_for_futex(struct tracks *tracks, uint32_t number, const struct event *event,
			  const struct kevent *kevent)
{
	struct follow *thread = &tracks->threads[number];
	struct kevent entry;
	int err;

	thread->waits = true;
	thread->futex = thread->place;
	/* Without the class syscall, only the futex_wait shows that the thread is in futex(). */
	if (thread->futex.what == WAITS_IN_UNKNOWN) {
		holder_call(kevent, &entry);
		err = place_names_call(tracks->names, &entry, &thread->futex.what,
				       &thread->futex.has_arg);
		thread->futex.arg = (uint64_t)kevent->address;
		if (err)
			return err;
	}
	thread->futex.holder = find_holder(tracks, event, kevent);
	return 0;
}

/* Handles the parts of an event that intervals.c does not handle. */
static int see(struct tracks *tracks, uint32_t number, const struct event *event,
	       const struct kevent *kevent)
{
	const struct stretch fault = { .begin = event->time, .end = event->time + 1 };

	switch (event->type) {
	case POSIXTRACE_FORK:
		return fork_thread(tracks, number, event, kevent);
	case POSIXTRACE_WAKEUP:
		return move(tracks, number, (uint32_t)kevent->target_cpu, true);
	case POSIXTRACE_MIGRATE:
		return move(tracks, number, (uint32_t)kevent->dest_cpu, true);
	case POSIXTRACE_SWITCH_IN:
	case POSIXTRACE_SWITCH_OUT:
		return move(tracks, number, event->cpu, false);
	case POSIXTRACE_SYSCALL_ENTRY:
		return enter(tracks, number, kevent);
	case POSIXTRACE_SYSCALL_EXIT:
		return leave(tracks, number);
	case POSIXTRACE_PAGE_FAULT:
		return track_store_add(tracks->store, number, TRACK_FAULT, &fault);
	case POSIXTRACE_IRQ:
		return interrupt(tracks, number, kevent);
	case POSIXTRACE_FUTEX_WAIT:
		return wait_for_futex(tracks, number, event, kevent);
	case POSIXTRACE_EXIT:
		tracks->threads[number].ended = true;
		return 0;
	}
	/* A user event shows that the thread is not in a system call. */
	if (event->user && tracks->classes & POSIXTRACE_CLASS_SYSCALL &&
	    tracks->threads[number].place.what == WAITS_IN_UNKNOWN)
		return leave(tracks, number);
	return 0;
}

static int handle(struct tracks *tracks, uint32_t number, const struct event *event,
		  const struct kevent *kevent)
{
	struct follow *thread = &tracks->threads[number];
	int ret = forget(tracks, number);

	if (ret)
		return ret;
	/* An exec ends the waits of the other threads without a wake-up. */
	tracks->no_waker = event->type == POSIXTRACE_EXEC ? WAKER_NONE : WAKER_UNKNOWN;
	if (event->type == POSIXTRACE_SWITCH_OUT) {
		ret = see(tracks, number, event, kevent);
		thread->wait = thread->waits ? thread->futex : thread->place;
		thread->wait_fault = thread->fault;
	}
	if (ret >= 0)
		ret = intervals_event(tracks->intervals, number, event, kevent, NULL);
	if (ret >= 0 && event->type != POSIXTRACE_SWITCH_OUT)
		ret = see(tracks, number, event, kevent);
	/* A fork may have reallocated the array of threads. */
	thread = &tracks->threads[number];
	thread->seen = tracks->now;
	if (event->type != POSIXTRACE_IRQ && event->type != POSIXTRACE_WAKEUP &&
	    event->type != POSIXTRACE_MIGRATE) {
		thread->fault = event->type == POSIXTRACE_PAGE_FAULT;
		thread->waits = event->type == POSIXTRACE_FUTEX_WAIT;
	}
	return ret < 0 ? ret : 0;
}

/* Makes states unknown from @from on. */
static int lose(struct tracks *tracks, uint64_t from, enum waker_kind waker)
{
	tracks->gaps++;
	tracks->no_waker = waker;
	return intervals_lost(tracks->intervals, from);
}

/*
 * If events are missing, makes states unknown from the start of the gap, or else from the last
 * event.
 */
static int note_gap(struct tracks *tracks, const struct event *event)
{
	bool lost = event->lost > tracks->lost;

	snapshot_see(&tracks->walk, event, lost);
	tracks->lost = event->lost;
	if (event->partial && !lost)
		return intervals_stopped(tracks->intervals, event);
	switch (event->type) {
	case POSIX_TRACE_OVERFLOW:
		return lose(tracks, event->time, WAKER_UNKNOWN);
	case POSIX_TRACE_STOP:
		return lose(tracks, event->time, WAKER_NONE);
	case POSIX_TRACE_RESUME:
	case POSIX_TRACE_START:
	case POSIX_TRACE_ERROR:
		return lose(tracks, tracks->now, WAKER_UNKNOWN);
	}
	return lost ? lose(tracks, tracks->now, WAKER_UNKNOWN) : 0;
}

/* ------------------------------------------------------------------ */
/* States at the start							*/

void tracks_start(struct tracks *tracks, const struct snapshot *snapshot)
{
	snapshot_begin(&tracks->walk, snapshot);
}

/*
 * Notes the system call in a state. It becomes the current place only if events will show its end.
 */
static int note_call(struct tracks *tracks, struct follow *thread,
		     const struct posixtrace_thread_state *state)
{
	struct stretch place = { .begin = tracks->walk.complete_from, .what = WAITS_IN_UNKNOWN };
	struct kevent entry;
	int err = 0;

	if (snapshot_call(state, &entry))
		err = place_names_call(tracks->names, &entry, &place.what, &place.has_arg);
	else if (state->flags & POSIXTRACE_STATE_USER)
		place.what = WAITS_IN_NO_CALL;
	if (place.has_arg)
		place.arg = state->args[0];
	thread->wait = place;
	thread->wait_fault = false;
	if (tracks->classes & POSIXTRACE_CLASS_SYSCALL)
		thread->place = place;
	return err;
}

static int use_state(struct tracks *tracks, const struct posixtrace_thread_state *state)
{
	struct follow *thread;
	const uint64_t begin = tracks->walk.complete_from;
	struct event event;
	uint32_t number;
	int ret = snapshot_event(tracks->event->source, state, &event);

	if (!ret)
		ret = find(tracks, &event, &number);
	if (ret || !number)
		return ret;
	thread = &tracks->threads[number];
	if (thread->seen && thread->gaps == tracks->gaps)
		return 0;
	ret = intervals_state(tracks->intervals, number, &event, state, begin);
	if (ret <= 0)
		return ret;
	thread->gaps = tracks->gaps;
	thread->seen = tracks->now;
	thread->cpu = (struct stretch){ .begin = begin, .what = state->cpu };
	return note_call(tracks, thread, state);
}

/* Uses the states of the snapshot that are older than @until, the time of the next event. */
static int use_states(struct tracks *tracks, uint64_t until)
{
	const struct posixtrace_thread_state *state;
	int err = 0;

	while (!err && (state = snapshot_next(&tracks->walk, until)))
		err = use_state(tracks, state);
	return err;
}

int tracks_event(struct tracks *tracks, const struct event *event)
{
	struct kevent kevent;
	uint32_t number;
	bool is_kernel;
	int err;

	tracks->event = event;
	if (!tracks->begun) {
		tracks->first = event->time;
		tracks->now = event->time;
		tracks->lost = event->lost;
		/* Pass the first event to intervals.c, because the states before it are unknown. */
		intervals_event(tracks->intervals, 0, event, NULL, NULL);
	}
	tracks->begun = true;
	err = use_states(tracks, event->time);
	if (!err)
		err = note_gap(tracks, event);
	if (event->time > tracks->now)
		tracks->now = event->time;
	is_kernel = kevent_read(event, &kevent);
	if (err || !event->tid || (!event->user && !is_kernel))
		return err;
	err = find(tracks, event, &number);
	return err || !number ? err : handle(tracks, number, event, is_kernel ? &kevent : NULL);
}

int tracks_end(struct tracks *tracks)
{
	const struct stretch end = { .begin = tracks->now };
	int err;

	tracks->no_waker = WAKER_NONE;
	err = intervals_end(tracks->intervals, tracks->now);
	for (uint32_t i = 1; !err && i <= tracks->nr_threads; i++) {
		err = forget(tracks, i);
		if (!err)
			err = change(tracks, i, TRACK_PLACE, &end);
		if (!err)
			err = change(tracks, i, TRACK_CPU, &end);
	}
	return err ? err : track_store_end(tracks->store);
}

/* ------------------------------------------------------------------ */
/* Results								*/

int tracks_new(unsigned int classes, const struct window *windows, size_t count,
	       struct tracks **tracks)
{
	struct tracks *new = calloc(1, sizeof(*new));
	int err;

	*tracks = NULL;
	if (!new)
		return -ENOMEM;
	new->classes = classes;
	err = track_store_new(windows, count, &new->store);
	if (!err)
		err = place_names_new(&new->names);
	if (!err)
		err = threads_new(TRACKS_THREADS, &new->numbers);
	if (!err)
		err = latest_new(2 * TRACKS_THREADS, &new->latest);
	if (!err)
		err = lock_wait_new(&new->lock_wait);
	if (!err)
		err = intervals_new(TRACKS_THREADS, classes & POSIXTRACE_CLASS_SCHED, put_state,
				    new, &new->intervals);
	if (err)
		tracks_free(new);
	else
		*tracks = new;
	return err;
}

const struct stretch *tracks_find(const struct tracks *tracks, enum track track, uint32_t thread,
				  uint64_t time, const struct stretch **end)
{
	return track_store_find(tracks->store, track, thread, time, end);
}

const struct track_run *tracks_find_run(const struct tracks *tracks, uint32_t cpu, uint64_t time,
					const struct track_run **end)
{
	return track_store_find_run(tracks->store, cpu, time, end);
}

uint32_t tracks_number(const struct tracks *tracks, pid_t pid, uint64_t key)
{
	for (uint32_t i = 1; i <= tracks->nr_threads; i++) {
		if (tracks->threads[i].pub.pid == pid && tracks->threads[i].pub.key == key)
			return i;
	}
	return 0;
}

const struct track_thread *tracks_thread(const struct tracks *tracks, uint32_t number)
{
	return &tracks->threads[number].pub;
}

const char *tracks_place_name(const struct tracks *tracks, uint32_t place)
{
	return place_names_place(tracks->names, place);
}

const char *tracks_irq_name(const struct tracks *tracks, uint32_t number)
{
	return place_names_interrupt(tracks->names, number);
}

const char *tracks_arg_name(const struct tracks *tracks, uint32_t place)
{
	return place_names_arg(tracks_place_name(tracks, place));
}

bool tracks_more(const struct tracks *tracks)
{
	return tracks->more || track_store_more(tracks->store);
}

void tracks_free(struct tracks *tracks)
{
	if (!tracks)
		return;
	track_store_free(tracks->store);
	intervals_free(tracks->intervals);
	place_names_free(tracks->names);
	threads_free(tracks->numbers);
	latest_free(tracks->latest);
	lock_wait_free(tracks->lock_wait);
	free(tracks->threads);
	free(tracks);
}
