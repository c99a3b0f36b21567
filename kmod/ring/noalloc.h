/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_NOALLOC_H
#define PXT_NOALLOC_H

#include <linux/lockdep.h>
#include <linux/sched/mm.h>

/*
 * Tell lockdep that the holder of a mutex must not wait for memory, by pretending that reclaim
 * takes the mutex. A memory cgroup makes its processes wait for memory, and other processes that
 * need the mutex must not wait with them.
 */
#define pxt_noalloc(mutex)				\
	do {						\
		fs_reclaim_acquire(GFP_KERNEL);		\
		might_lock(mutex);			\
		fs_reclaim_release(GFP_KERNEL);		\
	} while (0)

#endif /* PXT_NOALLOC_H */
