// SPDX-License-Identifier: GPL-2.0
/*
 * Class syscall: system calls, with their arguments as words, and their results.
 *
 * While these tracepoints have a handler, all tasks of the machine take the slow path into and out
 * of the kernel. Since Linux 6.13, the handlers may be preempted, and could take page faults: they
 * use no per-CPU data and no user memory.
 */
#include <linux/compat.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "compat.h"
#include "kevent/kevent.h"
#include "kevent/probe.h"
#include "target/interest.h"

/* The compiler computes the length, so events need not. */
struct name {
	const char *text;
	size_t len;
};

/* Longer names are truncated, as in struct pxt_syscall_data. */
#define PXT_NAME(name) \
	{ #name, (sizeof(#name) < PXT_NAME_SIZE ? sizeof(#name) : PXT_NAME_SIZE) - 1 }

#define PXT_NATIVE(name)[__NR_##name] = PXT_NAME(name),
#define PXT_IA32(name)

static const struct name names[] = {
#include "syscallnames.h"
};

#undef PXT_NATIVE
#undef PXT_IA32
#define PXT_NATIVE(name)
#define PXT_IA32(name)[__NR_ia32_##name] = PXT_NAME(name),

/* Names for 32-bit programs. Only the x86 headers have constants for both. */
static const struct name compat_names[] = {
#include "syscallnames.h"
};

/* Numbers without a name have length 0. */
static const struct name *name_of(long nr, bool compat)
{
	static const struct name none;
	const struct name *table = compat ? compat_names : names;
	size_t size = compat ? ARRAY_SIZE(compat_names) : ARRAY_SIZE(names);

	if (nr < 0 || nr >= size)
		return &none;
	/* The number is controlled by the program. */
	return &table[array_index_nospec(nr, size)];
}

static const struct pxt_kevent syscall_entry_event = {
	.id = POSIXTRACE_ID_SYSCALL_ENTRY,
	.class = PXT_CLASS(SYSCALL),
};

static void sys_enter(void *unused, struct pt_regs *regs, long nr)
{
	/* Only initialized parts are recorded. */
	struct pxt_syscall_data data PXT_UNINITIALIZED;
	const struct name *name;

	if (!pxt_interest_in(current))
		return;
	data.nr = nr;
	data.compat = in_compat_syscall();
	syscall_get_arguments(current, regs, data.args);
	name = name_of(nr, data.compat);
	memcpy(data.name, name->text, name->len);
	pxt_kevent_record(&syscall_entry_event, current, NULL, &data,
			  offsetof(struct pxt_syscall_data, name) + name->len);
}

static const struct pxt_kevent syscall_exit_event = {
	.id = POSIXTRACE_ID_SYSCALL_EXIT,
	.class = PXT_CLASS(SYSCALL),
};

static void sys_exit(void *unused, struct pt_regs *regs, long result)
{
	struct pxt_result_data data = { .result = result };

	if (!pxt_interest_in(current))
		return;
	data.nr = syscall_get_nr(current, regs);
	data.compat = in_compat_syscall();
	pxt_kevent_record(&syscall_exit_event, current, NULL, &data, sizeof(data));
}

static struct pxt_probe probes[] = {
	{ "sys_enter", sys_enter },
	{ "sys_exit", sys_exit },
};

const struct pxt_probes pxt_probes_syscall = {
	.class = POSIXTRACE_CLASS_SYSCALL,
	.probe = probes,
	.count = ARRAY_SIZE(probes),
};
