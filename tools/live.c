// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace live": prints the events of a process as they happen, until it ends.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <posixtrace.h>

#include "commands.h"
#include "escape.h"
#include "session.h"

#define NSEC		1000000000ULL
#define BATCH		256
#define BUFFER_SIZE	(256 << 10)
#define DATA_SHOWN	48	/* bytes, without --full */

struct live {
	struct session session;
	bool full;
	struct buffer name;		/* of a type, for print_event() */
	unsigned long long first;	/* time of the first event */
	unsigned long long events;
	bool stopped;			/* that event was seen */
};

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace live [OPTION]... PID\n"
		"       posixtrace live [OPTION]... [--] PROGRAM [ARG]...\n"
		"Print the events of a process until it ends, or until Ctrl-C.\n\n"
		SESSION_HELP
		"  -a, --full               print all bytes of the data\n"
		"  -h, --help               this text\n\n"
		"Columns: microseconds since the first event, process, thread, event type, data.\n"
		"Exit status: 0; 1 after a failure, 2 when called wrongly; that of PROGRAM.\n");
}

/* ------------------------------------------------------------------ */
/* Printing								*/

static bool is_text(const unsigned char *data, size_t len)
{
	/* A string may carry its end. */
	if (len && !data[len - 1])
		len--;
	for (size_t i = 0; i < len; i++) {
		if (data[i] < ' ' || data[i] > '~')
			return false;
	}
	return len > 0;
}

static void print_data(const struct live *live, const unsigned char *data, size_t len)
{
	size_t shown = live->full || len < DATA_SHOWN ? len : DATA_SHOWN;
	bool text = is_text(data, len);

	if (text && !data[len - 1])
		shown = shown == len ? len - 1 : shown;
	if (text) {
		printf("\"%.*s\"", (int)shown, (const char *)data);
	} else {
		for (size_t i = 0; i < shown; i++)
			printf(i && i % 4 == 0 ? " %02x" : "%02x", data[i]);
	}
	if (shown + text < len)
		printf("... (%zu bytes)", len);
}

static void print_event(struct live *live, const struct posix_trace_event_info *info,
			const unsigned char *data, size_t len)
{
	unsigned long long time = info->posix_timestamp.tv_sec * NSEC +
				  info->posix_timestamp.tv_nsec;
	char name[TRACE_EVENT_NAME_MAX + 1];

	if (!live->first)
		live->first = time;
	if (posix_trace_eventid_get_name(live->session.trid, info->posix_event_id, name))
		snprintf(name, sizeof(name), "(type %u)", info->posix_event_id);
	buffer_reset(&live->name);
	escape_plain(&live->name, name, strlen(name));
	printf("%10llu.%03llu  %7d  %#14lx  %-24.*s ", (time - live->first) / 1000,
	       (time - live->first) % 1000, (int)info->posix_pid,
	       (unsigned long)info->posix_thread_id, (int)live->name.len,
	       (const char *)live->name.data);
	/* Of the system events only what a person can read. */
	if (info->posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
		print_data(live, data, len);
	if (info->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		printf(" (truncated)");
	putchar('\n');
}

/* ------------------------------------------------------------------ */
/* Reading								*/

/* What there is: the number of events, or a negative error number. */
static int print_events(struct live *live)
{
	static struct posixtrace_batch_event events[BATCH];
	static unsigned char buffer[BUFFER_SIZE];
	size_t count;
	int err;

	err = posixtrace_getevents(live->session.trid, events, BATCH, buffer, sizeof(buffer),
				   &count, POSIXTRACE_NOWAIT);
	if (err) {
		complain("reading events", err);
		return -err;
	}
	for (size_t i = 0; i < count; i++) {
		const struct posix_trace_event_info *info = &events[i].event;

		print_event(live, info, events[i].data, events[i].data_len);
		live->events += info->posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT;
		live->stopped |= info->posix_event_id == POSIX_TRACE_STOP;
	}
	if (count && fflush(stdout)) {
		err = errno;
		complain("standard output", err);
		return -err;
	}
	return count;
}

/* Until all traced processes have ended, or a signal says so. */
static int follow(struct live *live)
{
	struct pollfd fds[] = {
		{ .fd = posixtrace_fd(live->session.trid), .events = POLLIN },
		{ .fd = live->session.process.sigfd, .events = POLLIN },
	};
	int count;

	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			complain("waiting for events", errno);
			return -errno;
		}
		if (fds[1].revents && process_signal(&live->session.process))
			return 0;
		if (!fds[0].revents)
			continue;
		count = print_events(live);
		if (count < 0 || (!count && fds[0].revents & (POLLHUP | POLLERR)))
			return count;
	}
}

/* What was recorded before the stop, and the stop. */
static int finish(struct live *live)
{
	int count, err = posix_trace_stop(live->session.trid);

	if (err) {
		complain("posix_trace_stop", err);
		return -err;
	}
	do {
		count = print_events(live);
	} while (count > 0 && !live->stopped);
	return count < 0 ? count : 0;
}

static void print_summary(const struct live *live)
{
	struct posixtrace_stats_info stats;
	unsigned long long lost;

	fprintf(stderr, "posixtrace: %llu events", live->events);
	if (!posixtrace_get_stats(live->session.trid, &stats)) {
		lost = stats.dropped + stats.overwritten + stats.skipped;
		if (lost)
			fprintf(stderr, ", %llu lost: use a larger --size", lost);
		if (stats.damaged)
			fprintf(stderr, ", records damaged in %llu places", stats.damaged);
		if (stats.untraced)
			fprintf(stderr, ", %llu children not traced for want of memory",
				stats.untraced);
	}
	fputc('\n', stderr);
}

static int create_stream(struct live *live)
{
	trace_attr_t attr;
	int err = session_attr(&live->session, "posixtrace live", &attr);

	if (err) {
		complain("attributes", err);
		return err;
	}
	err = session_create(&live->session, &attr, -1);
	posix_trace_attr_destroy(&attr);
	return err;
}

/* Returns the exit status. */
static int run_live(struct live *live)
{
	struct process *process = &live->session.process;
	int status, ret = 1;
	int err = process_begin(process);

	if (err) {
		complain("program", err);
		return 1;
	}
	if (create_stream(live))
		goto out;
	err = posix_trace_start(live->session.trid);
	if (err) {
		complain("posix_trace_start", err);
	} else {
		process_go(process);
		if (!follow(live) && !finish(live))
			ret = 0;
		print_summary(live);
	}
	posix_trace_shutdown(live->session.trid);
out:
	status = process_end(process);
	return ret ? ret : status;
}

int posixtrace_live(int argc, char **argv)
{
	static const struct option options[] = {
		{ "data-size", required_argument, NULL, 'd' },
		{ "exclude", required_argument, NULL, 'x' },
		{ "filter", required_argument, NULL, 'F' },
		{ "full", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ "inherit", no_argument, NULL, 'i' },
		{ "pid", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{ }
	};
	struct live live = { .session.data_size = SESSION_DEFAULT };
	int opt, status;

	while ((opt = getopt_long(argc, argv, "+ah" SESSION_SHORT_OPTIONS, options,
				  NULL)) != -1) {
		if (session_option(&live.session, opt, optarg))
			continue;
		switch (opt) {
		case 'a':
			live.full = true;
			break;
		case 'h':
			print_help(stdout);
			return 0;
		default:
			print_help(stderr);
			return 2;
		}
	}
	if (!session_process(&live.session, argc - optind, argv + optind)) {
		print_help(stderr);
		return 2;
	}
	status = run_live(&live);
	buffer_free(&live.name);
	session_free(&live.session);
	return status;
}
