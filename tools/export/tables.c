// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the tables of a log as CSV, JSON lines or Arrow. A single table is one file. Several
 * tables are files in a directory. All tables are written in one pass over the log.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"
#include "export/table_events.h"
#include "export/table_log.h"
#include "export/table_schemas.h"
#include "export/table_spans.h"
#include "export/table_threads.h"
#include "export/tables.h"
#include "util/message.h"

#define FILE_NAME_MAX	32
#define ALL_TABLES	((1U << NR_TABLES) - 1)

const struct option_choice tables_names[] = {
	{ "events", TABLE_EVENTS },
	{ "scopes", TABLE_SCOPES },
	{ "states", TABLE_STATES },
	{ "waits", TABLE_WAITS },
	{ "syscalls", TABLE_SYSCALLS },
	{ "counters", TABLE_COUNTERS },
	{ "processes", TABLE_PROCESSES },
	{ "threads", TABLE_THREADS },
	{ "hosts", TABLE_HOSTS },
	{ "losses", TABLE_LOSSES },
	{ }
};

int tables_choose(void *target, const struct command_option *option, const char *value)
{
	const struct option_choice *choice;
	unsigned int *tables = target;
	const char *at = value;
	size_t len;

	for (;; at += len + 1) {
		len = strcspn(at, ",");
		choice = option_choose(option, at, len);
		if (!choice)
			return option_refuse(option, value);
		*tables |= 1U << choice->value;
		if (!at[len])
			return 0;
	}
}

bool tables_are_many(unsigned int tables)
{
	return !tables || tables & (tables - 1);
}

struct tables {
	struct export *export;
	const struct table_format *format;
	struct table tables[NR_TABLES];
	int directory;			/* -1: a single table, in export->file */
	bool made;			/* this export created the directory */
	struct table_threads *threads;
	struct table_spans *spans;
	struct table_losses losses;
	struct table_texts texts;
};

/* ------------------------------------------------------------------ */
/* Files								*/

static void file_name(const struct tables *tables, size_t i, char name[FILE_NAME_MAX])
{
	snprintf(name, FILE_NAME_MAX, "%s%s", table_schemas[i].name, tables->format->suffix);
}

static int make_directory(struct tables *tables)
{
	const char *path = tables->export->path;
	int err;

	if (mkdir(path, 0700)) {
		err = -errno;
		if (err == -EEXIST)
			tell("--output: %s: already exists; remove it, or choose another name",
			     path);
		return err;
	}
	tables->made = true;
	tables->directory = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return tables->directory < 0 ? -errno : 0;
}

/* Returns the file of a table, or NULL and sets errno. */
static FILE *open_file(const struct tables *tables, size_t i)
{
	char name[FILE_NAME_MAX];
	FILE *file;
	int fd, err;

	if (tables->directory < 0)
		return tables->export->file;
	file_name(tables, i, name);
	fd = openat(tables->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file && fd >= 0) {
		err = errno;
		close(fd);
		errno = err;
	}
	return file;
}

static int open_tables(struct tables *tables)
{
	unsigned int wanted = tables->export->tables ? tables->export->tables : ALL_TABLES;
	const bool files = tables->format->suffix;
	int err = !files || tables->export->file ? 0 : make_directory(tables);
	FILE *file = NULL;

	for (size_t i = 0; i < NR_TABLES && !err; i++) {
		if (!(wanted & 1U << i))
			continue;
		if (files)
			file = open_file(tables, i);
		if (files && !file)
			err = -errno;
		else
			err = table_begin(&tables->tables[i], &table_schemas[i], tables->format,
					  file, tables->export->sink);
	}
	return err;
}

static int end_tables(struct tables *tables)
{
	int err = 0;

	for (size_t i = 0; i < NR_TABLES && !err; i++) {
		if (table_is_wanted(&tables->tables[i]))
			err = table_end(&tables->tables[i]);
	}
	return err;
}

/* Closes all files. After an error, removes them and the directory. Returns the error. */
static int close_tables(struct tables *tables, int err)
{
	char name[FILE_NAME_MAX];

	for (size_t i = 0; i < NR_TABLES; i++) {
		if (tables->directory >= 0 && tables->tables[i].file &&
		    fclose(tables->tables[i].file) && !err)
			err = -errno;
		table_free(&tables->tables[i]);
	}
	if (!err && tables->made)
		err = export_interrupted();
	for (size_t i = 0; i < NR_TABLES && err && tables->directory >= 0; i++) {
		file_name(tables, i, name);
		unlinkat(tables->directory, name, 0);
	}
	if (tables->directory >= 0)
		close(tables->directory);
	if (err && tables->made)
		rmdir(tables->export->path);
	return err;
}

/* ------------------------------------------------------------------ */
/* Rows									*/

static int put_event(struct tables *tables, const struct event *event)
{
	struct table *losses = &tables->tables[TABLE_LOSSES];
	struct table *events = &tables->tables[TABLE_EVENTS];
	struct table *counters = &tables->tables[TABLE_COUNTERS];
	uint32_t utid;
	int err = table_threads_find(tables->threads, event, &utid);

	if (err)
		return err;
	table_threads_count(tables->threads, utid, event);
	err = table_losses_event(losses, &tables->losses, tables->export, event);
	if (!err && table_is_wanted(events))
		err = table_events_put(events, tables->threads, event, utid, &tables->texts);
	if (!err && table_is_wanted(counters))
		err = table_counters_put(counters, tables->threads, event, utid);
	return err ? err : table_spans_event(tables->spans, event, utid);
}

/* Writes the rows that are known only at the end of the log. */
static int put_rest(struct tables *tables)
{
	struct table *losses = &tables->tables[TABLE_LOSSES];
	struct table *hosts = &tables->tables[TABLE_HOSTS];
	struct export *export = tables->export;
	/* Work on a copy, because the caller completes the counts of the export. */
	struct logend end = export->end;
	int err = logend_read(&end, export->source);

	if (!err)
		err = table_spans_end(tables->spans);
	if (!err && table_is_wanted(losses))
		err = table_losses_end(losses, &tables->losses, &end);
	if (!err && table_is_wanted(hosts))
		err = table_hosts_put(hosts, &tables->losses, export, &end);
	if (!err)
		err = table_threads_put(tables->threads, export->source,
					&tables->tables[TABLE_THREADS],
					&tables->tables[TABLE_PROCESSES]);
	return err;
}

static int put_all(struct tables *tables)
{
	struct event event;
	int ret;

	while ((ret = export_next(tables->export, &event)) > 0) {
		ret = put_event(tables, &event);
		if (ret)
			return ret;
	}
	return ret ? ret : put_rest(tables);
}

int tables_export(struct export *export, const struct table_format *format)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	int err;

	if (!tables)
		return -ENOMEM;
	tables->export = export;
	tables->format = format;
	tables->directory = -1;
	err = open_tables(tables);
	if (!err)
		err = table_threads_new(&tables->threads);
	if (!err)
		err = table_spans_new(export, tables->tables, tables->threads, &tables->spans);
	if (!err)
		err = put_all(tables);
	if (!err)
		err = end_tables(tables);
	err = close_tables(tables, err);
	table_spans_free(tables->spans);
	table_losses_free(&tables->losses);
	table_threads_free(tables->threads);
	buffer_free(&tables->texts.fields);
	buffer_free(&tables->texts.data);
	free(tables);
	return err;
}

int export_csv(struct export *export)
{
	return tables_export(export, &table_csv);
}

int export_jsonl(struct export *export)
{
	return tables_export(export, &table_jsonl);
}

int export_arrow(struct export *export)
{
	return tables_export(export, &table_arrow);
}
