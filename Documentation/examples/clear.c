// SPDX-License-Identifier: MIT
/*
 * Discards the events of the warm-up of a program.
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
	trace_event_id_t warm_up, work;
	trace_id_t trid;

	check(posix_trace_eventid_open("clear:warm_up", &warm_up), "eventid_open");
	check(posix_trace_eventid_open("clear:work", &work), "eventid_open");
	check(posix_trace_create(0, NULL, &trid), "create");
	check(posix_trace_start(trid), "start");
	for (int i = 0; i < 10; i++)
		posix_trace_event(warm_up, NULL, 0);

	/* The start event is gone as well. The stream continues to run. */
	check(posix_trace_clear(trid), "clear");
	posix_trace_event(work, NULL, 0);
	check(posix_trace_stop(trid), "stop");

	print_events(trid);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
