/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out if a thread waits in the function of the C library that waits for a mutex. Only then is
 * the word beside a futex the owner of a mutex; other programs and languages use futexes in other
 * ways.
 */
#ifndef POSIXTRACE_LOCK_WAIT_H
#define POSIXTRACE_LOCK_WAIT_H

#include <stdbool.h>

#include "event/event.h"

struct lock_wait;

/* lock_wait_new() - create a cache of files; returns 0 or -ENOMEM */
int lock_wait_new(struct lock_wait **cache);

/**
 * lock_wait_has() - check if an instruction is in that function
 * @cache: from lock_wait_new()
 * @event: has the process, the time, the address and the source
 *
 * Return: true if it is there, in glibc 2.34 or newer; false also if the file cannot
 *	be read or is not the one that the process has mapped.
 */
bool lock_wait_has(struct lock_wait *cache, const struct event *event);

void lock_wait_free(struct lock_wait *cache);

#endif /* POSIXTRACE_LOCK_WAIT_H */
