// SPDX-License-Identifier: GPL-2.0
/*
 * Opens event types, records an event of each, and may execute itself. Its environment:
 *
 * IMAGE_NAMES		number of types; the event of type "PREFIX i" has the data i
 * IMAGE_PREFIX		prefix of the names
 * IMAGE_FIELDS		description of the types; without it, they have no description
 * IMAGE_AGAIN		how often it executes itself first; it records each time
 *
 * The exit status is 0 if each name got a separate type.
 */
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace.h>
#include <unistd.h>

static int open_type(const char *name, trace_event_id_t *id)
{
	const char *fields = getenv("IMAGE_FIELDS");

	return fields ? posixtrace_eventid_open(name, fields, id)
		      : posix_trace_eventid_open(name, id);
}

static int record(const char *prefix, int number)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	snprintf(name, sizeof(name), "%s %d", prefix, number);
	if (open_type(name, &id) || id == POSIX_TRACE_UNNAMED_USEREVENT)
		return 1;
	posix_trace_event(id, &number, sizeof(number));
	return 0;
}

static void again(char **argv, int times)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", times - 1);
	setenv("IMAGE_AGAIN", text, 1);
	execv("/proc/self/exe", argv);
	_exit(102);
}

int main(int argc, char **argv)
{
	int names = atoi(getenv("IMAGE_NAMES")), times = atoi(getenv("IMAGE_AGAIN"));

	(void)argc;
	for (int i = 0; i < names; i++) {
		if (record(getenv("IMAGE_PREFIX"), i))
			return 1;
	}
	if (times)
		again(argv, times);
	return 0;
}
