// SPDX-License-Identifier: MIT
/*
 * The grammar of descriptions: reads structs, members, types and labels. Nested structs are
 * read recursively, up to PXTU_FIELDS_LEVELS.
 */
#include <stdlib.h>
#include <string.h>

#include "fields/fields.h"

static const struct {
	char name[8];
	int type;
	unsigned int size;	/* 0: it depends on the data */
} types[] = {
	{ "u8", POSIXTRACE_FIELD_UNSIGNED, 1 },
	{ "u16", POSIXTRACE_FIELD_UNSIGNED, 2 },
	{ "u32", POSIXTRACE_FIELD_UNSIGNED, 4 },
	{ "u64", POSIXTRACE_FIELD_UNSIGNED, 8 },
	{ "i8", POSIXTRACE_FIELD_SIGNED, 1 },
	{ "i16", POSIXTRACE_FIELD_SIGNED, 2 },
	{ "i32", POSIXTRACE_FIELD_SIGNED, 4 },
	{ "i64", POSIXTRACE_FIELD_SIGNED, 8 },
	{ "x8", POSIXTRACE_FIELD_HEX, 1 },
	{ "x16", POSIXTRACE_FIELD_HEX, 2 },
	{ "x32", POSIXTRACE_FIELD_HEX, 4 },
	{ "x64", POSIXTRACE_FIELD_HEX, 8 },
	{ "f32", POSIXTRACE_FIELD_FLOAT, 4 },
	{ "f64", POSIXTRACE_FIELD_FLOAT, 8 },
	{ "bool", POSIXTRACE_FIELD_BOOL, 1 },
	{ "char", POSIXTRACE_FIELD_CHARS, 1 },
	{ "string", POSIXTRACE_FIELD_STRING, 0 },
	{ "text", POSIXTRACE_FIELD_TEXT, 0 },
};

/* A size in brackets: a number, or the slot of a field that contains it. */
struct dimension {
	size_t count;
	unsigned int slot;
	size_t offset;
};

/* Is the current token a word that does not start with a digit? */
static bool is_identifier(const struct pxtu_lexer *lexer)
{
	return lexer->token == PXTU_TOKEN_WORD;
}

/* Keep a copy of the current token. */
static const char *keep_string(struct pxtu_field_parser *parser)
{
	char *to = parser->fields->strings + parser->nr_strings;
	size_t size = strlen(parser->lexer.value) + 1;

	memcpy(to, parser->lexer.value, size);
	parser->nr_strings += size;
	return to;
}

/* ------------------------------------------------------------------ */
/* Enumerations								*/

/* The largest value of an integer field. */
static __u64 largest(const struct posixtrace_field *field)
{
	return ~0ULL >> (64 - 8 * field->size + (size_t)field->is_signed);
}

static bool number_fits(const struct posixtrace_field *field, __u64 number, bool negative)
{
	if (negative)
		return number <= (field->is_signed ? largest(field) + 1 : 0);
	return number <= largest(field);
}

static int read_label(struct pxtu_field_parser *parser, const struct posixtrace_field *field,
		      struct posixtrace_label *labels, size_t count)
{
	struct pxtu_lexer *lexer = &parser->lexer;
	struct posixtrace_label *label = &labels[count];
	__u64 number = count ? (__u64)labels[count - 1].value : 0;
	size_t offset = lexer->start;
	bool last = count && number == largest(field);
	int err;

	if (!is_identifier(lexer) && lexer->token != PXTU_TOKEN_QUOTED)
		return pxtu_lexer_unexpected(lexer, "a label");
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(labels[i].name, lexer->value))
			return pxtu_lexer_fail(lexer, offset, "duplicate label \"%s\"",
					       lexer->value);
	}
	label->name = keep_string(parser);
	err = pxtu_lexer_next(lexer);
	if (err)
		return err;
	if (!pxtu_lexer_is(lexer, "=")) {
		if (last)
			return pxtu_lexer_fail(lexer, offset,
					       "the label has no value: it would not fit the enum");
		label->value = (int64_t)(count ? number + 1 : 0);
		return 0;
	}
	err = pxtu_lexer_next(lexer);
	if (err)
		return err;
	if (lexer->token != PXTU_TOKEN_NUMBER)
		return pxtu_lexer_unexpected(lexer, "a number");
	if (!number_fits(field, lexer->number, lexer->negative))
		return pxtu_lexer_fail(lexer, lexer->start,
				       "%s does not fit an enum of %zu bits, %s", lexer->value,
				       8 * field->size,
				       field->is_signed ? "signed" : "unsigned");
	label->value = (int64_t)(lexer->negative ? -lexer->number : lexer->number);
	return pxtu_lexer_next(lexer);
}

/*
 * Order labels by value. Names are stored in the order of the description, so their addresses keep
 * labels of equal values in this order.
 */
static int compare_labels(const void *a, const void *b)
{
	const struct posixtrace_label *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int read_labels(struct pxtu_field_parser *parser, struct posixtrace_field *field)
{
	struct posixtrace_label *labels = parser->fields->labels + parser->nr_labels;
	struct pxtu_lexer *lexer = &parser->lexer;
	size_t count = 0;
	int err;

	for (;;) {
		err = pxtu_lexer_next(lexer);
		if (err)
			return err;
		if (count && pxtu_lexer_is(lexer, "}"))
			break;
		err = read_label(parser, field, labels, count++);
		if (err)
			return err;
		if (pxtu_lexer_is(lexer, "}"))
			break;
		if (!pxtu_lexer_is(lexer, ","))
			return pxtu_lexer_unexpected(lexer, "\",\" or \"}\"");
	}
	qsort(labels, count, sizeof(*labels), compare_labels);
	parser->nr_labels += count;
	field->labels = labels;
	field->count = count;
	return 0;
}

static size_t find_type(const struct pxtu_lexer *lexer)
{
	size_t i = 0;

	while (i < PXTU_ARRAY_SIZE(types) && !pxtu_lexer_is(lexer, types[i].name))
		i++;
	return i;
}

/* The current token is "enum". */
static int read_enum(struct pxtu_field_parser *parser, struct posixtrace_field *field)
{
	struct pxtu_lexer *lexer = &parser->lexer;
	size_t i;
	int err;

	*field = (struct posixtrace_field){
		.type = POSIXTRACE_FIELD_ENUM,
		.size = sizeof(__s32),
		.is_signed = 1,
	};
	err = pxtu_lexer_next(lexer);
	if (err)
		return err;
	if (pxtu_lexer_is(lexer, ":")) {
		err = pxtu_lexer_next(lexer);
		if (err)
			return err;
		i = find_type(lexer);
		if (i == PXTU_ARRAY_SIZE(types) || (types[i].type != POSIXTRACE_FIELD_UNSIGNED &&
						    types[i].type != POSIXTRACE_FIELD_SIGNED))
			return pxtu_lexer_unexpected(lexer, "u8 to u64 or i8 to i64");
		field->size = types[i].size;
		field->is_signed = types[i].type == POSIXTRACE_FIELD_SIGNED;
		err = pxtu_lexer_next(lexer);
		if (err)
			return err;
	}
	if (!pxtu_lexer_is(lexer, "{"))
		return pxtu_lexer_unexpected(lexer, "\"{\"");
	return read_labels(parser, field);
}

/* ------------------------------------------------------------------ */
/* Members								*/

static int read_struct(struct pxtu_field_parser *parser, struct pxtu_field_type *type);

/* Read a type. The current token is the first token of the type. */
static int read_type(struct pxtu_field_parser *parser, struct pxtu_field_type *type)
{
	struct pxtu_lexer *lexer = &parser->lexer;
	size_t i;
	int err;

	if (pxtu_lexer_is(lexer, "struct") || pxtu_lexer_is(lexer, "{"))
		return read_struct(parser, type);
	*type = (struct pxtu_field_type){ .align = 1 };
	if (pxtu_lexer_is(lexer, "enum")) {
		err = read_enum(parser, &type->field);
		type->least = type->field.size;
		type->align = type->field.size;
		return err;
	}
	i = find_type(lexer);
	if (i == PXTU_ARRAY_SIZE(types))
		return lexer->token == PXTU_TOKEN_WORD ?
			pxtu_lexer_fail(lexer, lexer->start, "unknown type \"%s\"", lexer->value) :
			pxtu_lexer_unexpected(lexer, "a type or \"}\"");
	type->field.type = types[i].type;
	type->field.size = types[i].size;
	type->field.is_signed = types[i].type == POSIXTRACE_FIELD_SIGNED;
	/* A string has at least its null byte. */
	type->least = types[i].type == POSIXTRACE_FIELD_STRING ? 1 : types[i].size;
	if (types[i].size)
		type->align = types[i].size;
	return 0;
}

static int read_name(struct pxtu_field_parser *parser, const char **name)
{
	const struct pxtu_field_scope *scope = &parser->scopes[parser->depth - 1];
	struct pxtu_lexer *lexer = &parser->lexer;
	int err = pxtu_lexer_next(lexer);

	if (err)
		return err;
	if (!is_identifier(lexer))
		return pxtu_lexer_unexpected(lexer, "the name of the field");
	for (size_t i = scope->first; i < parser->nr_members; i++) {
		if (parser->members[i].name && !strcmp(parser->members[i].name, lexer->value))
			return pxtu_lexer_fail(lexer, lexer->start, "duplicate field \"%s\"",
					       lexer->value);
	}
	*name = keep_string(parser);
	return 0;
}

static int read_count(struct pxtu_lexer *lexer, size_t *count)
{
	if (lexer->token != PXTU_TOKEN_NUMBER)
		return pxtu_lexer_unexpected(lexer, "a number");
	if (lexer->negative || !lexer->number || lexer->number > PXTU_FIELDS_SIZE)
		return pxtu_lexer_fail(lexer, lexer->start,
				       "a size must be from 1 to %d (got %.24s)",
				       PXTU_FIELDS_SIZE, lexer->value);
	*count = (size_t)lexer->number;
	return 0;
}

/* Read sizes, and the token after them. The current token is the last one before the sizes. */
static int read_dimensions(struct pxtu_field_parser *parser, struct dimension *dimensions,
			   size_t *count)
{
	struct pxtu_lexer *lexer = &parser->lexer;
	int err;

	for (*count = 0;; ++*count) {
		struct dimension *dimension = &dimensions[*count];

		err = pxtu_lexer_next(lexer);
		if (err || !pxtu_lexer_is(lexer, "["))
			return err;
		if (*count == PXTU_FIELDS_LEVELS)
			return pxtu_lexer_fail(lexer, lexer->start,
					       "more than %d levels of structs and arrays",
					       PXTU_FIELDS_LEVELS);
		err = pxtu_lexer_next(lexer);
		if (err)
			return err;
		*dimension = (struct dimension){ .offset = lexer->start };
		if (is_identifier(lexer))
			err = pxtu_field_length(parser, &dimension->slot);
		else if (lexer->token == PXTU_TOKEN_NUMBER)
			err = read_count(lexer, &dimension->count);
		else
			err = pxtu_lexer_unexpected(lexer, "a number or the name of a field");
		if (!err)
			err = pxtu_lexer_expect(lexer, "]");
		if (err)
			return err;
	}
}

static int read_unit(struct pxtu_field_parser *parser, struct posixtrace_field *field)
{
	struct pxtu_lexer *lexer = &parser->lexer;

	switch (field->type) {
	case POSIXTRACE_FIELD_UNSIGNED:
	case POSIXTRACE_FIELD_SIGNED:
	case POSIXTRACE_FIELD_HEX:
	case POSIXTRACE_FIELD_FLOAT:
		field->unit = keep_string(parser);
		return pxtu_lexer_next(lexer);
	default:
		return pxtu_lexer_fail(lexer, lexer->start, "only integers and floats have a unit");
	}
}

/* Make arrays of a type. The last dimension of "char" is the size of the text. */
static int apply_dimensions(struct pxtu_field_parser *parser, struct pxtu_field_type *type,
			    const struct dimension *dimensions, size_t count)
{
	size_t offset = count ? dimensions[0].offset : 0;
	int err = 0;

	if (count && type->field.type == POSIXTRACE_FIELD_CHARS) {
		const struct dimension *last = &dimensions[--count];

		type->field.size = last->count;
		type->field.__slot = last->slot;
		type->least = last->count;
	}
	if (!count)
		return 0;
	if (type->field.type == POSIXTRACE_FIELD_TEXT)
		return pxtu_lexer_fail(&parser->lexer, offset, "arrays of text are not supported");
	if (parser->depth + count + type->height > PXTU_FIELDS_LEVELS)
		return pxtu_lexer_fail(&parser->lexer, offset,
				       "more than %d levels of structs and arrays",
				       PXTU_FIELDS_LEVELS);
	while (!err && count-- > 0)
		err = pxtu_field_array(parser, type, dimensions[count].count,
				       dimensions[count].slot, dimensions[count].offset);
	return err;
}

/* The current token is "pad". */
static int read_pad(struct pxtu_field_parser *parser)
{
	struct pxtu_field_type type = { .field.type = POSIXTRACE_FIELD_PAD, .align = 1 };
	struct pxtu_lexer *lexer = &parser->lexer;
	size_t offset = lexer->start;
	int err = pxtu_lexer_expect(lexer, "[");

	if (!err)
		err = pxtu_lexer_next(lexer);
	if (!err)
		err = read_count(lexer, &type.field.size);
	if (!err)
		err = pxtu_lexer_expect(lexer, "]");
	if (!err)
		err = pxtu_lexer_expect(lexer, ";");
	type.least = type.field.size;
	return err ? err : pxtu_field_add(parser, &type, offset);
}

/* Read a member. The current token is the first token of the member. */
static int read_member(struct pxtu_field_parser *parser)
{
	struct pxtu_field_scope *scope = &parser->scopes[parser->depth - 1];
	struct dimension dimensions[PXTU_FIELDS_LEVELS];
	struct pxtu_lexer *lexer = &parser->lexer;
	size_t offset = lexer->start, count;
	struct pxtu_field_type type;
	const char *name = NULL;
	int err;

	if (scope->text)
		return pxtu_lexer_fail(lexer, offset,
				       "text must be the last member: it takes the rest");
	if (pxtu_lexer_is(lexer, "pad"))
		return read_pad(parser);
	err = read_type(parser, &type);
	if (err)
		return err;
	scope->text = type.field.type == POSIXTRACE_FIELD_TEXT;
	if (scope->text && parser->depth > 1)
		return pxtu_lexer_fail(lexer, offset, "only the outermost struct can contain text");
	err = read_name(parser, &name);
	if (!err)
		err = read_dimensions(parser, dimensions, &count);
	if (!err && lexer->token == PXTU_TOKEN_QUOTED)
		err = read_unit(parser, &type.field);
	if (err)
		return err;
	if (!pxtu_lexer_is(lexer, ";"))
		return pxtu_lexer_unexpected(lexer, "\";\"");
	err = apply_dimensions(parser, &type, dimensions, count);
	type.field.name = name;
	return err ? err : pxtu_field_add(parser, &type, offset);
}

/* Read a struct. The current token is the first token of the struct. */
static int read_struct(struct pxtu_field_parser *parser, struct pxtu_field_type *type)
{
	bool aligned = pxtu_lexer_is(&parser->lexer, "struct");
	int err = 0;

	if (aligned)
		err = pxtu_lexer_expect(&parser->lexer, "{");
	else if (!pxtu_lexer_is(&parser->lexer, "{"))
		err = pxtu_lexer_unexpected(&parser->lexer, "\"struct\" or \"{\"");
	if (!err)
		err = pxtu_field_open(parser, aligned);
	while (!err) {
		err = pxtu_lexer_next(&parser->lexer);
		if (err)
			break;
		if (pxtu_lexer_is(&parser->lexer, "}"))
			return pxtu_field_close(parser, type);
		err = read_member(parser);
	}
	return err;
}

int pxtu_field_parse(struct pxtu_field_parser *parser)
{
	struct pxtu_field_type type;
	int err;

	err = pxtu_lexer_next(&parser->lexer);
	if (!err)
		err = read_struct(parser, &type);
	if (!err)
		err = pxtu_lexer_next(&parser->lexer);
	if (err)
		return err;
	if (parser->lexer.token != PXTU_TOKEN_END)
		return pxtu_lexer_unexpected(&parser->lexer, "the end of the description");
	parser->fields->root = type.field;
	for (size_t i = 0; i < parser->nr_fields; i++) {
		struct posixtrace_field *field = &parser->fields->fields[i];

		if (field->type == POSIXTRACE_FIELD_ARRAY || field->type == POSIXTRACE_FIELD_CHARS)
			field->length = parser->lengths[field->__slot];
	}
	return 0;
}
