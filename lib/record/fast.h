/* SPDX-License-Identifier: MIT */
/*
 * The fast path of an event: one sequence, without preparation, for a small event that one stream
 * wants. Everything else takes the slow path in write.c, which also fills the cache for the next
 * event.
 */
#ifndef PXTU_FAST_H
#define PXTU_FAST_H

#include "record/entry.h"

#define PXTU_FAST_MAX	64U	/* bytes of data */
#define PXTU_FAST_RECORD_MAX	POSIXTRACE_RECORD_STEP(PXTU_FAST_MAX)

/**
 * struct pxtu_cache - a stream, and the thread that records into it on a CPU
 */
struct pxtu_cache {
	/**
	 * @generation: as in struct pxtu_entry; the cache is valid while the gate has the same one
	 */
	__u64 generation;
	/** @len_end: shorter data may try the fast path; if not 0, @area is set */
	__u64 len_end;
	/** @head: write position of the CPU, mapped */
	struct posixtrace_cpu_head *head;
	/** @pool: sub-buffers, mapped */
	unsigned char *pool;
	/** @last_begin: last position in @pool where the longest record of the fast path fits */
	__u64 last_begin;
	/** @wakeup: need_wakeup of the reader, mapped */
	const struct posixtrace_wakeup *wakeup;
	/** @ids: as in struct pxtu_entry */
	__u64 ids;
	/** @thread_id: as in struct pxtu_entry */
	__u64 thread_id;
	/** @area: as in struct pxtu_entry */
	struct rseq *area;
	/** @bit: as in struct pxtu_entry */
	__u32 bit;
	/** @cpu: the CPU */
	__u32 cpu;
	/** @relaxed: nonzero if the counter may be read before earlier loads */
	__u32 relaxed;
	/** @nr_cpus: as in struct pxtu_entry */
	__u32 nr_cpus;
};

#ifdef PXTU_SEQUENCES

#ifdef __x86_64__
#include "record/fast-x86.h"
#else
#include "record/fast-arm64.h"
#endif

static inline enum pxtu_written
pxtu_fast_record(const struct pxtu_cache *cache, __u32 id, __u64 len, const void *data,
		 __u64 prog_address)
{
	__asm__ goto(PXTU_FAST_RECORD
		:
		: PXTU_FAST_OPERANDS
		: PXTU_FAST_RECORD_CHANGES
		: no, do_wake);
	return PXTU_WRITTEN;
do_wake:
	return PXTU_WRITTEN_WAKE;
no:
	pxtu_rseq_disarm();
	return PXTU_WRITTEN_NO;
}

static inline void pxtu_fast_fill(struct pxtu_cache *cache, const struct pxtu_cache *from)
{
	__asm__ goto(PXTU_RSEQ_TABLE("3")
		PXTU_FAST_FILL
		:
		: [cache] "r" (cache),
		  [from] "r" (from)
		: PXTU_FAST_FILL_CHANGES
		: no);
no:
	pxtu_rseq_disarm();
}

#else

/**
 * pxtu_fast_record() - write a record
 * @cache: cache of this thread; its len_end was greater than @len
 * @id: event type
 * @len: bytes of @data
 * @data: data of the event
 * @prog_address: the instruction after the call that generated the event
 *
 * Atomically on this CPU: checks that the cache is valid, that its stream and no other wants the
 * event, that this is the CPU of the cache, that this thread wrote the previous record here and was
 * named recently enough, that no record is younger and that there is room; takes the time, and
 * writes the record, packed if that makes it smaller. address_high of the writer is not checked:
 * pxtu_fast_fill() has compared it, and a program has only one.
 *
 * Return: PXTU_WRITTEN or PXTU_WRITTEN_WAKE; PXTU_WRITTEN_NO, without effect, if a check failed,
 * the module publishes no counter, or the sequence was aborted.
 */
static inline enum pxtu_written
pxtu_fast_record(const struct pxtu_cache *cache, __u32 id, __u64 len, const void *data,
		 __u64 prog_address)
{
	(void)cache;
	(void)id;
	(void)len;
	(void)data;
	(void)prog_address;
	return PXTU_WRITTEN_NO;
}

/**
 * pxtu_fast_fill() - fill the cache
 * @cache: cache of this thread
 * @from: the new contents, with the heads of all CPUs
 *
 * Fills it for this CPU, unless the last writer here has another address_high: the writer may be
 * this thread before an exec, which pxtu_fast_record() would not notice. A signal handler sees the
 * old contents, the new ones, or an invalid cache. If a handler interrupts this, the cache is
 * invalid afterwards, or filled by the handler.
 */
static inline void pxtu_fast_fill(struct pxtu_cache *cache, const struct pxtu_cache *from)
{
	(void)cache;
	(void)from;
}

#endif

#endif /* PXTU_FAST_H */
