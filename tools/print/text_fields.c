// SPDX-License-Identifier: GPL-2.0
/*
 * Writes event fields and descriptions as text: see text_fields.h.
 */
#include <string.h>

#include "print/text_fields.h"
#include "util/digits.h"
#include "util/escape.h"

#define TEXT_SHOWN	48	/* bytes of a text that are shown, unless @full */
#define LINE_SHOWN	256	/* bytes of all fields that are shown, approximately */

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

/* Appends the size of the data, instead of the fields that are left out. */
static void put_more(struct buffer *to, const struct event *event)
{
	buffer_printf(to, "... (%zu bytes)", event->len);
}

static char *put_unsigned(char *p, uint64_t number)
{
	size_t len;

	if (number < 10) {
		*p = (char)('0' + number);
		return p + 1;
	}
	len = digits_decimal_len(number);
	digits_decimal(p, number, len);
	return p + len;
}

static char *put_signed(char *p, uint64_t number)
{
	bool negative = (int64_t)number < 0;

	*p = '-';
	return put_unsigned(p + negative, negative ? -number : number);
}

static char *put_hex(char *p, uint64_t number)
{
	size_t len = digits_hexadecimal_len(number);

	memcpy(p, "0x0", 3);
	if (number)
		digits_hexadecimal(p + 2, number, len);
	return p + 2 + len;
}

static char *put_bool(char *p, bool value)
{
	memcpy(p, value ? "true " : "false", 5);
	return p + (value ? 4 : 5);
}

/* Returns where to append @count items, not counting texts and labels; NULL if out of memory. */
static char *room_for(struct buffer *to, size_t count)
{
	if (!buffer_has_room(to, count * (LAYOUT_LABEL + DIGITS_ROOM + 2)))
		return NULL;
	return (char *)to->data + to->len;
}

/*
 * Does the same as text_fields(), but without a walk through the description and with few checks: a
 * command that prints kernel events spends most of its time here.
 */
static void put_layout(struct buffer *to, const struct layout *layout, const struct event *event,
		       bool full)
{
	/* The first and the last item are the outermost struct, which has no brackets. */
	const struct layout_item *end = &layout->items[layout->count - 1];
	const struct layout_item *item = &layout->items[1];
	const size_t limit = to->len + (full ? TEXT_FIELDS_MAX : LINE_SHOWN);
	char *p = room_for(to, layout->count);
	struct posixtrace_value value;
	bool first = true;

	for (; p && item < end; item++) {
		if ((size_t)(p - (char *)to->data) > limit)
			break;
		if (item->kind != LAYOUT_END) {
			/*
			 * Copy a constant size, which is fast. The next item overwrites the excess
			 * bytes.
			 */
			memcpy(p, item->label + first, LAYOUT_LABEL - 1);
			p += item->label_len - first;
		}
		first = false;
		switch (item->kind) {
		case LAYOUT_UNSIGNED:
			p = put_unsigned(p, layout_plain_integer(item, event->data, event->len));
			break;
		case LAYOUT_SIGNED:
			p = put_signed(p, layout_plain_integer(item, event->data, event->len));
			break;
		case LAYOUT_HEX:
			p = put_hex(p, layout_plain_integer(item, event->data, event->len));
			break;
		case LAYOUT_BOOL:
			p = put_bool(p, layout_integer(item, event->data));
			break;
		case LAYOUT_BEGIN:
			*p++ = item->value.field->type == POSIXTRACE_FIELD_ARRAY ? '[' : '{';
			first = true;
			break;
		case LAYOUT_END:
			*p++ = item->value.field->type == POSIXTRACE_FIELD_ARRAY ? ']' : '}';
			break;
		case LAYOUT_OTHER:
			to->len = (size_t)(p - (char *)to->data);
			layout_value(item, event->data, event->len, &value);
			put_value(to, &value, full);
			p = room_for(to, (size_t)(end - item));
			break;
		}
	}
	if (!p)
		return;
	to->len = (size_t)(p - (char *)to->data);
	if (item < end)
		put_more(to, event);
}

void text_fields(struct buffer *to, const struct event *event, bool full)
{
	const struct layout *layout = event->description->layout;
	struct posixtrace_value value;
	size_t before = to->len;
	struct values values;
	bool array = false, first = true;

	if (layout && layout->has_labels && layout_fits(layout, event->len)) {
		put_layout(to, layout, event, full);
		return;
	}
	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		/* Do not put brackets around the outermost struct. */
		if (!values.depth || (value.what == POSIXTRACE_BEGIN && values.depth == 1))
			continue;
		if (to->len - before > (full ? TEXT_FIELDS_MAX : LINE_SHOWN)) {
			put_more(to, event);
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
	/* In a description, a backslash begins an escape, so do not double it. */
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
