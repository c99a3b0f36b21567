/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The threads and processes of the tables: assigns the numbers utid and upid, by which the rows of
 * other tables refer to them.
 */
#ifndef POSIXTRACE_TABLE_THREADS_H
#define POSIXTRACE_TABLE_THREADS_H

#include "event/event_names.h"
#include "export/export.h"
#include "export/table.h"

/**
 * struct table_thread - a thread, or a process
 * @pid: its process
 * @tid: its kernel thread id; 0: unknown
 * @source: the source of its events
 * @pthread: pthread_self(); 0: unknown
 * @life, @process_life: as in struct event
 * @upid: number of its process
 * @first: time of its first event
 * @last: time of its last event
 * @events: number of events
 * @name: its name; "" if unknown
 */
struct table_thread {
	pid_t pid;
	pid_t tid;
	const struct source *source;
	uint64_t pthread;
	uint32_t life;
	uint32_t process_life;
	uint32_t upid;
	uint64_t first;
	uint64_t last;
	uint64_t events;
	char name[LABEL_SIZE];
};

struct table_threads;

/* table_threads_new() - create an empty set; returns 0 or -ENOMEM */
int table_threads_new(struct table_threads **threads);

/**
 * table_threads_find() - find the thread of an event
 * @threads: from table_threads_new()
 * @event: an event; only the ids of the thread and the time are used
 * @utid: where to store the number of the thread; 0 if the event has no thread or there are too
 *	many
 *
 * Return: 0 or -ENOMEM.
 */
int table_threads_find(struct table_threads *threads, const struct event *event, uint32_t *utid);

/* table_threads_count() - count an event of a thread */
void table_threads_count(struct table_threads *threads, uint32_t utid, const struct event *event);

/* table_threads_get() - get a thread by its number, which must not be 0 */
const struct table_thread *table_threads_get(const struct table_threads *threads, uint32_t utid);

/* table_threads_latest() - find the last thread with these ids, or 0 */
uint32_t table_threads_latest(const struct table_threads *threads, pid_t pid, pid_t tid);

/**
 * table_threads_set() - set the columns of a row that name its thread
 * @threads: from table_threads_new()
 * @table: the table
 * @utid: number of the thread; 0: sets no column
 * @first: the column utid, before upid, pid and tid
 */
void table_threads_set(const struct table_threads *threads, struct table *table, uint32_t utid,
		       size_t first);

/* table_threads_put() - write the tables of threads and processes, if they are wanted */
int table_threads_put(const struct table_threads *threads, struct source *source,
		      struct table *thread_table, struct table *process_table);

void table_threads_free(struct table_threads *threads);

#endif /* POSIXTRACE_TABLE_THREADS_H */
