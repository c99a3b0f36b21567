// SPDX-License-Identifier: GPL-2.0
/*
 * A program for exec. Its environment:
 *
 * EXEC_AGAIN		how often it executes itself first
 * EXEC_NAME		event type that it opens
 * EXEC_NUMBER		number that it records with that type, before it ends
 * EXEC_IN, EXEC_OUT	descriptors of a talk, instead of the number: it reports the id of
 *			the event type, and then records each number and sends it back
 * EXEC_POLL		descriptor; it first reports the events that poll() returns for it
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>

#include "trace_test.h"

static long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

static void again(char **argv)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number_of("EXEC_AGAIN") - 1);
	setenv("EXEC_AGAIN", text, 1);
	execv("/proc/self/exe", argv);
	_exit(102);
}

static int on_demand(trace_event_id_t id)
{
	struct talk talk = { .in = number_of("EXEC_IN"), .out = number_of("EXEC_OUT") };
	struct pollfd pollfd = { .fd = number_of("EXEC_POLL"), .events = POLLIN };
	long number;

	signal(SIGPIPE, SIG_IGN);
	if (pollfd.fd)
		say(&talk, poll(&pollfd, 1, -1) == 1 ? pollfd.revents : -1);
	say(&talk, id);
	while ((number = hear(&talk)) != -EPIPE) {
		int data = number;

		posix_trace_event(id, &data, sizeof(data));
		say(&talk, number);
	}
	return 0;
}

static int run(char **argv)
{
	int number = number_of("EXEC_NUMBER");
	trace_event_id_t id;

	if (posix_trace_eventid_open(getenv("EXEC_NAME"), &id))
		return 103;
	if (getenv("EXEC_IN") && !number_of("EXEC_AGAIN"))
		return on_demand(id);
	posix_trace_event(id, &number, sizeof(number));
	if (number_of("EXEC_AGAIN"))
		again(argv);
	return 0;
}

/* Does not use exit(), where the leak checker of a sanitizer would create a child. */
int main(int argc, char **argv)
{
	(void)argc;
	_exit(run(argv));
}
