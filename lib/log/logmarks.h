/* SPDX-License-Identifier: MIT */
/* Marks: where blocks of events are, at most one for each epoch, to find a time. */
#ifndef PXTU_LOGMARKS_H
#define PXTU_LOGMARKS_H

#include "log/logblock.h"

/**
 * pxtu_marks_add() - mark a block if it is the first one with events in its epoch
 * @log: the log
 * @block: a block; blocks of a log come in order
 *
 * If there are too many epochs, only every second, fourth, ... has a mark.
 *
 * Return: 0; -ENOMEM.
 */
int pxtu_marks_add(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_marks_load() - take the marks of a block of the index
 * @log: the log
 * @block: a block of type INDEX, with a good payload
 *
 * Return: 0; -ENOMEM; -EBADMSG if they cannot be marks of this log.
 */
int pxtu_marks_load(struct pxtu_log *log, const struct pxtu_log_block *block);

/**
 * pxtu_marks_forget() - forget all marks
 * @log: the log
 */
void pxtu_marks_forget(struct pxtu_log *log);

/**
 * pxtu_marks_find() - find the place to read from
 * @log: the log
 * @time: ns since the Epoch; all records before the place are older
 * @block: result: the block before the place
 *
 * Trusts the headers of two blocks, but not the marks. The records of an epoch are older than the
 * records two epochs later.
 *
 * Return: true if there is such a place.
 */
bool pxtu_marks_find(struct pxtu_log *log, __u64 time, struct pxtu_log_block *block);

#endif /* PXTU_LOGMARKS_H */
