/* SPDX-License-Identifier: MIT */
/* Merges the records of the CPUs by time. */
#ifndef PXTU_MERGE_H
#define PXTU_MERGE_H

#include "stream/reader.h"

/**
 * pxtu_merge_first() - find the oldest record of all CPUs
 * @reader: the reader
 *
 * Return: the record, valid until the next call; NULL if there is no record.
 */
const struct pxtu_candidate *pxtu_merge_first(struct pxtu_reader *reader);

/**
 * pxtu_merge_take() - take the record that pxtu_merge_first() returned
 * @reader: the reader
 *
 * On success, data that the caller copied from the record before the call is valid.
 *
 * Return: false if the kernel had reclaimed the record, which then counts as lost.
 */
bool pxtu_merge_take(struct pxtu_reader *reader);

/**
 * pxtu_merge_take_runs() - take the records that were copied
 * @reader: the reader; the heap has the time of the next record of each CPU except the first one
 *
 * Return: true as pxtu_merge_take(); false if the kernel had reclaimed records of a CPU. Then no
 * records of this CPU and of the CPUs after it in the list were taken, and their runs are empty.
 */
bool pxtu_merge_take_runs(struct pxtu_reader *reader);

/**
 * pxtu_merge_end_runs() - forget the records that were copied
 * @reader: the reader
 */
void pxtu_merge_end_runs(struct pxtu_reader *reader);

/**
 * pxtu_merge_clear() - forget all records
 * @reader: the reader
 */
void pxtu_merge_clear(struct pxtu_reader *reader);

#endif /* PXTU_MERGE_H */
