/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads what the current thread waits for in the system call futex: its registers, and the memory
 * in which the C library keeps the owner of a mutex.
 */
#ifndef PXT_FUTEX_H
#define PXT_FUTEX_H

#include <linux/errno.h>
#include <uapi/linux/futex.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "compat.h"

/**
 * struct pxt_futex - a wait for a futex
 * @ip: the instruction of the program
 * @address: address of the futex
 * @operation: FUTEX_WAIT or another one, without flags; at most U8_MAX
 * @same_ids: the thread has the ids that the controller sees
 * @known: @lock, @owner and @kind have been read
 * @lock: the word at @address
 * @owner: in a mutex of the C library, its owner
 * @kind: in a mutex of the C library, its kind
 */
struct pxt_futex {
	u64 ip;
	u64 address;
	u32 operation;
	bool same_ids;
	bool known;
	u32 lock;
	u32 owner;
	u32 kind;
};

/* Indices of words from pxt_futex.address on: owner and kind of a mutex in the 64-bit C library. */
#define PXT_FUTEX_OWNER		2
#define PXT_FUTEX_KIND		4

/*
 * Is the thread in the system call futex? Entries into the kernel other than system calls have no
 * valid number. In 32-bit programs, another call has this number, and that call does not wait.
 */
static __always_inline bool pxt_futex_calls(struct task_struct *task)
{
#ifdef CONFIG_X86_64
	/* Not syscall_get_nr(), so that the compiler can compare in memory. */
	return task_pt_regs(task)->orig_ax == __NR_futex;
#else
	return syscall_get_nr(task, task_pt_regs(task)) == __NR_futex;
#endif
}

/*
 * If pxt_futex_calls() is true: is the thread still in the call? It may also wait after the call,
 * for example while the kernel writes the frame of a signal handler, or be a thread of the kernel
 * with a copy of the registers.
 */
static __always_inline bool pxt_futex_in_call(struct task_struct *task)
{
#ifdef CONFIG_X86_64
	/* ax is -ENOSYS until the call has a result. Threads of the kernel have another value. */
	return task_pt_regs(task)->ax == (unsigned long)-ENOSYS;
#else
	return !(task->flags & (PXT_PF_KERNEL | PF_EXITING));
#endif
}

/* Copy three words of the futex. Takes no page fault: returns false if they are not in memory. */
static __always_inline bool pxt_futex_copy(struct pxt_futex *to)
{
	const u32 __user *from = (const u32 __user *)to->address;
	u32 lock, owner, kind;

	pagefault_disable();
	if (!user_read_access_begin(from, (PXT_FUTEX_KIND + 1) * sizeof(*from)))
		goto fail;
	unsafe_get_user(lock, from, fault);
	unsafe_get_user(owner, from + PXT_FUTEX_OWNER, fault);
	unsafe_get_user(kind, from + PXT_FUTEX_KIND, fault);
	user_read_access_end();
	pagefault_enable();
	to->lock = lock;
	to->owner = owner;
	to->kind = kind;
	return true;
fault:
	user_read_access_end();
fail:
	pagefault_enable();
	to->lock = 0;
	to->owner = 0;
	to->kind = 0;
	return false;
}

/**
 * pxt_futex_read() - find out what the current thread waits for
 * @to: result, except for @same_ids
 * @task: the current thread, which waits in the call, with its own address space
 *
 * Other threads may change the memory at any time.
 *
 * Context: in the scheduler, interrupts are off; takes no page fault.
 */
static __always_inline void pxt_futex_read(struct pxt_futex *to, struct task_struct *task)
{
	struct pt_regs *regs = task_pt_regs(task);
	u32 operation;

	to->ip = instruction_pointer(regs);
	to->address = regs_get_kernel_argument(regs, 0);
	/*
	 * May be any number: seccomp can make the thread wait before the kernel rejects an invalid
	 * operation.
	 */
	operation = regs_get_kernel_argument(regs, 1) & FUTEX_CMD_MASK;
	to->operation = min_t(u32, operation, U8_MAX);
	to->known = pxt_futex_copy(to);
}

#endif /* PXT_FUTEX_H */
