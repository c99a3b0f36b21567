// SPDX-License-Identifier: MIT
/*
 * Lists the event types of a stream.
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

static int print_types(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int unavailable, types = 0;

	for (;;) {
		check(posix_trace_eventtypelist_getnext_id(trid, &type, &unavailable),
		      "eventtypelist_getnext_id");
		if (unavailable)
			return types;
		check(posix_trace_eventid_get_name(trid, type, name), "eventid_get_name");
		puts(name);
		types++;
	}
}

int main(void)
{
	trace_event_id_t type;
	trace_id_t trid;

	check(posix_trace_create(0, NULL, &trid), "create");
	check(posix_trace_eventid_open("list:one", &type), "eventid_open");
	check(posix_trace_eventid_open("list:two", &type), "eventid_open");
	printf("%d types\n", print_types(trid));

	/* A type that was defined after the end was reached comes last. */
	check(posix_trace_eventid_open("list:three", &type), "eventid_open");
	printf("%d more\n", print_types(trid));

	check(posix_trace_eventtypelist_rewind(trid), "eventtypelist_rewind");
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
