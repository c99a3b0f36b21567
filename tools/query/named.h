/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queries in tools/queries, which are compiled into the command, and the values of their
 * parameters.
 *
 * A query is SQL that begins with comments: the license, the question, and what the query prints.
 * Further lines of the comments are
 *
 *	-- parameter NAME: what it means
 *	-- logs: each on its own
 *
 * for each parameter, and for a query that needs --each.
 */
#ifndef POSIXTRACE_NAMED_H
#define POSIXTRACE_NAMED_H

#include <stdbool.h>
#include <stdio.h>

#include "util/buffer.h"
#include "util/options.h"

#define NAMED_VALUES	32	/* parameters with a value, at most */

/* Names of all queries, with their numbers. */
extern const struct option_choice named_choices[];

/**
 * struct named_values - values of parameters; initially all zero
 * @count: number of values
 * @texts: the values, as NAME=VALUE
 */
struct named_values {
	size_t count;
	const char *texts[NAMED_VALUES];
};

/*
 * named_add_value() - add NAME=VALUE from an option; returns 0, or -EINVAL after an error message
 */
int named_add_value(void *values, const struct command_option *option, const char *text);

/* named_text() - get the text of a query */
const char *named_text(int query);

/* named_needs_each() - check if a query needs --each: each log is a separate set */
bool named_needs_each(int query);

/**
 * named_check() - check that a query has parameters with these names
 * @query: number of the query
 * @values: the values
 *
 * Return: 0, or -EINVAL after printing an error.
 */
int named_check(int query, const struct named_values *values);

/* named_set() - append the statements that set variables to values */
void named_set(struct buffer *sql, const struct named_values *values);

/* named_list() - print the names, questions and parameters of all queries */
void named_list(FILE *to);

#endif /* POSIXTRACE_NAMED_H */
