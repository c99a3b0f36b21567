/* SPDX-License-Identifier: MIT */
/*
 * A heap of CPUs, ordered by the time of the next record of each. All inline: it has no more
 * state than the array, and reading spends much of its time here.
 */
#ifndef PXTU_HEAP_H
#define PXTU_HEAP_H

#include <linux/types.h>

/**
 * struct pxtu_heap_item - a CPU that has a record
 * @time: of that record, in nanoseconds since the Epoch; no other of this CPU is older
 * @cpu: number of the CPU
 */
struct pxtu_heap_item {
	__u64 time;
	__u32 cpu;
};

/**
 * struct pxtu_heap - the CPUs that have records
 * @item: room for all CPUs; the first has the smallest time, and of equal times the CPU with
 *	the smallest number
 * @count: CPUs in the heap
 */
struct pxtu_heap {
	struct pxtu_heap_item *item;
	__u32 count;
};

/*
 * Field by field: a copy of all 16 bytes at once would wait until the two stores before it have
 * left the store buffer.
 */
static inline void pxtu_heap_set(struct pxtu_heap *heap, __u32 i, const struct pxtu_heap_item *item)
{
	heap->item[i].time = item->time;
	heap->item[i].cpu = item->cpu;
}

static inline int pxtu_heap_before(const struct pxtu_heap_item *a, const struct pxtu_heap_item *b)
{
	return a->time != b->time ? a->time < b->time : a->cpu < b->cpu;
}

/**
 * pxtu_heap_add() - add a CPU
 * @heap: has room
 * @time: of its next record
 * @cpu: its number; it is not in the heap
 */
static inline void pxtu_heap_add(struct pxtu_heap *heap, __u64 time, __u32 cpu)
{
	const struct pxtu_heap_item item = { .time = time, .cpu = cpu };
	__u32 i = heap->count++, parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (!pxtu_heap_before(&item, &heap->item[parent]))
			break;
		pxtu_heap_set(heap, i, &heap->item[parent]);
	}
	pxtu_heap_set(heap, i, &item);
}

/**
 * pxtu_heap_second() - the smallest item but the first
 * @heap: not empty
 *
 * Return: that item; behind all others if there is only one.
 */
static inline struct pxtu_heap_item pxtu_heap_second(const struct pxtu_heap *heap)
{
	const struct pxtu_heap_item none = { .time = ~0ULL, .cpu = ~0U };

	if (heap->count < 2)
		return none;
	if (heap->count > 2 && pxtu_heap_before(&heap->item[2], &heap->item[1]))
		return heap->item[2];
	return heap->item[1];
}

/* Puts an item into the place of the first one. */
static inline void pxtu_heap_sink(struct pxtu_heap *heap, struct pxtu_heap_item item)
{
	__u32 i = 0, child;

	while ((child = 2 * i + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    pxtu_heap_before(&heap->item[child + 1], &heap->item[child]))
			child++;
		if (!pxtu_heap_before(&heap->item[child], &item))
			break;
		pxtu_heap_set(heap, i, &heap->item[child]);
		i = child;
	}
	pxtu_heap_set(heap, i, &item);
}

/**
 * pxtu_heap_fix() - reorder after the time of the first CPU changed
 * @heap: not empty
 * @time: of the next record of that CPU
 */
static inline void pxtu_heap_fix(struct pxtu_heap *heap, __u64 time)
{
	pxtu_heap_sink(heap, (struct pxtu_heap_item){ .time = time, .cpu = heap->item[0].cpu });
}

/**
 * pxtu_heap_remove() - remove the first CPU
 * @heap: not empty
 */
static inline void pxtu_heap_remove(struct pxtu_heap *heap)
{
	if (--heap->count)
		pxtu_heap_sink(heap, heap->item[heap->count]);
}

#endif /* PXTU_HEAP_H */
