/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters: expressions that select events by the names of their types and by their fields.
 *
 *	cache_* && op == set && len > 4096
 *	!idle && (request_begin,request_end || user.name ~ "a*")
 *
 * filter_parse.c reads them, filter.c tests events.
 */
#ifndef POSIXTRACE_FILTER_H
#define POSIXTRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"

#define FILTER_DEPTH	8	/* names of a field and of the structs around it */
#define FILTER_NODES	1024	/* names, conditions and operators of an expression */
#define FILTER_LEVELS	64	/* parentheses and "!" in one another */

enum filter_kind {
	FILTER_NAME,	/* the name of the type matches a pattern */
	FILTER_FIELD,	/* a condition on a field */
	FILTER_NOT,
	FILTER_AND,
	FILTER_OR,
};

enum filter_test {
	FILTER_EQUAL,
	FILTER_NOT_EQUAL,
	FILTER_LESS,
	FILTER_LESS_EQUAL,
	FILTER_GREATER,
	FILTER_GREATER_EQUAL,
	FILTER_MATCHES,		/* the text matches a pattern */
};

enum filter_operand {
	FILTER_INTEGER,
	FILTER_REAL,
	FILTER_WORD,		/* a label, "true" or "false", or a text */
	FILTER_TEXT,		/* in quotes */
};

/**
 * struct filter_node - a part of an expression
 * @kind: what it is
 * @left: first operand of an operator
 * @right: second operand of "&&" and "||"
 * @pattern: NAME: pattern of names
 * @verdicts: NAME: by event type, whether its name matches; 0 is not known yet
 * @path: FIELD: names of the structs around the field, then its own name
 * @depth: FIELD: number of names of @path
 * @test: FIELD: how to compare
 * @operand: FIELD: kind of value to compare with
 * @text: FIELD: WORD, TEXT: the value
 * @number: FIELD: INTEGER: the absolute value
 * @negative: FIELD: INTEGER: the value is negative
 * @real: FIELD: REAL: the value
 */
struct filter_node {
	enum filter_kind kind;
	struct filter_node *left;
	struct filter_node *right;

	char *pattern;
	unsigned char *verdicts;

	char *path[FILTER_DEPTH];
	unsigned int depth;
	enum filter_test test;
	enum filter_operand operand;
	char *text;
	uint64_t number;
	bool negative;
	double real;
};

struct filter;

/* What the name of a type says about its events. */
enum filter_verdict {
	FILTER_NEVER,
	FILTER_PERHAPS,		/* that depends on their fields */
	FILTER_ALWAYS,
};

/**
 * struct filter_error - what is wrong in an expression
 * @column: where, in bytes, from 1
 * @message: what
 */
struct filter_error {
	size_t column;
	char message[160];
};

/**
 * filter_parse() - read an expression
 * @text: the expression
 * @filter: where to store it
 * @error: where to explain -EINVAL
 *
 * Return: 0; -EINVAL if the expression is wrong; -ENOMEM.
 */
int filter_parse(const char *text, struct filter **filter, struct filter_error *error);

/**
 * filter_option() - read the argument of --filter
 * @text: the expression
 * @filter: where to store it
 *
 * Return: 0; -EINVAL after a complaint; -ENOMEM.
 */
int filter_option(const char *text, struct filter **filter);

/* filter_event() - test an event */
bool filter_event(const struct filter *filter, const struct event *event);

/* filter_forget() - forget the names of types: events of another log follow */
void filter_forget(struct filter *filter);

/* filter_name() - test the name of a type alone */
enum filter_verdict filter_name(const struct filter *filter, const char *name);

/* filter_has_conditions() - check whether the filter has conditions on fields */
bool filter_has_conditions(const struct filter *filter);

/**
 * filter_plain_name() - get a name of a filter that is a list of names
 * @filter: the filter
 * @number: number of the name, from 0
 *
 * Return: the name; NULL after the last, or if the filter is anything else than a list of names
 *	without wildcards.
 */
const char *filter_plain_name(const struct filter *filter, size_t number);

void filter_free(struct filter *filter);

#endif /* POSIXTRACE_FILTER_H */
