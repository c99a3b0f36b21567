// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace export": converts a log to a format for other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/durations.h"
#include "analyze/snapshot.h"
#include "cmd/commands.h"
#include "cmd/log_operand.h"
#include "event/misfits.h"
#include "export/explain.h"
#include "export/export.h"
#include "export/tables.h"
#include "query/isolate.h"
#include "query/parquet.h"
#include "util/message.h"

enum {
	FORMAT_CTF, FORMAT_CHROME, FORMAT_PERFETTO, FORMAT_HTML, FORMAT_CSV, FORMAT_JSONL,
	FORMAT_ARROW, FORMAT_PARQUET
};

static const struct {
	int (*run)(struct export *export);
	bool directory;	/* the output is a directory, so --output is required */
	bool binary;	/* the output must not be a terminal */
	bool bounded;	/* --max-events applies */
	bool explains;	/* --scope and --worst apply */
	bool tables;	/* --table applies; the output of several tables is a directory */
	bool hosts;	/* can show several hosts */
	bool machines;	/* --machine-id applies */
	enum export_compression compression;	/* for --compress */
} formats[] = {
	[FORMAT_CTF] = { export_ctf, .directory = true },
	[FORMAT_CHROME] = { export_chrome, .compression = EXPORT_GZIP },
	[FORMAT_PERFETTO] = { export_perfetto, .binary = true, .explains = true, .hosts = true,
			      .machines = true, .compression = EXPORT_PACKETS },
	[FORMAT_HTML] = { export_html, .bounded = true, .explains = true },
	[FORMAT_CSV] = { export_csv, .tables = true, .hosts = true },
	[FORMAT_JSONL] = { export_jsonl, .tables = true, .hosts = true },
	[FORMAT_ARROW] = { export_arrow, .binary = true, .tables = true, .hosts = true },
	[FORMAT_PARQUET] = { parquet_export, .binary = true, .tables = true, .hosts = true },
};

static const struct option_choice format_names[] = {
	{ "ctf", FORMAT_CTF },
	{ "chrome", FORMAT_CHROME },
	{ "perfetto", FORMAT_PERFETTO },
	{ "html", FORMAT_HTML },
	{ "csv", FORMAT_CSV },
	{ "jsonl", FORMAT_JSONL },
	{ "arrow", FORMAT_ARROW },
	{ "parquet", FORMAT_PARQUET },
	{ }
};

static bool makes_directory(const struct export *export, size_t format)
{
	return formats[format].directory ||
	       (formats[format].tables && tables_are_many(export->tables));
}

static int open_output(struct export *export, size_t format)
{
	int fd, err;

	if (makes_directory(export, format))
		return 0;
	if (!export->path || !strcmp(export->path, "-")) {
		export->path = NULL;
		export->file = stdout;
		if ((formats[format].binary || export->compression != EXPORT_PLAIN) &&
		    isatty(STDOUT_FILENO)) {
			tell("--output: required when standard output is a terminal");
			return -EINVAL;
		}
		return 0;
	}
	/* Give only the user access, as to the log. */
	fd = open(export->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	export->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (export->file)
		return 0;
	err = errno;
	if (fd >= 0) {
		close(fd);
		unlink(export->path);
	}
	tell("--output: %s: %s%s", export->path, strerror(err),
	     err == EEXIST ? "; remove it, or choose another name" : "");
	return -err;
}

/*
 * Closes the output. Removes it if incomplete, because of @err or an error from closing. Returns
 * the first error.
 */
static int close_output(struct export *export, int err)
{
	if (!export->file)
		return err;
	if (fflush(export->file) && !err)
		err = -errno;
	if (!export->path)
		return err;
	if (!err)
		err = export_interrupted();
	if (fclose(export->file) && !err)
		err = -errno;
	if (err)
		unlink(export->path);
	return err;
}

/* Finds the instances to explain: of all scopes for the HTML page, of one scope for Perfetto. */
static int prepare_explain(struct export *export, size_t format)
{
	uint64_t max = 0;

	if (!formats[format].explains || (!export->scope && !formats[format].bounded))
		return 0;
	if (formats[format].bounded)
		max = export->max_events ? export->max_events : EXPORT_PAGE_EVENTS;
	return explain_new(export, max, &export->explain);
}

static int run_export(struct export *export, const struct logs *logs, size_t format)
{
	int err = source_open_logs(logs->paths, logs->count, &export->source);
	bool told;

	if (err)
		return 1;
	if (source_hosts(export->source) > 1 && !formats[format].hosts) {
		tell("--format=%s: cannot show several hosts (%s can)", format_names[format].name,
		     "perfetto, csv, jsonl, arrow and parquet");
		source_close(export->source);
		return 1;
	}
	source_set_formats(export->source, export->formats);
	if (export->path && strcmp(export->path, "-") != 0)
		export_begin_signals();
	err = open_output(export, format);
	if (err)
		goto out;
	err = durations_select(export->selection, export->source, export_interrupted);
	told = err && !export_interrupted();
	if (!err) {
		err = prepare_explain(export, format);
		told = err == -ENODATA;
	}
	export->progress = isatty(STDERR_FILENO);
	export->kernel = export_kernel_classes(export);
	if (!err)
		err = formats[format].run(export);
	err = export_finish(export, err);
	err = close_output(export, err);
	export_end_progress(export);
	if (err && export_interrupted())
		export_obey_signal();
	else if (err && !export->path && ferror(stdout))
		complain_of_output(-err);
	else if (err && !told && err != -ECANCELED)
		complain("export", -err);
	else if (!err)
		misfits_warn(export->formats, export->source);
	if (!err) {
		err = logend_read(&export->end, export->source);
		if (err)
			complain(export->log, -err);
	}
	if (!err)
		err = logend_tell(&export->end, export->log, export->source);
	if (!err)
		err = select_complain(export->selection, export->log, export->source);
out:
	explain_free(export->explain);
	source_close(export->source);
	return err ? 1 : 0;
}

/* The options and the export. */
struct export_command {
	struct export export;
	struct logs logs;
	int format;		/* index of @formats, or -1 */
	bool compress;
};

#define MACHINE_ID_MAX	1000000000	/* Perfetto's ids have 32 bits */
#define WORST_MAX	100	/* limit for each of INSTANCES_SCOPES scopes */

static const struct command_option options[] = {
	{ OPTION_CHOICE, 'O', "format", "FORMAT",
	  "write ctf, chrome, perfetto, html, csv, jsonl, arrow or parquet",
	  OPTION_CHOICE_AT(struct export_command, format), .choices = format_names },
	{ OPTION_FLAG, 0, "compress", NULL, "compress the output, for perfetto and chrome",
	  OPTION_BOOL_AT(struct export_command, compress) },
	{ OPTION_NUMBER, 0, "machine-id", "ID",
	  "number of the host in a trace for perfetto that is read together with others",
	  OPTION_NUMBER_AT(struct export_command, export.machine_id), .min = 1,
	  .max = MACHINE_ID_MAX },
	{ OPTION_NUMBER, 'm', "max-events", "N", "write at most N events to an HTML page (200000)",
	  OPTION_NUMBER_AT(struct export_command, export.max_events), .min = 1,
	  .max = ULONG_MAX },
	{ OPTION_TEXT, 'o', "output", "OUT", "write this file or directory, which must not exist",
	  OPTION_TEXT_AT(struct export_command, export.path), .value = OPTION_FILE },
	{ OPTION_TEXT, 0, "scope", "NAME",
	  "explain only this scope or system call, in an HTML page or for perfetto",
	  OPTION_TEXT_AT(struct export_command, export.scope) },
	{ OPTION_CALL, 0, "table", "NAME,...",
	  "write only these tables, for csv, jsonl, arrow and parquet",
	  .offset = OPTION_TARGET(struct export_command, export.tables, unsigned int),
	  .choices = tables_names, .list = true, .call = tables_choose },
	{ OPTION_NUMBER, 0, "worst", "N", "explain the N slowest instances (default: 5)",
	  OPTION_NUMBER_AT(struct export_command, export.worst), .min = 1, .max = WORST_MAX },
	OPTION_GROUP_AT(struct export_command, export.format_file, formats_options),
	OPTION_GROUP_AT(struct export_command, export.selection, select_options),
	{ }
};

/* Rejects options that conflict. Returns OPTIONS_OK or the exit status. */
static int check_options(const struct export_command *command)
{
	static const char required[] =
		"--format: required: ctf, chrome, perfetto, html, csv, jsonl, arrow or parquet";
	const struct export *export = &command->export;

	if (command->format < 0)
		return usage_error("export", "%s", required);
	if (export->tables && !formats[command->format].tables) {
		tell("--table: needs --format=csv, jsonl, arrow or parquet");
		return 2;
	}
	if (formats[command->format].tables && tables_are_many(export->tables) &&
	    (!export->path || !strcmp(export->path, "-"))) {
		tell("--output: required for several tables, which are files in a directory; "
		     "or choose one with --table");
		return 2;
	}
	if (formats[command->format].directory && !export->path) {
		tell("--output: required with --format=%s, which writes a directory",
		     format_names[command->format].name);
		return 2;
	}
	if (command->compress && formats[command->format].compression == EXPORT_PLAIN) {
		tell("--compress: needs --format=perfetto or chrome: viewers of %s do not read it",
		     format_names[command->format].name);
		return 2;
	}
	if ((export->scope || export->worst) && !formats[command->format].explains) {
		tell("--%s: needs --format=html or perfetto", export->scope ? "scope" : "worst");
		return 2;
	}
	if (export->worst && !export->scope && !formats[command->format].bounded) {
		tell("--worst: needs --scope or --format=html");
		return 2;
	}
	if (export->machine_id && !formats[command->format].machines) {
		tell("--machine-id: needs --format=perfetto");
		return 2;
	}
	if (export->max_events && !formats[command->format].bounded) {
		tell("--max-events: needs --format=html");
		return 2;
	}
	return select_check(export->selection) ? 1 : OPTIONS_OK;
}

/* In a child process; returns its exit status. */
static int run_parquet(void *arg, const char *folder)
{
	struct export_command *command = arg;
	struct parquet parquet = { };
	int status = 1;

	if (!parquet_begin(&parquet, folder)) {
		command->export.sink = &parquet;
		status = run_export(&command->export, &command->logs, FORMAT_PARQUET);
	}
	parquet_end(&parquet);
	return status;
}

/* Returns the exit status. */
static int run_format(struct export_command *command)
{
	struct export *export = &command->export;

	if (export->format_file && formats_load(export->format_file, &export->formats))
		return 1;
	if (command->format == FORMAT_PARQUET)
		return isolate_run("export", run_parquet, command);
	return run_export(export, &command->logs, (size_t)command->format);
}

static int cmd_export(int argc, char **argv)
{
	struct export_command command = { .format = -1 };
	struct export *export = &command.export;
	int status;

	if (select_new(&export->selection)) {
		complain("export", ENOMEM);
		return 1;
	}
	status = options_parse(&command_export, argc, argv, &command);
	if (status == OPTIONS_OK)
		status = check_options(&command);
	if (status == OPTIONS_OK)
		status = log_operands("export", argc, argv, &command.logs);
	if (status == OPTIONS_OK) {
		export->log = command.logs.name;
		if (command.compress)
			export->compression = formats[command.format].compression;
		status = run_format(&command);
	}
	logs_free(&command.logs);
	formats_free(export->formats);
	snapshot_free(export->snapshot);
	select_free(export->selection);
	return status;
}

static const char *const export_usage[] = { "--format=FORMAT [OPTION]... [LOG]...", NULL };

const struct command command_export = {
	.name = "export",
	.summary = "write a log in a format for other programs",
	.usage = export_usage,
	.about = "Write a log in a format for other programs.\n\n"
		 "  ctf       Common Trace Format 1.8: a directory for babeltrace2 and Trace Compass\n"
		 "  chrome    JSON for chrome://tracing, ui.perfetto.dev and Speedscope\n"
		 "  perfetto  protocol buffers for ui.perfetto.dev and trace_processor\n"
		 "  html      a page with a timeline, for any browser\n"
		 "  csv       tables for DuckDB, ClickHouse, pandas and spreadsheets\n"
		 "  jsonl     the same as a JSON object for each row\n"
		 "  arrow     the same as streams of Apache Arrow\n"
		 "  parquet   the same as Apache Parquet",
	.notes = "parquet needs libduckdb.so, 1.2 or newer, in the library path or at\n"
		 "POSIXTRACE_DUCKDB.\n"
		 "Exit status: 0; 1 after a failure or if the log is damaged; 2 after a usage\n"
		 "error.",
	.operands = OPERAND_FILE,
	.options = options,
	.run = cmd_export,
};
