/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Appends the rows of a table of an export to a table in DuckDB.
 */
#ifndef POSIXTRACE_ROWS_H
#define POSIXTRACE_ROWS_H

#include "export/table.h"
#include "query/duckdb.h"

struct rows;

/**
 * rows_create() - create a table in DuckDB
 * @db: the database
 * @schema: its name and columns
 * @before: name and type of a column in front, or NULL
 * @json: type of columns with JSON
 *
 * Return: 0, or a negative error number after printing an error.
 */
int rows_create(const struct duckdb *db, const struct table_schema *schema, const char *before,
		const char *json);

/**
 * rows_begin() - begin to append rows
 * @db: the database
 * @schema: name and columns of the table
 * @before: number of columns in front: 0 or 1, of type UINTEGER
 * @state: where to store the struct rows, also after an error
 *
 * Return: 0; -ENOMEM; -ECANCELED after printing an error.
 */
int rows_begin(const struct duckdb *db, const struct table_schema *schema, size_t before,
	       void **state);

/**
 * rows_put() - append a row
 * @rows: from rows_begin()
 * @table: has the cells
 * @number: value of the column in front, if there is one
 *
 * Return: as rows_begin().
 */
int rows_put(struct rows *rows, struct table *table, uint32_t number);

/* rows_end() - append what waits; returns the same as rows_begin() */
int rows_end(struct rows *rows);

/* rows_free() - free rows, or NULL */
void rows_free(struct rows *rows);

#endif /* POSIXTRACE_ROWS_H */
