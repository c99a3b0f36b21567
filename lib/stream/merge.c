// SPDX-License-Identifier: MIT
/*
 * Merges the CPUs by time: a heap of those that have records, with the oldest record of each.
 *
 * If a record happened before another one, on any CPUs, it has the smaller time and was
 * committed first: a reader that sees the other one sees it too when it looks afterwards. So
 * the reader looks at the CPUs outside of the heap each time that it has seen new records
 * elsewhere, until it sees no more. Then all that happened before any visible record is
 * visible, and it may take these records without another look at the other CPUs.
 */
#include "stream/reader.h"

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

	for (word = 0; word <= reader->nr_cpus / 64; word++) {
		/* Pairs with the kernel's release after it has published oldest[]. */
		holders = pxtu_load_acquire(&reader->holders[word]);
		for (; holders; holders &= holders - 1) {
			cpu = word * 64 + (__u32)__builtin_ctzll(holders);
			if (cpu > reader->nr_cpus || reader->cpu[cpu].queued ||
			    pxtu_subbuf_is_quiet(reader, cpu) ||
			    !pxtu_subbuf_peek(reader, cpu, &reader->cpu[cpu].cand))
				continue;
			add(reader, cpu);
			reader->news = true;
		}
	}
}

/* The first CPU of the heap lost its record: find the next one. */
static void refill(struct pxtu_reader *reader)
{
	__u32 cpu = reader->heap.item[0].cpu;
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
	 * Each round but the last finds a record on a CPU outside of the heap, so the rounds
	 * end, no matter what the traced processes do.
	 */
	while (reader->news || !reader->heap.count) {
		reader->news = false;
		scan(reader);
		if (!reader->heap.count)
			return NULL;
	}
	return &reader->cpu[reader->heap.item[0].cpu].cand;
}

bool pxtu_merge_take(struct pxtu_reader *reader)
{
	reader->taken = true;
	return pxtu_subbuf_take(reader, &reader->cpu[reader->heap.item[0].cpu].cand);
}

bool pxtu_merge_take_run(struct pxtu_reader *reader, const struct pxtu_run_end *end)
{
	reader->taken = true;
	return pxtu_subbuf_take_run(reader, &reader->cpu[reader->heap.item[0].cpu].cand, end);
}

void pxtu_merge_clear(struct pxtu_reader *reader)
{
	__u32 cpu;

	for (cpu = 0; cpu <= reader->nr_cpus; cpu++) {
		reader->cpu[cpu].queued = false;
		reader->cpu[cpu].view.open = false;
	}
	reader->heap.count = 0;
	reader->news = false;
	reader->taken = false;
}
