// SPDX-License-Identifier: MIT
/*
 * The heap of the CPUs that have blocks in the window; the first one has the smallest time.
 */
#include "log/log.h"

/* No event of this CPU is older than this. */
static __u64 cpu_time(const struct pxtu_log_window *window, const struct pxtu_log_cpu *cpu)
{
	if (cpu->ready)
		return cpu->record.timestamp;
	return cpu->open ? cpu->floor : window->entries[cpu->first].opened;
}

static bool is_before(const struct pxtu_log_window *window, __u32 a, __u32 b)
{
	__u64 time_a = cpu_time(window, &window->cpu[a]);
	__u64 time_b = cpu_time(window, &window->cpu[b]);

	return time_a != time_b ? time_a < time_b : a < b;
}

static void swap(__u32 *heap, __u32 i, __u32 j)
{
	__u32 number = heap[i];

	heap[i] = heap[j];
	heap[j] = number;
}

void pxtu_heap_add(struct pxtu_log_window *window, __u32 cpu)
{
	__u32 *heap = window->heap, i = window->nr_heap++;

	heap[i] = cpu;
	for (; i && is_before(window, heap[i], heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(heap, i, (i - 1) / 2);
}

void pxtu_heap_fix(struct pxtu_log_window *window)
{
	__u32 *heap = window->heap, i = 0, child;

	if (window->cpu[heap[0]].first == PXTU_LOG_NONE)
		heap[0] = heap[--window->nr_heap];
	while ((child = 2 * i + 1) < window->nr_heap) {
		if (child + 1 < window->nr_heap &&
		    is_before(window, heap[child + 1], heap[child]))
			child++;
		if (!is_before(window, heap[child], heap[i]))
			break;
		swap(heap, i, child);
		i = child;
	}
}
