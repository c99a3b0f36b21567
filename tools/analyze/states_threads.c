// SPDX-License-Identifier: GPL-2.0
/* When the threads of a trace begin and end, and which threads a process has: for states.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/latest.h"
#include "analyze/states_threads.h"
#include "event/event.h"
#include "util/threads.h"

static void link_thread(struct states *states, struct summary *thread)
{
	uint32_t *first = &states->processes[thread->process];
	uint32_t number = (uint32_t)(thread - states->threads);

	thread->listed = true;
	thread->previous = STATES_NO_THREAD;
	thread->next = *first;
	if (*first != STATES_NO_THREAD)
		states->threads[*first].previous = number;
	*first = number;
}

void states_unlink_thread(struct states *states, struct summary *thread)
{
	if (!thread->listed)
		return;
	thread->listed = false;
	if (thread->previous == STATES_NO_THREAD)
		states->processes[thread->process] = thread->next;
	else
		states->threads[thread->previous].next = thread->next;
	if (thread->next != STATES_NO_THREAD)
		states->threads[thread->next].previous = thread->previous;
}

uint32_t states_number_of(const struct states *states, const struct summary *thread)
{
	return (uint32_t)(thread - states->threads) + 1;
}

const struct interval *states_interval_of(const struct states *states, const struct summary *thread)
{
	return intervals_now(states->intervals, states_number_of(states, thread));
}

static void begin_life(struct states *states, struct summary *thread, uint64_t at)
{
	thread->alive = true;
	thread->born = at;
	thread->exiting = false;
	thread->place = WAITS_IN_UNKNOWN;
	thread->fault = false;
	link_thread(states, thread);
}

void states_end_life(struct states *states, struct summary *thread, uint64_t at)
{
	thread->alive = false;
	states_unlink_thread(states, thread);
	thread->pub.last = at;
	thread->pub.lifetime += at - thread->born;
}

/* Finds the number of the process of an event, and makes room for that number in @processes. */
static int find_process(struct states *states, const struct event *event, uint32_t *number)
{
	size_t room = states->processes_room ? 2 * states->processes_room : 64;
	int ret = threads_find(states->process_numbers, event->pid, event_process_key(event),
			       number);
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
	states->processes[*number] = STATES_NO_THREAD;
	return 0;
}

static int new_thread(struct states *states, struct summary **found)
{
	size_t room = states->threads_room ? 2 * states->threads_room : 64;
	struct summary *more;

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

int states_find_thread(struct states *states, const struct event *event, uint64_t at,
		       struct summary **found)
{
	uint32_t number, process;
	struct summary *thread;
	int ret = threads_find(states->numbers, event->pid, event_thread_key(event), &number);

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
	/*
	 * There are never more processes than threads, so a number is available for this process.
	 */
	ret = find_process(states, event, &process);
	if (!ret)
		ret = new_thread(states, &thread);
	if (ret)
		return ret;
	thread->pub.pid = event->pid;
	thread->pub.tid = event->tid;
	thread->pub.first = at;
	thread->process = process;
	begin_life(states, thread, at);
	*found = thread;
	return latest_set(states->latest, event->pid, event->tid, number);
}
