// SPDX-License-Identifier: MIT
/*
 * Surveys a complete log without the headers of its blocks of events. The status and the index are
 * at the end, and each block has the offset of the last block without events before it. The blocks
 * that are found this way are checked like all others. If one is invalid, pxtu_log_survey() reads
 * the whole log.
 */
#include <stdlib.h>

#include "log/log.h"
#include "log/logblock.h"
#include "log/logbrief.h"
#include "log/loghead.h"
#include "log/logmarks.h"
#include "log/logsurvey.h"

/* Read all headers if there are more blocks without events: the log is forged or very large. */
#define CHAIN_MAX	(1U << 18)

/* The blocks without events, the last one first. */
struct chain {
	__u64 *offset;
	size_t count;
	size_t room;
};

static bool has_events(const struct pxtu_log_block *block)
{
	return block->head.type == POSIXTRACE_LOG_EVENTS ||
	       block->head.type == POSIXTRACE_LOG_KERNEL;
}

static int chain_add(struct chain *chain, __u64 offset)
{
	const size_t room = chain->room ? 2 * chain->room : 64;
	__u64 *more;

	if (chain->count == chain->room) {
		more = realloc(chain->offset, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		chain->offset = more;
		chain->room = room;
	}
	chain->offset[chain->count++] = offset;
	return 0;
}

/* Go back from @block to the last block without events before it. */
static bool look_back(struct pxtu_log *log, struct pxtu_log_block *block)
{
	const struct pxtu_log_block later = *block;
	const __u64 offset = later.head.metadata;

	return offset % POSIXTRACE_LOG_ALIGN == 0 && offset >= log->head.begin &&
	       pxtu_log_look(log, offset, later.offset, block) == PXTU_LOG_AT_BLOCK &&
	       block->head.seq < later.head.seq && !has_events(block) &&
	       block->head.type != POSIXTRACE_LOG_RESET && block->head.type != POSIXTRACE_LOG_END;
}

/* Find the blocks without events, from END back. Returns -ENOENT if the chain is broken. */
static int find_chain(struct pxtu_log *log, const struct pxtu_log_block *end, struct chain *chain)
{
	struct pxtu_log_block block = *end;
	int err = 0;

	while (!err && block.head.metadata) {
		if (chain->count == CHAIN_MAX || !look_back(log, &block))
			return -ENOENT;
		/* The index is right before END. */
		if (!chain->count && (block.head.type != POSIXTRACE_LOG_INDEX ||
				      block.offset + pxtu_log_block_bytes(log, &block) !=
				      end->offset))
			return -ENOENT;
		err = chain_add(chain, block.offset);
	}
	return err || chain->count ? err : -ENOENT;
}

/* Survey the block at @offset as a walk over all blocks would. */
static int survey_at(struct pxtu_log *log, __u64 offset)
{
	struct pxtu_log_walk walk = { 0 };
	struct pxtu_log_block block;
	enum pxtu_log_step step;
	int err;

	if (pxtu_log_look(log, offset, INT64_MAX, &block) != PXTU_LOG_AT_BLOCK)
		return -ENOENT;
	step = pxtu_log_step_over(log, &walk, &block);
	err = pxtu_log_failed(log);
	if (err)
		return err;
	if (step != PXTU_LOG_BLOCK)
		return -ENOENT;
	return block.head.type == POSIXTRACE_LOG_INDEX ? pxtu_marks_load(log, &block) :
							 pxtu_log_survey_block(log, step, &block);
}

/* Find END at the end of the file. */
static bool find_end(struct pxtu_log *log, struct pxtu_log_block *end)
{
	const __u64 size = log->head.block_size + sizeof(struct posixtrace_log_end);

	/* Update the size of the file. */
	pxtu_log_reaches(log, INT64_MAX);
	if (log->size < log->head.begin + size || log->size % POSIXTRACE_LOG_ALIGN)
		return false;
	return pxtu_log_look(log, log->size - size, log->size, end) == PXTU_LOG_AT_BLOCK &&
	       end->head.type == POSIXTRACE_LOG_END &&
	       end->head.size == sizeof(struct posixtrace_log_end);
}

/* Returns -ENOENT if the log has no index, or if the index or a block is invalid. */
static int survey_straight(struct pxtu_log *log)
{
	struct pxtu_log_survey *survey = &log->survey;
	struct chain chain = { 0 };
	struct pxtu_log_block end;
	int err = -ENOENT;

	if (find_end(log, &end))
		err = find_chain(log, &end, &chain);
	while (!err && chain.count)
		err = survey_at(log, chain.offset[--chain.count]);
	free(chain.offset);
	if (!err)
		err = survey_at(log, end.offset);
	if (!err && (!survey->ended || !pxtu_log_final(survey) ||
		     survey->end.seq + 1 != end.head.seq))
		err = -ENOENT;
	return err;
}

/*
 * Names and metadata are outside of the ring, and are read completely. Only the newest block of the
 * ring is needed.
 */
static int survey_loop(struct pxtu_log *log)
{
	struct pxtu_log_survey *survey = &log->survey;
	const struct posixtrace_log_mark *last;
	int err;

	pxtu_log_read_status(log);
	if (!pxtu_log_final(survey))
		return -ENOENT;
	err = pxtu_log_survey_fixed(log);
	if (err || !survey->marks.count || survey->metadata.seq != survey->end.metadata + 1)
		return err ? err : -ENOENT;
	last = &survey->marks.mark[survey->marks.count - 1];
	if (last->seq != survey->end.seq)
		return -ENOENT;
	survey->newest = last->offset;
	return 0;
}

int pxtu_log_survey_briefly(struct pxtu_log *log)
{
	struct pxtu_log_survey *survey = &log->survey;
	int err, failed;

	pxtu_marks_forget(log);
	survey->brief = true;
	err = log->head.ring_end ? survey_loop(log) : survey_straight(log);
	failed = pxtu_log_failed(log);
	if (failed)
		err = failed;
	/* Forget all that was found, including the marks: pxtu_log_survey() reads it again. */
	if (err == -ENOENT || err == -EBADMSG) {
		pxtu_log_forget_brief(log);
		survey->ended = false;
		err = 0;
	}
	if (err)
		return err;
	return log->foreign ? -ESHUTDOWN : 0;
}
