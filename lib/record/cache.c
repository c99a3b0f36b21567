// SPDX-License-Identifier: MIT
/* Caches the last stream that this thread recorded into, for the next event. */
#include "record/cache.h"

__thread struct pxtu_cache pxtu_cache;

void pxtu_cache_fill(const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	const __u32 max_data = pxtu_load(&slot->max_data);
	const struct pxtu_cache fresh = {
		.generation = entry->generation,
		.len_end = (max_data < PXTU_FAST_MAX ? max_data : PXTU_FAST_MAX) + 1,
		.head = pxtu_load(&slot->heads),
		.pool = pxtu_load(&slot->pool),
		.last_begin = pxtu_load(&slot->pool_size) - PXTU_FAST_RECORD_MAX,
		.wakeup = pxtu_load(&slot->wakeup),
		.ids = entry->ids,
		.thread_id = entry->thread_id,
		.area = entry->area,
		.bit = entry->bit,
		.relaxed = pxtu_load(&slot->relaxed),
		.nr_cpus = entry->nr_cpus,
	};

	/*
	 * The cache already has this stream and CPU: only this event could not take the fast path.
	 */
	if (pxtu_load(&pxtu_cache.generation) == fresh.generation &&
	    pxtu_load(&pxtu_cache.bit) == fresh.bit &&
	    pxtu_load(&pxtu_cache.cpu) == pxtu_rseq_cpu(fresh.area))
		return;
	pxtu_fast_fill(&pxtu_cache, &fresh);
}

void pxtu_cache_drop(void)
{
	pxtu_store(&pxtu_cache.len_end, 0);
	pxtu_store(&pxtu_cache.generation, 0);
}
