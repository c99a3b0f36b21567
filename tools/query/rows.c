// SPDX-License-Identifier: GPL-2.0
/*
 * Rows for a table in DuckDB: see rows.h. They wait in a chunk, then in DuckDB's appender, whose
 * memory does not count for the limit of the database. So both are emptied early, also if texts
 * are long.
 */
#include <errno.h>
#include <stdlib.h>

#include "query/rows.h"
#include "util/message.h"

#define FLUSH_BYTES	(4 * TABLE_BATCH_BYTES)	/* of texts in the appender */

struct rows {
	const struct duckdb *db;
	const struct table_schema *schema;
	size_t before;			/* columns in front */
	void *appender;
	void *chunk;
	uint64_t count;			/* rows in @chunk */
	uint64_t room;
	size_t bytes;			/* of texts in @chunk */
	uint64_t appended;		/* rows in @appender */
	size_t appended_bytes;		/* of texts there */
	struct {
		void *vector;
		void *data;
		uint64_t *validity;
	} columns[TABLE_COLUMNS + 1];
};

static const char *const types[COLUMN_TYPES] = {
	[COLUMN_INT64] = "BIGINT",
	[COLUMN_UINT64] = "UBIGINT",
	[COLUMN_INT32] = "INTEGER",
	[COLUMN_UINT32] = "UINTEGER",
	[COLUMN_DOUBLE] = "DOUBLE",
	[COLUMN_BOOL] = "BOOLEAN",
	[COLUMN_TEXT] = "VARCHAR",
};

int rows_create(const struct duckdb *db, const struct table_schema *schema, const char *before,
		const char *json)
{
	struct buffer sql = { };
	int err;

	buffer_printf(&sql, "CREATE TABLE %s (%s", schema->name, before ? before : "");
	for (size_t i = 0; i < schema->count; i++) {
		const char *type = types[schema->columns[i].type];

		buffer_printf(&sql, "%s\"%s\" %s", i || before ? ", " : "",
			      schema->columns[i].name, type ? type : json);
	}
	buffer_text(&sql, ")");
	buffer_byte(&sql, '\0');
	err = sql.failed ? -ENOMEM : duckdb_run(db, (const char *)sql.data);
	if (sql.failed)
		complain(db->user, ENOMEM);
	buffer_free(&sql);
	return err;
}

static int refuse(const struct rows *rows)
{
	duckdb_complain(rows->db, rows->db->appender_error(rows->appender));
	return -ECANCELED;
}

/* Finds where to write the rows of an empty chunk. */
static void find_columns(struct rows *rows)
{
	const struct duckdb *db = rows->db;

	for (size_t i = 0; i < rows->before + rows->schema->count; i++) {
		void *vector = db->data_chunk_get_vector(rows->chunk, i);

		db->vector_ensure_validity_writable(vector);
		rows->columns[i].vector = vector;
		rows->columns[i].data = db->vector_get_data(vector);
		rows->columns[i].validity = db->vector_get_validity(vector);
	}
	rows->count = 0;
	rows->bytes = 0;
}

int rows_begin(const struct duckdb *db, const struct table_schema *schema, size_t before,
	       void **state)
{
	const size_t count = before + schema->count;
	struct rows *rows = calloc(1, sizeof(*rows));
	void *columns[TABLE_COLUMNS + 1];

	*state = rows;
	if (!rows)
		return -ENOMEM;
	rows->db = db;
	rows->schema = schema;
	rows->before = before;
	if (db->appender_create(db->connection, NULL, schema->name, &rows->appender))
		return refuse(rows);
	for (size_t i = 0; i < count; i++)
		columns[i] = db->appender_column_type(rows->appender, i);
	rows->chunk = db->create_data_chunk(columns, count);
	for (size_t i = 0; i < count; i++)
		db->destroy_logical_type(&columns[i]);
	if (!rows->chunk)
		return -ENOMEM;
	rows->room = db->vector_size();
	find_columns(rows);
	return 0;
}

static int flush(struct rows *rows)
{
	const struct duckdb *db = rows->db;

	db->data_chunk_set_size(rows->chunk, rows->count);
	if (db->append_data_chunk(rows->appender, rows->chunk))
		return refuse(rows);
	rows->appended += rows->count;
	rows->appended_bytes += rows->bytes;
	db->data_chunk_reset(rows->chunk);
	find_columns(rows);
	if (rows->appended < TABLE_BATCH_ROWS && rows->appended_bytes < FLUSH_BYTES)
		return 0;
	rows->appended = 0;
	rows->appended_bytes = 0;
	return db->appender_flush(rows->appender) ? refuse(rows) : 0;
}

static int put_text(struct rows *rows, struct table *table, size_t i)
{
	struct buffer *text = &table->scratch;

	buffer_reset(text);
	table_text(text, &table->schema->columns[i], &table->cells[i]);
	if (text->failed)
		return -ENOMEM;
	rows->db->vector_assign_string_element_len(rows->columns[rows->before + i].vector,
						   rows->count,
						   text->len ? (const char *)text->data : "",
						   text->len);
	rows->bytes += text->len;
	return 0;
}

static int put_cell(struct rows *rows, struct table *table, size_t i)
{
	const union cell *cell = &table->cells[i];
	const uint64_t row = rows->count;
	void *data = rows->columns[rows->before + i].data;

	if (!table_has(table, i)) {
		rows->columns[rows->before + i].validity[row / 64] &= ~(1ULL << row % 64);
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
		return put_text(rows, table, i);
	}
}

int rows_put(struct rows *rows, struct table *table, uint32_t number)
{
	int err = 0;

	if (rows->before)
		((uint32_t *)rows->columns[0].data)[rows->count] = number;
	for (size_t i = 0; i < table->schema->count && !err; i++)
		err = put_cell(rows, table, i);
	if (!err && (++rows->count == rows->room || rows->bytes >= TABLE_BATCH_BYTES))
		err = flush(rows);
	return err;
}

int rows_end(struct rows *rows)
{
	int err = flush(rows);

	if (!err && rows->db->appender_close(rows->appender))
		err = refuse(rows);
	return err;
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	if (rows->chunk)
		rows->db->destroy_data_chunk(&rows->chunk);
	if (rows->appender)
		rows->db->appender_destroy(&rows->appender);
	free(rows);
}
