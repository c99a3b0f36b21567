/* SPDX-License-Identifier: MIT */
/*
 * Information in a log about threads, processes and their files: the lists in memory.
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
 * @start: when the thread was born, in nanoseconds since the Epoch; differs from the births of
 *	other threads with the same ids
 * @since: when the thread got the name, in nanoseconds since the Epoch
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
 * struct pxtu_log_program - location of a command line
 * @pid: process id
 * @size: bytes of the text
 * @start: when the process was born, in nanoseconds since the Epoch
 * @since: valid from this time on, in nanoseconds since the Epoch
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
 * struct pxtu_log_mapping - location of a mapping
 * @pid: process id
 * @start: when the process was born, in nanoseconds since the Epoch
 * @since: when the mappings of the process were scanned, in nanoseconds since the Epoch
 * @address: address of its first byte
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
 * @task: names of threads
 * @nr_tasks: number of elements of @task
 * @tasks_room: room in @task
 * @program: command lines of processes
 * @nr_programs: number of elements of @program
 * @programs_room: room in @program
 * @sorted: @task and @program are sorted by ids, then by births, then by times
 * @mapping: mappings of processes
 * @nr_mappings: number of elements of @mapping
 * @mappings_room: room in @mapping
 * @mappings_sorted: @mapping is sorted by ids, births, times and addresses
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
 * @array: address of a pointer to the first element
 * @size: bytes of each element
 * @used: number of elements in use
 * @room: number of elements that fit
 *
 * Return: 0; -ENOMEM; -ENOSPC if there are too many.
 */
int pxtu_log_make_room(void *array, size_t size, size_t used, size_t *room);

/* Compare two numbers, with a result for qsort(). */
static inline int pxtu_log_compare(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

/*
 * In ns: the clock of births differs from the clock of events by less than this, unless the wall
 * clock is stepped.
 */
#define PXTU_LOG_BIRTH_NS	10000000U

/* Can an event at @time belong to a thread or process that was born at @start? */
static inline bool pxtu_log_lived(__u64 start, __u64 time)
{
	return start <= time || start - time <= PXTU_LOG_BIRTH_NS;
}

/**
 * pxtu_log_count_until() - count the elements of a sorted array that are not greater than a key
 * @array: the array
 * @count: number of elements
 * @size: bytes of each
 * @key: an element
 * @order: compares two elements
 *
 * Return: the number.
 */
size_t pxtu_log_count_until(const void *array, size_t count, size_t size, const void *key,
			    int (*order)(const void *a, const void *b));

/**
 * pxtu_log_add_tasks() - add the threads, processes or host in a block
 * @log: the log
 * @block: a block with a good payload
 *
 * Return: 0, also if the block has another type; -ENOMEM.
 */
int pxtu_log_add_tasks(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_log_task() - get the name of a thread at a given time
 * @log: the log
 * @task: ids of the thread, and the time; may have any values
 *
 * Return: the name, or NULL if it is not in the log so far.
 */
const char *pxtu_log_task(struct pxtu_log *log, const struct pxtu_task *task);

/**
 * pxtu_log_life() - get the birth of the thread that had the ids at a given time
 * @log: the log
 * @task: ids of the thread, and the time; may have any values
 * @life: result
 *
 * Return: 0; -ENOENT if it is not in the log so far.
 */
int pxtu_log_life(struct pxtu_log *log, const struct pxtu_task *task, struct pxtu_life *life);

/**
 * pxtu_log_program() - get the command line of a process at a given time
 * @log: the log
 * @task: ids of the process, and the time; may have any values
 * @text: buffer
 *
 * Return: 0, also if it does not fit; -ENOENT if it is not in the log so far; -ENOMEM.
 */
int pxtu_log_program(struct pxtu_log *log, const struct pxtu_task *task, struct pxtu_text *text);

#endif /* PXTU_LOG_TASKS_H */
