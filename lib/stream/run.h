/* SPDX-License-Identifier: MIT */
/* Takes many records together. */
#ifndef PXTU_RUN_H
#define PXTU_RUN_H

#include "stream/reader.h"

/**
 * pxtu_reader_run() - take many events together
 * @reader: the reader
 * @events: array for the events
 * @max_events: room there, at least 1
 * @place: buffer for their data, aligned to 8 bytes; advanced past the data
 *
 * Takes only events that successive calls of pxtu_reader_next() would return, and only if no other
 * event has to be reported first. After reporting them, call pxtu_reader_restart(). End the series
 * with pxtu_reader_settle(), as for pxtu_reader_next().
 *
 * Return: number of events; 0: call pxtu_reader_next().
 */
size_t pxtu_reader_run(struct pxtu_reader *reader, struct posixtrace_batch_event *events,
		       size_t max_events, struct pxtu_place *place);

#endif /* PXTU_RUN_H */
