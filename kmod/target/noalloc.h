/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_NOALLOC_H
#define PXT_NOALLOC_H

#include <linux/lockdep.h>
#include <linux/sched/mm.h>

/*
 * Tells lockdep that no holder of a mutex allocates memory that it would wait for: to lockdep, it
 * looks as if reclaim took the mutex. A memory cgroup lets its processes wait for memory, and they
 * must not make others wait that need the mutex.
 */
#define pxt_noalloc(mutex)				\
	do {						\
		fs_reclaim_acquire(GFP_KERNEL);		\
		might_lock(mutex);			\
		fs_reclaim_release(GFP_KERNEL);		\
	} while (0)

#endif /* PXT_NOALLOC_H */
