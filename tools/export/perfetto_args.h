/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arguments of events in Perfetto's format: debug annotations of a TrackEvent.
 */
#ifndef POSIXTRACE_PERFETTO_ARGS_H
#define POSIXTRACE_PERFETTO_ARGS_H

#include "event/source.h"
#include "util/buffer.h"

/* perfetto_text() - append a text of any bytes as a field of a message */
void perfetto_text(struct buffer *bytes, unsigned int field, const void *text, size_t len);

/**
 * perfetto_args() - append an event as arguments
 * @bytes: where to append, in a message TrackEvent
 * @prefix: begin of the names of the arguments
 * @event: the event; for a begin of a pair, with the part of its data that was kept
 * @data_len: number of bytes of data that the event had
 *
 * Appends the fields if the type has a description that matches, otherwise the data as "text" or
 * "bytes". Structs become dictionaries.
 */
void perfetto_args(struct buffer *bytes, const char *prefix, const struct event *event,
		   size_t data_len);

/* perfetto_arg_number(), perfetto_arg_signed() - append an argument that is a number */
void perfetto_arg_number(struct buffer *bytes, const char *name, uint64_t value);
void perfetto_arg_signed(struct buffer *bytes, const char *name, int64_t value);

#endif /* POSIXTRACE_PERFETTO_ARGS_H */
