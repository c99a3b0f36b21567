// SPDX-License-Identifier: GPL-2.0
/*
 * Class strings: texts to which arguments of system calls point, such as paths.
 *
 * The handler copies a text when the call begins, before the kernel reads it: another thread may
 * change it in between. The handler takes no page faults: a text that is not in memory is recorded
 * as absent.
 */
#include <linux/bitops.h>
#include <linux/compat.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/syscall.h>

#include "compat.h"
#include "kevent/probe.h"
#include "kevent/record.h"
#include "target/callnames.h"

static const struct pxt_kevent text_event = {
	.id = POSIXTRACE_ID_SYSCALL_TEXT,
	.class = PXT_CLASS(STRINGS),
	.own = true,
	.memory = true,
	.words = PXT_PLAIN_WORDS(struct pxt_text_data),
};

/*
 * Copy a text without page faults, up to its NUL. With interrupts off, class fault does not record
 * the attempt. Returns the number of bytes, without the NUL.
 */
static u32 copy_text(struct pxt_text_data *data, const char __user *from)
{
	unsigned long flags;
	u32 len, part;
	char *end;

	data->state = PXT_TEXT_CUT;
	local_irq_save(flags);
	for (len = 0; len < PXT_TEXT_SIZE; len += part) {
		/*
		 * Stop at the end of each page: the text may end in this page, and the next one may
		 * be absent.
		 */
		part = min_t(u32, PXT_TEXT_SIZE - len, PAGE_SIZE - offset_in_page(from + len));
		if (copy_from_user_nofault(data->value + len, from + len, part)) {
			if (!len)
				data->state = PXT_TEXT_ABSENT;
			break;
		}
		end = memchr(data->value + len, '\0', part);
		if (end) {
			data->state = PXT_TEXT_WHOLE;
			len = end - data->value;
			break;
		}
	}
	local_irq_restore(flags);
	return min_t(u32, len, PXT_TEXT_SIZE - 1);
}

static void record_text(u32 nr, u32 arg, unsigned long address)
{
	struct pxt_text_data data PXT_UNINITIALIZED;
	u32 len;

	data.tid = 0;
	data.nr = nr;
	data.address = address;
	data.arg = arg;
	len = copy_text(&data, (const char __user *)address);
	pxt_kevent_record_plain(&text_event, current, NULL, &data,
				offsetof(struct pxt_text_data, value) + len);
}

static noinline void record_texts(struct pt_regs *regs, u32 nr)
{
	unsigned long args[POSIXTRACE_KARGS], texts = pxt_call_texts(nr);
	u32 arg;

	/* It is not known which arguments of 32-bit system calls are texts. */
	if (!texts || in_compat_syscall())
		return;
	syscall_get_arguments(current, regs, args);
	for_each_set_bit(arg, &texts, POSIXTRACE_KARGS) {
		if (args[arg])
			record_text(nr, arg, args[arg]);
	}
}

static void sys_enter(void *unused, struct pt_regs *regs, long nr)
{
	if (unlikely(pxt_interest_in(current)) && nr >= 0 && nr < PXT_CALLS)
		record_texts(regs, nr);
}

/*
 * Runs after the handler of class syscall, so that the texts follow the entry of their system call.
 */
static struct pxt_probe probes[] = {
	{ "sys_enter", sys_enter, .last = true },
};

const struct pxt_probes pxt_probes_strings = {
	.class = POSIXTRACE_CLASS_STRINGS,
	.probe = probes,
	.count = ARRAY_SIZE(probes),
};
