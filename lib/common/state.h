/* SPDX-License-Identifier: MIT */
/*
 * The state of this process. It lies in pages that the kernel empties in a child
 * (MADV_WIPEONFORK), however the child was made. So a child begins unattached and without
 * trace ids, as the standard requires, and cannot use what belongs to its parent.
 */
#ifndef PXTU_STATE_H
#define PXTU_STATE_H

#include "common/pxtu.h"

struct pxtu_trid_table;

/* In pxtu_state.attaching: another thread waits for the end. No thread has such a number. */
#define PXTU_ATTACHING_WAITED	(1 << 30)

#define PXTU_SPARES		8

/**
 * struct pxtu_slot - one stream that traces this process
 * @heads: struct posixtrace_cpu_head of each CPU, mapped; or NULL: then the rest is
 *	not valid
 * @pool: sub-buffers, mapped after the heads
 * @pool_size: bytes
 * @wakeup: need_wakeup of the reader, mapped
 * @stream: number of the stream
 * @max_data: largest data that it records of an event, in bytes
 * @relaxed: it has POSIXTRACE_ORDER_RELAXED
 *
 * In a cache line of its own.
 */
struct pxtu_slot {
	struct posixtrace_cpu_head *heads;
	unsigned char *pool;
	__u64 pool_size;
	const struct posixtrace_wakeup *wakeup;
	__u64 stream;
	__u32 max_data;
	__u32 relaxed;
} __attribute__((__aligned__(64)));

/**
 * struct pxtu_state - state of this process; all zero at first
 */
struct pxtu_state {
	/**
	 * @attaching: the number of a thread while that attaches or updates the slots, with
	 * PXTU_ATTACHING_WAITED or not; otherwise 0. A try-lock for threads that record, a futex
	 * for others
	 */
	int attaching;

	/* Written with @attaching held. */
	/** @attaching_since: coarse time of that, see pxtu_coarse_ms(); others read it as a hint */
	__u32 attaching_since;
	/** @attached: non-zero once the process has had a descriptor */
	int attached;
	/**
	 * @fd: descriptor with the role of a target, 0 for none. The program may close it, and open
	 * another file under its number, at any time: see record/attach.c
	 */
	int fd;
	/** @owner: process id, as this process sees it, of that which opened @fd; 0: none has */
	int owner;
	/** @nr_cpus: number of CPUs that @slot has heads for */
	__u32 nr_cpus;
	/** @pid: process id of this process, as the controllers of all streams in @slot see it */
	__s32 pid;
	/** @sequences: restartable sequences work: 1, do not work: -1, not tried yet: 0 */
	int sequences;
	/**
	 * @generation: generation of the gate that @slot belongs to; restartable sequences read it,
	 * @nr_cpus and the heads
	 */
	__u64 generation;
	/** @target: number of this attachment, from ATTACH */
	__u64 target;
	/** @slot: streams that trace this process */
	struct pxtu_slot slot[POSIXTRACE_SLOTS_MAX];
	/** @sync: answer of SYNC; here, because the stack of a signal handler is small */
	struct posixtrace_slot sync[POSIXTRACE_SLOTS_MAX];

	/* Written by any thread. */
	/**
	 * @spare: more such descriptors, or 0: threads opened them while another one attached. They
	 * stay open, since the program may close the same number at the same time. Written with
	 * compare-and-swap
	 */
	int spare[PXTU_SPARES];
	/** @trids: trace ids; installed once with compare-and-swap */
	struct pxtu_trid_table *trids;
	/**
	 * @pause: end of the pause after a failed attach, in milliseconds; 0 for no pause. A hint,
	 * written by threads that failed, and with 0 by threads that cannot wait
	 */
	__u32 pause;
	/** @full: bit s: the stream in slot s was full at the last try; a hint */
	__u32 full;
	/**
	 * @refused_at: coarse time at which SYNC was refused, see pxtu_coarse_ms(). A hint, as
	 * @refused_generation
	 */
	__u32 refused_at;
	/** @refused_generation: generation of the gate at that time */
	__u64 refused_generation;
};

/* Written once, by pxtu_state_make(). */
extern struct pxtu_state *pxtu_state_page __attribute__((__visibility__("hidden")));

/**
 * pxtu_state_make() - make the state of this process, if there is none
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
 * pxtu_state_trylock() - keep other threads from attaching and from updating the slots
 * @state: state of this process
 * @signals: where to write which signals were blocked; blocks all, see pxtu_signals_block()
 *
 * Async-signal-safe. A thread that was killed keeps the lock for a second; then the
 * next one takes it over.
 *
 * Return: false if another thread holds the lock; then signals are as before.
 */
bool pxtu_state_trylock(struct pxtu_state *state, __u64 *signals);

/**
 * pxtu_state_unlock() - undo pxtu_state_trylock()
 * @state: locked
 * @signals: what pxtu_state_trylock() wrote
 */
void pxtu_state_unlock(struct pxtu_state *state, __u64 signals);

#endif /* PXTU_STATE_H */
