// SPDX-License-Identifier: MIT
/*
 * Metadata: blocks that contain no events, and that a reader of events does not need. The survey
 * has the locations of their texts. When the caller asks for a text, it is read from the file.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/logblock.h"
#include "log/loghead.h"
#include "log/logmetadata.h"
#include "log/logstates.h"
#include "log/logsurvey.h"

/*
 * How far to search for the next block after a place without one. Bounded, because the file may
 * contain leftovers of another log after the last metadata block of a LOOP log.
 */
#define SEARCH_MAX	(2U << 20)

/*
 * After the writer has restarted the metadata, the old locations are overwritten. Keep the names of
 * threads, which are in memory.
 */
void pxtu_log_forget_places(struct pxtu_log_survey *survey)
{
	if (survey->described)
		memset(survey->described, 0, POSIXTRACE_ID_MAX * sizeof(*survey->described));
	survey->tasks.nr_programs = 0;
	survey->tasks.nr_mappings = 0;
	pxtu_log_forget_rows(survey);
}

void pxtu_log_begin_metadata(struct pxtu_log *log)
{
	struct pxtu_log_survey *survey = &log->survey;
	struct pxtu_log_block block;
	bool found = pxtu_log_look(log, log->head.metadata, INT64_MAX, &block) == PXTU_LOG_AT_BLOCK;

	if (survey->metadata.seq && (!found || block.head.seq == survey->metadata_first))
		return;
	pxtu_log_forget_places(survey);
	survey->metadata_first = found ? block.head.seq : 0;
	survey->metadata = (struct pxtu_log_walk){
		.offset = log->head.metadata,
		.seq = found ? block.head.seq : 1,
		.budget = PXTU_LOG_BUDGET_MAX,
		/* If the first block is damaged, the next one may have any number. */
		.any = !found,
	};
}

static void pay(struct pxtu_log_walk *walk, __u64 bytes)
{
	walk->budget -= bytes < walk->budget ? bytes : walk->budget;
}

/*
 * Find a metadata block after a position, and move @walk to it. Charge the bytes that were read to
 * the budget, because a caller that asks for missing data repeats the same search each time.
 */
static bool search_metadata(struct pxtu_log *log, struct pxtu_log_walk *walk,
			    struct pxtu_log_block *block)
{
	const __u64 budget = walk->budget < SEARCH_MAX ? walk->budget : SEARCH_MAX;
	struct pxtu_log_walk search = *walk;
	bool found;

	search.lost_from = search.offset;
	search.budget = budget;
	found = pxtu_log_search(log, &search, INT64_MAX, ~0ULL, block);
	pay(walk, budget - search.budget);
	if (!found)
		return false;
	walk->offset = search.offset;
	walk->seq = block->head.seq;
	walk->any = false;
	return true;
}

/* Is there a metadata block right after a position, or further on? */
static bool metadata_follows(struct pxtu_log *log, struct pxtu_log_walk *walk)
{
	struct pxtu_log_block next;

	if (pxtu_log_look(log, walk->offset, INT64_MAX, &next) == PXTU_LOG_AT_BLOCK &&
	    next.head.seq >= walk->seq)
		return true;
	return search_metadata(log, walk, &next);
}

/*
 * Step over a block with a good header. Returns PXTU_LOG_NOTHING if the writer has not completed
 * the block. Each attempt to step over such a block costs a part of the budget. When the budget is
 * used up, wait for the next flush.
 */
static enum pxtu_log_step step_over_metadata(struct pxtu_log *log, struct pxtu_log_walk *walk,
					     struct pxtu_log_block *block)
{
	const struct pxtu_log_walk before = *walk;
	struct pxtu_log_walk after;
	enum pxtu_log_step step;

	if (!walk->budget && walk->offset == log->survey.torn) {
		block->head.type = 0;
		return PXTU_LOG_NOTHING;
	}
	step = pxtu_log_walk_straight(log, walk, INT64_MAX, ~0ULL, block);
	if (step != PXTU_LOG_DAMAGE || !block->head.type)
		return step;
	/* A damaged block takes from the budget, and does not add to it. */
	walk->budget = before.budget;
	pay(walk, block->head.size);
	after = *walk;
	if (pxtu_log_final(&log->survey) || metadata_follows(log, &after)) {
		walk->budget = after.budget;
		return step;
	}
	*walk = before;
	walk->budget = after.budget;
	log->survey.torn = before.offset;
	return PXTU_LOG_NOTHING;
}

void pxtu_log_renew_metadata(struct pxtu_log *log)
{
	log->survey.metadata.budget = PXTU_LOG_BUDGET_MAX;
}

enum pxtu_log_step pxtu_log_walk_metadata(struct pxtu_log *log, struct pxtu_log_walk *walk,
					  struct pxtu_log_block *block)
{
	switch (pxtu_log_look(log, walk->offset, INT64_MAX, block)) {
	case PXTU_LOG_AT_BLOCK:
		/* The writer has restarted the metadata, and this is an old block. */
		if (block->head.seq < walk->seq) {
			block->head.type = 0;
			return PXTU_LOG_NOTHING;
		}
		return step_over_metadata(log, walk, block);
	case PXTU_LOG_AT_END:
		return PXTU_LOG_NOTHING;
	case PXTU_LOG_AT_OTHER:
		break;
	}
	if (!search_metadata(log, walk, block))
		return PXTU_LOG_NOTHING;
	block->head.type = 0;
	return PXTU_LOG_DAMAGE;
}

/* Can a block of this type have this description? KERNEL_TYPES describes types of the kernel. */
static bool description_valid(const struct posixtrace_log_description *description, __u32 type)
{
	bool kernel = type == POSIXTRACE_LOG_KERNEL_TYPES;
	__u32 first = kernel ? POSIXTRACE_ID_FILTER + 1 : POSIXTRACE_ID_UNNAMED + 1;
	__u32 end = kernel ? POSIXTRACE_ID_UNNAMED : POSIXTRACE_ID_MAX;

	return description->id >= first && description->id < end && description->size > 1 &&
	       description->size <= POSIXTRACE_DESCRIPTION_SIZE;
}

int pxtu_log_add_descriptions(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	const __u64 begin = block->offset + log->head.block_size;
	struct posixtrace_log_description head;
	struct pxtu_log_description *place;
	__u64 pos = 0;
	__u32 i;

	if (!log->survey.described)
		log->survey.described = calloc(POSIXTRACE_ID_MAX, sizeof(*log->survey.described));
	if (!log->survey.described)
		return -ENOMEM;
	for (i = 0; i < block->head.count; i++) {
		if (pos + sizeof(head) > block->head.size ||
		    pxtu_log_read(log, &head, sizeof(head), begin + pos) != sizeof(head) ||
		    !description_valid(&head, block->head.type) ||
		    pos + POSIXTRACE_LOG_DESCRIPTION_STEP(head.size) > block->head.size) {
			log->survey.damaged = true;
			break;
		}
		/*
		 * Keep the first description of a type, as the first name of a type is kept. The
		 * writer writes only one.
		 */
		place = &log->survey.described[head.id];
		if (!place->size)
			*place = (struct pxtu_log_description){
				.offset = begin + pos + sizeof(head),
				.size = head.size,
			};
		pos += POSIXTRACE_LOG_DESCRIPTION_STEP(head.size);
	}
	return pxtu_log_failed(log);
}

/* Can the module have written this text? The file may have changed since the survey. */
static bool text_valid(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	}
	return !text[size - 1];
}

int pxtu_log_description(struct pxtu_log *log, __u32 id, struct pxtu_text *text)
{
	const struct pxtu_log_description *place;
	struct posixtrace_log_description head;
	int err;

	if (id >= POSIXTRACE_ID_MAX || !log->survey.described || !log->survey.described[id].size)
		return -ENOENT;
	place = &log->survey.described[id];
	text->needed = place->size;
	/*
	 * Check the header again: the writer may have restarted the metadata and overwritten this
	 * block.
	 */
	if (pxtu_log_read(log, &head, sizeof(head), place->offset - sizeof(head)) ==
	    sizeof(head) && head.id == id && head.size == place->size) {
		if (text->room < place->size)
			return 0;
		if (pxtu_log_read(log, text->to, place->size, place->offset) ==
		    (ssize_t)place->size && text_valid(text->to, place->size))
			return 0;
	}
	err = pxtu_log_failed(log);
	return err ? err : -ENOENT;
}
