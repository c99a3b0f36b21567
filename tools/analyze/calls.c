// SPDX-License-Identifier: GPL-2.0
/*
 * System calls of threads: see calls.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/calls.h"

struct open_call {
	struct call call;
	bool open;
	bool exiting;		/* the thread is exiting, and enters no further call */
	uint64_t exit_time;
};

struct calls {
	struct open_call **threads;	/* index: number of the thread; entries may be NULL */
	size_t max;
	size_t taken;			/* calls_take() has handled threads up to this one */
	struct call given;		/* copy of the call that was returned last */
};

int calls_new(size_t max, struct calls **calls)
{
	*calls = calloc(1, sizeof(**calls));
	if (!*calls)
		return -ENOMEM;
	(*calls)->max = max;
	(*calls)->threads = calloc(max + 1, sizeof(*(*calls)->threads));
	if ((*calls)->threads)
		return 0;
	free(*calls);
	*calls = NULL;
	return -ENOMEM;
}

static struct open_call *find(const struct calls *calls, uint32_t thread)
{
	return thread && thread <= calls->max ? calls->threads[thread] : NULL;
}

static const struct call *give(struct calls *calls, struct open_call *open, uint64_t end,
			       uint64_t lost)
{
	open->open = false;
	calls->given = open->call;
	calls->given.entry.data = calls->given.data;
	calls->given.end = end > open->call.begin ? end : open->call.begin;
	calls->given.lost = lost > open->call.lost ? lost - open->call.lost : 0;
	return &calls->given;
}

static void keep_entry(struct call *call, const struct event *event)
{
	call->entry = *event;
	call->entry.name = "syscall_entry";
	call->entry.data = call->data;
	if (event->len > CALL_DATA_MAX) {
		call->entry.len = CALL_DATA_MAX;
		call->entry.truncated = POSIX_TRACE_TRUNCATED_RECORD;
	}
	if (event->len)
		memcpy(call->data, event->data, call->entry.len);
}

static int enter(struct calls *calls, uint32_t thread, const struct event *event,
		 const struct kevent *kevent, uint64_t mark, const struct call **ended)
{
	struct open_call *open = find(calls, thread);

	if (!thread || thread > calls->max)
		return 0;
	if (open && open->open)
		*ended = give(calls, open, 0, event->lost);
	if (!open) {
		open = malloc(sizeof(*open));
		if (!open)
			return -ENOMEM;
		calls->threads[thread] = open;
	}
	*open = (struct open_call){
		.call = {
			.thread = thread,
			.pid = event->pid,
			.key = event_thread_key(event),
			.cpu = event->cpu,
			.begin = event->time,
			.compat = kevent->compat,
			.nr = kevent->nr,
			.lost = event->lost,
			.mark = mark,
		},
		.open = true,
	};
	memcpy(open->call.args, kevent->args, sizeof(open->call.args));
	kevent_call_name(kevent, open->call.name);
	keep_entry(&open->call, event);
	return 1;
}

static int leave(struct calls *calls, uint32_t thread, const struct event *event,
		 const struct kevent *kevent, const struct call **ended)
{
	struct open_call *open = find(calls, thread);

	if (!open || !open->open)
		return 0;
	if (!kevent_leaves(kevent, open->call.nr)) {
		*ended = give(calls, open, 0, event->lost);
		return 0;
	}
	open->call.finished = true;
	open->call.result = kevent->result;
	*ended = give(calls, open, event->time, event->lost);
	return 1;
}

int calls_event(struct calls *calls, uint32_t thread, const struct event *event,
		const struct kevent *kevent, uint64_t mark, const struct call **ended)
{
	struct open_call *open;

	*ended = NULL;
	switch (event->type) {
	case POSIXTRACE_SYSCALL_ENTRY:
		return enter(calls, thread, event, kevent, mark, ended);
	case POSIXTRACE_SYSCALL_EXIT:
		return leave(calls, thread, event, kevent, ended);
	}
	open = find(calls, thread);
	if (!open || !open->open)
		return 0;
	if (event->type == POSIXTRACE_EXIT) {
		open->exiting = true;
		open->exit_time = event->time;
	} else if (event->type == POSIXTRACE_SWITCH_OUT && kevent->reason == KEVENT_ENDED) {
		*ended = give(calls, open, event->time, event->lost);
	}
	return 0;
}

const struct call *calls_open(const struct calls *calls, uint32_t thread)
{
	struct open_call *open = find(calls, thread);

	return open && open->open ? &open->call : NULL;
}

const struct call *calls_take(struct calls *calls, uint64_t end, uint64_t lost)
{
	struct open_call *open;

	while (calls->taken < calls->max) {
		open = find(calls, ++calls->taken);
		if (!open || !open->open)
			continue;
		if (open->exiting)
			return give(calls, open, open->exit_time, lost);
		/* If events were lost since the entry, the exit may be among them. */
		return give(calls, open, lost > open->call.lost ? 0 : end, lost);
	}
	return NULL;
}

void calls_free(struct calls *calls)
{
	if (!calls)
		return;
	for (size_t i = 0; i <= calls->max; i++)
		free(calls->threads[i]);
	free(calls->threads);
	free(calls);
}
