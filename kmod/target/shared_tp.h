/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_SHARED_TP_H
#define PXT_SHARED_TP_H

#include <linux/sched.h>
#include <linux/types.h>

#include "compat.h"

struct pxt_target;

#ifdef CONFIG_X86_64
unsigned long pxt_thread_pointer_msr(void) __cold;
#endif

/* The thread pointer of the current thread. No thread has a thread pointer of 0. */
static __always_inline unsigned long pxt_own_thread_pointer(void)
{
#if defined(CONFIG_X86_64)
	return static_cpu_has(X86_FEATURE_FSGSBASE) ? rdfsbase() : pxt_thread_pointer_msr();
#elif defined(CONFIG_ARM64)
	return read_sysreg(tpidr_el0);
#else
	/* On this architecture, the library uses no sequences. */
	return 0;
#endif
}

/*
 * The thread pointer of any thread. If a running thread has changed its pointer without a system
 * call, this returns the old value.
 */
static inline unsigned long pxt_thread_pointer(const struct task_struct *task)
{
	if (task == current)
		return pxt_own_thread_pointer();
#if defined(CONFIG_X86_64)
	return task->thread.fsbase;
#elif defined(CONFIG_ARM64)
	return task->thread.uw.tp_value;
#else
	return 0;
#endif
}

/**
 * pxt_thread_id() - get the pthread_t of a thread if its thread pointer determines it
 * @task: current, or not running in user mode
 *
 * On x86-64, glibc and musl use the thread pointer. Elsewhere it depends on the C library.
 *
 * Return: the pthread_t, or 0.
 */
static inline u64 pxt_thread_id(const struct task_struct *task)
{
	return IS_ENABLED(CONFIG_X86_64) ? pxt_thread_pointer(task) : 0;
}

/* pxt_thread_id() for the current thread. */
static __always_inline u64 pxt_own_thread_id(void)
{
	return IS_ENABLED(CONFIG_X86_64) ? pxt_own_thread_pointer() : 0;
}

bool pxt_shared_tp_born(struct pxt_target *target, const struct task_struct *child);
int pxt_shared_tp_look(struct pxt_target *target);

#endif /* PXT_SHARED_TP_H */
