// SPDX-License-Identifier: MIT
/*
 * Trace points with typed fields: a program that traces itself, and prints each of its events with
 * the description that readers get.
 */
#include <posixtrace.h>
#include <posixtrace/points.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

POSIXTRACE_POINT(cache_get, (u32, id), (bool, hit), (text, key));

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static int get(uint32_t id, const char *key)
{
	static int misses;

	POSIXTRACE_SCOPE("get", (u32, id));
	posixtrace_point_cache_get(id, id == 1, key, strlen(key));
	if (id == 1)
		return 0;
	POSIXTRACE_COUNTER("misses", ++misses);
	return misses;
}

static void print_events(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1], text[POSIXTRACE_DESCRIPTION_MAX + 1], data[256];
	struct posix_trace_event_info event;
	size_t len;
	int none;

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &event, data, sizeof(data), &len, &none),
		      "trygetnext_event");
		if (none)
			return;
		if (event.posix_event_id <= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		check(posix_trace_eventid_get_name(trid, event.posix_event_id, name), "get_name");
		/* A mark, and the end of a scope, have no fields. */
		if (posixtrace_eventid_get_description(trid, event.posix_event_id, text,
						       sizeof(text), NULL))
			text[0] = '\0';
		printf("%s%s%s, %zu bytes\n", name, text[0] ? " " : "", text, len);
	}
}

int main(void)
{
	trace_id_t trid;

	check(posix_trace_create(0, NULL, &trid), "create");
	check(posix_trace_start(trid), "start");
	POSIXTRACE_MARK("ready");
	get(1, "one");
	get(2, "two");
	print_events(trid);
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
