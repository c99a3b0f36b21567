/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of DuckDB's C API that the commands use. The library is loaded at run time. Names and
 * types are those of DuckDB's own duckdb.h, without the prefix. All functions exist since
 * version 1.2.
 */
#ifndef POSIXTRACE_DUCKDB_H
#define POSIXTRACE_DUCKDB_H

#include <stdbool.h>
#include <stdint.h>

/* Types of columns, with the numbers of the API. */
enum duckdb_type {
	DUCKDB_BOOLEAN = 1, DUCKDB_TINYINT, DUCKDB_SMALLINT, DUCKDB_INTEGER, DUCKDB_BIGINT,
	DUCKDB_UTINYINT, DUCKDB_USMALLINT, DUCKDB_UINTEGER, DUCKDB_UBIGINT, DUCKDB_FLOAT,
	DUCKDB_DOUBLE, DUCKDB_TIMESTAMP, DUCKDB_DATE, DUCKDB_TIME, DUCKDB_INTERVAL, DUCKDB_HUGEINT,
	DUCKDB_VARCHAR, DUCKDB_DECIMAL = 19, DUCKDB_ENUM = 23, DUCKDB_LIST, DUCKDB_STRUCT,
	DUCKDB_TIMESTAMP_TZ = 31, DUCKDB_SQLNULL = 36,
};

/* What a statement returns, with the numbers of the API. */
enum { DUCKDB_CHANGED_ROWS = 1, DUCKDB_NOTHING, DUCKDB_ROWS };

/* What a step of a statement leaves. */
enum {
	DUCKDB_PENDING_READY, DUCKDB_PENDING_NOT_READY, DUCKDB_PENDING_ERROR,
	DUCKDB_PENDING_NO_TASKS,
};

struct duckdb_result {
	uint64_t deprecated[3];
	void *columns;
	char *message;
	void *internal;
};

struct duckdb_hugeint {
	uint64_t lower;
	int64_t upper;
};

struct duckdb_decimal {
	uint8_t width;
	uint8_t scale;
	struct duckdb_hugeint value;
};

struct duckdb_date {
	int32_t days;
};

struct duckdb_micros {		/* a time or a timestamp, in microseconds */
	int64_t micros;
};

struct duckdb_interval {
	int32_t months;
	int32_t days;
	int64_t micros;
};

struct duckdb_list_entry {
	uint64_t offset;
	uint64_t length;
};

union duckdb_string {
	struct {
		uint32_t length;
		char at[12];
	} inlined;			/* if the length is at most 12 */
	struct {
		uint32_t length;
		char prefix[4];
		const char *at;
	} far;
};

/**
 * struct duckdb - an open database; initially all zero
 * @user: the command, for messages
 * @library: from dlopen()
 * @database: handle of the database, which is in memory
 * @connection: handle of the connection to @database
 *
 * The other members are functions of the library, in the order of the table in duckdb.c. DuckDB's
 * handles are void pointers here. Functions that return a state return 0 or an error.
 */
struct duckdb {
	const char *user;
	void *library;
	void *database;
	void *connection;
	int (*create_config)(void **config);
	int (*set_config)(void *config, const char *name, const char *value);
	void (*destroy_config)(void **config);
	int (*open_ext)(const char *path, void **database, void *config, char **error);
	void (*close)(void **database);
	int (*connect)(void *database, void **connection);
	void (*disconnect)(void **connection);
	void (*free)(void *memory);
	int (*query)(void *connection, const char *sql, struct duckdb_result *result);
	void (*destroy_result)(struct duckdb_result *result);
	const char *(*result_error)(struct duckdb_result *result);
	int (*result_return_type)(struct duckdb_result result);
	uint64_t (*extract_statements)(void *connection, const char *sql, void **statements);
	const char *(*extract_statements_error)(void *statements);
	void (*destroy_extracted)(void **statements);
	int (*prepare_extracted_statement)(void *connection, void *statements, uint64_t i,
					   void **prepared);
	const char *(*prepare_error)(void *prepared);
	int (*execute_prepared)(void *prepared, struct duckdb_result *result);
	void (*destroy_prepare)(void **prepared);
	uint64_t (*column_count)(struct duckdb_result *result);
	const char *(*column_name)(struct duckdb_result *result, uint64_t column);
	void *(*column_logical_type)(struct duckdb_result *result, uint64_t column);
	void (*destroy_logical_type)(void **type);
	int (*get_type_id)(void *type);
	uint8_t (*decimal_width)(void *type);
	uint8_t (*decimal_scale)(void *type);
	int (*decimal_internal_type)(void *type);
	int (*enum_internal_type)(void *type);
	char *(*enum_dictionary_value)(void *type, uint64_t i);
	void *(*list_type_child_type)(void *type);
	uint64_t (*struct_type_child_count)(void *type);
	char *(*struct_type_child_name)(void *type, uint64_t i);
	void *(*struct_type_child_type)(void *type, uint64_t i);
	void *(*fetch_chunk)(struct duckdb_result result);
	void (*destroy_data_chunk)(void **chunk);
	uint64_t (*data_chunk_get_size)(void *chunk);
	void *(*data_chunk_get_vector)(void *chunk, uint64_t column);
	void *(*vector_get_data)(void *vector);
	uint64_t *(*vector_get_validity)(void *vector);
	void *(*list_vector_get_child)(void *vector);
	void *(*struct_vector_get_child)(void *vector, uint64_t i);
	void *(*create_hugeint)(struct duckdb_hugeint value);
	void *(*create_decimal)(struct duckdb_decimal value);
	void *(*create_date)(struct duckdb_date value);
	void *(*create_time)(struct duckdb_micros value);
	void *(*create_timestamp)(struct duckdb_micros value);
	void *(*create_timestamp_tz)(struct duckdb_micros value);
	void *(*create_interval)(struct duckdb_interval value);
	char *(*get_varchar)(void *value);
	void (*destroy_value)(void **value);
	int (*appender_create)(void *connection, const char *schema, const char *table,
			       void **appender);
	const char *(*appender_error)(void *appender);
	int (*appender_destroy)(void **appender);
	int (*appender_flush)(void *appender);
	int (*appender_close)(void *appender);
	void *(*appender_column_type)(void *appender, uint64_t column);
	int (*append_data_chunk)(void *appender, void *chunk);
	uint64_t (*vector_size)(void);
	void *(*create_data_chunk)(void **types, uint64_t columns);
	void (*data_chunk_reset)(void *chunk);
	void (*data_chunk_set_size)(void *chunk, uint64_t rows);
	void (*vector_ensure_validity_writable)(void *vector);
	void (*vector_assign_string_element_len)(void *vector, uint64_t row, const char *text,
						 uint64_t len);
	int (*prepare)(void *connection, const char *sql, void **prepared);
	int (*pending_prepared)(void *prepared, void **pending);
	int (*pending_execute_task)(void *pending);
	const char *(*pending_error)(void *pending);
	int (*execute_pending)(void *pending, struct duckdb_result *result);
	void (*destroy_pending)(void **pending);
};

/**
 * duckdb_begin() - load the library and open an empty database
 * @db: where to store it
 * @user: name of the command, for messages
 * @folder: an empty directory for data that do not fit into the memory
 *
 * Return: 0, or a negative error number after printing an error.
 */
int duckdb_begin(struct duckdb *db, const char *user, const char *folder);

/* duckdb_run() - execute statements that return no rows; 0 or -EINVAL after printing an error */
int duckdb_run(const struct duckdb *db, const char *sql);

/**
 * duckdb_run_until() - execute a statement that returns no rows, unless it is interrupted
 * @db: the database, with one thread
 * @sql: the statement
 * @interrupted: called often; returns 0, or a negative error number to stop
 *
 * Return: 0, -EINVAL after printing an error, or what @interrupted returned.
 */
int duckdb_run_until(const struct duckdb *db, const char *sql, int (*interrupted)(void));

/* duckdb_complain() - print an error message of the library, which may have several lines */
void duckdb_complain(const struct duckdb *db, const char *message);

/* duckdb_end() - close the database; may be called after an error, and if all is zero */
void duckdb_end(struct duckdb *db);

#endif /* POSIXTRACE_DUCKDB_H */
