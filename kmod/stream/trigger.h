/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_TRIGGER_H
#define PXT_TRIGGER_H

#include <linux/atomic.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <linux/posixtrace.h>

struct file;
struct posixtrace_gate_condition;
struct pxt_conditions;
struct pxt_stream;

/**
 * struct pxt_trigger - conditions of a stream, and what met them
 * @lock: guards the next three; interrupts are off; scheduler locks and the lock of a CPU's
 *	recorder may be held; innermost
 * @threshold: by POSIXTRACE_TRIGGER_* - 1, ns; 0 for no condition. Also read without the lock, as a
 *	hint
 * @count: how often a condition was met since TRIGGERED; pollers read it without the lock
 * @first: the first of these, if @count is not 0; its member count is unused
 * @more: conditions on events that were met later; atomic, because any number of processes may say
 *	so at any rate, and must not delay the schedulers that wait for @lock
 * @wait: pollers
 */
struct pxt_trigger {
	raw_spinlock_t lock;
	u64 threshold[POSIXTRACE_TRIGGER_RUNNABLE];
	u64 count;
	struct posixtrace_triggered first;
	atomic64_t more;
	wait_queue_head_t wait;
};

/* Might a thread meet a condition of a stream after so many ns? Only a hint. */
static inline bool pxt_trigger_might(const struct pxt_trigger *trigger, u32 kind, u64 duration)
{
	u64 threshold = READ_ONCE(trigger->threshold[kind - 1]);

	return threshold && duration > threshold;
}

void pxt_trigger_init(struct pxt_trigger *trigger);
int pxt_trigger_set(struct pxt_stream *stream, const struct posixtrace_trigger *arg,
		    struct pxt_conditions *conditions);
int pxt_trigger_take(struct pxt_stream *stream, struct posixtrace_triggered *arg);
bool pxt_trigger_note(struct pxt_trigger *trigger, const struct posixtrace_triggered *by);
bool pxt_trigger_note_event(struct pxt_trigger *trigger, const struct posixtrace_triggered *by,
			    const struct posixtrace_gate_condition *condition,
			    const struct posixtrace_met *arg);
void pxt_trigger_wake(struct pxt_trigger *trigger);
__poll_t pxt_trigger_poll(struct pxt_trigger *trigger, struct file *file, poll_table *table);

#endif /* PXT_TRIGGER_H */
