// SPDX-License-Identifier: MIT
/*
 * Makes a set of event types and examines it. Sets need neither a stream nor the module.
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

static void print_member(const char *name, trace_event_id_t type, const trace_event_set_t *set)
{
	int ismember;

	check(posix_trace_eventset_ismember(type, set, &ismember), "eventset_ismember");
	printf("%s is %s\n", name, ismember ? "in" : "out");
}

int main(void)
{
	trace_event_set_t set, none;

	/* All system types except one, and one user type. */
	check(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), "eventset_fill");
	check(posix_trace_eventset_del(POSIX_TRACE_STOP, &set), "eventset_del");
	check(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set), "eventset_add");
	check(posix_trace_eventset_empty(&none), "eventset_empty");

	print_member("START", POSIX_TRACE_START, &set);
	print_member("STOP", POSIX_TRACE_STOP, &set);
	print_member("UNNAMED", POSIX_TRACE_UNNAMED_USEREVENT, &set);
	print_member("START", POSIX_TRACE_START, &none);
	return 0;
}
