/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Puts the tables of logs into DuckDB. The rows are passed as values, so nothing in a log can
 * become a part of a statement.
 */
#ifndef POSIXTRACE_LOAD_H
#define POSIXTRACE_LOAD_H

#include "event/formats.h"
#include "event/select.h"
#include "query/duckdb.h"

/**
 * struct load - the logs of a query
 * @db: the database
 * @tables: mask of the tables
 * @formats: contents of the format file, or NULL
 * @selection: the events
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
 * @sql: the statements
 *
 * Return: a mask of all tables whose names are words of it; of all tables if there is none.
 */
unsigned int load_choose(const char *sql);

/* load_begin() - create the tables; returns 0, or a negative error number after an error */
int load_begin(struct load *load);

/**
 * load_log() - put the rows of a log into the tables
 * @load: the database
 * @paths: the logs that are read as one
 * @count: their number
 * @name: what messages and the table logs call them
 *
 * Return: 0, or a negative error number after printing an error.
 */
int load_log(struct load *load, const char *const *paths, size_t count, const char *name);

#endif /* POSIXTRACE_LOAD_H */
