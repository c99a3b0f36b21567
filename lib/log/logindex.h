/* SPDX-License-Identifier: MIT */
/* The index of the blocks of two epochs. */
#ifndef PXTU_LOGINDEX_H
#define PXTU_LOGINDEX_H

#include "log/log.h"

/**
 * pxtu_index_init() - allocate the lists and the heap
 * @log: with its header read
 *
 * Return: 0 or -ENOMEM.
 */
int pxtu_index_init(struct pxtu_log *log);

/**
 * pxtu_index_destroy() - free the index
 * @log: initialized, or zero
 */
void pxtu_index_destroy(struct pxtu_log *log);

/**
 * pxtu_index_start() - restart the index at the oldest event
 * @log: the log
 */
void pxtu_index_start(struct pxtu_log *log);

/**
 * pxtu_index_seek() - skip blocks with events that are older than a time
 * @log: just started
 * @time: ns since the Epoch
 */
void pxtu_index_seek(struct pxtu_log *log, __u64 time);

/**
 * pxtu_index_fill() - index all blocks that may contain the next event
 * @log: the log
 *
 * Return: 0; -ENOMEM, then no event is lost; -ESHUTDOWN if the program closed our
 * descriptor.
 */
int pxtu_index_fill(struct pxtu_log *log);

/**
 * pxtu_index_fix() - reorder the heap after its first CPU has changed
 * @index: the index; this CPU has a later time now, or has no block left
 */
void pxtu_index_fix(struct pxtu_log_index *index);

/**
 * pxtu_index_pop() - remove the first block of a CPU, which has been completely read
 * @log: the log
 * @cpu: the CPU; the caller then calls pxtu_index_fix()
 */
void pxtu_index_pop(struct pxtu_log *log, struct pxtu_log_cpu *cpu);

/**
 * pxtu_index_put_back() - remove the first block of a CPU, to look for it again later
 * @log: a LOOP log
 * @cpu: the CPU; its first block is the last block found in the log. The caller then
 *	calls pxtu_index_fix()
 */
void pxtu_index_put_back(struct pxtu_log *log, struct pxtu_log_cpu *cpu);

#endif /* PXTU_LOGINDEX_H */
