// SPDX-License-Identifier: GPL-2.0
/*
 * The commands that traced processes use to record: EVENT, NEXT, WAKE.
 */
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "ring/clock.h"
#include "ring/subbuf.h"
#include "ring/wake.h"
#include "stream/record.h"
#include "stream/state.h"
#include "stream/stream.h"

/* The bits of slots in a word of the gate. */
#define SLOTS	(POSIXTRACE_GATE_CONDITION - 1)

/* Data up to this size is copied to the stack. */
#define SMALL_DATA	256

/*
 * Maximum number of tries to find room. Only a process that keeps changing its heads needs more,
 * and it must not keep the kernel busy here.
 */
#define TRIES_MAX	16

/**
 * struct event - an event being recorded into the streams
 * @arg: copy of the argument of EVENT
 * @address_high: as in the gate of the process
 * @id: the event type, checked as an index, also against speculation
 * @data: a copy of the data
 * @copied: number of bytes in @data; at most the largest max-data-size of the streams
 * @time: timestamp of the last record written; 0 if there is none
 */
struct event {
	const struct posixtrace_event *arg;
	u32 address_high;
	u32 id;
	const void *data;
	u64 copied;
	u64 time;
};

/* The largest max-data-size of the streams in these slots. */
static u64 largest_data(struct pxt_target *target, u32 mask)
{
	struct pxt_stream *stream;
	u64 size = 0;
	u32 slot;

	rcu_read_lock();
	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = mask & BIT(slot) ? pxt_stream_in(target, slot) : NULL;
		if (stream)
			size = max(size, stream->attr.max_data_size);
	}
	rcu_read_unlock();
	return size;
}

static void count_lost(const struct pxt_pool *pool)
{
	u64 *lost = &pool->heads[smp_processor_id()].lost;

	/* The target may write any number there, so the kernel only reports it. */
	WRITE_ONCE(*lost, READ_ONCE(*lost) + 1);
}

/* The result of one attempt to record. */
enum outcome {
	OUTCOME_DONE,		/* recorded, or lost, or not wanted */
	OUTCOME_WAKE,		/* recorded, and a reader is asleep */
	OUTCOME_NO_ROOM,
};

/*
 * Check the gate and the slot, and commit, with interrupts off throughout. A change of gate or slot
 * is followed by pxt_gate_synchronize(), which interrupts the CPUs where writers run, and so waits
 * for the end of this section. After that, no writer uses the old state.
 */
static enum outcome try_record(struct pxt_target *target, u32 slot, struct pxt_stream *stream,
			       struct pxt_entry *entry, struct event *event, bool last)
{
	struct pxt_pool *pool = &stream->pool;
	enum outcome outcome = OUTCOME_DONE;
	struct pxt_reservation res;
	unsigned long flags;
	u32 id = POSIXTRACE_RECORD_ID(entry->record.type);

	local_irq_save(flags);
	/*
	 * The scheduler has marked this thread as running; now it checks gate and slot. Pairs with
	 * the barrier in pxt_synchronize_look(): either the synchronization waits for this section,
	 * or this section sees the change.
	 */
	smp_mb();
	if (!(READ_ONCE(target->gate->enable[id]) & BIT(slot)) ||
	    rcu_access_pointer(target->slot[slot]) != &stream->link) {
		/* The stream no longer wants the event. */
	} else if (READ_ONCE(pool->full)) {
		count_lost(pool);
	} else {
		pxt_entry_set_time(entry, pxt_clock_now());
		if (pxt_subbuf_reserve(pool, smp_processor_id(), entry, &res)) {
			pxt_subbuf_commit(&res, entry, event->data);
			event->time = entry->writer.time;
			if (READ_ONCE(pool->wake.need_wakeup))
				outcome = OUTCOME_WAKE;
		} else if (last) {
			count_lost(pool);
		} else {
			outcome = OUTCOME_NO_ROOM;
		}
	}
	local_irq_restore(flags);
	return outcome;
}

/* Record into the stream of one slot. The caller holds a reference. */
static void record_into(struct pxt_target *target, u32 slot, struct pxt_stream *stream,
			struct event *event)
{
	const struct posixtrace_event *arg = event->arg;
	u64 len = min(arg->data_len, stream->attr.max_data_size);
	bool truncated = len < arg->data_len || arg->flags & POSIXTRACE_EVENT_TRUNCATED;
	u32 flags = truncated ? POSIXTRACE_RECORD_TRUNCATED : 0;
	struct pxt_entry entry = {
		.writer = {
			.address_high = event->address_high,
			.pid = task_tgid_nr_ns(current, stream->ns),
			.tid = task_pid_nr_ns(current, stream->ns),
			.thread_id = arg->thread_id,
		},
		.record = {
			.data_len = len,
			.type = POSIXTRACE_RECORD_TYPE(event->id, flags),
			.prog_address = arg->prog_address,
		},
	};
	enum outcome outcome;
	int tries, err;

	/* The stream is newer than the copy of the data, and keeps more than was copied. */
	if (len > event->copied)
		return;
	pxt_entry_pack(&entry);
	for (tries = 1; ; tries++) {
		outcome = try_record(target, slot, stream, &entry, event, tries == TRIES_MAX);
		if (outcome != OUTCOME_NO_ROOM)
			break;
		err = pxt_state_next(stream, POSIXTRACE_RECORD_SIZE(len));
		if (err && err != -EAGAIN)
			break;
		cond_resched();
	}
	if (outcome == OUTCOME_WAKE)
		pxt_wake(&stream->pool);
}

static void record_all(struct pxt_target *target, u32 mask, struct event *event)
{
	struct pxt_stream *stream;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		if (!(mask & BIT(slot)))
			continue;
		stream = pxt_stream_get_in(target, slot);
		if (!stream)
			continue;
		record_into(target, slot, stream, event);
		pxt_stream_put(stream);
	}
}

/* Without memory to copy the data, count the event as lost in each stream that wants it. */
static void lose_all(struct pxt_target *target, u32 mask, u32 id)
{
	struct pxt_stream *stream;
	unsigned long flags;
	u32 slot;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = mask & BIT(slot) ? pxt_stream_get_in(target, slot) : NULL;
		if (!stream)
			continue;
		/* As in try_record(), the synchronization waits for this section. */
		local_irq_save(flags);
		/* As in try_record(). */
		smp_mb();
		if (READ_ONCE(target->gate->enable[id]) & BIT(slot) &&
		    rcu_access_pointer(target->slot[slot]) == &stream->link)
			count_lost(&stream->pool);
		local_irq_restore(flags);
		pxt_stream_put(stream);
	}
}

/**
 * pxt_record_event() - EVENT: record an event into all streams that want it
 * @target: target of the calling process; NULL if it is not a target
 * @arg: private copy of the argument; the time is stored there, if it is requested
 *
 * POSIX: posix_trace_event(), for processes that cannot write the sub-buffers themselves.
 * Context: may sleep.
 *
 * Return: 0, also if no stream wants it; -EFAULT if the data cannot be read; -ENOMEM for data above
 * 256 bytes, with the event counted as lost by each stream that wants it; -EINVAL if it is not a
 * user event, or the time of more than one record is requested.
 */
int pxt_record_event(struct pxt_target *target, struct posixtrace_event *arg)
{
	struct event event = { .arg = arg };
	const struct posixtrace_gate *gate;
	u8 small[SMALL_DATA];
	void *large = NULL;
	int err = 0;
	u32 mask;

	if (arg->flags & ~(POSIXTRACE_EVENT_TRUNCATED | POSIXTRACE_EVENT_TIME) || arg->reserved ||
	    (arg->flags & POSIXTRACE_EVENT_TIME && !is_power_of_2(~arg->skip & SLOTS)) ||
	    arg->event_id < POSIXTRACE_ID_UNNAMED || arg->event_id >= POSIXTRACE_ID_MAX)
		return -EINVAL;
	arg->time = 0;
	event.id = array_index_nospec(arg->event_id, POSIXTRACE_ID_MAX);
	/* Pairs with the release in pxt_gate_make(). */
	gate = target ? smp_load_acquire(&target->gate) : NULL;
	mask = gate ? READ_ONCE(gate->enable[event.id]) & SLOTS & ~arg->skip : 0;
	if (!mask)
		return 0;
	event.address_high = READ_ONCE(gate->address_high);

	event.data = small;
	event.copied = min(arg->data_len, largest_data(target, mask));
	if (event.copied > sizeof(small)) {
		/*
		 * Charge the memory cgroup of the caller, because the caller may keep the memory
		 * allocated for as long as it likes: by a page fault that prolongs the copy.
		 */
		large = kvmalloc(event.copied, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!large) {
			lose_all(target, mask, event.id);
			return -ENOMEM;
		}
		event.data = large;
	}
	if (event.copied && copy_from_user((void *)event.data, u64_to_user_ptr(arg->data),
					   event.copied))
		err = -EFAULT;
	else
		record_all(target, mask, &event);
	arg->time = event.time;
	kvfree(large);
	return err;
}

/**
 * pxt_record_next() - NEXT: get a new sub-buffer when a record did not fit
 * @target: target of the calling process; NULL if it is not a target
 * @arg: private copy of the argument
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if other CPUs hold all sub-buffers, if none is free and the stream was stopped
 * during the call, or if it is being cleared; -EINVAL; -ENOSPC if the stream is full, with the
 * event counted as lost; -ESTALE if that stream is no longer in that slot.
 */
int pxt_record_next(struct pxt_target *target, const struct posixtrace_next *arg)
{
	struct pxt_stream *stream = NULL;
	u32 slot;
	int err;

	if (arg->reserved || arg->slot >= POSIXTRACE_SLOTS_MAX ||
	    arg->size < POSIXTRACE_RECORD_SIZE(0) ||
	    arg->size > POSIXTRACE_SUBBUF_SIZE_MAX || arg->size % POSIXTRACE_RECORD_ALIGN)
		return -EINVAL;
	slot = array_index_nospec(arg->slot, POSIXTRACE_SLOTS_MAX);
	if (target)
		stream = pxt_stream_get_in(target, slot);
	if (!stream)
		return -ESTALE;
	if (stream->number != arg->stream)
		err = -ESTALE;
	else if (arg->size > stream->pool.subbuf_size)
		err = -EINVAL;
	else
		err = pxt_state_next(stream, arg->size);
	pxt_stream_put(stream);
	return err == -ESHUTDOWN ? -ESTALE : err;
}

/**
 * pxt_record_wake() - WAKE: wake the readers of streams that the process has recorded into
 * @target: target of the calling process; NULL if it is not a target
 * @mask: slots
 */
void pxt_record_wake(struct pxt_target *target, u32 mask)
{
	struct pxt_stream *stream;
	u32 slot;

	rcu_read_lock();
	for (slot = 0; target && slot < POSIXTRACE_SLOTS_MAX; slot++) {
		stream = mask & BIT(slot) ? pxt_stream_in(target, slot) : NULL;
		if (stream)
			pxt_wake(&stream->pool);
	}
	rcu_read_unlock();
}
