// SPDX-License-Identifier: GPL-2.0
/*
 * Who holds a lock: see holder.h.
 */
#include <linux/futex.h>
#include <string.h>

#include "analyze/holder.h"

/* glibc's __lock of a mutex that is locked and has waiters, unless it has the id of the owner. */
#define LOCKED_WAITERS	2

/* Bits of glibc's __kind. */
#define KIND_TYPE	0x03	/* normal, recursive, checking or adaptive */
#define KIND_ROBUST	0x10
#define KIND_ELISION	0x300	/* lock elision is on or off */

/* The number of a call that the kernel has under another number on each architecture. */
#define FUTEX_NR	(-2)

/* The owner of a mutex that processes share may be in another process, or have another id here. */
static uint32_t kind_of(const struct holder_words *words)
{
	return words->kind & ~(uint32_t)KIND_ELISION;
}

/* glibc sets the owner after it has the lock, and clears it before it unlocks. */
static pid_t plain_owner(const struct holder_words *words)
{
	return words->lock == LOCKED_WAITERS && kind_of(words) <= KIND_TYPE ?
	       (pid_t)words->owner : 0;
}

/* The word has the owner, so that the kernel can mark a mutex whose owner has ended. */
static pid_t robust_owner(const struct holder_words *words)
{
	const uint32_t flags = words->lock & ~FUTEX_TID_MASK;

	return flags == FUTEX_WAITERS && (kind_of(words) & ~(uint32_t)KIND_TYPE) == KIND_ROBUST ?
	       (pid_t)(words->lock & FUTEX_TID_MASK) : 0;
}

static pid_t mutex_owner(struct lock_wait *lock_wait, const struct event *event,
			 const struct holder_words *words)
{
	const pid_t plain = plain_owner(words), robust = robust_owner(words);

	/* Most waits are for something else: do not look for their file. */
	if (!plain && !robust)
		return 0;
	switch (lock_wait_find(lock_wait, event)) {
	case LOCK_WAIT_PLAIN:
		return plain;
	case LOCK_WAIT_ROBUST:
		return robust;
	default:
		return 0;
	}
}

pid_t holder_find(struct lock_wait *lock_wait, const struct event *event,
		  const struct holder_words *words)
{
	pid_t owner = 0;

	if (!words->known)
		return 0;
	switch (words->operation) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		/* The kernel defines the word. */
		owner = (pid_t)(words->lock & FUTEX_TID_MASK);
		break;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		owner = mutex_owner(lock_wait, event, words);
		break;
	}
	/* It has got the lock meanwhile. */
	return owner > 0 && owner != event->tid ? owner : 0;
}

pid_t holder_of_wait(struct lock_wait *lock_wait, const struct event *event,
		     const struct kevent *kevent)
{
	const struct holder_words words = {
		.operation = (unsigned int)kevent->operation,
		.known = kevent->known && kevent->same_ids,
		.lock = (uint32_t)kevent->lock,
		.owner = (uint32_t)kevent->owner,
		.kind = (uint32_t)kevent->kind,
	};
	struct event at = *event;

	at.address = (uint64_t)kevent->ip;
	return holder_find(lock_wait, &at, &words);
}

void holder_call(const struct kevent *kevent, struct kevent *entry)
{
	static const char name[] = "futex";

	*entry = (struct kevent){
		.nr = FUTEX_NR,
		.name = { .at = name, .len = strlen(name) },
	};
	entry->args[0] = kevent->address;
}
