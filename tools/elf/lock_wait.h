/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out if a thread waits in a function of the C library that waits for a mutex. Only then is
 * the owner of a mutex in the memory of a futex; other programs and languages use futexes in other
 * ways.
 */
#ifndef POSIXTRACE_LOCK_WAIT_H
#define POSIXTRACE_LOCK_WAIT_H

#include "event/event.h"

struct lock_wait;

/* lock_wait_new() - create a cache of files; returns 0 or -ENOMEM */
int lock_wait_new(struct lock_wait **cache);

/* Where a thread waits. */
enum lock_wait_place {
	LOCK_WAIT_ELSEWHERE,
	LOCK_WAIT_PLAIN,	/* for a mutex that is not robust */
	LOCK_WAIT_ROBUST,	/* for a robust mutex */
};

/**
 * lock_wait_find() - check if an instruction is in one of these functions
 * @cache: from lock_wait_new()
 * @event: has the process, the time, the address and the source
 *
 * Return: where it is, in glibc 2.34 or newer; LOCK_WAIT_ELSEWHERE also if the file cannot be read
 *	or is not the one that the process has mapped.
 */
enum lock_wait_place lock_wait_find(struct lock_wait *cache, const struct event *event);

void lock_wait_free(struct lock_wait *cache);

#endif /* POSIXTRACE_LOCK_WAIT_H */
