/* SPDX-License-Identifier: MIT */
/*
 * What the library knows about the process it is in. All of it lies in one page
 * that the kernel empties in a child (MADV_WIPEONFORK), however the child was
 * made: a child begins unattached and without trace ids, as the standard wants,
 * and can not use what belongs to its parent.
 */
#ifndef PXTU_STATE_H
#define PXTU_STATE_H

#include "pxtu.h"

struct pxtu_trid_table;

#define PXTU_ATTACHING		1
#define PXTU_ATTACHING_WAITED	2	/* and somebody waits for the end of it */

/**
 * struct pxtu_state - state of this process; all zero at first
 * @attached: non-zero when the gate of this process is in place; written with
 *	@attaching held
 * @fd: descriptor that has the role of a target, 0 for none. Written with
 *	@attaching held, or with compare-and-swap to 0 when the program closed it
 * @attaching: PXTU_ATTACHING* while a thread attaches; a try-lock for those who
 *	record, a futex for others
 * @absent: non-zero if the module was not there at the last try; written by
 *	everybody who tries, a hint
 * @trids: trace ids; installed once with compare-and-swap
 */
struct pxtu_state {
	int attached;
	int fd;
	int attaching;
	int absent;
	struct pxtu_trid_table *trids;
};

/* Written once, by pxtu_state_make(). */
extern struct pxtu_state *pxtu_state_page __attribute__((__visibility__("hidden")));

/**
 * pxtu_state_make() - make the state of this process, or find it made
 *
 * Async-signal-safe. Keeps errno.
 *
 * Return: the state, NULL without memory.
 */
struct pxtu_state *pxtu_state_make(void);

/**
 * pxtu_state() - state of this process
 *
 * Return: the state; NULL without memory.
 */
static inline struct pxtu_state *pxtu_state(void)
{
	/* Pairs with the compare-and-swap in pxtu_state_make(). */
	struct pxtu_state *state = pxtu_load_acquire(&pxtu_state_page);

	return pxtu_likely(state) ? state : pxtu_state_make();
}

#endif /* PXTU_STATE_H */
