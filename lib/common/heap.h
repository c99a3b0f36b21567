/* SPDX-License-Identifier: MIT */
/*
 * A heap of CPUs, ordered by the time of the next record of each CPU. All inline, because reading
 * spends much of its time here.
 */
#ifndef PXTU_HEAP_H
#define PXTU_HEAP_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/pxtu.h"

/**
 * struct pxtu_heap - the CPUs that have records
 * @time: times of the next records, in nanoseconds since the Epoch. The first one is the smallest
 * @cpu: CPU numbers. With equal times, the CPU with the smallest number comes first
 * @count: CPUs in the heap
 */
struct pxtu_heap {
	__u64 *time;
	__u32 *cpu;
	__u32 count;
};

/**
 * pxtu_heap_init() - make an empty heap
 * @heap: to be initialized
 * @max: number of CPUs
 *
 * Return: false if out of memory. Call pxtu_heap_destroy() in any case.
 */
static inline bool pxtu_heap_init(struct pxtu_heap *heap, size_t max)
{
	heap->time = calloc(max, sizeof(*heap->time));
	heap->cpu = calloc(max, sizeof(*heap->cpu));
	heap->count = 0;
	return heap->time && heap->cpu;
}

/**
 * pxtu_heap_destroy() - free its memory
 * @heap: initialized, or zero
 */
static inline void pxtu_heap_destroy(struct pxtu_heap *heap)
{
	free(heap->time);
	free(heap->cpu);
	heap->time = NULL;
	heap->cpu = NULL;
	heap->count = 0;
}

static inline void pxtu_heap_set(struct pxtu_heap *heap, __u32 i, __u64 time, __u32 cpu)
{
	heap->time[i] = time;
	heap->cpu[i] = cpu;
}

/**
 * pxtu_heap_add() - add a CPU
 * @heap: has room
 * @time: time of its next record
 * @cpu: its number; it is not in the heap yet
 */
static inline void pxtu_heap_add(struct pxtu_heap *heap, __u64 time, __u32 cpu)
{
	__u32 i = heap->count++, parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (heap->time[parent] < time ||
		    (heap->time[parent] == time && heap->cpu[parent] < cpu))
			break;
		pxtu_heap_set(heap, i, heap->time[parent], heap->cpu[parent]);
	}
	pxtu_heap_set(heap, i, time, cpu);
}

/*
 * Replaces the first CPU. Equal times are rare, so they are handled out of the way of the common
 * case.
 */
static inline void pxtu_heap_sink(struct pxtu_heap *heap, __u64 time, __u32 cpu)
{
	const __u64 *times = heap->time;
	const __u32 *cpus = heap->cpu, count = heap->count;
	__u32 i, child;

	for (i = 0; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count) {
			if (pxtu_unlikely(times[child + 1] == times[child]))
				child += cpus[child + 1] < cpus[child];
			else
				child += times[child + 1] < times[child];
		}
		if (times[child] > time || (pxtu_unlikely(times[child] == time) &&
					    cpus[child] > cpu))
			break;
		pxtu_heap_set(heap, i, times[child], cpus[child]);
	}
	pxtu_heap_set(heap, i, time, cpu);
}

/**
 * pxtu_heap_fix() - reorder after the time of the first CPU changed
 * @heap: not empty
 * @time: time of the next record of that CPU
 */
static inline void pxtu_heap_fix(struct pxtu_heap *heap, __u64 time)
{
	pxtu_heap_sink(heap, time, heap->cpu[0]);
}

/**
 * pxtu_heap_remove() - remove the first CPU
 * @heap: not empty
 */
static inline void pxtu_heap_remove(struct pxtu_heap *heap)
{
	if (--heap->count)
		pxtu_heap_sink(heap, heap->time[heap->count], heap->cpu[heap->count]);
}

#endif /* PXTU_HEAP_H */
