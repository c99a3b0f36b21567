/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_NOALLOC_H
#define PXT_NOALLOC_H

#include <linux/lockdep.h>
#include <linux/sched/mm.h>

/*
 * Tell lockdep that no holder of a mutex may wait for memory: model the mutex as taken by reclaim.
 * A memory cgroup makes its processes wait for memory, and others that need the mutex must not wait
 * with them.
 */
#define pxt_noalloc(mutex)				\
	do {						\
		fs_reclaim_acquire(GFP_KERNEL);		\
		might_lock(mutex);			\
		fs_reclaim_release(GFP_KERNEL);		\
	} while (0)

#endif /* PXT_NOALLOC_H */
