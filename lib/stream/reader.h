/* SPDX-License-Identifier: MIT */
/*
 * Reading a stream: its events in their order, out of memory that the kernel
 * and the traced processes change at the same time.
 *
 * Works on plain addresses, so that tests can let it loose on memory of their
 * own. reader.c merges the CPUs, subbuf.c looks at one sub-buffer, gap.c keeps
 * account of lost events. Documentation/buffers.rst has the whole protocol.
 */
#ifndef PXTU_READER_H
#define PXTU_READER_H

#include "common/record.h"

/**
 * struct pxtu_map - where the shared memory of a stream is
 * @shared: written by us; the kernel exchanges consumer positions
 * @shared_size: bytes mapped there
 * @ctrl: written by the kernel
 * @ctrl_size: bytes mapped there
 * @heads: written by kernel and traced processes
 * @heads_size: bytes mapped there
 * @pool: written by kernel and traced processes
 * @pool_size: bytes mapped there
 */
struct pxtu_map {
	struct posixtrace_reader *shared;
	size_t shared_size;
	const struct posixtrace_ctrl *ctrl;
	size_t ctrl_size;
	const struct posixtrace_cpu_head *heads;
	size_t heads_size;
	const unsigned char *pool;
	size_t pool_size;
};

/**
 * struct pxtu_candidate - the oldest record of a CPU
 * @cpu: the CPU
 * @subbuf: number of the sub-buffer
 * @consumed: consumer position that the record was found with
 * @next: consumer position that takes it
 * @record: what it says, checked
 * @data: data in the pool, still writable by others
 * @corrupt: what was there is no record: @record is made up
 * @orphan: what said of which thread it is was lost with what was no record
 */
struct pxtu_candidate {
	__u32 cpu;
	__u32 subbuf;
	__u64 consumed;
	__u64 next;
	struct pxtu_record record;
	const unsigned char *data;
	bool corrupt;
	bool orphan;
};

/**
 * struct pxtu_reader_cpu - what we remember of a CPU
 * @consumed: consumer position after the last record taken
 * @timestamp: of that record; the next of the same sub-buffer is not older
 * @writer: of that record; the next of the same sub-buffer is of the same, unless it says
 *	something else
 * @damaged: it was none, and nothing has said since which thread is the writer
 * @empty: it looked empty in this round
 */
struct pxtu_reader_cpu {
	__u64 consumed;
	__u64 timestamp;
	struct pxtu_writer writer;
	bool damaged;
	bool empty;
};

/**
 * struct pxtu_gap - the kernel's account of lost events, one snapshot
 * @generation: raised when events get lost after the last was acknowledged
 * @first: time of the first event lost in it
 * @overwrite_watermark: unread events at or before this time are lost
 */
struct pxtu_gap {
	__u64 generation;
	__u64 first;
	__u64 overwrite_watermark;
};

/**
 * struct pxtu_reader - reading of one stream
 * @map: the memory
 * @oldest: oldest sub-buffer of each CPU
 * @subbufs: descriptors
 * @nr_cpus: CPUs; the number of the "CPU" of system events
 * @nr_subbufs: sub-buffers that targets write
 * @nr_all: sub-buffers in all
 * @subbuf_size: bytes
 * @max_data: largest data that a user event can have, in bytes
 * @loop: policy POSIX_TRACE_LOOP
 * @release: calls RELEASE with the number of a sub-buffer or POSIXTRACE_NONE
 * @gap_ack: last generation of the gap that was acknowledged
 * @gap_open: events were lost that have not been reported
 * @gap_first: time of the first of them
 * @lost: events lost in the gaps that were reported; never falling until cleared
 * @queue: events to be reported next
 * @data: data of the record in @queue, unless that is where the program wants it
 * @read: user events reported
 * @corrupt: records that were none
 * @skipped: records at or before the overwrite overwrite_watermark
 * @skipped_user: user events among them
 * @overrun: events were lost here, get_status has to tell
 * @held: the kernel was told that there are events that we hold back
 * @cpu: what we remember of the CPUs, the last one for system events
 *
 * One caller at a time.
 */
struct pxtu_reader {
	struct pxtu_map map;
	const __u32 *oldest;
	const struct posixtrace_subbuf *subbufs;
	__u32 nr_cpus;
	__u32 nr_subbufs;
	__u32 nr_all;
	__u32 subbuf_size;
	__u32 max_data;
	bool loop;
	int (*release)(struct pxtu_reader *reader, __u32 subbuf);

	__u64 gap_ack;
	bool gap_open;
	__u64 gap_first;
	__u64 lost;

	struct pxtu_queue queue;
	unsigned char *data;

	__u64 read;
	__u64 corrupt;
	__u64 skipped;
	__u64 skipped_user;
	bool overrun;
	bool held;
	struct pxtu_reader_cpu *cpu;
};

/**
 * pxtu_reader_init() - make ready to read
 * @reader: to be initialized
 * @map: the memory; checked against what the kernel says of itself
 * @attr: attributes of the stream, as the kernel granted them
 * @release: calls RELEASE
 *
 * Return: 0; -EPROTO if the memory is too small, -ENOMEM.
 */
int pxtu_reader_init(struct pxtu_reader *reader, const struct pxtu_map *map,
		     const struct posixtrace_attr *attr,
		     int (*release)(struct pxtu_reader *reader, __u32 subbuf));

/**
 * pxtu_reader_destroy() - free what pxtu_reader_init() allocated
 * @reader: initialized reader
 */
void pxtu_reader_destroy(struct pxtu_reader *reader);

/**
 * pxtu_reader_next() - take the next event
 * @reader: the reader
 * @place: where its data goes, if there is room for all of it and nothing has to be
 *	reported before; so it is copied once. May be written to in any case
 *
 * Never waits. A hostile traced process can cost its own events, no more.
 *
 * Return: the event, valid until the next call; NULL if there is none.
 */
const struct pxtu_event *pxtu_reader_next(struct pxtu_reader *reader,
					  const struct pxtu_place *place);

/**
 * pxtu_reader_unread() - the last event was not reported after all
 * @reader: the reader
 *
 * Only after pxtu_reader_next() returned one, whose data is not in the place it was given:
 * that returns it again.
 */
void pxtu_reader_unread(struct pxtu_reader *reader);

/**
 * pxtu_reader_settle() - nothing more is going to be read now
 * @reader: the reader
 *
 * Those who wait, and those who poll, are from now on told the truth about what
 * is left. To be called when what pxtu_reader_next() returned was reported.
 */
void pxtu_reader_settle(struct pxtu_reader *reader);

/**
 * pxtu_reader_clear() - forget all events
 * @reader: the reader; the kernel has cleared the stream
 */
void pxtu_reader_clear(struct pxtu_reader *reader);

/* subbuf.c */

/**
 * pxtu_subbuf_peek() - look at the oldest record of a CPU
 * @reader: the reader
 * @cpu: number of the CPU
 * @cand: where to write what was found
 *
 * Gives sub-buffers that were read to their end back to the kernel.
 *
 * Return: false if there is none.
 */
bool pxtu_subbuf_peek(struct pxtu_reader *reader, __u32 cpu, struct pxtu_candidate *cand);

/**
 * pxtu_subbuf_take() - take a record
 * @reader: the reader
 * @cand: from pxtu_subbuf_peek()
 *
 * All that was copied from the record before is what was recorded, if this
 * succeeds.
 *
 * Return: false if the kernel took it back before; then it counts as lost.
 */
bool pxtu_subbuf_take(struct pxtu_reader *reader, const struct pxtu_candidate *cand);

/* gap.c */

/**
 * pxtu_gap_read() - look at the kernel's account
 * @reader: the reader
 * @gap: where to write a consistent snapshot
 */
void pxtu_gap_read(const struct pxtu_reader *reader, struct pxtu_gap *gap);

/**
 * pxtu_gap_note() - take note of all losses until now
 * @reader: the reader
 * @gap: where to write a snapshot: later losses have another generation
 */
void pxtu_gap_note(struct pxtu_reader *reader, struct pxtu_gap *gap);

/**
 * pxtu_gap_note_before() - take note of losses before a record that was taken
 * @reader: the reader
 * @timestamp: of the record
 *
 * Return: false if the record is among what was lost.
 */
bool pxtu_gap_note_before(struct pxtu_reader *reader, __u64 timestamp);

/**
 * pxtu_gap_lost() - how many events were lost until now?
 * @reader: the reader
 *
 * A part of it is counted by the traced processes.
 */
__u64 pxtu_gap_lost(const struct pxtu_reader *reader);

#endif /* PXTU_READER_H */
