// SPDX-License-Identifier: GPL-2.0
/*
 * System calls of threads: see calls.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "event_fields.h"

struct open_call {
	struct call call;
	bool open;
	bool exiting;		/* the thread has begun to exit, and enters no further call */
	uint64_t exit_time;
};

struct calls {
	struct open_call **threads;	/* by number; NULL: none yet */
	size_t max;
	size_t taken;			/* calls_take() is done with the threads before */
	struct call given;		/* returned by the last call */
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
	calls->given.end = end > open->call.begin ? end : open->call.begin;
	calls->given.lost = lost > open->call.lost ? lost - open->call.lost : 0;
	return &calls->given;
}

static void read_args(struct call *call, const struct posixtrace_value *array)
{
	size_t count = array->number < CALL_ARGS ? array->number : CALL_ARGS;

	if (array->what != POSIXTRACE_BEGIN || array->field->type != POSIXTRACE_FIELD_ARRAY ||
	    array->field->members->size != sizeof(call->args[0]))
		return;
	memcpy(call->args, array->data, count * sizeof(call->args[0]));
	call->nr_args = count;
}

static int enter(struct calls *calls, uint32_t thread, const struct event *event, uint64_t mark,
		 const struct call **ended)
{
	struct event_field fields[] = {
		{ .name = "nr" }, { .name = "args" }, { .name = "compat" }, { .name = "name" },
	};
	struct open_call *open = find(calls, thread);
	size_t len;

	if (!thread || thread > calls->max || !event_fields(event, fields, 4) ||
	    fields[3].value.what != POSIXTRACE_VALUE || !value_is_text(&fields[3].value))
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
			.self = event->thread,
			.cpu = event->cpu,
			.begin = event->time,
			.compat = fields[2].value.number,
			.nr = (int64_t)fields[0].value.number,
			.lost = event->lost,
			.mark = mark,
		},
		.open = true,
	};
	read_args(&open->call, &fields[1].value);
	len = fields[3].value.text_len;
	if (len >= CALL_NAME_SIZE)
		len = CALL_NAME_SIZE - 1;
	memcpy(open->call.name, fields[3].value.data, len);
	if (!open->call.name[0])
		snprintf(open->call.name, CALL_NAME_SIZE, "system call %d", (int)open->call.nr);
	return 1;
}

static int leave(struct calls *calls, uint32_t thread, const struct event *event,
		 const struct call **ended)
{
	struct event_field fields[] = { { .name = "nr" }, { .name = "result" } };
	struct open_call *open = find(calls, thread);
	int64_t nr;

	if (!open || !open->open || !event_fields(event, fields, 2))
		return 0;
	/* The return from a signal handler forgets the number. */
	nr = (int64_t)fields[0].value.number;
	if (nr != open->call.nr && nr != -1) {
		*ended = give(calls, open, 0, event->lost);
		return 0;
	}
	open->call.finished = true;
	open->call.result = (int64_t)fields[1].value.number;
	*ended = give(calls, open, event->time, event->lost);
	return 1;
}

int calls_event(struct calls *calls, uint32_t thread, const struct event *event, uint64_t mark,
		const struct call **ended)
{
	struct event_field reason = { .name = "reason" };
	struct open_call *open;

	*ended = NULL;
	switch (event->type) {
	case POSIXTRACE_SYSCALL_ENTRY:
		return enter(calls, thread, event, mark, ended);
	case POSIXTRACE_SYSCALL_EXIT:
		return leave(calls, thread, event, ended);
	}
	open = find(calls, thread);
	if (!open || !open->open)
		return 0;
	if (event->type == POSIXTRACE_EXIT) {
		open->exiting = true;
		open->exit_time = event->time;
	} else if (event->type == POSIXTRACE_SWITCH_OUT && event_fields(event, &reason, 1) &&
		   event_field_is(&reason, "ended")) {
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
		/* If events were lost, its exit may be among them. */
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
