// SPDX-License-Identifier: GPL-2.0
/*
 * Selects events by durations: see durations.h. pairs.c and calls.c keep each begin or entry until
 * its end comes. Limits on their number bound the memory.
 */
#include <errno.h>
#include <linux/posixtrace.h>
#include <trace.h>

#include "analyze/calls.h"
#include "analyze/durations.h"
#include "analyze/pairs.h"
#include "util/message.h"
#include "util/threads.h"

#define OPEN_MAX	(1U << 16)	/* open begins of all threads */
#define DEPTH_MAX	1024		/* open begins of a thread */
#define THREADS_MAX	(1U << 16)	/* threads with system calls */

struct durations {
	struct selection *selection;
	struct pairs *pairs;
	struct calls *calls;
	struct threads *threads;
	uint64_t stretch;	/* incremented by a gap, damage or a stop */
};

static int judge(struct durations *durations, const struct event *event)
{
	return select_judge(durations->selection, event, NULL);
}

/* Decides if the two events of a scope are selected. */
static int judge_scope(struct durations *durations, const char *name, const struct event *begin,
		       const struct event *end)
{
	struct filter_scope scope = {
		.name = name,
		.duration = end->time > begin->time ? end->time - begin->time : 0,
		.other = end,
	};
	int err = select_judge(durations->selection, begin, &scope);

	scope.other = begin;
	return err ? err : select_judge(durations->selection, end, &scope);
}

static int judge_user(struct durations *durations, const struct event *event)
{
	struct pairs_result result;
	int err = pairs_event(durations->pairs, event, &result);

	if (err)
		return err;
	if (result.role == PAIRS_BEGIN)
		return result.forgotten ? judge(durations, &result.forgotten->event) : 0;
	if (result.begin && !result.lost)
		return judge_scope(durations, result.begin->stem, &result.begin->event, event);
	if (result.begin)
		err = judge(durations, &result.begin->event);
	return err ? err : judge(durations, event);
}

/*
 * Decides if the events of a system call are selected. @call ended at @event or in an unknown way.
 */
static int judge_call(struct durations *durations, const struct call *call,
		      const struct event *event)
{
	int err;

	if (call->finished && !call->lost && call->mark == durations->stretch)
		return judge_scope(durations, call->name, &call->entry, event);
	err = judge(durations, &call->entry);
	return err || !call->finished ? err : judge(durations, event);
}

static int judge_kernel(struct durations *durations, const struct event *event)
{
	const struct call *call = NULL;
	struct kevent kevent;
	uint32_t thread = 0;
	int ret = 0;

	if (kevent_read(event, &kevent))
		ret = threads_find(durations->threads, event->pid, event_thread_key(event),
				   &thread);
	if (ret >= 0 && thread)
		ret = calls_event(durations->calls, thread, event, &kevent, durations->stretch,
				  &call);
	if (ret < 0)
		return ret;
	if (call) {
		ret = judge_call(durations, call, event);
		if (ret)
			return ret;
		/*
		 * judge_call() has decided about this exit. An entry is decided about when its exit
		 * comes.
		 */
		if (call->finished)
			return 0;
	}
	if (thread && event->type == POSIXTRACE_SYSCALL_ENTRY)
		return 0;
	return judge(durations, event);
}

/* Begins a new stretch if events may be missing before this one. */
static int note_gap(struct durations *durations, const struct event *event)
{
	const struct pairs_begin *begin;
	int err = 0;

	if (event->partial)
		return 0;
	switch (event->type) {
	case POSIX_TRACE_RESUME:
		/*
		 * Keep open begins: call.lost and pairs_result.lost show if events between both
		 * ends were lost.
		 */
		durations->stretch++;
		break;
	case POSIX_TRACE_START:
	case POSIX_TRACE_ERROR:
		durations->stretch++;
		while (!err && (begin = pairs_take(durations->pairs)))
			err = judge(durations, &begin->event);
		break;
	}
	return err;
}

static int judge_event(struct durations *durations, const struct event *event)
{
	int err;

	if (event->user)
		return judge_user(durations, event);
	if (event_is_kernel(event))
		return judge_kernel(durations, event);
	err = note_gap(durations, event);
	return err ? err : judge(durations, event);
}

/* Decides about begins and entries that have no end in the log. */
static int judge_rest(struct durations *durations)
{
	const struct pairs_begin *begin;
	const struct call *call;
	int err = 0;

	while (!err && (begin = pairs_take(durations->pairs)))
		err = judge(durations, &begin->event);
	while (!err && (call = calls_take(durations->calls, 0, 0)))
		err = judge(durations, &call->entry);
	return err;
}

static int judge_all(struct durations *durations, struct source *source, int (*interrupted)(void))
{
	int err = 0, ret = 0;
	struct event event;

	while (!err && (ret = source_next(source, &event)) > 0) {
		select_first(durations->selection, &event);
		if (interrupted)
			err = interrupted();
		if (!err)
			err = judge_event(durations, &event);
	}
	if (!err)
		err = ret;
	if (!err)
		err = judge_rest(durations);
	return err ? err : source_rewind(source);
}

int durations_select(struct selection *selection, struct source *source, int (*interrupted)(void))
{
	struct durations durations = { .selection = selection };
	int err;

	if (!select_has_durations(selection))
		return 0;
	err = pairs_new(OPEN_MAX, DEPTH_MAX, &durations.pairs);
	if (!err)
		err = calls_new(THREADS_MAX, &durations.calls);
	if (!err)
		err = threads_new(THREADS_MAX, &durations.threads);
	if (!err)
		err = judge_all(&durations, source, interrupted);
	pairs_free(durations.pairs);
	calls_free(durations.calls);
	threads_free(durations.threads);
	if (err == -EFBIG)
		tell("--filter: too many events are selected by durations: use --from and --to");
	else if (err && !(interrupted && interrupted()))
		complain("--filter", -err);
	return err;
}
