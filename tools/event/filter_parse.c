// SPDX-License-Identifier: GPL-2.0
/*
 * The parser of filters: see filter.h. The operators, from the lowest precedence to the highest,
 * are "||", "&&", "!", and the comma between names. Parentheses and "!" recurse up to FILTER_LEVELS
 * times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/filter_parse.h"
#include "event/filter_token.h"
#include "util/duration.h"
#include "util/message.h"

/* Event type ids are smaller than this. */
#define TYPES	POSIXTRACE_EVENT_ID_MAX

struct parser {
	struct filter_lexer lexer;
	struct filter *filter;
	unsigned int level;
};

static const struct {
	const char *sign;
	enum filter_test test;
} tests[] = {
	{ "==", FILTER_EQUAL },
	{ "!=", FILTER_NOT_EQUAL },
	{ "<", FILTER_LESS },
	{ "<=", FILTER_LESS_EQUAL },
	{ ">", FILTER_GREATER },
	{ ">=", FILTER_GREATER_EQUAL },
	{ "~", FILTER_MATCHES },
};

#define NR_TESTS	(sizeof(tests) / sizeof(tests[0]))

static int new_node(struct parser *parser, enum filter_kind kind, struct filter_node **node)
{
	struct filter *filter = parser->filter;
	struct filter_node **nodes;

	if (filter->nr_nodes == FILTER_NODES)
		return filter_fail(&parser->lexer, parser->lexer.start,
				   "more than %d names, conditions and operators", FILTER_NODES);
	nodes = reallocarray(filter->nodes, filter->nr_nodes + 1, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	filter->nodes = nodes;
	*node = calloc(1, sizeof(**node));
	if (!*node)
		return -ENOMEM;
	(*node)->kind = kind;
	nodes[filter->nr_nodes++] = *node;
	return 0;
}

/* Replaces *@left by an operator node with *@left and @right as its operands. */
static int combine(struct parser *parser, enum filter_kind kind, struct filter_node **left,
		   struct filter_node *right)
{
	struct filter_node *node;
	int err = new_node(parser, kind, &node);

	if (err)
		return err;
	node->left = *left;
	node->right = right;
	*left = node;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Conditions								*/

static size_t find_test(const struct parser *parser)
{
	size_t i = 0;

	while (i < NR_TESTS && !filter_is(&parser->lexer, tests[i].sign))
		i++;
	return i;
}

static bool is_identifier(const char *text)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *text && (*text < '0' || *text > '9') && strspn(text, chars) == strlen(text);
}

/* Splits a field name at its dots. */
static int set_path(struct parser *parser, struct filter_node *node, char *name,
		    const char *place)
{
	char *rest = name, *part;

	while ((part = strsep(&rest, "."))) {
		if (!is_identifier(part))
			return filter_fail(&parser->lexer, place + (part - name),
					   "\"%.40s\" cannot be the name of a field", part);
		if (node->depth == FILTER_DEPTH)
			return filter_fail(&parser->lexer, place,
					   "more than %d names with dots between them",
					   FILTER_DEPTH);
		node->path[node->depth] = strdup(part);
		if (!node->path[node->depth++])
			return -ENOMEM;
	}
	return 0;
}

/* Reads a number. Returns false if the current token is not a number. */
static bool read_number(struct parser *parser, struct filter_node *node)
{
	const char *text = parser->lexer.value, *digits = text + (*text == '-');
	char *end;

	if (*digits != '.' && (*digits < '0' || *digits > '9'))
		return false;
	errno = 0;
	/* Unlike in C, a leading zero does not mean octal. */
	node->number = strtoull(digits, &end,
				digits[0] == '0' && (digits[1] | 0x20) == 'x' ? 16 : 10);
	node->negative = digits != text;
	node->operand = FILTER_INTEGER;
	if (!*end && !errno)
		return true;
	node->real = strtod(text, &end);
	node->operand = FILTER_REAL;
	return !*end;
}

static int read_value(struct parser *parser, struct filter_node *node)
{
	struct filter_lexer *lexer = &parser->lexer;
	bool ordered = node->test != FILTER_EQUAL && node->test != FILTER_NOT_EQUAL &&
		       node->test != FILTER_MATCHES;

	if (lexer->token == FILTER_TOKEN_QUOTED) {
		if (ordered)
			return filter_fail(lexer, lexer->start,
					   "text has no order: compare it with ==, != or ~");
		node->operand = FILTER_TEXT;
	} else if (lexer->token != FILTER_TOKEN_WORD) {
		return filter_unexpected(lexer, "a number, a label or text in quotes");
	} else if (node->test == FILTER_MATCHES) {
		node->operand = FILTER_TEXT;
	} else if (read_number(parser, node)) {
		return 0;
	} else if (is_identifier(lexer->value)) {
		node->operand = FILTER_WORD;
	} else {
		return filter_fail(lexer, lexer->start,
				   "\"%.40s\" is neither a number nor a label: put text in quotes, and use ~ for patterns",
				   lexer->value);
	}
	node->text = strdup(lexer->value);
	return node->text ? 0 : -ENOMEM;
}

/* Returns the length of "NAME" in "NAME.duration", the duration of a scope; 0 for other names. */
static size_t scope_length(const char *name)
{
	static const char suffix[] = ".duration";
	size_t len = strlen(name), suffix_len = strlen(suffix);

	if (len <= suffix_len || strcmp(name + len - suffix_len, suffix) != 0)
		return 0;
	return len - suffix_len;
}

/* Sets a condition on a duration. The current token is a time with a unit. */
static int set_duration(struct parser *parser, struct filter_node *node, const char *name,
			const char *place)
{
	size_t len = scope_length(name);

	if (!len)
		return filter_fail(&parser->lexer, place,
				   "a time with a unit needs NAME.duration of a scope (got \"%.40s\")",
				   name);
	if (node->test == FILTER_MATCHES)
		return filter_fail(&parser->lexer, parser->lexer.start,
				   "a duration is not text: compare it with <, > or ==");
	node->kind = FILTER_DURATION;
	node->pattern = strndup(name, len);
	return node->pattern ? 0 : -ENOMEM;
}

/* Parses a condition. The current token is the operator after the name of a field or scope. */
static int read_condition(struct parser *parser, char *name, const char *place, bool quoted,
			  struct filter_node **node)
{
	struct filter_lexer *lexer = &parser->lexer;
	int err = new_node(parser, FILTER_FIELD, node);

	if (err)
		return err;
	(*node)->test = tests[find_test(parser)].test;
	err = filter_next(lexer);
	if (!err && lexer->token == FILTER_TOKEN_WORD &&
	    duration_parse(lexer->value, 0, &(*node)->number))
		err = set_duration(parser, *node, name, place);
	else if (!err && quoted)
		err = filter_fail(lexer, place, "the name of a field needs no quotes");
	else if (!err)
		err = set_path(parser, *node, name, place);
	if (!err && (*node)->kind == FILTER_FIELD)
		err = read_value(parser, *node);
	return err ? err : filter_next(lexer);
}

/* ------------------------------------------------------------------ */
/* Expressions								*/

static int add_name(struct parser *parser, const char *name, struct filter_node **node)
{
	int err = new_node(parser, FILTER_NAME, node);

	if (err)
		return err;
	(*node)->pattern = strdup(name);
	(*node)->verdicts = calloc(TYPES, 1);
	return (*node)->pattern && (*node)->verdicts ? 0 : -ENOMEM;
}

/* Parses the rest of a list of names. The current token is the first comma. */
static int read_names(struct parser *parser, struct filter_node **node)
{
	struct filter_lexer *lexer = &parser->lexer;
	struct filter_node *name;
	int err = 0;

	while (!err && filter_is(lexer, ",")) {
		err = filter_next(lexer);
		if (err)
			return err;
		if (lexer->token != FILTER_TOKEN_WORD && lexer->token != FILTER_TOKEN_QUOTED)
			return filter_unexpected(lexer, "a name after the comma");
		err = add_name(parser, lexer->value, &name);
		if (!err)
			err = combine(parser, FILTER_OR, node, name);
		if (!err)
			err = filter_next(lexer);
	}
	return err;
}

/* Parses a list of names, or a condition. The current token is the first name. */
static int read_name(struct parser *parser, struct filter_node **node)
{
	struct filter_lexer *lexer = &parser->lexer;
	bool quoted = lexer->token == FILTER_TOKEN_QUOTED;
	const char *place = lexer->start;
	char *name = strdup(lexer->value);
	int err;

	if (!name)
		return -ENOMEM;
	err = filter_next(lexer);
	if (!err && find_test(parser) < NR_TESTS) {
		err = read_condition(parser, name, place, quoted, node);
	} else if (!err) {
		err = add_name(parser, name, node);
		if (!err)
			err = read_names(parser, node);
	}
	free(name);
	return err;
}

static int read_or(struct parser *parser, struct filter_node **node);

static int read_not(struct parser *parser, struct filter_node **node)
{
	struct filter_lexer *lexer = &parser->lexer;
	bool not = filter_is(lexer, "!");
	int err;

	if (lexer->token == FILTER_TOKEN_WORD || lexer->token == FILTER_TOKEN_QUOTED)
		return read_name(parser, node);
	if (!not && !filter_is(lexer, "("))
		return filter_unexpected(lexer, "a name or a condition");
	if (parser->level++ == FILTER_LEVELS)
		return filter_fail(lexer, lexer->start, "more than %d levels of \"(\" and \"!\"",
				   FILTER_LEVELS);
	err = filter_next(lexer);
	if (!err)
		err = not ? read_not(parser, node) : read_or(parser, node);
	if (!err && not)
		err = combine(parser, FILTER_NOT, node, NULL);
	else if (!err && !filter_is(lexer, ")"))
		err = filter_unexpected(lexer, "\"&&\", \"||\" or \")\"");
	else if (!err)
		err = filter_next(lexer);
	parser->level--;
	return err;
}

static int read_and(struct parser *parser, struct filter_node **node)
{
	struct filter_node *right;
	int err = read_not(parser, node);

	while (!err && filter_is(&parser->lexer, "&&")) {
		err = filter_next(&parser->lexer);
		if (!err)
			err = read_not(parser, &right);
		if (!err)
			err = combine(parser, FILTER_AND, node, right);
	}
	return err;
}

static int read_or(struct parser *parser, struct filter_node **node)
{
	struct filter_node *right;
	int err = read_and(parser, node);

	while (!err && filter_is(&parser->lexer, "||")) {
		err = filter_next(&parser->lexer);
		if (!err)
			err = read_and(parser, &right);
		if (!err)
			err = combine(parser, FILTER_OR, node, right);
	}
	return err;
}

int filter_parse(const char *text, struct filter **filter, struct filter_error *error)
{
	struct parser parser = { .lexer = { .begin = text, .at = text, .error = error } };
	int err = -ENOMEM;

	parser.lexer.value = malloc(strlen(text) + 3);
	parser.filter = calloc(1, sizeof(*parser.filter));
	if (parser.lexer.value && parser.filter)
		err = filter_next(&parser.lexer);
	if (!err)
		err = read_or(&parser, &parser.filter->root);
	if (!err && parser.lexer.token != FILTER_TOKEN_END)
		err = filter_unexpected(&parser.lexer, "\"&&\" or \"||\"");
	if (err)
		filter_free(parser.filter);
	else
		*filter = parser.filter;
	free(parser.lexer.value);
	return err;
}

int filter_option(const char *text, struct filter **filter)
{
	struct filter_error error;
	int err = filter_parse(text, filter, &error);

	if (err == -EINVAL)
		tell("--filter: column %zu: %s", error.column, error.message);
	return err;
}
