// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the commands of role target: determines the process that a caller acts for.
 */
#include <linux/err.h>
#include <linux/mm_types.h>
#include <linux/sched/signal.h>

#include "device/attached.h"
#include "device/command.h"
#include "target/attachment.h"

/*
 * May the caller use the file? Not after exec, because a synchronization would not reach the new
 * address space. Another process may, if it shares the address space of the process that attached.
 */
static bool may_use(const struct pxt_attachment *att)
{
	return att->mm == current->mm;
}

/* These commands define or look up event types, or show that the process has seen a stream. */
static bool makes_target(unsigned int cmd)
{
	return cmd == POSIXTRACE_IOC_EVENTID_OPEN || cmd == POSIXTRACE_IOC_DESCRIBE ||
	       cmd == POSIXTRACE_IOC_SYNC;
}

static bool records(unsigned int cmd)
{
	return cmd == POSIXTRACE_IOC_EVENT || cmd == POSIXTRACE_IOC_WAKE ||
	       cmd == POSIXTRACE_IOC_NEXT || cmd == POSIXTRACE_IOC_MET;
}

/**
 * pxt_attached_command() - run a command of role target
 * @att: attachment of the file, or of the mapping of the gate
 * @cmd: second argument of ioctl()
 * @uarg: third argument of ioctl()
 *
 * Context: may sleep.
 * Return: as pxt_command_target(); -EINVAL if the caller may not use @att.
 */
long pxt_attached_command(struct pxt_attachment *att, unsigned int cmd, void __user *uarg)
{
	struct pxt_target *target;
	bool bound;
	long ret;

	if (!may_use(att))
		return -EINVAL;
	/* Read this before the search, because CREATE may bind the attachment right after it. */
	bound = pxt_attachment_bound(att);
	target = pxt_attachment_target(att, makes_target(cmd));
	if (IS_ERR(target))
		return PTR_ERR(target);
	/*
	 * A caller that is not a target has no streams, so EVENT, NEXT, WAKE and MET have nothing
	 * to do. But if the attachment belongs to a target with the same memory, refuse the caller,
	 * which has other event types.
	 */
	if (!target && (bound || !records(cmd)))
		return -EINVAL;
	ret = pxt_command_target(target, cmd, uarg);
	if (target)
		pxt_target_put(target);
	return ret;
}

/**
 * pxt_attached_acts() - check if a command of the caller would find or create a target
 * @att: attachment of the file
 *
 * Context: may sleep.
 * Return: true if so.
 */
bool pxt_attached_acts(struct pxt_attachment *att)
{
	struct pxt_target *target;

	if (!may_use(att))
		return false;
	if (att->pid == task_tgid(current) || !pxt_attachment_bound(att))
		return true;
	target = pxt_attachment_target(att, false);
	if (target)
		pxt_target_put(target);
	return target;
}

/**
 * pxt_attached_owns() - check if the calling process attached with its current address space
 * @att: attachment of the file
 *
 * Return: true if so.
 */
bool pxt_attached_owns(const struct pxt_attachment *att)
{
	return may_use(att) && att->pid == task_tgid(current);
}
