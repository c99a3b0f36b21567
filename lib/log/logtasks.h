/* SPDX-License-Identifier: MIT */
/*
 * What a log says about threads, processes and their files: the lists in memory.
 */
#ifndef PXTU_LOG_TASKS_H
#define PXTU_LOG_TASKS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/pxtu.h"

struct posixtrace_mapping_info;
struct pxtu_log;
struct pxtu_log_block;
struct pxtu_life;
struct pxtu_task;
struct pxtu_text;

/**
 * struct pxtu_log_task - a name of a thread
 * @pid: process id
 * @tid: kernel thread id
 * @start: when it was born, nanoseconds since the Epoch: another one had the ids before
 * @since: when it got the name, the same
 * @name: NUL-terminated; "" if it is not known
 */
struct pxtu_log_task {
	__s32 pid;
	__s32 tid;
	__u64 start;
	__u64 since;
	char name[POSIXTRACE_LOG_TASK_NAME_SIZE];
};

/**
 * struct pxtu_log_program - where a command line is
 * @pid: process id
 * @size: bytes of the text
 * @start: when the process was born, nanoseconds since the Epoch
 * @since: from when on it holds, the same
 * @offset: offset of the text
 */
struct pxtu_log_program {
	__s32 pid;
	__u32 size;
	__u64 start;
	__u64 since;
	__u64 offset;
};

/**
 * struct pxtu_log_mapping - where a mapping is
 * @pid: process id
 * @start: when the process was born, nanoseconds since the Epoch
 * @since: when it was looked at, the same
 * @address: of its first byte
 * @length: bytes
 * @offset: offset of its struct posixtrace_log_mapping
 */
struct pxtu_log_mapping {
	__s32 pid;
	__u64 start;
	__u64 since;
	__u64 address;
	__u64 length;
	__u64 offset;
};

/**
 * struct pxtu_log_tasks - names of threads and processes
 * @task: of threads
 * @nr_tasks: how many
 * @tasks_room: how many fit
 * @program: of processes
 * @nr_programs: how many
 * @programs_room: how many fit
 * @sorted: both are in the order of ids, then of births, then of times
 * @mapping: of processes
 * @nr_mappings: how many
 * @mappings_room: how many fit
 * @mappings_sorted: they are in the order of ids, births, times and addresses
 * @hosted: @host is valid
 * @host: where the log was written
 */
struct pxtu_log_tasks {
	struct pxtu_log_task *task;
	size_t nr_tasks;
	size_t tasks_room;
	struct pxtu_log_program *program;
	size_t nr_programs;
	size_t programs_room;
	bool sorted;
	struct pxtu_log_mapping *mapping;
	size_t nr_mappings;
	size_t mappings_room;
	bool mappings_sorted;
	bool hosted;
	struct posixtrace_log_host host;
};

/**
 * pxtu_log_make_room() - make room for one more element
 * @array: address of a pointer to the first one
 * @size: bytes of each
 * @used: how many there are
 * @room: how many fit
 *
 * Return: 0; -ENOMEM; -ENOSPC if there are too many.
 */
int pxtu_log_make_room(void *array, size_t size, size_t used, size_t *room);

/* As qsort() wants it. */
static inline int pxtu_log_compare(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

/*
 * The clock that says when a thread was born deviates from that of the events by less, in ns.
 * Only steps of the wall clock make more.
 */
#define PXTU_LOG_BIRTH_NS	10000000U

/* Can an event of this time be of a thread or process that was born then? */
static inline bool pxtu_log_lived(__u64 start, __u64 time)
{
	return start <= time || start - time <= PXTU_LOG_BIRTH_NS;
}

/**
 * pxtu_log_count_until() - how many elements of a sorted array are not greater than a key
 * @array: the array
 * @count: how many it has
 * @size: bytes of each
 * @key: an element
 * @order: compares two elements
 *
 * Return: the number.
 */
size_t pxtu_log_count_until(const void *array, size_t count, size_t size, const void *key,
			    int (*order)(const void *a, const void *b));

/**
 * pxtu_log_add_tasks() - add what a block says about threads, processes or the host
 * @log: the log
 * @block: a block with a good payload
 *
 * Return: 0, also if the block has another type; -ENOMEM.
 */
int pxtu_log_add_tasks(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_log_task() - name of a thread at a time
 * @log: the log
 * @task: any numbers
 *
 * Return: the name, or NULL if the log has none so far.
 */
const char *pxtu_log_task(struct pxtu_log *log, const struct pxtu_task *task);

/**
 * pxtu_log_life() - when the thread was born that had the ids at a time
 * @log: the log
 * @task: any numbers
 * @life: result
 *
 * Return: 0; -ENOENT if the log has none so far.
 */
int pxtu_log_life(struct pxtu_log *log, const struct pxtu_task *task, struct pxtu_life *life);

/**
 * pxtu_log_program() - command line of a process at a time
 * @log: the log
 * @task: any numbers
 * @text: where to write it
 *
 * Return: 0, also if there is no room for it; -ENOENT if the log has none so far; -ENOMEM.
 */
int pxtu_log_program(struct pxtu_log *log, const struct pxtu_task *task, struct pxtu_text *text);

#endif /* PXTU_LOG_TASKS_H */
