// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace export": writes a log in a format for other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "event/misfits.h"
#include "export/export.h"
#include "util/message.h"

/* An option without a letter. */
#define OPTION_FILTER	256

static const struct {
	const char *name;
	int (*run)(struct export *export);
	bool directory;	/* writes a directory, so --output must name it */
	bool binary;	/* must not be written to a terminal */
	bool bounded;	/* --max-events limits it */
} formats[] = {
	{ "ctf", export_ctf, .directory = true },
	{ "chrome", export_chrome, .directory = false },
	{ "perfetto", export_perfetto, .binary = true },
	{ "html", export_html, .bounded = true },
};

#define NR_FORMATS	(sizeof(formats) / sizeof(formats[0]))

static void print_help(FILE *to)
{
	fprintf(to,
		"Usage: posixtrace export --format=FORMAT [OPTION]... LOG\n"
		"Write a log in a format for other programs.\n\n"
		"  ctf       Common Trace Format 1.8: a directory for babeltrace2 and Trace Compass\n"
		"  chrome    JSON for chrome://tracing, ui.perfetto.dev and Speedscope\n"
		"  perfetto  protocol buffers for ui.perfetto.dev and trace_processor\n"
		"  html      a page with a timeline, for any browser\n"
		"\n"
		"  -f, --format=FORMAT     one of these formats\n"
		"  -F, --format-file=FILE  fields in the data of events: see posixtrace-export(1)\n"
		"      --filter=FILTER     only these events, by names and fields:\n"
		"                          'cache_* && op == set && len > 4096'\n"
		"  -h, --help              print this help\n"
		"  -m, --max-events=N      events in an HTML page, at most (200000)\n"
		"  -o, --output=OUT        file or directory to write; it must not exist\n\n"
		"Exit status: 0; 1 after a failure or if the log is damaged; 2 after a usage error.\n");
}

static int open_output(struct export *export, size_t format)
{
	int fd, err;

	if (formats[format].directory)
		return 0;
	if (!export->path || !strcmp(export->path, "-")) {
		export->path = NULL;
		export->file = stdout;
		if (formats[format].binary && isatty(STDOUT_FILENO)) {
			tell("--output: required when standard output is a terminal");
			return -EINVAL;
		}
		return 0;
	}
	/* For the user only, as the log that it is from. */
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

/* Returns @err or an error of its own. After an error, removes the file: it is incomplete. */
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

static int run_export(struct export *export, size_t format)
{
	int err = source_open_log(export->log, &export->source);

	if (err) {
		source_complain(export->log, err);
		return 1;
	}
	source_set_formats(export->source, export->formats);
	if (export->path && strcmp(export->path, "-") != 0)
		export_begin_signals();
	err = open_output(export, format);
	if (err)
		goto out;
	export->progress = isatty(STDERR_FILENO);
	export->kernel = export_kernel_classes(export);
	err = formats[format].run(export);
	err = close_output(export, err);
	export_end_progress(export);
	if (err && export_interrupted())
		export_obey_signal();
	else if (err && !export->path && ferror(stdout))
		complain_of_output(-err);
	else if (err)
		complain("export", -err);
	else
		misfits_warn(export->formats, export->source);
	if (!err) {
		err = logend_read(&export->end, export->source);
		if (err)
			complain(export->log, -err);
	}
	if (!err)
		err = logend_tell(&export->end, export->log, export->source);
out:
	source_close(export->source);
	return err ? 1 : 0;
}

static int find_format(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++) {
		if (!strcmp(formats[i].name, name))
			return i;
	}
	tell("--format: must be ctf, chrome, perfetto or html (got \"%s\")", name);
	return -1;
}

static int parse_max(const char *text, uint64_t *max)
{
	char *end;

	errno = 0;
	*max = strtoull(text, &end, 10);
	if (!errno && !*end && *text >= '0' && *text <= '9' && *max)
		return 0;
	tell("--max-events: must be at least 1 (got \"%s\")", text);
	return -EINVAL;
}

int cmd_export(int argc, char **argv)
{
	static const struct option options[] = {
		{ "filter", required_argument, NULL, OPTION_FILTER },
		{ "format", required_argument, NULL, 'f' },
		{ "format-file", required_argument, NULL, 'F' },
		{ "help", no_argument, NULL, 'h' },
		{ "max-events", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ }
	};
	struct export *export;
	int opt, ret = 2, format = -1;

	export = calloc(1, sizeof(*export));
	if (!export || select_new(&export->selection)) {
		free(export);
		complain("export", ENOMEM);
		return 1;
	}
	while ((opt = getopt_long(argc, argv, "f:F:hm:o:", options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			format = find_format(optarg);
			if (format < 0)
				goto out;
			break;
		case OPTION_FILTER:
			/* This command has another option -F. */
			if (select_option(export->selection, 'F', optarg) < 0)
				goto out;
			break;
		case 'F':
			export->format_file = optarg;
			break;
		case 'h':
			print_help(stdout);
			ret = 0;
			goto out;
		case 'm':
			if (parse_max(optarg, &export->max_events))
				goto out;
			break;
		case 'o':
			export->path = optarg;
			break;
		default:
			print_help(stderr);
			goto out;
		}
	}
	if (format < 0) {
		usage_error("export", "--format: required: ctf, chrome, perfetto or html");
		goto out;
	}
	if (argc - optind != 1) {
		usage_error("export", argc == optind ?
			    "export: needs a LOG, such as posixtrace.log" :
			    "export: converts one LOG, not %d", argc - optind);
		goto out;
	}
	if (formats[format].directory && !export->path) {
		tell("--output: required with --format=%s, which writes a directory",
		     formats[format].name);
		goto out;
	}
	if (export->max_events && !formats[format].bounded) {
		tell("--max-events: needs --format=html");
		goto out;
	}
	export->log = argv[optind];
	ret = 1;
	if (!export->format_file || !formats_load(export->format_file, &export->formats))
		ret = run_export(export, format);
out:
	formats_free(export->formats);
	select_free(export->selection);
	free(export);
	return ret;
}
