/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields of events as JSON.
 */
#ifndef POSIXTRACE_JSON_FIELDS_H
#define POSIXTRACE_JSON_FIELDS_H

#include "buffer.h"
#include "source.h"

/**
 * json_fields() - append the fields of an event, as members of an object
 * @to: where to append
 * @event: an event for which event_has_fields() returned true
 * @html: @to becomes part of an HTML page
 *
 * Appends "fields":{...}. If fields have units, appends a comma and "units":{...}. If the type is a
 * counter, appends a comma and "counter":true.
 */
void json_fields(struct buffer *to, const struct event *event, bool html);

#endif /* POSIXTRACE_JSON_FIELDS_H */
