/* SPDX-License-Identifier: MIT */
/* Caches the last stream that this thread recorded into, for the next event. */
#ifndef PXTU_CACHE_H
#define PXTU_CACHE_H

#include "record/fast.h"

/* Accessed only by this thread and its signal handlers. */
extern __thread struct pxtu_cache pxtu_cache
	__attribute__((__tls_model__("initial-exec"), __visibility__("hidden")));

/**
 * pxtu_cache_fill() - cache a stream for the next event of this thread
 * @slot: a stream that took an event
 * @entry: the record of that event
 *
 * Async-signal-safe.
 */
void pxtu_cache_fill(const struct pxtu_slot *slot, const struct pxtu_entry *entry);

/**
 * pxtu_cache_drop() - invalidate the cache of this thread
 *
 * Called for a full or stopped stream, where the fast path can only fail. Async-signal-safe.
 */
void pxtu_cache_drop(void);

#endif /* PXTU_CACHE_H */
