// SPDX-License-Identifier: MIT
/*
 * Finds the tokens of a description, and reports errors. The text may contain any bytes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fields/fields.h"

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static bool is_sign(char c)
{
	return c && strchr("{}[];:,=", c);
}

static char char_at(const struct pxtu_lexer *lexer, size_t at)
{
	return at < lexer->len ? lexer->text[at] : '\0';
}

/* ------------------------------------------------------------------ */
/* Errors								*/

int pxtu_lexer_fail(struct pxtu_lexer *lexer, size_t offset, const char *format, ...)
{
	struct posixtrace_fields_error *error = lexer->error;
	size_t line = 0;
	va_list args;

	if (!error)
		return -EINVAL;
	memset(error, 0, sizeof(*error));
	error->offset = offset;
	error->line = 1;
	for (size_t i = 0; i < offset; i++) {
		if (lexer->text[i] != '\n')
			continue;
		error->line++;
		line = i + 1;
	}
	error->column = (unsigned int)(offset - line) + 1;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	/* The text of a label can contain control characters. */
	for (char *c = error->message; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return -EINVAL;
}

int pxtu_lexer_unexpected(struct pxtu_lexer *lexer, const char *wanted)
{
	switch (lexer->token) {
	case PXTU_TOKEN_END:
		return pxtu_lexer_fail(lexer, lexer->start, "expected %s, but the text ends",
				       wanted);
	case PXTU_TOKEN_QUOTED:
		return pxtu_lexer_fail(lexer, lexer->start, "expected %s (got text in quotes)",
				       wanted);
	default:
		return pxtu_lexer_fail(lexer, lexer->start, "expected %s (got \"%s\")", wanted,
				       lexer->value);
	}
}

/* ------------------------------------------------------------------ */
/* Tokens								*/

static void skip_blanks(struct pxtu_lexer *lexer)
{
	bool comment = false;

	for (; lexer->at < lexer->len; lexer->at++) {
		char c = lexer->text[lexer->at];

		if (c == '\n')
			comment = false;
		else if (c == '#')
			comment = true;
		else if (!comment && !is_blank(c))
			return;
	}
}

/* Decode "\x1b", "\\", "\"", "\n" or "\t". Returns the byte, or 0 if it is another escape. */
static char read_escape(struct pxtu_lexer *lexer)
{
	static const char hex[] = "0123456789abcdef";
	const char *digit;
	int byte = 0;

	switch (char_at(lexer, lexer->at++)) {
	case '\\':
		return '\\';
	case '"':
		return '"';
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'x':
		break;
	default:
		return '\0';
	}
	for (int i = 0; i < 2; i++) {
		char c = char_at(lexer, lexer->at++);

		digit = c ? strchr(hex, c) : NULL;
		if (!digit)
			return '\0';
		byte = byte << 4 | (int)(digit - hex);
	}
	return (char)byte;
}

static int read_quoted(struct pxtu_lexer *lexer)
{
	size_t len = 0, at;
	char c;

	lexer->at++;
	for (;;) {
		at = lexer->at;
		c = char_at(lexer, lexer->at++);
		if (c == '"')
			break;
		if (at >= lexer->len || c == '\n')
			return pxtu_lexer_fail(lexer, lexer->start, "the closing quote is missing");
		if ((c > 0 && c < ' ') || c == 0x7f)
			return pxtu_lexer_fail(lexer, at, "byte 0x%02x in quotes: write \\x%02x",
					       (unsigned int)c, (unsigned int)c);
		if (c == '\\')
			c = read_escape(lexer);
		if (!c)
			return pxtu_lexer_fail(lexer, at,
					       "unknown escape in quotes: use \\\\, \\\", \\n, \\t or \\xNN");
		if (len == PXTU_FIELDS_NAME)
			return pxtu_lexer_fail(lexer, lexer->start,
					       "text in quotes has at most %d bytes",
					       PXTU_FIELDS_NAME);
		lexer->value[len++] = c;
	}
	if (!len)
		return pxtu_lexer_fail(lexer, lexer->start, "the text in quotes is empty");
	lexer->value[len] = '\0';
	lexer->token = PXTU_TOKEN_QUOTED;
	return 0;
}

static int read_word(struct pxtu_lexer *lexer)
{
	size_t len = 1;

	/* The first character is always part of the word, even if it is a minus sign. */
	while (is_word(char_at(lexer, lexer->at + len)))
		len++;
	if (len > PXTU_FIELDS_NAME)
		return pxtu_lexer_fail(lexer, lexer->start, "a name has at most %d bytes",
				       PXTU_FIELDS_NAME);
	if (char_at(lexer, lexer->at + len) == '-')
		return pxtu_lexer_fail(lexer, lexer->at + len, "unexpected character \"-\"");
	memcpy(lexer->value, lexer->text + lexer->at, len);
	lexer->value[len] = '\0';
	lexer->at += len;
	lexer->token = PXTU_TOKEN_WORD;
	return 0;
}

static int digit_of(char c, unsigned int base)
{
	int digit = -1;

	if (is_digit(c))
		digit = c - '0';
	else if (c >= 'a' && c <= 'f')
		digit = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		digit = c - 'A' + 10;
	return digit < (int)base ? digit : -1;
}

static int read_number(struct pxtu_lexer *lexer)
{
	const char *digits = lexer->value;
	unsigned int base = 10;
	int err = read_word(lexer), digit;

	if (err)
		return err;
	lexer->token = PXTU_TOKEN_NUMBER;
	lexer->number = 0;
	lexer->negative = *digits == '-';
	digits += lexer->negative;
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
		base = 16;
		digits += 2;
	}
	do {
		digit = digit_of(*digits, base);
		if (digit < 0)
			return pxtu_lexer_fail(lexer, lexer->start, "\"%s\" is not a number",
					       lexer->value);
		if (__builtin_mul_overflow(lexer->number, base, &lexer->number) ||
		    __builtin_add_overflow(lexer->number, (__u64)digit, &lexer->number))
			return pxtu_lexer_fail(lexer, lexer->start, "the number %.40s is too large",
					       lexer->value);
	} while (*++digits);
	return 0;
}

static int read_token(struct pxtu_lexer *lexer)
{
	char c = char_at(lexer, lexer->at);

	if (lexer->at == lexer->len) {
		lexer->token = PXTU_TOKEN_END;
		lexer->value[0] = '\0';
		return 0;
	}
	if (c == '"')
		return read_quoted(lexer);
	if (is_sign(c)) {
		lexer->value[0] = c;
		lexer->value[1] = '\0';
		lexer->at++;
		lexer->token = PXTU_TOKEN_SIGN;
		return 0;
	}
	if (is_digit(c) || c == '-')
		return read_number(lexer);
	if (is_word(c))
		return read_word(lexer);
	if (c > ' ' && c < 0x7f)
		return pxtu_lexer_fail(lexer, lexer->at, "unexpected character \"%c\"", c);
	return pxtu_lexer_fail(lexer, lexer->at, "unexpected byte 0x%02x", (unsigned char)c);
}

/* Append the token to the canonical text, which cannot become longer than the description. */
static void keep_token(struct pxtu_lexer *lexer, bool after_word)
{
	bool word = lexer->token == PXTU_TOKEN_WORD || lexer->token == PXTU_TOKEN_NUMBER;

	if (!lexer->canonical)
		return;
	if (after_word && word)
		lexer->canonical[lexer->canonical_len++] = ' ';
	memcpy(lexer->canonical + lexer->canonical_len, lexer->text + lexer->start,
	       lexer->at - lexer->start);
	lexer->canonical_len += lexer->at - lexer->start;
}

int pxtu_lexer_next(struct pxtu_lexer *lexer)
{
	bool after_word = lexer->token == PXTU_TOKEN_WORD || lexer->token == PXTU_TOKEN_NUMBER;
	int err;

	skip_blanks(lexer);
	lexer->start = lexer->at;
	err = read_token(lexer);
	if (!err)
		keep_token(lexer, after_word);
	return err;
}

bool pxtu_lexer_is(const struct pxtu_lexer *lexer, const char *what)
{
	return (lexer->token == PXTU_TOKEN_WORD || lexer->token == PXTU_TOKEN_SIGN) &&
	       strcmp(lexer->value, what) == 0;
}

int pxtu_lexer_expect(struct pxtu_lexer *lexer, const char *sign)
{
	char wanted[] = "\"?\"";
	int err = pxtu_lexer_next(lexer);

	if (err || pxtu_lexer_is(lexer, sign))
		return err;
	wanted[1] = *sign;
	return pxtu_lexer_unexpected(lexer, wanted);
}
