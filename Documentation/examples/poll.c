// SPDX-License-Identifier: MIT
/*
 * Waits for events with poll(), and reads all of them in one call.
 */
#define _POSIX_C_SOURCE 200809L

#include <poll.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

#define EVENTS_MAX	16

static void read_events(trace_id_t trid)
{
	struct posixtrace_batch_event events[EVENTS_MAX];
	char buffer[4096];
	size_t count;

	check(posixtrace_getevents(trid, events, EVENTS_MAX, buffer, sizeof(buffer), &count,
				   POSIXTRACE_NOWAIT), "posixtrace_getevents");
	printf("%zu events\n", count);
	for (size_t i = 0; i < count; i++) {
		if (events[i].event.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
			printf("\"%.*s\"\n", (int)events[i].data_len, (char *)events[i].data);
	}
}

int main(void)
{
	struct posixtrace_stats_info stats;
	struct pollfd pollfd;
	trace_id_t trid;

	printf("version %s, names of %ld characters\n", posixtrace_version(),
	       posixtrace_sysconf(_SC_TRACE_EVENT_NAME_MAX));
	check(posix_trace_create(0, NULL, &trid), "posix_trace_create");
	/* The descriptor belongs to the stream: do not close it. */
	pollfd = (struct pollfd){ .fd = posixtrace_fd(trid), .events = POLLIN };
	check(posix_trace_start(trid), "posix_trace_start");
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "one", strlen("one"));
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "two", strlen("two"));

	if (poll(&pollfd, 1, -1) == 1 && pollfd.revents & POLLIN)
		read_events(trid);
	check(posixtrace_get_stats(trid, &stats), "posixtrace_get_stats");
	printf("recorded %llu, read %llu, dropped %llu\n", stats.recorded, stats.read,
	       stats.dropped);
	check(posix_trace_shutdown(trid), "posix_trace_shutdown");
	return 0;
}
