/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields of the kernel's events, by their names.
 */
#ifndef POSIXTRACE_EVENT_FIELDS_H
#define POSIXTRACE_EVENT_FIELDS_H

#include "source.h"

/**
 * struct event_field - a field of the outermost struct
 * @name: its name
 * @value: its value; of an array, where it begins
 * @found: the event has it
 */
struct event_field {
	const char *name;
	struct posixtrace_value value;
	bool found;
};

/* event_is_kernel() - check whether the kernel has recorded an event about a thread */
static inline bool event_is_kernel(const struct event *event)
{
	return event->has_data && !event->user;
}

/**
 * event_fields() - find fields in the data of an event
 * @event: any event
 * @fields: the names to look for; gets the values
 * @count: number of @fields
 *
 * Return: true if the data are complete and have all of them.
 */
bool event_fields(const struct event *event, struct event_field *fields, size_t count);

/* event_field_is() - check whether a field has a value with a label */
bool event_field_is(const struct event_field *field, const char *label);

#endif /* POSIXTRACE_EVENT_FIELDS_H */
