/* SPDX-License-Identifier: MIT */
/* Offsets of the members of struct pxtu_cache, for the architecture headers. */
#ifndef PXTU_FAST_LAYOUT_H
#define PXTU_FAST_LAYOUT_H

#define PXTU_CACHE_GENERATION	0
#define PXTU_CACHE_LEN_END	8
#define PXTU_CACHE_HEAD		16
#define PXTU_CACHE_POOL		24
#define PXTU_CACHE_LAST_BEGIN	32
#define PXTU_CACHE_WAKEUP	40
#define PXTU_CACHE_IDS		48
#define PXTU_CACHE_THREAD_ID	56
#define PXTU_CACHE_AREA		64
#define PXTU_CACHE_BIT		72
#define PXTU_CACHE_CPU		76
#define PXTU_CACHE_RELAXED	80
#define PXTU_CACHE_NR_CPUS	84
#define PXTU_CACHE_SIZE		88

#define PXTU_AT(number, member) \
	_Static_assert((number) == offsetof(struct pxtu_cache, member), "must match the sequences")

PXTU_AT(PXTU_CACHE_GENERATION, generation);
PXTU_AT(PXTU_CACHE_LEN_END, len_end);
PXTU_AT(PXTU_CACHE_HEAD, head);
PXTU_AT(PXTU_CACHE_POOL, pool);
PXTU_AT(PXTU_CACHE_LAST_BEGIN, last_begin);
PXTU_AT(PXTU_CACHE_WAKEUP, wakeup);
PXTU_AT(PXTU_CACHE_IDS, ids);
PXTU_AT(PXTU_CACHE_THREAD_ID, thread_id);
PXTU_AT(PXTU_CACHE_AREA, area);
PXTU_AT(PXTU_CACHE_BIT, bit);
PXTU_AT(PXTU_CACHE_CPU, cpu);
PXTU_AT(PXTU_CACHE_RELAXED, relaxed);
PXTU_AT(PXTU_CACHE_NR_CPUS, nr_cpus);
_Static_assert(sizeof(struct pxtu_cache) == PXTU_CACHE_SIZE, "must match the sequences");

#undef PXTU_AT

/* PXTU_FAST_FILL copies the structure in pairs of words, except for the first three words. */
_Static_assert(PXTU_CACHE_POOL == 24 && PXTU_CACHE_BIT == 24 + 3 * 16 &&
	       PXTU_CACHE_RELAXED + 8 == PXTU_CACHE_SIZE, "as it is copied");

#endif /* PXTU_FAST_LAYOUT_H */
