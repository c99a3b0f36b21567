/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bundles of ftrace events for Perfetto. Each CPU has a bundle, so the CPU is stored only once.
 * Switches have a compact form that contains only the next thread: the thread that leaves is known
 * from the previous switch.
 */
#ifndef POSIXTRACE_PERFETTO_BUNDLES_H
#define POSIXTRACE_PERFETTO_BUNDLES_H

#include <stdint.h>
#include <sys/types.h>

#include "analyze/switches.h"
#include "util/buffer.h"

#define BUNDLES_CPUS	1024	/* Perfetto rejects traces with more CPUs */

struct bundles;

/**
 * bundles_new() - create bundles without events
 * @hosts: number of hosts in the logs: ids of threads are as described in hosts.h
 * @bundles: result
 *
 * Return: 0 or -ENOMEM.
 */
int bundles_new(unsigned int hosts, struct bundles **bundles);

/*
 * bundles_since() - set the time from which the times of events are counted, which is time 0 of
 * SEQUENCES_FTRACE_CLOCK; call this before the first event
 */
void bundles_since(struct bundles *bundles, uint64_t since);

/* bundles_plain_id() - get the id of a process or thread in the log; INT32_MAX remains as it is */
pid_t bundles_plain_id(const struct bundles *bundles, pid_t id);

void bundles_free(struct bundles *bundles);

/**
 * bundles_begin() - begin an event
 * @bundles: from bundles_new()
 * @cpu: its CPU, less than BUNDLES_CPUS
 * @time: its time
 * @tid: id of the thread that caused the event
 * @type: field number of its type in FtraceEvent
 *
 * Return: where to append its fields, until bundles_end().
 */
struct buffer *bundles_begin(struct bundles *bundles, uint32_t cpu, uint64_t time, pid_t tid,
			     unsigned int type);

/*
 * bundles_end_fields() - end the fields of the type; fields appended later belong to the
 * FtraceEvent
 */
void bundles_end_fields(struct bundles *bundles);

/* bundles_end() - end an event, after bundles_end_fields() */
void bundles_end(struct bundles *bundles);

/**
 * bundles_switch() - add a switch
 * @bundles: from bundles_new()
 * @cpu: its CPU, less than BUNDLES_CPUS
 * @time: its time
 * @prev: the thread that leaves
 * @state: why it leaves, as prev_state of sched_switch
 * @next: the thread that comes
 */
void bundles_switch(struct bundles *bundles, uint32_t cpu, uint64_t time,
		    const struct running *prev, int state, const struct running *next);

/* bundles_write() - append the large bundles as packets; with @all, append all bundles */
void bundles_write(struct bundles *bundles, struct buffer *to, bool all);

#endif /* POSIXTRACE_PERFETTO_BUNDLES_H */
