// SPDX-License-Identifier: MIT
/*
 * Prints a table of the event types in a log: the number of events, their bytes, their
 * rate, and the longest time without an event. Does not need the module.
 *
 *	analyzer LOG
 */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <fcntl.h>
#include <posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_MAX	256
#define IDS_MAX		4096	/* event types are smaller: see <trace.h> */

struct type {
	unsigned long long events, bytes;
	double first, last, gap;	/* seconds since the log was created */
};

static struct type types[IDS_MAX];

static void check(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, strerror(error));
		exit(1);
	}
}

static double seconds(const struct timespec *time, const struct timespec *start)
{
	return (double)(time->tv_sec - start->tv_sec) +
	       (double)(time->tv_nsec - start->tv_nsec) / 1e9;
}

static void count_event(const struct posixtrace_batch_event *event,
			const struct timespec *start)
{
	double time = seconds(&event->event.posix_timestamp, start);
	struct type *type = &types[event->event.posix_event_id % IDS_MAX];

	if (!type->events)
		type->first = time;
	else if (time - type->last > type->gap)
		type->gap = time - type->last;
	type->last = time;
	type->events++;
	type->bytes += event->data_len;
}

static void read_log(trace_id_t trid, const struct timespec *start)
{
	static struct posixtrace_batch_event events[EVENTS_MAX];
	static char buffer[1 << 18];
	size_t count;

	do {
		check(posixtrace_getevents(trid, events, EVENTS_MAX, buffer, sizeof(buffer),
					   &count, 0), "posixtrace_getevents");
		for (size_t i = 0; i < count; i++)
			count_event(&events[i], start);
	} while (count);
}

/* The traced program chooses the names, so they may contain any bytes. */
static void print_name(const char *name)
{
	int width = 0;

	for (; *name; name++, width++)
		putchar(isprint((unsigned char)*name) ? *name : '?');
	printf("%*s", width < 32 ? 32 - width : 1, "");
}

static void print_types(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int end;

	printf("%-32s%10s%12s%12s%12s\n", "type", "events", "bytes", "events/s", "gap/ms");
	for (;;) {
		const struct type *type;
		double time;

		check(posix_trace_eventtypelist_getnext_id(trid, &id, &end),
		      "posix_trace_eventtypelist_getnext_id");
		if (end)
			break;
		type = &types[id % IDS_MAX];
		if (!type->events)
			continue;
		check(posix_trace_eventid_get_name(trid, id, name),
		      "posix_trace_eventid_get_name");
		print_name(name);
		printf("%10llu%12llu", type->events, type->bytes);
		time = type->last - type->first;
		if (time > 0)
			printf("%12.0f%12.3f", (double)(type->events - 1) / time,
			       type->gap * 1e3);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct posix_trace_status_info status;
	struct timespec start;
	trace_attr_t attr;
	trace_id_t trid;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: analyzer LOG\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	check(posix_trace_open(fd, &trid), argv[1]);
	check(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
	check(posix_trace_attr_getcreatetime(&attr, &start), "posix_trace_attr_getcreatetime");
	read_log(trid, &start);
	print_types(trid);
	check(posix_trace_get_status(trid, &status), "posix_trace_get_status");
	/* Events were lost in the log, or before they reached it. */
	puts(status.posix_log_overrun_status == POSIX_TRACE_OVERRUN ||
	     types[POSIX_TRACE_OVERFLOW].events ? "events were lost" : "the log is complete");
	check(posix_trace_close(trid), "posix_trace_close");
	close(fd);
	return 0;
}
