// SPDX-License-Identifier: MIT
/*
 * Records the events between start and stop, twice.
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
	struct posix_trace_event_info info;
	int none, number;
	size_t len;

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &info, &number, sizeof(number), &len,
						   &none), "trygetnext_event");
		if (none)
			return;
		if (info.posix_event_id == POSIX_TRACE_START)
			puts("start");
		else if (info.posix_event_id == POSIX_TRACE_STOP)
			puts(number ? "stop by itself" : "stop");
		else
			printf("event %d\n", number);
	}
}

int main(void)
{
	trace_event_id_t event;
	trace_id_t trid;

	check(posix_trace_eventid_open("start:event", &event), "eventid_open");
	check(posix_trace_create(0, NULL, &trid), "create");
	for (int i = 0; i < 4; i++) {
		/* The stream is suspended for odd numbers, which are not recorded. */
		if (i % 2 == 0)
			check(posix_trace_start(trid), "start");
		else
			check(posix_trace_stop(trid), "stop");
		posix_trace_event(event, &i, sizeof(i));
	}
	print_events(trid);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
