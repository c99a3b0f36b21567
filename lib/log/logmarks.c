// SPDX-License-Identifier: MIT
/*
 * Marks: where blocks of events are. They come from the headers of all blocks, or from the index at
 * the end of the log. The index may be forged, so a mark is used only after its block was checked.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/logblock.h"
#include "log/loghead.h"
#include "log/logmarks.h"

static bool is_events(const struct pxtu_log_block *block)
{
	return block->head.type == POSIXTRACE_LOG_EVENTS ||
	       block->head.type == POSIXTRACE_LOG_KERNEL;
}

/*
 * Does the block have an event of a program or of the kernel? A gap is reported before the next
 * such event, so only these blocks can have a mark.
 */
static bool can_mark(const struct pxtu_log *log, const struct pxtu_log_block *block)
{
	return is_events(block) && block->head.size && block->head.cpu < log->head.nr_cpus;
}

void pxtu_marks_forget(struct pxtu_log *log)
{
	struct pxtu_log_marks *marks = &log->survey.marks;

	marks->count = 0;
	marks->passed = 0;
	marks->stride = 1;
}

static int reserve(struct pxtu_log_marks *marks)
{
	if (!marks->mark)
		marks->mark = malloc(PXTU_LOG_MARKS_MAX * sizeof(*marks->mark));
	return marks->mark ? 0 : -ENOMEM;
}

/* Keep every second mark. */
static void thin_out(struct pxtu_log_marks *marks)
{
	__u32 i;

	for (i = 0; i < marks->count / 2; i++)
		marks->mark[i] = marks->mark[2 * i];
	marks->count = i;
	marks->stride *= 2;
	marks->passed = 0;
}

int pxtu_marks_add(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	struct pxtu_log_marks *marks = &log->survey.marks;

	if (!can_mark(log, block) || (marks->passed && block->head.epoch <= marks->last_epoch))
		return 0;
	if (reserve(marks))
		return -ENOMEM;
	marks->last_epoch = block->head.epoch;
	if (marks->count == PXTU_LOG_MARKS_MAX)
		thin_out(marks);
	if (marks->passed++ % marks->stride)
		return 0;
	marks->mark[marks->count++] = (struct posixtrace_log_mark){
		.offset = block->offset,
		.seq = block->head.seq,
		.epoch = block->head.epoch,
		.closed = block->head.closed,
	};
	return 0;
}

/* Could this mark follow the last one? In a ring, offsets may also decrease. */
static bool can_follow(const struct pxtu_log *log, const struct posixtrace_log_mark *mark)
{
	const struct pxtu_log_marks *marks = &log->survey.marks;
	const struct posixtrace_log_mark *last;

	if (mark->offset % POSIXTRACE_LOG_ALIGN || mark->offset < log->head.begin ||
	    mark->offset >= INT64_MAX)
		return false;
	if (!marks->count)
		return true;
	last = &marks->mark[marks->count - 1];
	return mark->seq > last->seq && mark->epoch >= last->epoch &&
	       (log->head.ring_end || mark->offset > last->offset);
}

int pxtu_marks_load(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	struct pxtu_log_marks *marks = &log->survey.marks;
	const __u32 count = block->head.count;
	const size_t size = count * sizeof(*marks->mark);
	__u32 i;

	if (reserve(marks))
		return -ENOMEM;
	if (block->head.size / sizeof(*marks->mark) < count ||
	    count > PXTU_LOG_MARKS_MAX - marks->count ||
	    pxtu_log_read(log, &marks->mark[marks->count], size,
			  block->offset + log->head.block_size) != (ssize_t)size)
		return -EBADMSG;
	for (i = 0; i < count; i++) {
		if (!can_follow(log, &marks->mark[marks->count]))
			return -EBADMSG;
		marks->count++;
	}
	return 0;
}

/* Is the block of this mark there? */
static bool look_at(struct pxtu_log *log, const struct posixtrace_log_mark *mark,
		    struct pxtu_log_block *block)
{
	const __u64 limit = log->head.ring_end ? log->head.ring_end : INT64_MAX;

	return pxtu_log_look(log, mark->offset, limit, block) == PXTU_LOG_AT_BLOCK &&
	       can_mark(log, block) && block->head.seq == mark->seq &&
	       block->head.epoch == mark->epoch && block->head.closed == mark->closed;
}

/* Are all records up to @block older than the records of @later? */
static bool precedes(const struct pxtu_log *log, const struct pxtu_log_block *block,
		     const struct pxtu_log_block *later)
{
	return block->head.seq < later->head.seq && block->head.epoch < later->head.epoch - 1 &&
	       (log->head.ring_end || block->offset < later->offset);
}

bool pxtu_marks_find(struct pxtu_log *log, __u64 time, struct pxtu_log_block *block)
{
	const struct pxtu_log_marks *marks = &log->survey.marks;
	struct pxtu_log_block later;
	__u32 i = marks->count;
	bool found = false;

	while (i && !found) {
		i--;
		found = marks->mark[i].closed < time && look_at(log, &marks->mark[i], &later);
	}
	/* The module writes no epoch 0. */
	if (!found || !later.head.epoch)
		return false;
	for (found = false; i && !found;) {
		i--;
		found = look_at(log, &marks->mark[i], block) && precedes(log, block, &later);
	}
	return found;
}
