// SPDX-License-Identifier: MIT
/*
 * The ring of a LOOP log. Its writer goes round the ring; if the next block does not fit, it
 * continues at the beginning. The ring therefore has blocks of the last lap, then the rest of a
 * block that was partly overwritten, then blocks of the previous lap (from the "tail" of the newest
 * block on), and possibly blocks of even older laps, which do not count.
 */
#include "log/log.h"
#include "log/logblock.h"
#include "log/logring.h"

/* Accept the previous lap if at most this many blocks at its end are damaged. */
#define DAMAGED_MAX	2

/* Find the block with the largest number, starting at @offset, across damaged places. */
static bool find_newest(struct pxtu_log *log, struct pxtu_log_walk walk, __u64 offset,
			struct pxtu_log_block *newest)
{
	const __u64 limit = log->head.ring_end;
	struct pxtu_log_block block;
	bool found = false;

	walk.offset = offset;
	for (;;) {
		walk.seq = 1;
		walk.any = true;
		if (pxtu_log_look(log, walk.offset, limit, &block) != PXTU_LOG_AT_BLOCK &&
		    !pxtu_log_search(log, &walk, limit, ~0ULL, &block))
			return found;
		if (!found || block.head.seq > newest->head.seq)
			*newest = block;
		found = true;
		pxtu_log_step_over(log, &walk, &block);
	}
}

/*
 * There is no block where the oldest one should be. Do the blocks after that place belong to the
 * previous lap, which ends right before the first number of the last lap? Otherwise they belong to
 * an older lap.
 */
static bool old_lap_continues(struct pxtu_log *log, struct pxtu_log_walk walk)
{
	struct pxtu_log_block last, first;
	__u64 lost = DAMAGED_MAX;

	if (!find_newest(log, walk, walk.offset, &last))
		return false;
	walk.offset = log->head.begin;
	walk.any = true;
	if (pxtu_log_look(log, walk.offset, walk.newest_end, &first) != PXTU_LOG_AT_BLOCK) {
		if (!pxtu_log_search(log, &walk, walk.newest_end, walk.newest, &first))
			return true;
		lost += (first.offset - log->head.begin) / log->head.block_size;
	}
	return last.head.seq < first.head.seq && first.head.seq - 1 - last.head.seq <= lost;
}

static void set_newest(struct pxtu_log *log, struct pxtu_log_walk *walk,
		       const struct pxtu_log_block *newest)
{
	walk->newest = newest->head.seq;
	walk->newest_end = newest->offset + pxtu_log_block_bytes(log, newest);
}

/* Has the writer continued? If so, @block is the next block, or a block of a later lap. */
static bool find_newer(struct pxtu_log *log, const struct pxtu_log_walk *walk,
		       struct pxtu_log_block *block)
{
	const __u64 places[] = { walk->newest_end, log->head.begin };
	struct pxtu_log_block found;
	bool any = false;
	unsigned int i;

	for (i = 0; i < PXTU_ARRAY_SIZE(places); i++) {
		if (pxtu_log_look(log, places[i], log->head.ring_end, &found) !=
		    PXTU_LOG_AT_BLOCK || found.head.seq <= walk->newest)
			continue;
		if (!any || found.head.seq < block->head.seq)
			*block = found;
		any = true;
	}
	return any;
}

/* Find the newest block of a complete log by its marks. */
static bool newest_known(struct pxtu_log *log, struct pxtu_log_block *newest)
{
	return log->survey.newest &&
	       pxtu_log_look(log, log->survey.newest, log->head.ring_end, newest) ==
	       PXTU_LOG_AT_BLOCK && newest->head.seq == log->survey.end.seq;
}

void pxtu_ring_start(struct pxtu_log *log, struct pxtu_log_walk *walk)
{
	struct pxtu_log_block newest, newer, oldest;
	__u64 tail;

	walk->offset = log->head.begin;
	walk->newest_end = log->head.begin;
	walk->newest = 0;
	walk->last_lap = true;
	walk->searching = false;
	walk->any = false;
	walk->seq = 1;
	if (!newest_known(log, &newest) && !find_newest(log, *walk, walk->offset, &newest))
		return;

	set_newest(log, walk, &newest);
	/* Follow the writer, which may have overwritten the oldest block during the long search. */
	while (find_newer(log, walk, &newer) && newer.head.seq == walk->newest + 1) {
		newest = newer;
		set_newest(log, walk, &newest);
	}
	tail = newest.head.tail;
	if (tail < log->head.begin || tail >= log->head.ring_end || tail % POSIXTRACE_LOG_ALIGN)
		tail = log->head.begin;
	walk->offset = tail;
	walk->last_lap = tail <= newest.offset;
	if (pxtu_log_look(log, tail, log->head.ring_end, &oldest) == PXTU_LOG_AT_BLOCK &&
	    oldest.head.seq <= newest.head.seq) {
		walk->seq = oldest.head.seq;
		return;
	}
	/* The oldest block is damaged. The walk will report that, and find the blocks after it. */
	walk->any = true;
	if (walk->last_lap || old_lap_continues(log, *walk))
		return;
	/*
	 * The damaged block was the last one of the previous lap. The walk reports it before the
	 * first block of the last lap.
	 */
	walk->offset = log->head.begin;
	walk->last_lap = true;
}

/* Continue with the oldest block, but skip the blocks that the caller already knows. */
static void restart(struct pxtu_log *log, struct pxtu_log_walk *walk)
{
	if (walk->skip < walk->seq)
		walk->skip = walk->seq;
	pxtu_ring_start(log, walk);
	/* A missing oldest block is not damage: the writer is overwriting it at this time. */
	walk->searching = walk->any;
	walk->lost_from = walk->offset;
}

/* After the newest block: check for a newer one. */
static bool follow(struct pxtu_log *log, struct pxtu_log_walk *walk)
{
	struct pxtu_log_block block;
	__u64 seq = walk->seq;

	if (!find_newer(log, walk, &block))
		return false;
	if (block.head.seq == seq) {
		walk->offset = block.offset;
		set_newest(log, walk, &block);
		walk->last_lap = true;
		walk->searching = false;
		return true;
	}
	log->survey.overwritten = true;
	restart(log, walk);
	return walk->newest >= seq;
}

/*
 * Scanning the whole ring reads all headers. Charge a fruitless scan the budget that REFUSAL_COST
 * good blocks add, so that no log can trigger a scan for each damaged block.
 */
#define REFUSAL_COST	64
#define REFUSED_MAX	(64 * REFUSAL_COST)

/*
 * The block that was expected at @before is not there. Has the writer overwritten it? If so, @walk
 * continues with the oldest block.
 */
static bool overtaken(struct pxtu_log *log, const struct pxtu_log_walk *before,
		      struct pxtu_log_walk *walk)
{
	struct pxtu_log_walk now = *before;
	struct pxtu_log_block newer;

	if (walk->refused >= REFUSED_MAX || !find_newer(log, before, &newer))
		return false;
	restart(log, &now);
	/*
	 * The expected block was not overwritten if the newest block is still the same (then the
	 * newer block that was found is damaged), or if the oldest block is not after the expected
	 * one. A damaged oldest block has no number to compare.
	 */
	if (now.newest <= before->newest || (!now.any && now.seq <= before->seq)) {
		walk->refused += REFUSAL_COST;
		return false;
	}
	log->survey.overwritten = true;
	*walk = now;
	return true;
}

/* Walk the previous lap. PXTU_LOG_NOTHING: it has ended, and the last lap starts. */
static enum pxtu_log_step walk_old_lap(struct pxtu_log *log, struct pxtu_log_walk *walk,
				       struct pxtu_log_block *block)
{
	const __u64 limit = log->head.ring_end;
	struct pxtu_log_block first;
	enum pxtu_log_at at;

	if (!walk->searching &&
	    pxtu_log_look(log, walk->offset, limit, block) == PXTU_LOG_AT_BLOCK &&
	    block->head.seq == walk->seq)
		return pxtu_log_step_over(log, walk, block);
	block->head.type = 0;

	at = pxtu_log_look(log, log->head.begin, walk->newest_end, &first);
	if (at != PXTU_LOG_AT_BLOCK || first.head.seq != walk->seq) {
		if (!walk->searching) {
			walk->searching = true;
			walk->lost_from = walk->offset;
			return PXTU_LOG_DAMAGE;
		}
		if (pxtu_log_search(log, walk, limit, walk->newest, block))
			return pxtu_log_step_over(log, walk, block);
	}

	/* Missing blocks were reported as damage. Continue with the first block of the last lap. */
	walk->last_lap = true;
	walk->offset = log->head.begin;
	walk->lost_from = 0;
	walk->any = true;
	if (at == PXTU_LOG_AT_BLOCK && first.head.seq >= walk->seq &&
	    first.head.seq <= walk->newest) {
		walk->seq = first.head.seq;
		walk->searching = false;
	}
	return PXTU_LOG_NOTHING;
}

static enum pxtu_log_step walk_ring(struct pxtu_log *log, struct pxtu_log_walk *walk,
				    struct pxtu_log_block *block)
{
	enum pxtu_log_step step;
	bool reported;

	if (!walk->last_lap) {
		step = walk_old_lap(log, walk, block);
		if (step != PXTU_LOG_NOTHING)
			return step;
	}
	reported = walk->searching;
	step = pxtu_log_walk_straight(log, walk, walk->newest_end, walk->newest, block);
	if (step != PXTU_LOG_NOTHING)
		return step;
	/* The newest block has disappeared, or cannot be reached. */
	walk->seq = walk->newest + 1;
	walk->offset = walk->newest_end;
	walk->searching = false;
	return reported ? PXTU_LOG_NOTHING : PXTU_LOG_DAMAGE;
}

enum pxtu_log_step pxtu_ring_walk(struct pxtu_log *log, struct pxtu_log_walk *walk,
				  struct pxtu_log_block *block)
{
	struct pxtu_log_walk before;
	enum pxtu_log_step step;
	bool again;

	do {
		block->head.type = 0;
		if (walk->seq > walk->newest && !follow(log, walk))
			return PXTU_LOG_NOTHING;
		before = *walk;
		step = walk_ring(log, walk, block);
		if (step == PXTU_LOG_BLOCK && walk->refused)
			walk->refused--;
		again = step != PXTU_LOG_BLOCK && overtaken(log, &before, walk);
	} while (again || (step == PXTU_LOG_BLOCK && block->head.seq < walk->skip));
	return step;
}
