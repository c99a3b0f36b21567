/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "posixtrace export --format=parquet": tables as Parquet, written by DuckDB.
 */
#ifndef POSIXTRACE_PARQUET_H
#define POSIXTRACE_PARQUET_H

#include "export/export.h"
#include "query/duckdb.h"

/**
 * struct parquet - the database that writes the tables
 * @db: the database
 * @folder: a directory for files that are removed with it
 */
struct parquet {
	struct duckdb db;
	const char *folder;
};

/**
 * parquet_begin() - load DuckDB
 * @parquet: initially all zero
 * @folder: an empty directory that the caller removes later
 *
 * Return: 0, or a negative error number after printing an error.
 */
int parquet_begin(struct parquet *parquet, const char *folder);

/**
 * parquet_export() - write tables
 * @export: the log; its member sink is the struct parquet
 *
 * Return: 0 or a negative error number; -ECANCELED after printing an error.
 */
int parquet_export(struct export *export);

/* parquet_end() - close the database, also after an error */
void parquet_end(struct parquet *parquet);

#endif /* POSIXTRACE_PARQUET_H */
