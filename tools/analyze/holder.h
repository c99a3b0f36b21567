/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decides which thread holds the lock that a thread waits for, from the memory at the address of
 * the futex. Only a mutex of glibc has an owner there; what other programs keep there may look like
 * the id of a thread. See Documentation/kernel-events.rst, "Who holds a lock".
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
 * @operation: of the system call futex, without flags
 * @known: the rest has been read, and has ids that the reader knows
 * @lock: the word at the address of the futex
 * @owner: of a mutex, the id of its owner
 * @kind: of a mutex, its kind
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
 * @event: has the process, thread and time of the wait, its instruction as the address, and the
 *	source
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

/* holder_call() - get a futex_wait as fields of the syscall_entry of its call */
void holder_call(const struct kevent *kevent, struct kevent *entry);

#endif /* POSIXTRACE_HOLDER_H */
