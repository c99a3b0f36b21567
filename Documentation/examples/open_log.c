// SPDX-License-Identifier: MIT
/*
 * Reads a log twice: the log given as the argument, or one that it creates.
 */
#define _POSIX_C_SOURCE 200809L

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

static void make_log(int fd)
{
	trace_event_id_t step;
	trace_id_t trid;

	check(posix_trace_eventid_open("log:step", &step), "eventid_open");
	check(posix_trace_create_withlog(0, NULL, fd, &trid), "create_withlog");
	check(posix_trace_start(trid), "start");
	for (int i = 0; i < 3; i++)
		posix_trace_event(step, &i, sizeof(i));
	check(posix_trace_shutdown(trid), "shutdown");
}

/* Returns the number of user events from the current position to the end. */
static int read_log(trace_id_t trid)
{
	struct posix_trace_event_info info;
	int end, events = 0;
	size_t len;

	for (;;) {
		check(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &end),
		      "getnext_event");
		if (end)
			return events;
		events += info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT;
	}
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : tmpfile();
	trace_id_t trid;

	if (!file) {
		perror(argc > 1 ? argv[1] : "tmpfile");
		return 1;
	}
	if (argc <= 1)
		make_log(fileno(file));

	check(posix_trace_open(fileno(file), &trid), "open");
	/* The library has duplicated the descriptor. */
	fclose(file);
	printf("%d events\n", read_log(trid));
	printf("%d events behind the last one\n", read_log(trid));
	check(posix_trace_rewind(trid), "rewind");
	printf("%d events again\n", read_log(trid));
	check(posix_trace_close(trid), "close");
	return 0;
}
