// SPDX-License-Identifier: GPL-2.0
/*
 * The door: runs commands of a traced process through a page fault, for processes with a filter
 * (seccomp) that permits no system calls. They can only do what they could already do when they
 * mapped the gate: record events into the streams that trace them, and open names.
 *
 * The page fault queues a task work that runs before the thread returns to user mode. No locks are
 * held there, as in a system call.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seccomp.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>

#include <linux/posixtrace.h>

#include "device/attached.h"
#include "device/door.h"
#include "target/attachment.h"

static bool door = true;
module_param(door, bool, 0644);
MODULE_PARM_DESC(door, "Let processes record without system calls where seccomp forbids them (default Y)");

/**
 * struct door_call - one command
 * @work: runs before the thread returns to user mode
 * @att: attachment of the thread's address space; a reference
 * @ip: instruction that read the door
 */
struct door_call {
	struct callback_head work;
	struct pxt_attachment *att;
	unsigned long ip;
};

#if defined(CONFIG_X86_64)
static bool is_call(const struct pt_regs *regs)
{
	return user_64bit_mode((struct pt_regs *)regs) && regs->ax == POSIXTRACE_DOOR_MAGIC &&
	       regs->dx < TASK_SIZE;
}

static unsigned long command_of(const struct pt_regs *regs)
{
	return regs->di;
}

static unsigned long arg_of(const struct pt_regs *regs)
{
	return regs->si;
}

static void end_call(struct pt_regs *regs, long ret)
{
	regs->ip = regs->dx;
	regs->ax = ret;
}
#elif defined(CONFIG_ARM64)
static bool is_call(const struct pt_regs *regs)
{
	return !compat_user_mode(regs) && regs->regs[0] == POSIXTRACE_DOOR_MAGIC &&
	       regs->regs[3] < TASK_SIZE;
}

static unsigned long command_of(const struct pt_regs *regs)
{
	return regs->regs[1];
}

static unsigned long arg_of(const struct pt_regs *regs)
{
	return regs->regs[2];
}

static void end_call(struct pt_regs *regs, long ret)
{
	regs->pc = regs->regs[3];
	regs->regs[0] = ret;
}
#else
/* The library does not support other architectures. */
static bool is_call(const struct pt_regs *regs)
{
	return false;
}

static unsigned long command_of(const struct pt_regs *regs)
{
	return 0;
}

static unsigned long arg_of(const struct pt_regs *regs)
{
	return 0;
}

static void end_call(struct pt_regs *regs, long ret)
{
}
#endif

static long filter_mode(void)
{
#ifdef CONFIG_SECCOMP
	return READ_ONCE(current->seccomp.mode);
#else
	return 0;
#endif
}

static long run(struct pxt_attachment *att, unsigned long cmd, unsigned long arg)
{
	long ret;

	switch (cmd) {
	case POSIXTRACE_DOOR_ASK:
		return filter_mode();
	case POSIXTRACE_IOC_EVENT:
	case POSIXTRACE_IOC_NEXT:
	case POSIXTRACE_IOC_WAKE:
	case POSIXTRACE_IOC_MET:
	case POSIXTRACE_IOC_EVENTID_OPEN:
	case POSIXTRACE_IOC_DESCRIBE:
		break;
	default:
		return -ENOTTY;
	}
	if (!READ_ONCE(door) && filter_mode())
		return -EPERM;
	ret = pxt_attached_command(att, cmd, (void __user *)arg);
	/* There is no system call to restart. */
	return ret == -ERESTARTSYS ? -EINTR : ret;
}

static void call_runs(struct callback_head *work)
{
	struct door_call *call = container_of(work, struct door_call, work);
	struct pt_regs *regs = task_pt_regs(current);

	/* A debugger may have changed the registers since the fault. */
	if (!(current->flags & PF_EXITING) && instruction_pointer(regs) == call->ip &&
	    is_call(regs))
		end_call(regs, run(call->att, command_of(regs), arg_of(regs)));
	pxt_attachment_put(call->att);
	kfree(call);
	module_put(THIS_MODULE);
}

/**
 * pxt_door_call() - run a command before the calling thread returns to user mode
 * @att: attachment of the thread's address space; the caller has a reference
 *
 * Context: in a page fault of user mode; may sleep.
 * Return: 0; -ENOENT if it is not a command, or the thread is exiting; -ENOMEM.
 */
int pxt_door_call(struct pxt_attachment *att)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct door_call *call;

	if (!is_call(regs))
		return -ENOENT;
	call = kmalloc(sizeof(*call), GFP_KERNEL_ACCOUNT);
	if (!call)
		return -ENOMEM;
	init_task_work(&call->work, call_runs);
	call->att = att;
	call->ip = instruction_pointer(regs);
	/* The work runs after this page fault, so the mapping still holds the module and @att. */
	kref_get(&att->kref);
	__module_get(THIS_MODULE);
	if (!task_work_add(current, &call->work, TWA_RESUME))
		return 0;
	module_put(THIS_MODULE);
	pxt_attachment_put(att);
	kfree(call);
	return -ENOENT;
}
