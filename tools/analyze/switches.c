// SPDX-License-Identifier: GPL-2.0
/*
 * Finds switches between threads: see switches.h. A thread that leaves a CPU is kept in the struct
 * of the CPU until the next thread arrives, so that both events make one switch.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/switches.h"
#include "event/event_names.h"

static const int states[KEVENT_STATES] = {
	[KEVENT_STATE_R] = 0, [KEVENT_STATE_S] = 0x01, [KEVENT_STATE_D] = 0x02,
	[KEVENT_STATE_T] = 0x04, [KEVENT_STATE_t] = 0x08, [KEVENT_STATE_X] = SWITCHES_DEAD,
	[KEVENT_STATE_Z] = 0x20, [KEVENT_STATE_P] = 0x40, [KEVENT_STATE_I] = 0x80,
};

struct cpu {
	struct running now;
	uint64_t since;		/* time when @now arrived */
	uint64_t seen;		/* time of the last event that shows @now on this CPU */
	/* The thread that left, if @leaving.tid is not 0. */
	struct running leaving;
	uint64_t left;		/* time when @leaving left */
	int state;		/* state of @leaving */
	pid_t next;		/* the thread that sched_switch_out names as the next one */
};

struct switches_thread {
	uint64_t lost;		/* lost events at the last switch, plus 1; 0: no switch so far */
	uint32_t cpu;		/* number of the CPU on which the thread runs, plus 1; or 0 */
	bool ended;		/* ignore further events, such as interrupts */
};

struct switches {
	switches_put *put;
	void *arg;
	struct cpu *cpus;
	size_t nr_cpus;
	struct switches_thread *threads;	/* index: thread number */
	size_t nr_threads;
	bool begun;
};

static const struct running idle = { .prio = SWITCHES_PRIO_DEFAULT };

int switches_new(switches_put *put, void *arg, struct switches **switches)
{
	*switches = calloc(1, sizeof(**switches));
	if (!*switches)
		return -ENOMEM;
	(*switches)->put = put;
	(*switches)->arg = arg;
	return 0;
}

void switches_free(struct switches *switches)
{
	if (!switches)
		return;
	free(switches->cpus);
	free(switches->threads);
	free(switches);
}

/* Grows an array to include @index. New elements are 0. */
static int make_room(void **array, size_t *count, size_t size, size_t index)
{
	size_t room = *count;
	void *larger;

	if (index < room)
		return 0;
	while (room <= index)
		room = room ? 2 * room : 16;
	larger = realloc(*array, room * size);
	if (!larger)
		return -ENOMEM;
	memset((char *)larger + *count * size, 0, (room - *count) * size);
	*array = larger;
	*count = room;
	return 0;
}

static void put_switch(struct switches *switches, uint32_t cpu, uint64_t time,
		       const struct running *prev, int state, const struct running *next)
{
	if (switches->begun)
		switches->put(switches->arg, cpu, time, prev, state, next);
}

/* Completes the switch from the thread that left the CPU (or thread 0) to @next. */
static void finish(struct switches *switches, uint32_t cpu, const struct running *next)
{
	struct cpu *on = &switches->cpus[cpu];

	if (on->leaving.tid)
		put_switch(switches, cpu, on->left, &on->leaving, on->state, next);
	on->leaving.tid = 0;
}

void switches_finish(struct switches *switches, uint32_t cpu)
{
	if (cpu < switches->nr_cpus)
		finish(switches, cpu, &idle);
}

void switches_finish_all(struct switches *switches)
{
	for (size_t cpu = 0; cpu < switches->nr_cpus; cpu++)
		finish(switches, cpu, &idle);
}

/* Removes the current thread from a CPU. */
static void leave(struct switches *switches, uint32_t cpu, uint64_t time, int state, pid_t next)
{
	struct cpu *on = &switches->cpus[cpu];

	if (!on->now.tid)
		return;
	on->leaving = on->now;
	on->left = time;
	on->state = state;
	on->next = next;
	switches->threads[on->now.number].cpu = 0;
	on->now.tid = 0;
	if (!next)
		finish(switches, cpu, &idle);
}

/* Puts a thread on a CPU, replacing @prev if @prev is not 0. */
static void come(struct switches *switches, const struct running *thread, uint32_t cpu,
		 uint64_t time, pid_t prev)
{
	struct cpu *on = &switches->cpus[cpu];
	uint32_t before = switches->threads[thread->number].cpu;

	if (before)
		leave(switches, before - 1, switches->cpus[before - 1].seen, SWITCHES_UNKNOWN, 0);
	leave(switches, cpu, on->seen, SWITCHES_UNKNOWN, 0);
	if (on->leaving.tid && (on->next == thread->tid || on->leaving.tid == prev)) {
		time = on->left;
		finish(switches, cpu, thread);
	} else {
		finish(switches, cpu, &idle);
		put_switch(switches, cpu, time, &idle, 0, thread);
	}
	on->now = *thread;
	on->since = time;
	on->seen = time;
	switches->threads[thread->number].cpu = cpu + 1;
}

void switches_begin(struct switches *switches)
{
	if (switches->begun)
		return;
	switches->begun = true;
	for (size_t cpu = 0; cpu < switches->nr_cpus; cpu++) {
		const struct cpu *on = &switches->cpus[cpu];

		if (on->now.tid)
			put_switch(switches, cpu, on->since, &idle, 0, &on->now);
	}
}

bool switches_begun(const struct switches *switches)
{
	return switches->begun;
}

bool switches_runs(const struct switches *switches, uint32_t number, uint32_t cpu, uint64_t time)
{
	return switches->begun && number < switches->nr_threads && cpu < switches->nr_cpus &&
	       switches->threads[number].cpu == cpu + 1 && switches->cpus[cpu].since < time &&
	       switches->cpus[cpu].seen >= time;
}

/* Notes that an event shows a thread running on a CPU. Complete switches are more exact. */
static void see(struct switches *switches, const struct event *event,
		const struct running *running)
{
	const struct switches_thread *known = &switches->threads[running->number];
	struct cpu *on = &switches->cpus[event->cpu];

	if (known->cpu == event->cpu + 1) {
		if (on->seen < event->time)
			on->seen = event->time;
		/* The thread may have been renamed. */
		memcpy(on->now.comm, running->comm, sizeof(on->now.comm));
	} else if (!known->lost || known->lost <= event->lost) {
		come(switches, running, event->cpu, event->time, 0);
	}
}

/* Makes room for the CPU and the thread of an event. */
static int make_rooms(struct switches *switches, const struct event *event, uint32_t number)
{
	int err = make_room((void **)&switches->cpus, &switches->nr_cpus, sizeof(struct cpu),
			    event->cpu);

	return err ? err : make_room((void **)&switches->threads, &switches->nr_threads,
				     sizeof(struct switches_thread), number);
}

int switches_see(struct switches *switches, const struct event *event, const struct kevent *kevent,
		 uint32_t number, struct running *running)
{
	bool has_prio = kevent && (event->type == POSIXTRACE_SWITCH_OUT ||
				   event->type == POSIXTRACE_SWITCH_IN);
	int err = make_rooms(switches, event, number);

	*running = (struct running){
		.pid = event->pid,
		.tid = kevent ? kevent->tid : event->tid,
		.number = number,
		.prio = has_prio ? kevent->prio : SWITCHES_PRIO_DEFAULT,
	};
	if (err)
		return err;
	event_thread_name(event, running->comm);
	if (event_shows_running(event) && running->tid > 0 && !switches->threads[number].ended)
		see(switches, event, running);
	return 0;
}

int switches_start(struct switches *switches, const struct event *event, uint32_t number,
		   uint64_t until)
{
	struct running running = {
		.pid = event->pid,
		.tid = event->tid,
		.number = number,
		.prio = SWITCHES_PRIO_DEFAULT,
	};
	int err = make_rooms(switches, event, number);
	uint32_t cpu;

	if (err || switches->threads[number].ended)
		return err;
	cpu = switches->threads[number].cpu;
	event_thread_name(event, running.comm);
	if (until) {
		come(switches, &running, event->cpu, event->time, 0);
		switches->cpus[event->cpu].seen = until;
	} else if (cpu) {
		leave(switches, cpu - 1, switches->cpus[cpu - 1].seen, SWITCHES_UNKNOWN, 0);
	}
	return 0;
}

void switches_out(struct switches *switches, const struct event *event,
		  const struct kevent *kevent, const struct running *running)
{
	int state = SWITCHES_UNKNOWN;

	if (switches->threads[running->number].ended)
		return;
	switches->threads[running->number].ended = kevent->reason == KEVENT_ENDED;
	if (kevent->state >= 0 && kevent->state < KEVENT_STATES)
		state = states[kevent->state];
	if (kevent->state == KEVENT_STATE_R && kevent->reason == KEVENT_PREEMPTED)
		state = SWITCHES_PREEMPTED;
	if (switches->threads[running->number].cpu != event->cpu + 1)
		come(switches, running, event->cpu, event->time, 0);
	switches->cpus[event->cpu].now = *running;
	leave(switches, event->cpu, event->time, state, kevent->next_tid);
	switches->threads[running->number].lost = event->lost + 1;
}

void switches_in(struct switches *switches, const struct event *event,
		 const struct kevent *kevent, const struct running *running)
{
	if (switches->threads[running->number].ended)
		return;
	come(switches, running, event->cpu, event->time, kevent->prev_tid);
	switches->threads[running->number].lost = event->lost + 1;
}

void switches_end_process(struct switches *switches, const struct running *last, uint64_t time)
{
	switches->threads[last->number].ended = true;
	for (size_t cpu = 0; cpu < switches->nr_cpus; cpu++) {
		if (!switches->cpus[cpu].now.tid || switches->cpus[cpu].now.pid != last->pid)
			continue;
		switches->threads[switches->cpus[cpu].now.number].ended = true;
		leave(switches, cpu, time, SWITCHES_DEAD, 0);
	}
}
