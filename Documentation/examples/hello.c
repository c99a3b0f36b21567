// SPDX-License-Identifier: MIT
/*
 * A program that traces itself: records two events, and reads back what was
 * recorded.
 *
 *	cc hello.c $(pkg-config --cflags --libs libposixtrace)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

/* The functions return an error number; none of them sets errno. */
static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "posix_trace_%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void print_event(trace_id_t trid, const struct posix_trace_event_info *info,
			const char *data, size_t len)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	check(posix_trace_eventid_get_name(trid, info->posix_event_id, name), "eventid_get_name");
	printf("%lld.%09ld  %s", (long long)info->posix_timestamp.tv_sec,
	       info->posix_timestamp.tv_nsec, name);
	/* The data of system events is binary. */
	if (info->posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
		printf(" \"%.*s\"", (int)len, data);
	putchar('\n');
}

int main(void)
{
	struct posix_trace_event_info info;
	trace_event_id_t greeting;
	trace_id_t trid;
	char data[64];
	int none;
	size_t len;

	/* A stream on process 0, which is the caller, with the default attributes. */
	check(posix_trace_create(0, NULL, &trid), "create");
	check(posix_trace_eventid_open("hello:greeting", &greeting), "eventid_open");

	check(posix_trace_start(trid), "start");
	posix_trace_event(greeting, "hello", strlen("hello"));
	posix_trace_event(greeting, "world", strlen("world"));
	check(posix_trace_stop(trid), "stop");

	for (;;) {
		check(posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &none),
		      "trygetnext_event");
		if (none)
			break;
		print_event(trid, &info, data, len);
	}
	check(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
