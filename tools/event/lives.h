/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a thread is, and a process, for all readers: the kernel's ids, and a life. The kernel uses
 * ids again, and pthread_self() is only an address, so neither tells threads apart. A life begins
 * with sched_process_fork, or when the log says that a thread was born, or with an event that a
 * thread cannot have after its end.
 *
 * Also the name that a thread had at the last task_rename: a log may lack some of its names.
 */
#ifndef POSIXTRACE_LIVES_H
#define POSIXTRACE_LIVES_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"

struct lives;

/**
 * lives_new() - begin without threads
 * @trid: the log or stream
 * @lives: where to store them
 *
 * Return: 0 or -ENOMEM.
 */
int lives_new(trace_id_t trid, struct lives **lives);

/**
 * lives_event() - find out which thread and process an event is of
 * @lives: from lives_new()
 * @event: events of the source in their order; sets its @life, @process_life and those of a child
 * @batch: events with another number may come with new facts in the log; 0: the log has none
 *
 * Return: 0 or -ENOMEM.
 */
int lives_event(struct lives *lives, struct event *event, uint64_t batch);

/**
 * lives_name() - get the name that a thread got by the last task_rename so far
 * @lives: from lives_new()
 * @event: an event of the thread
 *
 * Return: the name, or NULL if the event is older, of another life, or events were lost since.
 */
const char *lives_name(struct lives *lives, const struct event *event);

/**
 * lives_end() - get the last time at which the log has names of the thread of an event
 * @lives: from lives_new()
 * @event: any event of a thread
 * @process: of its process, not of the thread
 *
 * Return: a time before the birth of the next thread with these ids; that of the event if it is not
 * known when that was.
 */
uint64_t lives_end(struct lives *lives, const struct event *event, bool process);

void lives_free(struct lives *lives);

#endif /* POSIXTRACE_LIVES_H */
