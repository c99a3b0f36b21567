/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event types of a CTF kernel trace: their LTTng names and their ids.
 */
#ifndef POSIXTRACE_CTF_KERNEL_TYPES_H
#define POSIXTRACE_CTF_KERNEL_TYPES_H

#include <stdbool.h>

#include "event/kevent.h"
#include "event/syscall_args.h"
#include "util/buffer.h"

/* Types with fixed names. */
enum {
	CTF_SCHED_SWITCH,
	CTF_SCHED_WAKING,
	CTF_SCHED_WAKEUP,
	CTF_SCHED_WAKEUP_NEW,
	CTF_SCHED_MIGRATE_TASK,
	CTF_SCHED_PROCESS_FORK,
	CTF_SCHED_PROCESS_EXEC,
	CTF_SCHED_PROCESS_EXIT,
	CTF_SCHED_PROCESS_FREE,
	CTF_TASK_RENAME,
	CTF_SIGNAL_GENERATE,
	CTF_SIGNAL_DELIVER,
	CTF_PAGE_FAULT_USER,
	CTF_PAGE_FAULT_KERNEL,
	CTF_IRQ_ENTRY,
	CTF_IRQ_EXIT,
	CTF_SOFTIRQ_ENTRY,
	CTF_SOFTIRQ_EXIT,
	CTF_VECTOR_ENTRY,
	CTF_VECTOR_EXIT,
	CTF_SYSCALL_ENTRY,
	CTF_SYSCALL_EXIT,
	CTF_COMPAT_SYSCALL_ENTRY,
	CTF_COMPAT_SYSCALL_EXIT,
	CTF_FIXED_TYPES
};

/*
 * Limits of numbers of system calls and vectors that have a name. Each has an entry and an exit
 * type.
 */
#define CTF_SYSCALLS	1024U
#define CTF_VECTORS	256U
#define CTF_FIRST_NAMED	CTF_FIXED_TYPES
#define CTF_NAMED	(2 * CTF_SYSCALLS + CTF_VECTORS)
#define CTF_TYPES	(CTF_FIRST_NAMED + 2 * CTF_NAMED)

/**
 * struct ctf_kernel_types - event types of a trace; initially all zero
 * @names: names of system calls, compat system calls, and vectors, by number
 * @args: arguments of known named system calls, by number
 * @used: whether the trace contains such events, by id
 */
struct ctf_kernel_types {
	char *names[CTF_NAMED];
	const struct syscall_args *args[CTF_SYSCALLS];
	bool used[CTF_TYPES];
};

/* Get the type id of a syscall_entry, syscall_exit or irq. The end of an irq has the next id. */
unsigned int ctf_kernel_syscall(struct ctf_kernel_types *types, const struct kevent *kevent,
				bool is_exit);
unsigned int ctf_kernel_irq(struct ctf_kernel_types *types, const struct kevent *kevent);

/* ctf_kernel_describe() - append the types in TSDL */
void ctf_kernel_describe(const struct ctf_kernel_types *types, struct buffer *text);

/*
 * ctf_kernel_args() - get the arguments of a type, as in struct syscall_args; NULL: show six words
 */
const char *ctf_kernel_args(const struct ctf_kernel_types *types, unsigned int id);

/* ctf_kernel_has_number() - check if a type has the system call number as a field */
bool ctf_kernel_has_number(unsigned int id);

void ctf_kernel_types_free(struct ctf_kernel_types *types);

#endif /* POSIXTRACE_CTF_KERNEL_TYPES_H */
