// SPDX-License-Identifier: MIT
/*
 * Describes an event type, records an event of it, and prints what the stream knows about it.
 */
#include <posixtrace.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step {
	uint32_t number;
	uint32_t state;
};

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

int main(void)
{
	struct step step = { .number = 7, .state = 1 };
	char text[POSIXTRACE_DESCRIPTION_MAX + 1];
	trace_event_id_t type;
	trace_id_t trid;
	int error;

	check(posix_trace_eventid_open("describe:step", &type), "eventid_open");
	check(posixtrace_eventid_describe(type, "struct { u32 number;"
					  " enum: u32 { idle = 0, busy = 1 } state; }"),
	      "eventid_describe");
	error = posixtrace_eventid_describe(type, "{ text message; }");
	printf("another description: %s\n", strerror(error));

	check(posix_trace_create(0, NULL, &trid), "create");
	check(posix_trace_start(trid), "start");
	posix_trace_event(type, &step, sizeof(step));
	check(posixtrace_eventid_get_description(trid, type, text, sizeof(text), NULL),
	      "eventid_get_description");
	puts(text);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
