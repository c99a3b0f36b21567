/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Assigns small numbers to threads, and to anything else that is identified by two numbers. An
 * exporter uses them as thread ids, because no viewer accepts an event_thread_key(). event/lives.h
 * defines what a thread is.
 */
#ifndef POSIXTRACE_THREADS_H
#define POSIXTRACE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREADS_OTHERS	0U	/* shared by all threads beyond the limit */

struct threads;

/* threads_new() - create a table of at most @max threads; returns 0 or -ENOMEM */
int threads_new(size_t max, struct threads **threads);

/**
 * threads_find() - find or assign the number of a thread
 * @threads: from threads_new()
 * @pid: process of the thread
 * @thread: event_thread_key() of the thread
 * @number: where to store the number: 1, 2, 3 ... by first appearance, or THREADS_OTHERS
 *
 * Return: 1 if the number is new, 0 if not, or -ENOMEM.
 */
int threads_find(struct threads *threads, pid_t pid, uint64_t thread, uint32_t *number);

/* threads_get() - find the number of a thread; THREADS_OTHERS: it has no number */
uint32_t threads_get(const struct threads *threads, pid_t pid, uint64_t thread);

void threads_free(struct threads *threads);

#endif /* POSIXTRACE_THREADS_H */
