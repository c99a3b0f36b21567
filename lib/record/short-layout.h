/* SPDX-License-Identifier: MIT */
/* Offsets of the members of struct pxtu_note. For the headers of architectures. */
#ifndef PXTU_SHORT_LAYOUT_H
#define PXTU_SHORT_LAYOUT_H

#define PXTU_NOTE_GENERATION	0
#define PXTU_NOTE_LEN_END	8
#define PXTU_NOTE_HEAD		16
#define PXTU_NOTE_POOL		24
#define PXTU_NOTE_LAST_BEGIN	32
#define PXTU_NOTE_WAKEUP	40
#define PXTU_NOTE_IDS		48
#define PXTU_NOTE_THREAD_ID	56
#define PXTU_NOTE_AREA		64
#define PXTU_NOTE_BIT		72
#define PXTU_NOTE_CPU		76
#define PXTU_NOTE_RELAXED	80
#define PXTU_NOTE_NR_CPUS	84
#define PXTU_NOTE_SIZE		88

#define PXTU_AT(number, member) \
	_Static_assert((number) == offsetof(struct pxtu_note, member), "as the sequences have it")

PXTU_AT(PXTU_NOTE_GENERATION, generation);
PXTU_AT(PXTU_NOTE_LEN_END, len_end);
PXTU_AT(PXTU_NOTE_HEAD, head);
PXTU_AT(PXTU_NOTE_POOL, pool);
PXTU_AT(PXTU_NOTE_LAST_BEGIN, last_begin);
PXTU_AT(PXTU_NOTE_WAKEUP, wakeup);
PXTU_AT(PXTU_NOTE_IDS, ids);
PXTU_AT(PXTU_NOTE_THREAD_ID, thread_id);
PXTU_AT(PXTU_NOTE_AREA, area);
PXTU_AT(PXTU_NOTE_BIT, bit);
PXTU_AT(PXTU_NOTE_CPU, cpu);
PXTU_AT(PXTU_NOTE_RELAXED, relaxed);
PXTU_AT(PXTU_NOTE_NR_CPUS, nr_cpus);
_Static_assert(sizeof(struct pxtu_note) == PXTU_NOTE_SIZE, "as the sequences have it");

#undef PXTU_AT

/* It is copied in pairs of words, without the first three. */
_Static_assert(PXTU_NOTE_POOL == 24 && PXTU_NOTE_BIT == 24 + 3 * 16 &&
	       PXTU_NOTE_RELAXED + 8 == PXTU_NOTE_SIZE, "as it is copied");

#endif /* PXTU_SHORT_LAYOUT_H */
