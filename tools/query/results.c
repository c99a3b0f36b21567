// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the answers of queries: see results.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/cells.h"
#include "query/results.h"
#include "query/value.h"
#include "util/escape.h"
#include "util/message.h"
#include "util/pager.h"

/* The first rows determine the widths of the columns, so that the memory use is bounded. */
#define WIDTH_ROWS	10000
#define WIDTH_MAX	1000	/* wider cells do not widen the column */

struct result_column {
	const char *name;
	void *type;
	bool number;
	size_t width;
};

/* The rows that a statement returns. The first ones are kept until the column widths are known. */
struct results {
	const struct duckdb *db;
	struct duckdb_result result;
	bool json;
	struct result_column *columns;
	uint64_t count;			/* number of columns */
	struct buffer *cells;		/* cells of the first rows, one after the other */
	size_t rows;			/* number of rows in @cells */
	struct buffer text;
};

/* ------------------------------------------------------------------ */
/* JSON									*/

static int print_json(struct results *results, void *chunk, uint64_t row)
{
	struct buffer *to = &results->text;

	for (uint64_t i = 0; i < results->count; i++) {
		const struct result_column *column = &results->columns[i];

		buffer_byte(to, i ? ',' : '{');
		value_string(to, column->name, strlen(column->name));
		buffer_byte(to, ':');
		value_put(results->db, column->type,
			  results->db->data_chunk_get_vector(chunk, i), row, true, to);
	}
	buffer_text(to, "}\n");
	if (to->failed)
		return -ENOMEM;
	fwrite(to->data, to->len, 1, stdout);
	buffer_reset(to);
	return ferror(stdout) ? -EIO : 0;
}

/* ------------------------------------------------------------------ */
/* A table for people							*/

static void print_cell(const struct results *results, uint64_t i, const struct buffer *text)
{
	const struct result_column *column = &results->columns[i];
	const size_t width = cells_text_width(text);

	if (i)
		fputs("  ", stdout);
	if (column->number && width < column->width)
		printf("%*s", (int)(column->width - width), "");
	cells_text(stdout, text, 0);
	if (!column->number && i + 1 < results->count && width < column->width)
		printf("%*s", (int)(column->width - width), "");
}

static int print_names(struct results *results)
{
	struct buffer *to = &results->text;

	for (uint64_t i = 0; i < results->count && !to->failed; i++) {
		buffer_reset(to);
		escape_message(to, results->columns[i].name, strlen(results->columns[i].name));
		print_cell(results, i, to);
	}
	putchar('\n');
	return to->failed ? -ENOMEM : 0;
}

static void widen(struct result_column *column, const struct buffer *text)
{
	const size_t width = cells_text_width(text);

	if (width > column->width && width <= WIDTH_MAX)
		column->width = width;
}

/* Prints the names of the columns and the rows that were kept. */
static int print_kept(struct results *results)
{
	int err = print_names(results);

	for (size_t row = 0; row < results->rows && !err; row++) {
		for (uint64_t i = 0; i < results->count; i++)
			print_cell(results, i, &results->cells[row * results->count + i]);
		putchar('\n');
		err = ferror(stdout) ? -EIO : 0;
	}
	return err;
}

static int keep_row(struct results *results, void *chunk, uint64_t row)
{
	struct buffer *cells = &results->cells[results->rows * results->count];

	for (uint64_t i = 0; i < results->count; i++) {
		value_put(results->db, results->columns[i].type,
			  results->db->data_chunk_get_vector(chunk, i), row, false, &cells[i]);
		if (cells[i].failed)
			return -ENOMEM;
		widen(&results->columns[i], &cells[i]);
	}
	results->rows++;
	return results->rows == WIDTH_ROWS ? print_kept(results) : 0;
}

static int print_row(struct results *results, void *chunk, uint64_t row)
{
	struct buffer *to = &results->text;

	if (results->rows < WIDTH_ROWS)
		return keep_row(results, chunk, row);
	for (uint64_t i = 0; i < results->count && !to->failed; i++) {
		buffer_reset(to);
		value_put(results->db, results->columns[i].type,
			  results->db->data_chunk_get_vector(chunk, i), row, false, to);
		print_cell(results, i, to);
	}
	putchar('\n');
	return to->failed ? -ENOMEM : ferror(stdout) ? -EIO : 0;
}

/* ------------------------------------------------------------------ */
/* Statements								*/

static int prepare_columns(struct results *results)
{
	const struct duckdb *db = results->db;

	results->count = db->column_count(&results->result);
	results->columns = calloc(results->count, sizeof(*results->columns));
	if (!results->json)
		results->cells = calloc(results->count, WIDTH_ROWS * sizeof(*results->cells));
	if (!results->columns || (!results->json && !results->cells))
		return -ENOMEM;
	for (uint64_t i = 0; i < results->count; i++) {
		struct result_column *column = &results->columns[i];

		column->name = db->column_name(&results->result, i);
		column->type = db->column_logical_type(&results->result, i);
		column->number = value_is_number(db, column->type);
		if (!value_is_known(db, column->type)) {
			tell("query: the type of column %s cannot be printed: cast it to VARCHAR",
			     column->name);
			return -ECANCELED;
		}
		buffer_reset(&results->text);
		escape_message(&results->text, column->name, strlen(column->name));
		widen(column, &results->text);
	}
	buffer_reset(&results->text);
	return results->text.failed ? -ENOMEM : 0;
}

static int print_chunks(struct results *results)
{
	const struct duckdb *db = results->db;
	void *chunk;
	int err = 0;

	while (!err && (chunk = db->fetch_chunk(results->result))) {
		const uint64_t rows = db->data_chunk_get_size(chunk);

		for (uint64_t row = 0; row < rows && !err; row++)
			err = results->json ? print_json(results, chunk, row) :
			      print_row(results, chunk, row);
		db->destroy_data_chunk(&chunk);
	}
	if (!err && !results->json && results->rows < WIDTH_ROWS)
		err = print_kept(results);
	return err;
}

static void free_results(struct results *results)
{
	for (uint64_t i = 0; results->columns && i < results->count; i++) {
		if (results->columns[i].type)
			results->db->destroy_logical_type(&results->columns[i].type);
	}
	for (size_t i = 0; results->cells && i < results->count * WIDTH_ROWS; i++)
		buffer_free(&results->cells[i]);
	free(results->cells);
	free(results->columns);
	buffer_free(&results->text);
}

/* Prints the rows of a statement. @printed: number of answers printed so far; updated */
static int print_results(const struct duckdb *db, struct duckdb_result result, bool json,
			 unsigned int *printed)
{
	struct results results = { .db = db, .result = result, .json = json };
	int err = prepare_columns(&results);

	if (!err && (*printed)++ && !json)
		putchar('\n');
	if (!err)
		err = print_chunks(&results);
	/* The caller reports errors of standard output. */
	if (err && err != -ECANCELED && err != -EIO)
		complain("query", -err);
	free_results(&results);
	return err;
}

static int execute(const struct duckdb *db, void *statements, uint64_t i, bool json,
		   unsigned int *printed)
{
	struct duckdb_result result;
	void *prepared = NULL;
	int err = 0;

	if (db->prepare_extracted_statement(db->connection, statements, i, &prepared)) {
		duckdb_complain(db, db->prepare_error(prepared));
		db->destroy_prepare(&prepared);
		return -EINVAL;
	}
	if (db->execute_prepared(prepared, &result)) {
		duckdb_complain(db, db->result_error(&result));
		err = -EINVAL;
	} else if (db->result_return_type(result) == DUCKDB_ROWS) {
		err = print_results(db, result, json, printed);
	}
	db->destroy_result(&result);
	db->destroy_prepare(&prepared);
	return err;
}

int results_print(const struct duckdb *db, const char *sql, bool json)
{
	void *statements;
	const uint64_t count = db->extract_statements(db->connection, sql, &statements);
	unsigned int printed = 0;
	int err = 0;

	if (!count) {
		const char *error = db->extract_statements_error(statements);

		duckdb_complain(db, error && *error ? error : "the SQL has no statement");
		err = -EINVAL;
	}
	if (count && !json)
		pager_begin();
	for (uint64_t i = 0; i < count && !err; i++)
		err = execute(db, statements, i, json, &printed);
	db->destroy_extracted(&statements);
	return end_output() ? -EIO : err;
}
