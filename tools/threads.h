/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small numbers for threads. A pthread_t is an address that is unique only within its process,
 * and no viewer accepts it as the id of a thread.
 */
#ifndef POSIXTRACE_THREADS_H
#define POSIXTRACE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREADS_OTHERS	0U	/* the number that all threads beyond the limit share */

struct threads;

/* threads_new() - create a table of at most @max threads; returns 0 or -ENOMEM */
int threads_new(size_t max, struct threads **threads);

/**
 * threads_find() - find or assign the number of a thread
 * @threads: from threads_new()
 * @pid: process of the thread
 * @thread: pthread_self() of the thread
 * @number: where to store the number: 1, 2, 3 ... by first appearance, or THREADS_OTHERS
 *
 * Return: 1 if the number is new, 0 if not, or -ENOMEM.
 */
int threads_find(struct threads *threads, pid_t pid, uint64_t thread, uint32_t *number);

void threads_free(struct threads *threads);

#endif /* POSIXTRACE_THREADS_H */
