/* SPDX-License-Identifier: MIT */
/* The account of lost events. */
#ifndef PXTU_GAP_H
#define PXTU_GAP_H

#include "stream/reader.h"

/**
 * pxtu_gap_is_noted() - are all losses until now noted?
 * @reader: the reader
 */
static inline bool pxtu_gap_is_noted(const struct pxtu_reader *reader)
{
	/* Pairs with the kernel's release when it has changed the account. */
	return pxtu_load_acquire(&reader->map.ctrl->gap_lock) == reader->gap_lock;
}

/**
 * pxtu_gap_has() - does an unread record count as lost?
 * @reader: the reader
 * @timestamp: of the record
 */
static inline bool pxtu_gap_has(const struct pxtu_reader *reader, __u64 timestamp)
{
	return timestamp <= reader->overwrite_watermark || timestamp <= reader->lost_until;
}

/**
 * pxtu_gap_note() - note all losses until now
 * @reader: the reader; its @overwrite_watermark is that of these losses
 *
 * Later losses have another generation.
 */
void pxtu_gap_note(struct pxtu_reader *reader);

/**
 * pxtu_gap_note_before() - note losses before a record that was taken
 * @reader: the reader
 * @timestamp: of the record
 *
 * Return: false if the record counts as lost, too.
 */
bool pxtu_gap_note_before(struct pxtu_reader *reader, __u64 timestamp);

/**
 * pxtu_gap_lost() - number of events lost until now
 * @reader: the reader
 *
 * The traced processes count a part of them.
 */
__u64 pxtu_gap_lost(const struct pxtu_reader *reader);

#endif /* PXTU_GAP_H */
