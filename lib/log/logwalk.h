/* SPDX-License-Identifier: MIT */
/* Walks from block to block in each kind of log. */
#ifndef PXTU_LOGWALK_H
#define PXTU_LOGWALK_H

#include "log/logblock.h"

/**
 * pxtu_log_walk() - go to the next block
 * @log: the log
 * @walk: position of the caller
 * @block: the block. After PXTU_LOG_DAMAGE it is set if the header is good but the payload
 *	is not
 *
 * Whatever the file contains, a walk ends in a time proportional to the real size of the
 * file.
 */
enum pxtu_log_step pxtu_log_walk(struct pxtu_log *log, struct pxtu_log_walk *walk,
				 struct pxtu_log_block *block);

/**
 * pxtu_log_walk_start() - set a walk to the first block
 * @log: the log
 * @walk: to be set
 */
void pxtu_log_walk_start(struct pxtu_log *log, struct pxtu_log_walk *walk);

#endif /* PXTU_LOGWALK_H */
