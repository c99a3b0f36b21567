// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace stat": what is in a log, in numbers.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#include "commands.h"
#include "escape.h"
#include "logend.h"
#include "select.h"
#include "stat.h"

/* Events between two looks at the clock. */
#define LOOK_EVERY	(1U << 16)

struct stat_command {
	const char *path;
	bool all;
	bool histograms;
	struct selection *selection;
	struct source *source;
	struct logend end;
	struct stats stats;
};

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace stat [OPTION]... LOG\n"
		"Count the events of a log: by type and by thread, how far they are apart, and how\n"
		"long it takes from X_begin to X_end, or X:begin to X:end, of the same thread.\n\n"
		"  -a, --all                all threads, also if there are many\n"
		"  -h, --help               this text\n"
		"  -H, --no-histogram       tables only\n"
		SELECT_HELP
		"\nPercentiles are wrong by a 64th at most.\n"
		"Exit status: 0; 1 after a failure, or if the log is damaged; 2 when called wrongly.\n");
}

/* How far it is, once a second. */
static void show_progress(const struct stat_command *stat, unsigned long long events, time_t *last)
{
	uint64_t total = source_total_bytes(stat->source);
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) || now.tv_sec == *last)
		return;
	*last = now.tv_sec;
	fprintf(stderr, "\r%llu events, about %llu %%\033[K", events, total ?
		(unsigned long long)(source_read_bytes(stat->source) / (total / 100 + 1)) : 0);
}

static int read_events(struct stat_command *stat)
{
	bool progress = isatty(STDERR_FILENO);
	unsigned long long events = 0;
	time_t last = 0;
	struct event event;
	int ret, err = 0;

	while (!err && (ret = source_next(stat->source, &event)) > 0) {
		logend_event(&stat->end, &event);
		err = stats_event(&stat->stats, &event, select_event(stat->selection, &event));
		if (progress && ++events % LOOK_EVERY == 0)
			show_progress(stat, events, &last);
	}
	stats_end(&stat->stats);
	if (last)
		fprintf(stderr, "\r\033[K");
	return err ? err : ret;
}

static void print_head(const struct stat_command *stat)
{
	char name[TRACE_NAME_MAX + 1] = "", date[40] = "";
	struct timespec created = { 0 };
	struct buffer text = { };
	trace_attr_t attr;
	struct tm tm;

	if (posix_trace_get_attr(source_trid(stat->source), &attr))
		return;
	posix_trace_attr_getname(&attr, name);
	posix_trace_attr_getcreatetime(&attr, &created);
	posix_trace_attr_destroy(&attr);
	gmtime_r(&created.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	escape_plain(&text, name, strnlen(name, sizeof(name)));
	printf("%-9s %.*s\n", "stream", (int)text.len, (const char *)text.data);
	printf("%-9s %s\n", "created", date);
	buffer_free(&text);
}

static void print_losses(const struct logend *end)
{
	printf("%-9s %llu", "lost", (unsigned long long)(end->lost - end->lost_before));
	if (end->gaps)
		printf(" in %llu gap%s", (unsigned long long)end->gaps, end->gaps == 1 ? "" : "s");
	if (end->lost_before)
		printf(", and %llu before the first event", (unsigned long long)end->lost_before);
	putchar('\n');
	if (end->damaged)
		printf("%-9s %llu place%s\n", "damaged", (unsigned long long)end->damaged,
		       end->damaged == 1 ? "" : "s");
}

static int run_stat(struct stat_command *stat)
{
	int err = source_open_log(stat->path, &stat->source);

	if (err) {
		source_complain(stat->path, err);
		return 1;
	}
	err = stats_init(&stat->stats);
	if (!err)
		err = read_events(stat);
	if (err) {
		complain(stat->path, -err);
		goto close;
	}
	print_head(stat);
	print_losses(&stat->end);
	stats_print(&stat->stats, stdout, stat->all, stat->histograms);
	if (fflush(stdout)) {
		err = -errno;
		complain("standard output", errno);
		goto close;
	}
	err = logend_tell(&stat->end, stat->path, stat->source);
close:
	stats_free(&stat->stats);
	source_close(stat->source);
	return err ? 1 : 0;
}

/* 0; -EINVAL if it makes no sense, 1 if help was asked for. */
static int get_options(struct stat_command *stat, int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "exclude", required_argument, NULL, 'x' },
		{ "filter", required_argument, NULL, 'F' },
		{ "from", required_argument, NULL, SELECT_FROM },
		{ "help", no_argument, NULL, 'h' },
		{ "no-histogram", no_argument, NULL, 'H' },
		{ "pid", required_argument, NULL, 'p' },
		{ "thread", required_argument, NULL, 't' },
		{ "to", required_argument, NULL, SELECT_TO },
		{ }
	};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "ahH" SELECT_SHORT_OPTIONS, options, NULL)) != -1) {
		ret = select_option(stat->selection, opt, optarg);
		if (ret < 0)
			return ret;
		if (ret)
			continue;
		switch (opt) {
		case 'a':
			stat->all = true;
			break;
		case 'h':
			print_help(stdout);
			return 1;
		case 'H':
			stat->histograms = false;
			break;
		default:
			print_help(stderr);
			return -EINVAL;
		}
	}
	if (argc - optind != 1) {
		print_help(stderr);
		return -EINVAL;
	}
	stat->path = argv[optind];
	return 0;
}

int posixtrace_stat(int argc, char **argv)
{
	struct stat_command stat = { .histograms = true };
	int ret = select_new(&stat.selection);

	if (ret) {
		complain("stat", -ret);
		return 1;
	}
	ret = get_options(&stat, argc, argv);
	if (!ret)
		ret = run_stat(&stat);
	else
		ret = ret == 1 ? 0 : 2;
	select_free(stat.selection);
	return ret;
}
