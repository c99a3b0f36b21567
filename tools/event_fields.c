// SPDX-License-Identifier: GPL-2.0
/*
 * Fields of the kernel's events: see event_fields.h.
 */
#include <string.h>
#include <trace.h>

#include "event_fields.h"

bool event_fields(const struct event *event, struct event_field *fields, size_t count)
{
	struct posixtrace_value value;
	struct values values;
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		fields[i].found = false;
	if (event->truncated != POSIX_TRACE_NOT_TRUNCATED || !event_has_fields(event, event->len))
		return false;
	values_begin(&values, event->description, event->data, event->len);
	while (found < count && values_next(&values, &value)) {
		if (value.what == POSIXTRACE_END || !value.field->name)
			continue;
		for (size_t i = 0; i < count; i++) {
			if (fields[i].found || strcmp(fields[i].name, value.field->name) != 0)
				continue;
			fields[i].value = value;
			fields[i].found = true;
			found++;
			break;
		}
	}
	return found == count;
}

bool event_field_is(const struct event_field *field, const char *label)
{
	return field->value.label && !strcmp(field->value.label, label);
}
