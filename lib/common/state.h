/* SPDX-License-Identifier: MIT */
/*
 * The state of this process. It is in pages that the kernel clears in a child
 * (MADV_WIPEONFORK), however the child was created. A child therefore starts unattached and
 * without trace ids, as the standard requires, and cannot use what belongs to its parent.
 */
#ifndef PXTU_STATE_H
#define PXTU_STATE_H

#include "common/pxtu.h"

struct pxtu_trid_table;

/* In pxtu_state.attaching: another thread waits until it is 0. No thread id has this bit. */
#define PXTU_ATTACHING_WAITED	(1 << 30)

#define PXTU_SPARES		8

/**
 * struct pxtu_slot - one stream that traces this process
 * @heads: struct posixtrace_cpu_head of each CPU, mapped; if NULL, all other fields are
 *	invalid
 * @pool: sub-buffers, mapped after the heads
 * @pool_size: bytes
 * @wakeup: need_wakeup of the reader, mapped
 * @stream: number of the stream
 * @max_data: largest data of an event, in bytes; the rest is truncated
 * @relaxed: the stream has POSIXTRACE_ORDER_RELAXED
 *
 * Each slot is in a separate cache line.
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

/* pxtu_flight.phase */
#define PXTU_FLIGHT_NONE	0	/* the process has no flight recorder */
#define PXTU_FLIGHT_RECORDS	1	/* it has a recorder, without a trace id */
#define PXTU_FLIGHT_SHARING	2	/* a thread is getting a trace id for the recorder */
#define PXTU_FLIGHT_SHARED	3	/* the recorder has a trace id */

/**
 * struct pxtu_flight - the flight recorder of this process, see record/flight.h
 * @phase: PXTU_FLIGHT_*; a futex
 * @changing: non-zero while a thread continues in another log
 * @number: number in the name of the current log, or of the last one that had a name
 * @elsewhere: the current log is a file that the program has passed to posixtrace_rotate()
 * @fd: descriptor of the stream. The program may close it, see pxtu_stream.fd
 * @trid: trace id of the stream, once it has one
 * @create: result of CREATE
 *
 * The thread that changes @phase first sets the fields that the new phase needs. @number and
 * @elsewhere belong to the thread that has set @changing.
 */
struct pxtu_flight {
	int phase;
	int changing;
	unsigned int number;
	bool elsewhere;
	int fd;
	trace_id_t trid;
	struct posixtrace_create create;
};

/**
 * struct pxtu_state - state of this process; initially zero
 */
struct pxtu_state {
	/**
	 * @attaching: id of the thread that is attaching or updating the slots, with or without
	 * PXTU_ATTACHING_WAITED; otherwise 0. A try-lock for threads that record, a futex for
	 * others
	 */
	int attaching;

	/* Written with @attaching held. */
	/** @attaching_since: when @attaching was set, see pxtu_coarse_ms(); a hint for others */
	__u32 attaching_since;
	/** @attached: non-zero once the process has had a descriptor */
	int attached;
	/**
	 * @fd: descriptor with the role of a target, or 0. The program may close it, and open
	 * another file under its number, at any time: see record/attach.c
	 */
	int fd;
	/** @owner: id of the process that opened @fd, as that process sees it; 0: not opened */
	int owner;
	/** @nr_cpus: number of CPUs that @slot has heads for */
	__u32 nr_cpus;
	/** @pid: process id of this process, as the controllers of all streams in @slot see it */
	__s32 pid;
	/** @sequences: restartable sequences: 1: work, -1: do not work, 0: not tried yet */
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
	/** @sync: answer of SYNC; the stack of a signal handler may be too small for it */
	struct posixtrace_slot sync[POSIXTRACE_SLOTS_MAX];

	/* Written by any thread. */
	/**
	 * @spare: more descriptors like @fd, or 0, opened by threads while another thread
	 * attached. They stay open, because the program may close and reuse their numbers at any
	 * time. Written with compare-and-swap
	 */
	int spare[PXTU_SPARES];
	/** @trids: trace ids; installed once with compare-and-swap */
	struct pxtu_trid_table *trids;
	/**
	 * @pause: end of the pause after a failed attach, in milliseconds; 0: no pause. A hint,
	 * set by threads that failed, and cleared by threads that cannot wait
	 */
	__u32 pause;
	/** @full: bit s: the stream in slot s was full at the last try; a hint */
	__u32 full;
	/**
	 * @refused_at: coarse time at which SYNC was refused, see pxtu_coarse_ms(). A hint, like
	 * @refused_generation
	 */
	__u32 refused_at;
	/** @refused_generation: generation of the gate at that time */
	__u64 refused_generation;
	/** @flight: the flight recorder; a child begins without one */
	struct pxtu_flight flight;
};

/* Written once, by pxtu_state_make(). */
extern struct pxtu_state *pxtu_state_page __attribute__((__visibility__("hidden")));

/**
 * pxtu_state_make() - make the state of this process, if it does not exist
 *
 * Async-signal-safe. Keeps errno.
 *
 * Return: the state, NULL if out of memory.
 */
struct pxtu_state *pxtu_state_make(void);

/**
 * pxtu_state() - get the state of this process
 *
 * Return: the state; NULL if out of memory.
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
 * @signals: result: the signals that were blocked; blocks all, see pxtu_signals_block()
 *
 * Async-signal-safe. If a thread is killed while it holds the lock, the next one takes it over
 * after a second.
 *
 * Return: false if another thread holds the lock; then the signals are unchanged.
 */
bool pxtu_state_trylock(struct pxtu_state *state, __u64 *signals);

/**
 * pxtu_state_unlock() - undo pxtu_state_trylock()
 * @state: locked
 * @signals: from pxtu_state_trylock()
 */
void pxtu_state_unlock(struct pxtu_state *state, __u64 signals);

#endif /* PXTU_STATE_H */
