/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads the tables of logs into DuckDB. Rows are passed as values, so the contents of a log cannot
 * become part of an SQL statement.
 */
#ifndef POSIXTRACE_LOAD_H
#define POSIXTRACE_LOAD_H

#include "event/formats.h"
#include "event/select.h"
#include "query/duckdb.h"

/**
 * struct load - the logs of a query
 * @db: the database
 * @tables: bit mask of the tables to load
 * @formats: contents of the format file, or NULL
 * @selection: selects the events
 * @logs: number of logs, or sets of logs, so far
 * @incomplete: a log was damaged
 */
struct load {
	const struct duckdb *db;
	unsigned int tables;
	struct formats *formats;
	struct selection *selection;
	uint32_t logs;
	bool incomplete;
};

/**
 * load_choose() - find the tables that a statement needs
 * @sql: the SQL statements
 *
 * Return: a bit mask of the tables whose names are words in @sql; all tables if there is no such
 * name.
 */
unsigned int load_choose(const char *sql);

/* load_begin() - create the tables; returns 0, or a negative error number after an error */
int load_begin(struct load *load);

/**
 * load_log() - put the rows of a log into the tables
 * @load: the database
 * @paths: paths of the logs, which are read as one
 * @count: number of @paths
 * @name: name of the logs, for messages and the table logs
 *
 * Return: 0, or a negative error number after printing an error.
 */
int load_log(struct load *load, const char *const *paths, size_t count, const char *name);

#endif /* POSIXTRACE_LOAD_H */
