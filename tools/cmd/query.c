// SPDX-License-Identifier: GPL-2.0
/*
 * "posixtrace query": answers questions about logs in SQL, with DuckDB.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/log_operand.h"
#include "query/isolate.h"
#include "query/load.h"
#include "query/named.h"
#include "query/results.h"
#include "util/message.h"

struct query_command {
	struct logs *sets;	/* each set is read as one log */
	size_t count;		/* number of @sets */
	const char *sql;
	int name;		/* index of a named query, or -1 */
	bool list;
	bool each;
	bool json;
	struct named_values values;
	const char *format_file;
	struct formats *formats;
	struct selection *selection;
};

/* ------------------------------------------------------------------ */
/* The query								*/

static int set_values(const struct query_command *query, const struct duckdb *db)
{
	struct buffer sql = { };
	int err = 0;

	named_set(&sql, &query->values);
	buffer_byte(&sql, '\0');
	if (sql.failed) {
		err = -ENOMEM;
		complain("query", ENOMEM);
	} else if (query->values.count) {
		err = duckdb_run(db, (const char *)sql.data);
	}
	buffer_free(&sql);
	return err;
}

/* Runs the query in a child process. Returns the exit status. */
static int run_query(void *arg, const char *folder)
{
	struct query_command *query = arg;
	struct duckdb db = { };
	struct load load = {
		.db = &db,
		.tables = load_choose(query->sql),
		.formats = query->formats,
		.selection = query->selection,
	};
	int err = duckdb_begin(&db, "query", folder);

	if (!err)
		err = set_values(query, &db);
	if (!err)
		err = load_begin(&load);
	for (size_t i = 0; i < query->count && !err; i++) {
		const struct logs *logs = &query->sets[i];

		err = load_log(&load, logs->paths, logs->count, logs->name);
	}
	if (!err)
		err = results_print(&db, query->sql, query->json);
	duckdb_end(&db);
	return err || load.incomplete ? 1 : 0;
}

/* ------------------------------------------------------------------ */
/* Options								*/

static const struct command_option options[] = {
	{ OPTION_FLAG, 0, "each", NULL, "keep the LOGs apart: see the column log of all tables",
	  OPTION_BOOL_AT(struct query_command, each) },
	{ OPTION_FLAG, 'j', "json", NULL, "print a JSON object for each row",
	  OPTION_BOOL_AT(struct query_command, json) },
	{ OPTION_FLAG, 0, "list", NULL, "print the names of the queries for --name",
	  OPTION_BOOL_AT(struct query_command, list) },
	{ OPTION_CHOICE, 0, "name", "NAME", "answer this question, instead of SQL",
	  OPTION_CHOICE_AT(struct query_command, name), .choices = named_choices },
	{ OPTION_CALL, 0, "set", "NAME=VALUE", "set a parameter: getvariable('NAME') in SQL",
	  .offset = OPTION_TARGET(struct query_command, values, struct named_values),
	  .call = named_add_value },
	OPTION_GROUP_AT(struct query_command, format_file, formats_options),
	OPTION_GROUP_AT(struct query_command, selection, select_options),
	{ }
};

/*
 * Gets the SQL: the last operand, unless a named query was given. Returns the number of the other
 * operands.
 */
static int get_sql(struct query_command *query, int argc, char **argv, int *others)
{
	*others = argc;
	if (query->name >= 0) {
		query->sql = named_text(query->name);
		query->each |= named_needs_each(query->name);
		return named_check(query->name, &query->values) ? 2 : OPTIONS_OK;
	}
	if (optind >= argc)
		return usage_error("query", "needs SQL, or --name");
	query->sql = argv[argc - 1];
	*others = argc - 1;
	/* The only operand is a file, so the SQL is missing. */
	if (optind == argc - 1 && !access(query->sql, F_OK))
		return usage_error("query", "needs SQL after the LOG, or --name (got \"%s\")",
				   query->sql);
	return OPTIONS_OK;
}

/* Gets the LOG operands. They form one set, or with --each, each operand is a set. */
static int get_logs(struct query_command *query, int argc, char **argv)
{
	const int first = optind;
	int status = OPTIONS_OK;

	query->count = query->each && first < argc ? (size_t)(argc - first) : 1;
	query->sets = calloc(query->count, sizeof(*query->sets));
	if (!query->sets) {
		complain("query", ENOMEM);
		return 1;
	}
	if (query->count == 1)
		return log_operands("query", argc, argv, &query->sets[0]);
	for (size_t i = 0; i < query->count && status == OPTIONS_OK; i++) {
		optind = first + (int)i;
		status = log_operands("query", optind + 1, argv, &query->sets[i]);
		/* Use the name that the user typed: with --each, a set may be a directory. */
		query->sets[i].name = argv[optind];
	}
	return status;
}

static int get_options(struct query_command *query, int argc, char **argv)
{
	int others, status = options_parse(&command_query, argc, argv, query);

	if (status == OPTIONS_OK && query->list) {
		named_list(stdout);
		return 0;
	}
	if (status == OPTIONS_OK)
		status = get_sql(query, argc, argv, &others);
	if (status == OPTIONS_OK && select_check(query->selection))
		status = 1;
	if (status == OPTIONS_OK)
		status = get_logs(query, others, argv);
	if (status == OPTIONS_OK && query->format_file &&
	    formats_load(query->format_file, &query->formats))
		status = 1;
	return status;
}

static int cmd_query(int argc, char **argv)
{
	struct query_command query = { .name = -1 };
	int status, err = select_new(&query.selection);

	if (err) {
		complain("query", -err);
		return 1;
	}
	status = get_options(&query, argc, argv);
	if (status == OPTIONS_OK)
		status = isolate_run("query", run_query, &query);
	for (size_t i = 0; query.sets && i < query.count; i++)
		logs_free(&query.sets[i]);
	free(query.sets);
	formats_free(query.formats);
	select_free(query.selection);
	return status;
}

static const char *const query_usage[] = {
	"[OPTION]... [LOG]... SQL",
	"[OPTION]... --name=NAME [LOG]...",
	"--list",
	NULL,
};

const struct command command_query = {
	.name = "query",
	.summary = "answer questions about logs in SQL",
	.usage = query_usage,
	.about = "Answer questions about logs in SQL, with DuckDB's library. The tables are those\n"
		 "of posixtrace export: events, scopes, states, waits, syscalls, counters,\n"
		 "processes, threads, hosts and losses. Those that the SQL names are made.",
	.notes = "Needs libduckdb.so, 1.2 or newer, in the library path or at POSIXTRACE_DUCKDB.\n"
		 "Exit status: 0; 1 after a failure or if a log is damaged; 2 after a usage error.",
	.operands = OPERAND_FILE,
	.options = options,
	.run = cmd_query,
};
