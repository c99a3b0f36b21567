// SPDX-License-Identifier: GPL-2.0
/*
 * The uncommon case of raw locks in tracepoints: the lock is not free.
 */
#include "ring/rawlock.h"

/**
 * pxt_raw_lock_wait() - take a lock that another CPU holds or has just released
 * @lock: a raw lock, without checks by the kernel
 *
 * Context: interrupts are off.
 */
void pxt_raw_lock_wait(raw_spinlock_t *lock)
{
	arch_spin_lock(&lock->raw_lock);
}
