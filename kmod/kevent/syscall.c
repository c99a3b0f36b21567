// SPDX-License-Identifier: GPL-2.0
/*
 * Class syscall: system calls, with their arguments as words, and their results.
 *
 * While these tracepoints have a handler, all tasks of the machine take the slow path into and out
 * of the kernel. Since Linux 6.13, the handlers may be preempted, and could take page faults: they
 * use no per-CPU data and no user memory.
 */
#include <linux/bitops.h>
#include <linux/compat.h>
#include <linux/sched.h>

#include <asm/syscall.h>

#include "compat.h"
#include "kevent/probe.h"
#include "kevent/record.h"
#include "target/callnames.h"

/* A system call of the current thread. */
struct call {
	struct pt_regs *regs;
	int nr;
	long result;
};

/* False for numbers that no program would use, but any may. */
static __always_inline bool is_short(int nr)
{
	return nr >= 0 && nr <= POSIXTRACE_KVALUE_NR(~0U);
}

static const struct pxt_kevent syscall_entry_event = {
	.id = POSIXTRACE_ID_SYSCALL_ENTRY,
	.class = PXT_CLASS(SYSCALL),
	.own = true,
	/* The sizes and the arguments; the padding is stored up to a word after them. */
	.words = 2 + POSIXTRACE_KARGS,
};

/* Returns the end of the arguments. */
static __always_inline u64 *write_args(u64 *word, const unsigned long *args, u32 count)
{
	u8 *at = (u8 *)word + POSIXTRACE_KARGS_BYTES;
	u32 sizes = 0, size, i;

	for (i = 0; i < count; i++) {
		put_unaligned_le64(args[i], at);
		size = (fls64(args[i]) + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
		sizes |= size << 4 * i;
		at += size;
	}
	if (!sizes)
		return word;
	/* The padding. */
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
	unsigned long args[POSIXTRACE_KARGS] PXT_UNINITIALIZED;

	syscall_get_arguments(current, call->regs, args);
	to->value = POSIXTRACE_KVALUE_CALL(call->nr, compat);
	to->end = write_args(to->end, args, compat ? POSIXTRACE_KARGS : pxt_call_args(call->nr));
}

/* Only invalid calls have such numbers. */
static noinline void record_long_entry(const struct call *call)
{
	struct pxt_syscall_data data = { .nr = call->nr, .compat = in_compat_syscall() };

	syscall_get_arguments(current, call->regs, data.args);
	pxt_kevent_record_plain(&syscall_entry_event, current, NULL, &data, sizeof(data));
}

static noinline void record_entry(struct pt_regs *regs, long nr)
{
	const struct call call = { .regs = regs, .nr = nr, .result = 0 };

	if (likely(is_short(nr)))
		pxt_kevent_record(&syscall_entry_event, current, NULL, &call, write_entry);
	else
		record_long_entry(&call);
}

static void sys_enter(void *unused, struct pt_regs *regs, long nr)
{
	if (unlikely(pxt_interest_in(current)))
		record_entry(regs, nr);
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

static noinline void record_long_exit(const struct call *call)
{
	struct pxt_result_data data = {
		.nr = call->nr,
		.result = call->result,
		.compat = in_compat_syscall(),
	};

	pxt_kevent_record_plain(&syscall_exit_event, current, NULL, &data, sizeof(data));
}

static noinline void record_exit(struct pt_regs *regs, long result)
{
	const struct call call = {
		.regs = regs,
		.nr = syscall_get_nr(current, regs),
		.result = result,
	};

	if (likely(is_short(call.nr)))
		pxt_kevent_record(&syscall_exit_event, current, NULL, &call, write_exit);
	else
		record_long_exit(&call);
}

static void sys_exit(void *unused, struct pt_regs *regs, long result)
{
	if (unlikely(pxt_interest_in(current)))
		record_exit(regs, result);
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
