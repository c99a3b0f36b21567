/* SPDX-License-Identifier: MIT */
/* Blocks of a log: looks for one at an offset, and searches for the next one. */
#ifndef PXTU_LOGBLOCK_H
#define PXTU_LOGBLOCK_H

#include "log/log.h"

/* Result of a step from block to block. */
enum pxtu_log_step {
	PXTU_LOG_NOTHING,	/* no block now; there may be one later */
	PXTU_LOG_BLOCK,		/* a block; the payload is checked, except in EVENTS and KERNEL */
	PXTU_LOG_DAMAGE,	/* a damaged place; the next call continues after it */
};

/* Result of looking at an offset. */
enum pxtu_log_at {
	PXTU_LOG_AT_END,	/* not enough space for a block */
	PXTU_LOG_AT_BLOCK,	/* a block with a valid header */
	PXTU_LOG_AT_OTHER,	/* other data */
};

/**
 * pxtu_log_look() - look for a block at an offset
 * @log: the log
 * @offset: where to look
 * @limit: blocks must end at or before this offset
 * @block: result, if there is a block
 */
enum pxtu_log_at pxtu_log_look(struct pxtu_log *log, __u64 offset, __u64 limit,
			       struct pxtu_log_block *block);

/**
 * pxtu_log_search() - search for a block, starting at the offset of @walk
 * @log: the log
 * @walk: searching; its offset moves to the block, or to the end of the search
 * @limit: blocks must end at or before this offset
 * @last: largest number that the block can have
 * @block: result, if there is a block
 *
 * Return: false if there is no block.
 */
bool pxtu_log_search(struct pxtu_log *log, struct pxtu_log_walk *walk, __u64 limit, __u64 last,
		     struct pxtu_log_block *block);

/**
 * pxtu_log_step_over() - step over the expected block
 * @log: the log
 * @walk: moves to the end of the block
 * @block: the block
 */
enum pxtu_log_step pxtu_log_step_over(struct pxtu_log *log, struct pxtu_log_walk *walk,
				      struct pxtu_log_block *block);

/**
 * pxtu_log_walk_straight() - pxtu_log_walk() for consecutive blocks
 * @log: the log
 * @walk: position of the caller
 * @limit: blocks must end at or before this offset
 * @last: number of the last block
 * @block: result, if there is a block
 */
enum pxtu_log_step pxtu_log_walk_straight(struct pxtu_log *log, struct pxtu_log_walk *walk,
					  __u64 limit, __u64 last, struct pxtu_log_block *block);

#endif /* PXTU_LOGBLOCK_H */
