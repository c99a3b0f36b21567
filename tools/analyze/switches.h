/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which thread runs on which processor, as switches from one thread to the next.
 *
 * A log has the traced threads only, with one event when a thread leaves a processor and one when
 * a thread comes. What runs in between is not known: it is the thread 0 here, as the idle thread.
 */
#ifndef POSIXTRACE_SWITCHES_H
#define POSIXTRACE_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/kevent.h"
#include "event/source.h"

#define SWITCHES_PRIO_DEFAULT	120

/* Why a thread has left its processor, with the numbers of sched_switch of Linux 4.14 and later. */
#define SWITCHES_DEAD		0x10
#define SWITCHES_PREEMPTED	0x100
#define SWITCHES_UNKNOWN	0x8000	/* no state of a thread */

/**
 * struct running - a thread on a processor
 * @pid: its process
 * @tid: its id in the kernel; 0: none is known
 * @number: a small number for it
 * @prio: the kernel's number of its priority
 * @comm: its name; "": not known
 */
struct running {
	pid_t pid;
	pid_t tid;
	uint32_t number;
	int prio;
	char comm[POSIXTRACE_THREAD_NAME_SIZE];
};

/* Called for each switch. @time may be earlier than that of a previous call. */
typedef void switches_put(void *arg, uint32_t cpu, uint64_t time, const struct running *prev,
			  int state, const struct running *next);

struct switches;

/**
 * switches_new() - begin
 * @put: called for each switch, with @arg
 * @switches: where to store them
 *
 * There are no switches before switches_begin().
 *
 * Return: 0 or -ENOMEM.
 */
int switches_new(switches_put *put, void *arg, struct switches **switches);

/**
 * switches_see() - process an event
 * @switches: from switches_new()
 * @event: an event of a thread on a processor, in the order of the log
 * @kevent: its fields, or NULL if it is no event of the kernel
 * @number: number of the thread
 * @running: where to store the thread
 *
 * The first time that a thread runs, it has no sched_switch_in, and after lost events there may be
 * others. Then any event of the thread shows that it runs. If a thread must have left its processor
 * without an event, it ran until its last event there, and its state after that is unknown.
 *
 * Return: 0 or -ENOMEM.
 */
int switches_see(struct switches *switches, const struct event *event, const struct kevent *kevent,
		 uint32_t number, struct running *running);

/* switches_begin() - there are events of the scheduler: call it at the first one, and again */
void switches_begin(struct switches *switches);

/* switches_begun() - were there any? */
bool switches_begun(const struct switches *switches);

/* Process events after switches_see(): sched_switch_out, and sched_switch_in. */
void switches_out(struct switches *switches, const struct event *event,
		  const struct kevent *kevent, const struct running *running);
void switches_in(struct switches *switches, const struct event *event,
		 const struct kevent *kevent, const struct running *running);

/* switches_end_process() - the process of @last ends: what its threads have later does not count */
void switches_end_process(struct switches *switches, const struct running *last, uint64_t time);

/*
 * switches_finish() - end a switch whose second thread has not come; call it before something else
 * is written about the processor. switches_finish_all() does it for all processors.
 */
void switches_finish(struct switches *switches, uint32_t cpu);
void switches_finish_all(struct switches *switches);

void switches_free(struct switches *switches);

#endif /* POSIXTRACE_SWITCHES_H */
