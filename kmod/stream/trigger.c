// SPDX-License-Identifier: GPL-2.0
/*
 * TRIGGER and TRIGGERED: a controller learns that a thread was blocked or runnable for longer
 * than a threshold, that a traced process recorded an event, or that a scope took longer, without
 * reading events. kevent/watch.c compares the times of threads with the thresholds. For its scopes,
 * the library of the traced process compares, and reports the result with MET: see met.c.
 *
 * Between two calls of TRIGGERED, pollers are woken at most once: further conditions are only
 * counted.
 */
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "stream/stream.h"
#include "stream/trigger.h"
#include "target/condition.h"
#include "target/gate.h"

/**
 * pxt_trigger_init() - initialize without conditions
 * @trigger: of a new stream
 */
void pxt_trigger_init(struct pxt_trigger *trigger)
{
	raw_spin_lock_init(&trigger->lock);
	init_waitqueue_head(&trigger->wait);
}

/* Replace the thresholds, and forget what was met. */
static void set(struct pxt_trigger *trigger, const struct posixtrace_trigger *arg)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&trigger->lock, flags);
	WRITE_ONCE(trigger->threshold[POSIXTRACE_TRIGGER_BLOCKED - 1], arg->blocked);
	WRITE_ONCE(trigger->threshold[POSIXTRACE_TRIGGER_RUNNABLE - 1], arg->runnable);
	WRITE_ONCE(trigger->count, 0);
	raw_spin_unlock_irqrestore(&trigger->lock, flags);
}

/**
 * pxt_trigger_set() - TRIGGER: choose conditions, or none
 * @stream: not locked
 * @arg: private copy of the argument
 * @conditions: the conditions on events; or NULL. Ownership passes to this function
 *
 * On return, the former conditions are no longer met. Context: may sleep.
 *
 * Return: 0; -EINVAL; -EOPNOTSUPP for times of threads if the stream does not have the class sched;
 * -ESHUTDOWN.
 */
int pxt_trigger_set(struct pxt_stream *stream, const struct posixtrace_trigger *arg,
		    struct pxt_conditions *conditions)
{
	bool threads = arg->blocked || arg->runnable;
	int err = 0;

	if (arg->reserved || (conditions && !pxt_conditions_valid(conditions)))
		err = -EINVAL;
	else if (threads && !(stream->attr.classes & POSIXTRACE_CLASS_SCHED))
		err = -EOPNOTSUPP;
	if (err) {
		kfree(conditions);
		return err;
	}
	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
		kfree(conditions);
	} else {
		/* Before the reset, so that pxt_met() does not add to it. */
		if (conditions || stream->link.conditions)
			pxt_gate_set_conditions(&stream->link, conditions);
		set(&stream->trigger, arg);
		if (conditions)
			pxt_gate_not_pending(&stream->link);
		if (threads)
			pxt_gate_watch(&stream->link);
	}
	mutex_unlock(&stream->lock);
	return err;
}

/**
 * pxt_trigger_take() - TRIGGERED: get what was met since the last call, and forget it
 * @stream: not locked
 * @arg: result
 *
 * Context: may sleep.
 *
 * Return: 0.
 */
int pxt_trigger_take(struct pxt_stream *stream, struct posixtrace_triggered *arg)
{
	struct pxt_trigger *trigger = &stream->trigger;
	unsigned long flags;

	memset(arg, 0, sizeof(*arg));
	raw_spin_lock_irqsave(&trigger->lock, flags);
	if (trigger->count) {
		*arg = trigger->first;
		arg->count = trigger->count + atomic64_read(&trigger->more);
	}
	WRITE_ONCE(trigger->count, 0);
	raw_spin_unlock_irqrestore(&trigger->lock, flags);
	/* After the count: see show_pending(). */
	if (arg->count && READ_ONCE(stream->link.conditions))
		pxt_gate_not_pending(&stream->link);
	return 0;
}

/* Called with the lock. Returns true if this is the first condition since TRIGGERED. */
static bool add(struct pxt_trigger *trigger, const struct posixtrace_triggered *by, u64 count)
{
	bool first = !trigger->count;

	if (first) {
		trigger->first = *by;
		atomic64_set(&trigger->more, 0);
	}
	WRITE_ONCE(trigger->count, trigger->count + count);
	return first;
}

/**
 * pxt_trigger_note() - note that a thread was in a state for some time, if that meets a condition
 * @trigger: of a stream
 * @by: the thread, its state and the time; the count is ignored
 *
 * Context: interrupts are off; scheduler locks and the lock of a CPU's recorder may be held.
 * Return: true if pxt_trigger_wake() must follow, without these locks.
 */
bool pxt_trigger_note(struct pxt_trigger *trigger, const struct posixtrace_triggered *by)
{
	bool first = false;

	raw_spin_lock(&trigger->lock);
	if (pxt_trigger_might(trigger, by->kind, by->duration))
		first = add(trigger, by, 1);
	raw_spin_unlock(&trigger->lock);
	return first;
}

/**
 * pxt_trigger_note_event() - note that a traced process has met a condition on its events
 * @trigger: of a stream
 * @by: the thread, and what it met; the count is ignored
 * @condition: the condition in its gate
 * @arg: argument of MET
 *
 * Return: true if pxt_trigger_wake() must follow.
 */
bool pxt_trigger_note_event(struct pxt_trigger *trigger, const struct posixtrace_triggered *by,
			    const struct posixtrace_gate_condition *condition,
			    const struct posixtrace_met *arg)
{
	unsigned long flags;
	bool first = false;

	if (READ_ONCE(trigger->count)) {
		if (READ_ONCE(condition->number) == arg->number)
			atomic64_add(arg->count, &trigger->more);
		return false;
	}
	raw_spin_lock_irqsave(&trigger->lock, flags);
	/* TRIGGER changes the number before it takes the lock to reset what was met. */
	if (READ_ONCE(condition->number) == arg->number)
		first = add(trigger, by, arg->count);
	raw_spin_unlock_irqrestore(&trigger->lock, flags);
	return first;
}

/**
 * pxt_trigger_wake() - wake pollers after pxt_trigger_note()
 * @trigger: of a stream
 *
 * Context: no lock of a scheduler or recorder is held.
 */
void pxt_trigger_wake(struct pxt_trigger *trigger)
{
	wake_up_poll(&trigger->wait, EPOLLPRI);
}

/**
 * pxt_trigger_poll() - wait for a condition, in poll(), select() or epoll
 * @trigger: of a stream
 * @file: of the stream
 * @table: of the caller
 *
 * Return: EPOLLPRI if a condition was met since the last TRIGGERED; or 0.
 */
__poll_t pxt_trigger_poll(struct pxt_trigger *trigger, struct file *file, poll_table *table)
{
	poll_wait(file, &trigger->wait, table);
	/* Pairs with the lock of the queue in pxt_trigger_wake(), taken after the count is set. */
	return READ_ONCE(trigger->count) ? EPOLLPRI : 0;
}
