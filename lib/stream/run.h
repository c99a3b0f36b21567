/* SPDX-License-Identifier: MIT */
/* Takes many records at once. */
#ifndef PXTU_RUN_H
#define PXTU_RUN_H

#include "stream/reader.h"

/**
 * pxtu_reader_run() - take many events at once
 * @reader: the reader
 * @events: where to write the events
 * @max_events: room there, at least 1
 * @place: where their data goes, aligned to 8 bytes; moved behind it
 *
 * Takes only events that pxtu_reader_next() would return one after the other, and that need no
 * other event to be reported first. When they are reported, call pxtu_reader_restart(). The series
 * ends as one of pxtu_reader_next().
 *
 * Return: number of events; 0 if pxtu_reader_next() has to look.
 */
size_t pxtu_reader_run(struct pxtu_reader *reader, struct posixtrace_batch_event *events,
		       size_t max_events, struct pxtu_place *place);

#endif /* PXTU_RUN_H */
