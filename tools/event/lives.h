/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Identifies threads and processes by the kernel's ids and a life: the number of earlier threads or
 * processes with the same ids. The ids alone are not enough, because the kernel reuses them, and
 * pthread_self() is only an address. A new life begins with a sched_process_fork, with a birth that
 * is stored in the log, or with an event that the previous thread cannot have recorded because it
 * had ended.
 *
 * Also keeps the name from the last task_rename of each thread, because the log does not store all
 * names.
 */
#ifndef POSIXTRACE_LIVES_H
#define POSIXTRACE_LIVES_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "event/hosts.h"
#include "event/reader.h"

struct lives;

/**
 * lives_new() - create an empty table of lives
 * @readers: the logs, or the stream; must remain valid
 * @count: number of logs, or 1
 * @hosts: hosts of the logs, or NULL; must remain valid
 * @lives: where to store it
 *
 * Return: 0 or -ENOMEM.
 */
int lives_new(struct reader *const *readers, size_t count, const struct hosts *hosts,
	      struct lives **lives);

/**
 * lives_event() - find the thread and the process of an event
 * @lives: from lives_new()
 * @event: the next event of the source; sets @life, @process_life and the lives of a child
 * @batch: number of the batch with the event, because the log may have new births with each batch;
 *	0 for a stream
 *
 * Return: 0 or -ENOMEM.
 */
int lives_event(struct lives *lives, struct event *event, uint64_t batch);

/**
 * lives_name() - get the name that a thread got by its last task_rename so far
 * @lives: from lives_new()
 * @event: an event of the thread
 *
 * Return: the name. NULL if the thread had no task_rename in this life, if @event is older than
 *	the task_rename, or if events were lost since the task_rename.
 */
const char *lives_name(struct lives *lives, const struct event *event);

/**
 * lives_end() - get the time up to which names in the log belong to the thread of an event
 * @lives: from lives_new()
 * @event: any event of a thread
 * @process: true: use the process of the event, not the thread
 *
 * Return: a time before the birth of the next thread with these ids. If that birth is unknown, the
 * time of the event.
 */
uint64_t lives_end(struct lives *lives, const struct event *event, bool process);

void lives_free(struct lives *lives);

#endif /* POSIXTRACE_LIVES_H */
