// SPDX-License-Identifier: GPL-2.0
/*
 * The filter of a stream: event types that are not recorded.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "ring/clock.h"
#include "stream/filter.h"
#include "stream/state.h"
#include "stream/sysevent.h"

#define WORDS	(POSIXTRACE_ID_MAX / 64)

/*
 * The filters before and after the change, and the one in force during the change; @known is the
 * number of event types before the change.
 */
struct change {
	u32 known;
	struct posixtrace_event_set sets[2];
	struct posixtrace_event_set both;
};

static void compute(struct change *change, struct pxt_link *link,
		    const struct posixtrace_filter *arg)
{
	const struct posixtrace_event_set *old = &change->sets[0];
	u64 word, set;
	int i;

	change->known = pxt_gate_get_filter(link, &change->sets[0]);
	for (i = 0; i < WORDS; i++) {
		word = old->bits[i];
		set = arg->set.bits[i];
		if (arg->how == POSIXTRACE_FILTER_ADD)
			word |= set;
		else if (arg->how == POSIXTRACE_FILTER_SUB)
			word &= ~set;
		else
			word = set;
		change->sets[1].bits[i] = word;
		change->both.bits[i] = word | old->bits[i];
	}
}

/*
 * Events before FILTER in the stream have passed the old filter, events after it the new one. While
 * FILTER is recorded, an event must therefore pass both filters.
 */
static int change_locked(struct pxt_stream *stream, const struct change *change,
			 const struct posixtrace_origin *origin)
{
	struct pxt_caller caller = pxt_sysevent_caller(stream, origin);
	bool record = stream->running;
	int err;

	lockdep_assert_held(&stream->lock);
	if (record) {
		err = pxt_sysevent_prepare(stream, sizeof(change->sets));
		if (err == -ENOSPC) {
			/* No room for FILTER: the stream is full. */
			pxt_state_become_full(stream, true);
			record = false;
		} else if (err) {
			return err;
		}
	}
	pxt_gate_set_filter(&stream->link, &change->both, change->known);
	if (stream->running || stream->full)
		pxt_gate_synchronize(&stream->link);
	if (record) {
		pxt_clock_pass(pxt_sysevent_filter(stream, &caller, change->sets));
		/*
		 * A writer may have read the clock before it checks the gate. The synchronization
		 * restarts such a writer, so that events that pass from now on are younger than
		 * FILTER.
		 */
		pxt_gate_synchronize(&stream->link);
	}
	pxt_gate_set_filter(&stream->link, &change->sets[1], change->known);
	WRITE_ONCE(stream->pool.ctrl->system_filter, change->sets[1].bits[0]);
	return 0;
}

/**
 * pxt_filter_set() - SET_FILTER
 * @stream: not locked
 * @arg: private copy of the argument
 *
 * POSIX: posix_trace_set_filter(). On return, event types in the filter are no longer recorded. A
 * running stream records FILTER unless the old or the new filter contains it. Context: may sleep.
 *
 * Return: 0; -EINVAL; -ENOMEM; -ESHUTDOWN.
 */
int pxt_filter_set(struct pxt_stream *stream, const struct posixtrace_filter *arg)
{
	struct change *change;
	int err;

	if (arg->how > POSIXTRACE_FILTER_SUB || arg->reserved ||
	    memchr_inv(arg->origin.reserved, 0, sizeof(arg->origin.reserved)))
		return -EINVAL;
	change = kmalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return -ENOMEM;
	mutex_lock(&stream->lock);
	err = -ESHUTDOWN;
	if (!stream->dead) {
		compute(change, &stream->link, arg);
		err = change_locked(stream, change, &arg->origin);
	}
	mutex_unlock(&stream->lock);
	kfree(change);
	return err;
}

/**
 * pxt_filter_get() - GET_FILTER
 * @stream: not locked
 * @set: result
 *
 * POSIX: posix_trace_get_filter(). Context: may sleep.
 *
 * Return: 0; -ESHUTDOWN.
 */
int pxt_filter_get(struct pxt_stream *stream, struct posixtrace_event_set *set)
{
	int err = 0;

	mutex_lock(&stream->lock);
	if (stream->dead)
		err = -ESHUTDOWN;
	else
		pxt_gate_get_filter(&stream->link, set);
	mutex_unlock(&stream->lock);
	return err;
}
