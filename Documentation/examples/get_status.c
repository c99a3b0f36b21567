// SPDX-License-Identifier: MIT
/*
 * Fills a stream, and prints its status at each step.
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

static void print_status(trace_id_t trid, const char *when)
{
	struct posix_trace_status_info status;

	check(posix_trace_get_status(trid, &status), "get_status");
	printf("%s: %s, %s, %s\n", when,
	       status.posix_stream_status == POSIX_TRACE_RUNNING ? "running" : "suspended",
	       status.posix_stream_full_status == POSIX_TRACE_FULL ? "full" : "not full",
	       status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN ? "overrun" :
	       "no overrun");
}

static int is_full(trace_id_t trid)
{
	struct posix_trace_status_info status;

	check(posix_trace_get_status(trid, &status), "get_status");
	return status.posix_stream_full_status == POSIX_TRACE_FULL;
}

int main(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setstreamsize(&attr, 8192), "attr_setstreamsize");
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL),
	      "attr_setstreamfullpolicy");
	check(posix_trace_create(0, &attr, &trid), "create");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");
	print_status(trid, "created");

	check(posix_trace_start(trid), "start");
	print_status(trid, "started");
	while (!is_full(trid))
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	/* The stream has stopped by itself. This event is lost, and the status reports it once. */
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	print_status(trid, "filled");
	print_status(trid, "asked again");

	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
