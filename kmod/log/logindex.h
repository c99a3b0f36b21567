/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOGINDEX_H
#define PXT_LOGINDEX_H

#include <linux/posixtrace_log.h>

/*
 * Maximum number of marks in the index; even. If there are more epochs, only every second, fourth,
 * ... epoch has a mark, so that any number of epochs is divided into 512 to 1024 parts.
 */
#define PXT_LOG_MARKS	1024

/* With fewer marks, a reader could skip hardly anything. */
#define PXT_LOG_MARKS_MIN	4

/**
 * struct pxt_logindex - where blocks of events are in a log
 *
 * Used by one task at a time.
 */
struct pxt_logindex {
	/** @mark: PXT_LOG_MARKS marks, and room for one of the newest block; constant */
	struct posixtrace_log_mark *mark;
	/** @newest: the newest block */
	struct posixtrace_log_mark newest;
	/** @epoch: epoch of the last block that could have a mark */
	u64 epoch;
	/** @count: number of marks */
	u32 count;
	/** @stride: one in this many epochs has a mark */
	u32 stride;
	/** @passed: epochs since @stride last changed, with a mark or without */
	u32 passed;
	/** @written: marks that are in the log */
	u32 written;
	/** @blocks: number of blocks with these marks */
	u32 blocks;
	/** @size: bytes of these blocks */
	u64 size;
	/** @end: offset of the end of these blocks; unused for LOOP */
	u64 end;
	/** @eventless: pxt_logwriter.eventless before these blocks */
	u64 eventless;
};

int pxt_logindex_init(struct pxt_logindex *index);
void pxt_logindex_destroy(struct pxt_logindex *index);
void pxt_logindex_clear(struct pxt_logindex *index);
void pxt_logindex_add(struct pxt_logindex *index, const struct posixtrace_log_block *block,
		      u64 offset, u32 nr_cpus, u64 oldest);
bool pxt_logindex_finish(struct pxt_logindex *index, u64 oldest);

#endif /* PXT_LOGINDEX_H */
