// SPDX-License-Identifier: MIT
/*
 * Descriptions of the fields of events: memory management. See <posixtrace/fields.h>.
 */
#include <stdlib.h>
#include <string.h>

#include "fields/fields.h"

/* Upper bounds for the contents of a description. */
struct counts {
	size_t fields;
	size_t labels;
};

static struct counts count_tokens(const char *text, size_t len)
{
	struct pxtu_lexer lexer = { .text = text, .len = len };
	size_t members = 0, arrays = 0, labels = 0;

	while (!pxtu_lexer_next(&lexer) && lexer.token != PXTU_TOKEN_END) {
		/* In a struct, there may be padding before each member and each end. */
		members += pxtu_lexer_is(&lexer, ";") ? 2 : pxtu_lexer_is(&lexer, "}");
		arrays += pxtu_lexer_is(&lexer, "[");
		/* A label follows a comma, or the bracket of its enumeration. */
		labels += pxtu_lexer_is(&lexer, ",") || pxtu_lexer_is(&lexer, "{");
	}
	if (members > PXTU_FIELDS_MEMBERS)
		members = PXTU_FIELDS_MEMBERS;
	return (struct counts){ .fields = members + arrays, .labels = labels };
}

static struct posixtrace_fields *allocate(const char *text, size_t len)
{
	struct counts counts = count_tokens(text, len);
	struct posixtrace_fields *fields;

	/* All names together are at most as long as the text, and so is the canonical text. */
	fields = calloc(1, sizeof(*fields) + counts.fields * sizeof(*fields->fields) +
			counts.labels * sizeof(*fields->labels) + 2 * (len + 1));
	if (!fields)
		return NULL;
	fields->fields = (struct posixtrace_field *)(fields + 1);
	fields->labels = (struct posixtrace_label *)(fields->fields + counts.fields);
	fields->strings = (char *)(fields->labels + counts.labels);
	fields->text = fields->strings + len + 1;
	return fields;
}

static int parse(const char *text, size_t len, struct posixtrace_fields **fields,
		 struct posixtrace_fields_error *error)
{
	struct pxtu_field_parser *parser = calloc(1, sizeof(*parser));
	int err = -ENOMEM;

	if (!parser)
		return err;
	parser->fields = allocate(text, len);
	if (parser->fields) {
		parser->nr_lengths = 1;
		parser->lexer = (struct pxtu_lexer){
			.text = text,
			.len = len,
			.canonical = parser->fields->text,
			.error = error,
		};
		err = pxtu_field_parse(parser);
	}
	if (err)
		free(parser->fields);
	else
		*fields = parser->fields;
	free(parser);
	return err;
}

/**
 * posixtrace_fields_parse() - read a description of fields
 * @description: the text, which may come from any process
 * @fields: result
 * @error: result for EINVAL, or NULL
 *
 * Return: 0; EINVAL if the description is wrong; ENOMEM.
 */
PXTU_API int posixtrace_fields_parse(const char *description, struct posixtrace_fields **fields,
				     struct posixtrace_fields_error *error)
{
	struct pxtu_lexer lexer = { .text = description, .error = error };
	size_t len;

	if (error)
		memset(error, 0, sizeof(*error));
	if (!description || !fields)
		return EINVAL;
	len = strnlen(description, PXTU_FIELDS_TEXT);
	if (len == PXTU_FIELDS_TEXT) {
		pxtu_lexer_fail(&lexer, len - 1, "the description has more than %d bytes",
				PXTU_FIELDS_TEXT - 1);
		return EINVAL;
	}
	return -parse(description, len, fields, error);
}

/**
 * posixtrace_fields_root() - get the outermost struct
 * @fields: from posixtrace_fields_parse()
 *
 * Return: the struct, valid as long as @fields.
 */
PXTU_API const struct posixtrace_field *
posixtrace_fields_root(const struct posixtrace_fields *fields)
{
	return &fields->root;
}

/**
 * posixtrace_fields_text() - get the description in its shortest form
 * @fields: from posixtrace_fields_parse()
 *
 * Return: the text, valid as long as @fields.
 */
PXTU_API const char *posixtrace_fields_text(const struct posixtrace_fields *fields)
{
	return fields->text;
}

/**
 * posixtrace_fields_free() - free a description
 * @fields: from posixtrace_fields_parse(), or NULL
 */
PXTU_API void posixtrace_fields_free(struct posixtrace_fields *fields)
{
	free(fields);
}
