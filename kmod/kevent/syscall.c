// SPDX-License-Identifier: GPL-2.0
/*
 * Class syscall: system calls, with their arguments as words, and their results.
 *
 * While these tracepoints have a handler, all tasks of the machine take the slow path into and out
 * of the kernel. Since Linux 6.13, the handlers may be preempted, so they use no per-CPU data. They
 * could take page faults, but use no user memory.
 */
#include <linux/bitops.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/sched.h>

#include <asm/syscall.h>

#include "compat.h"
#include "kevent/probe.h"
#include "kevent/record.h"
#include "target/callnames.h"

/*
 * A system call of the current thread. Must not have exactly 16 bytes: gcc 12 would then align the
 * stack to copy it.
 */
struct call {
	struct pt_regs *regs;
	unsigned long nr;
	long result;
};

/* Does the number fit into a short record? No valid system call has a larger one. */
static __always_inline bool is_short(unsigned long nr)
{
	return nr <= POSIXTRACE_KVALUE_NR(~0U);
}

static const struct pxt_kevent syscall_entry_event = {
	.id = POSIXTRACE_ID_SYSCALL_ENTRY,
	.class = PXT_CLASS(SYSCALL),
	.own = true,
	/* The sizes and the arguments; write_args() clears up to a word after the arguments. */
	.words = 2 + POSIXTRACE_KARGS,
};

/* Returns the end of the arguments. Not inline, so that a call without arguments is faster. */
static noinline u64 *write_args(u64 *word, struct pt_regs *regs, u32 count)
{
	unsigned long args[POSIXTRACE_KARGS] PXT_UNINITIALIZED;
	u8 *at = (u8 *)word + POSIXTRACE_KARGS_BYTES;
	u32 sizes = 0, size, i;

	syscall_get_arguments(current, regs, args);
	for (i = 0; i < count; i++) {
		put_unaligned_le64(args[i], at);
		size = ((u32)fls64(args[i]) + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
		sizes |= size << 4 * i;
		at += size;
	}
	if (!sizes)
		return word;
	/* Clear the padding. */
	put_unaligned_le64(0, at);
	*word = (*word & ~POSIXTRACE_KARGS_SIZES(~0ULL)) | sizes;
	return PTR_ALIGN((u64 *)at, sizeof(*word));
}

static __always_inline void write_entry(struct pxt_kdata *to, const void *data,
					const struct pxt_stream *stream,
					struct task_struct *other)
{
	const struct call *call = data;
	bool compat = in_compat_syscall();
	u32 args = unlikely(compat) ? POSIXTRACE_KARGS : pxt_call_args(call->nr);

	to->value = POSIXTRACE_KVALUE_CALL(call->nr, compat);
	if (args)
		to->end = write_args(to->end, call->regs, args);
}

PXT_KEVENT_OTHERS(record_other_entries, struct call, &syscall_entry_event, write_entry)

/* For a number that does not fit into a short record: only invalid calls have one. */
static noinline __cold void record_long_entry(struct pt_regs *regs, int nr)
{
	struct pxt_syscall_data data = { .nr = nr, .compat = in_compat_syscall() };

	syscall_get_arguments(current, regs, data.args);
	pxt_kevent_record_plain(&syscall_entry_event, current, NULL, &data, sizeof(data));
}

/* Has the arguments of sys_enter(), so that they stay in their registers. */
static noinline __noclone void record_entry(void *unused, struct pt_regs *regs, long nr)
{
	struct call call PXT_UNINITIALIZED;
	const struct pxt_memo *memo;

	if (unlikely(!is_short(nr))) {
		record_long_entry(regs, nr);
		return;
	}
	call.regs = regs;
	call.nr = nr;
	/* Interrupts are on in a system call, so their state need not be saved. */
	lockdep_assert_irqs_enabled();
	local_irq_disable();
	memo = pxt_kevent_record(&syscall_entry_event, current, NULL, &call, write_entry);
	if (unlikely(memo->more))
		record_other_entries(memo, current, NULL, call);
	local_irq_enable();
}

static void sys_enter(void *unused, struct pt_regs *regs, long nr)
{
	if (unlikely(pxt_interest_in(current)))
		record_entry(unused, regs, nr);
}

static const struct pxt_kevent syscall_exit_event = {
	.id = POSIXTRACE_ID_SYSCALL_EXIT,
	.class = PXT_CLASS(SYSCALL),
	.own = true,
	.words = PXT_PLAIN_WORDS(struct pxt_result_data),
};

static __always_inline void write_exit(struct pxt_kdata *to, const void *data,
				       const struct pxt_stream *stream,
				       struct task_struct *other)
{
	const struct call *call = data;

	to->value = POSIXTRACE_KVALUE_CALL(call->nr, in_compat_syscall());
	if (call->result)
		*to->end++ = call->result;
}

PXT_KEVENT_OTHERS(record_other_exits, struct call, &syscall_exit_event, write_exit)

static noinline __cold void record_long_exit(int nr, long result)
{
	struct pxt_result_data data = {
		.nr = nr,
		.result = result,
		.compat = in_compat_syscall(),
		.error = IS_ERR_VALUE(result) ? -result : 0,
	};

	pxt_kevent_record_plain(&syscall_exit_event, current, NULL, &data, sizeof(data));
}

/* Has the arguments of sys_exit(), so that they stay in their registers. */
static noinline __noclone void record_exit(void *unused, struct pt_regs *regs, long result)
{
	const struct call call = {
		.regs = NULL,
		.nr = (u32)syscall_get_nr(current, regs),
		.result = result,
	};
	const struct pxt_memo *memo;

	if (unlikely(!is_short(call.nr))) {
		record_long_exit(call.nr, result);
		return;
	}
	/* As in record_entry(). */
	lockdep_assert_irqs_enabled();
	local_irq_disable();
	memo = pxt_kevent_record(&syscall_exit_event, current, NULL, &call, write_exit);
	if (unlikely(memo->more))
		record_other_exits(memo, current, NULL, call);
	local_irq_enable();
}

static void sys_exit(void *unused, struct pt_regs *regs, long result)
{
	if (unlikely(pxt_interest_in(current)))
		record_exit(unused, regs, result);
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
