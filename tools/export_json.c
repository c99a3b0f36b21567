// SPDX-License-Identifier: GPL-2.0
/*
 * Writes events as JSON: see export_json.h.
 */
#include <inttypes.h>
#include <string.h>

#include "escape.h"
#include "export_json.h"
#include "json_fields.h"

static void put_name(struct buffer *to, const char *name)
{
	if (to->len && to->data[to->len - 1] != '{')
		buffer_byte(to, ',');
	buffer_printf(to, "\"%s\":", name);
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

void export_json_event(struct buffer *to, const struct event *event, size_t data_len, bool html)
{
	bool fields = event_has_fields(event, data_len);

	if (fields)
		json_fields(to, event, html);
	else if (event->has_data)	/* Not those of the standard's system events. */
		put_data(to, event, html);
	if (event->has_data &&
	    (data_len > event->len || (!fields && event->len > EXPORT_DATA_MAX))) {
		put_name(to, "data_len");
		buffer_printf(to, "%zu", data_len);
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
