// SPDX-License-Identifier: MIT
/*
 * Walks from block to block, in each kind of log: consecutive blocks (logblock.c), or the
 * ring of a LOOP log (logring.c).
 */
#include "log/log.h"
#include "log/logblock.h"
#include "log/logring.h"
#include "log/logwalk.h"

enum pxtu_log_step pxtu_log_walk(struct pxtu_log *log, struct pxtu_log_walk *walk,
				 struct pxtu_log_block *block)
{
	if (log->head.ring_end)
		return pxtu_ring_walk(log, walk, block);
	return pxtu_log_walk_straight(log, walk, INT64_MAX, ~0ULL, block);
}

void pxtu_log_walk_start(struct pxtu_log *log, struct pxtu_log_walk *walk)
{
	*walk = (struct pxtu_log_walk){
		.offset = log->head.begin,
		.seq = 1,
		.budget = PXTU_LOG_BUDGET_MAX,
	};
	if (log->head.ring_end)
		pxtu_ring_start(log, walk);
}
