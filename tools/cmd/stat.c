// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace stat": prints statistics of the events of a log or of a running process, or what its
 * threads did.
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

#include "analyze/durations.h"
#include "analyze/measures.h"
#include "analyze/open_files.h"
#include "analyze/snapshot.h"
#include "analyze/stat.h"
#include "analyze/states.h"
#include "cmd/commands.h"
#include "cmd/log_operand.h"
#include "cmd/stat_diff.h"
#include "cmd/stat_live.h"
#include "event/logend.h"
#include "event/select.h"
#include "print/blocked_print.h"
#include "print/measures_json.h"
#include "print/measures_print.h"
#include "print/stat_print.h"
#include "print/states_print.h"
#include "session/session.h"
#include "util/escape.h"
#include "util/message.h"
#include "util/pager.h"

/* Check the clock after this many events. */
#define LOOK_EVERY	(1U << 16)

#define SECONDS_MAX	999999

struct stat_command {
	struct logs logs;
	const char *path;	/* name of @logs in messages, or the operand PID */
	pid_t pid;		/* 0: read @logs */
	unsigned long seconds;
	bool all;
	bool histograms;
	bool with_states;	/* print what threads did, not event counts */
	bool json;		/* print measures as JSON */
	bool diff;		/* compare two logs, at @paths */
	char **paths;
	const char *by;		/* argument of --by; NULL: print event counts */
	bool with_kernel;	/* --kernel was given */
	unsigned int kernel;	/* POSIXTRACE_CLASS_* */
	struct selection *selection;
	struct source *source;
	struct logend end;
	struct stats stats;
	struct states *states;	/* or NULL */
	struct snapshot *snapshot;	/* states of threads at the start, or NULL */
	struct snapshot *now;	/* for a process: states of threads at the end; or NULL */
	struct open_files *files;	/* for a log: at its start; for a process: at its end */
	struct measures_options measure;
	struct measures *measures;	/* or NULL */
	int error;		/* error from printing */
};

/* Updates the progress line once a second. */
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

static bool only_measures(const struct stat_command *stat)
{
	return stat->by || stat->json;
}

static int count_event(void *arg, const struct event *event)
{
	struct stat_command *stat = arg;
	bool selected = select_event(stat->selection, event);
	int err = 0;

	logend_event(&stat->end, event);
	if (stat->states)
		return states_event(stat->states, event, selected);
	if (stat->measures)
		err = measures_event(stat->measures, event, selected);
	if (err || only_measures(stat))
		return err;
	return stats_event(&stat->stats, event, selected);
}

static int read_events(struct stat_command *stat)
{
	bool progress = isatty(STDERR_FILENO);
	unsigned long long events = 0;
	time_t last = 0;
	struct event event;
	int ret, err = 0;

	while (!err && (ret = select_next(stat->selection, stat->source, &event)) > 0) {
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

static void print_head(trace_id_t log)
{
	char name[TRACE_NAME_MAX + 1] = "", date[40] = "";
	struct timespec created = { 0 };
	struct buffer text = { };
	trace_attr_t attr;
	struct tm tm;

	if (posix_trace_get_attr(log, &attr))
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

static uint64_t lost_of(const struct logend *end)
{
	return end->lost - end->lost_before - end->lost_after;
}

static void print_losses(const struct logend *end)
{
	printf("%-9s %llu", "lost", (unsigned long long)lost_of(end));
	if (end->gaps)
		printf(" in %llu gap%s", (unsigned long long)end->gaps, end->gaps == 1 ? "" : "s");
	if (end->lost_before)
		printf(", %llu before the first event", (unsigned long long)end->lost_before);
	if (end->lost_after)
		printf(", %llu after the last", (unsigned long long)end->lost_after);
	if (end->overwritten)
		printf("; %llu overwritten in the log", (unsigned long long)end->overwritten);
	putchar('\n');
	if (end->damaged)
		printf("%-9s %llu place%s\n", "damaged", (unsigned long long)end->damaged,
		       end->damaged == 1 ? "" : "s");
}

/* Prints the identity and the losses of each log, if there are several. */
static int print_logs(const struct source *source)
{
	struct buffer path = { };
	struct logend end;
	int err;

	for (size_t i = 0; i < source_logs(source); i++) {
		err = logend_read_log(&end, source, i);
		if (err)
			return err;
		buffer_reset(&path);
		escape_plain(&path, source_log_path(source, i), strlen(source_log_path(source, i)));
		printf("%-9s %.*s\n", "log", (int)path.len, (const char *)path.data);
		print_head(source_log_trid(source, i));
		printf("%-9s %llu", "lost", (unsigned long long)end.lost);
		if (end.overwritten)
			printf("; %llu overwritten in the log",
			       (unsigned long long)end.overwritten);
		putchar('\n');
		if (end.damaged)
			printf("%-9s %llu place%s\n", "damaged", (unsigned long long)end.damaged,
			       end.damaged == 1 ? "" : "s");
		putchar('\n');
	}
	printf("%-9s %zu\n", "logs", source_logs(source));
	buffer_free(&path);
	return 0;
}

static int print_states(struct stat_command *stat, struct source *source)
{
	int err = states_end(stat->states);

	if (err)
		return err;
	states_print(stat->states, source, stdout, stat->all);
	blocked_print(stat->states, source, stat->now, stat->files, stdout,
		      stat->all);
	return 0;
}

/* Explains why --by has no result: the field may be misspelled, or the log may have no texts. */
static void check_field(const struct stat_command *stat)
{
	const struct measures *measures = stat->measures;
	uint64_t events = measures_user(measures) + measures_system(measures);
	size_t types;

	if (stat->measure.by == MEASURES_BY_FIELD && events &&
	    measures_without(measures, &types) == events)
		tell("--by: %s: no event has this field", stat->by);
	if (stat->measure.by == MEASURES_BY_FILE &&
	    !(stat->measure.classes & POSIXTRACE_CLASS_STRINGS))
		tell("--by: file: needs a log of record --kernel=syscall,strings,process");
}

static int print_counts(struct stat_command *stat)
{
	int err = stat->measures ? measures_end(stat->measures) : 0;

	if (err)
		return err;
	if (stat->json)
		return measures_json(stat->measures, lost_of(&stat->end), stdout);
	stats_end(&stat->stats);
	if (!stat->by)
		stats_print(&stat->stats, stdout, stat->all, stat->histograms);
	if (!stat->measures)
		return 0;
	measures_print(stat->measures, stat->by, stdout, stat->all);
	check_field(stat);
	return 0;
}

static int print_all(struct stat_command *stat, struct source *source)
{
	int err;

	if (!stat->json)
		print_losses(&stat->end);
	err = stat->states ? print_states(stat, source) : print_counts(stat);
	if (err) {
		complain("stat", -err);
		return err;
	}
	return end_output();
}

static int begin_states(struct stat_command *stat)
{
	if (!(stat->kernel & POSIXTRACE_CLASS_SCHED))
		tell("%s: states are unknown without kernel events: record --kernel=sched",
		     stat->path);
	return states_new(stat->kernel, &stat->states);
}

/* Begins the parts of the command that need to know the kernel events of the trace. */
static int begin(struct stat_command *stat)
{
	if (stat->with_states)
		return begin_states(stat);
	stat->measure.classes = stat->kernel;
	stat->measure.kinds = 1U << MEASURE_CALL;
	if (only_measures(stat))
		stat->measure.kinds |= 1U << MEASURE_EVENT | 1U << MEASURE_SCOPE;
	if (!only_measures(stat) && !(stat->kernel & POSIXTRACE_CLASS_SYSCALL))
		return 0;
	return measures_new(&stat->measure, &stat->measures);
}

/* Reads the states of the threads at the start of recording. */
static int read_start(void *arg, struct source *source)
{
	struct stat_command *stat = arg;
	int err;

	if (stat->measures)
		return measures_start(stat->measures, source);
	if (!stat->states)
		return 0;
	err = snapshot_read(source, &stat->snapshot);
	if (!err && !stat->pid)
		err = open_files_read_all(source, &stat->files);
	if (!err)
		states_start(stat->states, source, stat->snapshot);
	return err;
}

static int begin_log(struct stat_command *stat)
{
	int err = source_get_classes(stat->source, &stat->kernel);

	if (err)
		return err;
	err = begin(stat);
	return err ? err : read_start(stat, stat->source);
}

static int run_log(struct stat_command *stat)
{
	int err = source_open_logs(stat->logs.paths, stat->logs.count, &stat->source);

	if (err)
		return err;
	stat->stats.with_fields = true;
	err = durations_select(stat->selection, stat->source, NULL);
	if (err)
		goto close;
	err = begin_log(stat);
	if (!err)
		err = read_events(stat);
	if (!err)
		err = logend_read(&stat->end, stat->source);
	if (err) {
		complain(stat->path, -err);
		goto close;
	}
	pager_begin();
	if (!stat->json && stat->logs.count > 1)
		err = print_logs(stat->source);
	else if (!stat->json)
		print_head(source_trid(stat->source));
	if (!err)
		err = print_all(stat, stat->source);
	if (!err)
		err = logend_tell(&stat->end, stat->path, stat->source);
	if (!err)
		err = select_complain(stat->selection, stat->path, stat->source);
close:
	source_close(stat->source);
	return err;
}

/* Runs while the stream is open, because thread names are only known then. */
static void end_live(void *arg, struct source *source)
{
	struct stat_command *stat = arg;

	/* Without recorded data, all events count as truncated: do not report that. */
	if (!stat->kernel && !stat->by && !select_needs_data(stat->selection))
		stat->stats.truncated = 0;
	stat->end.lost_before = 0;
	if (stat->states)
		stat->error = snapshot_read(source, &stat->now);
	if (stat->states && !stat->error)
		stat->error = open_files_read_all(source, &stat->files);
	if (stat->error) {
		complain("stat", -stat->error);
		return;
	}
	if (!stat->json)
		printf("%-9s %d\n", "process", (int)stat->pid);
	stat->error = print_all(stat, source);
}

static int run_live(struct stat_command *stat)
{
	const struct stat_live live = {
		.pid = stat->pid,
		.seconds = stat->seconds,
		.kernel = stat->kernel,
		.data = stat->kernel || stat->by || select_needs_data(stat->selection),
		.start = read_start,
		.take = count_event,
		.end = end_live,
		.arg = stat,
		.lost = &stat->end.lost,
	};
	int err = begin(stat);

	if (err) {
		complain("stat", -err);
		return err;
	}
	err = stat_live(&live);
	return err ? err : stat->error;
}

/* Digits are a process id. For a file whose name has only digits, the user must write ./NUMBER. */
static pid_t parse_pid(const char *text)
{
	long pid;

	if (!*text || text[strspn(text, "0123456789")])
		return 0;
	errno = 0;
	pid = strtol(text, NULL, 10);
	return errno || pid > INT_MAX || !pid ? INT_MAX : (pid_t)pid;
}

static int run_diff(const struct stat_command *stat)
{
	const struct stat_diff diff = {
		.paths = stat->paths,
		.selection = stat->selection,
		.by = stat->by,
		.measure = stat->measure,
		.all = stat->all,
		.json = stat->json,
	};

	return stat_diff(&diff) ? 1 : 0;
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
	snapshot_free(stat->snapshot);
	snapshot_free(stat->now);
	open_files_free(stat->files);
	measures_free(stat->measures);
	return err ? 1 : 0;
}

static int call_kernel(void *target, const struct command_option *option, const char *value)
{
	struct stat_command *stat = target;

	stat->with_kernel = true;
	return session_add_classes(option, value, &stat->kernel);
}

static const struct option_choice by_words[] = {
	{ "process", MEASURES_BY_PROCESS },
	{ "thread", MEASURES_BY_THREAD },
	{ "file", MEASURES_BY_FILE },
	{ }
};

/*
 * "--by WORD" divides by process, thread or file. For a field with such a name, the user must write
 * a dot before the name.
 */
static int call_by(void *target, const struct command_option *option, const char *value)
{
	const struct option_choice *word = option_choose(option, value, strlen(value));
	struct stat_command *stat = target;
	struct measures_options *measure = &stat->measure;
	int err;

	stat->by = value + (*value == '.');
	measure->by = word ? (enum measures_by)word->value : MEASURES_BY_FIELD;
	if (word)
		return 0;
	field_path_free(&measure->field);
	err = field_path_parse(stat->by, &measure->field);
	if (err == -EINVAL)
		tell("--%s: must be process, thread, file or a field, as at.x (got \"%s\")",
		     option->name, value);
	return err;
}

static const struct command_option options[] = {
	{ OPTION_FLAG, 'a', "all", NULL, "print all rows of the tables, not only the first 20",
	  OPTION_BOOL_AT(struct stat_command, all) },
	{ OPTION_CALL, 'b', "by", "WHAT",
	  "divide events, scopes and system calls by process, thread, file or the value of a field",
	  .choices = by_words, .call = call_by },
	{ OPTION_FLAG, 0, "diff", NULL, "compare two logs: what takes longer in the second",
	  OPTION_BOOL_AT(struct stat_command, diff) },
	{ OPTION_FLAG, 'j', "json", NULL, "print a JSON object for each measure",
	  OPTION_BOOL_AT(struct stat_command, json) },
	{ OPTION_CALL, 'k', "kernel", "CLASS,...",
	  "with PID: kernel events to record (with --states: sched,process)",
	  .choices = session_classes, .list = true, .call = call_kernel },
	{ OPTION_CLEAR, 0, "no-histogram", NULL, "print tables only",
	  OPTION_BOOL_AT(struct stat_command, histograms) },
	{ OPTION_NUMBER, 'd', "seconds", "N",
	  "stop after N seconds; otherwise when PID ends, or at Ctrl-C",
	  OPTION_NUMBER_AT(struct stat_command, seconds), .min = 1, .max = SECONDS_MAX },
	{ OPTION_FLAG, 'S', "states", NULL,
	  "print how long threads ran and waited, for what, and who woke them: see record --kernel",
	  OPTION_BOOL_AT(struct stat_command, with_states) },
	OPTION_GROUP_AT(struct stat_command, selection, select_options),
	{ }
};

/* Rejects options without effect. Returns OPTIONS_OK or the exit status. */
static int check_options(const struct stat_command *stat)
{
	if (!stat->pid && stat->seconds)
		return usage_error("stat", "--seconds: needs a PID (got \"%s\")", stat->path);
	if (!stat->pid && stat->with_kernel)
		return usage_error("stat", "--kernel: needs a PID; a log has what was recorded");
	if (stat->pid && select_has_durations(stat->selection))
		return usage_error("stat",
				   "--filter: a duration is known at the end of its scope: record a log");
	if (stat->with_states && only_measures(stat))
		return usage_error("stat", "--%s: has no effect on --states",
				   stat->by ? "by" : "json");
	return OPTIONS_OK;
}

static int check_diff(const struct stat_command *stat, int operands)
{
	if (operands != 2)
		return usage_error("stat", "--diff: needs two LOGs, not %d", operands);
	for (int i = 0; i < 2; i++) {
		if (parse_pid(stat->paths[i]))
			return usage_error("stat", "--diff: needs a LOG (got PID \"%s\")",
					   stat->paths[i]);
	}
	if (stat->with_states)
		return usage_error("stat", "--states: has no effect on --diff");
	if (stat->seconds || stat->with_kernel)
		return usage_error("stat", "--%s: needs a PID, not --diff",
				   stat->seconds ? "seconds" : "kernel");
	return OPTIONS_OK;
}

/* Gets the process, or the logs. Returns OPTIONS_OK or the exit status. */
static int get_operands(struct stat_command *stat, int argc, char **argv)
{
	int status;

	for (int i = optind; i < argc; i++) {
		stat->pid = parse_pid(argv[i]);
		if (stat->pid && argc - optind > 1)
			return usage_error("stat",
					   "stat: takes LOGs or one PID (got PID \"%s\" of %d)",
					   argv[i], argc - optind);
		stat->path = argv[i];
	}
	if (stat->pid)
		return OPTIONS_OK;
	status = log_operands("stat", argc, argv, &stat->logs);
	stat->path = stat->logs.name;
	return status;
}

static int get_options(struct stat_command *stat, int argc, char **argv)
{
	int status = options_parse(&command_stat, argc, argv, stat);

	if (status != OPTIONS_OK)
		return status;
	if (select_check(stat->selection))
		return 1;
	stat->paths = argv + optind;
	if (stat->diff)
		return check_diff(stat, argc - optind);
	status = get_operands(stat, argc, argv);
	if (status != OPTIONS_OK)
		return status;
	if (!stat->with_kernel && stat->with_states)
		stat->kernel = POSIXTRACE_CLASS_SCHED | POSIXTRACE_CLASS_PROCESS;
	return check_options(stat);
}

static int cmd_stat(int argc, char **argv)
{
	struct stat_command stat = { .histograms = true };
	int status, err = select_new(&stat.selection);

	if (err) {
		complain("stat", -err);
		return 1;
	}
	status = get_options(&stat, argc, argv);
	if (status == OPTIONS_OK)
		status = stat.diff ? run_diff(&stat) : run_stat(&stat);
	logs_free(&stat.logs);
	field_path_free(&stat.measure.field);
	select_free(stat.selection);
	return status;
}

static const char *const stat_usage[] = {
	"[OPTION]... [LOG]...",
	"[OPTION]... [--seconds=N] PID",
	"[OPTION]... --diff LOG LOG",
	NULL,
};

const struct command command_stat = {
	.name = "stat",
	.summary = "count the events of a log or process, and measure times",
	.usage = stat_usage,
	.about = "Count the events of a log, or of a running process, by type and by thread.\n"
		 "Measure the intervals between events of a type, the time from X_begin to X_end,\n"
		 "or from X:begin to X:end, of the same thread, and the system calls.",
	.notes = "Percentiles are accurate to 1.6 %.\n"
		 "Exit status: 0; 1 after a failure or if the log is damaged; 2 after a usage error.",
	.operands = OPERAND_PID | OPERAND_FILE,
	.options = options,
	.run = cmd_stat,
};
