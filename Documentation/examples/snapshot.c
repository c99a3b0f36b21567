// SPDX-License-Identifier: MIT
/*
 * A server that writes its latest events to a separate file when a request was slow.
 *
 *	POSIXTRACE_RECORD=/var/tmp/%p.log ./snapshot
 */
#define _POSIX_C_SOURCE 200809L

#include <limits.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS	5

static void handle_request(trace_event_id_t step, int number)
{
	for (int i = 0; i < 10; i++)
		posix_trace_event(step, &number, sizeof(number));
}

/* In a real server, a request that took longer than a few milliseconds. */
static int was_slow(int number)
{
	return number % 3 == 2;
}

static void keep_events(int number)
{
	char path[PATH_MAX];
	int error = posixtrace_snapshot(path, sizeof(path));

	if (error)
		printf("request %d was slow; no snapshot: %s\n", number, strerror(error));
	else
		printf("request %d was slow: see %s\n", number, path);
}

int main(void)
{
	trace_event_id_t step;
	trace_id_t recorder;

	if (posix_trace_eventid_open("server:step", &step))
		return 1;
	puts(posixtrace_get_recorder(&recorder) ? "no flight recorder" : "recording");
	for (int i = 0; i < REQUESTS; i++) {
		handle_request(step, i);
		if (was_slow(i))
			keep_events(i);
	}
	return 0;
}
