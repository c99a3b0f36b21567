/* SPDX-License-Identifier: MIT */
/*
 * The short way of an event: one sequence, without preparation, for an event of few bytes that
 * one stream wants. It fits most events. The others, and all that the sequence cannot do, go on
 * in write.c, which also keeps the note of the stream for the next event.
 */
#ifndef PXTU_SHORT_H
#define PXTU_SHORT_H

#include "record/entry.h"

#define PXTU_SHORT_MAX	64U	/* bytes of data */
#define PXTU_SHORT_RECORD_MAX	POSIXTRACE_RECORD_STEP(PXTU_SHORT_MAX)

/**
 * struct pxtu_note - a stream, and a thread that records into it on a CPU
 */
struct pxtu_note {
	/** @generation: as in struct pxtu_entry; the note holds while the gate has it, too */
	__u64 generation;
	/** @len_end: data of fewer bytes may try the short way; if not 0, @area is set */
	__u64 len_end;
	/** @head: write position of the CPU, mapped */
	struct posixtrace_cpu_head *head;
	/** @pool: sub-buffers, mapped */
	unsigned char *pool;
	/** @last_begin: where the longest record of the short way still ends in @pool */
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
	/** @relaxed: not zero if the counter may be read before earlier loads */
	__u32 relaxed;
	/** @nr_cpus: as in struct pxtu_entry */
	__u32 nr_cpus;
};

#ifdef PXTU_SEQUENCES

#ifdef __x86_64__
#include "record/short-x86.h"
#else
#include "record/short-arm64.h"
#endif

static inline enum pxtu_written
pxtu_short_record(const struct pxtu_note *note, __u32 id, __u64 len, const void *data,
		  __u64 prog_address)
{
	__asm__ goto(PXTU_SHORT_RECORD
		:
		: PXTU_SHORT_OPERANDS
		: PXTU_SHORT_RECORD_CHANGES
		: no, do_wake);
	return PXTU_WRITTEN;
do_wake:
	return PXTU_WRITTEN_WAKE;
no:
	pxtu_rseq_disarm();
	return PXTU_WRITTEN_NO;
}

static inline void pxtu_short_keep(struct pxtu_note *kept, const struct pxtu_note *note)
{
	__asm__ goto(PXTU_RSEQ_TABLE("3")
		PXTU_SHORT_KEEP
		:
		: [kept] "r" (kept),
		  [note] "r" (note)
		: PXTU_SHORT_KEEP_CHANGES
		: no);
no:
	pxtu_rseq_disarm();
}

#else

/**
 * pxtu_short_record() - write a record
 * @note: of this thread; its len_end must have been greater than @len
 * @id: event type
 * @len: bytes of @data
 * @data: data of the event
 * @prog_address: the instruction after the call that generated the event
 *
 * Atomically on this CPU: checks that the note is valid, that its stream wants the event and no
 * other one does, that this is the CPU of the note, that this thread wrote the previous record
 * here and was named not too long ago, that no record is younger and that there is room; takes the
 * time, and writes the record, packed if that makes it smaller. The upper half of the addresses of
 * that writer is ours: pxtu_short_keep() has compared them, and a program has only one.
 *
 * Return: PXTU_WRITTEN or PXTU_WRITTEN_WAKE; PXTU_WRITTEN_NO if a check failed, the module
 * publishes no counter, or the sequence was aborted: then nothing was done.
 */
static inline enum pxtu_written
pxtu_short_record(const struct pxtu_note *note, __u32 id, __u64 len, const void *data,
		  __u64 prog_address)
{
	(void)note;
	(void)id;
	(void)len;
	(void)data;
	(void)prog_address;
	return PXTU_WRITTEN_NO;
}

/**
 * pxtu_short_keep() - keep a note
 * @kept: note of this thread
 * @note: the new one, with the heads of all CPUs
 *
 * It is kept for this CPU, unless the last writer here has another address_high: that may be this
 * thread before an exec. A signal handler finds the old one, the new one, or none that holds. If
 * one interrupts this, none is kept, or that of the handler.
 */
static inline void pxtu_short_keep(struct pxtu_note *kept, const struct pxtu_note *note)
{
	(void)kept;
	(void)note;
}

#endif

#endif /* PXTU_SHORT_H */
