/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small numbers for threads. A pthread_t is an address, which no viewer takes for the id of
 * a thread, and it is unique within its process only.
 */
#ifndef POSIXTRACE_THREADS_H
#define POSIXTRACE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREADS_OTHERS	0U	/* number of all for which there is none left */

struct threads;

/* threads_new() - for so many; 0, or -ENOMEM */
int threads_new(size_t max, struct threads **threads);

/**
 * threads_find() - the number of a thread
 * @threads: of threads_new()
 * @pid: its process
 * @thread: its pthread_self()
 * @number: where to put the number: 1, 2, 3 ... as they come, or THREADS_OTHERS
 *
 * Return: 1 if the number is new, else 0; or -ENOMEM.
 */
int threads_find(struct threads *threads, pid_t pid, uint64_t thread, uint32_t *number);

void threads_free(struct threads *threads);

#endif /* POSIXTRACE_THREADS_H */
