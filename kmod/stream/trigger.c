// SPDX-License-Identifier: GPL-2.0
/*
 * TRIGGER and TRIGGERED: a controller learns that a thread was blocked or runnable for longer than
 * a threshold, without reading events. kevent/watch.c compares the times with the thresholds.
 *
 * Between two calls of TRIGGERED, pollers are woken at most once: further conditions are only
 * counted.
 */
#include <linux/mutex.h>
#include <linux/string.h>

#include "stream/stream.h"
#include "stream/trigger.h"

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
 *
 * On return, the former conditions are no longer met. Context: may sleep.
 *
 * Return: 0; -EINVAL; -EOPNOTSUPP if the stream does not have the class sched; -ESHUTDOWN.
 */
int pxt_trigger_set(struct pxt_stream *stream, const struct posixtrace_trigger *arg)
{
	int err = 0;

	if (memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	if (!(stream->attr.classes & POSIXTRACE_CLASS_SCHED))
		return -EOPNOTSUPP;
	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
	} else {
		set(&stream->trigger, arg);
		if (arg->blocked || arg->runnable)
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
 * Return: 0; -EOPNOTSUPP if the stream does not have the class sched.
 */
int pxt_trigger_take(struct pxt_stream *stream, struct posixtrace_triggered *arg)
{
	struct pxt_trigger *trigger = &stream->trigger;
	unsigned long flags;

	if (!(stream->attr.classes & POSIXTRACE_CLASS_SCHED))
		return -EOPNOTSUPP;
	memset(arg, 0, sizeof(*arg));
	raw_spin_lock_irqsave(&trigger->lock, flags);
	if (trigger->count)
		*arg = trigger->first;
	arg->count = trigger->count;
	WRITE_ONCE(trigger->count, 0);
	raw_spin_unlock_irqrestore(&trigger->lock, flags);
	return 0;
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
	if (pxt_trigger_might(trigger, by->kind, by->duration)) {
		first = !trigger->count;
		if (first)
			trigger->first = *by;
		WRITE_ONCE(trigger->count, trigger->count + 1);
	}
	raw_spin_unlock(&trigger->lock);
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
