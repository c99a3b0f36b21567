// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace stat": prints statistics of the events of a log or of a running process, or what
 * its threads did.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <linux/posixtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

#include "analyze/stat.h"
#include "analyze/states.h"
#include "cmd/commands.h"
#include "cmd/stat_live.h"
#include "event/logend.h"
#include "event/select.h"
#include "print/stat_print.h"
#include "print/states_print.h"
#include "session/session.h"
#include "util/escape.h"
#include "util/message.h"

/* Number of events between two looks at the clock. */
#define LOOK_EVERY	(1U << 16)

struct stat_command {
	const char *path;
	pid_t pid;		/* or 0: @path is a log */
	unsigned int seconds;
	bool all;
	bool histograms;
	bool with_states;	/* print what threads did, not the counts of events */
	unsigned int kernel;	/* POSIXTRACE_CLASS_* */
	struct selection *selection;
	struct source *source;
	struct logend end;
	struct stats stats;
	struct states *states;	/* or NULL */
	int error;		/* of printing */
};

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace stat [OPTION]... LOG\n"
		"       posixtrace stat [OPTION]... [--seconds=N] PID\n"
		"Count the events of a log, or of a running process, by type and by thread. Measure\n"
		"the intervals between events of a type, and the time from X_begin to X_end, or from\n"
		"X:begin to X:end, of the same thread.\n\n"
		"  -a, --all                print all threads, not only the busiest\n"
		"  -h, --help               print this help\n"
		"  -H, --no-histogram       print tables only\n"
		"  -k, --kernel=CLASS,...   with --states and PID: events of the kernel to record\n"
		"                           (sched,process)\n"
		"  -S, --states             print when threads ran, waited, in what, and who woke them;\n"
		"                           LOG needs events of the kernel: record --kernel=all\n"
		"  -s, --seconds=N          count for N seconds, not until PID ends or Ctrl-C\n"
		SELECT_HELP
		"\nPercentiles are accurate to 1.6 %%.\n"
		"Exit status: 0; 1 after a failure or if the log is damaged; 2 after a usage error.\n");
}

/* Shows the progress once a second. */
static void show_progress(const struct stat_command *stat, unsigned long long events, time_t *last)
{
	struct timespec now;
	uint64_t total;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) || now.tv_sec == *last)
		return;
	*last = now.tv_sec;
	total = source_total_bytes(stat->source);
	fprintf(stderr, "\r%llu events, about %llu %%\033[K", events, total ?
		(unsigned long long)(source_read_bytes(stat->source) / (total / 100 + 1)) : 0);
	fflush(stderr);
}

static int count_event(void *arg, const struct event *event)
{
	struct stat_command *stat = arg;
	bool selected = select_event(stat->selection, event);

	logend_event(&stat->end, event);
	if (stat->states)
		return states_event(stat->states, event, selected);
	return stats_event(&stat->stats, event, selected);
}

static int read_events(struct stat_command *stat)
{
	bool progress = isatty(STDERR_FILENO);
	unsigned long long events = 0;
	time_t last = 0;
	struct event event;
	int ret, err = 0;

	while (!err && (ret = source_next(stat->source, &event)) > 0) {
		err = count_event(stat, &event);
		if (progress && ++events % LOOK_EVERY == 0)
			show_progress(stat, events, &last);
	}
	if (last) {
		fprintf(stderr, "\r\033[K");
		fflush(stderr);
	}
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
	printf("%-9s %llu", "lost",
	       (unsigned long long)(end->lost - end->lost_before - end->lost_behind));
	if (end->gaps)
		printf(" in %llu gap%s", (unsigned long long)end->gaps, end->gaps == 1 ? "" : "s");
	if (end->lost_before)
		printf(", %llu before the first event", (unsigned long long)end->lost_before);
	if (end->lost_behind)
		printf(", %llu after the last", (unsigned long long)end->lost_behind);
	if (end->overwritten)
		printf("; %llu overwritten in the log", (unsigned long long)end->overwritten);
	putchar('\n');
	if (end->damaged)
		printf("%-9s %llu place%s\n", "damaged", (unsigned long long)end->damaged,
		       end->damaged == 1 ? "" : "s");
}

static int print_all(struct stat_command *stat, struct source *source)
{
	int err;

	print_losses(&stat->end);
	if (stat->states) {
		err = states_end(stat->states);
		if (err) {
			complain("stat", -err);
			return err;
		}
		states_print(stat->states, source, stdout, stat->all);
	} else {
		stats_end(&stat->stats);
		stats_print(&stat->stats, stdout, stat->all, stat->histograms);
	}
	if (!fflush(stdout))
		return 0;
	complain_of_output(errno);
	return -EIO;
}

static int begin_states(struct stat_command *stat)
{
	if (!(stat->kernel & POSIXTRACE_CLASS_SCHED))
		tell("%s: states are unknown without events of the kernel: record --kernel=sched",
		     stat->path);
	return states_new(stat->kernel, &stat->states);
}

static int begin_states_of_log(struct stat_command *stat)
{
	trace_attr_t attr;
	int err = -posix_trace_get_attr(source_trid(stat->source), &attr);

	if (err)
		return err;
	posixtrace_attr_getkernel(&attr, &stat->kernel);
	posix_trace_attr_destroy(&attr);
	return begin_states(stat);
}

static int run_log(struct stat_command *stat)
{
	int err = source_open_log(stat->path, &stat->source);

	if (err) {
		source_complain(stat->path, err);
		return err;
	}
	stat->stats.with_fields = true;
	if (stat->with_states)
		err = begin_states_of_log(stat);
	if (!err)
		err = read_events(stat);
	if (!err)
		err = logend_read(&stat->end, stat->source);
	if (err) {
		complain(stat->path, -err);
		goto close;
	}
	print_head(stat);
	err = print_all(stat, stat->source);
	if (!err)
		err = logend_tell(&stat->end, stat->path, stat->source);
close:
	source_close(stat->source);
	return err;
}

/* Names of threads are known while the stream is open. */
static void end_live(void *arg, struct source *source)
{
	struct stat_command *stat = arg;

	/* If the stream records no data, all events are truncated: do not report that. */
	if (!stat->states && !select_needs_data(stat->selection))
		stat->stats.truncated = 0;
	stat->end.lost_before = 0;
	printf("%-9s %d\n", "process", (int)stat->pid);
	stat->error = print_all(stat, source);
}

static int run_live(struct stat_command *stat)
{
	const struct stat_live live = {
		.pid = stat->pid,
		.seconds = stat->seconds,
		.kernel = stat->with_states ? stat->kernel : 0,
		.data = stat->with_states || select_needs_data(stat->selection),
		.take = count_event,
		.end = end_live,
		.arg = stat,
		.lost = &stat->end.lost,
	};
	int err = stat->with_states ? begin_states(stat) : 0;

	if (err) {
		complain("stat", -err);
		return err;
	}
	err = stat_live(&live);
	return err ? err : stat->error;
}

/* Digits are a process id. The user must name such a file ./NUMBER. */
static pid_t parse_pid(const char *text)
{
	long pid;

	if (!*text || text[strspn(text, "0123456789")])
		return 0;
	errno = 0;
	pid = strtol(text, NULL, 10);
	return errno || pid > INT_MAX || !pid ? INT_MAX : (pid_t)pid;
}

static int run_stat(struct stat_command *stat)
{
	int err = stats_init(&stat->stats);

	if (err) {
		complain("stat", -err);
		return 1;
	}
	err = stat->pid ? run_live(stat) : run_log(stat);
	stats_free(&stat->stats);
	states_free(stat->states);
	return err ? 1 : 0;
}

static int set_seconds(struct stat_command *stat, const char *text)
{
	char *end;

	errno = 0;
	stat->seconds = strtoul(text, &end, 10);
	if (!errno && *text >= '1' && *text <= '9' && !*end && strlen(text) < 7)
		return 0;
	tell("--seconds: must be a number from 1 to 999999 (got \"%s\")", text);
	return -EINVAL;
}

/* Refuses options that would have no effect. @kernel: --kernel was given. */
static int check_options(const struct stat_command *stat, bool kernel)
{
	if (!stat->pid && stat->seconds)
		usage_error("stat", "--seconds: needs a PID (got \"%s\")", stat->path);
	else if (!stat->pid && kernel)
		usage_error("stat", "--kernel: needs a PID; a log has what was recorded");
	else if (kernel && !stat->with_states)
		usage_error("stat", "--kernel: needs --states");
	else
		return 0;
	return -EINVAL;
}

/* Returns 0, 1 after printing the help, or -EINVAL if the options are invalid. */
static int get_options(struct stat_command *stat, int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "exclude", required_argument, NULL, 'x' },
		{ "filter", required_argument, NULL, 'F' },
		{ "from", required_argument, NULL, SELECT_FROM },
		{ "help", no_argument, NULL, 'h' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "no-histogram", no_argument, NULL, 'H' },
		{ "pid", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, 's' },
		{ "states", no_argument, NULL, 'S' },
		{ "thread", required_argument, NULL, 't' },
		{ "to", required_argument, NULL, SELECT_TO },
		{ }
	};
	static const char letters[] = "ahHk:Ss:" SELECT_SHORT_OPTIONS;
	bool kernel = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, letters, options, NULL)) != -1) {
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
		case 'k':
			kernel = true;
			stat->kernel |= session_classes(optarg);
			break;
		case 'S':
			stat->with_states = true;
			break;
		case 's':
			ret = set_seconds(stat, optarg);
			if (ret)
				return ret;
			break;
		default:
			print_help(stderr);
			return -EINVAL;
		}
	}
	if (argc - optind != 1) {
		usage_error("stat", argc == optind ?
			    "stat: needs a PID, or a LOG such as posixtrace.log" :
			    "stat: counts one LOG or process, not %d", argc - optind);
		return -EINVAL;
	}
	stat->path = argv[optind];
	stat->pid = parse_pid(stat->path);
	if (!kernel)
		stat->kernel = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS;
	return check_options(stat, kernel);
}

int cmd_stat(int argc, char **argv)
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
