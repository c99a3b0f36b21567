// SPDX-License-Identifier: MIT
/*
 * Traces children as well, and keeps the oldest events when the stream is full.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

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
		printf("%s by the %s\n", name, info.posix_pid == getpid() ? "parent" : "child");
	}
}

int main(void)
{
	trace_event_id_t work;
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;

	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), "attr_setinherited");
	check(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL),
	      "attr_setstreamfullpolicy");
	check(posix_trace_create(0, &attr, &trid), "create");
	check(posix_trace_attr_destroy(&attr), "attr_destroy");
	check(posix_trace_eventid_open("policy:work", &work), "eventid_open");
	check(posix_trace_start(trid), "start");

	child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0) {
		/* Event types stay valid in the child; the trace id does not. */
		posix_trace_event(work, NULL, 0);
		_exit(0);
	}
	if (waitpid(child, NULL, 0) < 0) {
		perror("waitpid");
		return 1;
	}
	posix_trace_event(work, NULL, 0);

	check(posix_trace_stop(trid), "stop");
	print_events(trid);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
