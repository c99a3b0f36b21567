/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filters: expressions that select events by type name and by fields.
 *
 *	cache_* && op == set && len > 4096
 *	!idle && (request_begin,request_end || user.name ~ "a*")
 *	request.duration > 5ms && op == set
 *
 * filter_parse.c parses filters, filter.c tests events.
 */
#ifndef POSIXTRACE_FILTER_H
#define POSIXTRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "event/source.h"

#define FILTER_DEPTH	8	/* names in the path of a field */
#define FILTER_NODES	1024	/* names, conditions and operators in an expression */
#define FILTER_LEVELS	64	/* limit of nested parentheses and "!" */

enum filter_kind {
	FILTER_NAME,	/* the name of the type matches a pattern */
	FILTER_FIELD,	/* a condition on a field */
	FILTER_DURATION, /* a condition on the duration of a scope */
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
	FILTER_WORD,		/* an unquoted word: a label, "true" or "false", or a text */
	FILTER_TEXT,		/* a quoted text */
};

/**
 * struct filter_node - a part of an expression
 * @kind: what it is
 * @left: first operand of an operator
 * @right: second operand of "&&" and "||"
 * @pattern: NAME: pattern for the type name; DURATION: pattern for the name of the scope
 * @verdicts: NAME: cache: for each event type, if its name matches; 0: not known yet
 * @path: FIELD: names of the enclosing structs and the field
 * @depth: FIELD: number of names in @path
 * @test: FIELD, DURATION: comparison operator
 * @operand: FIELD: kind of the value with which the field is compared
 * @text: FIELD: WORD, TEXT: the value
 * @number: FIELD: INTEGER: the absolute value; DURATION: ns
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

/* What the type name alone decides about the events of a type. */
enum filter_verdict {
	FILTER_NEVER,
	FILTER_PERHAPS,		/* depends on the fields */
	FILTER_ALWAYS,
};

/**
 * struct filter_error - an error in an expression
 * @column: byte offset, from 1
 * @message: what is wrong
 */
struct filter_error {
	size_t column;
	char message[160];
};

/**
 * filter_parse() - parse an expression
 * @text: the expression
 * @filter: where to store it
 * @error: details of -EINVAL
 *
 * Return: 0; -EINVAL if the expression is wrong; -ENOMEM.
 */
int filter_parse(const char *text, struct filter **filter, struct filter_error *error);

/**
 * filter_option() - parse the argument of --filter
 * @text: the expression
 * @filter: where to store it
 *
 * Return: 0; -EINVAL after reporting an error; -ENOMEM.
 */
int filter_option(const char *text, struct filter **filter);

/**
 * struct filter_scope - a scope or system call that an event begins or ends
 * @name: its name
 * @duration: duration of the scope in ns
 * @other: the event at the other end of the scope
 */
struct filter_scope {
	const char *name;
	uint64_t duration;
	const struct event *other;
};

/**
 * filter_event() - test an event
 * @filter: the filter
 * @event: the event
 * @scope: the scope that @event begins or ends; NULL if there is none or its duration is unknown
 *
 * If @scope is not NULL, a condition on a field is true if it is true for either end of the scope.
 */
bool filter_event(const struct filter *filter, const struct event *event,
		  const struct filter_scope *scope);

/* filter_forget() - drop the cached results for type names, before the events of another log */
void filter_forget(struct filter *filter);

/* filter_name() - test a type name alone */
enum filter_verdict filter_name(const struct filter *filter, const char *name);

/* filter_has_conditions() - check if the filter has conditions on fields or durations */
bool filter_has_conditions(const struct filter *filter);

/* filter_has_durations() - check if the filter has conditions on durations */
bool filter_has_durations(const struct filter *filter);

/**
 * filter_plain_name() - get a name from a filter that is just a list of names
 * @filter: the filter
 * @number: index of the name, from 0
 *
 * Return: the name; NULL after the last one, or if the filter is not a list of names without
 *	wildcards.
 */
const char *filter_plain_name(const struct filter *filter, size_t number);

void filter_free(struct filter *filter);

#endif /* POSIXTRACE_FILTER_H */
