/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files that read descriptions: fieldtoken.c finds the tokens, fieldparse.c the
 * fields, fieldplace.c their layout in the data. fieldwalk.c finds values in data.
 */
#ifndef PXTU_FIELDS_H
#define PXTU_FIELDS_H

#include <posixtrace/fields.h>

#include "common/pxtu.h"

#define PXTU_FIELDS_TEXT	4096	/* bytes of a description, with the null byte */
#define PXTU_FIELDS_MEMBERS	256	/* members of all structs, padding included */
#define PXTU_FIELDS_LEVELS	8	/* nested structs and arrays */
#define PXTU_FIELDS_SIZE	65536	/* bytes of the data; elements of an array */
#define PXTU_FIELDS_NAME	63	/* bytes of a name, a label or a unit */
#define PXTU_FIELDS_LENGTHS	64	/* fields that are lengths of other fields */

enum pxtu_token {
	PXTU_TOKEN_END,
	PXTU_TOKEN_WORD,
	PXTU_TOKEN_NUMBER,
	PXTU_TOKEN_QUOTED,
	PXTU_TOKEN_SIGN,
};

/**
 * struct pxtu_lexer - finds the tokens of a description
 * @text: the description
 * @len: length in bytes
 * @at: end of the current token
 * @canonical: buffer to append the tokens to, or NULL
 * @canonical_len: bytes appended
 * @error: where to explain an error
 * @token: the current token
 * @start: start of the current token
 * @value: a word or sign; quoted text without quotes
 * @number: absolute value of a number
 * @negative: the number has a minus sign
 */
struct pxtu_lexer {
	const char *text;
	size_t len;
	size_t at;
	char *canonical;
	size_t canonical_len;
	struct posixtrace_fields_error *error;

	enum pxtu_token token;
	size_t start;
	char value[PXTU_FIELDS_NAME + 1];
	__u64 number;
	bool negative;
};

/**
 * struct posixtrace_fields - a parsed description
 * @root: the outermost struct
 * @fields: all other fields; the members of each struct are consecutive
 * @labels: labels of all enumerations
 * @strings: names, labels and units
 * @text: canonical text
 *
 * Allocated together; the arrays follow the structure.
 */
struct posixtrace_fields {
	struct posixtrace_field root;
	struct posixtrace_field *fields;
	struct posixtrace_label *labels;
	char *strings;
	char *text;
};

/**
 * struct pxtu_field_type - a type that is being read
 * @field: field of this type
 * @align: alignment in a struct
 * @least: minimum number of bytes
 * @height: levels of structs and arrays
 */
struct pxtu_field_type {
	struct posixtrace_field field;
	size_t align;
	size_t least;
	unsigned int height;
};

/**
 * struct pxtu_field_scope - a struct that is being read
 * @first: index of its first member in struct pxtu_field_parser
 * @aligned: members are laid out as by a C compiler
 * @variable: the size of a member so far depends on the data
 * @text: the last member was a text, which must be the last one
 * @offset: bytes of the members so far, while @variable is false
 * @align: alignment of the struct
 * @least: minimum number of bytes so far
 * @height: levels of structs and arrays of its members
 */
struct pxtu_field_scope {
	size_t first;
	bool aligned;
	bool variable;
	bool text;
	size_t offset;
	size_t align;
	size_t least;
	unsigned int height;
};

/**
 * struct pxtu_field_parser - a description that is being read
 * @lexer: its tokens
 * @fields: the result so far
 * @nr_fields: number of @fields->fields
 * @nr_labels: number of @fields->labels
 * @nr_strings: number of bytes of @fields->strings
 * @scopes: the structs that have not ended, the outermost one first
 * @depth: number of @scopes
 * @members: members of these structs
 * @nr_members: number of @members
 * @all_members: number of members of all structs so far
 * @lengths: final locations of the fields that are lengths, by slot
 * @nr_lengths: number of @lengths; @lengths[0] is unused, because slot 0 means no slot
 */
struct pxtu_field_parser {
	struct pxtu_lexer lexer;
	struct posixtrace_fields *fields;
	size_t nr_fields;
	size_t nr_labels;
	size_t nr_strings;
	struct pxtu_field_scope scopes[PXTU_FIELDS_LEVELS];
	unsigned int depth;
	struct posixtrace_field members[PXTU_FIELDS_MEMBERS];
	size_t nr_members;
	size_t all_members;
	const struct posixtrace_field *lengths[PXTU_FIELDS_LENGTHS];
	unsigned int nr_lengths;
};

/**
 * pxtu_lexer_next() - go to the next token
 * @lexer: the tokens
 *
 * Return: 0, or -EINVAL if the token is invalid.
 */
int pxtu_lexer_next(struct pxtu_lexer *lexer);

/**
 * pxtu_lexer_is() - check if the current token is this word or sign
 * @lexer: the tokens
 * @what: a word or a sign
 *
 * Return: true if it is; false also for quoted text.
 */
bool pxtu_lexer_is(const struct pxtu_lexer *lexer, const char *what);

/**
 * pxtu_lexer_expect() - go to the next token, which must be this sign
 * @lexer: the tokens
 * @sign: the sign
 *
 * Return: 0 or -EINVAL.
 */
int pxtu_lexer_expect(struct pxtu_lexer *lexer, const char *sign);

/**
 * pxtu_lexer_fail() - report an error
 * @lexer: the tokens
 * @offset: position of the error
 * @format: for printf()
 *
 * Return: -EINVAL.
 */
__attribute__((format(printf, 3, 4)))
int pxtu_lexer_fail(struct pxtu_lexer *lexer, size_t offset, const char *format, ...);

/**
 * pxtu_lexer_unexpected() - report that another token was expected
 * @lexer: the tokens
 * @wanted: the expected token
 *
 * Return: -EINVAL.
 */
int pxtu_lexer_unexpected(struct pxtu_lexer *lexer, const char *wanted);

/**
 * pxtu_field_open() - start a struct
 * @parser: the description; the current token is the bracket
 * @aligned: lay out its members as a C compiler does
 *
 * Return: 0, or -EINVAL if there are too many levels.
 */
int pxtu_field_open(struct pxtu_field_parser *parser, bool aligned);

/**
 * pxtu_field_close() - end a struct
 * @parser: the description; the current token is the bracket
 * @type: result
 *
 * Return: 0 or -EINVAL.
 */
int pxtu_field_close(struct pxtu_field_parser *parser, struct pxtu_field_type *type);

/**
 * pxtu_field_add() - add a member to the innermost struct
 * @parser: the description
 * @type: the member
 * @offset: offset of the member in the description
 *
 * Return: 0, or -EINVAL if there are too many members or bytes.
 */
int pxtu_field_add(struct pxtu_field_parser *parser, const struct pxtu_field_type *type,
		   size_t offset);

/**
 * pxtu_field_array() - turn a type into an array of this type
 * @parser: the description
 * @type: the type
 * @count: number of elements
 * @slot: slot of the field with the number of elements, or 0
 * @offset: offset of the size in the description
 *
 * Return: 0, or -EINVAL if there are too many bytes.
 */
int pxtu_field_array(struct pxtu_field_parser *parser, struct pxtu_field_type *type, size_t count,
		     unsigned int slot, size_t offset);

/**
 * pxtu_field_length() - find the field that contains a length
 * @parser: the description; the current token is the name of the field
 * @slot: result, its slot, never 0
 *
 * Return: 0 or -EINVAL.
 */
int pxtu_field_length(struct pxtu_field_parser *parser, unsigned int *slot);

/**
 * pxtu_field_parse() - read the description
 * @parser: the description; its memory is large enough
 *
 * Return: 0 or -EINVAL.
 */
int pxtu_field_parse(struct pxtu_field_parser *parser);

#endif /* PXTU_FIELDS_H */
