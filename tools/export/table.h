/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of an export: rows of cells, written in one of several formats. Documentation/tables.rst
 * describes the tables.
 */
#ifndef POSIXTRACE_TABLE_H
#define POSIXTRACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/buffer.h"

#define TABLE_VERSION		"1"		/* version of the schema of all tables */
#define TABLE_COLUMNS		32		/* columns of a table, at most */
#define TABLE_BATCH_ROWS	(1U << 16)	/* rows of a batch in formats that have batches */
#define TABLE_BATCH_BYTES	(8U << 20)	/* a batch ends when its texts are this large */
#define TABLE_WRITE_AT		(1U << 18)	/* bytes */

enum column_type {
	COLUMN_INT64,
	COLUMN_UINT64,
	COLUMN_INT32,
	COLUMN_UINT32,
	COLUMN_DOUBLE,
	COLUMN_BOOL,
	COLUMN_TEXT,		/* any bytes; formats escape unprintable ones */
	COLUMN_JSON,		/* a JSON object, as text */
	COLUMN_TYPES
};

struct column {
	const char *name;
	enum column_type type;
};

/**
 * struct table_schema - the columns of a table
 * @name: name of the table
 * @columns: its columns
 * @count: number of columns
 */
struct table_schema {
	const char *name;
	const struct column *columns;
	size_t count;
};

/* The value of a column in a row. The type of the column determines the member. */
union cell {
	int64_t number;		/* for all integer types; COLUMN_BOOL: 0 or 1 */
	double real;
	struct {
		const void *at;
		size_t len;
	} text;
};

struct table;

/**
 * struct table_format - how to write rows
 * @suffix: suffix of file names; NULL: rows go to table.sink instead of a file
 * @begin: writes what precedes the rows
 * @row: writes the cells of a row
 * @end: writes the rest
 * @free: frees table.state; or NULL
 *
 * The functions return 0 or a negative error number.
 */
struct table_format {
	const char *suffix;
	int (*begin)(struct table *table);
	int (*row)(struct table *table);
	int (*end)(struct table *table);
	void (*free)(struct table *table);
};

extern const struct table_format table_csv, table_jsonl, table_arrow;

/**
 * struct table - a table that is written
 * @schema: its columns
 * @format: its format; NULL: the table is not written
 * @file: file to write to, or NULL
 * @sink: export.sink: where a format without files puts its rows, or what it needs to write them
 * @rows: number of rows so far
 * @set: mask of the columns of the current row that are not null
 * @cells: values of these columns
 * @out: bytes to write
 * @scratch: memory for the functions of the format
 * @state: private data of the format
 */
struct table {
	const struct table_schema *schema;
	const struct table_format *format;
	FILE *file;
	void *sink;
	uint64_t rows;
	uint32_t set;
	union cell cells[TABLE_COLUMNS];
	struct buffer out;
	struct buffer scratch;
	void *state;
};

/* table_begin() - begin a table in a file, or in a sink; returns 0 or a negative error number */
int table_begin(struct table *table, const struct table_schema *schema,
		const struct table_format *format, FILE *file, void *sink);

/* table_row() - end a row; the cells that are not set are null; returns 0 or an error number */
int table_row(struct table *table);

/* table_end() - write the rest, but do not close the file; returns 0 or a negative error number */
int table_end(struct table *table);

void table_free(struct table *table);

/* table_write() - write bytes; used by formats; returns 0 or a negative error number */
int table_write(struct table *table, const void *data, size_t len);

/**
 * table_flush() - write table.out; used by formats
 * @table: the table
 * @least: do nothing if it has fewer bytes
 *
 * Return: 0 or a negative error number.
 */
int table_flush(struct table *table, size_t least);

/* table_text() - append a text as printable UTF-8; used by formats */
void table_text(struct buffer *to, const struct column *column, const union cell *cell);

static inline bool table_is_wanted(const struct table *table)
{
	return table->format;
}

static inline bool table_has(const struct table *table, size_t column)
{
	return table->set & 1U << column;
}

/* Set a column of the current row. Texts must be valid until table_row(). */
static inline void table_set(struct table *table, size_t column, int64_t number)
{
	table->cells[column].number = number;
	table->set |= 1U << column;
}

static inline void table_set_real(struct table *table, size_t column, double real)
{
	table->cells[column].real = real;
	table->set |= 1U << column;
}

static inline void table_set_bytes(struct table *table, size_t column, const void *at, size_t len)
{
	table->cells[column].text.at = at;
	table->cells[column].text.len = len;
	table->set |= 1U << column;
}

static inline void table_set_text(struct table *table, size_t column, const char *text)
{
	table_set_bytes(table, column, text, strlen(text));
}

#endif /* POSIXTRACE_TABLE_H */
