/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels (6.1 and newer). The only file with version
 * conditionals.
 */
#ifndef PXT_COMPAT_H
#define PXT_COMPAT_H

#include <linux/crc32.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/lz4.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/rseq.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#include <linux/sched/exec_state.h>
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#ifdef CONFIG_X86_64
#include <asm/fsgsbase.h>
#endif

/*
 * Exempt a variable from automatic initialization (CONFIG_INIT_STACK_ALL_*): all parts that are
 * read are written first.
 */
#if __has_attribute(__uninitialized__)
#define PXT_UNINITIALIZED	__attribute__((__uninitialized__))
#else
#define PXT_UNINITIALIZED
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0) && !defined(vm_flags_mod)
/* 6.3 added wrappers for vma->vm_flags; before, it was plain data under mmap_lock. */
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
 * Abort the restartable sequence of the current task, if it is in one, before the task returns to
 * user mode. Called with interrupts off.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
static inline void pxt_rseq_abort_current(void)
{
	rseq_preempt(current);
}
#else
/* 6.19: raise the scheduler's event, as if the task were preempted here. */
static inline void pxt_rseq_abort_current(void)
{
	rseq_sched_switch_event(current);
}
#endif

/*
 * Does the kernel abort the sequence of a thread that it preempts? On arm64, 6.19 to 7.0.13 do so
 * only if the thread moves to another CPU: fixed by "arm64/entry: Fix arm64-specific rseq
 * brokenness".
 */
static inline bool pxt_rseq_aborts(void)
{
	return !IS_ENABLED(CONFIG_ARM64) || LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0) ||
	       LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 14);
}

/*
 * Is this task running on a CPU? If not, the acquire makes all its stores visible. A kernel for one
 * CPU may lack the field on_cpu, but there only the caller runs.
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

/*
 * Does the task run, or wait for a CPU? Since 6.12, a task that blocks may stay on the run queue
 * for a while.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
static inline bool pxt_task_runnable(const struct task_struct *task)
{
	return READ_ONCE(task->on_rq);
}
#else
static inline bool pxt_task_runnable(const struct task_struct *task)
{
	/* May be stale: the caller compares two samples, see take_sample(). */
	return READ_ONCE(task->on_rq) && !data_race(task->se.sched_delayed);
}
#endif

/* The clock of the run queue of a CPU. If all CPUs share one clock, modules read sched_clock(). */
static inline u64 pxt_sched_clock(u32 cpu)
{
#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
	return sched_clock_cpu(cpu);
#else
	return sched_clock();
#endif
}

/* Get a page of another address space unless that would fault; 6.5 removed an argument. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
static inline long pxt_get_resident_page(struct mm_struct *mm, unsigned long address,
					 struct page **page)
{
	return get_user_pages_remote(mm, address, 1, FOLL_NOFAULT, page, NULL, NULL);
}
#else
static inline long pxt_get_resident_page(struct mm_struct *mm, unsigned long address,
					 struct page **page)
{
	return get_user_pages_remote(mm, address, 1, FOLL_NOFAULT, page, NULL);
}
#endif

/* Threads that never run in user mode but may belong to a user process; 6.4 added some. */
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

/* Get a reference to the file *filep unless its last reference is gone. Called under RCU. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct file *pxt_file_get(struct file **filep)
{
	struct file *file = READ_ONCE(*filep);

	return file && get_file_rcu(file) ? file : NULL;
}
#else
/* 6.7 reuses files without a grace period, so get_file_active() checks the pointer again. */
static inline struct file *pxt_file_get(struct file **filep)
{
	return get_file_active(filep);
}
#endif

/*
 * The path of the file that a process has mapped. Since 6.8, the file of a mapping on overlayfs is
 * the underlying one.
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

/* 6.15 renamed __crc32c_le() to crc32c(); before, crc32c() was in another module. */
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
 * The compressor is in a module of some kernels, and missing in others. modprobe inserts that
 * module first; without it, the address is NULL. symbol_get() cannot be used: since 6.6, it
 * accepts only symbols with EXPORT_SYMBOL_GPL().
 */
extern typeof(LZ4_compress_default) LZ4_compress_default __weak;

/*
 * Write a regular file, but wait while its file system is frozen. Since 6.8,
 * vfs_iocb_iter_write() itself waits.
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
 * What exec() decided about a process: may its user read its memory, and which user namespace
 * controls it? 7.2 moved this from the address space to a structure shared by all threads.
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
 * Get the state with a reference to its namespace; fails if the thread no longer has an address
 * space. Called under RCU. Takes no reference to the address space: the caller might then put the
 * last reference, and wait for a file that the process has mapped.
 */
static inline bool pxt_exec_state_get(struct pxt_exec_state *state, struct task_struct *thread)
{
	bool found;

	/* The thread keeps its address space while the lock is held. */
	task_lock(thread);
	found = thread->mm && !(thread->flags & PF_KTHREAD);
	if (found) {
		*state = pxt_exec_state_of(thread->mm);
		get_user_ns(state->user_ns);
	}
	task_unlock(thread);
	return found;
}

/* Takes no reference, because only the process itself replaces its state. */
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
	/* Under RCU, the namespace exists: exec_state puts its reference after a grace period. */
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
 * Allocation flag for the memory of a stream: fail rather than kill other processes. 6.19 to 7.1
 * warn if vmalloc() gets this flag, so a large stream may trigger the OOM killer there.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#define PXT_GFP_MAYFAIL		__GFP_RETRY_MAYFAIL
#else
#define PXT_GFP_MAYFAIL		0
#endif

#endif /* PXT_COMPAT_H */
