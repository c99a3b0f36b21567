// SPDX-License-Identifier: MIT
/*
 * Compares, names and opens event types as the controller of a stream.
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

static void print_name(trace_id_t trid, trace_event_id_t type)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	check(posix_trace_eventid_get_name(trid, type, name), "eventid_get_name");
	puts(name);
}

int main(void)
{
	trace_event_id_t traced, controller;
	trace_id_t trid;

	check(posix_trace_create(0, NULL, &trid), "create");
	/* One process is both controller and traced process here. */
	check(posix_trace_eventid_open("eventid:step", &traced), "eventid_open");
	check(posix_trace_trid_eventid_open(trid, "eventid:step", &controller),
	      "trid_eventid_open");
	puts(posix_trace_eventid_equal(trid, traced, controller) ? "equal" : "not equal");
	puts(posix_trace_eventid_equal(trid, traced, POSIX_TRACE_START) ? "equal" : "not equal");

	print_name(trid, controller);
	print_name(trid, POSIX_TRACE_START);
	print_name(trid, POSIX_TRACE_UNNAMED_USEREVENT);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
