/* SPDX-License-Identifier: MIT */
/* Reads one sub-buffer. */
#ifndef PXTU_SUBBUF_H
#define PXTU_SUBBUF_H

#include "stream/reader.h"

/**
 * pxtu_subbuf_peek() - look at the oldest record of a CPU
 * @reader: the reader
 * @cpu: number of the CPU
 * @cand: result
 *
 * Releases sub-buffers that have been completely read.
 *
 * Return: false if there is no record.
 */
bool pxtu_subbuf_peek(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand);

/**
 * pxtu_subbuf_following() - look at the record after the one that was taken last
 * @reader: the reader
 * @cpu: number of its CPU; no call has looked at this CPU since
 * @cand: result
 *
 * Considers only records that the reader has already seen.
 *
 * Return: false if there is no such record.
 */
bool pxtu_subbuf_following(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand);

/**
 * pxtu_subbuf_is_quiet() - check if a CPU has still not recorded since it was found empty
 * @reader: the reader
 * @cpu: number of the CPU; the last pxtu_subbuf_peek() on it found no record
 *
 * Return: true if pxtu_subbuf_peek() would fail again.
 */
bool pxtu_subbuf_is_quiet(const struct pxtu_reader *reader, __u32 cpu);

/**
 * pxtu_subbuf_take() - take a record
 * @reader: the reader
 * @cand: from pxtu_subbuf_peek()
 *
 * On success, data that the caller copied from the record before the call is valid.
 *
 * Return: false if the kernel had reclaimed the record, which then counts as lost.
 */
bool pxtu_subbuf_take(struct pxtu_reader *reader, const struct pxtu_candidate *cand);

/**
 * pxtu_subbuf_take_run() - take a record and the ones that follow it in its sub-buffer
 * @reader: the reader
 * @cand: the first one, from pxtu_subbuf_peek() or pxtu_subbuf_following()
 * @run: all of them
 *
 * Return: as pxtu_subbuf_take(), for all of them together.
 */
bool pxtu_subbuf_take_run(struct pxtu_reader *reader, const struct pxtu_candidate *cand,
			  const struct pxtu_run *run);

#endif /* PXTU_SUBBUF_H */
