// SPDX-License-Identifier: GPL-2.0
/*
 * Loads DuckDB's library: see duckdb.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/duckdb.h"
#include "util/message.h"

/* A query may use 1/4 of the machine's memory, then DuckDB writes to the disk. */
#define MEMORY_PART	4
#define MEMORY_LEAST	(256ULL << 20)

static void *open_library(const char *user)
{
	static const char missing[] =
		"needs libduckdb.so: install DuckDB's C library, or set POSIXTRACE_DUCKDB";
	static const char *const names[] = { "libduckdb.so", "libduckdb.so.1" };
	const char *path = getenv("POSIXTRACE_DUCKDB");
	void *library = NULL;

	if (path && *path) {
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			tell("POSIXTRACE_DUCKDB: %s", dlerror());
		return library;
	}
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		tell("%s: %s", user, missing);
	return library;
}

#define FUNCTION(name)	{ "duckdb_" #name, offsetof(struct duckdb, name) }

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	FUNCTION(create_config),
	FUNCTION(set_config),
	FUNCTION(destroy_config),
	FUNCTION(open_ext),
	FUNCTION(close),
	FUNCTION(connect),
	FUNCTION(disconnect),
	FUNCTION(free),
	FUNCTION(query),
	FUNCTION(destroy_result),
	FUNCTION(result_error),
	FUNCTION(result_return_type),
	FUNCTION(extract_statements),
	FUNCTION(extract_statements_error),
	FUNCTION(destroy_extracted),
	FUNCTION(prepare_extracted_statement),
	FUNCTION(prepare_error),
	FUNCTION(execute_prepared),
	FUNCTION(destroy_prepare),
	FUNCTION(column_count),
	FUNCTION(column_name),
	FUNCTION(column_logical_type),
	FUNCTION(destroy_logical_type),
	FUNCTION(get_type_id),
	FUNCTION(decimal_width),
	FUNCTION(decimal_scale),
	FUNCTION(decimal_internal_type),
	FUNCTION(enum_internal_type),
	FUNCTION(enum_dictionary_value),
	FUNCTION(list_type_child_type),
	FUNCTION(struct_type_child_count),
	FUNCTION(struct_type_child_name),
	FUNCTION(struct_type_child_type),
	FUNCTION(fetch_chunk),
	FUNCTION(destroy_data_chunk),
	FUNCTION(data_chunk_get_size),
	FUNCTION(data_chunk_get_vector),
	FUNCTION(vector_get_data),
	FUNCTION(vector_get_validity),
	FUNCTION(list_vector_get_child),
	FUNCTION(struct_vector_get_child),
	FUNCTION(create_hugeint),
	FUNCTION(create_decimal),
	FUNCTION(create_date),
	FUNCTION(create_time),
	FUNCTION(create_timestamp),
	FUNCTION(create_timestamp_tz),
	FUNCTION(create_interval),
	FUNCTION(get_varchar),
	FUNCTION(destroy_value),
	FUNCTION(appender_create),
	FUNCTION(appender_error),
	FUNCTION(appender_destroy),
	FUNCTION(appender_flush),
	FUNCTION(appender_close),
	FUNCTION(appender_column_type),
	FUNCTION(append_data_chunk),
	FUNCTION(vector_size),
	FUNCTION(create_data_chunk),
	FUNCTION(data_chunk_reset),
	FUNCTION(data_chunk_set_size),
	FUNCTION(vector_ensure_validity_writable),
	FUNCTION(vector_assign_string_element_len),
	FUNCTION(prepare),
	FUNCTION(pending_prepared),
	FUNCTION(pending_execute_task),
	FUNCTION(pending_error),
	FUNCTION(execute_pending),
	FUNCTION(destroy_pending),
};

#define NR_FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))

_Static_assert(offsetof(struct duckdb, create_config) + NR_FUNCTIONS * sizeof(void *) ==
	       sizeof(struct duckdb), "the table has all functions");

static int find_functions(struct duckdb *db)
{
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		void *function = dlsym(db->library, functions[i].name);

		if (!function) {
			tell("%s: libduckdb.so lacks %s: install DuckDB 1.2 or newer", db->user,
			     functions[i].name);
			return -ENOENT;
		}
		memcpy((char *)db + functions[i].at, &function, sizeof(function));
	}
	return 0;
}

static unsigned long long memory_limit(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	unsigned long long limit = 0;

	if (pages > 0 && size > 0)
		limit = (unsigned long long)pages * (unsigned long long)size / MEMORY_PART;
	return limit < MEMORY_LEAST ? MEMORY_LEAST : limit;
}

static int configure(const struct duckdb *db, void *config, const char *folder)
{
	char limit[32];

	snprintf(limit, sizeof(limit), "%lluB", memory_limit());
	/* Never download extensions. */
	if (db->set_config(config, "autoinstall_known_extensions", "false") ||
	    db->set_config(config, "memory_limit", limit) ||
	    db->set_config(config, "temp_directory", folder))
		return -EINVAL;
	return 0;
}

static int open_database(struct duckdb *db, const char *folder)
{
	char *error = NULL;
	void *config;
	int err;

	if (db->create_config(&config)) {
		complain(db->user, ENOMEM);
		return -ENOMEM;
	}
	err = configure(db, config, folder);
	if (err)
		tell("%s: libduckdb.so: refuses its configuration: install DuckDB 1.2 or newer",
		     db->user);
	if (!err && db->open_ext(NULL, &db->database, config, &error)) {
		err = -EINVAL;
		duckdb_complain(db, error);
		db->free(error);
	}
	db->destroy_config(&config);
	if (!err && db->connect(db->database, &db->connection)) {
		err = -ENOMEM;
		complain(db->user, ENOMEM);
	}
	return err;
}

int duckdb_begin(struct duckdb *db, const char *user, const char *folder)
{
	int err;

	db->user = user;
	db->library = open_library(user);
	if (!db->library)
		return -ENOENT;
	err = find_functions(db);
	return err ? err : open_database(db, folder);
}

void duckdb_complain(const struct duckdb *db, const char *message)
{
	const char *at = message ? message : "unknown error";
	int len;

	do {
		len = (int)strcspn(at, "\n");
		if (len)
			tell("%s: %.*s", db->user, len, at);
		at += len;
	} while (*at++);
}

int duckdb_run(const struct duckdb *db, const char *sql)
{
	struct duckdb_result result;
	int err = 0;

	if (db->query(db->connection, sql, &result)) {
		duckdb_complain(db, db->result_error(&result));
		err = -EINVAL;
	}
	db->destroy_result(&result);
	return err;
}

static int run_steps(const struct duckdb *db, void *pending, int (*interrupted)(void))
{
	struct duckdb_result result;
	int err, state;

	do {
		err = interrupted();
		if (err)
			return err;
		state = db->pending_execute_task(pending);
	} while (state == DUCKDB_PENDING_NOT_READY || state == DUCKDB_PENDING_NO_TASKS);
	if (state == DUCKDB_PENDING_ERROR) {
		duckdb_complain(db, db->pending_error(pending));
		return -EINVAL;
	}
	if (db->execute_pending(pending, &result)) {
		duckdb_complain(db, db->result_error(&result));
		err = -EINVAL;
	}
	db->destroy_result(&result);
	return err;
}

int duckdb_run_until(const struct duckdb *db, const char *sql, int (*interrupted)(void))
{
	void *prepared = NULL, *pending = NULL;
	int err = -EINVAL;

	if (db->prepare(db->connection, sql, &prepared))
		duckdb_complain(db, db->prepare_error(prepared));
	else if (db->pending_prepared(prepared, &pending))
		duckdb_complain(db, db->pending_error(pending));
	else
		err = run_steps(db, pending, interrupted);
	db->destroy_pending(&pending);
	db->destroy_prepare(&prepared);
	return err;
}

void duckdb_end(struct duckdb *db)
{
	if (db->connection)
		db->disconnect(&db->connection);
	if (db->database)
		db->close(&db->database);
	/* Do not unload the library, because its threads may still be ending. */
	*db = (struct duckdb){ };
}
