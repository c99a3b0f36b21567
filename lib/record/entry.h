/* SPDX-License-Identifier: MIT */
/* Arguments and results of the restartable sequences. */
#ifndef PXTU_ENTRY_H
#define PXTU_ENTRY_H

#include "common/state.h"

/* glibc registers threads since 2.35; other libraries do not. */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 35))
#define PXTU_THREADS_REGISTERED
#include <sys/rseq.h>
#if defined(__x86_64__) || defined(__AARCH64EL__)
#define PXTU_SEQUENCES		/* there are restartable sequences */
#endif
#endif

#define PXTU_PIECE	16U	/* bytes of data per copy */

/**
 * struct pxtu_entry - a record to be written, for all streams
 *
 * Generations are unique among gates, and a gate never reuses one. A single comparison therefore
 * tells a sequence that the slot has the stream that the kernel means, that this process is not a
 * child with a copy of the memory, and that the ids belong to this thread.
 *
 * Write each word in the size in which it is read, because the CPU cannot forward two smaller
 * stores from its store buffer to one larger load.
 */
struct pxtu_entry {
	/** @header: first word of struct posixtrace_record, without the time */
	__u64 header;
	/**
	 * @prog_address: last word of struct posixtrace_record; in a packed record, the lower half
	 * of the address and the first bytes of the data
	 */
	__u64 prog_address;
	/** @data: pieces of data to copy, after the header and the address */
	const void *data;
	/** @rest: the data after the pieces, padded with zeros */
	__u64 rest[2];
	/** @step: how far the head of the CPU moves, without struct posixtrace_writer */
	__u64 step;
	/** @time: timestamp; 0: not taken yet */
	__u64 time;
	/** @enable: word of the gate for the event type */
	const __u32 *enable;
	/** @generation: gate generation that slots and ids belong to */
	__u64 generation;
	/** @writer: first word of struct posixtrace_writer */
	__u64 writer;
	/** @ids: pid and tid of the thread, in one word, as in struct posixtrace_writer */
	__u64 ids;
	/** @thread_id: pthread_t of the thread */
	__u64 thread_id;
	/** @area: struct rseq of the thread */
	struct rseq *area;
	/** @bit: bit of the stream in the word at @enable */
	__u32 bit;
	/** @nr_cpus: number of CPUs that a slot has heads for */
	__u32 nr_cpus;
	/** @pieces: number of pieces at @data */
	__u32 pieces;
	/** @rest_words: number of words of @rest to copy, 0 to 2 */
	__u32 rest_words;
	/**
	 * @written: timestamp of the record if the time was taken before the sequence. If it is 0,
	 * the record has @time
	 */
	__u64 written;
};

/* Result of an attempt to write a record. */
enum pxtu_written {
	PXTU_WRITTEN,
	PXTU_WRITTEN_WAKE,	/* written, and a reader needs a wake-up */
	PXTU_WRITTEN_NO_ROOM,	/* not written: the stream is full, or NEXT is needed */
	PXTU_WRITTEN_NO_COUNTER, /* not written: take the time first */
	PXTU_WRITTEN_AGAIN,	/* not written: the sequence was aborted */
	PXTU_WRITTEN_NO,	/* not written: ask the module */
};

#ifdef PXTU_THREADS_REGISTERED
static inline struct rseq *pxtu_rseq_area(void)
{
	char *thread;

#ifdef __x86_64__
	/* Not __builtin_thread_pointer(), because sparse does not know it. */
	__asm__("movq %%fs:0, %0" : "=r" (thread));
#else
	thread = __builtin_thread_pointer();
#endif
	return (struct rseq *)(void *)(thread + __rseq_offset);
}

/* The CPU of the thread, which may change at any time. */
static inline __u32 pxtu_rseq_cpu(const struct rseq *area)
{
	return pxtu_load(&area->cpu_id);
}
#else
static inline struct rseq *pxtu_rseq_area(void)
{
	return NULL;
}

static inline __u32 pxtu_rseq_cpu(const struct rseq *area)
{
	(void)area;
	return 0;
}
#endif

/* Combine two 32-bit numbers, in their order in memory. */
static inline __u64 pxtu_pair(__u32 first, __u32 second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return first | (__u64)second << 32;
#else
	return (__u64)first << 32 | second;
#endif
}

/*
 * The first word of struct posixtrace_record without the time: a sequence adds the time as the
 * upper half. Sequences exist for little-endian machines only.
 */
static inline __u32 pxtu_header(__u32 data_len, __u32 event_id, __u32 flags)
{
	return data_len | (__u32)POSIXTRACE_RECORD_TYPE(event_id, flags) << 16;
}

static inline __u32 pxtu_header_len(__u32 header)
{
	return header & 0xffff;
}

/* The id of the event type in a header without flags. */
static inline __u32 pxtu_header_id(__u32 header)
{
	return header >> 16;
}

_Static_assert(offsetof(struct posixtrace_record, data_len) == 0 &&
	       offsetof(struct posixtrace_record, type) == 2 &&
	       offsetof(struct posixtrace_record, time) == 4 &&
	       offsetof(struct posixtrace_record, prog_address) == 8 &&
	       offsetof(struct posixtrace_packed_record, address_low) == 8 &&
	       offsetof(struct posixtrace_writer, data_len) == 0 &&
	       offsetof(struct posixtrace_writer, type) == 2 &&
	       offsetof(struct posixtrace_writer, address_high) == 4 &&
	       offsetof(struct posixtrace_writer, pid) == 8 &&
	       offsetof(struct posixtrace_writer, tid) == 12 &&
	       offsetof(struct posixtrace_writer, thread_id) == 16 &&
	       offsetof(struct posixtrace_writer, time) == 24, "must match the sequences");

#endif /* PXTU_ENTRY_H */
