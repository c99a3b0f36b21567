/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences: what has to be done on one CPU without being disturbed.
 * The kernel lets a thread that was preempted, migrated or interrupted by a signal
 * inside of one begin anew; a synchronization of the module does the same.
 *
 * The C library registers each thread. Where it does not, or on an architecture
 * that is not here, nothing is done, and the module does it instead.
 *
 * For the file that writes records only: the sequence is to be there once.
 */
#ifndef PXTU_RSEQ_H
#define PXTU_RSEQ_H

#include "common/state.h"

#define PXTU_PIECE	16U	/* bytes of data that are copied at once */

/**
 * struct pxtu_entry - a record before it is written
 * @writer: of which thread it is: struct posixtrace_writer, in words. Copied if that is
 *	another one than before
 * @header: first word of struct posixtrace_record
 * @reserved: what lies between in there is the time
 * @prog_address: its last word
 * @data: pieces of data to be copied
 * @rest: what is left of the data, and zeros
 * @step: what the head of the CPU moves by, without @writer
 * @time: of the record, unless the sequence takes it
 * @enable: the gate's word of its event type
 * @bit: in there
 * @generation: of the notes of the slot that it was made with
 * @pieces: how many there are at @data
 * @rest_words: how many words of @rest are to be copied, 0 to 2
 *
 * Words are written as they are read: what is written in parts can not be read in one
 * before it has left the CPU's store buffer.
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
	__u32 bit;
	__u32 generation;
	__u32 pieces;
	__u32 rest_words;
};

/* What became of it. */
enum pxtu_written {
	PXTU_WRITTEN,
	PXTU_WRITTEN_WAKE,	/* and a reader sleeps */
	PXTU_WRITTEN_FULL,	/* no: the stream is full */
	PXTU_WRITTEN_NO_ROOM,	/* no: NEXT is needed */
	PXTU_WRITTEN_NO_COUNTER, /* no: the time has to be taken before */
	PXTU_WRITTEN_AGAIN,	/* no: we were disturbed */
	PXTU_WRITTEN_NO,	/* no: ask the module */
};

/* glibc has it since 2.35, other libraries do not. */
#if (defined(__x86_64__) || defined(__AARCH64EL__)) && defined(__GLIBC__) && \
	(__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 35))

#ifdef __x86_64__
#include "record/rseq-x86.h"
#else
#include "record/rseq-arm64.h"
#endif

/* Has the C library registered its threads? One that is not has an impossible CPU. */
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
 * pxtu_rseq_arm() - from now on, pxtu_rseq_record() finds out whether we were disturbed
 *
 * The kernel forgets the sequence of a thread that it preempts, migrates or interrupts
 * outside of it, between this and the sequence; and signal handlers of ours do.
 */
static inline void pxtu_rseq_arm(void)
{
}

/**
 * pxtu_rseq_disarm() - forget the sequence
 *
 * Of every function that uses one, at its end: else the handler that has interrupted
 * another one would leave it armed.
 */
static inline void pxtu_rseq_disarm(void)
{
}

/**
 * pxtu_rseq_drop() - count an event that a full stream drops
 * @state: state of this process
 * @gate: its gate
 * @slot: notes of the stream
 * @entry: of the record; needs @enable, @bit and @generation
 *
 * In one piece: the gate is open, our notes of the slot are right, the stream is
 * full, and the event is counted on this CPU. Only if pxtu_rseq_available().
 *
 * Return: PXTU_WRITTEN if it was counted; PXTU_WRITTEN_NO if one of these was not so,
 * PXTU_WRITTEN_AGAIN if we were disturbed: then nothing was done.
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
 * In one piece: the gate is open, our notes of the slot are right, nobody has disturbed
 * us since pxtu_rseq_arm(), no record of this CPU is younger, there is room, and the
 * record is in there. Only if pxtu_rseq_available().
 *
 * Return: what became of it.
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
 * As pxtu_rseq_record(), and takes the time, too, if there is a counter for that. Nothing
 * has to be armed.
 *
 * Return: what became of it.
 */
static inline enum pxtu_written
pxtu_rseq_record_now(const struct pxtu_state *state, const struct posixtrace_gate *gate,
		     const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	return pxtu_rseq_record(state, gate, slot, entry);
}

#endif

#endif /* PXTU_RSEQ_H */
