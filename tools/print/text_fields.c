// SPDX-License-Identifier: GPL-2.0
/*
 * Writes event fields and descriptions as text: see text_fields.h.
 */
#include <string.h>

#include "print/text_fields.h"
#include "util/escape.h"

#define TEXT_SHOWN	48	/* bytes per text, unless @full */
#define LINE_SHOWN	256	/* bytes of all fields, approximately */

static void put_text(struct buffer *to, const void *text, size_t len, bool full)
{
	size_t shown = full || len < TEXT_SHOWN ? len : TEXT_SHOWN;

	escape_quoted(to, text, shown);
	if (shown < len)
		buffer_text(to, "...");
}

/* Quotes a label that could be mistaken for another kind of value. */
static void put_label(struct buffer *to, const char *label)
{
	static const char word[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t len = strlen(label);

	if (strspn(label, word) == len && (*label < '0' || *label > '9'))
		buffer_text(to, label);
	else
		escape_quoted(to, label, len);
}

static void put_value(struct buffer *to, const struct posixtrace_value *value, bool full)
{
	const struct posixtrace_field *field = value->field;

	if (value_is_text(value))
		put_text(to, value->data, value->text_len, full);
	else if (field->type == POSIXTRACE_FIELD_FLOAT)
		buffer_real(to, value->real, value->size);
	else if (field->type == POSIXTRACE_FIELD_BOOL)
		buffer_text(to, value->number ? "true" : "false");
	else if (field->type == POSIXTRACE_FIELD_HEX)
		buffer_integer(to, value->number, 16, "0x", 0);
	else if (value->label)
		put_label(to, value->label);
	else if (field->is_signed)
		buffer_signed(to, (int64_t)value->number);
	else
		buffer_integer(to, value->number, 10, "", 0);
	if (field->unit) {
		buffer_byte(to, ' ');
		escape_plain(to, field->unit, strlen(field->unit));
	}
}

void text_fields(struct buffer *to, const struct event *event, bool full)
{
	struct posixtrace_value value;
	size_t before = to->len;
	struct values values;
	bool array = false, first = true;

	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		/* Do not put brackets around the outermost struct. */
		if (!values.depth || (value.what == POSIXTRACE_BEGIN && values.depth == 1))
			continue;
		if (to->len - before > (full ? TEXT_FIELDS_MAX : LINE_SHOWN)) {
			buffer_printf(to, "... (%zu bytes)", event->len);
			return;
		}
		array = value.field->type == POSIXTRACE_FIELD_ARRAY;
		if (value.what == POSIXTRACE_END) {
			buffer_byte(to, array ? ']' : '}');
			first = false;
			continue;
		}
		if (!first)
			buffer_byte(to, value.field->name ? ' ' : ',');
		if (value.field->name) {
			buffer_text(to, value.field->name);
			buffer_byte(to, '=');
		}
		first = value.what == POSIXTRACE_BEGIN;
		if (first)
			buffer_byte(to, array ? '[' : '{');
		else
			put_value(to, &value, full);
	}
}

void text_description(struct buffer *to, trace_id_t trid, trace_event_id_t type)
{
	char text[POSIXTRACE_DESCRIPTION_MAX + 1];
	struct posixtrace_fields *fields;
	const char *at;

	if (posixtrace_eventid_get_description(trid, type, text, sizeof(text), NULL) ||
	    posixtrace_fields_parse(text, &fields, NULL))
		return;
	/* A backslash in a description is part of an escape: do not double it. */
	for (at = posixtrace_fields_text(fields); *at;) {
		size_t len = strcspn(at, "\\");

		escape_plain(to, at, len);
		at += len;
		if (*at) {
			buffer_byte(to, '\\');
			at++;
		}
	}
	posixtrace_fields_free(fields);
}
