// SPDX-License-Identifier: GPL-2.0
/*
 * A program that maps TRACE_USER_EVENT_MAX - 1 names that begin with its first argument. It then
 * records an event of the first type with the data 1, and an event of the last type with the data
 * 2.
 */
#include <stdio.h>
#include <trace.h>

int main(int argc, char **argv)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int number = 0;

	for (int i = 1; argc > 1 && i < TRACE_USER_EVENT_MAX; i++) {
		snprintf(name, sizeof(name), "%s %d", argv[1], i);
		if (posix_trace_eventid_open(name, &id) || id == POSIX_TRACE_UNNAMED_USEREVENT)
			return 1;
		if (i != 1 && i != TRACE_USER_EVENT_MAX - 1)
			continue;
		number++;
		posix_trace_event(id, &number, sizeof(number));
	}
	return 0;
}
