/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes the statements of a query and prints their answers.
 */
#ifndef POSIXTRACE_RESULTS_H
#define POSIXTRACE_RESULTS_H

#include "query/duckdb.h"

/**
 * results_print() - execute statements and print the rows that they return
 * @db: the database
 * @sql: the statements
 * @json: print an object for each row; otherwise a table for people
 *
 * Return: 0, or a negative error number after printing an error.
 */
int results_print(const struct duckdb *db, const char *sql, bool json);

#endif /* POSIXTRACE_RESULTS_H */
