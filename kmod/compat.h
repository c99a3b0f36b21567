/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that this module builds for (6.1 and newer). The only file
 * with version conditionals.
 */
#ifndef PXT_COMPAT_H
#define PXT_COMPAT_H

#include <linux/crc32.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/rseq.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#include <linux/sched/exec_state.h>
#endif

#ifdef CONFIG_X86_64
#include <asm/fsgsbase.h>
#endif

/*
 * A variable that need not be cleared, although the kernel may be built to clear all: what is used
 * of it is set.
 */
#if __has_attribute(__uninitialized__)
#define PXT_UNINITIALIZED	__attribute__((__uninitialized__))
#else
#define PXT_UNINITIALIZED
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0) && !defined(vm_flags_mod)
/* 6.3 wraps vma->vm_flags; before, it was plain data under mmap_lock. */
static inline void pxt_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				    unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#else
static inline void pxt_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				    unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

/*
 * Abort the restartable sequence that the current task may be in, before the task runs in user
 * mode again. Called with interrupts off.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
static inline void pxt_rseq_abort_current(void)
{
	rseq_preempt(current);
}
#else
/* 6.19: raise the event that the scheduler raises, as if the task were preempted here. */
static inline void pxt_rseq_abort_current(void)
{
	rseq_sched_switch_event(current);
}
#endif

/*
 * Does the kernel abort a sequence whose thread it preempts? On arm64, from 6.19 to 7.0.13, only
 * one that it moves to another CPU: "arm64/entry: Fix arm64-specific rseq brokenness" is the fix.
 */
static inline bool pxt_rseq_aborts(void)
{
	return !IS_ENABLED(CONFIG_ARM64) || LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0) ||
	       LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 14);
}

/*
 * Does a CPU run this task? With acquire: if not, all its stores are visible. A kernel for one CPU
 * may not have the field; there only the caller runs.
 */
#ifdef CONFIG_SMP
static inline bool pxt_task_on_cpu(const struct task_struct *task)
{
	/* Pairs with the release in finish_task() (kernel/sched/core.c). */
	return smp_load_acquire(&task->on_cpu);
}
#else
static inline bool pxt_task_on_cpu(const struct task_struct *task)
{
	return task == current;
}
#endif

/* Threads that never run in user mode, but may belong to a user's process; 6.4 added some. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define PXT_PF_KERNEL	(PF_KTHREAD | PF_IO_WORKER)
#else
#define PXT_PF_KERNEL	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#endif

/* Arguments of a probe of the tracepoint sched_process_exit; 6.16 added one. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define PXT_PROCESS_EXIT_ARGS	void *data, struct task_struct *task
#else
#define PXT_PROCESS_EXIT_ARGS	void *data, struct task_struct *task, bool group_dead
#endif

/* Get a reference to *filep, unless the last one is gone. Under RCU. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct file *pxt_file_get(struct file **filep)
{
	struct file *file = READ_ONCE(*filep);

	return file && get_file_rcu(file) ? file : NULL;
}
#else
/* 6.7 reuses files at once, so this function checks the pointer again. */
static inline struct file *pxt_file_get(struct file **filep)
{
	return get_file_active(filep);
}
#endif

/*
 * The path of the file that a process has mapped. Since 6.8, the file of a mapping on overlayfs is
 * the one below.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
static inline const struct path *pxt_file_user_path(struct file *file)
{
	return &file->f_path;
}
#else
static inline const struct path *pxt_file_user_path(struct file *file)
{
	return file_user_path(file);
}
#endif

/* 6.13 added hrtimer_setup(), and 6.15 removed hrtimer_init(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void pxt_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *timer),
				     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#else
static inline void pxt_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *timer),
				     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_setup(timer, function, clock, mode);
}
#endif

/* 6.15 renamed it; before, crc32c() was another module. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
static inline u32 pxt_crc32c(u32 crc, const void *p, size_t len)
{
	return __crc32c_le(crc, p, len);
}
#else
static inline u32 pxt_crc32c(u32 crc, const void *p, size_t len)
{
	return crc32c(crc, p, len);
}
#endif

/*
 * Write a regular file, but not while its file system is frozen: 6.8 moved the check into
 * vfs_iocb_iter_write().
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
static inline ssize_t pxt_file_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct file *file = iocb->ki_filp;
	ssize_t ret;

	file_start_write(file);
	ret = vfs_iocb_iter_write(file, iocb, iter);
	file_end_write(file);
	return ret;
}
#else
static inline ssize_t pxt_file_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return vfs_iocb_iter_write(iocb->ki_filp, iocb, iter);
}
#endif

/*
 * What exec() decided about a process: may its user read its memory, and which user namespace has
 * power over it? 7.2 moved that from the address space into a structure that all threads share.
 */
struct pxt_exec_state {
	bool dumpable;
	struct user_namespace *user_ns;
};

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
static inline struct pxt_exec_state pxt_exec_state_of(struct mm_struct *mm)
{
	return (struct pxt_exec_state){
		.dumpable = get_dumpable(mm) == SUID_DUMP_USER,
		.user_ns = mm->user_ns,
	};
}

/*
 * Takes a reference, but fails if the thread has no address space any more. Under RCU. It takes no
 * reference to the address space: the caller might put the last one, and wait for a file that the
 * process has mapped.
 */
static inline bool pxt_exec_state_get(struct pxt_exec_state *state, struct task_struct *thread)
{
	bool found;

	/* While it is held, the thread keeps its address space. */
	task_lock(thread);
	found = thread->mm && !(thread->flags & PF_KTHREAD);
	if (found) {
		*state = pxt_exec_state_of(thread->mm);
		get_user_ns(state->user_ns);
	}
	task_unlock(thread);
	return found;
}

/* Without a reference: only the process itself replaces it. */
static inline struct pxt_exec_state pxt_exec_state_current(void)
{
	return pxt_exec_state_of(current->mm);
}
#else
static inline struct pxt_exec_state pxt_exec_state_of(const struct task_exec_state *exec)
{
	return (struct pxt_exec_state){
		.dumpable = READ_ONCE(exec->dumpable) == TASK_DUMPABLE_OWNER,
		.user_ns = exec->user_ns,
	};
}

static inline bool pxt_exec_state_get(struct pxt_exec_state *state, struct task_struct *thread)
{
	if (!READ_ONCE(thread->mm))
		return false;
	/* The structure has a reference, until a grace period after its end. */
	*state = pxt_exec_state_of(rcu_dereference(thread->exec_state));
	get_user_ns(state->user_ns);
	return true;
}

static inline struct pxt_exec_state pxt_exec_state_current(void)
{
	return pxt_exec_state_of(rcu_dereference_protected(current->exec_state, true));
}
#endif

static inline void pxt_exec_state_put(struct pxt_exec_state *state)
{
	put_user_ns(state->user_ns);
}

/*
 * Memory for a stream: rather fail than end other processes. 6.19 warns if vmalloc() gets this
 * flag, 7.2 knows it. In between, a large stream may make the OOM killer act.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#define PXT_GFP_MAYFAIL		__GFP_RETRY_MAYFAIL
#else
#define PXT_GFP_MAYFAIL		0
#endif

#endif /* PXT_COMPAT_H */
