// SPDX-License-Identifier: MIT
/*
 * The index of the blocks of two epochs. All records of an epoch are older than the records two
 * epochs later, so the next event is always in an indexed block. The index is therefore small for a
 * log of any size.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/logblock.h"
#include "log/loghead.h"
#include "log/logindex.h"
#include "log/logmarks.h"
#include "log/logwalk.h"

#define ENTRIES_MIN	256U

/* Damaged places are in the last list. */
static __u32 damage_cpu(const struct pxtu_log *log)
{
	return pxtu_log_nr_lists(log) - 1;
}

int pxtu_index_init(struct pxtu_log *log)
{
	struct pxtu_log_index *index = &log->index;

	index->cpu = calloc(pxtu_log_nr_lists(log), sizeof(*index->cpu));
	return pxtu_heap_init(&index->heap, pxtu_log_nr_lists(log)) && index->cpu ? 0 : -ENOMEM;
}

static void free_chunk(struct pxtu_log *log, struct pxtu_log_cpu *cpu)
{
	log->index.held -= cpu->chunk_room;
	free(cpu->chunk);
	free(cpu->kernel);
	cpu->chunk = NULL;
	cpu->chunk_room = 0;
	cpu->kernel = NULL;
}

void pxtu_index_destroy(struct pxtu_log *log)
{
	struct pxtu_log_index *index = &log->index;
	__u32 i;

	for (i = 0; index->cpu && i < pxtu_log_nr_lists(log); i++)
		free_chunk(log, &index->cpu[i]);
	free(index->cpu);
	pxtu_heap_destroy(&index->heap);
	free(index->entries);
}

static void forget_entries(struct pxtu_log *log)
{
	struct pxtu_log_index *index = &log->index;
	__u32 i;

	for (i = 0; i < pxtu_log_nr_lists(log); i++) {
		free_chunk(log, &index->cpu[i]);
		index->cpu[i] = (struct pxtu_log_cpu){
			.first = PXTU_LOG_NONE,
			.last = PXTU_LOG_NONE,
		};
	}
	index->heap.count = 0;
	index->used = 0;
	index->free = PXTU_LOG_NONE;
	index->left[0] = 0;
	index->left[1] = 0;
	index->have_ahead = false;
	index->settled = false;
	index->partial = false;
	index->crowded = false;
	index->nr_gaps = 0;
	index->overwrite_watermark = 0;
	index->lost = 0;
	index->skipped = 0;
}

void pxtu_index_start(struct pxtu_log *log)
{
	struct pxtu_log_index *index = &log->index;

	forget_entries(log);
	index->walk = log->survey.start;
	/* The block that was the oldest at the survey may have been overwritten since. */
	if (log->head.ring_end)
		pxtu_log_walk_start(log, &index->walk);
	index->begun = false;
	index->ended = false;
	index->read = 0;
	index->epoch = 0;
	index->last_epoch = 0;
	index->time = log->head.attr.creation_time;
	index->generation = log->survey.start_generation;
	log->queue.next = 0;
	log->queue.count = 0;
}

/*
 * Skip all blocks up to and including the one that was found. Do not report the gaps before that
 * block: they lie before @time as well.
 */
void pxtu_index_seek(struct pxtu_log *log, __u64 time)
{
	struct pxtu_log_index *index = &log->index;
	struct pxtu_log_block block;
	__u64 end;

	if (!pxtu_marks_find(log, time, &block) || block.head.seq < index->walk.seq ||
	    index->walk.any || (log->head.ring_end && block.head.seq >= index->walk.newest))
		return;
	end = block.offset + pxtu_log_block_bytes(log, &block);
	index->walk.offset = end;
	index->walk.seq = block.head.seq + 1;
	/* In the file, the blocks of the previous lap follow the blocks of the last lap. */
	index->walk.last_lap = end <= index->walk.newest_end;
	index->read = end - log->head.begin;
	index->begun = true;
	index->epoch = block.head.epoch;
	index->last_epoch = block.head.epoch;
	index->time = block.head.closed;
	index->generation = block.head.gap_generation;
	index->overwrite_watermark = block.head.overwrite_watermark;
	index->lost = block.head.lost;
}

/* Reserve a place for the next entry. */
static int entry_reserve(struct pxtu_log_index *index)
{
	__u32 room = index->room ? 2 * index->room : ENTRIES_MIN;
	struct pxtu_log_entry *entries;

	if (index->free != PXTU_LOG_NONE || index->used < index->room)
		return 0;
	entries = realloc(index->entries, room * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	index->entries = entries;
	index->room = room;
	return 0;
}

/* A lower bound for the times of the events of a CPU. */
static __u64 cpu_time(const struct pxtu_log_index *index, const struct pxtu_log_cpu *cpu)
{
	if (cpu->ready)
		return cpu->record.timestamp;
	return cpu->open ? cpu->floor : index->entries[cpu->first].opened;
}

static void entry_add(struct pxtu_log *log, __u32 number, const struct pxtu_log_entry *entry)
{
	struct pxtu_log_index *index = &log->index;
	struct pxtu_log_cpu *cpu = &index->cpu[number];
	bool idle = cpu->first == PXTU_LOG_NONE;
	__u32 idx = index->free;

	if (idx != PXTU_LOG_NONE)
		index->free = index->entries[idx].next;
	else
		idx = index->used++;
	index->entries[idx] = *entry;
	index->entries[idx].next = PXTU_LOG_NONE;
	if (!index->left[0])
		index->epoch = entry->epoch;
	index->left[entry->epoch > index->epoch]++;
	if (idle)
		cpu->first = idx;
	else
		index->entries[cpu->last].next = idx;
	cpu->last = idx;
	if (idle)
		pxtu_heap_add(&index->heap, cpu_time(index, cpu), number);
}

void pxtu_index_fix(struct pxtu_log_index *index)
{
	const struct pxtu_log_cpu *cpu = &index->cpu[index->heap.cpu[0]];

	if (cpu->first == PXTU_LOG_NONE)
		pxtu_heap_remove(&index->heap);
	else
		pxtu_heap_fix(&index->heap, cpu_time(index, cpu));
}

void pxtu_index_pop(struct pxtu_log *log, struct pxtu_log_cpu *cpu)
{
	struct pxtu_log_index *index = &log->index;
	__u32 idx = cpu->first;
	struct pxtu_log_entry *entry = &index->entries[idx];

	cpu->first = entry->next;
	cpu->open = false;
	cpu->ready = false;
	if (cpu->first == PXTU_LOG_NONE)
		free_chunk(log, cpu);
	index->left[entry->epoch > index->epoch]--;
	entry->next = index->free;
	index->free = idx;
	if (index->left[0])
		return;
	/* The next epoch is the oldest now, so the index can take the blocks of another epoch. */
	index->left[0] = index->left[1];
	index->left[1] = 0;
	index->epoch++;
	index->settled = false;
}

void pxtu_index_put_back(struct pxtu_log *log, struct pxtu_log_cpu *cpu)
{
	const struct pxtu_log_entry *entry = &log->index.entries[cpu->first];
	struct pxtu_log_walk *walk = &log->index.walk;

	/* Walk as if the previous block were the newest. */
	walk->offset = entry->offset - log->head.block_size;
	walk->newest_end = walk->offset;
	walk->seq--;
	walk->newest = walk->seq - 1;
	log->index.read -= log->head.block_size + entry->size;
	log->index.partial = true;
	pxtu_index_pop(log, cpu);
}

/* Add a damaged place to the index. The caller has reserved an entry. */
static void add_damage(struct pxtu_log *log)
{
	const struct pxtu_log_entry entry = {
		.opened = log->index.time,
		.closed = log->index.time,
		.epoch = log->index.last_epoch,
	};

	log->survey.damaged = true;
	entry_add(log, damage_cpu(log), &entry);
}

/* Note losses before a block. Blocks are in the order in which they were written. */
static void note_gap(struct pxtu_log_index *index, const struct posixtrace_log_block *head)
{
	struct pxtu_log_gap *gap;

	if (head->gap_generation <= index->generation)
		return;
	index->generation = head->gap_generation;
	if (index->nr_gaps < PXTU_LOG_GAPS_MAX) {
		gap = &index->gap[index->nr_gaps++];
		gap->first = head->gap_first;
	}
	gap = &index->gap[index->nr_gaps - 1];
	gap->generation = head->gap_generation;
	if (head->gap_first < gap->first)
		gap->first = head->gap_first;
}

/* Add a block of events to the index. The caller has reserved an entry. */
static void add_block(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	const struct posixtrace_log_block *head = &block->head;
	struct pxtu_log_index *index = &log->index;
	struct pxtu_log_entry entry = {
		.offset = block->offset + log->head.block_size,
		.opened = head->opened,
		.closed = head->closed,
		.epoch = index->last_epoch,
		.lost = head->lost,
		.size = head->size,
		.records = head->compression ? head->records_size : head->size,
		.packed = head->compression,
		.payload_crc = head->payload_crc,
		.crc = head->crc,
	};

	/* Do not report losses before the oldest block of a LOOP log: events there are gone. */
	if (!index->begun && log->head.ring_end && head->seq > 1) {
		index->generation = head->gap_generation;
		index->lost = head->lost;
	}
	index->begun = true;
	note_gap(index, head);
	if (head->overwrite_watermark > index->overwrite_watermark)
		index->overwrite_watermark = head->overwrite_watermark;
	entry.generation = index->generation;
	entry.overwrite_watermark = index->overwrite_watermark;
	index->time = head->closed;
	entry_add(log, head->type == POSIXTRACE_LOG_KERNEL ? log->head.nr_cpus + 1 + head->cpu :
							    head->cpu, &entry);
}

/* The stream was cleared: forget all events that have not been reported yet. */
static void reset(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	struct pxtu_log_index *index = &log->index;

	forget_entries(log);
	if (block->head.gap_generation)
		index->generation = block->head.gap_generation;
	/* The survey may have already found a later RESET. */
	if (index->walk.seq <= log->survey.start.seq)
		return;
	log->survey.start = index->walk;
	log->survey.start_generation = index->generation;
}

/* Walk to the next block. False if there is no block now. Called with a reserved entry. */
static bool look_ahead(struct pxtu_log *log)
{
	struct pxtu_log_index *index = &log->index;
	struct pxtu_log_block *ahead = &index->ahead;
	struct pxtu_log_walk before;
	enum pxtu_log_step step;

	if (index->ended || index->partial) {
		index->partial = false;
		return false;
	}
	before = index->walk;
	step = pxtu_log_walk(log, &index->walk, ahead);
	if (log->error)
		index->walk = before;
	if (log->error || step == PXTU_LOG_NOTHING)
		return false;
	if (step == PXTU_LOG_DAMAGE)
		add_damage(log);
	if (ahead->head.type)
		index->read += pxtu_log_block_bytes(log, ahead);
	switch (ahead->head.type) {
	case POSIXTRACE_LOG_EVENTS:
	case POSIXTRACE_LOG_KERNEL:
		index->have_ahead = true;
		/* Use the largest epoch so far: if it decreased, the index would not advance. */
		if (ahead->head.epoch > index->last_epoch)
			index->last_epoch = ahead->head.epoch;
		break;
	case POSIXTRACE_LOG_RESET:
		reset(log, ahead);
		break;
	case POSIXTRACE_LOG_END:
		index->ended = true;
		break;
	}
	return true;
}

int pxtu_index_fill(struct pxtu_log *log)
{
	struct pxtu_log_index *index = &log->index;
	__u32 count;

	/* Forget an error from reading an indexed block, which was reported as damage. */
	log->error = 0;
	for (;;) {
		count = index->left[0] + index->left[1];
		if (count && index->settled)
			break;
		if (index->crowded && count > PXTU_LOG_ENTRIES_MAX / 2)
			break;
		index->crowded = false;
		if (entry_reserve(index))
			return -ENOMEM;
		if (count >= PXTU_LOG_ENTRIES_MAX) {
			/*
			 * No writer makes this many blocks in two epochs. Report all, possibly out
			 * of order.
			 */
			index->crowded = true;
			add_damage(log);
			break;
		}
		if (!index->have_ahead) {
			index->settled = !look_ahead(log);
			if (!index->settled)
				continue;
			/* After an error, the next call may find a block. */
			index->settled = !log->error;
			break;
		}
		if (count && index->last_epoch > index->epoch + 1) {
			index->settled = true;
			break;
		}
		index->have_ahead = false;
		add_block(log, &index->ahead);
	}
	if (log->error)
		return pxtu_log_failed(log);
	return log->foreign ? -ESHUTDOWN : 0;
}
