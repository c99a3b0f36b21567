/* SPDX-License-Identifier: MIT */
/*
 * Reads the events of a stream in order, from memory that the kernel and the traced
 * processes change concurrently.
 *
 * Works on plain addresses, so that tests can run it on private memory. merge.c merges
 * the CPUs, subbuf.c reads one sub-buffer, gap.c accounts for lost events, window.c delays
 * events.
 * Documentation/buffers.rst describes the whole protocol.
 */
#ifndef PXTU_READER_H
#define PXTU_READER_H

#include "common/heap.h"
#include "common/kernel.h"
#include "common/record.h"

/**
 * struct pxtu_map - the mapped memory of a stream
 * @shared: written by the reader; the kernel exchanges consumer positions
 * @shared_size: bytes mapped there
 * @ctrl: written by the kernel
 * @ctrl_size: bytes mapped there
 * @heads: written by the kernel and the traced processes
 * @heads_size: bytes mapped there
 * @pool: written by the kernel and the traced processes
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
 * @consumed: consumer position when the record was found
 * @next: consumer position that takes the record
 * @record: the parsed record, checked
 * @data: data in the pool, still writable by others; for kernel events, the words of the record
 * @corrupt: there is no valid record, and @record reports the damage
 * @orphan: the record is valid, but damage before it destroyed the name of its thread
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
 * struct pxtu_run - records of a sub-buffer that are taken together
 * @count: number of these records
 * @pos: start of the next record in the sub-buffer, in bytes
 * @timestamp: time of the last of these records, in nanoseconds since the Epoch
 * @writer: writer of the last of these records, or of the next record if it names its writer
 */
struct pxtu_run {
	size_t count;
	__u32 pos;
	__u64 timestamp;
	struct pxtu_writer writer;
};

/* Maximum number of records of a CPU that are parsed in a row. */
#define PXTU_LIST_MAX	16

/**
 * struct pxtu_item - a record that was parsed and checked
 * @timestamp: nanoseconds since the Epoch
 * @data: its data in the pool, after the header; still writable by others
 * @data_len: bytes of data
 * @type: event type and flags
 */
struct pxtu_item {
	__u64 timestamp;
	const unsigned char *data;
	__u32 data_len;
	__u32 type;
};

/**
 * struct pxtu_list - consecutive records of a CPU, of one writer
 * @next: the first record that was not copied; equals @end if there is no list
 * @end: after the last record
 * @item: the records
 */
struct pxtu_list {
	struct pxtu_item *next;
	struct pxtu_item *end;
	struct pxtu_item item[PXTU_LIST_MAX];
};

/**
 * struct pxtu_view - what the reader saw when it last looked into a sub-buffer
 * @subbuf: number of the sub-buffer
 * @used: bytes of records that were visible
 * @open: the sub-buffer was open
 * @consumed: the consumer position
 * @head: the head of the CPU, if the sub-buffer was open
 * @ceiling: no visible record is younger than this
 */
struct pxtu_view {
	__u32 subbuf;
	__u32 used;
	bool open;
	__u64 consumed;
	__u64 head;
	__u64 ceiling;
};

/**
 * struct pxtu_reader_cpu - state of the reader for a CPU
 * @consumed: consumer position after the last record taken
 * @timestamp: time of the last record taken; the next record of the same sub-buffer is not older
 * @writer: writer of the last record taken; the next record of the same sub-buffer has the same
 *	writer, unless it names another
 * @kernel: what the next record of kernel events may refer to; NULL for user and system events
 * @damaged: a record was damaged, and no record since has named its writer
 * @queued: the CPU is in the heap
 * @view: view of its oldest sub-buffer
 * @cand: its oldest record, if it is in the heap
 * @run: records from @cand on that were copied and will be taken; empty otherwise
 * @run_next: the next CPU with a list
 * @list: the records after @run, while copying. Until they are taken, the CPU is in the heap with
 *	the time of @list.next
 */
struct pxtu_reader_cpu {
	__u64 consumed;
	__u64 timestamp;
	struct pxtu_writer writer;
	struct pxtu_kernel_cpu *kernel;
	bool damaged;
	bool queued;
	struct pxtu_view view;
	struct pxtu_candidate cand;
	struct pxtu_run run;
	__u32 run_next;
	struct pxtu_list list;
};

#define PXTU_NO_RUN	~0U

/**
 * struct pxtu_gap - snapshot of the kernel's account of lost events
 * @generation: incremented when events are lost after the reader acknowledged the last generation
 * @first: time of the first event lost in this generation
 * @previous_first: time of the first event lost in the generation before it
 * @overwrite_watermark: unread events at or before this time are lost
 */
struct pxtu_gap {
	__u64 generation;
	__u64 first;
	__u64 previous_first;
	__u64 overwrite_watermark;
};

/* How many events and how much data to read ahead. */
#define PXTU_AHEAD_EVENTS	32
#define PXTU_AHEAD_DATA		1024	/* bytes */

/**
 * struct pxtu_ahead - events that were taken together, to be reported one by one
 * @next: index of the next event to report
 * @count: number of events
 * @event: the events
 * @data: their data
 */
struct pxtu_ahead {
	unsigned int next;
	unsigned int count;
	struct posixtrace_batch_event event[PXTU_AHEAD_EVENTS];
	__u64 data[PXTU_AHEAD_DATA / sizeof(__u64)];
};

/**
 * struct pxtu_reader - the reader of one stream
 *
 * Used by one caller at a time.
 */
struct pxtu_reader {
	/** @map: the memory */
	struct pxtu_map map;
	/** @oldest: oldest sub-buffer of each CPU */
	const __u32 *oldest;
	/** @holders: bits of the CPUs that hold sub-buffers */
	const __u64 *holders;
	/** @kernel_heads: write positions of kernel events; empty without kernel events */
	const struct posixtrace_cpu_head *kernel_heads;
	/** @kernel: for each CPU with kernel events: see struct pxtu_reader_cpu */
	struct pxtu_kernel_cpu *kernel;
	/** @names: names of system calls; empty without the class syscall */
	struct pxtu_call_names names;
	/** @subbufs: descriptors of the sub-buffers */
	const struct posixtrace_subbuf *subbufs;
	/** @nr_cpus: number of CPUs; also the index of the "CPU" of system events */
	__u32 nr_cpus;
	/** @nr_lists: CPUs, plus 1 for system events, plus CPUs if the stream has kernel events */
	__u32 nr_lists;
	/** @nr_subbufs: sub-buffers that targets write */
	__u32 nr_subbufs;
	/** @first_kernel: first sub-buffer for kernel events, after those for system events */
	__u32 first_kernel;
	/** @nr_all: all sub-buffers */
	__u32 nr_all;
	/** @subbuf_size: bytes */
	__u32 subbuf_size;
	/** @max_data: largest data of a user event, in bytes */
	__u32 max_data;
	/** @loop: the stream has the policy POSIX_TRACE_LOOP */
	bool loop;
	/** @release: calls RELEASE with the number of a sub-buffer or POSIXTRACE_NONE */
	int (*release)(struct pxtu_reader *reader, __u32 subbuf);
	/** @defer: calls DEFER */
	int (*defer)(struct pxtu_reader *reader, struct posixtrace_defer *arg);

	/** @window: report a record this long after its time, in nanoseconds; 0: immediately */
	__u64 window;
	/** @settled: records up to this time may be reported; ~0 without @window */
	__u64 settled;

	/** @gap_lock: posixtrace_ctrl.gap_lock when all losses were last noted; odd before that */
	__u32 gap_lock;
	/** @overwrite_watermark: overwrite watermark when the account of losses was last read */
	__u64 overwrite_watermark;
	/** @lost_until: unread records at or before this time also count as lost */
	__u64 lost_until;
	/** @gap_ack: last generation of the gap that was acknowledged */
	__u64 gap_ack;
	/** @gap_open: there are lost events that have not been reported */
	bool gap_open;
	/** @gap_first: time of the first lost event */
	__u64 gap_first;
	/** @lost: events lost in the gaps that were reported; never decreases until cleared */
	__u64 lost;

	/** @ahead: events that were read ahead; @queue is reported first */
	struct pxtu_ahead ahead;
	/** @queue: the next events to report */
	struct pxtu_queue queue;
	/** @data: data of the record in @queue, unless it is in the program's buffer */
	unsigned char *data;

	/** @youngest: latest time of all events reported */
	__u64 youngest;
	/** @read: number of user events reported */
	__u64 read;
	/** @corrupt: number of damaged records */
	__u64 corrupt;
	/** @skipped: number of records that count as lost although they were not overwritten */
	__u64 skipped;
	/** @skipped_user: user events among them */
	__u64 skipped_user;
	/** @overrun: the reader discarded damaged records; posix_trace_get_status() reports that */
	bool overrun;
	/** @held: the kernel knows that the reader holds events back */
	bool held;
	/**
	 * @cpu: state for each CPU, for system events, and for the kernel's events on each CPU
	 */
	struct pxtu_reader_cpu *cpu;
	/** @heap: the CPUs with a record in @cpu */
	struct pxtu_heap heap;
	/** @news: records became visible since the CPUs outside of the heap were last scanned */
	bool news;
	/** @taken: the first record of the heap was taken or lost, so find the next one */
	bool taken;
	/**
	 * @runs: first CPU with a list, or PXTU_NO_RUN. The others follow in the order of the
	 * first record of their lists
	 */
	__u32 runs;
	/** @runs_end: last CPU with a list */
	__u32 runs_end;
};

/**
 * pxtu_reader_init() - prepare reading
 * @reader: to be initialized
 * @map: the memory; its sizes are checked against the numbers in pxtu_map.ctrl
 * @attr: attributes of the stream, as the kernel granted them
 * @release: calls RELEASE
 * @defer: calls DEFER
 *
 * Return: 0; -EPROTO if the memory is too small, -ENOMEM.
 */
int pxtu_reader_init(struct pxtu_reader *reader, const struct pxtu_map *map,
		     const struct posixtrace_attr *attr,
		     int (*release)(struct pxtu_reader *reader, __u32 subbuf),
		     int (*defer)(struct pxtu_reader *reader, struct posixtrace_defer *arg));

/**
 * pxtu_reader_destroy() - free what pxtu_reader_init() allocated
 * @reader: initialized reader
 */
void pxtu_reader_destroy(struct pxtu_reader *reader);

/**
 * pxtu_reader_next() - take the next event
 * @reader: the reader
 * @place: where the data of the event goes if all of it fits and no other event has to be reported
 *	first, which saves a copy. May be written to in any case
 *
 * Never waits. A malicious traced process can destroy only its own events.
 *
 * Return: the event, valid until the next call; NULL if there is no event.
 */
const struct posixtrace_batch_event *pxtu_reader_next(struct pxtu_reader *reader,
						      const struct pxtu_place *place);

/**
 * pxtu_reader_unread() - put the last event back
 * @reader: the reader
 *
 * Call this only after pxtu_reader_next() returned an event with its data outside of the place. The
 * next call of pxtu_reader_next() returns the event again.
 */
void pxtu_reader_unread(struct pxtu_reader *reader);

/**
 * pxtu_reader_hold() - tell the kernel whether the reader holds events back
 * @reader: the reader
 * @held: the reader is about to take a record, or has taken records and not reported them
 */
void pxtu_reader_hold(struct pxtu_reader *reader, bool held);

/**
 * pxtu_reader_restart() - restart a full stream if it was read empty
 * @reader: the reader
 */
void pxtu_reader_restart(struct pxtu_reader *reader);

/**
 * pxtu_reader_settle() - end a series of pxtu_reader_next()
 * @reader: the reader
 *
 * Call this after reporting the events that pxtu_reader_next() returned. Until then, the
 * kernel counts these events as unread, so WAIT and poll() do not sleep.
 */
void pxtu_reader_settle(struct pxtu_reader *reader);

/**
 * pxtu_reader_clear() - forget all events
 * @reader: the reader; the kernel has cleared the stream
 */
void pxtu_reader_clear(struct pxtu_reader *reader);

/* Get the time of an event, in nanoseconds since the Epoch. */
static inline __u64 pxtu_batch_time(const struct posixtrace_batch_event *event)
{
	return (__u64)event->event.posix_timestamp.tv_sec * PXTU_NSEC_PER_SEC +
	       (__u64)event->event.posix_timestamp.tv_nsec;
}

#endif /* PXTU_READER_H */
