// SPDX-License-Identifier: GPL-2.0
/*
 * Who holds a lock: see holder.h.
 */
#include <linux/futex.h>
#include <string.h>

#include "analyze/holder.h"

/*
 * Value of glibc's __lock if the mutex is locked and has waiters. Some kinds store the owner's id.
 */
#define LOCKED_WAITERS	2

/* Bits of glibc's __kind. */
#define KIND_TYPE	0x03	/* normal, recursive, checking or adaptive */
#define KIND_ELISION	0x300	/* lock elision is on or off */

/* Stands for the system call number of futex(), which differs between architectures. */
#define FUTEX_NR	(-2)

/*
 * Only the bits of KIND_TYPE may remain. Mutexes with the bit 0x80 are robust, or shared between
 * processes: the owner may be in another process, or may have another id in this PID namespace.
 */
static uint32_t kind_of(const struct holder_words *words)
{
	return words->kind & ~(uint32_t)KIND_ELISION;
}

/*
 * Returns the owner of a locked glibc mutex, or 0. glibc sets the owner after locking and clears it
 * before unlocking.
 */
static pid_t owner_of(const struct holder_words *words)
{
	return words->lock == LOCKED_WAITERS && kind_of(words) <= KIND_TYPE ?
	       (pid_t)words->owner : 0;
}

static pid_t mutex_owner(struct lock_wait *lock_wait, const struct event *event,
			 const struct holder_words *words)
{
	const pid_t owner = owner_of(words);

	/*
	 * Most waits are not for a mutex, so check @owner before searching the file for
	 * lock_wait_has().
	 */
	return owner && lock_wait_has(lock_wait, event) ? owner : 0;
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
		/*
		 * PI futex: the kernel defines the contents of the word, which include the id of
		 * the owner.
		 */
		owner = (pid_t)(words->lock & FUTEX_TID_MASK);
		break;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		owner = mutex_owner(lock_wait, event, words);
		break;
	}
	/* A word in memory has the plain id. */
	if (owner > 0)
		owner = source_shared_id(event->source, event->pid, owner);
	/* The thread may have acquired the lock itself after it entered the call. */
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
