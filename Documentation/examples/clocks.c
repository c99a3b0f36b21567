// SPDX-License-Identifier: MIT
/*
 * Records an event into a log, and prints by how much the time of the event may differ from UTC.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void make_log(int fd, trace_event_id_t step)
{
	trace_id_t trid;

	check(posix_trace_create_withlog(0, NULL, fd, &trid), "create_withlog");
	/* The clock is within a millisecond of UTC. */
	check(posixtrace_setclockerror(trid, 1000000), "setclockerror");
	check(posix_trace_start(trid), "start");
	posix_trace_event(step, NULL, 0);
	check(posix_trace_shutdown(trid), "shutdown");
}

static void print(trace_id_t log, const struct timespec *time)
{
	const uint64_t ns = (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
	struct posixtrace_clock_time utc;

	check(posixtrace_convert_times(log, POSIXTRACE_CLOCKID_UTC, &ns, 1, &utc),
	      "convert_times");
	if (utc.error == POSIXTRACE_CLOCK_UNKNOWN)
		printf("error not known\n");
	else
		printf("UTC within %.1f ms\n", (double)utc.error / 1e6);
}

int main(void)
{
	struct posix_trace_event_info event;
	trace_event_id_t step;
	FILE *file = tmpfile();
	trace_id_t log;
	int unavailable;
	size_t len;

	if (!file)
		return 1;
	check(posix_trace_eventid_open("clocks:step", &step), "eventid_open");
	make_log(fileno(file), step);
	check(posix_trace_open(fileno(file), &log), "open");
	do {
		check(posix_trace_getnext_event(log, &event, NULL, 0, &len, &unavailable),
		      "getnext_event");
		if (!unavailable && event.posix_event_id == step)
			print(log, &event.posix_timestamp);
	} while (!unavailable);
	check(posix_trace_close(log), "close");
	return 0;
}
