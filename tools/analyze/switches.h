/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which thread runs on which CPU, as switches from one thread to the next.
 *
 * A log contains only the traced threads, with one event when such a thread leaves a CPU and one
 * when it arrives. If nothing is known to run between two traced threads, thread 0 (the idle
 * thread) is shown.
 */
#ifndef POSIXTRACE_SWITCHES_H
#define POSIXTRACE_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/kevent.h"
#include "event/source.h"

#define SWITCHES_PRIO_DEFAULT	120

/* Reasons why a thread left its CPU, with the numbers of sched_switch in Linux 4.14 and later. */
#define SWITCHES_DEAD		0x10
#define SWITCHES_PREEMPTED	0x100
#define SWITCHES_UNKNOWN	0x8000	/* not a thread state */

/**
 * struct running - a thread on a CPU
 * @pid: its process
 * @tid: its kernel id; 0: unknown
 * @number: number of the thread in the trace
 * @prio: its priority as the kernel numbers it
 * @comm: its name; "" if unknown
 */
struct running {
	pid_t pid;
	pid_t tid;
	uint32_t number;
	int prio;
	char comm[POSIXTRACE_THREAD_NAME_SIZE];
};

/* Called for each switch. @time may be earlier than in a previous call. */
typedef void switches_put(void *arg, uint32_t cpu, uint64_t time, const struct running *prev,
			  int state, const struct running *next);

struct switches;

/**
 * switches_new() - create a set of CPUs and threads
 * @put: called for each switch, with @arg
 * @switches: where to store it
 *
 * @put is not called before switches_begin().
 *
 * Return: 0 or -ENOMEM.
 */
int switches_new(switches_put *put, void *arg, struct switches **switches);

/**
 * switches_see() - process an event
 * @switches: from switches_new()
 * @event: an event of a thread on a CPU, in the order of the log
 * @kevent: its fields, or NULL if it is not a kernel event
 * @number: number of the thread
 * @running: where to store the thread
 *
 * The first run of a thread has no sched_switch_in, and lost events may hide others. In these
 * cases, any event of the thread shows that it runs. If a thread must have left its CPU without an
 * event, assume that it ran until its last event there. Its state after that event is unknown.
 *
 * Return: 0 or -ENOMEM.
 */
int switches_see(struct switches *switches, const struct event *event, const struct kevent *kevent,
		 uint32_t number, struct running *running);

/**
 * switches_start() - use the state of a thread that has no event since recording started
 * @switches: from switches_new()
 * @event: an event with the ids and CPU of the thread, and the start of its state as the time
 * @number: number of the thread
 * @until: the thread runs at least until this time; 0: it is not on a CPU
 *
 * Return: 0 or -ENOMEM.
 */
int switches_start(struct switches *switches, const struct event *event, uint32_t number,
		   uint64_t until);

/* switches_begin() - report that the trace has scheduler events; further calls have no effect */
void switches_begin(struct switches *switches);

/* switches_begun() - check if switches_begin() was called */
bool switches_begun(const struct switches *switches);

/* switches_runs() - check if the switches so far show that a thread runs on a CPU at a time */
bool switches_runs(const struct switches *switches, uint32_t number, uint32_t cpu, uint64_t time);

/* Process a sched_switch_out or sched_switch_in, after switches_see(). */
void switches_out(struct switches *switches, const struct event *event,
		  const struct kevent *kevent, const struct running *running);
void switches_in(struct switches *switches, const struct event *event,
		 const struct kevent *kevent, const struct running *running);

/* switches_end_process() - end the process of @last; ignore later events of its threads */
void switches_end_process(struct switches *switches, const struct running *last, uint64_t time);

/*
 * switches_finish(), switches_finish_all() - complete a switch whose second thread is unknown, on
 * one CPU or on all CPUs. Call this before writing anything else about the CPU.
 */
void switches_finish(struct switches *switches, uint32_t cpu);
void switches_finish_all(struct switches *switches);

void switches_free(struct switches *switches);

#endif /* POSIXTRACE_SWITCHES_H */
