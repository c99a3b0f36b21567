/* SPDX-License-Identifier: MIT */
/* Reads one sub-buffer. */
#ifndef PXTU_SUBBUF_H
#define PXTU_SUBBUF_H

#include "stream/reader.h"

/**
 * pxtu_subbuf_peek() - look at the oldest record of a CPU
 * @reader: the reader
 * @cpu: number of the CPU
 * @cand: where to write the record
 *
 * Returns sub-buffers that were read to their end to the kernel.
 *
 * Return: false if there is none.
 */
bool pxtu_subbuf_peek(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand);

/**
 * pxtu_subbuf_following() - look at the record behind the one that was taken last
 * @reader: the reader
 * @cpu: number of its CPU, at which the reader has not looked since
 * @cand: where to write the record
 *
 * Looks only at records that were visible before.
 *
 * Return: false if there is none.
 */
bool pxtu_subbuf_following(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand);

/**
 * pxtu_subbuf_is_quiet() - has a CPU recorded nothing since it was found empty?
 * @reader: the reader
 * @cpu: number of the CPU; the last call for it, of pxtu_subbuf_peek(), found nothing
 *
 * Return: true if pxtu_subbuf_peek() would find nothing again.
 */
bool pxtu_subbuf_is_quiet(const struct pxtu_reader *reader, __u32 cpu);

/**
 * pxtu_subbuf_take() - take a record
 * @reader: the reader
 * @cand: from pxtu_subbuf_peek()
 *
 * If this succeeds, the data that was copied from the record before is what was recorded.
 *
 * Return: false if the kernel reclaimed it before; then it counts as lost.
 */
bool pxtu_subbuf_take(struct pxtu_reader *reader, const struct pxtu_candidate *cand);

/**
 * pxtu_subbuf_take_run() - take a record and those that follow it in its sub-buffer
 * @reader: the reader
 * @cand: the first one, from pxtu_subbuf_peek() or pxtu_subbuf_following()
 * @run: all of them
 *
 * Return: as pxtu_subbuf_take(), for all of them.
 */
bool pxtu_subbuf_take_run(struct pxtu_reader *reader, const struct pxtu_candidate *cand,
			  const struct pxtu_run *run);

#endif /* PXTU_SUBBUF_H */
