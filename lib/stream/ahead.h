/* SPDX-License-Identifier: MIT */
/* Reads ahead for a program that takes events one by one. */
#ifndef PXTU_AHEAD_H
#define PXTU_AHEAD_H

#include "stream/reader.h"

static inline bool pxtu_ahead_is_empty(const struct pxtu_reader *reader)
{
	return reader->ahead.next == reader->ahead.count;
}

/* Take the first of the events that were read ahead. */
static inline const struct posixtrace_batch_event *pxtu_ahead_first(struct pxtu_reader *reader)
{
	const struct posixtrace_batch_event *event = &reader->ahead.event[reader->ahead.next++];
	const __u64 timestamp = pxtu_batch_time(event);

	if (timestamp > reader->youngest)
		reader->youngest = timestamp;
	reader->read++;
	return event;
}

/**
 * pxtu_ahead_take() - take the next event if it was read ahead, unless it is the last one
 * @reader: the reader
 *
 * pxtu_reader_settle() is not needed, because another event remains.
 *
 * Return: the event, valid until the next call; NULL: call pxtu_ahead_next().
 */
static inline const struct posixtrace_batch_event *pxtu_ahead_take(struct pxtu_reader *reader)
{
	/* An event that was put back takes precedence. */
	if (reader->queue.next < reader->queue.count ||
	    reader->ahead.next + 1 >= reader->ahead.count)
		return NULL;
	return pxtu_ahead_first(reader);
}

/**
 * pxtu_ahead_next() - take the next event, and read more ahead if needed
 * @reader: the reader
 *
 * Return: the event, valid until the next call; NULL: call pxtu_reader_next().
 */
const struct posixtrace_batch_event *pxtu_ahead_next(struct pxtu_reader *reader);

#endif /* PXTU_AHEAD_H */
