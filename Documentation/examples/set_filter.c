// SPDX-License-Identifier: MIT
/*
 * Filters noise out of a stream, and later admits it again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "posix_trace_%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void print_events(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_event_info info;
	size_t len;
	int none;

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &none),
		      "trygetnext_event");
		if (none)
			return;
		check(posix_trace_eventid_get_name(trid, info.posix_event_id, name),
		      "eventid_get_name");
		puts(name);
	}
}

int main(void)
{
	trace_event_id_t noise, work;
	trace_event_set_t set;
	trace_id_t trid;
	int filtered;

	check(posix_trace_eventid_open("filter:noise", &noise), "eventid_open");
	check(posix_trace_eventid_open("filter:work", &work), "eventid_open");
	check(posix_trace_create(0, NULL, &trid), "create");

	check(posix_trace_eventset_empty(&set), "eventset_empty");
	check(posix_trace_eventset_add(noise, &set), "eventset_add");
	check(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), "set_filter");
	check(posix_trace_start(trid), "start");
	posix_trace_event(noise, NULL, 0);
	posix_trace_event(work, NULL, 0);

	/* The stream is running, so it records the change as an event. */
	check(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), "set_filter");
	posix_trace_event(noise, NULL, 0);
	check(posix_trace_stop(trid), "stop");
	print_events(trid);

	check(posix_trace_get_filter(trid, &set), "get_filter");
	check(posix_trace_eventset_ismember(noise, &set, &filtered), "eventset_ismember");
	puts(filtered ? "noise is filtered out" : "noise is recorded");
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
