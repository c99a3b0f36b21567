/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences: instructions that run on one CPU without interruption. If a thread is
 * preempted, migrated or interrupted by a signal inside a sequence, the kernel aborts the
 * sequence. A synchronization by the module also aborts it.
 *
 * The C library registers each thread. If it does not, and on other architectures, the
 * functions here do nothing, and the module records instead.
 *
 * Only write.c includes this: the sequence must exist only once.
 */
#ifndef PXTU_RSEQ_H
#define PXTU_RSEQ_H

#include "record/entry.h"

#ifdef PXTU_SEQUENCES

#ifdef __x86_64__
#include "record/rseq-x86.h"
#else
#include "record/rseq-arm64.h"
#endif

#define PXTU_RSEQ_OPERANDS					\
	[gate] "r" (gate),					\
	[slot] "r" (slot),					\
	[entry] "r" (entry)

/*
 * Has the C library registered its threads? The CPU of an unregistered thread is invalid, unless
 * the kernel has lost the registration: see pxtu_rseq_forgotten().
 */
static inline bool pxtu_rseq_available(void)
{
	return __rseq_size;
}

static inline void pxtu_rseq_arm(void)
{
	__asm__ __volatile__ (PXTU_RSEQ_ARM
		:
		: [area] "r" (pxtu_rseq_area())
		: PXTU_RSEQ_ARM_CHANGES);
}

static inline enum pxtu_written
pxtu_rseq_drop(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
	       const struct pxtu_entry *entry)
{
	__asm__ goto(PXTU_RSEQ_TABLE("3")
		PXTU_RSEQ_DROP
		:
		: PXTU_RSEQ_OPERANDS
		: PXTU_RSEQ_DROP_CHANGES
		: no, again);
	return PXTU_WRITTEN;
no:
	return PXTU_WRITTEN_NO;
again:
	return PXTU_WRITTEN_AGAIN;
}

static PXTU_RSEQ_ONCE enum pxtu_written
pxtu_rseq_record(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
		 const struct pxtu_entry *entry)
{
	/*
	 * The table is global, because with link-time optimization pxtu_rseq_arm() may end up in
	 * another object file.
	 */
	__asm__ goto(".globl pxtu_rseq_record_table\n\t"
		".hidden pxtu_rseq_record_table\n\t"
		PXTU_RSEQ_TABLE("pxtu_rseq_record_table")
		PXTU_RSEQ_RECORD
		:
		: PXTU_RSEQ_OPERANDS
		: PXTU_RSEQ_WRITE_CHANGES
		: again, no_room, do_wake, no);
	return PXTU_WRITTEN;
do_wake:
	return PXTU_WRITTEN_WAKE;
again:
	return PXTU_WRITTEN_AGAIN;
no_room:
	return PXTU_WRITTEN_NO_ROOM;
no:
	return PXTU_WRITTEN_NO;
}

static inline enum pxtu_written
pxtu_rseq_record_now(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
		     struct pxtu_entry *entry)
{
	__asm__ goto(PXTU_RSEQ_TABLE("3")
		PXTU_RSEQ_RECORD_NOW
		:
		: PXTU_RSEQ_OPERANDS
		: PXTU_RSEQ_WRITE_CHANGES
		: again, no_room, do_wake, no, no_counter);
	return PXTU_WRITTEN;
do_wake:
	return PXTU_WRITTEN_WAKE;
again:
	return PXTU_WRITTEN_AGAIN;
no_room:
	return PXTU_WRITTEN_NO_ROOM;
no_counter:
	return PXTU_WRITTEN_NO_COUNTER;
no:
	return PXTU_WRITTEN_NO;
}

#else

static inline bool pxtu_rseq_available(void)
{
	return false;
}

/**
 * pxtu_rseq_arm() - make pxtu_rseq_record() detect interruptions from now on
 *
 * If the kernel preempts, migrates or interrupts a thread between this and the sequence, it
 * clears the thread's pointer to the sequence. An event in a signal handler also clears it.
 */
static inline void pxtu_rseq_arm(void)
{
}

/**
 * pxtu_rseq_disarm() - clear the pointer to the sequence
 *
 * Every function that uses a sequence calls this at its end. Otherwise a signal handler
 * would leave its sequence armed for the interrupted function.
 */
static inline void pxtu_rseq_disarm(void)
{
}

/**
 * pxtu_rseq_drop() - count an event that a full stream drops
 * @gate: gate of this process
 * @slot: the stream
 * @entry: the record; data and time are not needed
 *
 * Atomically on this CPU: checks that the gate is open, that the slot is ours and
 * that the stream is full, and counts the event. Call it only if pxtu_rseq_available() is true.
 *
 * Return: PXTU_WRITTEN if it was counted; PXTU_WRITTEN_NO if a check failed,
 * PXTU_WRITTEN_AGAIN if the sequence was aborted, both without effect.
 */
static inline enum pxtu_written
pxtu_rseq_drop(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
	       const struct pxtu_entry *entry)
{
	(void)gate;
	(void)slot;
	(void)entry;
	return PXTU_WRITTEN_NO;
}

/**
 * pxtu_rseq_record() - write a record
 * @gate: gate of this process
 * @slot: the stream
 * @entry: the record, with a time that was taken after pxtu_rseq_arm()
 *
 * Atomically on this CPU: checks that the gate is open, that the slot is ours, that
 * the thread was not interrupted since pxtu_rseq_arm(), that no record of this
 * CPU is younger and that there is room, and writes the record. Call it only if
 * pxtu_rseq_available() is true.
 *
 * Return: the result.
 */
static inline enum pxtu_written
pxtu_rseq_record(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
		 const struct pxtu_entry *entry)
{
	(void)gate;
	(void)slot;
	(void)entry;
	return PXTU_WRITTEN_NO;
}

/**
 * pxtu_rseq_record_now() - write a record
 * @gate: gate of this process
 * @slot: the stream
 * @entry: the record, without time, or as the previous call left it
 *
 * Like pxtu_rseq_record(), but reads the time if the clock has a counter. Does not need
 * pxtu_rseq_arm(). If the caller passes the entry of the previous call, the record gets the same
 * time, unless the thread has been interrupted or has used another sequence since that call.
 *
 * Return: the result.
 */
static inline enum pxtu_written
pxtu_rseq_record_now(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
		     struct pxtu_entry *entry)
{
	return pxtu_rseq_record(gate, slot, entry);
}

#endif

#endif /* PXTU_RSEQ_H */
