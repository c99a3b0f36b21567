/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the exporters have in common that write JSON.
 */
#ifndef POSIXTRACE_EXPORT_JSON_H
#define POSIXTRACE_EXPORT_JSON_H

#include "export.h"

/**
 * export_json_event() - an event as members of an object
 * @export: the log
 * @to: where to put them
 * @event: the event; of a begin, with what was kept of its data
 * @data_len: bytes of data it had
 * @html: as a part of HTML
 *
 * Puts its fields as "data" if their layout is known, else "text" or "bytes" if it has
 * data; and its address, and what is to be known about incomplete data. No braces around it.
 */
void export_json_event(struct export *export, struct buffer *to, const struct event *event,
		       size_t data_len, bool html);

#endif /* POSIXTRACE_EXPORT_JSON_H */
