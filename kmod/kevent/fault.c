// SPDX-License-Identifier: GPL-2.0
/*
 * Class fault: page faults. Only x86 has tracepoints for them; elsewhere the class does not exist.
 *
 * Since Linux 7.0, the handlers may be preempted, so they use no per-CPU data.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "kevent/probe.h"
#include "kevent/record.h"

#ifdef CONFIG_X86

#include <asm/ptrace.h>
#include <asm/trap_pf.h>

static const struct pxt_kevent page_fault_event = {
	.id = POSIXTRACE_ID_PAGE_FAULT,
	.class = PXT_CLASS(FAULT),
	.words = 2,
	.own = true,
	.memory = true,
};

struct fault {
	unsigned long address;
	struct pt_regs *regs;
	unsigned long error_code;
};

static __always_inline void write_fault(struct pxt_kdata *to, const void *data,
					const struct pxt_stream *stream,
					struct task_struct *other)
{
	const struct fault *fault = data;
	bool user = user_mode(fault->regs);

	to->value = POSIXTRACE_KVALUE_FAULT(user, !!(fault->error_code & X86_PF_WRITE),
					    !!(fault->error_code & X86_PF_INSTR),
					    !!(fault->error_code & X86_PF_PROT));
	/* Hide kernel addresses from the controller. */
	*to->end++ = fault->address < TASK_SIZE_MAX ? fault->address : 0;
	*to->end++ = user ? fault->regs->ip : 0;
}

PXT_KEVENT_OTHERS(record_other_faults, struct fault, &page_fault_event, write_fault)

/* Has the arguments of page_fault(), so that they stay in their registers. */
static noinline __noclone void record_fault(void *unused, unsigned long address,
					    struct pt_regs *regs, unsigned long error_code)
{
	const struct fault fault = { address, regs, error_code };
	const struct pxt_memo *memo;
	unsigned long flags;

	local_irq_save(flags);
	memo = pxt_kevent_record(&page_fault_event, current, NULL, &fault, write_fault);
	if (unlikely(memo && memo->more))
		record_other_faults(memo, current, NULL, fault);
	local_irq_restore(flags);
}

/*
 * A profiler that reads a stack may fault inside the recorder: in an NMI, or in a lock tracepoint.
 * The recorder holds its locks with interrupts off, so if they are off, the fault may be inside the
 * recorder.
 */
static bool can_record(struct pt_regs *regs)
{
	return !in_nmi() && (user_mode(regs) || regs->flags & X86_EFLAGS_IF);
}

static void page_fault(void *unused, unsigned long address, struct pt_regs *regs,
		       unsigned long error_code)
{
	if (unlikely(pxt_interest_in(current)) && can_record(regs))
		record_fault(unused, address, regs, error_code);
}

static struct pxt_probe probes[] = {
	{ "page_fault_user", page_fault },
	{ "page_fault_kernel", page_fault },
};

const struct pxt_probes pxt_probes_fault = {
	.class = POSIXTRACE_CLASS_FAULT,
	.probe = probes,
	.count = ARRAY_SIZE(probes),
};

#else

const struct pxt_probes pxt_probes_fault = { .class = POSIXTRACE_CLASS_FAULT };

#endif
