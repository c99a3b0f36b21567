/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints the values in DuckDB's answers, as text and as JSON.
 */
#ifndef POSIXTRACE_VALUE_H
#define POSIXTRACE_VALUE_H

#include <stddef.h>

#include "query/duckdb.h"
#include "util/buffer.h"

#define VALUE_DEPTH	16	/* limit of nested lists and structs */

/* value_is_known() - check if values of a type can be printed */
bool value_is_known(const struct duckdb *db, void *type);

/* value_is_number() - check if values of this type are numbers */
bool value_is_number(const struct duckdb *db, void *type);

/**
 * value_put() - append a value
 * @db: the database
 * @type: type of the column, for which value_is_known() returned true
 * @vector: the column
 * @row: row of the value
 * @json: append JSON; otherwise text for people, with "-" for null
 * @to: where to append
 */
void value_put(const struct duckdb *db, void *type, void *vector, uint64_t row, bool json,
	       struct buffer *to);

/* value_string() - append a text as a JSON string */
void value_string(struct buffer *to, const char *text, size_t len);

#endif /* POSIXTRACE_VALUE_H */
