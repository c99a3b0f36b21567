// SPDX-License-Identifier: GPL-2.0
/*
 * Warns about format file definitions that do not match the events: see misfits.h.
 */
#include <errno.h>
#include <string.h>
#include <trace.h>

#include "event/misfits.h"
#include "util/message.h"

static bool log_has_type(trace_id_t trid, const char *event)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int none;

	if (posix_trace_eventtypelist_rewind(trid))
		return false;
	while (!posix_trace_eventtypelist_getnext_id(trid, &type, &none) && !none) {
		if (type >= POSIX_TRACE_UNNAMED_USEREVENT &&
		    !posix_trace_eventid_get_name(trid, type, name) && !strcmp(name, event))
			return true;
	}
	return false;
}

static bool has_type(const struct source *source, const char *event)
{
	for (size_t i = 0; i < source_logs(source); i++) {
		if (log_has_type(source_log_trid(source, i), event))
			return true;
	}
	return false;
}

void misfits_warn(const struct formats *formats, const struct source *source)
{
	for (size_t i = 0; formats && i < formats->nr_formats; i++) {
		const struct format *format = &formats->formats[i];
		struct buffer text = { };

		buffer_printf(&text, "%s: ", format->event);
		if (format->description->misfit)
			description_misfit(format->description, &text);
		else if (!has_type(source, format->event))
			buffer_printf(&text, "the %s has no such user event type",
				      source_is_log(source) ? "log" : "process");
		else
			buffer_reset(&text);
		if (text.failed)
			complain(formats->path, ENOMEM);
		else if (text.len)
			tell("%s:%u: %.*s", formats->path, format->line, (int)text.len,
			     (const char *)text.data);
		buffer_free(&text);
	}
}
