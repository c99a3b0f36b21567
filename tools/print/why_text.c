// SPDX-License-Identifier: GPL-2.0
/*
 * Describes parts of a period in words: see why_text.h.
 */
#include <string.h>

#include "print/why_text.h"
#include "util/escape.h"

static void put_name(struct buffer *to, const char *name)
{
	escape_plain(to, name, strlen(name));
}

void why_text_label(struct buffer *to, const struct tracks *tracks, uint32_t thread)
{
	put_name(to, tracks_thread(tracks, thread)->label);
}

static void put_holder(struct buffer *to, const struct tracks *tracks, const struct part *part)
{
	if (!part->holder)
		return;
	buffer_text(to, ", held by ");
	why_text_label(to, tracks, part->holder);
}

/* Names the thread part.other, with its process if that is not the process of part.thread. */
static void put_other(struct buffer *to, const struct tracks *tracks, const struct part *part)
{
	const struct track_thread *other;

	if (!part->other) {
		buffer_text(to, "a thread that is not followed");
		return;
	}
	other = tracks_thread(tracks, part->other);
	why_text_label(to, tracks, part->other);
	if (other->pid != tracks_thread(tracks, part->thread)->pid)
		buffer_printf(to, " of process %d", (int)other->plain_pid);
}

static void put_place(struct buffer *to, const struct tracks *tracks, const struct part *part)
{
	const char *name = part->has_arg ? tracks_arg_name(tracks, part->place) : NULL;

	if (part->place == WAITS_IN_UNKNOWN)
		return;
	if (part->place == WAITS_IN_NO_CALL) {
		buffer_text(to, part->kind == PART_RUNNING ? " in the program" :
							     " outside of system calls");
		return;
	}
	buffer_text(to, " in ");
	put_name(to, tracks_place_name(tracks, part->place));
	if (!name)
		return;
	buffer_printf(to, ", %s ", name);
	if (strcmp(name, "address"))
		buffer_signed(to, (int32_t)part->arg);
	else
		buffer_printf(to, "%#llx", (unsigned long long)part->arg);
}

static void put_waker(struct buffer *to, const struct tracks *tracks, const struct part *part)
{
	static const struct {
		const char *named;	/* text before the name of the other thread */
		const char *anonymous;
	} wakers[] = {
		[WAKER_UNKNOWN] = { "", ", waker unknown" },
		[WAKER_ANOTHER] = { "", ", woken by another thread" },
		[WAKER_THREAD] = { ", woken by ", ", woken by a thread that is not followed" },
		[WAKER_INTERRUPT] = { "", ", woken by an interrupt" },
		[WAKER_SOFTIRQ] = { ", woken by a softirq during ", ", woken by a softirq" },
		[WAKER_TIMER] = { "", ", woken by a timer" },
		[WAKER_CHILD] = { ", woken by the end of ", ", woken by the end of a child" },
		[WAKER_SIGNAL] = { ", woken by a signal of ", ", woken by a signal" },
		[WAKER_KERNEL] = { "", ", woken by a thread of the kernel" },
		[WAKER_NONE] = { "", ", not woken" },
	};
	const bool sent = part->by == WAKER_SOFTIRQ && part->caused;

	if (part->io)
		buffer_text(to, " (I/O)");
	if (!part->other) {
		buffer_text(to, wakers[part->by].anonymous);
		return;
	}
	buffer_text(to, sent ? wakers[WAKER_THREAD].named : wakers[part->by].named);
	put_other(to, tracks, part);
	if (sent)
		buffer_text(to, " through a softirq");
}

void why_text(struct buffer *to, const struct tracks *tracks, const struct part *part)
{
	switch (part->kind) {
	case PART_RUNNING:
		buffer_text(to, "running");
		put_place(to, tracks, part);
		if (part->faults)
			buffer_printf(to, ", %llu page fault%s", (unsigned long long)part->faults,
				      part->faults == 1 ? "" : "s");
		break;
	case PART_INTERRUPT:
		buffer_text(to, "interrupt: ");
		put_name(to, tracks_irq_name(tracks, part->other));
		break;
	case PART_RUNNABLE:
		buffer_text(to, part->preempted ? "runnable, preempted" : "runnable, woken");
		break;
	case PART_RAN:
		put_other(to, tracks, part);
		buffer_text(to, " ran there");
		break;
	case PART_RAN_OTHER:
		buffer_text(to, "no thread of the log ran there");
		break;
	case PART_RAN_UNKNOWN:
		buffer_text(to, "unknown processor");
		break;
	case PART_BLOCKED:
		buffer_text(to, part->letter == 'T' || part->letter == 't' ? "stopped" : "blocked");
		put_place(to, tracks, part);
		if (part->fault)
			buffer_text(to, " after a page fault");
		put_holder(to, tracks, part);
		put_waker(to, tracks, part);
		break;
	case PART_FAULT:
		buffer_text(to, "blocked in a page fault");
		put_waker(to, tracks, part);
		break;
	case PART_UNBORN:
		buffer_text(to, "before its creation by ");
		put_other(to, tracks, part);
		break;
	case PART_MORE:
		buffer_text(to, "more parts");
		break;
	default:
		buffer_text(to, "unknown");
		break;
	}
}
