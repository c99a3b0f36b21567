/* SPDX-License-Identifier: MIT */
/* Merges the records of the CPUs by time. */
#ifndef PXTU_MERGE_H
#define PXTU_MERGE_H

#include "stream/reader.h"

/**
 * pxtu_merge_first() - find the oldest record of all CPUs
 * @reader: the reader
 *
 * Return: the record, valid until the next call; NULL if there is none.
 */
const struct pxtu_candidate *pxtu_merge_first(struct pxtu_reader *reader);

/**
 * pxtu_merge_take() - take that record
 * @reader: the reader
 *
 * If this succeeds, the data that was copied from the record before is what was recorded.
 *
 * Return: false if the kernel reclaimed it before; then it counts as lost.
 */
bool pxtu_merge_take(struct pxtu_reader *reader);

/**
 * pxtu_merge_take_runs() - take the records that were copied
 * @reader: the reader; the heap has the time of the next record of each CPU, but for the first one
 *
 * Return: true as pxtu_merge_take(); false if the kernel reclaimed those of some CPU before: then
 * none were taken of that CPU and those behind it in the list. Their runs have no records any more.
 */
bool pxtu_merge_take_runs(struct pxtu_reader *reader);

/**
 * pxtu_merge_end_runs() - forget which records were copied
 * @reader: the reader
 */
void pxtu_merge_end_runs(struct pxtu_reader *reader);

/**
 * pxtu_merge_clear() - forget all records
 * @reader: the reader
 */
void pxtu_merge_clear(struct pxtu_reader *reader);

#endif /* PXTU_MERGE_H */
