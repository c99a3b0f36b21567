// SPDX-License-Identifier: GPL-2.0
/*
 * Writes event fields as JSON: see json_fields.h.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "print/json_fields.h"
#include "util/escape.h"

#define EXACT_MAX	((1ULL << 53) - 1)	/* readers round larger integers */

static void put_string(struct buffer *to, const char *text, bool html)
{
	escape_string(to, text, strlen(text), html);
}

void json_number(struct buffer *to, uint64_t value, bool negative)
{
	const char *quote = value <= EXACT_MAX ? "" : "\"";

	buffer_text(to, quote);
	buffer_integer(to, value, 10, negative ? "-" : "", 0);
	buffer_text(to, quote);
}

static void put_integer(struct buffer *to, const struct posixtrace_value *value)
{
	bool negative = value->field->is_signed && (int64_t)value->number < 0;

	json_number(to, negative ? -value->number : value->number, negative);
}

static void put_real(struct buffer *to, const struct posixtrace_value *value)
{
	/* JSON does not support infinity and NaN. */
	const char *quote = isfinite(value->real) ? "" : "\"";

	buffer_text(to, quote);
	buffer_real(to, value->real, value->size);
	buffer_text(to, quote);
}

static void put_value(struct buffer *to, const struct posixtrace_value *value, bool html)
{
	switch (value->field->type) {
	case POSIXTRACE_FIELD_HEX:
		buffer_printf(to, "\"0x%" PRIx64 "\"", value->number);
		break;
	case POSIXTRACE_FIELD_FLOAT:
		put_real(to, value);
		break;
	case POSIXTRACE_FIELD_BOOL:
		buffer_text(to, value->number ? "true" : "false");
		break;
	case POSIXTRACE_FIELD_CHARS:
	case POSIXTRACE_FIELD_STRING:
	case POSIXTRACE_FIELD_TEXT:
		escape_string(to, value->data, value->text_len, html);
		break;
	default:
		if (value->label)
			put_string(to, value->label, html);
		else
			put_integer(to, value);
	}
}

/* Appends a comma unless the value is the first in its object or array. */
static void put_separator(struct buffer *to)
{
	unsigned char last = to->len ? to->data[to->len - 1] : 0;

	if (last != '{' && last != '[' && last != ':')
		buffer_byte(to, ',');
}

static void put_units(struct buffer *to, const struct description *description, bool html)
{
	if (!description->nr_units)
		return;
	buffer_text(to, ",\"units\":{");
	for (size_t i = 0; i < description->nr_units; i++) {
		put_separator(to);
		put_string(to, description->units[i].path, html);
		buffer_byte(to, ':');
		put_string(to, description->units[i].unit, html);
	}
	buffer_byte(to, '}');
}

bool json_values(struct buffer *to, const struct event *event, bool html)
{
	struct posixtrace_value value;
	const size_t before = to->len;
	struct values values;
	bool array;

	values_begin(&values, event->description, event->data, event->len);
	while (values_next(&values, &value)) {
		if (to->len - before > TEXT_FIELDS_MAX) {
			to->len = before;
			return false;
		}
		array = value.field->type == POSIXTRACE_FIELD_ARRAY;
		if (value.what == POSIXTRACE_END) {
			buffer_byte(to, array ? ']' : '}');
			continue;
		}
		if (to->len > before)
			put_separator(to);
		if (value.field->name)
			buffer_printf(to, "\"%s\":", value.field->name);
		if (value.what == POSIXTRACE_BEGIN)
			buffer_byte(to, array ? '[' : '{');
		else
			put_value(to, &value, html);
	}
	return true;
}

bool json_fields(struct buffer *to, const struct event *event, bool html)
{
	const size_t before = to->len;

	buffer_text(to, "\"fields\":");
	if (!json_values(to, event, html)) {
		to->len = before;
		return false;
	}
	put_units(to, event->description, html);
	if (event->description->counter)
		buffer_text(to, ",\"counter\":true");
	return true;
}
