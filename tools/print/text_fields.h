/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event fields and their descriptions as text for people.
 */
#ifndef POSIXTRACE_TEXT_FIELDS_H
#define POSIXTRACE_TEXT_FIELDS_H

#include "event/source.h"
#include "util/buffer.h"

/* Limit for the fields of an event as text or JSON. No sensible event exceeds it. */
#define TEXT_FIELDS_MAX	(16U << 20)

/**
 * text_fields() - append the fields of an event, such as: id=7 op=set latency=12 ns at={x=1 y=2}
 * @to: where to append
 * @event: an event for which event_has_fields() returned true
 * @full: append all fields, up to TEXT_FIELDS_MAX bytes; otherwise shorten them
 */
void text_fields(struct buffer *to, const struct event *event, bool full);

/**
 * text_description() - append the description of an event type, unless it is invalid
 * @to: where to append
 * @trid: trace id of a stream or log
 * @type: its event type
 *
 * Appends the shortest form of the description that can be parsed again.
 */
void text_description(struct buffer *to, trace_id_t trid, trace_event_id_t type);

#endif /* POSIXTRACE_TEXT_FIELDS_H */
