// SPDX-License-Identifier: GPL-2.0
/*
 * Writes events as JSON: see export_json.h.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "escape.h"
#include "export_json.h"

#define EXACT_MAX	((1ULL << 53) - 1)	/* readers round larger integers */

static void put_name(struct buffer *to, const char *name)
{
	if (to->len && to->data[to->len - 1] != '{')
		buffer_byte(to, ',');
	buffer_printf(to, "\"%s\":", name);
}

static void put_unsigned(struct buffer *to, uint64_t value)
{
	buffer_printf(to, value > EXACT_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
}

static void put_signed(struct buffer *to, int64_t value)
{
	bool exact = value <= (int64_t)EXACT_MAX && value >= -(int64_t)EXACT_MAX;

	buffer_printf(to, exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

static void put_float(struct buffer *to, double value)
{
	/* JSON has neither infinity nor NaN. */
	buffer_printf(to, isfinite(value) ? "%.17g" : "\"%g\"", value);
}

static void put_fields(struct buffer *to, const struct layout *layout,
		       const struct event *event, bool html)
{
	const unsigned char *data = event->data;
	struct layout_value value;

	buffer_text(to, "\"data\":{");
	for (size_t i = 0; i < layout->nr_fields; i++, data += value.size) {
		layout_value(layout, i, data, event->data + event->len - data, &value);
		if (value.field->type == LAYOUT_PAD)
			continue;
		put_name(to, value.field->name);
		switch (value.field->type) {
		case LAYOUT_UNSIGNED:
			put_unsigned(to, layout_unsigned(&value));
			break;
		case LAYOUT_SIGNED:
			put_signed(to, layout_signed(&value));
			break;
		case LAYOUT_HEX:
			buffer_printf(to, "\"%#" PRIx64 "\"", layout_unsigned(&value));
			break;
		case LAYOUT_FLOAT:
			put_float(to, layout_float(&value));
			break;
		default:
			escape_string(to, value.data, value.len, html);
			break;
		}
	}
	buffer_byte(to, '}');
}

/* Text may include its terminating null byte. */
static void put_data(struct buffer *to, const struct event *event, bool html)
{
	size_t len = event->len < EXPORT_DATA_MAX ? event->len : EXPORT_DATA_MAX;
	size_t text_len = len && !event->data[len - 1] ? len - 1 : len;

	if (!len)
		return;
	if (escape_is_text(event->data, text_len)) {
		put_name(to, "text");
		escape_string(to, event->data, text_len, html);
	} else {
		put_name(to, "bytes");
		buffer_byte(to, '"');
		escape_hex(to, event->data, len);
		buffer_byte(to, '"');
	}
}

void export_json_event(struct export *export, struct buffer *to, const struct event *event,
		       size_t data_len, bool html)
{
	const struct layout *layout = NULL;

	/* The data of the standard's system events are not shown. */
	if (event->has_data) {
		if (event->len == data_len)
			layout = export_layout(export, event);
		if (layout)
			put_fields(to, layout, event, html);
		else
			put_data(to, event, html);
		if (!layout && (data_len > event->len || event->len > EXPORT_DATA_MAX)) {
			put_name(to, "data_len");
			buffer_printf(to, "%zu", data_len);
		}
	}
	if (event->truncated != POSIX_TRACE_NOT_TRUNCATED) {
		put_name(to, "truncated");
		buffer_text(to, "true");
	}
	if (event->address) {
		put_name(to, "address");
		buffer_printf(to, "\"%#" PRIx64 "\"", event->address);
	}
	if (event->cpu != SOURCE_NO_CPU) {
		put_name(to, "cpu");
		buffer_printf(to, "%u", event->cpu);
	}
}
