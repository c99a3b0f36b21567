/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the thread that holds the lock for which another thread waits, from the memory at the
 * address of the futex. Only glibc mutexes are known to have their owner there: the memory of other
 * locks may contain a number that looks like a thread id. See Documentation/kernel-events.rst, "Who
 * holds a lock".
 */
#ifndef POSIXTRACE_HOLDER_H
#define POSIXTRACE_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/lock_wait.h"
#include "event/event.h"
#include "event/kevent.h"

/**
 * struct holder_words - what a thread waits for
 * @operation: operation of the futex() call, without flags
 * @known: the members below were read, and their ids are valid in the PID namespace of the reader
 * @lock: the word at the address of the futex
 * @owner: if the futex is a mutex: the id of its owner
 * @kind: if the futex is a mutex: its kind
 */
struct holder_words {
	unsigned int operation;
	bool known;
	uint32_t lock;
	uint32_t owner;
	uint32_t kind;
};

/**
 * holder_find() - find the thread that holds the lock
 * @lock_wait: from lock_wait_new()
 * @event: the wait: process, thread, time, source, and the address of the waiting instruction
 * @words: what the thread waits for
 *
 * The caller checks that the process had a thread with this id at that time.
 *
 * Return: the id of the thread, or 0 if it is unknown.
 */
pid_t holder_find(struct lock_wait *lock_wait, const struct event *event,
		  const struct holder_words *words);

/* holder_of_wait() - find the holder of the lock from the fields of a futex_wait */
pid_t holder_of_wait(struct lock_wait *lock_wait, const struct event *event,
		     const struct kevent *kevent);

/* holder_call() - convert a futex_wait to the fields that the syscall_entry of its call has */
void holder_call(const struct kevent *kevent, struct kevent *entry);

#endif /* POSIXTRACE_HOLDER_H */
