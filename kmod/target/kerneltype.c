// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel event types, with descriptions of the data that kevent/kevent.h defines.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include <linux/posixtrace.h>

#include "errors.inc"
#include "target/callnames.h"
#include "target/kerneltype.h"

/* The letters used by ps(1) and the kernel's sched_switch. */
#define STATE	"enum : u8 { R, S, D, T, t, X, Z, P, I } state"
#define REASON	"enum : u8 { preempted, blocked, io, ended } reason"
#define BY	"enum : u8 { another, thread, interrupt, softirq, timer, child, signal, kernel } by"

/* The numbers of signals are the same on x86-64 and arm64. */
#define SIG	"enum : i32 { SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, " \
	"SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, " \
	"SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGXFSZ, " \
	"SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS } sig"
#define SENDER	"enum : u8 { another, thread, kernel } by"
#define RESULT	"enum : u8 { delivered, ignored, already_pending, overflow_fail, lose_info } result"
#define ACTION	"enum : u8 { default, ignored, handler } action"
#define TEXT_STATE	"enum : u8 { whole, cut, absent } state"
/* Numbers and names of errors come from the headers of this kernel. */
#define ERROR	"enum : u16 { none" PXT_ERRORS " } error"
#define FUTEX	"enum : u8 { wait, wake, fd, requeue, cmp_requeue, wake_op, lock_pi, unlock_pi, " \
	"trylock_pi, wait_bitset, wake_bitset, wait_requeue_pi, cmp_requeue_pi, lock_pi2 } " \
	"operation"
#define KIND	"enum : u8 { irq, softirq, vector } kind"

/* The description of POSIXTRACE_ID_<id> is <id>_DATA. */
#define SWITCH_OUT_DATA \
	"struct { i32 tid; i32 prio; " STATE "; " REASON "; i32 next_tid; i32 next_prio; }"
#define SWITCH_IN_DATA \
	"struct { i32 tid; i32 prio; u64 runnable \"ns\"; i32 prev_tid; i32 prev_prio; }"
#define WAKEUP_DATA \
	"struct { i32 tid; i32 prio; u32 target_cpu; " BY "; bool new; " \
	"i32 waker_pid; i32 waker_tid; }"
#define MIGRATE_DATA	"struct { i32 tid; i32 prio; u32 orig_cpu; u32 dest_cpu; }"
#define FORK_DATA	"struct { i32 tid; i32 child_pid; i32 child_tid; }"
#define EXEC_DATA	"struct { i32 tid; text filename; }"
#define EXIT_DATA	"struct { i32 tid; i32 exit_code; bool group_dead; }"
#define RENAME_DATA	"struct { i32 tid; char oldcomm[16]; char newcomm[16]; }"
#define SIGNAL_GENERATE_DATA \
	"struct { i32 tid; " SIG "; i32 code; " SENDER "; bool group; " RESULT "; " \
	"i32 sender_pid; i32 sender_tid; }"
#define SIGNAL_DELIVER_DATA \
	"struct { i32 tid; " SIG "; i32 code; " ACTION "; x64 flags; }"
#define PAGE_FAULT_DATA \
	"struct { i32 tid; bool user; bool write; bool exec; bool protection; x64 address; " \
	"x64 ip; }"
#define SYSCALL_ENTRY_DATA \
	"struct { i32 tid; i32 nr; x64 args[6]; bool compat; text name; }"
#define SYSCALL_EXIT_DATA \
	"struct { i32 tid; i32 nr; i64 result; bool compat; " ERROR "; text name; }"
#define SYSCALL_TEXT_DATA \
	"struct { i32 tid; i32 nr; x64 address; u8 arg; " TEXT_STATE "; text value; }"
#define FUTEX_WAIT_DATA \
	"{ i32 tid; x64 address; x64 ip; x32 lock; i32 owner; x32 kind; " FUTEX "; " \
	"bool known; bool same_ids; }"
#define IRQ_DATA \
	"struct { i32 tid; u32 number; u64 duration \"ns\"; " KIND "; bool nested; " \
	"text name; }"

static_assert(sizeof(SYSCALL_EXIT_DATA) <= POSIXTRACE_DESCRIPTION_SIZE);

#define TYPE(id, class, name) \
	{ POSIXTRACE_ID_##id, const_ilog2(POSIXTRACE_CLASS_##class), name, id##_DATA },

static const struct pxt_kernel_type types[] = {
	POSIXTRACE_KERNEL_TYPES(TYPE)
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

/**
 * pxt_kernel_names() - get the names of system calls that a reader of a stream needs
 * @set: from pxt_kernel_types()
 * @id: any number
 *
 * Return: the text of pxt_call_names(), or NULL.
 */
const char *pxt_kernel_names(u64 set, u32 id)
{
	return set & BIT_ULL(POSIXTRACE_ID_SYSCALL_ENTRY) ? pxt_call_names(id) : NULL;
}
