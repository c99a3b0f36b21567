// SPDX-License-Identifier: MIT
/*
 * Merges the CPUs by time: a heap of the CPUs that have records, with the oldest record of each.
 *
 * If a record happened before another one, on any CPUs, it has the smaller time and was committed
 * first. So a reader that has seen the second record also sees the first one if it looks
 * afterwards. Whenever the reader has seen new records, it therefore looks at the CPUs outside of
 * the heap, until it finds no more. Then it knows all records that happened before any record in
 * the heap, and may take the records of the heap without looking at the other CPUs.
 */
#include "stream/merge.h"
#include "stream/reader.h"
#include "stream/subbuf.h"

static void add(struct pxtu_reader *reader, __u32 cpu)
{
	struct pxtu_reader_cpu *state = &reader->cpu[cpu];

	state->queued = true;
	pxtu_heap_add(&reader->heap, state->cand.record.timestamp, cpu);
}

/* Look at the CPUs outside of the heap. */
static void scan(struct pxtu_reader *reader)
{
	__u32 word, cpu;
	__u64 holders;

	for (word = 0; word <= (reader->nr_lists - 1) / 64; word++) {
		/*
		 * Pairs with the release in the kernel's pxt_reclaim_set_holder(): oldest[] is set.
		 */
		holders = pxtu_load_acquire(&reader->holders[word]);
		for (; holders; holders &= holders - 1) {
			cpu = word * 64 + (__u32)__builtin_ctzll(holders);
			if (cpu >= reader->nr_lists || reader->cpu[cpu].queued ||
			    pxtu_subbuf_is_quiet(reader, cpu) ||
			    !pxtu_subbuf_peek(reader, cpu, &reader->cpu[cpu].cand))
				continue;
			add(reader, cpu);
			reader->news = true;
		}
	}
}

/* The record of the first CPU in the heap was taken or lost: find its next one. */
static void refill(struct pxtu_reader *reader)
{
	__u32 cpu = reader->heap.cpu[0];
	struct pxtu_candidate *cand = &reader->cpu[cpu].cand;

	if (!pxtu_subbuf_following(reader, cpu, cand)) {
		if (!pxtu_subbuf_peek(reader, cpu, cand)) {
			reader->cpu[cpu].queued = false;
			pxtu_heap_remove(&reader->heap);
			return;
		}
		reader->news = true;
	}
	pxtu_heap_fix(&reader->heap, cand->record.timestamp);
}

const struct pxtu_candidate *pxtu_merge_first(struct pxtu_reader *reader)
{
	if (reader->taken)
		refill(reader);
	reader->taken = false;
	/*
	 * Each round but the last finds a record on a CPU outside of the heap, so the loop
	 * terminates, no matter what the traced processes do.
	 */
	while (reader->news || !reader->heap.count) {
		reader->news = false;
		scan(reader);
		if (!reader->heap.count)
			return NULL;
	}
	return &reader->cpu[reader->heap.cpu[0]].cand;
}

bool pxtu_merge_take(struct pxtu_reader *reader)
{
	reader->taken = true;
	return pxtu_subbuf_take(reader, &reader->cpu[reader->heap.cpu[0]].cand);
}

/* Remove CPUs that are not queued from the heap. */
static void remove_unqueued(struct pxtu_reader *reader)
{
	struct pxtu_heap *heap = &reader->heap;
	__u32 i, count = heap->count;

	heap->count = 0;
	for (i = 0; i < count; i++) {
		if (reader->cpu[heap->cpu[i]].queued)
			pxtu_heap_add(heap, heap->time[i], heap->cpu[i]);
	}
}

bool pxtu_merge_take_runs(struct pxtu_reader *reader)
{
	const __u32 first = reader->heap.cpu[0];
	bool all_taken = true, all_queued = true;
	struct pxtu_reader_cpu *state;
	__u32 cpu;

	for (cpu = reader->runs; cpu != PXTU_NO_RUN; cpu = state->run_next) {
		state = &reader->cpu[cpu];
		/* Nothing was copied: the program's buffer had no room for the data. */
		if (!state->run.count)
			continue;
		/* After a failure, leave the records of the remaining CPUs, to be read again. */
		if (!all_taken || !pxtu_subbuf_take_run(reader, &state->cand, &state->run)) {
			state->run.count = 0;
			all_taken = false;
		}
		if (cpu == first) {
			reader->taken = true;
			continue;
		}
		/*
		 * The heap has the time of the next record. If there is no such record now, remove
		 * the CPU from the heap: the next scan looks for its oldest record.
		 */
		if (!state->run.count || !pxtu_subbuf_following(reader, cpu, &state->cand) ||
		    state->cand.record.timestamp != state->list.next->timestamp) {
			state->queued = false;
			/* There may be records, so the next scan must not skip the CPU as quiet. */
			state->view.open = false;
			all_queued = false;
		}
	}
	if (!all_queued) {
		remove_unqueued(reader);
		reader->news = true;
	}
	return all_taken;
}

void pxtu_merge_end_runs(struct pxtu_reader *reader)
{
	struct pxtu_reader_cpu *state;

	for (; reader->runs != PXTU_NO_RUN; reader->runs = state->run_next) {
		state = &reader->cpu[reader->runs];
		state->run.count = 0;
		state->list.next = NULL;
		state->list.end = NULL;
	}
	reader->runs_end = PXTU_NO_RUN;
}

void pxtu_merge_clear(struct pxtu_reader *reader)
{
	__u32 cpu;

	for (cpu = 0; cpu < reader->nr_lists; cpu++) {
		reader->cpu[cpu].queued = false;
		reader->cpu[cpu].view.open = false;
	}
	reader->heap.count = 0;
	reader->news = false;
	reader->taken = false;
}
