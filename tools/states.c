// SPDX-License-Identifier: GPL-2.0
/*
 * What the threads of a trace did at each time: see states.h.
 *
 * Each thread is in one state since some time, and an event of it ends that state or proves it. If
 * an event contradicts the state, one is missing, and the time since then is unknown.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "kevent.h"
#include "states.h"
#include "threads.h"

/* The index of no thread. */
#define NONE	UINT32_MAX

/**
 * struct thread - a thread, and its state now
 * @pub: what was counted
 * @state: its state
 * @since: since when
 * @born: begin of this life
 * @exiting: it has announced its end
 * @exited: when
 * @place: WAITS_IN_CALL or more: it is in this system call; WAITS_IN_NO_CALL; WAITS_IN_UNKNOWN
 * @fault: its last event was a page fault
 * @interrupts: STATES_RUNNING: ns in interrupts since then
 * @interrupted: end of the last one
 * @wait: STATES_BLOCKED: the wait; STATES_RUNNING: its waker, if it was woken early
 * @known: it is in the list of known states
 * @next_known: the next one in this list
 * @process: number of its process
 * @next: the next one of the process that has not ended
 * @previous: the previous one
 */
struct thread {
	struct states_thread pub;
	enum states_state state;
	uint64_t since;
	uint64_t born;
	bool exiting;
	uint64_t exited;
	uint32_t place;
	bool fault;
	uint64_t interrupts;
	uint64_t interrupted;
	struct wait wait;
	bool known;
	uint32_t next_known;
	uint32_t process;
	uint32_t next;
	uint32_t previous;
};

struct states {
	unsigned int classes;
	struct threads *numbers;	/* of threads, by process and thread id */
	struct thread *threads;		/* by number - 1 */
	struct states_thread *results;	/* after states_end() */
	size_t nr_threads;
	size_t threads_room;
	bool more;
	struct threads *process_numbers;
	uint32_t *processes;		/* by number: the first thread that has not ended */
	size_t processes_room;
	uint32_t first_known;		/* list of the threads whose state is known */
	struct waits *waits;
	bool begun;
	uint64_t first;
	uint64_t now;			/* never goes back */
	uint64_t lost;
	bool gap;			/* the next event is the first one behind a gap */
	uint64_t resumed;		/* time of the first event behind the last gap */
};

int states_new(unsigned int classes, struct states **states)
{
	struct states *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->classes = classes;
	new->first_known = NONE;
	err = threads_new(STATES_THREADS, &new->numbers);
	if (!err)
		err = threads_new(STATES_THREADS, &new->process_numbers);
	if (!err)
		err = waits_new(&new->waits);
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
	waits_free(states->waits);
	free(states->threads);
	free(states->results);
	free(states->processes);
	free(states);
}

/* ------------------------------------------------------------------ */
/* States								*/

/* Ends the wait of a blocked thread. */
static int end_wait(struct states *states, struct thread *thread, uint64_t at)
{
	struct wait *wait = &thread->wait;

	wait->length = at - wait->begin;
	if (wait->io)
		thread->pub.io += wait->length;
	return waits_add(states->waits, wait);
}

/* Lets the thread have its state until @at, which is not before, and from then on another one. */
static int change(struct states *states, struct thread *thread, enum states_state state,
		  uint64_t at)
{
	uint64_t ns = at - thread->since;
	int err = 0;

	if (thread->state == STATES_BLOCKED)
		err = end_wait(states, thread, at);
	/* In a gap, they end before it begins. */
	if (thread->state == STATES_RUNNING)
		thread->pub.interrupted += thread->interrupts < ns ? thread->interrupts : ns;
	thread->interrupts = 0;
	thread->pub.time[thread->state] += ns;
	thread->state = state;
	thread->since = at;
	if (state != STATES_UNKNOWN && state != STATES_ENDED && !thread->known) {
		thread->known = true;
		thread->next_known = states->first_known;
		states->first_known = (uint32_t)(thread - states->threads);
	}
	return err;
}

/* An event contradicts the state: nothing is known of the time since it began. */
static void doubt(struct thread *thread)
{
	thread->state = STATES_UNKNOWN;
}

/* The states are unknown from @from on, and so is what threads were doing. */
static int forget(struct states *states, uint64_t from, enum waker_kind waker)
{
	struct thread *thread;
	int err = 0;

	for (uint32_t i = states->first_known; i != NONE; i = thread->next_known) {
		thread = &states->threads[i];
		thread->known = false;
		thread->place = WAITS_IN_UNKNOWN;
		thread->fault = false;
		if (thread->state == STATES_ENDED)
			continue;
		thread->wait.waker.kind = waker;
		if (!err)
			err = change(states, thread, STATES_UNKNOWN,
				     from > thread->since ? from : thread->since);
	}
	states->first_known = NONE;
	states->gap = true;
	return err;
}

/* ------------------------------------------------------------------ */
/* Lives								*/

static void link_thread(struct states *states, struct thread *thread)
{
	uint32_t *first = &states->processes[thread->process];
	uint32_t number = (uint32_t)(thread - states->threads);

	thread->previous = NONE;
	thread->next = *first;
	if (*first != NONE)
		states->threads[*first].previous = number;
	*first = number;
}

static void unlink_thread(struct states *states, const struct thread *thread)
{
	if (thread->previous == NONE)
		states->processes[thread->process] = thread->next;
	else
		states->threads[thread->previous].next = thread->next;
	if (thread->next != NONE)
		states->threads[thread->next].previous = thread->previous;
}

/* Also if another thread had the same id before. */
static void begin_life(struct states *states, struct thread *thread)
{
	thread->state = STATES_UNKNOWN;
	thread->since = states->now;
	thread->born = states->now;
	thread->exiting = false;
	thread->place = WAITS_IN_UNKNOWN;
	thread->fault = false;
	memset(&thread->wait, 0, sizeof(thread->wait));
	link_thread(states, thread);
}

static int end_life(struct states *states, struct thread *thread, uint64_t at)
{
	if (thread->state == STATES_BLOCKED)
		thread->wait.waker.kind = WAKER_NONE;
	unlink_thread(states, thread);
	thread->pub.last = at;
	thread->pub.lifetime += at - thread->born;
	return change(states, thread, STATES_ENDED, at);
}

/* Finds the number of a process, with room for it. */
static int find_process(struct states *states, pid_t pid, uint32_t *number)
{
	size_t room = states->processes_room ? 2 * states->processes_room : 64;
	int ret = threads_find(states->process_numbers, pid, 0, number);
	uint32_t *more;

	if (ret <= 0)
		return ret;
	if (*number >= states->processes_room) {
		more = reallocarray(states->processes, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		states->processes = more;
		states->processes_room = room;
	}
	states->processes[*number] = NONE;
	return 0;
}

static int new_thread(struct states *states, struct thread **found)
{
	size_t room = states->threads_room ? 2 * states->threads_room : 64;
	struct thread *more;

	if (states->nr_threads == states->threads_room) {
		more = reallocarray(states->threads, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		states->threads = more;
		states->threads_room = room;
	}
	*found = &states->threads[states->nr_threads++];
	memset(*found, 0, sizeof(**found));
	return 0;
}

/* Finds a thread, or begins its life; NULL if there are too many. */
static int find_thread(struct states *states, pid_t pid, pid_t tid, struct thread **found)
{
	uint32_t number, process;
	struct thread *thread;
	int ret = threads_find(states->numbers, pid, (uint32_t)tid, &number);

	*found = NULL;
	if (ret < 0)
		return ret;
	if (number == THREADS_OTHERS) {
		states->more = true;
		return 0;
	}
	if (!ret) {
		*found = &states->threads[number - 1];
		return 0;
	}
	/* There are no more processes than threads, so this one has a number. */
	ret = find_process(states, pid, &process);
	if (!ret)
		ret = new_thread(states, &thread);
	if (ret)
		return ret;
	thread->pub.pid = pid;
	thread->pub.tid = tid;
	thread->pub.first = states->now;
	thread->process = process;
	begin_life(states, thread);
	*found = thread;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Events of the scheduler						*/

static int wake_up(struct states *states, struct thread *thread, const struct kevent *kevent)
{
	switch (thread->state) {
	case STATES_RUNNING:
		/* It may be about to wait: if so, it does not wait for another wake-up. */
		thread->wait.waker = waker_of(kevent);
		return 0;
	case STATES_BLOCKED:
		thread->wait.waker = waker_of(kevent);
		break;
	case STATES_UNKNOWN:
		break;
	default:
		return 0;
	}
	return change(states, thread, STATES_RUNNABLE, states->now);
}

static uint32_t place_of(const struct thread *thread)
{
	return thread->fault ? WAITS_IN_FAULT : thread->place;
}

static int block(struct states *states, struct thread *thread, bool io)
{
	int err = change(states, thread, STATES_BLOCKED, states->now);

	thread->pub.voluntary++;
	/* The waker stays, if it was early. */
	thread->wait.thread = (uint32_t)(thread - states->threads);
	thread->wait.place = place_of(thread);
	thread->wait.io = io;
	thread->wait.begin = states->now;
	return err;
}

static int switch_out(struct states *states, struct thread *thread, const struct kevent *kevent)
{
	if (thread->state != STATES_RUNNING) {
		doubt(thread);
		thread->wait.waker.kind = WAKER_UNKNOWN;
	}
	switch (kevent->reason) {
	case KEVENT_PREEMPTED:
		thread->pub.preempted++;
		return change(states, thread, STATES_RUNNABLE, states->now);
	case KEVENT_BLOCKED:
	case KEVENT_IO:
		return block(states, thread, kevent->reason == KEVENT_IO);
	case KEVENT_ENDED:
		return end_life(states, thread, states->now);
	default:
		return change(states, thread, STATES_UNKNOWN, states->now);
	}
}

/*
 * The thread runs, and was able to before: since it was woken. Without that event, the kernel may
 * know for how long. A thread that was woken early was able to run all the time.
 */
static uint64_t runnable_since(const struct states *states, const struct thread *thread,
			       const struct kevent *kevent)
{
	uint64_t ns = (uint64_t)kevent->runnable, from;

	from = thread->since > states->resumed ? thread->since : states->resumed;
	if (!ns && thread->state == STATES_BLOCKED && thread->wait.waker.kind != WAKER_UNKNOWN)
		return from;
	return ns < states->now - from ? states->now - ns : from;
}

static int switch_in(struct states *states, struct thread *thread, const struct kevent *kevent)
{
	int err = 0;

	if (thread->state == STATES_RUNNING)
		doubt(thread);
	else if (thread->state != STATES_RUNNABLE)
		err = change(states, thread, STATES_RUNNABLE,
			     runnable_since(states, thread, kevent));
	if (!err)
		err = change(states, thread, STATES_RUNNING, states->now);
	thread->interrupted = states->now;
	thread->wait.waker.kind = WAKER_UNKNOWN;
	thread->fault = false;
	return err;
}

/* ------------------------------------------------------------------ */
/* Other events								*/

/* The thread itself has recorded something, so it runs. */
static int prove(struct states *states, struct thread *thread)
{
	if (!(states->classes & POSIXTRACE_CLASS_SCHED) || thread->state != STATES_UNKNOWN)
		return 0;
	thread->interrupted = states->now;
	return change(states, thread, STATES_RUNNING, states->now);
}

/* Counts what is not in another interrupt, and within the time that the thread has run. */
static void interrupt(struct states *states, struct thread *thread, const struct kevent *kevent)
{
	uint64_t ns = (uint64_t)kevent->duration, most;

	if (thread->state != STATES_RUNNING || kevent->nested)
		return;
	most = states->now - thread->interrupted;
	thread->interrupts += ns < most ? ns : most;
	thread->interrupted = states->now;
}

/* Creates the new thread, whose state is unknown until it has an event of its own. */
static int fork_thread(struct states *states, const struct kevent *kevent)
{
	struct thread *child;
	int err;

	if (!kevent->child_pid || !kevent->child_tid)
		return 0;
	err = find_thread(states, (pid_t)kevent->child_pid, (pid_t)kevent->child_tid, &child);
	if (err || !child)
		return err;
	/* The id may have been used before. */
	if (child->state != STATES_ENDED)
		err = end_life(states, child, child->since);
	begin_life(states, child);
	return err;
}

/* After exec, the process has one thread, which has the id of the process. */
static int end_others(struct states *states, const struct thread *thread)
{
	struct thread *other;
	uint32_t next;
	int err = 0;

	for (uint32_t i = states->processes[thread->process]; !err && i != NONE; i = next) {
		other = &states->threads[i];
		next = other->next;
		if (other != thread)
			err = end_life(states, other, states->now);
	}
	return err;
}

static int exit_thread(struct states *states, struct thread *thread, const struct kevent *kevent)
{
	/* The last switch of the last thread is not recorded. */
	if (kevent->group_dead)
		return end_life(states, thread, states->now);
	thread->exiting = true;
	thread->exited = states->now;
	return 0;
}

/* An event that the thread recorded, or the kernel about what it did. */
static int act(struct states *states, struct thread *thread, const struct event *event,
	       const struct kevent *kevent)
{
	int err = prove(states, thread);

	if (err)
		return err;
	if (event->type == POSIXTRACE_IRQ) {
		interrupt(states, thread, kevent);
		return 0;
	}
	thread->fault = event->type == POSIXTRACE_PAGE_FAULT;
	/* No system call records an event of the program. */
	if (event->user && thread->place == WAITS_IN_UNKNOWN &&
	    states->classes & POSIXTRACE_CLASS_SYSCALL)
		thread->place = WAITS_IN_NO_CALL;
	switch (event->type) {
	case POSIXTRACE_FORK:
		return fork_thread(states, kevent);
	case POSIXTRACE_EXEC:
		return end_others(states, thread);
	case POSIXTRACE_EXIT:
		return exit_thread(states, thread, kevent);
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
	}
	return 0;
}

static int handle(struct states *states, struct thread *thread, const struct event *event,
		  const struct kevent *kevent)
{
	if (thread->state == STATES_ENDED)
		begin_life(states, thread);
	/* A stream may not know the name any more when the thread has ended. */
	if (!thread->pub.seen && !event_thread_label(event, thread->pub.label))
		thread->pub.label[0] = '\0';
	thread->pub.seen = true;
	switch (event->type) {
	case POSIXTRACE_SWITCH_OUT:
		return switch_out(states, thread, kevent);
	case POSIXTRACE_SWITCH_IN:
		return switch_in(states, thread, kevent);
	case POSIXTRACE_WAKEUP:
		return wake_up(states, thread, kevent);
	default:
		return act(states, thread, event, kevent);
	}
}

/* ------------------------------------------------------------------ */
/* All events								*/

/* Does the event tell something about the state of its thread? */
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

/* Where events are missing, states are unknown: from the time of the last event, or of the gap. */
static int note_gap(struct states *states, const struct event *event)
{
	uint64_t from = event->time < states->now ? event->time : states->now;
	bool lost = event->lost > states->lost;

	states->lost = event->lost;
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

int states_event(struct states *states, const struct event *event, bool selected)
{
	struct thread *thread;
	struct kevent kevent;
	int err;

	if (!states->begun) {
		states->begun = true;
		states->first = event->time;
		states->now = event->time;
		states->lost = event->lost;
	}
	/* The gap begins with the time of this event, what is missing before begins at the last. */
	if (selected && event->time > states->now &&
	    (event->type == POSIX_TRACE_OVERFLOW || event->type == POSIX_TRACE_STOP))
		states->now = event->time;
	err = note_gap(states, event);
	if (err || !selected)
		return err;
	if (event->time > states->now)
		states->now = event->time;
	if (!tells(event) || (event->user ? !event->tid : !kevent_read(event, &kevent)))
		return 0;
	if (states->gap) {
		states->gap = false;
		states->resumed = states->now;
	}
	err = find_thread(states, event->pid, event->user ? event->tid : (pid_t)kevent.tid,
			  &thread);
	return err || !thread ? err : handle(states, thread, event, &kevent);
}

/* ------------------------------------------------------------------ */
/* Results								*/

/* When the thread ended, as far as that is known. */
static uint64_t end_of(const struct states *states, const struct thread *thread)
{
	/* Its last switch is missing. */
	if (thread->exiting && thread->since <= thread->exited)
		return thread->exited;
	return states->now;
}

int states_end(struct states *states)
{
	struct thread *thread;
	int err = 0;

	states->results = calloc(states->nr_threads + 1, sizeof(*states->results));
	if (!states->results)
		return -ENOMEM;
	for (size_t i = 0; !err && i < states->nr_threads; i++) {
		thread = &states->threads[i];
		if (thread->state != STATES_ENDED)
			err = end_life(states, thread, end_of(states, thread));
		states->results[i] = thread->pub;
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
