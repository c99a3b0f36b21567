// SPDX-License-Identifier: GPL-2.0
/*
 * Tables as Parquet: see parquet.h. A table is collected in DuckDB, which moves it to the temporary
 * directory when it exceeds the memory limit. DuckDB then writes a file there, which is copied to
 * the output: so the output is made in the same way as in other formats, and may be a pipe.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/tables.h"
#include "query/parquet.h"
#include "query/rows.h"
#include "util/message.h"

#define FILE_NAME	"table.parquet"
#define COPY_BYTES	(1U << 16)

/* One thread keeps the order of the rows, and has only one group of rows in memory. */
static const char settings[] =
	"SET threads = 1; SET memory_limit = '256MiB'; SET preserve_insertion_order = false";

/* Appends a text as an SQL literal. */
static void put_literal(struct buffer *to, const char *text)
{
	buffer_byte(to, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buffer_byte(to, '\'');
		buffer_byte(to, (unsigned char)*text);
	}
	buffer_byte(to, '\'');
}

static void put_path(struct buffer *to, const struct parquet *parquet)
{
	buffer_text(to, parquet->folder);
	buffer_text(to, "/" FILE_NAME);
	buffer_byte(to, '\0');
}

static int begin_table(struct table *table)
{
	struct parquet *parquet = table->sink;

	if (rows_create(&parquet->db, table->schema, NULL, "VARCHAR"))
		return -ECANCELED;
	return rows_begin(&parquet->db, table->schema, 0, &table->state);
}

static int put_row(struct table *table)
{
	return rows_put(table->state, table, 0);
}

/* Writes the table as the file @path, and drops it. */
static int write_file(struct table *table, const char *path)
{
	const struct parquet *parquet = table->sink;
	const char *name = table->schema->name;
	struct buffer sql = { };
	int err;

	buffer_printf(&sql, "COPY %s TO ", name);
	put_literal(&sql, path);
	buffer_text(&sql, " (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE_BYTES '32MiB', ");
	buffer_printf(&sql, "KV_METADATA {'posixtrace.table': '%s', 'posixtrace.version': '%s'})",
		      name, TABLE_VERSION);
	buffer_byte(&sql, '\0');
	err = sql.failed ? -ENOMEM :
	      duckdb_run_until(&parquet->db, (const char *)sql.data, export_interrupted);
	buffer_reset(&sql);
	buffer_printf(&sql, "DROP TABLE %s", name);
	buffer_byte(&sql, '\0');
	if (!err)
		err = sql.failed ? -ENOMEM : duckdb_run(&parquet->db, (const char *)sql.data);
	buffer_free(&sql);
	return err == -EINVAL ? -ECANCELED : err;
}

static int copy_file(struct table *table, const char *path)
{
	FILE *from = fopen(path, "re");
	char data[COPY_BYTES];
	size_t len;
	int err = 0;

	if (!from)
		return -errno;
	while (!err && (len = fread(data, 1, sizeof(data), from)) > 0) {
		err = table_write(table, data, len);
		if (!err)
			err = export_interrupted();
	}
	if (!err && ferror(from))
		err = -EIO;
	fclose(from);
	return err;
}

static int end_table(struct table *table)
{
	struct buffer path = { };
	int err = rows_end(table->state);

	rows_free(table->state);
	table->state = NULL;
	put_path(&path, table->sink);
	if (!err && path.failed)
		err = -ENOMEM;
	if (!err)
		err = write_file(table, (const char *)path.data);
	if (!err)
		err = copy_file(table, (const char *)path.data);
	if (!path.failed)
		unlink((const char *)path.data);
	buffer_free(&path);
	return err;
}

static void free_table(struct table *table)
{
	rows_free(table->state);
}

static const struct table_format format = {
	.suffix = ".parquet",
	.begin = begin_table,
	.row = put_row,
	.end = end_table,
	.free = free_table,
};

int parquet_begin(struct parquet *parquet, const char *folder)
{
	int err = duckdb_begin(&parquet->db, "export", folder);

	parquet->folder = folder;
	return err ? err : duckdb_run(&parquet->db, settings);
}

int parquet_export(struct export *export)
{
	return tables_export(export, &format);
}

void parquet_end(struct parquet *parquet)
{
	duckdb_end(&parquet->db);
}
