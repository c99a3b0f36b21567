// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace why": prints why the slowest instances of a scope, or a period of a thread, took so
 * long. Reads the log twice: first to find these periods, then to collect what the threads did in
 * them.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "analyze/critical.h"
#include "analyze/instances.h"
#include "analyze/snapshot.h"
#include "analyze/tracks.h"
#include "cmd/commands.h"
#include "cmd/log_operand.h"
#include "event/logend.h"
#include "event/select.h"
#include "print/why_print.h"
#include "util/message.h"
#include "util/pager.h"

#define WORST_DEFAULT	5

struct why_command {
	struct logs logs;
	const char *path;	/* name of the log in messages */
	const char *scope;
	unsigned long worst;	/* 0: --worst was not given */
	struct selection *selection;
	bool all;
	bool json;
	unsigned int classes;	/* POSIXTRACE_CLASS_* of the log */
	struct source *source;
	struct logend end;
	struct instances *instances;
	struct tracks *tracks;
	struct snapshot *snapshot;	/* states of the threads at the start */
};

/* ------------------------------------------------------------------ */
/* The log								*/

/*
 * Checks the event classes of the log: scheduler events are necessary, other classes add details.
 */
static int check_classes(struct why_command *why)
{
	int err = source_get_classes(why->source, &why->classes);

	if (err) {
		complain(why->path, -err);
		return err;
	}
	if (!(why->classes & POSIXTRACE_CLASS_SCHED)) {
		tell("%s: lacks the class sched: record --kernel=sched,process,syscall", why->path);
		return -ENODATA;
	}
	if (!(why->classes & POSIXTRACE_CLASS_SYSCALL))
		tell("%s: system calls are unknown: record --kernel=sched,process,syscall",
		     why->path);
	return 0;
}

static int find_instances(struct why_command *why)
{
	struct event event;
	int ret, err = 0;

	while (!err && (ret = source_next(why->source, &event)) > 0)
		err = instances_event(why->instances, &event);
	return err ? err : ret;
}

static int collect(struct why_command *why)
{
	struct event event;
	int ret = 0, err = source_rewind(why->source);

	if (!err)
		err = snapshot_read(why->source, &why->snapshot);
	if (!err)
		tracks_start(why->tracks, why->snapshot);
	while (!err && (ret = source_next(why->source, &event)) > 0) {
		logend_event(&why->end, &event);
		err = tracks_event(why->tracks, &event);
	}
	if (!err)
		err = ret;
	return err ? err : tracks_end(why->tracks);
}

/* ------------------------------------------------------------------ */
/* Results								*/

static int explain(struct why_command *why, const struct instance *instance, size_t number,
		   size_t count)
{
	struct why result = {
		.tracks = why->tracks,
		.thread = tracks_number(why->tracks, instance->pid, instance->key),
		.scope = why->scope,
		.number = number,
		.of = count,
		.begin = instance->begin,
		.end = instance->end,
		.first = instances_first(why->instances),
	};
	struct parts *parts;
	int err = critical_divide(why->tracks, result.thread, result.begin, result.end, &parts);

	if (err)
		return err;
	result.parts = parts;
	if (why->json) {
		err = why_json(&result, stdout);
	} else {
		if (number > 1)
			putchar('\n');
		err = why_print(&result, stdout, why->all);
	}
	parts_free(parts);
	return err;
}

static void tell_counts(const struct why_command *why, const struct instances_counts *counts)
{
	if (counts->doubtful)
		tell("%s: %llu of %s left out: events were lost between begin and end", why->path,
		     (unsigned long long)counts->doubtful, why->scope);
	if (counts->unmatched)
		tell("%s: %llu of %s left out: begin or end is missing in their thread", why->path,
		     (unsigned long long)counts->unmatched, why->scope);
}

/* Reports that nothing was found to explain. */
static int tell_none(const struct why_command *why)
{
	if (why->scope)
		tell("%s: no complete %s in this period: posixtrace stat lists the scopes",
		     why->path, why->scope);
	else if (select_has_all(why->selection) ||
		 !select_complain(why->selection, why->path, why->source))
		tell("%s: no thread has such events in this period", why->path);
	return -ENODATA;
}

static int explain_all(struct why_command *why)
{
	struct instances_counts counts;
	size_t count;
	const struct instance *found = instances_end(why->instances, &counts, &count);
	struct window *windows = calloc(count + 1, sizeof(*windows));
	int err;

	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		windows[i] = (struct window){ found[i].begin, found[i].end };
	err = tracks_new(why->classes, windows, count, &why->tracks);
	free(windows);
	if (!err)
		err = collect(why);
	if (err)
		return err;
	if (count)
		pager_begin();
	tell_counts(why, &counts);
	if (!count)
		return tell_none(why);
	for (size_t i = 0; !err && i < count; i++)
		err = explain(why, &found[i], i + 1, count);
	if (!err && tracks_more(why->tracks))
		tell("%s: too much for the memory, so parts are unknown: use --worst, --from, --to",
		     why->path);
	return err;
}

static int run_log(struct why_command *why)
{
	const struct instances_options options = {
		.scope = why->scope,
		.worst = why->scope ? why->worst : 1,
		.selection = why->selection,
	};
	int err = check_classes(why);

	if (err)
		return err;
	err = instances_new(&options, &why->instances);
	if (!err)
		err = find_instances(why);
	if (!err)
		err = explain_all(why);
	if (!err)
		err = logend_read(&why->end, why->source);
	if (err == -ENODATA)
		return err;
	if (err) {
		complain(why->path, -err);
		return err;
	}
	err = end_output();
	return err ? err : logend_tell(&why->end, why->path, why->source);
}

static int run_why(struct why_command *why)
{
	int err = source_open_logs(why->logs.paths, why->logs.count, &why->source);

	if (err)
		return 1;
	err = run_log(why);
	tracks_free(why->tracks);
	snapshot_free(why->snapshot);
	instances_free(why->instances);
	source_close(why->source);
	return err ? 1 : 0;
}

/* ------------------------------------------------------------------ */
/* Options								*/

static const struct command_option options[] = {
	{ OPTION_FLAG, 'a', "all", NULL, "also print parts of less than half a percent",
	  OPTION_BOOL_AT(struct why_command, all) },
	{ OPTION_FLAG, 'j', "json", NULL, "print a JSON object for each instance",
	  OPTION_BOOL_AT(struct why_command, json) },
	{ OPTION_TEXT, 0, "scope", "NAME",
	  "explain instances of a scope or system call, not a thread from begin to end",
	  OPTION_TEXT_AT(struct why_command, scope) },
	{ OPTION_NUMBER, 0, "worst", "N", "with --scope: the N slowest instances (default: 5)",
	  OPTION_NUMBER_AT(struct why_command, worst), .min = 1, .max = INSTANCES_MAX },
	OPTION_GROUP_AT(struct why_command, selection, select_options),
	{ }
};

static int get_options(struct why_command *why, int argc, char **argv)
{
	int status = options_parse(&command_why, argc, argv, why);

	if (status != OPTIONS_OK)
		return status;
	if (why->worst && !why->scope)
		return usage_error("why", "--worst: needs --scope");
	if (!why->scope && select_has_durations(why->selection))
		return usage_error("why", "--filter: a duration needs --scope");
	if (select_check(why->selection))
		return 1;
	if (!why->worst)
		why->worst = WORST_DEFAULT;
	status = log_operands("why", argc, argv, &why->logs);
	why->path = why->logs.name;
	return status;
}

static int cmd_why(int argc, char **argv)
{
	struct why_command why = { };
	int status, err = select_new(&why.selection);

	if (err) {
		complain("why", -err);
		return 1;
	}
	status = get_options(&why, argc, argv);
	if (status == OPTIONS_OK)
		status = run_why(&why);
	logs_free(&why.logs);
	select_free(why.selection);
	return status;
}

static const char *const why_usage[] = {
	"[OPTION]... --scope=NAME [LOG]...",
	"[OPTION]... [--tid=TID] [LOG]...",
	NULL,
};

const struct command command_why = {
	.name = "why",
	.summary = "explain why a scope or thread took so long",
	.usage = why_usage,
	.about = "Divide the slowest instances of a scope, or the life of a thread, into running,\n"
		 "waiting for a processor and being blocked, and each wait into what its waker\n"
		 "did. The log needs the kernel events sched, and should have process and syscall.",
	.notes = "A scope is the time from NAME_begin to NAME_end, or from NAME:begin to\n"
		 "NAME:end, of the same thread. The parts of a part add up to its time.\n"
		 "Exit status: 0; 1 after a failure, or if there is nothing to explain; 2 after a\n"
		 "usage error.",
	.operands = OPERAND_FILE,
	.options = options,
	.run = cmd_why,
};
