/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGWAKERS_H
#define PXT_LOGWAKERS_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <linux/posixtrace_log.h>

#define PXT_LOGWAKERS_BITS	6
#define PXT_LOGWAKERS		BIT(PXT_LOGWAKERS_BITS)

/* All names together fit into a block. */
static_assert(PXT_LOGWAKERS * sizeof(struct posixtrace_log_task) <= POSIXTRACE_LOG_PROGRAM_SIZE);

/**
 * struct pxt_logwaker - a thread that is named in events, but not traced
 * @pid: process id in the namespace of the controller; 0: none
 * @tid: thread id there
 * @start: task->start_time: distinguishes threads with the same ids
 * @since: first event with this name, ns since the Epoch
 * @unwritten: not in the log yet
 * @comm: its name
 */
struct pxt_logwaker {
	s32 pid;
	s32 tid;
	u64 start;
	u64 since;
	bool unwritten;
	char comm[TASK_COMM_LEN];
};

/**
 * struct pxt_logwakers - the last threads that were named in events, but not traced
 * @rcu: tracepoints find it under RCU
 * @lock: guards @waker; raw, because tracepoints take it; an innermost lock. pxt_logwakers_note()
 *	first looks without it
 * @waker: by a hash of the thread id; a newer thread replaces an older one
 */
struct pxt_logwakers {
	struct rcu_head rcu;
	raw_spinlock_t lock;
	struct pxt_logwaker waker[PXT_LOGWAKERS];
};

struct pxt_logwakers *pxt_logwakers_new(void);
void pxt_logwakers_free(struct pxt_logwakers *wakers);
void pxt_logwakers_note(struct pxt_logwakers *wakers, struct pid_namespace *ns);
u32 pxt_logwakers_take(struct pxt_logwakers *wakers, struct posixtrace_log_task *to);
void pxt_logwakers_restart(struct pxt_logwakers *wakers);

#endif /* PXT_LOGWAKERS_H */
