/* SPDX-License-Identifier: MIT */
/* The account of lost events. */
#ifndef PXTU_GAP_H
#define PXTU_GAP_H

#include "stream/reader.h"

/**
 * pxtu_gap_is_noted() - check if all losses so far have been noted
 * @reader: the reader
 */
static inline bool pxtu_gap_is_noted(const struct pxtu_reader *reader)
{
	/* Pairs with the release in the kernel's pxt_gap_end(). */
	return pxtu_load_acquire(&reader->map.ctrl->gap_lock) == reader->gap_lock;
}

/**
 * pxtu_gap_has() - check if an unread record counts as lost
 * @reader: the reader
 * @timestamp: time of the record
 */
static inline bool pxtu_gap_has(const struct pxtu_reader *reader, __u64 timestamp)
{
	return timestamp <= reader->overwrite_watermark || timestamp <= reader->lost_until;
}

/**
 * pxtu_gap_note() - note all losses so far
 * @reader: the reader; its @overwrite_watermark is updated
 *
 * Later losses belong to another generation.
 */
void pxtu_gap_note(struct pxtu_reader *reader);

/**
 * pxtu_gap_note_before() - note losses before a record that was taken
 * @reader: the reader
 * @timestamp: time of the record
 *
 * Return: false if the record also counts as lost.
 */
bool pxtu_gap_note_before(struct pxtu_reader *reader, __u64 timestamp);

/**
 * pxtu_gap_lost() - get the number of events lost so far
 * @reader: the reader
 *
 * Some of them are counted by the traced processes.
 */
__u64 pxtu_gap_lost(const struct pxtu_reader *reader);

#endif /* PXTU_GAP_H */
