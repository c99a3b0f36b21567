// SPDX-License-Identifier: GPL-2.0
/*
 * Names of threads and processes: see event_names.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>

#include "event/event_names.h"
#include "event/source.h"

#define HOST_WIDTH	"32"	/* bytes of a host in a label */

static bool is_named(const struct event *event)
{
	return event->tid && event->source && source_has_names(event->source);
}

bool event_thread_name(const struct event *event, char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	return is_named(event) && source_thread_name(event->source, event, name);
}

/* Gets the last name that a thread of the event's process had before its ids were reused. */
static bool last_name(const struct event *event, pid_t tid, bool process,
		      char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	const uint64_t end = source_life_end(event->source, event, process);

	return source_name_at(event->source, event, tid, end, name);
}

bool event_last_name(const struct event *event, char name[POSIXTRACE_THREAD_NAME_SIZE])
{
	return is_named(event) && (last_name(event, event->tid, false, name) ||
				   source_thread_name(event->source, event, name));
}

size_t event_host_label(const struct event *event, char label[LABEL_SIZE])
{
	const struct source *source = event->source;
	unsigned int host = event->host;

	label[0] = '\0';
	if (!host && source)
		host = source_host_of(source, event->pid);
	return host ? (size_t)snprintf(label, LABEL_SIZE, "%." HOST_WIDTH "s:",
				       source_host_name(source, host)) : 0;
}

void event_label(const struct event *event, const char *name, char label[LABEL_SIZE])
{
	const size_t len = event_host_label(event, label);
	const int tid = source_plain_id(event->source, event->tid);

	if (name)
		snprintf(label + len, LABEL_SIZE - len, "%s-%d", name, tid);
	else
		snprintf(label + len, LABEL_SIZE - len, "%d", tid);
}

bool event_thread_label(const struct event *event, char label[LABEL_SIZE])
{
	char name[POSIXTRACE_THREAD_NAME_SIZE];
	size_t len;

	if (event_last_name(event, name)) {
		event_label(event, name, label);
		return true;
	}
	len = event_host_label(event, label);
	if (event->thread || event->user)
		snprintf(label + len, LABEL_SIZE - len, "thread %#" PRIx64, event->thread);
	else if (event_is_kernel(event) && event->tid)
		snprintf(label + len, LABEL_SIZE - len, "thread %d",
			 (int)source_plain_id(event->source, event->tid));
	else
		snprintf(label + len, LABEL_SIZE - len, "system events");
	return false;
}

/* Gets the command line of the event's process. Returns its size with null bytes; 0 if unknown. */
static size_t last_program(const struct event *event, char program[POSIXTRACE_PROGRAM_SIZE])
{
	const uint64_t end = source_life_end(event->source, event, true);
	size_t size;

	if (!source_get_program(event->source, event, end, program, &size))
		return 0;
	return size < POSIXTRACE_PROGRAM_SIZE ? size : POSIXTRACE_PROGRAM_SIZE;
}

size_t event_process_command(const struct event *event, char text[POSIXTRACE_PROGRAM_SIZE])
{
	size_t size = event->pid && is_named(event) ? last_program(event, text) : 0;

	for (size_t i = 0; i + 1 < size; i++) {
		if (!text[i])
			text[i] = ' ';
	}
	return size && !text[size - 1] ? size - 1 : size;
}

bool event_process_label(const struct event *event, char label[LABEL_SIZE])
{
	char program[POSIXTRACE_PROGRAM_SIZE], name[POSIXTRACE_THREAD_NAME_SIZE];
	const char *slash;

	if (!event->pid) {
		snprintf(label, LABEL_SIZE, "trace stream");
	} else if (is_named(event) && last_program(event, program)) {
		slash = strrchr(program, '/');
		snprintf(label, LABEL_SIZE, "%.*s", LABEL_SIZE - 1,
			 slash ? slash + 1 : program);
	} else if (is_named(event) && last_name(event, event->pid, true, name)) {
		/* No command line is known: the process has not called exec since tracing began. */
		snprintf(label, LABEL_SIZE, "%s", name);
	} else {
		snprintf(label, LABEL_SIZE, "process %d",
			 (int)source_plain_id(event->source, event->pid));
		return false;
	}
	return event->pid;
}
