/* SPDX-License-Identifier: MIT */
/*
 * What the library knows about the process it is in. All of it lies in pages
 * that the kernel empties in a child (MADV_WIPEONFORK), however the child was
 * made: a child begins unattached and without trace ids, as the standard wants,
 * and can not use what belongs to its parent.
 */
#ifndef PXTU_STATE_H
#define PXTU_STATE_H

#include <signal.h>

#include "common/pxtu.h"

struct pxtu_trid_table;

#define PXTU_ATTACHING		1
#define PXTU_ATTACHING_WAITED	2	/* and somebody waits for the end of it */

#define PXTU_SPARES		8

/**
 * struct pxtu_slot - what we know of one stream that traces this process
 * @heads: struct posixtrace_cpu_head of each CPU, mapped; or NULL: then the rest is
 *	not valid
 * @pool: its sub-buffers, mapped behind them
 * @pool_size: bytes
 * @wakeup: mapped, too
 * @stream: its number
 * @max_data: bytes of data that it takes of an event
 * @pid: process id of this process, as its controller sees it
 */
struct pxtu_slot {
	struct posixtrace_cpu_head *heads;
	unsigned char *pool;
	__u64 pool_size;
	const struct posixtrace_wakeup *wakeup;
	__u64 stream;
	__u32 max_data;
	__s32 pid;
};

/**
 * struct pxtu_state - state of this process; all zero at first
 * @attached: non-zero when the gate of this process is in place; written with
 *	@attaching held
 * @fd: descriptor that has the role of a target, 0 for none. The program may close
 *	it, and open another file under its number, at any time: attach.c. Written
 *	with @attaching held
 * @attaching: PXTU_ATTACHING* while a thread attaches or takes note of streams;
 *	a try-lock for those who record, a futex for others
 * @absent: non-zero if the module was not there at the last try; written with
 *	@attaching held, a hint
 * @pause: until when no thread tries again to attach, because it failed: milliseconds,
 *	0 for no pause; a hint, written by those who failed, and with 0 by those who need it
 * @spare: more such descriptors, or 0: those that threads opened while another one
 *	attached. Kept, since a descriptor that others may close too is better not
 *	closed. Written with compare-and-swap
 * @trids: trace ids; installed once with compare-and-swap
 * @full: bit s: the stream in slot s was full when somebody last tried; a hint
 * @generation: of the gate that belongs to @slot. This and what follows is written
 *	with @attaching held; this, @nr_cpus and the heads are read in restartable
 *	sequences
 * @nr_cpus: CPUs that @slot has heads of
 * @sequences: restartable sequences can be used: 1, or not: -1, or nobody has tried: 0
 * @target: number of this process, from ATTACH
 * @slot: streams that trace this process
 * @sync: what SYNC said; here, for there is not much room on the stack of a
 *	signal handler
 */
struct pxtu_state {
	int attached;
	int fd;
	int attaching;
	int absent;
	__u32 pause;
	int spare[PXTU_SPARES];
	struct pxtu_trid_table *trids;
	__u32 full;
	__u32 generation;
	__u32 nr_cpus;
	int sequences;
	__u64 target;
	struct pxtu_slot slot[POSIXTRACE_SLOTS_MAX];
	struct posixtrace_slot sync[POSIXTRACE_SLOTS_MAX];
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

/**
 * pxtu_state_trylock() - nobody else attaches or takes note of streams
 * @state: state of this process
 * @signals: where to write which signals were blocked: from now on all are
 *
 * Async-signal-safe. Changes errno.
 *
 * Return: false if somebody does; then signals are as before.
 */
bool pxtu_state_trylock(struct pxtu_state *state, sigset_t *signals);

/**
 * pxtu_state_unlock() - end of pxtu_state_trylock()
 * @state: locked
 * @signals: what that wrote
 */
void pxtu_state_unlock(struct pxtu_state *state, const sigset_t *signals);

#endif /* PXTU_STATE_H */
