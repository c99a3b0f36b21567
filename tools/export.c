// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace export": writes a log in a format for other programs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "escape.h"
#include "export.h"

#define PROGRESS_EVERY	(1 << 16)	/* events */

static const struct {
	const char *name;
	int (*run)(struct export *export);
	bool directory;	/* writes a directory, so --output must name it */
	bool binary;	/* must not be written to a terminal */
} formats[] = {
	{ "ctf", export_ctf, .directory = true },
	{ "chrome", export_chrome, .directory = false },
	{ "perfetto", export_perfetto, .binary = true },
	{ "html", export_html, .directory = false },
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
		"  -h, --help              print this help\n"
		"  -m, --max-events=N      events in an HTML page, at most (200000)\n"
		"  -o, --output=OUT        file or directory to write; it must not exist\n\n"
		"Exit status: 0; 1 after a failure or if the log is damaged; 2 after a usage error.\n");
}

/* ------------------------------------------------------------------ */
/* For the exporters							*/

static void show_progress(const struct export *export, const char *end)
{
	uint64_t total = source_total_bytes(export->source);

	fprintf(stderr, "\rposixtrace: %llu events", (unsigned long long)export->events);
	if (total)
		fprintf(stderr, ", %3.0f %%", 100.0 * source_read_bytes(export->source) / total);
	fputs(end, stderr);
	fflush(stderr);
}

int export_next(struct export *export, struct event *event)
{
	int ret = source_next(export->source, event);

	if (ret <= 0)
		return ret;
	if (!export->events++)
		export->first_time = event->time;
	export->user_events += event->user;
	logend_event(&export->end, event);
	export->newly_lost = event->lost > export->lost ? event->lost - export->lost : 0;
	export->lost = event->lost;
	if (export->progress && export->events % PROGRESS_EVERY == 0)
		show_progress(export, "");
	return 1;
}

const struct layout *export_layout(struct export *export, const struct event *event)
{
	struct layout *layout;

	if (!export->layouts || !event->has_data || event->type >= EXPORT_TYPES)
		return NULL;
	if (!export->known[event->type]) {
		export->layout_of[event->type] = layouts_find(export->layouts, event->name);
		export->known[event->type] = true;
	}
	layout = export->layout_of[event->type];
	if (!layout || event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		return NULL;
	if (layout_matches(layout, event->data, event->len))
		return layout;
	if (!layout->misfit)
		layout->misfit_len = event->len;
	layout->misfit = true;
	return NULL;
}

int export_flush(struct export *export, struct buffer *buffer, size_t least)
{
	if (buffer->failed)
		return -ENOMEM;
	if (buffer->len < least)
		return 0;
	if (buffer->len && fwrite(buffer->data, buffer->len, 1, export->file) != 1)
		return errno ? -errno : -EIO;
	buffer_reset(buffer);
	return 0;
}

void export_trace_name(const struct export *export, char *name, size_t size)
{
	char text[TRACE_NAME_MAX + 1] = "";
	trace_attr_t attr;

	if (!posix_trace_get_attr(source_trid(export->source), &attr))
		posix_trace_attr_getname(&attr, text);
	snprintf(name, size, "%s", text);
}

/* ------------------------------------------------------------------ */
/* Differences between format file and log				*/

static void find_types(struct export *export)
{
	trace_id_t trid = source_trid(export->source);
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct layout *layout;
	trace_event_id_t type;
	int none;

	while (!posix_trace_eventtypelist_getnext_id(trid, &type, &none) && !none) {
		if (type < POSIX_TRACE_UNNAMED_USEREVENT ||
		    posix_trace_eventid_get_name(trid, type, name))
			continue;
		layout = layouts_find(export->layouts, name);
		if (layout)
			layout->in_log = true;
	}
}

static void put_misfit(struct buffer *text, const struct layout *layout)
{
	size_t len = layout->misfit_len, size;
	bool least;

	size = layout_size(layout, &least);
	if (len < size || (len > size && !least))
		buffer_printf(text, "the fields have %s%zu bytes, an event has %zu",
			      least ? "at least " : "", size, len);
	else if (least)
		buffer_printf(text, "the %zu bytes of an event do not match these fields", len);
	else
		buffer_text(text, "the text of an event cannot be printed");
	buffer_text(text, ": shown as bytes");
}

static void warn_of_layout(const struct export *export, const struct layout *layout)
{
	struct buffer text = { };

	if (layout->in_log && !layout->misfit)
		return;
	escape_plain(&text, layout->event, strlen(layout->event));
	buffer_text(&text, ": ");
	if (layout->misfit)
		put_misfit(&text, layout);
	else
		buffer_text(&text, "the log has no such user event type");
	if (text.failed)
		complain(export->format_file, ENOMEM);
	else
		tell("%s:%u: %.*s", export->format_file, layout->line, (int)text.len,
		     (const char *)text.data);
	buffer_free(&text);
}

/* The output is still correct, but perhaps not what the user expects. */
static void warn_of_layouts(struct export *export)
{
	const struct layout *layout;

	if (!export->layouts)
		return;
	find_types(export);
	for (size_t i = 0; (layout = layouts_get(export->layouts, i)); i++)
		warn_of_layout(export, layout);
}

/* ------------------------------------------------------------------ */
/* The command								*/

static int open_output(struct export *export, size_t format)
{
	int err;

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
	export->file = fopen(export->path, "wxe");
	if (export->file)
		return 0;
	err = errno;
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
	err = open_output(export, format);
	if (err)
		goto out;
	export->progress = isatty(STDERR_FILENO);
	err = formats[format].run(export);
	err = close_output(export, err);
	if (export->progress && export->events >= PROGRESS_EVERY)
		show_progress(export, "\n");
	if (err && !export->path && ferror(stdout))
		complain_of_output(-err);
	else if (err)
		complain("export", -err);
	else
		warn_of_layouts(export);
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
	fprintf(stderr, "posixtrace: --format: must be one of");
	for (size_t i = 0; i < NR_FORMATS; i++)
		fprintf(stderr, " %s", formats[i].name);
	fprintf(stderr, " (got \"%s\")\n", name);
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

int posixtrace_export(int argc, char **argv)
{
	static const struct option options[] = {
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
	if (!export) {
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
	if (format < 0 || argc - optind != 1) {
		print_help(stderr);
		goto out;
	}
	if (formats[format].directory && !export->path) {
		tell("--output: required with --format=%s, which writes a directory",
		     formats[format].name);
		goto out;
	}
	export->log = argv[optind];
	ret = 1;
	if (!export->format_file || !layouts_load(export->format_file, &export->layouts))
		ret = run_export(export, format);
out:
	layouts_free(export->layouts);
	free(export);
	return ret;
}
