/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * posixtrace - POSIX.1-2017 tracing behind /dev/posixtrace.
 *
 * The only header that the module and user space share. An open file gets one
 * role by its first ioctl: CREATE makes it a stream (of the process that
 * controls and analyzes it), ATTACH makes it a target (of a traced process).
 *
 * Rules for all argument structures: fixed-width types, no holes; what is
 * named reserved must be zero on input and is zero on output; unknown flags
 * are refused with EINVAL. A structure that must grow gets a new command.
 *
 * Documentation/abi.rst describes each command, Documentation/buffers.rst the
 * memory that kernel, traced processes and analyzer share.
 */
#ifndef _UAPI_LINUX_POSIXTRACE_H
#define _UAPI_LINUX_POSIXTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Raised whenever a command or the shared memory changes its meaning. */
#define POSIXTRACE_ABI_VERSION		1

/* Sizes of names include the terminating NUL. */
#define POSIXTRACE_NAME_SIZE		64
#define POSIXTRACE_EVENT_NAME_SIZE	64

/*
 * Event type ids: 0..63 are system event types (0 is never used), 64 is the
 * unnamed user event type, named user event types follow.
 */
#define POSIXTRACE_ID_ERROR		1
#define POSIXTRACE_ID_START		2
#define POSIXTRACE_ID_STOP		3
#define POSIXTRACE_ID_OVERFLOW		4
#define POSIXTRACE_ID_RESUME		5
#define POSIXTRACE_ID_FLUSH_START	6
#define POSIXTRACE_ID_FLUSH_STOP	7
#define POSIXTRACE_ID_FILTER		8
#define POSIXTRACE_ID_UNNAMED		64
#define POSIXTRACE_ID_MAX		4096	/* ids are smaller than this */

/* How many streams there can be, on the whole system and on one process. */
#define POSIXTRACE_STREAMS_MAX		256
#define POSIXTRACE_SLOTS_MAX		32

/* Bounds of attributes, in bytes. */
#define POSIXTRACE_DATA_SIZE_MAX	(64U << 10)
#define POSIXTRACE_STREAM_SIZE_MAX	(1U << 30)
#define POSIXTRACE_STREAM_SIZE_MIN	(8U << 10)
#define POSIXTRACE_SUBBUF_SIZE_MIN	(4U << 10)
#define POSIXTRACE_SUBBUF_SIZE_LARGE	(512U << 10)	/* of large streams */
#define POSIXTRACE_SUBBUF_SIZE_MAX	(516U << 10)	/* of large events */

/**
 * struct posixtrace_event_set - set of event types
 * @bits: bit (id % 64) of word (id / 64) stands for type id
 */
struct posixtrace_event_set {
	__u64 bits[POSIXTRACE_ID_MAX / 64];
};

/* ------------------------------------------------------------------ */
/* Shared memory: records						*/

/* The data was longer than the stream's max-data-size and was cut. */
#define POSIXTRACE_RECORD_TRUNCATED	(1U << 0)

#define POSIXTRACE_RECORD_ALIGN		8

/**
 * struct posixtrace_record - one trace event in a sub-buffer
 * @data_len: bytes of data behind this header
 * @event_id: event type
 * @flags: POSIXTRACE_RECORD_*
 * @timestamp: nanoseconds since the Epoch
 * @prog_address: the instruction after the call that generated the event
 *
 * The data is filled up to a multiple of 8 bytes. The thread is that of the record before
 * in the sub-buffer, unless there is a struct posixtrace_writer right in front.
 *
 * Records of user events are written by the traced process: nothing in them
 * can be trusted before it was copied and checked.
 */
struct posixtrace_record {
	__u32 data_len;
	__u16 event_id;
	__u16 flags;
	__u64 timestamp;
	__u64 prog_address;
};

/* posixtrace_writer.event_id */
#define POSIXTRACE_ID_WRITER		0

/**
 * struct posixtrace_writer - who generated the record behind it
 * @data_len: zero
 * @event_id: POSIXTRACE_ID_WRITER
 * @flags: zero
 * @pid: process id, as the controller sees it
 * @tid: kernel thread id, as the controller sees it
 * @thread_id: pthread_t of the generating thread
 *
 * In front of a record whose thread is not that of the record before in the same
 * sub-buffer, and of the first one. It is part of that record: committed, counted and
 * taken with it.
 */
struct posixtrace_writer {
	__u32 data_len;
	__u16 event_id;
	__u16 flags;
	__s32 pid;
	__s32 tid;
	__u64 thread_id;
};

#define POSIXTRACE_RECORD_ALIGNED(size) \
	(((size) + POSIXTRACE_RECORD_ALIGN - 1) & ~(__u64)(POSIXTRACE_RECORD_ALIGN - 1))

/* From a record with @len bytes of data to what is behind it. */
#define POSIXTRACE_RECORD_STEP(len) \
	POSIXTRACE_RECORD_ALIGNED(sizeof(struct posixtrace_record) + (len))

/* The most that it takes in a sub-buffer: with its struct posixtrace_writer. */
#define POSIXTRACE_RECORD_SIZE(len) \
	POSIXTRACE_RECORD_ALIGNED(sizeof(struct posixtrace_writer) + \
				  sizeof(struct posixtrace_record) + (len))

/* The largest data of a system event: FILTER carries two event sets. */
#define POSIXTRACE_SYSDATA_MAX	(2 * sizeof(struct posixtrace_event_set))

/**
 * posixtrace_subbuf_size() - size of the sub-buffers of a stream
 * @stream_size: stream-min-size in bytes
 * @max_data: max-data-size in bytes
 *
 * At least eight times the largest record, so that the unused tail of a
 * sub-buffer is less than an eighth of it; more in large streams, so that the
 * system call that each sub-buffer costs is for many records: they have some
 * hundred. A multiple of 4 KiB.
 */
static inline __u32 posixtrace_subbuf_size(__u64 stream_size, __u64 max_data)
{
	__u64 size = 8 * POSIXTRACE_RECORD_SIZE(max_data), part = (stream_size + 255) / 256;

	/* Rounded up, so that the size that is granted leads to the same. */
	if (part > POSIXTRACE_SUBBUF_SIZE_LARGE)
		part = POSIXTRACE_SUBBUF_SIZE_LARGE;
	if (size < part)
		size = part;
	size = (size + POSIXTRACE_SUBBUF_SIZE_MIN - 1) & ~(__u64)(POSIXTRACE_SUBBUF_SIZE_MIN - 1);
	if (size > POSIXTRACE_SUBBUF_SIZE_MAX)
		size = POSIXTRACE_SUBBUF_SIZE_MAX;
	return (__u32)size;
}

/* ------------------------------------------------------------------ */
/* Shared memory: the gate (target: read-only)				*/

/* posixtrace_clock.counter */
#define POSIXTRACE_COUNTER_NONE		0	/* ask for CLOCK_MONOTONIC */
#define POSIXTRACE_COUNTER_TSC		1	/* x86-64: the time stamp counter */

/**
 * struct posixtrace_clock - the clock of the timestamps
 * @offset: nanoseconds between CLOCK_MONOTONIC, as the kernel sees it, and the time
 *	since the Epoch that timestamps tell
 * @seq: odd while the kernel changes what follows
 * @counter: POSIXTRACE_COUNTER_*: what CLOCK_MONOTONIC is made from
 * @cycle_last: number of that counter some time ago
 * @base: nanoseconds of CLOCK_MONOTONIC, as the kernel sees it, at that time
 * @fraction: what is to be added to that, in units of 2^-@shift nanoseconds
 * @mult: such units per cycle
 * @shift: below 64
 * @reserved: zero
 *
 * One for all processes. It follows CLOCK_REALTIME, but never back while there is any
 * stream. Written by the kernel only, all but @offset in each tick.
 */
struct posixtrace_clock {
	__s64 offset;
	__u32 seq;
	__u32 counter;
	__u64 cycle_last;
	__u64 base;
	__u64 fraction;
	__u32 mult;
	__u32 shift;
	__u64 reserved[506];
};

/**
 * struct posixtrace_gate - which event types go into which streams
 * @generation: raised by the kernel when the streams of the target change, and when its
 *	memory becomes that of another process, too
 * @reserved: zero
 * @enable: bit s of word id: record this type into the stream in slot s
 * @clock: the clock; not in the kernel's memory of the gate
 *
 * Written by the kernel only, read by the traced process.
 */
struct posixtrace_gate {
	__u32 generation;
	__u32 reserved[1023];
	__u32 enable[POSIXTRACE_ID_MAX];
	struct posixtrace_clock clock;
};

/* ------------------------------------------------------------------ */
/* Shared memory: the pool						*/

/* The stream is full: count the event in @lost instead of calling NEXT. */
#define POSIXTRACE_HEAD_FULL		(1U << 0)

/* In the 64-bit head: position in the pool below, number of records above. */
#define POSIXTRACE_HEAD(pos, count)	(((__u64)(count) << 32) | (__u32)(pos))
#define POSIXTRACE_HEAD_POS(head)	((__u32)(head))
#define POSIXTRACE_HEAD_COUNT(head)	((__u32)((head) >> 32))

/* No head: positions are multiples of 8. */
#define POSIXTRACE_HEAD_NONE		(~0ULL)

/**
 * struct posixtrace_cpu_head - where one CPU writes
 * @head: next free byte of the pool and records so far in this sub-buffer
 *	(POSIXTRACE_HEAD): one store commits a record
 * @limit: end of this CPU's open sub-buffer in the pool, 0 without one
 * @flags: POSIXTRACE_HEAD_FULL
 * @lost: events dropped on this CPU while the stream was full
 * @last: no record of this CPU may be older than this (nanoseconds)
 * @writer_head: @pid, @tid and @thread_id are those of the last record if this is what
 *	@head is, and else mean nothing
 * @pid: of the last record, as in struct posixtrace_writer
 * @tid: likewise
 * @thread_id: likewise
 * @reserved: zero
 *
 * Who writes a record stores in @writer_head what @head is about to be, before that; and
 * POSIXTRACE_HEAD_NONE before changing @pid, @tid or @thread_id. So one that is disturbed
 * in the middle leaves nothing that anybody believes.
 *
 * One cache line per CPU. Written by the writers that run on this CPU (a
 * restartable sequence, or the kernel with interrupts off) and by NEXT on this
 * CPU. From elsewhere the kernel writes @flags and @limit when the stream becomes
 * full or not full, and the rest only while no writer can be active. It keeps its
 * own notes of what is open and believes none of this.
 */
struct posixtrace_cpu_head {
	__u64 head;
	__u32 limit;
	__u32 flags;
	__u64 lost;
	__u64 last;
	__u64 writer_head;
	__s32 pid;
	__s32 tid;
	__u64 thread_id;
	__u64 reserved;
};

/**
 * struct posixtrace_bell - does anybody want to be told? (target: read-only)
 * @kick: not zero: a reader sleeps, call KICK after recording
 * @reserved: zero
 *
 * One per stream, for all processes that it traces. Written by the kernel only.
 */
struct posixtrace_bell {
	__u32 kick;
	__u32 reserved[15];
};

#define POSIXTRACE_SUBBUF_FREE		0
#define POSIXTRACE_SUBBUF_OPEN		1
#define POSIXTRACE_SUBBUF_CLOSED	2

/**
 * struct posixtrace_subbuf - descriptor of a sub-buffer (stream: read-only)
 * @seq: number of this use; each hand-out in the stream gets the next, from 1
 * @opened: time of the hand-out; no record in it is older (nanoseconds)
 * @closed: when closed: no record in it is younger
 * @cpu: CPU that writes or wrote it; nr_cpus for system events
 * @state: POSIXTRACE_SUBBUF_*
 * @used: when closed: bytes of records
 * @count: when closed: number of records
 * @reserved: zero
 *
 * Written by the kernel only. Sub-buffer i lies at byte i * subbuf_size of the
 * pool; the system sub-buffers have the numbers after those of the targets.
 */
struct posixtrace_subbuf {
	__u64 seq;
	__u64 opened;
	__u64 closed;
	__u32 cpu;
	__u32 state;
	__u32 used;
	__u32 count;
	__u64 reserved[3];
};

/* posixtrace_ctrl.oldest[] of a CPU that holds no sub-buffer. */
#define POSIXTRACE_NONE			(~0U)

/* posixtrace_ctrl.flags */
#define POSIXTRACE_CTRL_RUNNING		(1U << 0)
#define POSIXTRACE_CTRL_FULL		(1U << 1)
#define POSIXTRACE_CTRL_SHUTDOWN	(1U << 2)

/**
 * struct posixtrace_ctrl - state of a stream for its reader (read-only)
 * @size: bytes of this structure
 * @nr_cpus: CPUs (and entries of the CPU heads); number of the system "CPU"
 * @nr_subbufs: sub-buffers that targets write
 * @nr_sys_subbufs: sub-buffers for system events, allocated when needed
 * @subbuf_size: bytes
 * @flags: POSIXTRACE_CTRL_*, a hint that is true for some moment
 * @oldest_offset: where in this mapping __u32 oldest[nr_cpus + 1] is:
 *	the oldest sub-buffer of each CPU that is not released
 * @subbuf_offset: where in this mapping the descriptors are
 * @gap_lock: odd while the kernel changes the next four and takes a
 *	sub-buffer away from the reader
 * @reserved1: zero
 * @gap_generation: raised when events get lost after the reader had
 *	acknowledged all that were lost before
 * @gap_first: time of the first event lost in this gap
 * @horizon: unread user and system events at or before this time are lost
 * @lost: events lost in overwritten sub-buffers
 * @system_filter: bit id: the filter has system event type id as a member
 * @reserved2: zero
 * @system: where system events are written, as a CPU
 *
 * Written by the kernel only.
 */
struct posixtrace_ctrl {
	__u32 size;
	__u32 nr_cpus;
	__u32 nr_subbufs;
	__u32 nr_sys_subbufs;
	__u32 subbuf_size;
	__u32 flags;
	__u32 oldest_offset;
	__u32 subbuf_offset;
	__u32 gap_lock;
	__u32 reserved1;
	__u64 gap_generation;
	__u64 gap_first;
	__u64 horizon;
	__u64 lost;
	__u64 system_filter;
	__u64 reserved2[6];
	struct posixtrace_cpu_head system;
};

/*
 * How far a sub-buffer was read: the low half of its sequence number, the
 * number of records taken, and the position of the next in units of 8 bytes.
 * The reader takes records with compare-and-swap, the kernel takes the
 * sub-buffer back with exchange: each record is read or lost, never both.
 */
#define POSIXTRACE_CLAIM_POS_BITS	17
#define POSIXTRACE_CLAIM_COUNT_BITS	15
#define POSIXTRACE_CLAIM(seq, count, pos) \
	(((__u64)(seq) << 32) | ((__u64)(count) << POSIXTRACE_CLAIM_POS_BITS) | ((pos) >> 3))
#define POSIXTRACE_CLAIM_SEQ(claim)	((__u32)((claim) >> 32))
#define POSIXTRACE_CLAIM_COUNT(claim) \
	((__u32)(claim) >> POSIXTRACE_CLAIM_POS_BITS)
#define POSIXTRACE_CLAIM_POS(claim) \
	(((__u32)(claim) & ((1U << POSIXTRACE_CLAIM_POS_BITS) - 1)) << 3)

/**
 * struct posixtrace_reader - what the reader tells the kernel (read-write)
 * @gap_ack: the last gap_generation that the reader took note of
 * @held: not zero before a record is taken and as long as the reader has taken
 *	events and not reported them; then nobody waits for one
 * @reserved: zero
 * @claim: POSIXTRACE_CLAIM of each sub-buffer, in the order of descriptors
 *
 * Written by the analyzer; the kernel exchanges claims. The kernel uses what
 * it finds here for the numbers and times of this stream only.
 */
struct posixtrace_reader {
	__u64 gap_ack;
	__u64 held;
	__u64 reserved[6];
	__u64 claim[];
};

/* ------------------------------------------------------------------ */
/* Arguments of the commands						*/

/* posixtrace_info.features */
#define POSIXTRACE_FEATURE_EVENT	(1ULL << 0)	/* the EVENT command */

/**
 * struct posixtrace_info - what this module can do
 * @abi_version: Output: POSIXTRACE_ABI_VERSION of the module
 * @page_size: Output: unit of mapping offsets, in bytes
 * @features: Output: POSIXTRACE_FEATURE_*
 * @streams_max: Output: streams on the system
 * @slots_max: Output: streams on one process
 * @ids_max: Output: event type ids are smaller than this
 * @clock_resolution: Output: of the timestamps, in nanoseconds
 * @reserved: Output: zero
 */
struct posixtrace_info {
	__u32 abi_version;
	__u32 page_size;
	__u64 features;
	__u32 streams_max;
	__u32 slots_max;
	__u32 ids_max;
	__u32 clock_resolution;
	__u64 reserved[4];
};

/* posixtrace_attr.inherited */
#define POSIXTRACE_CLOSE_FOR_CHILD	0
#define POSIXTRACE_INHERITED		1

/* posixtrace_attr.stream_policy, log_policy */
#define POSIXTRACE_POLICY_LOOP		0
#define POSIXTRACE_POLICY_UNTIL_FULL	1
#define POSIXTRACE_POLICY_FLUSH		2	/* streams with log */
#define POSIXTRACE_POLICY_APPEND	3	/* logs */

/**
 * struct posixtrace_attr - attributes of a stream
 * @inherited: POSIXTRACE_CLOSE_FOR_CHILD or POSIXTRACE_INHERITED
 * @stream_policy: POSIXTRACE_POLICY_LOOP, _UNTIL_FULL or _FLUSH
 * @log_policy: POSIXTRACE_POLICY_LOOP, _UNTIL_FULL or _APPEND
 * @clock_resolution: Output: nanoseconds
 * @stream_size: bytes; rounded up to what GET_ATTR tells
 * @max_data_size: bytes of data in one event
 * @log_size: bytes
 * @creation_time: Output: nanoseconds since the Epoch
 * @name: NUL-terminated, zero behind
 * @version: Output: of the module, NUL-terminated
 * @reserved: zero
 *
 * What is marked as output must be zero in the argument of CREATE.
 */
struct posixtrace_attr {
	__u32 inherited;
	__u32 stream_policy;
	__u32 log_policy;
	__u32 clock_resolution;
	__u64 stream_size;
	__u64 max_data_size;
	__u64 log_size;
	__u64 creation_time;
	char name[POSIXTRACE_NAME_SIZE];
	char version[POSIXTRACE_NAME_SIZE];
	__u64 reserved[8];
};

/**
 * struct posixtrace_map - one range that can be mapped
 * @offset: for mmap()
 * @size: bytes
 */
struct posixtrace_map {
	__u64 offset;
	__u64 size;
};

/**
 * struct posixtrace_create - argument of CREATE
 * @pid: Input: process to trace, 0 for the caller
 * @log_fd: Input: file for the log, open for writing; -1 for a stream without log
 * @flags: Input: zero
 * @slot: Output: slot of the traced process
 * @attr: Input: attributes
 * @reader: Output: struct posixtrace_reader, to be mapped read-write
 * @ctrl: Output: struct posixtrace_ctrl, read-only
 * @heads: Output: struct posixtrace_cpu_head[nr_cpus], read-only
 * @pool: Output: sub-buffers of targets, then those for system events;
 *	read-only
 * @stream: Output: number that no two streams have had, never 0
 * @reserved: zero
 *
 * The last three ranges follow one another without a gap, in this order. What is output
 * must be zero before.
 */
struct posixtrace_create {
	__s32 pid;
	__s32 log_fd;
	__u32 flags;
	__u32 slot;
	struct posixtrace_attr attr;
	struct posixtrace_map reader;
	struct posixtrace_map ctrl;
	struct posixtrace_map heads;
	struct posixtrace_map pool;
	__u64 stream;
	__u64 reserved[7];
};

/**
 * struct posixtrace_origin - on whose behalf a system event is recorded
 * @prog_address: Input: the instruction after the call
 * @thread_id: Input: pthread_t of the caller
 * @reserved: Input: zero
 */
struct posixtrace_origin {
	__u64 prog_address;
	__u64 thread_id;
	__u64 reserved[2];
};

/* posixtrace_status.flags */
#define POSIXTRACE_STATUS_RUNNING	(1U << 0)
#define POSIXTRACE_STATUS_FULL		(1U << 1)
#define POSIXTRACE_STATUS_OVERRUN	(1U << 2)
#define POSIXTRACE_STATUS_FLUSHING	(1U << 3)
#define POSIXTRACE_STATUS_LOG_FULL	(1U << 4)
#define POSIXTRACE_STATUS_LOG_OVERRUN	(1U << 5)

/**
 * struct posixtrace_status - one consistent snapshot of a stream
 * @flags: Output: POSIXTRACE_STATUS_*; the overruns are reset by reading them
 * @flush_error: Output: 0 or the number of the first error of a flush; reset likewise
 * @lost: Output: events lost so far (unread and overwritten, dropped while
 *	full; without those that the reader skipped for the horizon)
 * @memory: Output: bytes of memory in use by this stream's mappings
 * @reserved: Output: zero
 */
struct posixtrace_status {
	__u32 flags;
	__s32 flush_error;
	__u64 lost;
	__u64 memory;
	__u64 reserved[5];
};

/**
 * struct posixtrace_eventid - name and id of an event type
 * @name: EVENTID_OPEN: Input; EVENT_NAME: Output; NUL-terminated
 * @id: EVENTID_OPEN: Output; EVENT_NAME: Input
 * @reserved: zero
 */
struct posixtrace_eventid {
	char name[POSIXTRACE_EVENT_NAME_SIZE];
	__u32 id;
	__u32 reserved;
};

/**
 * struct posixtrace_event_types - list of the event types of a stream
 * @ids: Input: address of an array of __u32
 * @first: Input: how many types to leave out; they have a fixed order, the
 *	predefined ones first, and new ones come last
 * @count: Input: room in the array; Output: ids written, 0 at the end
 * @reserved: zero
 */
struct posixtrace_event_types {
	__aligned_u64 ids;
	__u32 first;
	__u32 count;
	__u64 reserved;
};

/* posixtrace_filter.how */
#define POSIXTRACE_FILTER_SET		0	/* the set becomes the filter */
#define POSIXTRACE_FILTER_ADD		1	/* the filter gets its members */
#define POSIXTRACE_FILTER_SUB		2	/* the filter loses its members */

/**
 * struct posixtrace_filter - argument of SET_FILTER
 * @set: Input: event types; members of the filter are not recorded
 * @how: Input: POSIXTRACE_FILTER_*
 * @reserved: Input: zero
 * @origin: Input: the caller
 */
struct posixtrace_filter {
	struct posixtrace_event_set set;
	__u32 how;
	__u32 reserved;
	struct posixtrace_origin origin;
};

/**
 * struct posixtrace_stats - numbers of a stream, since CREATE or CLEAR
 * @recorded: Output: user events that were recorded
 * @dropped: Output: user events that came while the stream was full
 * @overwritten: Output: user events that were recorded and overwritten unread
 * @overwritten_system: Output: likewise, system events
 * @memory: Output: bytes of memory in use by this stream's mappings
 * @processes: Output: processes that are traced now
 * @untraced: Output: children that should be traced, but for want of memory are not
 * @reserved: Output: zero
 *
 * @recorded and @dropped together are the user events that were generated for
 * this stream while it was running or full and did not filter them out.
 */
struct posixtrace_stats {
	__u64 recorded;
	__u64 dropped;
	__u64 overwritten;
	__u64 overwritten_system;
	__u64 memory;
	__u32 processes;
	__u32 untraced;
	__u64 reserved[2];
};

/* posixtrace_wait.flags */
#define POSIXTRACE_WAIT_DEADLINE	(1U << 0)

/**
 * struct posixtrace_wait - argument of WAIT
 * @flags: Input: POSIXTRACE_WAIT_DEADLINE
 * @reserved1: Input: zero
 * @deadline: Input: nanoseconds of CLOCK_REALTIME, with the flag, else zero
 * @reserved2: Input: zero
 */
struct posixtrace_wait {
	__u32 flags;
	__u32 reserved1;
	__u64 deadline;
	__u64 reserved2;
};

/**
 * struct posixtrace_release - argument of RELEASE
 * @subbuf: Input: number of a closed sub-buffer that was read to its end, or
 *	POSIXTRACE_NONE to let a full stream that was read empty start again
 * @reserved: Input: zero
 */
struct posixtrace_release {
	__u32 subbuf;
	__u32 reserved;
};

/**
 * struct posixtrace_attach - argument of ATTACH
 * @flags: Input: zero
 * @reserved1: zero
 * @gate: Output, zero before: struct posixtrace_gate, to be mapped read-only
 * @target: Output, zero before: number that no two processes have had, never 0
 * @clock_shift: Output, zero before: nanoseconds by which CLOCK_MONOTONIC of the process
 *	is later than the kernel's: not 0 in a time namespace
 * @reserved2: zero
 */
struct posixtrace_attach {
	__u32 flags;
	__u32 reserved1;
	struct posixtrace_map gate;
	__u64 target;
	__s64 clock_shift;
	__u64 reserved2[2];
};

/* Thread ids are to the controller what they are to the target. */
#define POSIXTRACE_SLOT_SAME_IDS	(1U << 0)

/**
 * struct posixtrace_slot - one stream that traces the target
 * @heads: struct posixtrace_cpu_head[], to be mapped read-write; size 0 in
 *	a slot that is not used
 * @pool: sub-buffers of targets, to be mapped read-write
 * @bell: struct posixtrace_bell, to be mapped read-only
 * @stream: number that no two streams have had
 * @subbuf_size: bytes
 * @max_data_size: bytes
 * @pid: process id of the target as the controller sees it
 * @flags: POSIXTRACE_SLOT_*
 * @reserved: zero
 */
struct posixtrace_slot {
	struct posixtrace_map heads;
	struct posixtrace_map pool;
	struct posixtrace_map bell;
	__u64 stream;
	__u32 subbuf_size;
	__u32 max_data_size;
	__s32 pid;
	__u32 flags;
	__u32 reserved[4];
};

/**
 * struct posixtrace_sync - argument of SYNC
 * @slots: Input: address of struct posixtrace_slot[POSIXTRACE_SLOTS_MAX]
 * @generation: Output: posixtrace_gate.generation that this belongs to
 * @reserved: zero
 */
struct posixtrace_sync {
	__aligned_u64 slots;
	__u32 generation;
	__u32 reserved[3];
};

/**
 * struct posixtrace_next - argument of NEXT
 * @slot: Input: slot of a stream, from SYNC
 * @size: Input: bytes that the record needs at most: POSIXTRACE_RECORD_SIZE
 * @stream: Input: number of that stream, from SYNC
 * @reserved: zero
 */
struct posixtrace_next {
	__u32 slot;
	__u32 size;
	__u64 stream;
	__u64 reserved;
};

/**
 * struct posixtrace_event - argument of EVENT
 * @event_id: Input: user event type
 * @flags: Input: zero
 * @data: Input: address of the data
 * @data_len: Input: bytes
 * @prog_address: Input: the instruction after the call
 * @thread_id: Input: pthread_t of the caller
 * @skip: Input: bit s: not into the stream in slot s, which has it already
 * @reserved: Input: zero
 */
struct posixtrace_event {
	__u32 event_id;
	__u32 flags;
	__aligned_u64 data;
	__u64 data_len;
	__u64 prog_address;
	__u64 thread_id;
	__u32 skip;
	__u32 reserved;
};

/**
 * struct posixtrace_checked - argument of CHECKED
 * @stream: Input: number of the stream that the file must be, from CREATE; 0 for
 *	a file of role target
 * @arg: Input: argument of the command: an address, as it is passed to ioctl()
 * @cmd: Input: POSIXTRACE_IOC_*, but not CHECKED
 * @reserved: Input: zero
 */
struct posixtrace_checked {
	__u64 stream;
	__aligned_u64 arg;
	__u32 cmd;
	__u32 reserved;
};

/* Flags of MAP */
#define POSIXTRACE_MAPPING_WRITE	(1U << 0)	/* read and write, else read only */
#define POSIXTRACE_MAPPING_POPULATE	(1U << 1)	/* as MAP_POPULATE */

/**
 * struct posixtrace_mapping - argument of MAP
 * @map: Input: what to map, as for mmap()
 * @flags: Input: POSIXTRACE_MAPPING_*
 * @reserved: Input: zero
 * @address: Output, zero before: where it is mapped now
 */
struct posixtrace_mapping {
	struct posixtrace_map map;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 address;
};

/* ------------------------------------------------------------------ */
/* Commands								*/

#define POSIXTRACE_IOC_MAGIC	0xE7

/* in any role, also before there is one */
#define POSIXTRACE_IOC_INFO		_IOR(POSIXTRACE_IOC_MAGIC, 0x00, struct posixtrace_info)

/* role stream */
#define POSIXTRACE_IOC_CREATE		_IOWR(POSIXTRACE_IOC_MAGIC, 0x10, struct posixtrace_create)
#define POSIXTRACE_IOC_START		_IOW(POSIXTRACE_IOC_MAGIC, 0x11, struct posixtrace_origin)
#define POSIXTRACE_IOC_STOP		_IOW(POSIXTRACE_IOC_MAGIC, 0x12, struct posixtrace_origin)
#define POSIXTRACE_IOC_SHUTDOWN		_IO(POSIXTRACE_IOC_MAGIC, 0x13)
#define POSIXTRACE_IOC_GET_STATUS	_IOR(POSIXTRACE_IOC_MAGIC, 0x14, struct posixtrace_status)
#define POSIXTRACE_IOC_GET_ATTR		_IOR(POSIXTRACE_IOC_MAGIC, 0x15, struct posixtrace_attr)
#define POSIXTRACE_IOC_EVENT_NAME \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x16, struct posixtrace_eventid)
#define POSIXTRACE_IOC_EVENT_TYPES \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x17, struct posixtrace_event_types)
#define POSIXTRACE_IOC_WAIT		_IOW(POSIXTRACE_IOC_MAGIC, 0x18, struct posixtrace_wait)
#define POSIXTRACE_IOC_RELEASE		_IOW(POSIXTRACE_IOC_MAGIC, 0x19, struct posixtrace_release)
#define POSIXTRACE_IOC_SET_FILTER \
	_IOW(POSIXTRACE_IOC_MAGIC, 0x1a, struct posixtrace_filter)
#define POSIXTRACE_IOC_GET_FILTER \
	_IOR(POSIXTRACE_IOC_MAGIC, 0x1b, struct posixtrace_event_set)
#define POSIXTRACE_IOC_CLEAR		_IO(POSIXTRACE_IOC_MAGIC, 0x1c)
#define POSIXTRACE_IOC_FLUSH		_IOW(POSIXTRACE_IOC_MAGIC, 0x1e, struct posixtrace_origin)
#define POSIXTRACE_IOC_GET_STATS	_IOR(POSIXTRACE_IOC_MAGIC, 0x1d, struct posixtrace_stats)

/* role target */
#define POSIXTRACE_IOC_ATTACH		_IOWR(POSIXTRACE_IOC_MAGIC, 0x30, struct posixtrace_attach)
#define POSIXTRACE_IOC_SYNC		_IOWR(POSIXTRACE_IOC_MAGIC, 0x31, struct posixtrace_sync)
#define POSIXTRACE_IOC_NEXT		_IOW(POSIXTRACE_IOC_MAGIC, 0x32, struct posixtrace_next)
#define POSIXTRACE_IOC_EVENT		_IOW(POSIXTRACE_IOC_MAGIC, 0x33, struct posixtrace_event)
#define POSIXTRACE_IOC_KICK		_IOW(POSIXTRACE_IOC_MAGIC, 0x34, __u32)

/* both roles */
#define POSIXTRACE_IOC_EVENTID_OPEN \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x50, struct posixtrace_eventid)
#define POSIXTRACE_IOC_CHECKED		_IOW(POSIXTRACE_IOC_MAGIC, 0x51, struct posixtrace_checked)
#define POSIXTRACE_IOC_MAP		_IOWR(POSIXTRACE_IOC_MAGIC, 0x52, struct posixtrace_mapping)

#endif /* _UAPI_LINUX_POSIXTRACE_H */
