// SPDX-License-Identifier: MIT
/*
 * The window: an index of the blocks of two epochs. The records of an epoch are older than
 * those of the next epoch but one, so the next event is always in the window. The size of the
 * log does not matter.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

#define ENTRIES_MIN	256U

/* The list of damaged places is the last one. */
static __u32 damage_cpu(const struct pxtu_log *log)
{
	return pxtu_log_nr_lists(log) - 1;
}

int pxtu_window_init(struct pxtu_log *log)
{
	struct pxtu_log_window *window = &log->window;

	window->cpu = calloc(pxtu_log_nr_lists(log), sizeof(*window->cpu));
	return pxtu_heap_init(&window->heap, pxtu_log_nr_lists(log)) && window->cpu ? 0 : -ENOMEM;
}

void pxtu_window_destroy(struct pxtu_log *log)
{
	struct pxtu_log_window *window = &log->window;
	__u32 i;

	for (i = 0; window->cpu && i < pxtu_log_nr_lists(log); i++)
		free(window->cpu[i].chunk);
	free(window->cpu);
	pxtu_heap_destroy(&window->heap);
	free(window->entries);
}

static void forget_entries(struct pxtu_log *log)
{
	struct pxtu_log_window *window = &log->window;
	__u32 i;

	for (i = 0; i < pxtu_log_nr_lists(log); i++) {
		free(window->cpu[i].chunk);
		window->cpu[i] = (struct pxtu_log_cpu){
			.first = PXTU_LOG_NONE,
			.last = PXTU_LOG_NONE,
		};
	}
	window->heap.count = 0;
	window->used = 0;
	window->free = PXTU_LOG_NONE;
	window->left[0] = 0;
	window->left[1] = 0;
	window->have_ahead = false;
	window->settled = false;
	window->partial = false;
	window->crowded = false;
	window->nr_gaps = 0;
	window->overwrite_watermark = 0;
	window->lost = 0;
	window->skipped = 0;
}

void pxtu_window_start(struct pxtu_log *log)
{
	struct pxtu_log_window *window = &log->window;

	forget_entries(log);
	window->walk = log->facts.start;
	/* The oldest block of the last time may be overwritten. */
	if (log->head.ring_end)
		pxtu_log_walk_start(log, &window->walk);
	window->begun = false;
	window->ended = false;
	window->read = 0;
	window->epoch = 0;
	window->last_epoch = 0;
	window->time = log->head.attr.creation_time;
	window->generation = log->facts.start_generation;
	log->queue.next = 0;
	log->queue.count = 0;
}

/* Reserve a place for the next entry. */
static int entry_reserve(struct pxtu_log_window *window)
{
	__u32 room = window->room ? 2 * window->room : ENTRIES_MIN;
	struct pxtu_log_entry *entries;

	if (window->free != PXTU_LOG_NONE || window->used < window->room)
		return 0;
	entries = realloc(window->entries, room * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	window->entries = entries;
	window->room = room;
	return 0;
}

/* No event of this CPU is older than this. */
static __u64 cpu_time(const struct pxtu_log_window *window, const struct pxtu_log_cpu *cpu)
{
	if (cpu->ready)
		return cpu->record.timestamp;
	return cpu->open ? cpu->floor : window->entries[cpu->first].opened;
}

static void entry_add(struct pxtu_log *log, __u32 number, const struct pxtu_log_entry *entry)
{
	struct pxtu_log_window *window = &log->window;
	struct pxtu_log_cpu *cpu = &window->cpu[number];
	bool idle = cpu->first == PXTU_LOG_NONE;
	__u32 idx = window->free;

	if (idx != PXTU_LOG_NONE)
		window->free = window->entries[idx].next;
	else
		idx = window->used++;
	window->entries[idx] = *entry;
	window->entries[idx].next = PXTU_LOG_NONE;
	if (!window->left[0])
		window->epoch = entry->epoch;
	window->left[entry->epoch > window->epoch]++;
	if (idle)
		cpu->first = idx;
	else
		window->entries[cpu->last].next = idx;
	cpu->last = idx;
	if (idle)
		pxtu_heap_add(&window->heap, cpu_time(window, cpu), number);
}

void pxtu_window_fix(struct pxtu_log_window *window)
{
	const struct pxtu_log_cpu *cpu = &window->cpu[window->heap.cpu[0]];

	if (cpu->first == PXTU_LOG_NONE)
		pxtu_heap_remove(&window->heap);
	else
		pxtu_heap_fix(&window->heap, cpu_time(window, cpu));
}

void pxtu_window_pop(struct pxtu_log *log, struct pxtu_log_cpu *cpu)
{
	struct pxtu_log_window *window = &log->window;
	__u32 idx = cpu->first;
	struct pxtu_log_entry *entry = &window->entries[idx];

	cpu->first = entry->next;
	cpu->open = false;
	cpu->ready = false;
	if (cpu->first == PXTU_LOG_NONE) {
		free(cpu->chunk);
		cpu->chunk = NULL;
	}
	window->left[entry->epoch > window->epoch]--;
	entry->next = window->free;
	window->free = idx;
	if (window->left[0])
		return;
	/* The next epoch is the oldest now, and one more fits into the window. */
	window->left[0] = window->left[1];
	window->left[1] = 0;
	window->epoch++;
	window->settled = false;
}

void pxtu_window_put_back(struct pxtu_log *log, struct pxtu_log_cpu *cpu)
{
	const struct pxtu_log_entry *entry = &log->window.entries[cpu->first];
	struct pxtu_log_walk *walk = &log->window.walk;

	/* As if the block before it were the newest. */
	walk->offset = entry->offset - log->head.block_size;
	walk->newest_end = walk->offset;
	walk->seq--;
	walk->newest = walk->seq - 1;
	log->window.read -= log->head.block_size + entry->size;
	log->window.partial = true;
	pxtu_window_pop(log, cpu);
}

/* A place is reserved. */
static void add_damage(struct pxtu_log *log)
{
	const struct pxtu_log_entry entry = {
		.opened = log->window.time,
		.closed = log->window.time,
		.epoch = log->window.last_epoch,
	};

	log->facts.damaged = true;
	entry_add(log, damage_cpu(log), &entry);
}

/* Blocks come in the order of their writing: note losses before this one. */
static void note_gap(struct pxtu_log_window *window, const struct posixtrace_log_block *head)
{
	struct pxtu_log_gap *gap;

	if (head->gap_generation <= window->generation)
		return;
	window->generation = head->gap_generation;
	if (window->nr_gaps < PXTU_LOG_GAPS_MAX) {
		gap = &window->gap[window->nr_gaps++];
		gap->first = head->gap_first;
	}
	gap = &window->gap[window->nr_gaps - 1];
	gap->generation = head->gap_generation;
	if (head->gap_first < gap->first)
		gap->first = head->gap_first;
}

/* A place is reserved. */
static void add_block(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	const struct posixtrace_log_block *head = &block->head;
	struct pxtu_log_window *window = &log->window;
	struct pxtu_log_entry entry = {
		.offset = block->offset + log->head.block_size,
		.opened = head->opened,
		.closed = head->closed,
		.epoch = window->last_epoch,
		.lost = head->lost,
		.size = head->size,
		.payload_crc = head->payload_crc,
		.crc = head->crc,
	};

	/* A loss before the oldest block of a LOOP log is part of what the log overwrote. */
	if (!window->begun && log->head.ring_end && head->seq > 1) {
		window->generation = head->gap_generation;
		window->lost = head->lost;
	}
	window->begun = true;
	note_gap(window, head);
	if (head->overwrite_watermark > window->overwrite_watermark)
		window->overwrite_watermark = head->overwrite_watermark;
	entry.generation = window->generation;
	entry.overwrite_watermark = window->overwrite_watermark;
	window->time = head->closed;
	entry_add(log, head->type == POSIXTRACE_LOG_KERNEL ? log->head.nr_cpus + 1 + head->cpu :
							    head->cpu, &entry);
}

/* The stream was cleared: forget all events that are not reported yet. */
static void reset(struct pxtu_log *log, const struct pxtu_log_block *block)
{
	struct pxtu_log_window *window = &log->window;

	forget_entries(log);
	if (block->head.gap_generation)
		window->generation = block->head.gap_generation;
	/* The survey may have found a later RESET already. */
	if (window->walk.seq <= log->facts.start.seq)
		return;
	log->facts.start = window->walk;
	log->facts.start_generation = window->generation;
}

/* Walk to the next block. False if there is none now. A place is reserved. */
static bool look_ahead(struct pxtu_log *log)
{
	struct pxtu_log_window *window = &log->window;
	struct pxtu_log_block *ahead = &window->ahead;
	struct pxtu_log_walk before;
	enum pxtu_log_step step;

	if (window->ended || window->partial) {
		window->partial = false;
		return false;
	}
	before = window->walk;
	step = pxtu_log_walk(log, &window->walk, ahead);
	if (log->error)
		window->walk = before;
	if (log->error || step == PXTU_LOG_NOTHING)
		return false;
	if (step == PXTU_LOG_DAMAGE)
		add_damage(log);
	if (ahead->head.type)
		window->read += pxtu_log_block_bytes(log, ahead);
	switch (ahead->head.type) {
	case POSIXTRACE_LOG_EVENTS:
	case POSIXTRACE_LOG_KERNEL:
		window->have_ahead = true;
		/* Epochs never fall, or the window would never move on. */
		if (ahead->head.epoch > window->last_epoch)
			window->last_epoch = ahead->head.epoch;
		break;
	case POSIXTRACE_LOG_RESET:
		reset(log, ahead);
		break;
	case POSIXTRACE_LOG_END:
		window->ended = true;
		break;
	}
	return true;
}

int pxtu_window_fill(struct pxtu_log *log)
{
	struct pxtu_log_window *window = &log->window;
	__u32 count;

	/* Errors of reading a block in the window are reported as damage. */
	log->error = 0;
	for (;;) {
		count = window->left[0] + window->left[1];
		if (count && window->settled)
			break;
		if (window->crowded && count > PXTU_LOG_ENTRIES_MAX / 2)
			break;
		window->crowded = false;
		if (entry_reserve(window))
			return -ENOMEM;
		if (count >= PXTU_LOG_ENTRIES_MAX) {
			/* No writer makes so many. Report all of them, in order or not. */
			window->crowded = true;
			add_damage(log);
			break;
		}
		if (!window->have_ahead) {
			window->settled = !look_ahead(log);
			if (!window->settled)
				continue;
			/* Not settled after an error: there may be a block the next time. */
			window->settled = !log->error;
			break;
		}
		if (count && window->last_epoch > window->epoch + 1) {
			window->settled = true;
			break;
		}
		window->have_ahead = false;
		add_block(log, &window->ahead);
	}
	if (log->error)
		return pxtu_log_failed(log);
	return log->foreign ? -ESHUTDOWN : 0;
}
