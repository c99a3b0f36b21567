/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tokens of a filter.
 */
#ifndef POSIXTRACE_FILTER_TOKEN_H
#define POSIXTRACE_FILTER_TOKEN_H

#include "event/filter.h"

enum filter_token {
	FILTER_TOKEN_END,
	FILTER_TOKEN_SIGN,	/* an operator, a parenthesis or a comma */
	FILTER_TOKEN_WORD,	/* a name, a pattern or a number */
	FILTER_TOKEN_QUOTED,
};

/**
 * struct filter_lexer - finds the tokens of a filter
 * @begin: the text
 * @at: end of the current token
 * @start: its begin
 * @token: the current token
 * @value: its text, without quotes; room for the whole filter
 * @error: where to explain an error
 */
struct filter_lexer {
	const char *begin;
	const char *at;
	const char *start;
	enum filter_token token;
	char *value;
	struct filter_error *error;
};

/* filter_fail() - explain what is wrong at a place of the text; returns -EINVAL */
__attribute__((format(printf, 3, 4)))
int filter_fail(struct filter_lexer *lexer, const char *place, const char *format, ...);

/* filter_unexpected() - explain that the current token should be another one; returns -EINVAL */
int filter_unexpected(struct filter_lexer *lexer, const char *wanted);

/* filter_next() - go to the next token; returns 0 or -EINVAL */
int filter_next(struct filter_lexer *lexer);

/* filter_is() - is the current token this sign? */
bool filter_is(const struct filter_lexer *lexer, const char *sign);

#endif /* POSIXTRACE_FILTER_TOKEN_H */
