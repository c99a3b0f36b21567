// SPDX-License-Identifier: GPL-2.0
/*
 * Class syscall: system calls, with their arguments as words, and their results.
 *
 * While these tracepoints have a handler, all tasks of the machine take the slow way into and out
 * of the kernel. From Linux 6.13 on, the handlers may be preempted, and could take page faults:
 * they use no data of the CPU, and no memory of the program.
 */
#include <linux/compat.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "probe/probe.h"
#include "stream/kevent.h"
#include "target/interest.h"

#define PXT_NATIVE(name)[__NR_##name] = #name,
#define PXT_IA32(name)

static const char *const names[] = {
#include "syscallnames.h"
};

#undef PXT_NATIVE
#undef PXT_IA32
#define PXT_NATIVE(name)
#define PXT_IA32(name)[__NR_ia32_##name] = #name,

/* Of 32-bit programs. Only the headers of x86 have constants for both. */
static const char *const compat_names[] = {
#include "syscallnames.h"
};

static const char *name_of(long nr, bool compat)
{
	const char *const *table = compat ? compat_names : names;
	size_t size = compat ? ARRAY_SIZE(compat_names) : ARRAY_SIZE(names);

	if (nr < 0 || nr >= size)
		return "";
	/* The program has chosen the number. */
	nr = array_index_nospec(nr, size);
	return table[nr] ? table[nr] : "";
}

static void sys_enter(void *unused, struct pt_regs *regs, long nr)
{
	unsigned long args[PXT_SYSCALL_ARGS];
	struct pxt_syscall_data data = { .nr = nr };
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_SYSCALL_ENTRY,
		.class = PXT_CLASS(SYSCALL),
		.data = &data,
		.task = current,
	};
	ssize_t len;
	size_t i;

	if (!pxt_interest_in(current))
		return;
	data.compat = in_compat_syscall();
	syscall_get_arguments(current, regs, args);
	for (i = 0; i < ARRAY_SIZE(args); i++)
		data.args[i] = args[i];
	len = strscpy(data.name, name_of(nr, data.compat), sizeof(data.name));
	if (len < 0)
		len = sizeof(data.name) - 1;
	event.len = offsetof(struct pxt_syscall_data, name) + len;
	pxt_kevent_record(&event);
}

static void sys_exit(void *unused, struct pt_regs *regs, long result)
{
	struct pxt_result_data data = { .result = result };
	struct pxt_kevent event = {
		.id = POSIXTRACE_ID_SYSCALL_EXIT,
		.class = PXT_CLASS(SYSCALL),
		.len = sizeof(data),
		.data = &data,
		.task = current,
	};

	if (!pxt_interest_in(current))
		return;
	data.nr = syscall_get_nr(current, regs);
	data.compat = in_compat_syscall();
	pxt_kevent_record(&event);
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
