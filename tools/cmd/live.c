// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace live": prints the events of a process as they occur, until it ends.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <posixtrace.h>

#include "analyze/descriptors.h"
#include "cmd/commands.h"
#include "event/formats.h"
#include "event/misfits.h"
#include "event/source.h"
#include "print/print.h"
#include "session/session.h"
#include "util/message.h"

#define BATCH		4096

/*
 * On bare metal, a CPU is delayed by a few milliseconds at most. A hypervisor may delay it longer.
 */
#define WINDOW_MS	10
#define WINDOW_MS_MAX	10000
#define NSEC_PER_MSEC	1000000U

struct live {
	struct session session;
	struct source *source;
	struct print print;
	struct descriptors *descriptors;
	bool follows;		/* the events are sufficient to follow the descriptors */
	struct buffer text;
	const char *format_file;	/* argument of --format-file, or NULL */
	struct formats *formats;
	unsigned long window;		/* milliseconds */
	unsigned long long events;
	bool stopped;			/* posix_trace_stop was read */
};

/* ------------------------------------------------------------------ */
/* Reading								*/

static int print_one(struct live *live, const struct event *event)
{
	int err = 0;

	print_see(&live->print, event);
	live->stopped |= event->type == POSIX_TRACE_STOP;
	if (live->follows)
		descriptors_reach(live->descriptors, live->source, event->time);
	if (live->follows && event->type == POSIXTRACE_SYSCALL_EXIT)
		descriptors_event(live->descriptors, event);
	if (session_filter_passes(&live->session.filter, live->session.trid, event)) {
		live->events += event->has_data;
		err = print_event(&live->print, &live->text, event);
	}
	if (live->follows && event->type != POSIXTRACE_SYSCALL_EXIT)
		descriptors_event(live->descriptors, event);
	return err;
}

/* Check if as many events as --events asks for have been printed. */
static bool has_enough(const struct live *live)
{
	return live->session.max_events && live->events >= live->session.max_events;
}

/* Prints the available events. Returns their number, or a negative error number. */
static int print_events(struct live *live)
{
	int ret = 0, err = 0, count = 0;
	struct event event;

	/* Return after a batch, so that the caller can handle signals. */
	while (!err && count < BATCH && !has_enough(live) &&
	       (ret = source_try(live->source, &event)) > 0) {
		err = print_one(live, &event);
		count++;
	}
	if (!err && ret < 0) {
		complain("reading events", -ret);
		return ret;
	}
	if (!err)
		err = print_write(&live->print, &live->text);
	if (err)
		complain_of_output(-err);
	return err ? err : count;
}

/* Prints events until all traced processes have ended or a signal stops the command. */
static int follow(struct live *live)
{
	struct pollfd fds[] = {
		{ .fd = posixtrace_fd(live->session.trid), .events = POLLIN },
		{ .fd = live->session.process.sigfd, .events = POLLIN },
	};
	int count = 0;

	for (;;) {
		/* Do not wait after a full batch: the source may hold more events. */
		if (poll(fds, 2, count < BATCH ? -1 : 0) < 0) {
			if (errno == EINTR)
				continue;
			complain("waiting for events", errno);
			return -errno;
		}
		if (fds[1].revents && process_signal(&live->session.process)) {
			live->print.ending = true;
			return 0;
		}
		if (!fds[0].revents && count < BATCH)
			continue;
		count = print_events(live);
		if (count >= 0 && has_enough(live))
			return 0;
		/* Handle the signal, or forward it to the program. */
		if (count == -EINTR)
			process_signal(&live->session.process);
		if (count < 0 || (!count && fds[0].revents & (POLLHUP | POLLERR)))
			return count;
	}
}

/* Stops the stream and prints its remaining events up to posix_trace_stop. */
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

/* @failed: tracing failed, so do not print hints about missing events. */
static void print_summary(const struct live *live, bool failed)
{
	struct posixtrace_stats_info stats;
	unsigned long long lost;
	bool known = !session_stats(&live->session, &stats);

	fprintf(stderr, "posixtrace: %llu events", live->events);
	if (known) {
		lost = stats.dropped + stats.overwritten + stats.skipped;
		if (lost)
			fprintf(stderr, ", %llu lost: use a larger --size", lost);
		if (stats.damaged)
			fprintf(stderr, ", records damaged in %llu places", stats.damaged);
		if (stats.untraced)
			fprintf(stderr, ", %llu children not traced: out of memory",
				stats.untraced);
	}
	fputc('\n', stderr);
	if (known && !failed)
		session_hint(&live->session, &stats);
}

/* Returns the exit status. */
static int run_live(struct live *live)
{
	struct process *process = &live->session.process;
	int status, ret = 1;
	int err = descriptors_new(&live->descriptors);

	if (err) {
		complain("live", -err);
		return 1;
	}
	/* A filter may leave out events that close descriptors. */
	live->follows = !live->session.filter.patterns &&
			!(DESCRIPTORS_CLASSES & ~live->session.kernel);
	if (live->follows)
		live->print.call.descriptors = live->descriptors;
	err = process_begin(process);
	if (err) {
		complain("starting the program", err);
		return 1;
	}
	live->print.signals = process->sigfd;
	if (session_create_plain(&live->session, "posixtrace live"))
		goto out;
	err = -source_from_stream(live->session.trid, &live->source);
	if (!err)
		source_set_formats(live->source, live->formats);
	if (!err)
		err = posixtrace_setwindow(live->session.trid,
					   (uint64_t)live->window * NSEC_PER_MSEC);
	if (!err)
		err = posix_trace_start(live->session.trid);
	if (!err && live->follows)
		err = -descriptors_start(live->descriptors, live->source);
	if (err) {
		complain("trace stream", err);
	} else {
		process_go(process);
		if (!follow(live) && (has_enough(live) || !finish(live)))
			ret = 0;
		misfits_warn(live->formats, live->source);
		print_summary(live, ret);
	}
	source_close(live->source);
	posix_trace_shutdown(live->session.trid);
out:
	status = process_end(process);
	return ret ? ret : status;
}

/* ------------------------------------------------------------------ */
/* Options								*/

static const struct command_option options[] = {
	{ OPTION_NUMBER, 0, "window", "MS",
	  "delay events by MS milliseconds to print them in order of time (10); 0: no delay",
	  OPTION_NUMBER_AT(struct live, window), .max = WINDOW_MS_MAX },
	OPTION_GROUP_AT(struct live, session, session_options),
	OPTION_GROUP_AT(struct live, print, print_options),
	OPTION_GROUP_AT(struct live, format_file, formats_options),
	{ }
};

static int cmd_live(int argc, char **argv)
{
	struct live live = {
		.session.data_size = SESSION_DEFAULT,
		.print.cpu = true,
		.window = WINDOW_MS,
	};
	int status = options_parse(&command_live, argc, argv, &live);

	if (status != OPTIONS_OK)
		goto out;
	print_begin(&live.print);
	status = 2;
	if (!session_process(&live.session, "live", argc - optind, argv + optind))
		goto out;
	status = 1;
	if (!live.format_file || !formats_load(live.format_file, &live.formats))
		status = run_live(&live);
	descriptors_free(live.descriptors);
	formats_free(live.formats);
	buffer_free(&live.text);
out:
	session_free(&live.session);
	return status;
}

static const char *const live_usage[] = {
	"[OPTION]... PID",
	"[OPTION]... [--pid=PID|NAME,...] [--user=USER] [--cgroup=PATH|PID]",
	"[OPTION]... --wait=NAME",
	"[OPTION]... [--] PROGRAM [ARG]...",
	NULL,
};

const struct command command_live = {
	.name = "live",
	.summary = "print the events of processes as they happen",
	.usage = live_usage,
	.about = "Print the events of processes until they end, or until Ctrl-C.",
	.notes = "Columns: time, processor, process, thread, event type, data.\n"
		 "Exit status: 0, or PROGRAM's; 1 after a failure; 2 after a usage error.",
	.operands = OPERAND_PID | OPERAND_PROGRAM,
	.options = options,
	.run = cmd_live,
};
