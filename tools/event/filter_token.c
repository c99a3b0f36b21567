// SPDX-License-Identifier: GPL-2.0
/*
 * Tokenizer and error messages of filters: see filter_token.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event/filter_token.h"

int filter_fail(struct filter_lexer *lexer, const char *place, const char *format, ...)
{
	struct filter_error *error = lexer->error;
	va_list args;

	error->column = (size_t)(place - lexer->begin) + 1;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	for (char *c = error->message; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return -EINVAL;
}

int filter_unexpected(struct filter_lexer *lexer, const char *wanted)
{
	if (lexer->token == FILTER_TOKEN_END)
		return filter_fail(lexer, lexer->start, "expected %s, but the filter ends", wanted);
	return filter_fail(lexer, lexer->start, "expected %s (got \"%.40s\")", wanted,
			   lexer->value);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * Does the character end a word? "!" also begins a bracket expression of a pattern ("[!a]"), so it
 * is part of a word inside brackets.
 */
static bool ends_word(char c)
{
	return !c || is_blank(c) || strchr("()&|<>=~,\"'!", c);
}

static int read_word(struct filter_lexer *lexer)
{
	bool brackets = false;
	size_t len = 0;

	while (brackets ? *lexer->at && !is_blank(*lexer->at) : !ends_word(*lexer->at)) {
		if (*lexer->at == '[')
			brackets = true;
		else if (*lexer->at == ']')
			brackets = false;
		lexer->value[len++] = *lexer->at++;
	}
	lexer->value[len] = '\0';
	lexer->token = FILTER_TOKEN_WORD;
	return 0;
}

static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit = c ? strchr(digits, c) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* Returns the byte that an escape stands for, or 0. */
static char read_escape(struct filter_lexer *lexer)
{
	int high, low;

	switch (*lexer->at) {
	case '\\':
	case '"':
	case '\'':
		return *lexer->at++;
	case 'n':
		lexer->at++;
		return '\n';
	case 't':
		lexer->at++;
		return '\t';
	case 'x':
		break;
	default:
		return '\0';
	}
	high = digit_of(lexer->at[1]);
	low = high < 0 ? -1 : digit_of(lexer->at[2]);
	if (low < 0)
		return '\0';
	lexer->at += 3;
	return (char)(high << 4 | low);
}

static int read_quoted(struct filter_lexer *lexer)
{
	char quote = *lexer->at++, c;
	size_t len = 0;

	while (*lexer->at != quote) {
		const char *place = lexer->at;

		if (!*lexer->at)
			return filter_fail(lexer, lexer->start, "the closing quote is missing");
		c = *lexer->at++;
		if (c == '\\')
			c = read_escape(lexer);
		if (!c)
			return filter_fail(lexer, place,
					   "unknown escape in quotes: use \\\\, \\\", \\', \\n, \\t or \\xNN");
		lexer->value[len++] = c;
	}
	lexer->at++;
	lexer->value[len] = '\0';
	lexer->token = FILTER_TOKEN_QUOTED;
	return 0;
}

int filter_next(struct filter_lexer *lexer)
{
	static const char signs[][3] = {
		"&&", "||", "==", "!=", "<=", ">=", "<", ">", "~", "!", "(", ")", ",",
	};

	while (is_blank(*lexer->at))
		lexer->at++;
	lexer->start = lexer->at;
	if (!*lexer->at) {
		lexer->token = FILTER_TOKEN_END;
		lexer->value[0] = '\0';
		return 0;
	}
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t len = strlen(signs[i]);

		if (strncmp(lexer->at, signs[i], len) != 0)
			continue;
		lexer->at += len;
		lexer->token = FILTER_TOKEN_SIGN;
		memcpy(lexer->value, signs[i], len + 1);
		return 0;
	}
	if (*lexer->at == '"' || *lexer->at == '\'')
		return read_quoted(lexer);
	if (strchr("&|=", *lexer->at))
		return filter_fail(lexer, lexer->at, "\"%c\" is not an operator: write \"%c%c\"",
				   *lexer->at, *lexer->at, *lexer->at);
	return read_word(lexer);
}

bool filter_is(const struct filter_lexer *lexer, const char *sign)
{
	return lexer->token == FILTER_TOKEN_SIGN && !strcmp(lexer->value, sign);
}
