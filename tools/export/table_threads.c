// SPDX-License-Identifier: GPL-2.0
/*
 * The threads and processes of the tables: see table_threads.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/latest.h"
#include "export/table_schemas.h"
#include "export/table_threads.h"

/* All threads, or all processes; index: number minus 1. */
struct list {
	struct threads *numbers;
	struct table_thread *items;
	size_t count;
	size_t room;
};

struct table_threads {
	struct list threads;
	struct list processes;
	struct latest *latest;
};

int table_threads_new(struct table_threads **threads)
{
	struct table_threads *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = threads_new(EXPORT_THREADS, &new->threads.numbers);
	if (!err)
		err = threads_new(EXPORT_THREADS, &new->processes.numbers);
	if (!err)
		err = latest_new(EXPORT_THREADS, &new->latest);
	if (err)
		table_threads_free(new);
	else
		*threads = new;
	return err;
}

void table_threads_free(struct table_threads *threads)
{
	if (!threads)
		return;
	threads_free(threads->threads.numbers);
	threads_free(threads->processes.numbers);
	latest_free(threads->latest);
	free(threads->threads.items);
	free(threads->processes.items);
	free(threads);
}

/* Appends the thread or process of an event to a list. */
static int add(struct list *list, const struct event *event, struct table_thread **item)
{
	const size_t room = list->room ? 2 * list->room : 64;
	struct table_thread *more;

	if (list->count == list->room) {
		more = reallocarray(list->items, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		list->items = more;
		list->room = room;
	}
	*item = &list->items[list->count++];
	**item = (struct table_thread){
		.pid = event->pid,
		.tid = event->tid,
		.source = event->source,
		.pthread = event->thread,
		.life = event->life,
		.process_life = event->process_life,
	};
	return 0;
}

static int find_process(struct table_threads *threads, const struct event *event, uint32_t *upid)
{
	struct table_thread *process;
	int ret = threads_find(threads->processes.numbers, event->pid, event_process_key(event),
			       upid);

	if (ret <= 0 || *upid == THREADS_OTHERS)
		return ret < 0 ? ret : 0;
	ret = add(&threads->processes, event, &process);
	if (ret)
		return ret;
	if (!event_process_label(event, process->name))
		process->name[0] = '\0';
	return 0;
}

static void set_name(struct table_thread *thread, const struct event *event)
{
	char name[POSIXTRACE_THREAD_NAME_SIZE] = "";

	if (!event_last_name(event, name))
		name[0] = '\0';
	snprintf(thread->name, sizeof(thread->name), "%s", name);
}

int table_threads_find(struct table_threads *threads, const struct event *event, uint32_t *utid)
{
	struct table_thread *thread;
	uint32_t upid;
	int ret;

	*utid = 0;
	/* System events that belong to the whole stream have no thread. */
	if (!event->user && !event->pid)
		return 0;
	ret = threads_find(threads->threads.numbers, event->pid, event_thread_key(event), utid);
	if (ret <= 0 || *utid == THREADS_OTHERS)
		return ret < 0 ? ret : 0;
	/* There are never more processes than threads. */
	ret = find_process(threads, event, &upid);
	if (!ret)
		ret = add(&threads->threads, event, &thread);
	if (ret)
		return ret;
	thread->upid = upid;
	set_name(thread, event);
	return event->tid > 0 ? latest_set(threads->latest, event->pid, event->tid, *utid) : 0;
}

static void count(struct table_thread *item, const struct event *event)
{
	if (!item->events++ || event->time < item->first)
		item->first = event->time;
	if (event->time > item->last)
		item->last = event->time;
}

void table_threads_count(struct table_threads *threads, uint32_t utid, const struct event *event)
{
	struct table_thread *thread;

	if (!utid)
		return;
	thread = &threads->threads.items[utid - 1];
	if (!thread->pthread)
		thread->pthread = event->thread;
	count(thread, event);
	count(&threads->processes.items[thread->upid - 1], event);
}

const struct table_thread *table_threads_get(const struct table_threads *threads, uint32_t utid)
{
	return &threads->threads.items[utid - 1];
}

uint32_t table_threads_latest(const struct table_threads *threads, pid_t pid, pid_t tid)
{
	return latest_get(threads->latest, pid, tid);
}

void table_threads_set(const struct table_threads *threads, struct table *table, uint32_t utid,
		       size_t first)
{
	const struct table_thread *thread;

	if (!utid)
		return;
	thread = table_threads_get(threads, utid);
	table_set(table, first, utid);
	table_set(table, first + 1, thread->upid);
	table_set(table, first + 2, source_plain_id(thread->source, thread->pid));
	if (thread->tid > 0)
		table_set(table, first + 3, source_plain_id(thread->source, thread->tid));
}

static void set_times(struct table *table, const struct table_thread *item, size_t first)
{
	if (item->events) {
		table_set(table, first, (int64_t)item->first);
		table_set(table, first + 1, (int64_t)item->last);
	}
	table_set(table, first + 2, (int64_t)item->events);
}

static void set_host(struct table *table, const struct table_thread *item, size_t column)
{
	const unsigned int host = item->source ? source_host_of(item->source, item->pid) : 0;

	if (host)
		table_set_text(table, column, source_host_name(item->source, host));
}

static int put_thread(struct table *table, const struct table_thread *thread, uint32_t utid)
{
	table_set(table, THREAD_UTID, utid);
	table_set(table, THREAD_UPID, thread->upid);
	table_set(table, THREAD_PID, source_plain_id(thread->source, thread->pid));
	if (thread->tid > 0)
		table_set(table, THREAD_TID, source_plain_id(thread->source, thread->tid));
	if (thread->pthread)
		table_set(table, THREAD_PTHREAD, (int64_t)thread->pthread);
	if (thread->name[0])
		table_set_text(table, THREAD_NAME, thread->name);
	set_times(table, thread, THREAD_FIRST);
	set_host(table, thread, THREAD_HOST);
	return table_row(table);
}

static int put_process(struct table *table, struct source *source,
		       const struct table_thread *process, uint32_t upid)
{
	const struct event event = {
		.pid = process->pid,
		.tid = process->tid,
		.life = process->life,
		.process_life = process->process_life,
		.time = process->first,
		.source = source,
	};
	char command[POSIXTRACE_PROGRAM_SIZE];
	size_t len = event_process_command(&event, command);

	table_set(table, PROCESS_UPID, upid);
	table_set(table, PROCESS_PID, source_plain_id(source, process->pid));
	if (process->name[0])
		table_set_text(table, PROCESS_NAME, process->name);
	if (len)
		table_set_bytes(table, PROCESS_COMMAND, command, len);
	set_times(table, process, PROCESS_FIRST);
	set_host(table, process, PROCESS_HOST);
	return table_row(table);
}

int table_threads_put(const struct table_threads *threads, struct source *source,
		      struct table *thread_table, struct table *process_table)
{
	const struct list *list = &threads->threads;
	int err = 0;

	for (size_t i = 0; table_is_wanted(thread_table) && i < list->count && !err; i++)
		err = put_thread(thread_table, &list->items[i], (uint32_t)i + 1);
	list = &threads->processes;
	for (size_t i = 0; table_is_wanted(process_table) && i < list->count && !err; i++)
		err = put_process(process_table, source, &list->items[i], (uint32_t)i + 1);
	return err;
}
