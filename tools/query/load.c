// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of logs in DuckDB: see load.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "analyze/durations.h"
#include "analyze/snapshot.h"
#include "event/misfits.h"
#include "export/export.h"
#include "export/table_schemas.h"
#include "export/tables.h"
#include "query/load.h"
#include "query/rows.h"
#include "util/escape.h"
#include "util/message.h"

#define ALL_TABLES	((1U << NR_TABLES) - 1)

/* ------------------------------------------------------------------ */
/* Tables								*/

static bool is_word_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = text; (at = strcasestr(at, word)); at += len) {
		if ((at == text || !is_word_character(at[-1])) && !is_word_character(at[len]))
			return true;
	}
	return false;
}

unsigned int load_choose(const char *sql)
{
	unsigned int tables = 0;

	for (size_t i = 0; i < NR_TABLES; i++) {
		if (has_word(sql, table_schemas[i].name))
			tables |= 1U << i;
	}
	return tables ? tables : ALL_TABLES;
}

int load_begin(struct load *load)
{
	int err = duckdb_run(load->db, "CREATE TABLE logs (log UINTEGER, path VARCHAR)");

	for (size_t i = 0; i < NR_TABLES && !err; i++) {
		if (load->tables & 1U << i)
			err = rows_create(load->db, &table_schemas[i], "log UINTEGER", "JSON");
	}
	return err;
}

/* ------------------------------------------------------------------ */
/* Rows									*/

static int begin_table(struct table *table)
{
	const struct load *load = table->sink;

	return rows_begin(load->db, table->schema, 1, &table->state);
}

static int put_row(struct table *table)
{
	const struct load *load = table->sink;

	return rows_put(table->state, table, load->logs);
}

static int end_table(struct table *table)
{
	return rows_end(table->state);
}

static void free_table(struct table *table)
{
	rows_free(table->state);
}

static const struct table_format format = {
	.begin = begin_table,
	.row = put_row,
	.end = end_table,
	.free = free_table,
};

/* ------------------------------------------------------------------ */
/* Logs									*/

/* Adds the row of a log to the table logs. */
static int put_log(const struct load *load, const char *name)
{
	static const struct column columns[] = { { "path", COLUMN_TEXT } };
	static const struct table_schema schema = { "logs", columns, 1 };
	struct table table;
	int err = table_begin(&table, &schema, &format, NULL, (void *)load);

	if (!err) {
		table_set_text(&table, 0, name);
		err = table_row(&table);
	}
	if (!err)
		err = table_end(&table);
	table_free(&table);
	return err;
}

static int load_source(struct load *load, struct export *export)
{
	int err;

	source_set_formats(export->source, export->formats);
	select_restart(export->selection);
	err = durations_select(export->selection, export->source, NULL);
	if (err)
		return -ECANCELED;
	export->kernel = export_kernel_classes(export);
	err = put_log(load, export->log);
	if (!err)
		err = tables_export(export, &format);
	export_end_progress(export);
	if (!err)
		err = logend_read(&export->end, export->source);
	return err;
}

int load_log(struct load *load, const char *const *paths, size_t count, const char *name)
{
	struct export export = {
		.log = name,
		.formats = load->formats,
		.selection = load->selection,
		.tables = load->tables,
		.sink = load,
		.progress = isatty(STDERR_FILENO),
	};
	int err = source_open_logs(paths, count, &export.source);

	if (err)
		return err;
	load->logs++;
	err = load_source(load, &export);
	if (err && err != -ECANCELED)
		complain(name, -err);
	if (!err) {
		misfits_warn(export.formats, export.source);
		/* Even the readable part of a damaged log is worth an answer. */
		if (logend_tell(&export.end, name, export.source))
			load->incomplete = true;
		err = select_complain(export.selection, name, export.source);
	}
	snapshot_free(export.snapshot);
	source_close(export.source);
	return err;
}
