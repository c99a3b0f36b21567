// SPDX-License-Identifier: GPL-2.0
/*
 * MET: a traced process reports that it met a condition of a stream on its events.
 */
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/sched.h>

#include "ring/clock.h"
#include "stream/met.h"
#include "stream/stream.h"
#include "stream/trigger.h"
#include "target/condition.h"
#include "target/gate.h"
#include "target/table.h"
#include "target/target.h"

static bool is_current(const struct posixtrace_gate_condition *condition, u32 number)
{
	return READ_ONCE(condition->number) == number;
}

/*
 * Find the label of a condition, which is not in the gate. Returns false if the stream has other
 * conditions by now.
 */
static bool find_label(struct pxt_stream *stream, struct posixtrace_triggered *by,
		       const struct posixtrace_gate_condition *condition,
		       const struct posixtrace_met *arg, u32 index)
{
	const struct pxt_link *link = &stream->link;
	bool found = false;

	mutex_lock(&link->table->lock);
	if (is_current(condition, arg->number) && link->conditions) {
		by->label = link->conditions->condition[index].label;
		found = true;
	}
	mutex_unlock(&link->table->lock);
	return found;
}

static bool note_met(struct pxt_stream *stream, const struct posixtrace_met *arg,
		     const struct posixtrace_gate_condition *condition, u32 index)
{
	struct posixtrace_triggered by = {
		.time = arg->time,
		.pid = task_tgid_nr_ns(current, stream->ns),
		.tid = task_pid_nr_ns(current, stream->ns),
		.kind = POSIXTRACE_TRIGGER_EVENT,
	};
	u64 now = pxt_clock_now();

	/* The process may say anything, but the controller gets a time of its stream. */
	by.time = clamp(by.time, stream->attr.creation_time, now);
	if (READ_ONCE(condition->begin)) {
		by.kind = POSIXTRACE_TRIGGER_SCOPE;
		by.duration = arg->duration;
		if (by.duration <= READ_ONCE(condition->threshold) ||
		    by.duration > by.time - stream->attr.creation_time)
			return false;
	}
	/* The label is only needed for the first one. */
	if (!READ_ONCE(stream->trigger.count) &&
	    !find_label(stream, &by, condition, arg, index))
		return false;
	return pxt_trigger_note_event(&stream->trigger, &by, condition, arg);
}

/*
 * Let the process delay MET until the controller has read what was met. TRIGGERED first resets the
 * count, and then these flags: either it resets the flag set here, or the count is seen to be 0.
 */
static void show_pending(const struct pxt_stream *stream, u8 *pending)
{
	if (READ_ONCE(*pending))
		return;
	WRITE_ONCE(*pending, 1);
	/* Pairs with the barrier in pxt_gate_not_pending(). */
	smp_mb();
	if (!READ_ONCE(stream->trigger.count))
		WRITE_ONCE(*pending, 0);
}

/**
 * pxt_met() - MET: a traced process has met a condition on its events
 * @target: target of the calling process; NULL if it is not a target
 * @arg: private copy of the argument
 *
 * Ignores conditions that the gate of the process no longer has. Context: may sleep.
 *
 * Return: 0; -EINVAL.
 */
int pxt_met(struct pxt_target *target, const struct posixtrace_met *arg)
{
	const struct posixtrace_gate_condition *condition;
	const struct posixtrace_gate *gate;
	struct pxt_stream *stream;
	u32 slot, index;

	if (arg->slot >= POSIXTRACE_SLOTS_MAX || arg->condition >= POSIXTRACE_CONDITIONS_MAX ||
	    !arg->number || !arg->count)
		return -EINVAL;
	slot = array_index_nospec(arg->slot, POSIXTRACE_SLOTS_MAX);
	index = array_index_nospec(arg->condition, POSIXTRACE_CONDITIONS_MAX);
	/* Pairs with the release in pxt_gate_make(). */
	gate = target ? smp_load_acquire(&target->gate) : NULL;
	if (!gate)
		return 0;
	condition = &gate->condition[slot][index];
	stream = pxt_stream_get_in(target, slot);
	if (!stream)
		return 0;
	/* The slot may have another stream by now; the condition changes before the stream does. */
	smp_rmb();
	if (is_current(condition, arg->number)) {
		if (note_met(stream, arg, condition, index))
			pxt_trigger_wake(&stream->trigger);
		show_pending(stream, &target->gate->pending[slot]);
	}
	pxt_stream_put(stream);
	return 0;
}
