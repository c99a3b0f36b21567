// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel event types: ids, classes, names and descriptions. kevent/kevent.h defines their data;
 * the order here is the order of ids.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include <linux/posixtrace.h>

#include "target/kerneltype.h"

#define SCHED	const_ilog2(POSIXTRACE_CLASS_SCHED)
#define FAULT	const_ilog2(POSIXTRACE_CLASS_FAULT)
#define SIGNAL	const_ilog2(POSIXTRACE_CLASS_SIGNAL)
#define SYSCALL	const_ilog2(POSIXTRACE_CLASS_SYSCALL)
#define IRQ	const_ilog2(POSIXTRACE_CLASS_IRQ)
#define PROCESS	const_ilog2(POSIXTRACE_CLASS_PROCESS)

/* The letters used by ps(1) and the kernel's sched_switch. */
#define STATE	"enum : u8 { R, S, D, T, t, X, Z, P, I } state"
#define REASON	"enum : u8 { preempted, blocked, io, ended } reason"
#define BY	"enum : u8 { another, thread, interrupt } by"

/* The numbers are the same on x86-64 and arm64. */
#define SIG	"enum : i32 { SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, " \
	"SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, " \
	"SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGXFSZ, " \
	"SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS } sig"
#define SENDER	"enum : u8 { another, thread, kernel } by"
#define RESULT	"enum : u8 { delivered, ignored, already_pending, overflow_fail, lose_info } result"
#define ACTION	"enum : u8 { default, ignored, handler } action"
#define KIND	"enum : u8 { irq, softirq, vector } kind"

static const struct pxt_kernel_type types[] = {
	{ POSIXTRACE_ID_SWITCH_OUT, SCHED, "sched_switch_out",
	  "struct { i32 tid; i32 prio; " STATE "; " REASON "; i32 next_tid; i32 next_prio; }" },
	{ POSIXTRACE_ID_SWITCH_IN, SCHED, "sched_switch_in",
	  "struct { i32 tid; i32 prio; u64 runnable \"ns\"; i32 prev_tid; i32 prev_prio; }" },
	{ POSIXTRACE_ID_WAKEUP, SCHED, "sched_wakeup",
	  "struct { i32 tid; i32 prio; u32 target_cpu; " BY "; bool new; "
	  "i32 waker_pid; i32 waker_tid; }" },
	{ POSIXTRACE_ID_MIGRATE, SCHED, "sched_migrate_task",
	  "struct { i32 tid; i32 prio; u32 orig_cpu; u32 dest_cpu; }" },
	{ POSIXTRACE_ID_FORK, PROCESS, "sched_process_fork",
	  "struct { i32 tid; i32 child_pid; i32 child_tid; }" },
	{ POSIXTRACE_ID_EXEC, PROCESS, "sched_process_exec",
	  "struct { i32 tid; text filename; }" },
	{ POSIXTRACE_ID_EXIT, PROCESS, "sched_process_exit",
	  "struct { i32 tid; i32 exit_code; bool group_dead; }" },
	{ POSIXTRACE_ID_RENAME, PROCESS, "task_rename",
	  "struct { i32 tid; char oldcomm[16]; char newcomm[16]; }" },
	{ POSIXTRACE_ID_SIGNAL_GENERATE, SIGNAL, "signal_generate",
	  "struct { i32 tid; " SIG "; i32 code; " SENDER "; bool group; " RESULT "; "
	  "i32 sender_pid; i32 sender_tid; }" },
	{ POSIXTRACE_ID_SIGNAL_DELIVER, SIGNAL, "signal_deliver",
	  "struct { i32 tid; " SIG "; i32 code; " ACTION "; x64 flags; }" },
	{ POSIXTRACE_ID_PAGE_FAULT, FAULT, "page_fault",
	  "struct { i32 tid; bool user; bool write; bool exec; bool protection; x64 address; "
	  "x64 ip; }" },
	{ POSIXTRACE_ID_SYSCALL_ENTRY, SYSCALL, "syscall_entry",
	  "struct { i32 tid; i32 nr; x64 args[6]; bool compat; text name; }" },
	{ POSIXTRACE_ID_SYSCALL_EXIT, SYSCALL, "syscall_exit",
	  "struct { i32 tid; i32 nr; i64 result; bool compat; }" },
	{ POSIXTRACE_ID_IRQ, IRQ, "irq",
	  "struct { i32 tid; u32 number; u64 duration \"ns\"; " KIND "; bool nested; "
	  "text name; }" },
};

static bool has(u64 set, const struct pxt_kernel_type *type)
{
	return set & BIT_ULL(type->id);
}

/**
 * pxt_kernel_types() - get the event types of classes
 * @classes: POSIXTRACE_CLASS_*
 *
 * Return: bit n: event type n.
 */
u64 pxt_kernel_types(u64 classes)
{
	u64 set = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (classes & BIT_ULL(types[i].class))
			set |= BIT_ULL(types[i].id);
	}
	return set;
}

/**
 * pxt_kernel_type_next() - iterate over the event types of a stream, in the order of ids
 * @set: from pxt_kernel_types()
 * @last: the previous type; NULL for the first one
 *
 * Return: the type, or NULL at the end.
 */
const struct pxt_kernel_type *pxt_kernel_type_next(u64 set, const struct pxt_kernel_type *last)
{
	const struct pxt_kernel_type *type = last ? last + 1 : types;

	while (type < types + ARRAY_SIZE(types) && !has(set, type))
		type++;
	return type < types + ARRAY_SIZE(types) ? type : NULL;
}

/**
 * pxt_kernel_type_find() - find the event type with an id
 * @set: from pxt_kernel_types()
 * @id: any number
 *
 * Return: the type, or NULL if not in the set.
 */
const struct pxt_kernel_type *pxt_kernel_type_find(u64 set, u32 id)
{
	const struct pxt_kernel_type *type = NULL;

	while ((type = pxt_kernel_type_next(set, type))) {
		if (type->id == id)
			break;
	}
	return type;
}

/**
 * pxt_kernel_type_named() - find the event type with a name
 * @set: from pxt_kernel_types()
 * @name: NUL-terminated
 *
 * Return: the type, or NULL if not in the set.
 */
const struct pxt_kernel_type *pxt_kernel_type_named(u64 set, const char *name)
{
	const struct pxt_kernel_type *type = NULL;

	while ((type = pxt_kernel_type_next(set, type))) {
		if (!strcmp(type->name, name))
			break;
	}
	return type;
}
