// SPDX-License-Identifier: GPL-2.0
/*
 * Who recorded single events: see struct event in source.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>

#include "source.h"

/* Later than all events. */
static const struct timespec at_the_end = { .tv_sec = INT64_MAX / NSEC_PER_SEC };

static bool is_named(const struct event *event)
{
	return event->tid && event->source && source_has_names(event->source);
}

bool event_thread_name(const struct event *event, char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	return is_named(event) && source_thread_name(event->source, event, name);
}

bool event_thread_label(const struct event *event, char label[LABEL_SIZE])
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];

	if (is_named(event) && !posixtrace_get_thread_name(source_trid(event->source), event->pid,
							   event->tid, &at_the_end, name)) {
		snprintf(label, LABEL_SIZE, "%s-%d", name, (int)event->tid);
		return true;
	}
	if (event->thread || event->user)
		snprintf(label, LABEL_SIZE, "thread %#" PRIx64, event->thread);
	else if (event_is_kernel(event) && event->tid)
		snprintf(label, LABEL_SIZE, "thread %d", (int)event->tid);
	else
		snprintf(label, LABEL_SIZE, "system events");
	return false;
}

void event_process_label(const struct event *event, char label[LABEL_SIZE])
{
	char program[POSIXTRACE_PROGRAM_SIZE];
	const char *slash;

	if (!event->pid) {
		snprintf(label, LABEL_SIZE, "trace stream");
	} else if (is_named(event) && !posixtrace_get_program(source_trid(event->source),
							      event->pid, &at_the_end, program,
							      sizeof(program), NULL)) {
		slash = strrchr(program, '/');
		snprintf(label, LABEL_SIZE, "%.*s", LABEL_SIZE - 1,
			 slash ? slash + 1 : program);
	} else {
		snprintf(label, LABEL_SIZE, "process %d", (int)event->pid);
	}
}
