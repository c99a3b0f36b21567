/* SPDX-License-Identifier: MIT */
/* The pieces of a compressed block. */
#ifndef PXTU_LOGPIECE_H
#define PXTU_LOGPIECE_H

#include "log/log.h"

/**
 * pxtu_piece_next() - unpack the next piece of the first block of a CPU
 * @log: the log
 * @cpu: the CPU; all records in its chunk have been read. The chunk becomes the next piece
 * @loaded: this is the first piece, and the block is in the scratch buffer
 * @good: result: false if there is no valid piece
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_piece_next(struct pxtu_log *log, struct pxtu_log_cpu *cpu, bool loaded, bool *good);

#endif /* PXTU_LOGPIECE_H */
