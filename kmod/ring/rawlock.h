/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RAWLOCK_H
#define PXT_RAWLOCK_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>

#include "compat.h"

void pxt_raw_lock_wait(raw_spinlock_t *lock) __cold;

/* Take a lock if it is free. Unlike arch_spin_trylock(), do not read it before the exchange. */
static __always_inline bool pxt_raw_trylock(raw_spinlock_t *lock)
{
#ifdef CONFIG_QUEUED_SPINLOCKS
	int val = 0;

	/* As in queued_spin_lock(). */
	return atomic_try_cmpxchg_acquire(&lock->raw_lock.val, &val, _Q_LOCKED_VAL);
#else
	return arch_spin_trylock(&lock->raw_lock);
#endif
}

/**
 * pxt_raw_lock() - raw_spin_lock(), inline
 * @lock: a raw lock
 *
 * With interrupts off, the preemption count does not matter, so it is not changed. The kernel's own
 * tracers lock in the same way. Takes a fifth of the instructions of a call to raw_spin_lock().
 */
static __always_inline void pxt_raw_lock(raw_spinlock_t *lock)
{
	lockdep_assert_irqs_disabled();
	if (IS_ENABLED(CONFIG_DEBUG_SPINLOCK) || IS_ENABLED(CONFIG_LOCKDEP))
		raw_spin_lock(lock);
	else if (unlikely(!pxt_raw_trylock(lock)))
		pxt_raw_lock_wait(lock);
}

/**
 * pxt_raw_unlock() - undo pxt_raw_lock()
 * @lock: locked
 */
static __always_inline void pxt_raw_unlock(raw_spinlock_t *lock)
{
	if (IS_ENABLED(CONFIG_DEBUG_SPINLOCK) || IS_ENABLED(CONFIG_LOCKDEP))
		raw_spin_unlock(lock);
	else
		arch_spin_unlock(&lock->raw_lock);
}

#endif /* PXT_RAWLOCK_H */
