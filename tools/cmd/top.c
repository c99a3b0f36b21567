// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace top": shows what processes record and what their threads do, while they run.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <posixtrace.h>

#include "cmd/commands.h"
#include "session/session.h"
#include "top/screen.h"
#include "top/text.h"
#include "top/window.h"
#include "util/duration.h"
#include "util/message.h"

/* Check the clock, the keys and signals after this many events. */
#define BATCH		4096

#define NSEC_PER_MSEC	1000000ULL
#define INTERVAL	NSEC_PER_SEC
#define INTERVAL_MIN	(100 * NSEC_PER_MSEC)
#define INTERVAL_MAX	(3600 * NSEC_PER_SEC)

/* Read events at least this often. */
#define WAKEUP_NS	(100 * NSEC_PER_MSEC)

/* Screen lines that are not in a table: the head, and the line for messages. */
#define OTHER_LINES	3

static const char help[] =
	"q quit  p pause  t table  s,S sort  r reverse  i total first  f filter  w write";

struct top {
	struct session session;
	struct source *source;
	struct top_model *model;
	struct top_threads *threads;
	struct top_head head;
	struct top_view view;
	struct top_window window;
	struct buffer message;	/* the last line of the screen */
	struct buffer text;
	uint64_t interval;	/* ns; 0 with --batch: a single interval, printed at the end */
	uint64_t began;		/* start of the current interval: CLOCK_MONOTONIC, ns */
	unsigned long long events;
	char *filter;		/* the filter that the user typed, or NULL */
	bool batch;
	bool printed;		/* tables have been printed */
	bool stopped;		/* posix_trace_stop was read */
	bool ended;		/* all processes have ended */
	bool changed;		/* the screen must be redrawn */
	bool quit;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* ------------------------------------------------------------------ */
/* Output								*/

/* Writes the tables to standard output. Returns 0 or a negative error number. */
static int print_tables(struct top *top)
{
	struct buffer *text = &top->text;
	int err;

	buffer_reset(text);
	top_text_head(text, top->model, &top->head);
	buffer_byte(text, '\n');
	err = top_text_rows(text, top->model, TOP_SCOPES, &top->view, SIZE_MAX);
	buffer_byte(text, '\n');
	if (!err)
		err = top_text_rows(text, top->model, TOP_EVENTS, &top->view, SIZE_MAX);
	if (top->head.sampled) {
		buffer_byte(text, '\n');
		top_text_threads(text, top->threads, top->source, top->model, &top->view, SIZE_MAX);
	}
	if (err || text->failed) {
		complain("top", ENOMEM);
		return -ENOMEM;
	}
	/* Separate the tables from those of the previous interval. */
	if (top->printed)
		putchar('\n');
	top->printed = true;
	fwrite(text->data, 1, text->len, stdout);
	return end_output();
}

static int draw_rows(struct top *top, size_t max)
{
	buffer_reset(&top->text);
	return top_text_rows(&top->text, top->model, top->view.table, &top->view, max);
}

/*
 * Draws the screen. The table of threads gets half of the lines, plus those that the other table
 * does not need.
 */
static int draw(struct top *top)
{
	const size_t lines = screen_lines() > OTHER_LINES ? screen_lines() - OTHER_LINES : 0;
	const size_t half = lines / 2 > 1 ? lines / 2 - 1 : 0;
	size_t used = 1;
	int err;

	screen_begin();
	buffer_reset(&top->text);
	top_text_head(&top->text, top->model, &top->head);
	screen_put(&top->text, false);
	err = draw_rows(top, half);
	if (err)
		return err;
	screen_put(&top->text, true);
	if (!top->head.sampled)
		goto end;
	for (size_t i = 0; i + 1 < top->text.len; i++)
		used += top->text.data[i] == '\n';
	buffer_reset(&top->text);
	top_text_threads(&top->text, top->threads, top->source, top->model, &top->view,
			 lines > used + 1 ? lines - used - 1 : 0);
	screen_put(&top->text, true);
end:
	screen_end(&top->message);
	top->changed = false;
	return top->text.failed ? -ENOMEM : 0;
}

static int show(struct top *top)
{
	int err = top->batch ? print_tables(top) : draw(top);

	if (err && !top->batch)
		complain("top", -err);
	return err;
}

/* Ends the interval. Returns 0, or a negative error number after printing an error. */
static int tick(struct top *top)
{
	const uint64_t time = now(), lost = top_lost(&top->head.stats);
	size_t threads;
	int err = top_model_tick(top->model, time - top->began);

	top->began = time;
	if (!err)
		err = top_threads_read(top->threads, top->source, top->model);
	if (!err)
		err = -session_stats(&top->session, &top->head.stats);
	if (err) {
		complain("top", -err);
		return err;
	}
	/* If the update fails, events that do not match are still left out when they are read. */
	session_filter_update(&top->session.filter, top->session.trid);
	top_threads_get(top->threads, &threads);
	top->head.threads = threads;
	top->head.lost_before = lost;
	top->changed = true;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Keys									*/

/* Sets the filter that the user typed. Returns 0 or -ENOMEM. */
static int set_filter(struct top *top, const char *text)
{
	struct filter_error error;
	struct filter *filter = NULL;
	char *copy = strdup(text);
	int err = copy ? 0 : -ENOMEM;

	if (top->ended) {
		tell("all processes have ended: a filter would count nothing");
		free(copy);
		return 0;
	}
	if (!err && *text)
		err = filter_parse(text, &filter, &error);
	if (err) {
		free(copy);
		if (err == -EINVAL)
			tell("filter: column %zu: %s", error.column, error.message);
		return err == -EINVAL ? 0 : err;
	}
	free(top->filter);
	top->filter = copy;
	top->began = now();
	if (*text)
		tell("only events that pass \"%s\" count from now on", text);
	else
		tell("all events count from now on");
	return top_model_filter(top->model, filter);
}

static void toggle_pause(struct top *top)
{
	top->head.paused = !top->head.paused;
	if (top->head.paused)
		tell("paused: events are counted, and shown when you press p again");
	else
		tell("continued");
}

static int handle_key(struct top *top, enum screen_key key)
{
	struct top_view *view = &top->view;

	top->changed = true;
	switch (key) {
	case SCREEN_QUIT:
		top->quit = true;
		break;
	case SCREEN_PAUSE:
		toggle_pause(top);
		break;
	case SCREEN_TABLE:
		view->table = (view->table + 1) % TOP_TABLES;
		break;
	case SCREEN_SORT:
		view->order = (view->order + 1) % TOP_ORDERS;
		tell("sorted by %s", top_text_order(view->order));
		break;
	case SCREEN_SORT_THREADS:
		view->thread_order = (view->thread_order + 1) % TOP_THREAD_ORDERS;
		tell("threads sorted by %s", top_text_thread_order(view->thread_order));
		break;
	case SCREEN_REVERSE:
		view->reverse = !view->reverse;
		break;
	case SCREEN_TOTAL:
		view->total_first = !view->total_first;
		break;
	case SCREEN_FILTER:
		screen_ask("filter: ", top->filter ? top->filter : "");
		break;
	case SCREEN_TYPED:
		return set_filter(top, screen_input());
	case SCREEN_WRITE:
		top_window_write(&top->window);
		break;
	case SCREEN_HELP:
		tell("%s", help);
		break;
	default:
		break;
	}
	return 0;
}

/* Handles all keys that were pressed. Returns 0, or an error after printing it. */
static int handle_keys(struct top *top)
{
	enum screen_key key;
	int err = 0;

	while (!err && (key = screen_key()) != SCREEN_NONE)
		err = handle_key(top, key);
	if (err)
		complain("top", -err);
	return err;
}

/* ------------------------------------------------------------------ */
/* Reading								*/

static bool has_enough(const struct top *top)
{
	return top->session.max_events && top->events >= top->session.max_events;
}

static int count_event(struct top *top, const struct event *event)
{
	top->stopped |= event->type == POSIX_TRACE_STOP;
	if (!session_filter_passes(&top->session.filter, top->session.trid, event))
		return 0;
	top->events += event->has_data;
	return top_model_event(top->model, event);
}

/* Counts the available events. Returns their number, or an error after printing it. */
static int read_events(struct top *top)
{
	int ret = 0, err = 0, count = 0;
	struct event event;

	while (!err && count < BATCH && !has_enough(top) &&
	       (ret = source_try(top->source, &event)) > 0) {
		err = count_event(top, &event);
		count++;
	}
	if (!err && ret < 0 && ret != -EINTR)
		err = ret;
	if (err)
		complain("reading events", -err);
	return err ? err : count;
}

/* Returns the milliseconds until the interval ends, rounded up; -1 if it does not end. */
static int time_left(const struct top *top)
{
	uint64_t ns = now() - top->began;

	if (!top->interval || top->head.paused || top->ended)
		return -1;
	return ns < top->interval ? (int)((top->interval - ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC)
				  : 0;
}

/*
 * Ends the last interval. The screen then stays unchanged until the user quits. With --batch, the
 * command ends.
 */
static int note_end(struct top *top, struct pollfd *stream)
{
	top->ended = true;
	top->head.ended = true;
	stream->fd = -1;
	return top->batch ? 0 : tick(top);
}

static int show_if_due(struct top *top)
{
	const bool due = !time_left(top);
	int err = due ? tick(top) : 0;

	if (err || !(top->batch ? due : top->changed))
		return err;
	return show(top);
}

/* Reads events and updates the screen until a key, a signal or a limit ends the command. */
static int follow(struct top *top)
{
	struct pollfd fds[] = {
		{ .fd = posixtrace_fd(top->session.trid), .events = POLLIN },
		{ .fd = top->session.process.sigfd, .events = POLLIN },
		{ .fd = top->batch ? -1 : STDIN_FILENO, .events = POLLIN },
	};
	int count = 0, err;

	while (!top->quit && !has_enough(top) && !(top->ended && top->batch)) {
		err = show_if_due(top);
		if (err)
			return err;
		/* Do not wait after a full batch: there may be more events. */
		if (poll(fds, 3, count < BATCH ? time_left(top) : 0) < 0) {
			if (errno != EINTR) {
				complain("waiting for events", errno);
				return -errno;
			}
			/*
			 * Handle SIGWINCH like a key. After EINTR, the results of poll() are not
			 * valid.
			 */
			for (size_t i = 0; i < 3; i++)
				fds[i].revents = 0;
		}
		if (fds[1].revents && process_signal(&top->session.process))
			return 0;
		err = top->batch ? 0 : handle_keys(top);
		if (err || fds[2].revents & (POLLHUP | POLLERR | POLLNVAL))
			return err;
		count = top->ended ? 0 : read_events(top);
		if (count < 0)
			return count;
		if (!count && fds[0].revents & (POLLHUP | POLLERR))
			err = note_end(top, &fds[0]);
		if (err)
			return err;
	}
	return 0;
}

/* Stops the stream, and counts the remaining events up to posix_trace_stop. */
static int finish(struct top *top)
{
	int count = 1, err = posix_trace_stop(top->session.trid);

	if (err) {
		complain("posix_trace_stop", err);
		return -err;
	}
	while (count > 0 && !top->stopped && !has_enough(top))
		count = read_events(top);
	return count < 0 ? count : 0;
}

/* ------------------------------------------------------------------ */
/* From start to end							*/

static void print_summary(const struct top *top)
{
	const uint64_t lost = top_lost(&top->head.stats);

	fprintf(stderr, "posixtrace: %llu events", top->events);
	if (lost)
		fprintf(stderr, ", %llu lost: use a larger --size", (unsigned long long)lost);
	fputc('\n', stderr);
	session_hint(&top->session, &top->head.stats);
}

static int new_tables(struct top *top)
{
	int err = top_model_new(&top->model);

	if (!err)
		err = top_threads_new(&top->threads);
	if (!err)
		err = source_from_stream(top->session.trid, &top->source);
	if (err)
		complain("top", -err);
	return err;
}

/*
 * Starts both streams. The log must include all events that the screen shows, so its stream is
 * first.
 */
static int start(struct top *top)
{
	int err = top_window_start(&top->window);

	if (!err)
		err = posix_trace_start(top->session.trid);
	if (err) {
		complain("trace stream", err);
		return err;
	}
	top->began = now();
	return process_go(&top->session.process) ? 0 : ECHILD;
}

/* Shows the screen until the user ends it. Returns 0 or an error number. */
static int run_screen(struct top *top)
{
	int err = screen_open();

	if (err)
		return err;
	message_keep(&top->message);
	tell("press h for help");
	top->changed = true;
	err = follow(top);
	screen_close();
	message_keep(NULL);
	/* The screen is gone, so print its error message again. */
	if (err && top->message.len)
		tell("%.*s", (int)top->message.len, (const char *)top->message.data);
	return err;
}

/* Counts events until the end. Prints the rest that was counted after the last full interval. */
static int run_batch(struct top *top)
{
	int err = follow(top);

	if (!err)
		err = finish(top);
	if (!err)
		err = tick(top);
	return err ? err : print_tables(top);
}

static int run_stream(struct top *top)
{
	int err = new_tables(top);

	if (!err)
		err = top_window_open(&top->window, &top->session);
	if (!err)
		err = start(top);
	if (!err)
		err = top->batch ? run_batch(top) : run_screen(top);
	if (!err && !session_stats(&top->session, &top->head.stats))
		print_summary(top);
	top_window_close(&top->window);
	source_close(top->source);
	return err;
}

/* Returns the exit status. */
static int run_top(struct top *top)
{
	struct process *process = &top->session.process;
	int status, err;

	err = process_begin(process);
	if (err) {
		complain("starting the program", err);
		return 1;
	}
	err = session_create_plain(&top->session, "posixtrace top");
	if (!err) {
		err = run_stream(top);
		posix_trace_shutdown(top->session.trid);
	}
	status = process_end(process);
	return err && err != ECHILD ? 1 : status;
}

/* ------------------------------------------------------------------ */
/* Options								*/

static const struct option_choice orders[] = {
	{ "max", TOP_BY_MAX },
	{ "mean", TOP_BY_MEAN },
	{ "name", TOP_BY_NAME },
	{ "p50", TOP_BY_P50 },
	{ "p99", TOP_BY_P99 },
	{ "rate", TOP_BY_COUNT },
	{ "total", TOP_BY_TOTAL },
	{ }
};

static int call_interval(void *target, const struct command_option *option, const char *text)
{
	struct top *top = target;

	if (duration_parse(text, 0, &top->interval) && top->interval >= INTERVAL_MIN &&
	    top->interval <= INTERVAL_MAX)
		return 0;
	tell("--%s: must be a time from 100ms to 1h, such as 2s (got \"%s\")", option->name, text);
	return -EINVAL;
}

static const struct command_option options[] = {
	{ OPTION_FLAG, 0, "batch", NULL, "print the tables as text at the end, without a screen",
	  OPTION_BOOL_AT(struct top, batch) },
	{ OPTION_CALL, 0, "interval", "TIME",
	  "renew the screen in this interval (1s); with --batch, also print after each interval",
	  .call = call_interval },
	{ OPTION_TEXT, 'o', "output", "LOG",
	  "keep the latest events in memory, and write them to this log at the key w",
	  OPTION_TEXT_AT(struct top, window.log.path), .value = OPTION_FILE },
	{ OPTION_CHOICE, 0, "sort", "WHAT",
	  "sort by rate (default), mean, p50, p99, max of the interval, total count, or name",
	  OPTION_CHOICE_AT(struct top, view.order), .choices = orders },
	OPTION_GROUP_AT(struct top, session, session_options),
	{ }
};

/* Rejects options without effect. Returns OPTIONS_OK or the exit status. */
static int check_options(const struct top *top)
{
	if (top->batch && top->window.log.path)
		return usage_error("top", "--output: needs a key: has no effect on --batch");
	if (top->window.log.path && !strcmp(top->window.log.path, "-"))
		return usage_error("top", "--output: needs a file (got \"-\")");
	if (top->window.log.path && top->session.filter.conditions)
		return usage_error("top", "--filter: a log cannot have conditions on fields");
	if (!top->batch && top->session.process.argv)
		return usage_error("top", "top: a PROGRAM would write to the screen: use --batch");
	return OPTIONS_OK;
}

static int cmd_top(int argc, char **argv)
{
	struct top top = {
		.session.data_size = SESSION_DEFAULT,
		.session.order = POSIXTRACE_ORDER_RELAXED,
		.session.wakeup_ns = WAKEUP_NS,
		.view.order = TOP_BY_COUNT,
	};
	int status = options_parse(&command_top, argc, argv, &top);

	if (status == OPTIONS_OK &&
	    !session_process(&top.session, "top", argc - optind, argv + optind))
		status = 2;
	if (status == OPTIONS_OK)
		status = check_options(&top);
	if (status == OPTIONS_OK && !top.batch && screen_check())
		status = 1;
	if (status == OPTIONS_OK) {
		/*
		 * With a single interval, the columns for the interval and for the total time would
		 * be equal.
		 */
		top.view.single = top.batch && !top.interval;
		top.view.total_first = top.view.single;
		if (!top.interval && !top.batch)
			top.interval = INTERVAL;
		/*
		 * With this class, the kernel reports the states of threads, at the cost of few
		 * events.
		 */
		if (!top.session.with_kernel)
			top.session.kernel = POSIXTRACE_CLASS_PROCESS &
				(unsigned int)posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES);
		top.head.sampled = top.session.kernel;
		status = run_top(&top);
	}
	top_model_free(top.model);
	top_threads_free(top.threads);
	buffer_free(&top.message);
	buffer_free(&top.text);
	free(top.filter);
	session_free(&top.session);
	return status;
}

static const char *const top_usage[] = {
	"[OPTION]... PID",
	"[OPTION]... [--pid=PID|NAME,...] [--user=USER] [--cgroup=PATH|PID]",
	"[OPTION]... --wait=NAME",
	"[OPTION]... --batch [--] PROGRAM [ARG]...",
	NULL,
};

const struct command command_top = {
	.name = "top",
	.summary = "show rates, durations and thread states of processes",
	.usage = top_usage,
	.about = "Show what processes record and what their threads do, while they run: rates of\n"
		 "events, percentiles of the time from X_begin to X_end, or from X:begin to\n"
		 "X:end, states of threads, and lost events.",
	.notes = "Keys: q quit, p pause, t next table, s and S sort, r reverse, i now or total\n"
		 "first, f filter, w write the latest events (--output), h help.\n"
		 "Percentiles are accurate to 1.6 %.\n"
		 "Exit status: 0, or PROGRAM's; 1 after a failure; 2 after a usage error.",
	.operands = OPERAND_PID | OPERAND_PROGRAM,
	.options = options,
	.run = cmd_top,
};
