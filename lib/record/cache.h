/* SPDX-License-Identifier: MIT */
/* The stream that this thread recorded into last, cached for its next event. */
#ifndef PXTU_CACHE_H
#define PXTU_CACHE_H

#include "record/fast.h"

/* Only this thread and its signal handlers write and read it. */
extern __thread struct pxtu_cache pxtu_cache
	__attribute__((__tls_model__("initial-exec"), __visibility__("hidden")));

/**
 * pxtu_cache_fill() - cache a stream for the next event of this thread
 * @slot: a stream that took an event
 * @entry: that event
 *
 * Async-signal-safe.
 */
void pxtu_cache_fill(const struct pxtu_slot *slot, const struct pxtu_entry *entry);

/**
 * pxtu_cache_drop() - invalidate the cache of this thread
 *
 * For a stream that is full or stopped: the fast path would only fail. Async-signal-safe.
 */
void pxtu_cache_drop(void);

#endif /* PXTU_CACHE_H */
