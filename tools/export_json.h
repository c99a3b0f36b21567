/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the exporters to JSON share.
 */
#ifndef POSIXTRACE_EXPORT_JSON_H
#define POSIXTRACE_EXPORT_JSON_H

#include "export.h"

/**
 * export_json_event() - append an event as members of an object
 * @to: where to append
 * @event: the event; for a begin of a pair, with the part of its data that was kept
 * @data_len: number of bytes of data that the event had
 * @html: @to becomes part of an HTML page
 *
 * Appends the fields as "fields" if the type has a description that matches, otherwise the data, if
 * any, as "text" or "bytes". Adds the address and marks incomplete data. Adds no braces.
 */
void export_json_event(struct buffer *to, const struct event *event, size_t data_len, bool html);

#endif /* POSIXTRACE_EXPORT_JSON_H */
