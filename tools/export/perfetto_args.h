/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event arguments in Perfetto's format: the debug annotations of a TrackEvent.
 */
#ifndef POSIXTRACE_PERFETTO_ARGS_H
#define POSIXTRACE_PERFETTO_ARGS_H

#include "event/event_names.h"
#include "event/source.h"
#include "export/perfetto_packets.h"
#include "util/buffer.h"

/* perfetto_text() - append a message field with text, which may contain any bytes */
void perfetto_text(struct buffer *bytes, unsigned int field, const void *text, size_t len);

#define PERFETTO_SHOWN	2

/**
 * struct perfetto_shown - values that are visible elsewhere, so that no argument repeats them
 * @fields: names of the fields to leave out, up to PERFETTO_SHOWN or NULL; all other fields must
 *	not have units
 * @nr_args: number of elements of an array that are used
 */
struct perfetto_shown {
	const char *fields[PERFETTO_SHOWN];
	unsigned int nr_args;
};

/**
 * perfetto_args() - append the data of an event as arguments
 * @packets: the trace, between packets_event() and packets_end()
 * @prefix: prefix for the names of the arguments
 * @event: the event; for the begin of a pair, with the part of its data that was kept
 * @data_len: number of bytes of data that the event originally had
 * @shown: values that other parts of the trace show, to be left out; or NULL
 *
 * Appends the fields if the description of the type matches, otherwise the data as "text" or
 * "bytes". Structs become dictionaries. For a kernel event, leaves out the thread, which its track
 * shows, and flags that are not set.
 */
void perfetto_args(struct packets *packets, const char *prefix, const struct event *event,
		   size_t data_len, const struct perfetto_shown *shown);

/* perfetto_label() - get the label of an event's thread, without the host */
void perfetto_label(const struct event *event, char label[LABEL_SIZE]);

/* perfetto_arg_number(), perfetto_arg_signed() - append a numeric argument */
void perfetto_arg_number(struct packets *packets, const char *name, uint64_t value);
void perfetto_arg_signed(struct packets *packets, const char *name, int64_t value);

#endif /* POSIXTRACE_PERFETTO_ARGS_H */
