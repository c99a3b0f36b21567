/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out if a thread waits in the function of glibc that waits for a mutex. Only then does the
 * word next to the futex contain the owner of a mutex. Other programs and languages use futexes in
 * different ways.
 */
#ifndef POSIXTRACE_LOCK_WAIT_H
#define POSIXTRACE_LOCK_WAIT_H

#include <stdbool.h>

#include "event/event.h"

struct lock_wait;

/* lock_wait_new() - create a cache of files; returns 0 or -ENOMEM */
int lock_wait_new(struct lock_wait **cache);

/**
 * lock_wait_has() - check if an instruction belongs to the mutex wait function of glibc
 * @cache: from lock_wait_new()
 * @event: the process, the time, the source and the address of the instruction
 *
 * Return: true if it belongs to that function in glibc 2.34 or newer. False otherwise, and if the
 * file cannot be read or is not the file that the process has mapped.
 */
bool lock_wait_has(struct lock_wait *cache, const struct event *event);

void lock_wait_free(struct lock_wait *cache);

#endif /* POSIXTRACE_LOCK_WAIT_H */
