// SPDX-License-Identifier: MIT
/*
 * Blocks: checks for a block at an offset, steps to the next one, and searches for the next
 * one after a damaged place. The ring of a LOOP log is in logring.c.
 */
#include <stddef.h>
#include <string.h>

#include "log/crc32c.h"
#include "log/log.h"
#include "log/logblock.h"
#include "log/loghead.h"

#define BUDGET_FACTOR	16U	/* bytes that each byte of a good block adds to the search budget */

/* Is this a block header of our log? */
static bool head_valid(const struct pxtu_log *log, const unsigned char *raw,
		       struct posixtrace_log_block *head)
{
	const size_t crc_at = offsetof(struct posixtrace_log_block, crc);
	static const __u32 zero;
	__u32 crc;

	memcpy(head, raw, sizeof(*head));
	if (head->magic != POSIXTRACE_LOG_BLOCK_MAGIC || head->cookie != log->head.cookie)
		return false;
	crc = pxtu_crc32c(0, raw, crc_at);
	crc = pxtu_crc32c(crc, &zero, sizeof(zero));
	crc = pxtu_crc32c(crc, raw + crc_at + sizeof(zero),
			  log->head.block_size - crc_at - sizeof(zero));
	return crc == head->crc && head->size % POSIXTRACE_LOG_ALIGN == 0 &&
	       head->size <= log->head.payload_max && head->seq && head->seq < INT64_MAX;
}

/* Refuse the log: without a feature of a newer writer, the rest of the log is useless. */
static void refuse(struct pxtu_log *log)
{
	if (!log->error)
		log->error = -EOPNOTSUPP;
}

/* Check the size of the records of a block of events. */
static bool records_sane(const struct pxtu_log *log, const struct posixtrace_log_block *head)
{
	return head->size <= log->head.subbuf_size &&
	       (!head->compression || (head->records_size <= log->head.subbuf_size &&
				       head->records_size % POSIXTRACE_LOG_ALIGN == 0));
}

/* Is the payload compressed in a way that is possible for this type? */
static bool compression_sane(struct pxtu_log *log, const struct posixtrace_log_block *head)
{
	if (head->type > POSIXTRACE_LOG_KERNEL_TYPES)
		return true;
	if (head->type != POSIXTRACE_LOG_EVENTS && head->type != POSIXTRACE_LOG_KERNEL)
		return !head->compression;
	if (head->compression > POSIXTRACE_COMPRESS_LZ4)
		refuse(log);
	return true;
}

/* Are the other fields plausible? Even if not, the size is valid: see head_valid(). */
static bool block_sane(struct pxtu_log *log, const struct posixtrace_log_block *head)
{
	if (!compression_sane(log, head))
		return false;
	switch (head->type) {
	case 0:
		return false;
	case POSIXTRACE_LOG_EVENTS:
		/* Do not check the count of records, which comes from memory of the targets. */
		return records_sane(log, head) && head->cpu <= log->head.nr_cpus &&
		       head->opened <= head->closed;
	case POSIXTRACE_LOG_KERNEL:
		return records_sane(log, head) && log->head.attr.classes &&
		       head->cpu < log->head.nr_cpus && head->opened <= head->closed;
	case POSIXTRACE_LOG_NAMES:
		return !log->head.ring_end && head->count <= POSIXTRACE_ID_MAX &&
		       head->size == head->count * sizeof(struct posixtrace_log_name);
	case POSIXTRACE_LOG_RESET:
		return !log->head.ring_end && !head->size;
	case POSIXTRACE_LOG_END:
		return !log->head.ring_end && head->size >= sizeof(struct posixtrace_log_end);
	case POSIXTRACE_LOG_HOST:
		return head->size >= sizeof(struct posixtrace_log_host);
	case POSIXTRACE_LOG_INDEX:
		return head->size / sizeof(struct posixtrace_log_mark) >= head->count;
	case POSIXTRACE_LOG_TASKS:
		return head->size / sizeof(struct posixtrace_log_task) >= head->count;
	case POSIXTRACE_LOG_DESCRIPTIONS:
	case POSIXTRACE_LOG_PROGRAMS:
	case POSIXTRACE_LOG_MAPPINGS:
	case POSIXTRACE_LOG_KERNEL_TYPES:
		return true;
	default:
		if (!(head->flags & POSIXTRACE_LOG_BLOCK_OPTIONAL))
			refuse(log);
		return true;
	}
}

static bool payload_good(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	__u64 offset = block->offset + log->head.block_size;
	__u32 done, part, crc = 0;

	for (done = 0; done < block->head.size; done += part) {
		part = block->head.size - done;
		if (part > PXTU_LOG_SCRATCH)
			part = PXTU_LOG_SCRATCH;
		if (pxtu_log_read(log, log->scratch, part, offset + done) != (ssize_t)part)
			return false;
		crc = pxtu_crc32c(crc, log->scratch, part);
	}
	return crc == block->head.payload_crc;
}

/* Is the whole block within the file, and within the ring? */
static bool block_complete(struct pxtu_log *log, __u64 limit, const struct pxtu_log_block *block)
{
	__u64 size = pxtu_log_block_bytes(log, block);

	return limit - block->offset >= size && pxtu_log_reaches(log, block->offset + size);
}

enum pxtu_log_at pxtu_log_look(struct pxtu_log *log, __u64 offset, __u64 limit,
			       struct pxtu_log_block *block)
{
	unsigned char raw[PXTU_LOG_BLOCK_MAX];
	__u32 size = log->head.block_size;

	block->offset = offset;
	block->head.type = 0;
	if (offset > limit || limit - offset < size || !pxtu_log_reaches(log, offset + size))
		return PXTU_LOG_AT_END;
	if (pxtu_log_read(log, raw, size, offset) != (ssize_t)size ||
	    !head_valid(log, raw, &block->head)) {
		block->head.type = 0;
		return PXTU_LOG_AT_OTHER;
	}
	if (block_complete(log, limit, block))
		return PXTU_LOG_AT_BLOCK;
	block->head.type = 0;
	return log->head.ring_end ? PXTU_LOG_AT_OTHER : PXTU_LOG_AT_END;
}

/*
 * Can this block follow the last one? The numbers in between belong to destroyed blocks, and each
 * destroyed block took up at least the space of its header.
 */
static bool can_follow(const struct pxtu_log *log, const struct pxtu_log_walk *walk,
		       __u64 limit, __u64 last, const struct pxtu_log_block *block)
{
	__u64 seq = block->head.seq;

	return seq >= walk->seq && seq <= last &&
	       (walk->any || seq - walk->seq <= (block->offset - walk->lost_from) /
						 log->head.block_size) &&
	       limit - block->offset >= pxtu_log_block_bytes(log, block);
}

/* Search the scratch buffer. Returns the number of bytes that need not be searched again. */
static __u32 search_scratch(struct pxtu_log *log, const struct pxtu_log_walk *walk, __u32 len,
			    __u64 limit, __u64 last, struct pxtu_log_block *block, bool *found)
{
	const __u32 magic = POSIXTRACE_LOG_BLOCK_MAGIC;
	__u32 pos;

	for (pos = 0; pos + log->head.block_size <= len; pos += POSIXTRACE_LOG_ALIGN) {
		if (memcmp(log->scratch + pos, &magic, sizeof(magic)))
			continue;
		block->offset = walk->offset + pos;
		if (head_valid(log, log->scratch + pos, &block->head) &&
		    can_follow(log, walk, limit, last, block)) {
			*found = true;
			break;
		}
	}
	return pos;
}

bool pxtu_log_search(struct pxtu_log *log, struct pxtu_log_walk *walk, __u64 limit, __u64 last,
		     struct pxtu_log_block *block)
{
	bool found = false;
	__u64 left;
	__u32 want, step;
	ssize_t n;

	while (!found && walk->budget && walk->offset < limit) {
		left = limit - walk->offset;
		want = left < PXTU_LOG_SCRATCH ? (__u32)left : PXTU_LOG_SCRATCH;
		n = pxtu_log_read(log, log->scratch, want, walk->offset);
		/* This is a bad sector, but the next ones may still be readable. */
		if (n < 0)
			step = want & ~(POSIXTRACE_LOG_ALIGN - 1U);
		else
			step = search_scratch(log, walk, (__u32)n, limit, last, block, &found);
		if (!step && !found)
			break;
		walk->budget -= step < walk->budget ? step : walk->budget;
		walk->offset += step;
	}
	if (found && block_complete(log, limit, block))
		return true;
	block->head.type = 0;
	return false;
}

enum pxtu_log_step pxtu_log_step_over(struct pxtu_log *log, struct pxtu_log_walk *walk,
				      struct pxtu_log_block *block)
{
	__u64 size = pxtu_log_block_bytes(log, block);

	walk->offset = block->offset + size;
	walk->seq = block->head.seq + 1;
	walk->searching = false;
	walk->any = false;
	walk->budget += size * BUDGET_FACTOR;
	if (walk->budget > PXTU_LOG_BUDGET_MAX)
		walk->budget = PXTU_LOG_BUDGET_MAX;
	if (!block_sane(log, &block->head)) {
		block->head.type = 0;
		return PXTU_LOG_DAMAGE;
	}
	/* logmerge.c checks the payload of events when it reads it. */
	if (block->head.type != POSIXTRACE_LOG_EVENTS &&
	    block->head.type != POSIXTRACE_LOG_KERNEL && !payload_good(log, block))
		return PXTU_LOG_DAMAGE;
	return PXTU_LOG_BLOCK;
}

enum pxtu_log_step pxtu_log_walk_straight(struct pxtu_log *log, struct pxtu_log_walk *walk,
					  __u64 limit, __u64 last, struct pxtu_log_block *block)
{
	__u64 seq;

	if (walk->searching) {
		if (!pxtu_log_search(log, walk, limit, last, block))
			return PXTU_LOG_NOTHING;
		return pxtu_log_step_over(log, walk, block);
	}
	switch (pxtu_log_look(log, walk->offset, limit, block)) {
	case PXTU_LOG_AT_END:
		return PXTU_LOG_NOTHING;
	case PXTU_LOG_AT_BLOCK:
		seq = block->head.seq;
		if (seq == walk->seq)
			return pxtu_log_step_over(log, walk, block);
		/* Blocks before this one are missing, or this is an old block. */
		block->head.type = 0;
		if (seq > walk->seq && seq <= last)
			walk->seq = seq;
		else
			walk->offset += pxtu_log_block_bytes(log, block);
		return PXTU_LOG_DAMAGE;
	case PXTU_LOG_AT_OTHER:
		break;
	}
	walk->searching = true;
	walk->lost_from = walk->offset;
	walk->offset += POSIXTRACE_LOG_ALIGN;
	return PXTU_LOG_DAMAGE;
}
