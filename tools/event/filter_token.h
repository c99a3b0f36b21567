/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tokenizer of filters.
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
 * struct filter_lexer - splits a filter into tokens
 * @begin: the text
 * @at: end of the current token
 * @start: start of the current token
 * @token: the current token
 * @value: text of the token without quotes; has room for the whole filter
 * @error: where to report errors
 */
struct filter_lexer {
	const char *begin;
	const char *at;
	const char *start;
	enum filter_token token;
	char *value;
	struct filter_error *error;
};

/* filter_fail() - report an error at a position in the text; returns -EINVAL */
__attribute__((format(printf, 3, 4)))
int filter_fail(struct filter_lexer *lexer, const char *place, const char *format, ...);

/* filter_unexpected() - report that another token was expected; returns -EINVAL */
int filter_unexpected(struct filter_lexer *lexer, const char *wanted);

/* filter_next() - advance to the next token; returns 0 or -EINVAL */
int filter_next(struct filter_lexer *lexer);

/* filter_is() - check if the current token is this sign */
bool filter_is(const struct filter_lexer *lexer, const char *sign);

#endif /* POSIXTRACE_FILTER_TOKEN_H */
