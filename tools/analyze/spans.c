// SPDX-License-Identifier: GPL-2.0
/*
 * Spans of time from kernel events: see spans.h.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <trace.h>

#include "analyze/spans.h"

struct spans {
	struct intervals *states;
	struct calls *calls;
	const struct spans_ops *ops;
	void *to;
	uint64_t first_time;
	uint64_t last_time;	/* largest time so far */
	uint64_t lost;
	bool started;
	struct snapshot_walk walk;	/* position in the states at the start */
};

int spans_new(size_t max, unsigned int classes, const struct spans_ops *ops, void *to,
	      struct spans **spans)
{
	int err;

	*spans = calloc(1, sizeof(**spans));
	if (!*spans)
		return -ENOMEM;
	(*spans)->ops = ops;
	(*spans)->to = to;
	err = calls_new(max, &(*spans)->calls);
	if (!err)
		err = intervals_new(max, classes & POSIXTRACE_CLASS_SCHED, ops->put_state, to,
				    &(*spans)->states);
	if (err) {
		spans_free(*spans);
		*spans = NULL;
	}
	return err;
}

/* Tells intervals.c after which time events may be missing. */
static int note_losses(struct spans *spans, const struct event *event, bool lost)
{
	if (event->partial && !lost)
		return intervals_stopped(spans->states, event);
	/*
	 * After OVERFLOW and STOP, events may be missing. For any other loss, events may be missing
	 * since the previous event.
	 */
	if (event->type == POSIX_TRACE_OVERFLOW || event->type == POSIX_TRACE_STOP)
		return intervals_lost(spans->states, event->time);
	return lost ? intervals_lost(spans->states, spans->last_time) : 0;
}

static int put_irq(struct spans *spans, uint32_t thread, const struct event *event,
		   const struct kevent *kevent)
{
	char room[KEVENT_CALL_NAME];
	struct kevent_text name = kevent_irq_name(kevent, room);
	struct irq irq = {
		.thread = thread,
		.pid = event->pid,
		.cpu = event->cpu,
		.begin = spans->first_time,
		.end = event->time,
		.kind = kevent_irq_kind(kevent),
		.number = (uint64_t)kevent->number,
		.nested = kevent->nested,
		.name = name.at,
		.name_len = name.len,
	};
	uint64_t duration = (uint64_t)kevent->duration;
	int err;

	if (event->time < spans->first_time)
		return 0;
	if (duration < event->time - spans->first_time)
		irq.begin = event->time - duration;
	err = spans->ops->put_irq(spans->to, &irq);
	return err ? err : 1;
}

static int put_spans(struct spans *spans, uint32_t thread, const struct event *event, uint64_t mark)
{
	const struct call *call = calls_open(spans->calls, thread);
	struct kevent kevent;
	bool is_kernel = kevent_read(event, &kevent);
	int ret, told;

	/* Must precede calls_event(), which ends the open call of a thread that ends. */
	told = intervals_event(spans->states, thread, event, is_kernel ? &kevent : NULL, call);
	if (told < 0 || !is_kernel || !thread)
		return told;
	ret = calls_event(spans->calls, thread, event, &kevent, mark, &call);
	if (ret < 0)
		return ret;
	told |= ret;
	ret = call ? spans->ops->put_call(spans->to, call) : 0;
	if (!ret && event->type == POSIXTRACE_IRQ)
		ret = put_irq(spans, thread, event, &kevent);
	return ret < 0 ? ret : told | ret;
}

void spans_start(struct spans *spans, const struct snapshot *snapshot)
{
	snapshot_begin(&spans->walk, snapshot);
}

/* Passes the states at the start of the log that are older than @event to intervals.c. */
static int use_states(struct spans *spans, const struct event *event)
{
	const struct posixtrace_thread_state *state;
	struct event at;
	uint32_t thread;
	int err = 0;

	while (!err && (state = snapshot_next(&spans->walk, event->time))) {
		err = snapshot_event(event->source, state, &at);
		if (!err)
			err = spans->ops->find_thread(spans->to, &at, &thread);
		if (!err)
			err = intervals_state(spans->states, thread, &at, state,
					      spans->walk.complete_from);
		err = err < 0 ? err : 0;
	}
	return err;
}

int spans_event(struct spans *spans, uint32_t thread, const struct event *event, bool lost,
		uint64_t mark)
{
	int ret;

	ret = use_states(spans, event);
	snapshot_see(&spans->walk, event, lost);
	if (!ret)
		ret = note_losses(spans, event, lost);
	if (!spans->started)
		spans->first_time = event->time;
	if (!spans->started || event->time > spans->last_time)
		spans->last_time = event->time;
	spans->started = true;
	if (!ret)
		ret = put_spans(spans, thread, event, mark);
	spans->lost = event->lost;
	return ret;
}

int spans_end(struct spans *spans)
{
	const struct call *call;
	struct call ended;
	uint64_t since;
	int err = intervals_end(spans->states, spans->last_time);

	while (!err && (call = calls_take(spans->calls, spans->last_time, spans->lost))) {
		ended = *call;
		/* The ids of the thread were reused, so the end of the call is unknown. */
		if (intervals_dropped(spans->states, call->thread, &since))
			ended.end = ended.begin;
		err = spans->ops->put_call(spans->to, &ended);
	}
	return err;
}

void spans_free(struct spans *spans)
{
	if (!spans)
		return;
	calls_free(spans->calls);
	intervals_free(spans->states);
	free(spans);
}
