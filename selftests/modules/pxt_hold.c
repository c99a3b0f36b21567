// SPDX-License-Identifier: GPL-2.0
/*
 * Holds a thread at a certain point, because threads are usually not slow enough there. Either in a
 * page fault of the gate, twice: before the page is mapped, and before the module ends the fault.
 * Or once in a command, after the module has looked up the thread's target, or when it turns on its
 * first tracepoint.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>

static int tid;
module_param(tid, int, 0);
MODULE_PARM_DESC(tid, "The thread, in the initial pid namespace");

static unsigned long address;
module_param(address, ulong, 0);
MODULE_PARM_DESC(address, "Address of the gate");

static int hold_ms;
module_param(hold_ms, int, 0);
MODULE_PARM_DESC(hold_ms, "How long it is held, each time");

static int held;
module_param(held, int, 0444);
MODULE_PARM_DESC(held, "How often it was held, including now");

/*
 * A probe must not sleep, so spin. It may interrupt an update of the clock, so read the fast clock.
 */
static void hold(int number)
{
	const u64 end = ktime_get_mono_fast_ns() + (u64)hold_ms * NSEC_PER_MSEC;

	WRITE_ONCE(held, number);
	while (ktime_get_mono_fast_ns() < end)
		cpu_relax();
}

static int before_mapping(struct kprobe *probe, struct pt_regs *regs)
{
	const struct vm_fault *vmf = (void *)regs_get_kernel_argument(regs, 0);

	if (current->pid == tid && READ_ONCE(held) == 0 && (vmf->address & PAGE_MASK) == address)
		hold(1);
	return 0;
}

static int before_leaving(struct kprobe *probe, struct pt_regs *regs)
{
	if (current->pid == tid && READ_ONCE(held) == 1)
		hold(2);
	return 0;
}

static int before_registering(struct kprobe *probe, struct pt_regs *regs)
{
	if (current->pid == tid && READ_ONCE(held) == 0)
		hold(1);
	return 0;
}

static int after_looking(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (current->pid == tid && READ_ONCE(held) == 0)
		hold(1);
	return 0;
}

static struct kprobe mapping = {
	.symbol_name = "finish_fault",
	.pre_handler = before_mapping,
};

static struct kprobe leaving = {
	.symbol_name = "pxt_attachment_leave",
	.pre_handler = before_leaving,
};

static struct kprobe registering = {
	.symbol_name = "tracepoint_probe_register_prio",
	.pre_handler = before_registering,
};

static struct kretprobe looking = {
	.kp.symbol_name = "pxt_attachment_target",
	.handler = after_looking,
};

static int __init hold_init(void)
{
	int err = register_kprobe(&mapping);

	if (err)
		return err;
	err = register_kprobe(&leaving);
	if (err)
		goto mapping;
	err = register_kprobe(&registering);
	if (err)
		goto leaving;
	err = register_kretprobe(&looking);
	if (err)
		goto registering;
	return 0;

registering:
	unregister_kprobe(&registering);
leaving:
	unregister_kprobe(&leaving);
mapping:
	unregister_kprobe(&mapping);
	return err;
}

static void __exit hold_exit(void)
{
	unregister_kretprobe(&looking);
	unregister_kprobe(&registering);
	unregister_kprobe(&leaving);
	unregister_kprobe(&mapping);
}

module_init(hold_init);
module_exit(hold_exit);

MODULE_DESCRIPTION("Slow page faults and commands, for a test of posixtrace");
MODULE_LICENSE("GPL");
