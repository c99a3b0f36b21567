// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: reading any description and any data neither crashes nor hangs. An error has a
 * position and a printable reason. The canonical text describes the same fields. All values lie
 * within the data, and every begin has an end.
 *
 * The input is the description, a null byte, and the data.
 */
#include <posixtrace/fields.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX	4095	/* bytes of a description */
#define LEVELS		8

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fields_fuzz: %s\n", what);
	abort();
}

static void check_error(const char *text, const struct posixtrace_fields_error *error)
{
	size_t len = strlen(text), line = 1, column = 1;

	check(error->offset <= len, "the place is behind the text");
	for (size_t i = 0; i < error->offset; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	check(error->line == line && error->column == column, "line or column is wrong");
	check(error->message[0], "no reason");
	check(!!memchr(error->message, '\0', sizeof(error->message)), "reason without end");
	for (const char *c = error->message; *c; c++)
		check(*c >= ' ' && *c <= '~', "the reason cannot be printed");
}

static int same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Compares two fields, and all below them. Returns the number of fields. */
static size_t compare(const struct posixtrace_field *a, const struct posixtrace_field *b,
		      unsigned int depth)
{
	size_t members = a->type == POSIXTRACE_FIELD_STRUCT ? a->count :
			 a->type == POSIXTRACE_FIELD_ARRAY, count = 1;

	check(depth <= LEVELS, "too many levels");
	check(a->type == b->type && a->size == b->size && a->count == b->count &&
	      a->is_signed == b->is_signed, "the canonical text has another meaning");
	check(same_text(a->name, b->name) && same_text(a->unit, b->unit), "another name");
	check(!a->length == !b->length, "another length");
	if (a->length)
		check(same_text(a->length->name, b->length->name), "another length field");
	for (size_t i = 0; a->labels && i < a->count; i++)
		check(a->labels[i].value == b->labels[i].value &&
		      same_text(a->labels[i].name, b->labels[i].name), "another label");
	for (size_t i = 0; i < members; i++)
		count += compare(&a->members[i], &b->members[i], depth + 1);
	return count;
}

static void check_canonical(const struct posixtrace_fields *fields)
{
	const char *text = posixtrace_fields_text(fields);
	struct posixtrace_fields_error error;
	struct posixtrace_fields *again;

	check(!posixtrace_fields_parse(text, &again, &error), "the canonical text is wrong");
	check(!strcmp(text, posixtrace_fields_text(again)), "not a fixed point");
	compare(posixtrace_fields_root(fields), posixtrace_fields_root(again), 0);
	posixtrace_fields_free(again);
}

static void check_value(const struct posixtrace_value *value, const unsigned char *data,
			size_t len)
{
	const unsigned char *at = value->data;

	check(value->field->type != POSIXTRACE_FIELD_PAD, "padding is no value");
	if (len)
		check(at >= data && at <= data + len, "a value outside of the data");
	if (value->what != POSIXTRACE_VALUE)
		return;
	check(value->size <= len && (!len || value->size <= (size_t)(data + len - at)),
	      "a value beyond the data");
	check(value->text_len <= value->size, "a text beyond its value");
}

static void walk_all(const struct posixtrace_fields *fields, const unsigned char *data, size_t len)
{
	struct posixtrace_value value;
	struct posixtrace_walk walk;
	size_t count = 0;
	int depth = 0, ret;

	posixtrace_fields_begin(&walk, fields, data, len);
	while ((ret = posixtrace_fields_next(&walk, &value)) == 1) {
		check_value(&value, data, len);
		depth += value.what == POSIXTRACE_BEGIN;
		depth -= value.what == POSIXTRACE_END;
		check(depth >= 0 && depth <= LEVELS, "levels do not match");
		check(++count <= 4096 + 16 * len, "too many values");
	}
	check(ret || !depth, "levels that have not ended");
	check(posixtrace_fields_next(&walk, &value) == ret, "something after the end");
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const unsigned char *end = size ? memchr(data, '\0', size) : NULL;
	struct posixtrace_fields_error error;
	struct posixtrace_fields *fields;
	size_t text_len, len;
	unsigned char *copy;
	char *text;
	int err;

	if (!end)
		return -1;
	text_len = (size_t)(end - data);
	len = size - text_len - 1;
	/* Use copies of exactly this size: the sanitizer notices any access beyond. */
	text = strdup((const char *)data);
	copy = malloc(len);
	if (len)
		memcpy(copy, end + 1, len);
	err = posixtrace_fields_parse(text, &fields, &error);
	if (err) {
		check_error(text, &error);
	} else {
		check(text_len <= TEXT_MAX, "a long description");
		free(text);
		text = NULL;
		check_canonical(fields);
		walk_all(fields, copy, len);
		posixtrace_fields_free(fields);
	}
	free(text);
	free(copy);
	return 0;
}
