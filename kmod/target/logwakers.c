// SPDX-License-Identifier: GPL-2.0
/*
 * Names for logs: the threads that woke traced threads or sent them signals, but are not traced
 * themselves. They may be gone when the log is written. Only a few names are kept, so a name that
 * is replaced before it is written is missing in the log.
 */
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ring/clock.h"
#include "ring/rawlock.h"
#include "target/logwakers.h"

/**
 * pxt_logwakers_new() - create the names of a new log
 *
 * Context: may sleep.
 * Return: the names, or NULL if out of memory.
 */
struct pxt_logwakers *pxt_logwakers_new(void)
{
	struct pxt_logwakers *wakers = kzalloc(sizeof(*wakers), GFP_KERNEL_ACCOUNT);

	if (wakers)
		raw_spin_lock_init(&wakers->lock);
	return wakers;
}

/**
 * pxt_logwakers_free() - undo pxt_logwakers_new()
 * @wakers: names of a stream that has ended; may be NULL
 *
 * A tracepoint may still note a name.
 */
void pxt_logwakers_free(struct pxt_logwakers *wakers)
{
	if (wakers)
		kfree_rcu(wakers, rcu);
}

/* Is this the entry of the current thread, with its current name? */
static bool is_mine(const struct pxt_logwaker *waker, s32 pid, s32 tid)
{
	return waker->tid == tid && waker->pid == pid && waker->start == current->start_time &&
	       !strncmp(waker->comm, current->comm, sizeof(waker->comm));
}

/**
 * pxt_logwakers_note() - note the name of the current thread, which an event is about to mention
 * @wakers: names of a stream; its controller may know the thread
 * @ns: pid namespace of the controller
 *
 * Context: in a tracepoint: interrupts are off, and scheduler locks may be held.
 */
void pxt_logwakers_note(struct pxt_logwakers *wakers, struct pid_namespace *ns)
{
	s32 pid = task_tgid_nr_ns(current, ns), tid = task_pid_nr_ns(current, ns);
	struct pxt_logwaker *waker = &wakers->waker[hash_32(tid, PXT_LOGWAKERS_BITS)];

	/*
	 * Look without the lock first, because usually the name is there, and all CPUs share the
	 * lock. If another thread is replacing the entry at the same time, the name is missing, as
	 * if the entry had been replaced a little later.
	 */
	if (!pid || !tid || data_race(is_mine(waker, pid, tid)))
		return;
	pxt_raw_lock(&wakers->lock);
	if (!is_mine(waker, pid, tid)) {
		waker->pid = pid;
		waker->tid = tid;
		waker->start = current->start_time;
		/* The thread may have had another name before: this one is valid from now on. */
		waker->since = pxt_clock_now_fast();
		strscpy_pad(waker->comm, current->comm, sizeof(waker->comm));
		waker->unwritten = true;
	}
	pxt_raw_unlock(&wakers->lock);
}

/**
 * pxt_logwakers_take() - take unwritten names
 * @wakers: names of a stream
 * @to: zeroed, room for PXT_LOGWAKERS
 *
 * Context: any.
 * Return: number of names.
 */
u32 pxt_logwakers_take(struct pxt_logwakers *wakers, struct posixtrace_log_task *to)
{
	struct pxt_logwaker *waker;
	unsigned long flags;
	u32 count = 0;

	raw_spin_lock_irqsave(&wakers->lock, flags);
	for (waker = wakers->waker; waker < wakers->waker + PXT_LOGWAKERS; waker++) {
		if (!waker->unwritten)
			continue;
		waker->unwritten = false;
		to[count].pid = waker->pid;
		to[count].tid = waker->tid;
		to[count].start = ktime_to_ns(ktime_mono_to_real(ns_to_ktime(waker->start)));
		to[count].since = waker->since;
		memcpy(to[count].name, waker->comm, sizeof(to[count].name));
		count++;
	}
	raw_spin_unlock_irqrestore(&wakers->lock, flags);
	return count;
}

/**
 * pxt_logwakers_restart() - mark all names as unwritten
 * @wakers: the log no longer contains them
 */
void pxt_logwakers_restart(struct pxt_logwakers *wakers)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&wakers->lock, flags);
	for (i = 0; i < PXT_LOGWAKERS; i++)
		wakers->waker[i].unwritten = wakers->waker[i].pid;
	raw_spin_unlock_irqrestore(&wakers->lock, flags);
}
