// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace record": creates a stream with log on a process. The kernel writes the log; this
 * command starts and stops the stream and shows its progress. logfile.c handles the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <posixtrace.h>

#include "cmd/commands.h"
#include "cmd/log_operand.h"
#include "elf/keep.h"
#include "print/answer.h"
#include "session/clock_error.h"
#include "session/logfile.h"
#include "session/rotation.h"
#include "session/session.h"
#include "session/when.h"
#include "util/escape.h"
#include "util/message.h"

#define NSEC		1000000000ULL
#define SHOW_MS		500	/* update interval of the progress line */
#define LOOK_MS		1000	/* interval of status checks without a progress line */
#define FILTER_MS	100	/* with --events, --rotate or types that are filtered out later */
#define ANSWER_MAX	(16U << 20)	/* log size; read in at most two seconds */

/* "append" is valid for logs only, "flush" for streams only. */
static const struct option_choice policies[] = {
	{ "flush", POSIX_TRACE_FLUSH },
	{ "loop", POSIX_TRACE_LOOP },
	{ "until-full", POSIX_TRACE_UNTIL_FULL },
	{ }
};

static const struct option_choice log_policies[] = {
	{ "append", POSIX_TRACE_APPEND },
	{ "loop", POSIX_TRACE_LOOP },
	{ "until-full", POSIX_TRACE_UNTIL_FULL },
	{ }
};

static const struct option_choice orders[] = {
	{ "causal", POSIXTRACE_ORDER_CAUSAL },
	{ "relaxed", POSIXTRACE_ORDER_RELAXED },
	{ }
};

static const struct option_choice compressions[] = {
	{ "lz4", POSIXTRACE_COMPRESS_LZ4 },
	{ "none", POSIXTRACE_COMPRESS_NONE },
	{ }
};

struct recording {
	struct session session;
	struct logfile log;
	struct rotation rotation;
	struct when when;
	int policy;		/* -1: not given */
	int log_policy;
	size_t log_size;	/* 0: default */
	size_t size_limit;	/* stop when the logs together have this size; or 0 */
	int compression;
	bool quiet;
	bool keep_binaries;

	struct keep *keep;	/* with keep_binaries */
	bool interrupted;	/* a signal arrived while files were copied */
	bool progress;		/* show progress on a terminal */
	unsigned long long began;
	unsigned long long seen_at;	/* time of the last progress line */
	unsigned long long seen;	/* events at that time */
	struct posixtrace_stats_info stats;
	bool log_overrun;
	bool log_full;
	bool incomplete;	/* some events were not written */
	int flush_error;	/* the first error that was reported */
	bool full;		/* recording cannot continue */
	bool kept;		/* the log at log.path is of this recording */
	bool failed_logs;	/* an earlier log of --rotate could not be completed */
	bool failed;
};

static unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/* ------------------------------------------------------------------ */
/* Progress and summary							*/

static void print_bytes(FILE *to, unsigned long long bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	double value = bytes / 1000.0;
	size_t unit = 0;

	while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		unit++;
	}
	fprintf(to, "%.1f %s", value, units[unit]);
}

static unsigned long long lost(const struct recording *rec)
{
	/* With policy LOOP, overwritten events are not losses. */
	return rec->stats.dropped + rec->stats.skipped +
	       (rec->policy == POSIX_TRACE_LOOP ? 0 : rec->stats.overwritten);
}

static void print_progress(struct recording *rec)
{
	unsigned long long time = now(), events = rec->stats.recorded;
	unsigned long long size;

	fprintf(stderr, "\r%.1f s  %llu events  %.0f/s  %llu lost", (time - rec->began) / 1e9,
		events, (events - rec->seen) * 1e9 / (time - rec->seen_at + 1), lost(rec));
	if (logfile_size(&rec->log, &size)) {
		fprintf(stderr, "  log ");
		print_bytes(stderr, size);
	}
	fprintf(stderr, "\033[K");
	fflush(stderr);
	rec->seen = events;
	rec->seen_at = time;
}

static void print_log(const struct recording *rec)
{
	const char *name = logfile_name(&rec->log);
	struct buffer text = { };
	unsigned long long size;

	/* The last log may not be kept. */
	if (rec->when.given)
		return;
	escape_message(&text, name, strlen(name));
	if (rec->rotation.current)
		fprintf(stderr, "; %u logs, the last is",
			rec->rotation.current - rec->rotation.oldest + 1);
	else
		fputc(';', stderr);
	fprintf(stderr, " %.*s", (int)text.len, (const char *)text.data);
	buffer_free(&text);
	if (logfile_size(&rec->log, &size)) {
		fprintf(stderr, ": ");
		print_bytes(stderr, size);
	}
}

static void print_summary(const struct recording *rec)
{
	const struct posixtrace_stats_info *stats = &rec->stats;

	if (rec->progress)
		fprintf(stderr, "\r\033[K");
	fprintf(stderr, "posixtrace: %llu events in %.1f s", stats->recorded,
		(now() - rec->began) / 1e9);
	if (rec->session.traced > 1)
		fprintf(stderr, " from %zu processes", rec->session.traced);
	if (lost(rec))
		fprintf(stderr, ", %llu lost%s", lost(rec),
			rec->full || rec->incomplete ? "" : ": use a larger --size");
	/* LOOP: readers skip events that are older than an overwritten event of another CPU. */
	if (rec->policy == POSIX_TRACE_LOOP && stats->overwritten && !rec->when.given)
		fprintf(stderr, ", the log has the last %llu or fewer",
			stats->recorded - stats->overwritten);
	if (stats->damaged)
		fprintf(stderr, ", records damaged in %llu places", stats->damaged);
	if (stats->untraced)
		fprintf(stderr, ", %llu children not traced: out of memory",
			stats->untraced);
	if (rec->log_overrun)
		fprintf(stderr, ", the log has only the last events");
	if (rec->log_full)
		fprintf(stderr, ", the log has only the first events");
	print_log(rec);
	fputc('\n', stderr);
}

static void print_choice(const struct recording *rec)
{
	const bool sched = rec->session.kernel & POSIXTRACE_CLASS_SCHED;
	const bool process = rec->session.kernel & POSIXTRACE_CLASS_PROCESS;

	tell("%s has no trace points: recording the kernel events of %s%s%s",
	     rec->session.process.argv[0], sched ? "sched" : "", sched && process ? " and " : "",
	     process ? "process" : "");
	tell("there are also fault, signal, syscall and irq: see --kernel, which may be none");
}

/* Prints where the time went. Reads the log for this, unless that would take long. */
static void print_answer(const struct recording *rec)
{
	const char *path = rec->log.path;
	unsigned long long size;

	if (!(rec->session.kernel & POSIXTRACE_CLASS_SCHED) || !logfile_size(&rec->log, &size) ||
	    !strcmp(path, "-") || rec->rotation.current || rec->when.given)
		return;
	if (size <= ANSWER_MAX)
		answer_print(path, stderr);
	tell("posixtrace stat --states %s shows more", path);
}

/* Prints a message, replacing the progress line. */
static void say(const struct recording *rec, const char *what, int err)
{
	if (rec->progress)
		fprintf(stderr, "\r\033[K");
	if (err)
		complain(what, err);
	else
		tell("%s", what);
}

/* ------------------------------------------------------------------ */
/* From start to end							*/

static void log_is_full(struct recording *rec)
{
	if (!rec->log_full)
		say(rec, "the log is full", 0);
	rec->log_full = true;
	rec->full = true;
}

/* Reads the status, and keeps the parts of it that each read resets. */
static void look_at_status(struct recording *rec)
{
	struct posix_trace_status_info status;
	int err = posix_trace_get_status(rec->session.trid, &status);

	if (err) {
		say(rec, "posix_trace_get_status", err);
		rec->failed = true;
		return;
	}
	if (status.posix_log_overrun_status == POSIX_TRACE_OVERRUN) {
		/*
		 * A log with policy APPEND cannot be full, so events are missing because a write
		 * failed.
		 */
		rec->incomplete |= rec->log_policy == POSIX_TRACE_APPEND;
		rec->log_overrun |= rec->log_policy == POSIX_TRACE_LOOP;
	}
	/* The kernel retries failed writes, except to a pipe without a reader (EPIPE). */
	if (status.posix_stream_flush_error && !rec->flush_error) {
		rec->flush_error = status.posix_stream_flush_error;
		say(rec, logfile_name(&rec->log), rec->flush_error);
	}
	if (status.posix_stream_flush_error == EPIPE)
		rec->failed = true;
	if (status.posix_log_full_status == POSIX_TRACE_FULL)
		log_is_full(rec);
	if (rec->policy == POSIX_TRACE_UNTIL_FULL && !rec->full &&
	    status.posix_stream_full_status == POSIX_TRACE_FULL) {
		rec->full = true;
		say(rec, "the stream is full", 0);
	}
}

static void look(struct recording *rec)
{
	int err = session_stats(&rec->session, &rec->stats);

	clock_error_note(rec->session.trid, &rec->session.clock_due);
	if (err) {
		say(rec, "posixtrace_get_stats", err);
		rec->failed = true;
	}
	err = session_filter_update(&rec->session.filter, rec->session.trid);
	if (err && err != EINVAL)
		say(rec, "filter", err);
	err = when_look(&rec->when, rec->session.trid);
	if (err)
		say(rec, "--when", err);
	look_at_status(rec);
}

/* A signal that ends the recording also ends the copying of files. */
static bool was_interrupted(void *arg)
{
	struct recording *rec = arg;

	rec->interrupted = process_signal(&rec->session.process);
	return rec->interrupted;
}

/* Copies the programs and libraries of a log. */
static void keep_files(struct recording *rec, int log_fd)
{
	trace_id_t log;
	int err = posix_trace_open(log_fd, &log);

	if (err) {
		say(rec, "--keep-binaries", err);
		rec->failed_logs = true;
		return;
	}
	if (rec->progress)
		fprintf(stderr, "\r\033[K");
	if (keep_log(rec->keep, log, was_interrupted, rec))
		rec->failed_logs = true;
	posix_trace_close(log);
}

/*
 * Opens the current log for reading. The descriptor remains valid when rotation_next() closes and
 * perhaps removes the log. It does not delay the end of writing, which other programs may wait for.
 */
static int open_current(const struct recording *rec)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", rec->log.fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Continues the recording in the next log. */
static void rotate(struct recording *rec)
{
	char *before = strdup(logfile_name(&rec->log));
	const int ended = rec->keep ? open_current(rec) : -1, open_error = errno;
	int end_error = 0;

	if (rec->progress)
		fprintf(stderr, "\r\033[K");
	rec->session.process.requested = false;
	if (rotation_next(&rec->rotation, &rec->log, rec->session.trid, &end_error)) {
		tell("recording continues in %s", logfile_name(&rec->log));
		when_dropped(&rec->when);
	} else if (end_error) {
		complain("the previous log", end_error);
		rec->failed_logs = true;
	} else if (ended >= 0) {
		keep_files(rec, ended);
	} else if (rec->keep) {
		complain("--keep-binaries: the previous log", open_error);
		rec->failed_logs = true;
	}
	if (rec->when.met)
		when_logged(&rec->when, before, rec->quiet);
	free(before);
	if (ended >= 0)
		close(ended);
}

/* Has the recording reached one of the limits that were given as options? */
static bool is_at_limit(const struct recording *rec)
{
	const unsigned long max = rec->session.max_events;
	unsigned long long size;

	if (max && rec->stats.recorded >= max)
		return true;
	return rec->size_limit && logfile_size(&rec->log, &size) &&
	       rec->rotation.written + size >= rec->size_limit;
}

/* Waits until all traced processes end, a signal arrives, or recording cannot continue. */
static void follow(struct recording *rec)
{
	struct pollfd fds[] = {
		{ .fd = posixtrace_fd(rec->session.trid) },
		{ .fd = rec->session.process.sigfd, .events = POLLIN },
	};
	const bool often = rec->session.filter.patterns || rec->session.max_events ||
			   rec->size_limit || rec->rotation.size || rec->rotation.ns;
	int wait = often ? FILTER_MS : rec->progress ? SHOW_MS : LOOK_MS;

	while (!rec->failed && !rec->full && !(fds[0].revents & ~POLLPRI) && !is_at_limit(rec) &&
	       !rec->interrupted) {
		fds[0].events = when_events(&rec->when);
		if (poll(fds, 2, when_wait(&rec->when, wait)) < 0 && errno != EINTR) {
			say(rec, "waiting for events", errno);
			rec->failed = true;
			return;
		}
		if (fds[1].revents && process_signal(&rec->session.process))
			return;
		look(rec);
		if (rec->session.process.requested && rec->when.given)
			when_ask(&rec->when);
		if (rec->session.process.requested || when_is_due(&rec->when) ||
		    rotation_is_due(&rec->rotation, &rec->log))
			rotate(rec);
		if (rec->progress)
			print_progress(rec);
	}
}

/*
 * Checks the finished log: a log with a size limit may become full or overwrite events as late as
 * during the shutdown, when the kernel writes the remaining events.
 */
static void look_at_log(struct recording *rec)
{
	struct posix_trace_status_info status;
	trace_id_t log;

	if (rec->log_policy == POSIX_TRACE_APPEND || posix_trace_open(rec->log.fd, &log))
		return;
	if (!posix_trace_get_status(log, &status)) {
		/* With policy LOOP, a full log has overwritten events. */
		if (rec->log_policy == POSIX_TRACE_LOOP)
			rec->log_overrun |= status.posix_log_full_status == POSIX_TRACE_FULL;
		else if (status.posix_log_full_status == POSIX_TRACE_FULL)
			log_is_full(rec);
		else if (status.posix_log_overrun_status == POSIX_TRACE_OVERRUN)
			rec->incomplete = true;
	}
	posix_trace_close(log);
}

/*
 * Shuts down the stream. Unblocks signals for this, so that Ctrl-C ends it if no program reads the
 * pipe.
 */
static int shut_down(const struct recording *rec)
{
	sigset_t mask;
	int err;

	sigprocmask(SIG_SETMASK, &rec->session.process.old_mask, &mask);
	err = posix_trace_shutdown(rec->session.trid);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return err;
}

/* Stops the stream and completes the log. */
static void finish(struct recording *rec)
{
	int err;

	err = posix_trace_stop(rec->session.trid);
	if (err) {
		say(rec, "posix_trace_stop", err);
		rec->failed = true;
	}
	look(rec);
	err = shut_down(rec);
	if (err && err != rec->flush_error)
		say(rec, logfile_name(&rec->log), err);
	look_at_log(rec);
	if (err || rec->incomplete) {
		rec->incomplete = true;
		tell("the log is incomplete: some events could not be written");
		rec->failed = true;
	}
}

static int set_attr(const struct recording *rec, trace_attr_t *attr)
{
	int err = session_attr(&rec->session, "posixtrace record", attr);

	if (!err)
		err = posix_trace_attr_setstreamfullpolicy(attr, rec->policy);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(attr, rec->log_policy);
	if (!err && rec->log_size)
		err = posix_trace_attr_setlogsize(attr, rec->log_size);
	if (!err)
		err = posixtrace_attr_setcompression(attr, rec->compression);
	return err;
}

/*
 * Creates the stream. If the log is a pipe, unblocks signals, because this may block until a
 * program reads the pipe. If a signal kills the command here, there is nothing to clean up.
 */
static int create_with_log(struct recording *rec, const trace_attr_t *attr)
{
	unsigned long long size;
	sigset_t mask;
	int err;

	if (logfile_size(&rec->log, &size))
		return session_create(&rec->session, attr, rec->log.fd);
	sigprocmask(SIG_SETMASK, &rec->session.process.old_mask, &mask);
	err = session_create(&rec->session, attr, rec->log.fd);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return err;
}

static int create_stream(struct recording *rec)
{
	trace_attr_t attr;
	int err = set_attr(rec, &attr);

	if (err) {
		complain("attributes", err);
		return err;
	}
	err = create_with_log(rec, &attr);
	if (err == EINVAL && rec->log_size)
		tell("--log-size: must be at least two sub-buffers, 25K with the default sizes");
	posix_trace_attr_destroy(&attr);
	return err;
}

/* Starts the stream and the program. On failure, shuts down the stream and returns false. */
static bool begin(struct recording *rec)
{
	int err = posix_trace_start(rec->session.trid);

	if (err)
		complain(logfile_name(&rec->log), err);
	if (!err) {
		err = when_start(&rec->when, rec->session.trid);
		if (err)
			complain("--when", err);
	}
	if (err)
		rec->failed = true;
	rec->began = now();
	rec->seen_at = rec->began;
	if (!err && process_go(&rec->session.process))
		return true;
	shut_down(rec);
	return false;
}

/* Might the last log be kept? */
static bool may_keep_log(const struct recording *rec)
{
	return !rec->when.given || rec->when.met || rec->when.exit_status ||
	       rec->session.process.requested;
}

static void record(struct recording *rec)
{
	int err = create_stream(rec);

	if (err)
		rec->failed = true;
	if (err || !begin(rec)) {
		logfile_discard(&rec->log);
		return;
	}
	/* The program was executed successfully, so now replace an existing log. */
	err = logfile_keep(&rec->log);
	rec->kept = true;
	follow(rec);
	finish(rec);
	/* A request that arrived after the last look also keeps the log. */
	if (rec->when.given)
		process_signal(&rec->session.process);
	if (err)
		rec->failed = true;
	/* Copying is not limited by --seconds. */
	rec->session.process.seconds = 0;
	if (rec->keep && may_keep_log(rec))
		keep_files(rec, rec->log.fd);
	if (rec->quiet)
		return;
	print_summary(rec);
	if (rec->keep)
		keep_summary(rec->keep);
	session_hint(&rec->session, &rec->stats);
	if (!err)
		print_answer(rec);
}

/* Keeps the last log if it has a condition, such as the exit status of the program. */
static void end_conditions(struct recording *rec, int status)
{
	if (!rec->kept)
		return;
	if (rec->session.process.requested)
		when_ask(&rec->when);
	if (rec->session.process.ended)
		when_failed(&rec->when, status);
	if (rec->when.met)
		when_logged(&rec->when, logfile_name(&rec->log), rec->quiet);
	else
		logfile_remove(&rec->log);
	if (!rec->quiet)
		when_summary(&rec->when);
}

/* Returns 0, or an error number after printing an error. */
static int keep_begin(struct recording *rec)
{
	unsigned long long size;

	if (!rec->keep_binaries)
		return 0;
	if (!logfile_size(&rec->log, &size) || !strcmp(rec->log.path, "-")) {
		tell("--keep-binaries: needs a log that is a regular file with a name");
		return EINVAL;
	}
	return keep_open(rec->log.path, &rec->keep);
}

/* Returns the exit status. */
static int run_record(struct recording *rec)
{
	struct process *process = &rec->session.process;
	int err, status;

	/* Open the log before blocking signals, because opening a FIFO waits for a reader. */
	if (logfile_open(&rec->log, rec->log_policy == POSIX_TRACE_APPEND))
		return 1;
	if (rotation_begin(&rec->rotation, &rec->log) || keep_begin(rec)) {
		logfile_discard(&rec->log);
		logfile_close(&rec->log);
		return 1;
	}
	process->no_stdout = rec->log.fd == STDOUT_FILENO;
	session_choose_kernel(&rec->session);
	if (rec->session.chosen && !rec->quiet)
		print_choice(rec);
	when_choose_kernel(&rec->when, &rec->session);
	rec->progress = !rec->quiet && isatty(STDERR_FILENO);
	err = process_begin(process);
	if (err) {
		complain("starting the program", err);
		keep_close(rec->keep);
		logfile_discard(&rec->log);
		logfile_close(&rec->log);
		return 1;
	}
	record(rec);
	keep_close(rec->keep);
	/* The reader of a pipe need not wait for the program. */
	if (!rec->when.given)
		logfile_close(&rec->log);
	status = process_end(process);
	if (rec->when.given) {
		end_conditions(rec, status);
		logfile_close(&rec->log);
	}
	return rec->failed || rec->failed_logs ? 1 : status;
}

/* ------------------------------------------------------------------ */
/* Options								*/

static int call_rotate(void *target, const struct command_option *option, const char *text)
{
	struct recording *rec = target;

	return rotation_option(&rec->rotation, option, text);
}

static int call_mode(void *target, const struct command_option *option, const char *text)
{
	struct recording *rec = target;
	char *end;
	unsigned long value = strtoul(text, &end, 8);

	if (*text < '0' || *text > '7' || *end || !value || value > 0777) {
		tell("--%s: must be octal digits, 1 to 0777 (got \"%s\")", option->name, text);
		return -EINVAL;
	}
	rec->log.mode = (int)value;
	return 0;
}

static const struct command_option options[] = {
	{ OPTION_CHOICE, 0, "compress", "METHOD",
	  "compression of the events in the log: lz4 (default), none",
	  OPTION_CHOICE_AT(struct recording, compression), .choices = compressions },
	{ OPTION_FLAG, 0, "force", NULL, "replace an existing log",
	  OPTION_BOOL_AT(struct recording, log.force) },
	{ OPTION_CHOICE, 0, "log-policy", "POLICY",
	  "policy of the log: append (default), loop, until-full",
	  OPTION_CHOICE_AT(struct recording, log_policy), .choices = log_policies },
	{ OPTION_NUMBER, 0, "keep", "N", "with --rotate or SIGUSR1: keep the last N logs",
	  OPTION_NUMBER_AT(struct recording, rotation.keep), .min = 1, .max = UINT_MAX },
	{ OPTION_FLAG, 0, "keep-binaries", NULL,
	  "copy the programs and libraries to LOG.binaries, for dump --symbolize",
	  OPTION_BOOL_AT(struct recording, keep_binaries) },
	{ OPTION_SIZE, 0, "log-size", "BYTES",
	  "room for events with log policy loop or until-full (16M)",
	  OPTION_SIZE_AT(struct recording, log_size), .min = 1, .max = LONG_MAX },
	{ OPTION_CALL, 0, "mode", "MODE", "permissions of a new log, octal (0600)",
	  .call = call_mode },
	{ OPTION_CHOICE, 0, "order", "ORDER",
	  "order of timestamps between processors: causal (default), relaxed",
	  OPTION_CHOICE_AT(struct recording, session.order), .choices = orders },
	{ OPTION_TEXT, 'o', "output", "LOG",
	  "write this log (posixtrace.log); - is standard output",
	  OPTION_TEXT_AT(struct recording, log.path), .value = OPTION_FILE },
	{ OPTION_CHOICE, 0, "policy", "POLICY",
	  "policy of the stream: flush (default), loop, until-full",
	  OPTION_CHOICE_AT(struct recording, policy), .choices = policies },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print neither progress nor summary",
	  OPTION_BOOL_AT(struct recording, quiet) },
	{ OPTION_CALL, 0, "rotate", "SIZE|TIME",
	  "begin a new numbered log after so many bytes (64M) or so much time (10min)",
	  .call = call_rotate },
	{ OPTION_SIZE, 0, "size-limit", "BYTES", "stop when the logs have so many bytes",
	  OPTION_SIZE_AT(struct recording, size_limit), .min = 1, .max = LONG_MAX },
	OPTION_GROUP_AT(struct recording, when, when_options),
	OPTION_GROUP_AT(struct recording, session, session_options),
	{ }
};

/* Rejects options without effect. Returns OPTIONS_OK or the exit status. */
static int check_options(const struct recording *rec)
{
	if (rec->session.filter.conditions) {
		tell("--filter: conditions on fields cannot be tested while recording");
		tell("record by name, and filter by fields later, in dump, stat or export");
		return 2;
	}
	if (rec->log_size && rec->log_policy == POSIX_TRACE_APPEND) {
		tell("--log-size: needs --log-policy=loop or --log-policy=until-full");
		return 2;
	}
	if ((rec->rotation.size || rec->rotation.ns) &&
	    rec->log_policy == POSIX_TRACE_UNTIL_FULL) {
		tell("--rotate: a log with --log-policy=until-full ends when it is full");
		return 2;
	}
	if (rec->log.mode && !strcmp(rec->log.path, "-")) {
		tell("--mode: applies to new files, not to standard output");
		return 2;
	}
	if (rec->when.given && (rec->rotation.size || rec->rotation.ns)) {
		tell("--when: its conditions begin the logs, not --rotate");
		return 2;
	}
	if (rec->when.given && !strcmp(rec->log.path, "-")) {
		tell("--when: needs a log with a name, not standard output");
		return 2;
	}
	return when_check(&rec->when, &rec->session, rec->policy, rec->log_policy) ? OPTIONS_OK : 2;
}

static int cmd_record(int argc, char **argv)
{
	struct recording rec = {
		.session.data_size = SESSION_DEFAULT,
		.session.order = POSIXTRACE_ORDER_CAUSAL,
		.log.path = LOG_DEFAULT,
		.log.advice = "use --log-policy=append",
		.policy = -1,
		.log_policy = POSIX_TRACE_APPEND,
		.compression = POSIXTRACE_COMPRESS_LZ4,
	};
	int status;

	/* Ignore SIGUSR1 from here on: opening a FIFO waits for a reader. */
	process_take_requests(&rec.session.process);
	status = options_parse(&command_record, argc, argv, &rec);
	if (status == OPTIONS_OK)
		status = check_options(&rec);
	rec.rotation.conditions = rec.when.given;
	rec.rotation.skip = rec.when.given;
	if (rec.policy < 0)
		rec.policy = rec.when.given ? POSIX_TRACE_LOOP : POSIX_TRACE_FLUSH;
	if (status == OPTIONS_OK &&
	    !session_process(&rec.session, "record", argc - optind, argv + optind))
		status = 2;
	if (status == OPTIONS_OK && rec.when.exit_status && !rec.session.process.argv)
		status = usage_error("record", "--when: 'exit status' needs a PROGRAM to start");
	if (status == OPTIONS_OK)
		status = run_record(&rec);
	rotation_free(&rec.rotation);
	when_free(&rec.when);
	session_free(&rec.session);
	return status;
}

static const char *const record_usage[] = {
	"[OPTION]... PID",
	"[OPTION]... [--pid=PID|NAME,...] [--user=USER] [--cgroup=PATH|PID]",
	"[OPTION]... --wait=NAME",
	"[OPTION]... [--] PROGRAM [ARG]...",
	NULL,
};

const struct command command_record = {
	.name = "record",
	.summary = "record the events of processes into a log",
	.usage = record_usage,
	.about = "Record the events of processes into a log until they end, or until Ctrl-C.",
	.notes = "Exit status: 0, or PROGRAM's; 1 after a failure; 2 after a usage error.",
	.operands = OPERAND_PID | OPERAND_PROGRAM,
	.options = options,
	.run = cmd_record,
};
