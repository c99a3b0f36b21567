// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace dump": prints the events of a log, even while the log is being written.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <trace.h>
#include <unistd.h>

#include "analyze/descriptors.h"
#include "analyze/durations.h"
#include "cmd/commands.h"
#include "cmd/log_operand.h"
#include "elf/symbols.h"
#include "event/formats.h"
#include "event/logend.h"
#include "event/misfits.h"
#include "event/select.h"
#include "print/print.h"
#include "util/message.h"
#include "util/pager.h"

/* Poll interval for files without inotify notifications, such as on NFS. */
#define LOOK_MS		1000

/* Check for signals after this many events: the program may record faster than we print. */
#define BATCH		4096

struct dump {
	struct logs logs;
	const char *path;	/* name of @logs in messages; the path if there is only one log */
	bool follow;
	bool symbolize;
	const char *symfs;	/* directory, or NULL */
	const char *format_file;	/* argument of --format-file, or NULL */
	struct formats *formats;
	struct selection *selection;
	struct descriptors *descriptors;
	struct print print;
	struct source *source;
	bool cleared;			/* the log was cleared, and its successor is not open yet */
	struct buffer text;
	struct logend end;
};

/* ------------------------------------------------------------------ */
/* Events								*/

static int print_one(struct dump *dump, const struct event *event)
{
	int err = 0;

	if (dump->follow && dump->symbolize)
		err = symbols_event(dump->print.symbols, event);
	if (err)
		return err;
	logend_event(&dump->end, event);
	print_see_first(&dump->print, select_first_time(dump->selection));
	print_see(&dump->print, event);
	descriptors_reach(dump->descriptors, dump->source, event->time);
	if (event->type == POSIXTRACE_SYSCALL_EXIT)
		descriptors_event(dump->descriptors, event);
	if (select_event(dump->selection, event))
		err = print_event(&dump->print, &dump->text, event);
	if (event->type != POSIXTRACE_SYSCALL_EXIT)
		descriptors_event(dump->descriptors, event);
	return err;
}

static bool was_cleared(struct dump *dump)
{
	if (!dump->follow || dump->cleared || !source_was_cleared(dump->source))
		return dump->cleared;
	tell("%s: the log was cleared; the events of the new log follow", dump->path);
	dump->cleared = true;
	return true;
}

/*
 * Prints at most @max of the events that the log has now. Stops at the place where the log was
 * cleared, which is not damage. Returns the number of events, or negative errno.
 */
static long print_events(struct dump *dump, long max)
{
	struct event event;
	long count = 0;
	int ret = 0, err;

	while (count < max && (ret = select_next(dump->selection, dump->source, &event)) > 0) {
		if (event.type == POSIX_TRACE_ERROR && was_cleared(dump))
			break;
		err = print_one(dump, &event);
		if (err) {
			complain_of_output(-err);
			return err;
		}
		count++;
	}
	if (ret < 0) {
		complain(dump->path, -ret);
		return ret;
	}
	err = print_write(&dump->print, &dump->text);
	if (err)
		complain_of_output(-err);
	return err ? err : count;
}

static int print_all(struct dump *dump)
{
	long count = print_events(dump, LONG_MAX);

	return count < 0 ? (int)count : 0;
}

/* ------------------------------------------------------------------ */
/* Following								*/

/* Discards notifications, so that poll() waits for new ones. */
static void drain(int fd)
{
	char events[4096];

	while (read(fd, events, sizeof(events)) > 0)
		;
}

/*
 * Opens the log that replaced a cleared one. Its header may still be incomplete, which is not an
 * error. Returns 0 or negative errno.
 */
static int open_again(struct dump *dump)
{
	int err = source_open_again(dump->source);

	if (err == -EINVAL)
		return 0;
	if (err) {
		source_complain(dump->path, err);
		return err;
	}
	dump->cleared = false;
	dump->end = (struct logend){ };
	print_restart(&dump->print);
	descriptors_forget(dump->descriptors);
	select_restart(dump->selection);
	err = descriptors_start(dump->descriptors, dump->source);
	if (!err && dump->symbolize)
		err = symbols_learn(dump->print.symbols, dump->source, false);
	if (err)
		complain(dump->path, -err);
	return err;
}

static int follow_until(struct dump *dump, int signals, int changes)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = changes, .events = POLLIN },
	};
	long count;
	bool ended;
	int err;

	for (;;) {
		/*
		 * Check for the end first, so that events written just before the end are not
		 * missed.
		 */
		ended = logend_ended(dump->source) || source_was_copied(dump->source);
		count = dump->cleared ? 0 : print_events(dump, BATCH);
		if (count < 0)
			return (int)count;
		if (count < BATCH && was_cleared(dump)) {
			err = open_again(dump);
			if (err)
				return err;
			if (!dump->cleared)
				continue;
		} else if (ended && count < BATCH) {
			return 0;
		}
		if (poll(fds, 2, count < BATCH ? LOOK_MS : 0) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return 0;
		if (fds[1].revents)
			drain(changes);
	}
}

static int follow(struct dump *dump)
{
	int signals, changes, err;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signals = signalfd(-1, &mask, SFD_CLOEXEC);
	/* Without inotify, poll the file every LOOK_MS. */
	changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (changes >= 0)
		inotify_add_watch(changes, dump->path, IN_MODIFY | IN_CLOSE_WRITE);
	dump->print.signals = signals;
	err = signals < 0 ? -errno : follow_until(dump, signals, changes);
	dump->print.signals = -1;
	if (changes >= 0)
		close(changes);
	if (signals >= 0)
		close(signals);
	return err;
}

/* ------------------------------------------------------------------ */
/* The program								*/

static int print_log(struct dump *dump)
{
	int err = dump->symbolize ? symbols_new(dump->symfs, &dump->print.symbols) : 0;

	if (err) {
		complain(dump->symfs ? dump->symfs : "--symbolize", -err);
		return err;
	}
	err = descriptors_new(&dump->descriptors);
	if (err) {
		complain("dump", -err);
		goto free;
	}
	dump->print.call.descriptors = dump->descriptors;
	err = descriptors_start(dump->descriptors, dump->source);
	if (err) {
		complain(dump->path, -err);
		goto free;
	}
	source_set_formats(dump->source, dump->formats);
	err = durations_select(dump->selection, dump->source, NULL);
	if (err)
		goto free;
	for (size_t i = 0; dump->symbolize && i < source_logs(dump->source); i++)
		symbols_add_log(dump->print.symbols, source_log_path(dump->source, i));
	if (dump->symbolize)
		err = symbols_learn(dump->print.symbols, dump->source, !dump->follow);
	if (err) {
		complain(dump->path, -err);
		goto free;
	}
	err = dump->follow ? follow(dump) : print_all(dump);
	/* No log is open if a signal arrived before the new one could be opened. */
	if (!err && !dump->cleared) {
		err = logend_read(&dump->end, dump->source);
		if (err)
			complain(dump->path, -err);
	}
	if (!err)
		misfits_warn(dump->formats, dump->source);
	if (!err && !dump->cleared)
		err = logend_tell(&dump->end, dump->path, dump->source);
	if (!err)
		err = select_complain(dump->selection, dump->path, dump->source);
free:
	descriptors_free(dump->descriptors);
	symbols_free(dump->print.symbols);
	buffer_free(&dump->text);
	return err;
}

static int run_dump(struct dump *dump)
{
	int err;

	if (dump->format_file && formats_load(dump->format_file, &dump->formats))
		return 1;
	err = source_open_logs(dump->logs.paths, dump->logs.count, &dump->source);
	if (!err) {
		if (!dump->follow)
			pager_begin();
		print_begin(&dump->print);
		err = print_log(dump);
	}
	source_close(dump->source);
	formats_free(dump->formats);
	return err ? 1 : 0;
}

static const struct command_option options[] = {
	{ OPTION_FLAG, 'F', "follow", NULL,
	  "wait for more events until the log ends, or Ctrl-C",
	  OPTION_BOOL_AT(struct dump, follow) },
	{ OPTION_TEXT, 0, "symfs", "DIR", "look below DIR for the files of --symbolize",
	  OPTION_TEXT_AT(struct dump, symfs), .value = OPTION_FILE },
	{ OPTION_FLAG, 0, "symbolize", NULL, "print function and source line of each event",
	  OPTION_BOOL_AT(struct dump, symbolize) },
	OPTION_GROUP_AT(struct dump, print, print_options),
	OPTION_GROUP_AT(struct dump, format_file, formats_options),
	OPTION_GROUP_AT(struct dump, selection, select_options),
	{ }
};

static int get_options(struct dump *dump, int argc, char **argv)
{
	int status = options_parse(&command_dump, argc, argv, dump);

	if (status != OPTIONS_OK)
		return status;
	if (dump->symfs && !dump->symbolize)
		return usage_error("dump", "--symfs: needs --symbolize");
	if (dump->follow && select_has_durations(dump->selection))
		return usage_error("dump",
				   "--follow: a duration is known only at the end of its scope");
	if (select_check(dump->selection))
		return 1;
	status = log_operands("dump", argc, argv, &dump->logs);
	dump->path = dump->logs.name;
	if (status != OPTIONS_OK || !dump->follow)
		return status;
	if (dump->logs.count > 1)
		return usage_error("dump", "--follow: can follow one LOG, not %zu",
				   dump->logs.count);
	if (source_is_stdin(dump->path))
		return usage_error("dump",
				   "--follow: cannot follow standard input: it is read to its end");
	return OPTIONS_OK;
}

static int cmd_dump(int argc, char **argv)
{
	struct dump dump = { .print.cpu = true, .print.signals = -1 };
	int status, err = select_new(&dump.selection);

	if (err) {
		complain("dump", -err);
		return 1;
	}
	status = get_options(&dump, argc, argv);
	if (status == OPTIONS_OK)
		status = run_dump(&dump);
	logs_free(&dump.logs);
	select_free(dump.selection);
	return status;
}

static const char *const dump_usage[] = { "[OPTION]... [LOG]...", NULL };

const struct command command_dump = {
	.name = "dump",
	.summary = "print the events of a log",
	.usage = dump_usage,
	.about = "Print the events of a log (posixtrace.log), one per line. Several logs, or the\n"
		 "logs in a directory, are read as one.",
	.notes = "Columns: time, processor, process, thread, event type, data.\n"
		 "Exit status: 0; 1 after a failure or if the log is damaged; 2 after a usage error.",
	.operands = OPERAND_FILE,
	.options = options,
	.run = cmd_dump,
};
