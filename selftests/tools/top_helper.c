// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace. It records COUNT scopes "job", each of which sleeps for a millisecond; with
 * 0, until a signal ends it.
 *
 * usage: top_helper COUNT
 */
#include <stdlib.h>
#include <time.h>
#include <trace.h>

int main(int argc, char **argv)
{
	const struct timespec length = { .tv_nsec = 1000000 };
	trace_event_id_t begin, end;
	int count = argc > 1 ? atoi(argv[1]) : -1;

	if (count < 0)
		return 100;
	if (posix_trace_eventid_open("job_begin", &begin) ||
	    posix_trace_eventid_open("job_end", &end))
		return 101;
	for (int i = 0; !count || i < count; i++) {
		posix_trace_event(begin, NULL, 0);
		nanosleep(&length, NULL);
		posix_trace_event(end, NULL, 0);
	}
	return 0;
}
