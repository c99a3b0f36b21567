/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences: instructions that run on one CPU without interruption. If a thread is
 * preempted, migrated or interrupted by a signal inside a sequence, the kernel aborts the
 * sequence; so does a synchronization of the module.
 *
 * The C library registers each thread. If it does not, or on other architectures, the
 * functions here do nothing, and the module records instead.
 *
 * Only write.c includes this: the sequence must exist once.
 */
#ifndef PXTU_RSEQ_H
#define PXTU_RSEQ_H

#include "common/state.h"

#define PXTU_PIECE	16U	/* bytes of data copied at once */

/**
 * struct pxtu_entry - a record before it is written
 * @writer: the thread that writes: struct posixtrace_writer, in words. Copied if another
 *	thread wrote the record before
 * @header: first word of struct posixtrace_record
 * @reserved: place of the timestamp in struct posixtrace_record
 * @prog_address: last word of struct posixtrace_record
 * @data: pieces of data to copy
 * @rest: the rest of the data, padded with zeros
 * @step: distance that the head of the CPU moves, without @writer
 * @time: timestamp, unless the sequence takes it
 * @enable: word of the gate for the event type
 * @generation: generation of the notes of the slot that the entry was made with
 * @bit: bit of the slot in the word at @enable
 * @pieces: number of pieces at @data
 * @rest_words: number of words of @rest to copy, 0 to 2
 *
 * Words are written in the size in which they are read: the CPU cannot forward two smaller
 * stores from its store buffer to one larger load.
 */
struct pxtu_entry {
	struct {
		__u64 header;
		__u64 ids;
		__u64 thread_id;
	} writer;
	__u64 header;
	__u64 reserved;
	__u64 prog_address;
	const void *data;
	__u64 rest[2];
	__u64 step;
	__u64 time;
	const __u32 *enable;
	__u64 generation;
	__u32 bit;
	__u32 pieces;
	__u32 rest_words;
};

/* Result of a try to write a record. */
enum pxtu_written {
	PXTU_WRITTEN,
	PXTU_WRITTEN_WAKE,	/* written, and a reader sleeps */
	PXTU_WRITTEN_FULL,	/* no: the stream is full */
	PXTU_WRITTEN_NO_ROOM,	/* no: NEXT is needed */
	PXTU_WRITTEN_NO_COUNTER, /* no: take the time before the sequence */
	PXTU_WRITTEN_AGAIN,	/* no: the sequence was aborted */
	PXTU_WRITTEN_NO,	/* no: ask the module */
};

/* glibc registers threads since 2.35, other libraries do not. */
#if (defined(__x86_64__) || defined(__AARCH64EL__)) && defined(__GLIBC__) && \
	(__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 35))

#ifdef __x86_64__
#include "record/rseq-x86.h"
#else
#include "record/rseq-arm64.h"
#endif

/* Has the C library registered its threads? The CPU of an unregistered thread is invalid. */
static inline bool pxtu_rseq_available(void)
{
	return __rseq_size;
}

#else

static inline bool pxtu_rseq_available(void)
{
	return false;
}

/**
 * pxtu_rseq_arm() - let pxtu_rseq_record() detect an interruption from now on
 *
 * If the kernel preempts, migrates or interrupts a thread between this and the sequence, it
 * clears the thread's pointer to the sequence; so do events in signal handlers.
 */
static inline void pxtu_rseq_arm(void)
{
}

/**
 * pxtu_rseq_disarm() - clear the pointer to the sequence
 *
 * Every function that uses a sequence calls this at its end. Otherwise a signal handler
 * would leave the sequence of the interrupted function armed.
 */
static inline void pxtu_rseq_disarm(void)
{
}

/**
 * pxtu_rseq_drop() - count an event that a full stream drops
 * @state: state of this process
 * @gate: its gate
 * @slot: notes of the stream
 * @entry: the record; needs @enable, @bit and @generation
 *
 * Atomically on this CPU: checks that the gate is open, that our notes of the slot are
 * right and that the stream is full, and counts the event. Only if pxtu_rseq_available().
 *
 * Return: PXTU_WRITTEN if it was counted; PXTU_WRITTEN_NO if a check failed,
 * PXTU_WRITTEN_AGAIN if the sequence was aborted: then nothing was done.
 */
static inline enum pxtu_written
pxtu_rseq_drop(const struct pxtu_state *state, const struct posixtrace_gate *gate,
	       const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	(void)state;
	(void)gate;
	(void)slot;
	(void)entry;
	return PXTU_WRITTEN_NO;
}

/**
 * pxtu_rseq_record() - write a record
 * @state: state of this process
 * @gate: its gate
 * @slot: notes of the stream
 * @entry: the record, with a time that was taken after pxtu_rseq_arm()
 *
 * Atomically on this CPU: checks that the gate is open, that our notes of the slot are
 * right, that the thread was not interrupted since pxtu_rseq_arm(), that no record of this
 * CPU is younger and that there is room, and writes the record. Only if
 * pxtu_rseq_available().
 *
 * Return: the result.
 */
static inline enum pxtu_written
pxtu_rseq_record(const struct pxtu_state *state, const struct posixtrace_gate *gate,
		 const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	(void)state;
	(void)gate;
	(void)slot;
	(void)entry;
	return PXTU_WRITTEN_NO;
}

/**
 * pxtu_rseq_record_now() - write a record
 * @state: state of this process
 * @gate: its gate
 * @slot: notes of the stream
 * @entry: the record, without time
 *
 * As pxtu_rseq_record(), and also takes the time, if there is a counter. Needs no
 * pxtu_rseq_arm().
 *
 * Return: the result.
 */
static inline enum pxtu_written
pxtu_rseq_record_now(const struct pxtu_state *state, const struct posixtrace_gate *gate,
		     const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	return pxtu_rseq_record(state, gate, slot, entry);
}

#endif

#endif /* PXTU_RSEQ_H */
