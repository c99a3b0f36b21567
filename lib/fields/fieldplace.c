// SPDX-License-Identifier: MIT
/*
 * The layout of the fields of a description: sizes, alignment, and which fields are the lengths
 * of other fields.
 */
#include <string.h>

#include "fields/fields.h"

static struct pxtu_field_scope *innermost(struct pxtu_field_parser *parser)
{
	return &parser->scopes[parser->depth - 1];
}

int pxtu_field_open(struct pxtu_field_parser *parser, bool aligned)
{
	if (parser->depth == PXTU_FIELDS_LEVELS)
		return pxtu_lexer_fail(&parser->lexer, parser->lexer.start,
				       "more than %d levels of structs and arrays",
				       PXTU_FIELDS_LEVELS);
	parser->scopes[parser->depth++] = (struct pxtu_field_scope){
		.first = parser->nr_members,
		.aligned = aligned,
		.align = 1,
	};
	return 0;
}

/* Add a member directly after the other members. */
static int append(struct pxtu_field_parser *parser, const struct pxtu_field_type *type,
		  size_t offset)
{
	struct pxtu_field_scope *scope = innermost(parser);

	if (parser->all_members == PXTU_FIELDS_MEMBERS)
		return pxtu_lexer_fail(&parser->lexer, offset,
				       "more than %d members, padding included",
				       PXTU_FIELDS_MEMBERS);
	scope->least += type->least;
	if (scope->least > PXTU_FIELDS_SIZE)
		return pxtu_lexer_fail(&parser->lexer, offset, "the fields have more than %d bytes",
				       PXTU_FIELDS_SIZE);
	scope->offset += type->field.size;
	scope->variable |= !type->field.size;
	parser->members[parser->nr_members++] = type->field;
	parser->all_members++;
	return 0;
}

/* Add the padding that a C compiler inserts. */
static int align_to(struct pxtu_field_parser *parser, size_t align, size_t offset)
{
	struct pxtu_field_scope *scope = innermost(parser);
	struct pxtu_field_type pad = { .field.type = POSIXTRACE_FIELD_PAD };

	if (!scope->aligned)
		return 0;
	if (align > scope->align)
		scope->align = align;
	if (scope->variable)
		return 0;
	pad.field.size = -scope->offset & (align - 1);
	pad.least = pad.field.size;
	return pad.field.size ? append(parser, &pad, offset) : 0;
}

int pxtu_field_add(struct pxtu_field_parser *parser, const struct pxtu_field_type *type,
		   size_t offset)
{
	struct pxtu_field_scope *scope = innermost(parser);
	int err = align_to(parser, type->align, offset);

	if (!err)
		err = append(parser, type, offset);
	if (type->height > scope->height)
		scope->height = type->height;
	return err;
}

int pxtu_field_close(struct pxtu_field_parser *parser, struct pxtu_field_type *type)
{
	struct pxtu_field_scope *scope = innermost(parser);
	struct posixtrace_field *to = parser->fields->fields + parser->nr_fields;
	size_t offset = parser->lexer.start, count;
	int err = align_to(parser, scope->align, offset);

	if (err)
		return err;
	count = parser->nr_members - scope->first;
	if (!count && parser->depth > 1)
		return pxtu_lexer_fail(&parser->lexer, offset,
				       "a nested struct needs at least one member");
	/* Move the members to their final locations, and note the locations of the lengths. */
	for (size_t i = 0; i < count; i++) {
		to[i] = parser->members[scope->first + i];
		if (to[i].__slot && to[i].type != POSIXTRACE_FIELD_ARRAY &&
		    to[i].type != POSIXTRACE_FIELD_CHARS)
			parser->lengths[to[i].__slot] = &to[i];
	}
	parser->nr_fields += count;
	parser->nr_members = scope->first;
	*type = (struct pxtu_field_type){
		.field = {
			.type = POSIXTRACE_FIELD_STRUCT,
			.members = to,
			.count = count,
			.size = scope->variable ? 0 : scope->offset,
		},
		.align = scope->align,
		.least = scope->least,
		.height = scope->height + 1,
	};
	parser->depth--;
	return 0;
}

int pxtu_field_array(struct pxtu_field_parser *parser, struct pxtu_field_type *type, size_t count,
		     unsigned int slot, size_t offset)
{
	struct posixtrace_field *element = &parser->fields->fields[parser->nr_fields++];
	size_t size = type->field.size;

	if (type->least && count > PXTU_FIELDS_SIZE / type->least)
		return pxtu_lexer_fail(&parser->lexer, offset, "the array has more than %d bytes",
				       PXTU_FIELDS_SIZE);
	*element = type->field;
	type->field = (struct posixtrace_field){
		.type = POSIXTRACE_FIELD_ARRAY,
		.members = element,
		.count = count,
		.size = slot ? 0 : count * size,
		.__slot = slot,
	};
	type->least = slot ? 0 : count * type->least;
	type->height++;
	return 0;
}

/* Find an earlier member of a struct that has not ended, starting with the innermost struct. */
static struct posixtrace_field *find_member(struct pxtu_field_parser *parser, const char *name)
{
	for (size_t i = parser->nr_members; i-- > 0;) {
		struct posixtrace_field *member = &parser->members[i];

		if (member->name && strcmp(member->name, name) == 0)
			return member;
	}
	return NULL;
}

int pxtu_field_length(struct pxtu_field_parser *parser, unsigned int *slot)
{
	struct pxtu_lexer *lexer = &parser->lexer;
	struct posixtrace_field *member = find_member(parser, lexer->value);

	if (!member)
		return pxtu_lexer_fail(lexer, lexer->start,
				       "a length must be an earlier field, which \"%s\" is not",
				       lexer->value);
	if (member->type != POSIXTRACE_FIELD_UNSIGNED && member->type != POSIXTRACE_FIELD_HEX)
		return pxtu_lexer_fail(lexer, lexer->start,
				       "a length must be an unsigned integer, which \"%s\" is not",
				       lexer->value);
	if (!member->__slot) {
		if (parser->nr_lengths == PXTU_FIELDS_LENGTHS)
			return pxtu_lexer_fail(lexer, lexer->start,
					       "more than %d fields are lengths of others",
					       PXTU_FIELDS_LENGTHS - 1);
		member->__slot = parser->nr_lengths++;
	}
	*slot = member->__slot;
	return 0;
}
