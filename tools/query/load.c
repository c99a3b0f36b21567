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
#include "util/escape.h"
#include "util/message.h"

#define ALL_TABLES	((1U << NR_TABLES) - 1)

/* ------------------------------------------------------------------ */
/* Tables								*/

static const char *const types[COLUMN_TYPES] = {
	[COLUMN_INT64] = "BIGINT",
	[COLUMN_UINT64] = "UBIGINT",
	[COLUMN_INT32] = "INTEGER",
	[COLUMN_UINT32] = "UINTEGER",
	[COLUMN_DOUBLE] = "DOUBLE",
	[COLUMN_BOOL] = "BOOLEAN",
	[COLUMN_TEXT] = "VARCHAR",
	[COLUMN_JSON] = "JSON",
};

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

static int create_table(const struct load *load, const struct table_schema *schema)
{
	struct buffer sql = { };
	int err;

	buffer_printf(&sql, "CREATE TABLE %s (log UINTEGER", schema->name);
	for (size_t i = 0; i < schema->count; i++)
		buffer_printf(&sql, ", \"%s\" %s", schema->columns[i].name,
			      types[schema->columns[i].type]);
	buffer_text(&sql, ")");
	buffer_byte(&sql, '\0');
	err = sql.failed ? -ENOMEM : duckdb_run(load->db, (const char *)sql.data);
	if (sql.failed)
		complain("query", ENOMEM);
	buffer_free(&sql);
	return err;
}

int load_begin(struct load *load)
{
	int err = duckdb_run(load->db, "CREATE TABLE logs (log UINTEGER, path VARCHAR)");

	for (size_t i = 0; i < NR_TABLES && !err; i++) {
		if (load->tables & 1U << i)
			err = create_table(load, &table_schemas[i]);
	}
	return err;
}

/* ------------------------------------------------------------------ */
/* Rows									*/

/* A chunk of rows that is filled, then passed to DuckDB. Column 0 is the number of the log. */
struct rows {
	void *appender;
	void *chunk;
	uint64_t count;
	uint64_t room;
	struct {
		void *vector;
		void *data;
		uint64_t *validity;
	} columns[TABLE_COLUMNS + 1];
};

static int refuse(const struct duckdb *db, void *appender)
{
	duckdb_complain(db->appender_error(appender));
	return -ECANCELED;
}

/* Gets pointers to the columns of an empty chunk. */
static void find_columns(const struct duckdb *db, const struct table *table)
{
	struct rows *rows = table->state;

	for (size_t i = 0; i <= table->schema->count; i++) {
		void *vector = db->data_chunk_get_vector(rows->chunk, i);

		db->vector_ensure_validity_writable(vector);
		rows->columns[i].vector = vector;
		rows->columns[i].data = db->vector_get_data(vector);
		rows->columns[i].validity = db->vector_get_validity(vector);
	}
	rows->count = 0;
}

static int begin_table(struct table *table)
{
	const struct load *load = table->sink;
	const struct duckdb *db = load->db;
	struct rows *rows = calloc(1, sizeof(*rows));
	void *types[TABLE_COLUMNS + 1];

	if (!rows)
		return -ENOMEM;
	table->state = rows;
	if (db->appender_create(db->connection, NULL, table->schema->name, &rows->appender))
		return refuse(db, rows->appender);
	for (size_t i = 0; i <= table->schema->count; i++)
		types[i] = db->appender_column_type(rows->appender, i);
	rows->chunk = db->create_data_chunk(types, table->schema->count + 1);
	for (size_t i = 0; i <= table->schema->count; i++)
		db->destroy_logical_type(&types[i]);
	if (!rows->chunk)
		return -ENOMEM;
	rows->room = db->vector_size();
	find_columns(db, table);
	return 0;
}

static int flush(struct table *table)
{
	const struct load *load = table->sink;
	const struct duckdb *db = load->db;
	struct rows *rows = table->state;

	db->data_chunk_set_size(rows->chunk, rows->count);
	if (db->append_data_chunk(rows->appender, rows->chunk))
		return refuse(db, rows->appender);
	db->data_chunk_reset(rows->chunk);
	find_columns(db, table);
	return 0;
}

static int put_text(const struct duckdb *db, struct table *table, size_t i)
{
	const struct rows *rows = table->state;
	struct buffer *text = &table->scratch;

	buffer_reset(text);
	table_text(text, &table->schema->columns[i], &table->cells[i]);
	if (text->failed)
		return -ENOMEM;
	db->vector_assign_string_element_len(rows->columns[i + 1].vector, rows->count,
					     text->len ? (const char *)text->data : "", text->len);
	return 0;
}

static int put_cell(const struct duckdb *db, struct table *table, size_t i)
{
	const struct rows *rows = table->state;
	const union cell *cell = &table->cells[i];
	const uint64_t row = rows->count;
	void *data = rows->columns[i + 1].data;

	if (!table_has(table, i)) {
		rows->columns[i + 1].validity[row / 64] &= ~(1ULL << row % 64);
		return 0;
	}
	switch (table->schema->columns[i].type) {
	case COLUMN_INT64:
	case COLUMN_UINT64:
		((int64_t *)data)[row] = cell->number;
		return 0;
	case COLUMN_INT32:
	case COLUMN_UINT32:
		((uint32_t *)data)[row] = (uint32_t)cell->number;
		return 0;
	case COLUMN_DOUBLE:
		((double *)data)[row] = cell->real;
		return 0;
	case COLUMN_BOOL:
		((bool *)data)[row] = cell->number;
		return 0;
	default:
		return put_text(db, table, i);
	}
}

static int put_row(struct table *table)
{
	const struct load *load = table->sink;
	struct rows *rows = table->state;
	int err = 0;

	((uint32_t *)rows->columns[0].data)[rows->count] = load->logs;
	for (size_t i = 0; i < table->schema->count && !err; i++)
		err = put_cell(load->db, table, i);
	if (!err && ++rows->count == rows->room)
		err = flush(table);
	return err;
}

static int end_table(struct table *table)
{
	const struct load *load = table->sink;
	struct rows *rows = table->state;
	int err = flush(table);

	if (!err && load->db->appender_close(rows->appender))
		err = refuse(load->db, rows->appender);
	return err;
}

static void free_table(struct table *table)
{
	const struct load *load = table->sink;
	struct rows *rows = table->state;

	if (!rows)
		return;
	if (rows->chunk)
		load->db->destroy_data_chunk(&rows->chunk);
	if (rows->appender)
		load->db->appender_destroy(&rows->appender);
	free(rows);
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
