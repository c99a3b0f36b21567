// SPDX-License-Identifier: GPL-2.0
/*
 * Class irq: the time that interrupts and softirqs take from the running thread.
 *
 * Each interrupt causes one event, at its end. The tracepoint handlers run in the interrupt, so
 * their per-CPU data cannot change under them. On PREEMPT_RT, softirqs run in threads that may be
 * preempted, so the class covers only hard interrupts there.
 *
 * On arm64, some interrupts are NMIs for the kernel. These may occur inside the recorder, so they
 * are not recorded.
 */
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "kevent/probe.h"
#include "kevent/record.h"

/* Levels of nesting: softirqs, vectors without hardirq_count(), and nested hard interrupts. */
#define LEVELS	5

/*
 * Counts registrations. A handler that is unregistered during an interrupt leaves its struct begun
 * in place; after the next registration, the old generation shows that the entry is stale. Written
 * by begin(), read by the handlers.
 */
static u32 generation;

/**
 * struct begun - an interrupt in progress on a CPU
 * @since: start time, ns; 0 if no interrupt of interest is in progress
 * @number: number of the interrupt
 * @kind: PXT_IRQ_*
 * @generation: value of the global generation when the interrupt began
 *
 * Only accessed by this CPU, in an interrupt of its level.
 */
struct begun {
	u64 since;
	u32 number;
	u32 kind;
	u32 generation;
};

static DEFINE_PER_CPU(struct begun [LEVELS], pxt_irq_begun);

static struct begun *level_of(u32 kind)
{
	u32 level = kind == PXT_IRQ_SOFT ? 0 : 1 + (hardirq_count() >> HARDIRQ_SHIFT);

	return this_cpu_ptr(&pxt_irq_begun[min_t(u32, level, LEVELS - 1)]);
}

static void enters(u32 kind, u32 number)
{
	struct begun *begun;

	if (!pxt_interest_in(current) || in_nmi())
		return;
	begun = level_of(kind);
	begun->number = number;
	begun->kind = kind;
	begun->generation = READ_ONCE(generation);
	begun->since = pxt_clock_now();
}

static const struct pxt_kevent irq_event = {
	.id = POSIXTRACE_ID_IRQ,
	.class = PXT_CLASS(IRQ),
	.words = PXT_PLAIN_WORDS(struct pxt_irq_data),
};

static noinline void record_irq(u32 kind, u32 number, u64 since, const char *name)
{
	struct pxt_irq_data data = {
		.number = number,
		.kind = kind,
		.nested = kind != PXT_IRQ_SOFT &&
			  (in_serving_softirq() || hardirq_count() > HARDIRQ_OFFSET),
		.duration = pxt_clock_now() - since,
	};
	ssize_t len = strscpy(data.name, name ? name : "", sizeof(data.name));

	if (len < 0)
		len = sizeof(data.name) - 1;
	pxt_kevent_record_plain(&irq_event, current, NULL, &data,
				offsetof(struct pxt_irq_data, name) + len);
}

static void leaves(u32 kind, u32 number, const char *name)
{
	struct begun *begun;
	u64 since;

	if (in_nmi())
		return;
	begun = level_of(kind);
	since = begun->since;
	if (!since)
		return;
	begun->since = 0;
	/* If handlers were registered in between, @begun may be about a different interrupt. */
	if (begun->kind == kind && begun->number == number &&
	    begun->generation == READ_ONCE(generation))
		record_irq(kind, number, since, name);
}

static void irq_handler_entry(void *unused, int irq, struct irqaction *action)
{
	enters(PXT_IRQ_HARD, irq);
}

static void irq_handler_exit(void *unused, int irq, struct irqaction *action, int ret)
{
	leaves(PXT_IRQ_HARD, irq, action->name);
}

static void __maybe_unused softirq_entry(void *unused, unsigned int vec)
{
	enters(PXT_IRQ_SOFT, vec);
}

static void __maybe_unused softirq_exit(void *unused, unsigned int vec)
{
	static const char *const names[NR_SOFTIRQS] = {
		"hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched",
		"hrtimer", "rcu",
	};

	leaves(PXT_IRQ_SOFT, vec, vec < NR_SOFTIRQS ? names[vec] : NULL);
}

/* Define a pair of functions for each vector, because the tracepoints do not pass a name. */
#define VECTOR(vector) \
static void vector##_entry(void *unused, int number) \
{ \
	enters(PXT_IRQ_VECTOR, number); \
} \
static void vector##_exit(void *unused, int number) \
{ \
	leaves(PXT_IRQ_VECTOR, number, #vector); \
}

/* x86 vectors. */
VECTOR(local_timer)
VECTOR(reschedule)
VECTOR(call_function)
VECTOR(call_function_single)
VECTOR(irq_work)
VECTOR(x86_platform_ipi)
VECTOR(spurious_apic)
VECTOR(error_apic)
VECTOR(thermal_apic)
VECTOR(threshold_apic)
VECTOR(deferred_error_apic)

/* arm64: inter-processor interrupts. The reason is a constant string of the kernel. */
static void ipi_entry(void *unused, const char *reason)
{
	enters(PXT_IRQ_VECTOR, 0);
}

static void ipi_exit(void *unused, const char *reason)
{
	leaves(PXT_IRQ_VECTOR, 0, reason);
}

/* Called before the handlers are registered, with pxt_tracepoints_lock. */
static void begin(void)
{
	WRITE_ONCE(generation, generation + 1);
}

static struct pxt_probe probes[] = {
	{ "irq_handler_entry", irq_handler_entry },
	{ "irq_handler_exit", irq_handler_exit },
#ifndef CONFIG_PREEMPT_RT
	{ "softirq_entry", softirq_entry },
	{ "softirq_exit", softirq_exit },
#endif
	{ "local_timer_entry", local_timer_entry, true },
	{ "local_timer_exit", local_timer_exit, true },
	{ "reschedule_entry", reschedule_entry, true },
	{ "reschedule_exit", reschedule_exit, true },
	{ "call_function_entry", call_function_entry, true },
	{ "call_function_exit", call_function_exit, true },
	{ "call_function_single_entry", call_function_single_entry, true },
	{ "call_function_single_exit", call_function_single_exit, true },
	{ "irq_work_entry", irq_work_entry, true },
	{ "irq_work_exit", irq_work_exit, true },
	{ "x86_platform_ipi_entry", x86_platform_ipi_entry, true },
	{ "x86_platform_ipi_exit", x86_platform_ipi_exit, true },
	{ "spurious_apic_entry", spurious_apic_entry, true },
	{ "spurious_apic_exit", spurious_apic_exit, true },
	{ "error_apic_entry", error_apic_entry, true },
	{ "error_apic_exit", error_apic_exit, true },
	{ "thermal_apic_entry", thermal_apic_entry, true },
	{ "thermal_apic_exit", thermal_apic_exit, true },
	{ "threshold_apic_entry", threshold_apic_entry, true },
	{ "threshold_apic_exit", threshold_apic_exit, true },
	{ "deferred_error_apic_entry", deferred_error_apic_entry, true },
	{ "deferred_error_apic_exit", deferred_error_apic_exit, true },
	{ "ipi_entry", ipi_entry, true },
	{ "ipi_exit", ipi_exit, true },
};

const struct pxt_probes pxt_probes_irq = {
	.class = POSIXTRACE_CLASS_IRQ,
	.probe = probes,
	.count = ARRAY_SIZE(probes),
	.begin = begin,
};
