/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields of events as JSON.
 */
#ifndef POSIXTRACE_JSON_FIELDS_H
#define POSIXTRACE_JSON_FIELDS_H

#include "event/source.h"
#include "print/text_fields.h"
#include "util/buffer.h"

/**
 * json_number() - append an integer; as a string if JSON readers, which use doubles, would round it
 * @to: where to append
 * @value: its absolute value
 * @negative: it is negative
 */
void json_number(struct buffer *to, uint64_t value, bool negative);

/**
 * json_values() - append the fields of an event as an object
 * @to: where to append
 * @event: an event for which event_has_fields() returned true
 * @html: @to becomes part of an HTML page
 *
 * Return: as for json_fields().
 */
bool json_values(struct buffer *to, const struct event *event, bool html);

/**
 * json_fields() - append the fields of an event as members of an object
 * @to: where to append
 * @event: an event for which event_has_fields() returned true
 * @html: @to becomes part of an HTML page
 *
 * Appends "fields":{...}. If fields have units, also appends a comma and "units":{...}. If the type
 * is a counter, also appends a comma and "counter":true.
 *
 * Return: true; false without appending if the result would exceed TEXT_FIELDS_MAX bytes: a forged
 *	description can repeat long names for each byte of the data.
 */
bool json_fields(struct buffer *to, const struct event *event, bool html);

#endif /* POSIXTRACE_JSON_FIELDS_H */
