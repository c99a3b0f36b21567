// SPDX-License-Identifier: MIT
/*
 * Writes events to a log, and reads the log.
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

static void print_log(int fd)
{
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	trace_id_t trid;
	char data[64];
	size_t len;
	int end;

	check(posix_trace_open(fd, &trid), "open");
	for (;;) {
		check(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &end),
		      "getnext_event");
		if (end)
			break;
		/* The log also contains flush events. */
		if (info.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT)
			printf("\"%.*s\"\n", (int)len, data);
	}
	check(posix_trace_get_status(trid, &status), "get_status");
	puts(status.posix_log_overrun_status == POSIX_TRACE_OVERRUN ?
	     "the log has gaps" : "the log is complete");
	check(posix_trace_close(trid), "close");
}

int main(void)
{
	FILE *file = tmpfile();
	trace_id_t trid;

	if (!file) {
		perror("tmpfile");
		return 1;
	}
	check(posix_trace_create_withlog(0, NULL, fileno(file), &trid), "create_withlog");
	check(posix_trace_start(trid), "start");
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "one", strlen("one"));
	/* Returns immediately: recording continues during the flush. */
	check(posix_trace_flush(trid), "flush");
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "two", strlen("two"));
	/* Stops the stream, writes the remaining events and completes the log. */
	check(posix_trace_shutdown(trid), "shutdown");

	print_log(fileno(file));
	fclose(file);
	return 0;
}
