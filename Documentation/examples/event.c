// SPDX-License-Identifier: MIT
/*
 * Records events in a loop, and one event in a signal handler.
 */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
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

static trace_event_id_t round_event, signal_event;

/* A handler may call posix_trace_event(), which does not change errno. */
static void handler(int number)
{
	posix_trace_event(signal_event, &number, sizeof(number));
}

static void print_events(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_event_info info;
	int none, number;
	size_t len;

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &info, &number, sizeof(number), &len,
						   &none), "trygetnext_event");
		if (none)
			return;
		if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		check(posix_trace_eventid_get_name(trid, info.posix_event_id, name),
		      "eventid_get_name");
		if (info.posix_event_id == signal_event)
			printf("%s %s\n", name, number == SIGUSR1 ? "SIGUSR1" : "another");
		else
			printf("%s %d\n", name, number);
	}
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler };
	trace_id_t trid;

	/* Open the type here: a handler must not do that. */
	check(posix_trace_eventid_open("event:round", &round_event), "eventid_open");
	check(posix_trace_eventid_open("event:signal", &signal_event), "eventid_open");
	sigaction(SIGUSR1, &action, NULL);

	check(posix_trace_create(0, NULL, &trid), "create");
	check(posix_trace_start(trid), "start");
	for (int i = 0; i < 3; i++) {
		posix_trace_event(round_event, &i, sizeof(i));
		if (i == 1)
			raise(SIGUSR1);
	}
	check(posix_trace_stop(trid), "stop");

	print_events(trid);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
