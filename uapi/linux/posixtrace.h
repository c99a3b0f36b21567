/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * posixtrace - POSIX.1-2017 tracing behind /dev/posixtrace.
 *
 * The commands and their arguments. The first ioctl gives an open file its role: CREATE makes it a
 * stream (of the process that controls and analyzes it), ATTACH makes it a target (of a traced
 * process).
 *
 * Rules for all argument structures: fixed-width types, no holes; reserved members must be zero on
 * input and are zero on output; unknown flags are refused with EINVAL. A structure never grows: a
 * new command is added instead.
 *
 * Documentation/abi.rst describes each command. linux/posixtrace_memory.h defines the memory shared
 * by kernel, traced processes and analyzer; linux/posixtrace_states.h the rows of STATES and FILES;
 * linux/posixtrace_log.h the format of logs.
 */
#ifndef _UAPI_LINUX_POSIXTRACE_H
#define _UAPI_LINUX_POSIXTRACE_H

#include <linux/ioctl.h>
#include <linux/posixtrace_memory.h>
#include <linux/posixtrace_states.h>
#include <linux/types.h>

/* Incremented whenever a command or the shared memory changes its meaning. */
#define POSIXTRACE_ABI_VERSION		26

/* Sizes of names include the terminating NUL. */
#define POSIXTRACE_NAME_SIZE		64
#define POSIXTRACE_EVENT_NAME_SIZE	64

/*
 * Size of a description, including the terminating NUL, and of all descriptions of a traced
 * process.
 */
#define POSIXTRACE_DESCRIPTION_SIZE	4096
#define POSIXTRACE_DESCRIPTIONS_MAX	(1U << 20)

/* Maximum number of streams on the whole system; see POSIXTRACE_SLOTS_MAX for one process. */
#define POSIXTRACE_STREAMS_MAX		256

/* Limits of attributes, in bytes. The largest record has 64 KiB. */
#define POSIXTRACE_DATA_SIZE_MAX	((64U << 10) - 48)
#define POSIXTRACE_STREAM_SIZE_MAX	(1U << 30)
#define POSIXTRACE_STREAM_SIZE_MIN	(8U << 10)

/* Limit of posixtrace_attr.wakeup_ns, in nanoseconds: one hour. */
#define POSIXTRACE_WAKEUP_NS_MAX	3600000000000ULL

/* Limit of posixtrace_defer.window, in nanoseconds: 10 seconds. */
#define POSIXTRACE_WINDOW_NS_MAX	10000000000ULL

/* ------------------------------------------------------------------ */
/* Arguments of the commands						*/

/* posixtrace_info.features */
#define POSIXTRACE_FEATURE_EVENT	(1ULL << 0)	/* the EVENT command */
#define POSIXTRACE_FEATURE_LZ4		(1ULL << 1)	/* POSIXTRACE_COMPRESS_LZ4 */

/**
 * struct posixtrace_info - features and limits of the module
 * @abi_version: Output: POSIXTRACE_ABI_VERSION of the module
 * @page_size: Output: unit of mapping offsets, in bytes
 * @features: Output: POSIXTRACE_FEATURE_*
 * @streams_max: Output: streams on the system
 * @slots_max: Output: streams on one process
 * @ids_max: Output: event type ids are smaller than this
 * @clock_resolution: Output: resolution of the timestamps, in nanoseconds
 * @classes: Output: POSIXTRACE_CLASS_* that this kernel can record for the caller
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
	__u64 classes;
	__u64 reserved[3];
};

/* posixtrace_attr.inherited */
#define POSIXTRACE_CLOSE_FOR_CHILD	0
#define POSIXTRACE_INHERITED		1

/* posixtrace_attr.stream_policy, log_policy */
#define POSIXTRACE_POLICY_LOOP		0
#define POSIXTRACE_POLICY_UNTIL_FULL	1
#define POSIXTRACE_POLICY_FLUSH		2	/* streams with a log */
#define POSIXTRACE_POLICY_APPEND	3	/* logs */

/* posixtrace_attr.classes: kernel events about the traced processes */
#define POSIXTRACE_CLASS_SCHED		0x01	/* running, waiting, waking up */
#define POSIXTRACE_CLASS_FAULT		0x02	/* page faults */
#define POSIXTRACE_CLASS_SIGNAL		0x04	/* signals */
#define POSIXTRACE_CLASS_SYSCALL	0x08	/* system calls */
#define POSIXTRACE_CLASS_IRQ		0x10	/* interrupts */
#define POSIXTRACE_CLASS_PROCESS	0x20	/* fork, exec, exit, rename */
#define POSIXTRACE_CLASS_ALL		0x3f	/* all of these */
#define POSIXTRACE_CLASS_STRINGS	0x40	/* texts to which arguments of system calls point */
#define POSIXTRACE_CLASS_VALID		0x7f

/* Number of possible classes: bit n of posixtrace_attr.classes is class n. */
#define POSIXTRACE_CLASSES_MAX		8

/* posixtrace_attr.order */
#define POSIXTRACE_ORDER_CAUSAL		0
#define POSIXTRACE_ORDER_RELAXED	1

/* posixtrace_attr.compression: of the blocks of events in a log */
#define POSIXTRACE_COMPRESS_NONE	0
#define POSIXTRACE_COMPRESS_LZ4		1

/**
 * struct posixtrace_attr - attributes of a stream
 *
 * If both @wakeup_bytes and @wakeup_ns are 0, each event wakes a sleeping reader immediately.
 * Output members must be zero in the argument of CREATE.
 */
struct posixtrace_attr {
	/** @inherited: POSIXTRACE_CLOSE_FOR_CHILD or POSIXTRACE_INHERITED */
	__u32 inherited;
	/** @stream_policy: POSIXTRACE_POLICY_LOOP, _UNTIL_FULL or _FLUSH */
	__u32 stream_policy;
	/** @log_policy: POSIXTRACE_POLICY_LOOP, _UNTIL_FULL or _APPEND */
	__u32 log_policy;
	/** @clock_resolution: Output: nanoseconds */
	__u32 clock_resolution;
	/** @stream_size: bytes; rounded up to the granted size, as returned by GET_ATTR */
	__u64 stream_size;
	/** @max_data_size: bytes of data in one event */
	__u64 max_data_size;
	/** @log_size: maximum bytes of events in a log with LOOP or UNTIL_FULL, as in the file */
	__u64 log_size;
	/** @creation_time: Output: nanoseconds since the Epoch */
	__u64 creation_time;
	/** @name: NUL-terminated, then zeros */
	char name[POSIXTRACE_NAME_SIZE];
	/** @version: Output: version of the module, NUL-terminated */
	char version[POSIXTRACE_NAME_SIZE];
	/**
	 * @wakeup_bytes: wake a sleeping reader once closed user and kernel sub-buffers fill this
	 * many bytes; at most @stream_size; 0: no byte limit
	 */
	__u64 wakeup_bytes;
	/**
	 * @wakeup_ns: wake a sleeping reader this many nanoseconds after the first event it could
	 * read; 0: no time limit
	 */
	__u64 wakeup_ns;
	/**
	 * @order: POSIXTRACE_ORDER_*: RELAXED allows a timestamp to be taken before the loads that
	 * its event depends on
	 */
	__u64 order;
	/** @classes: POSIXTRACE_CLASS_*: kernel events to record */
	__u64 classes;
	/**
	 * @compression: POSIXTRACE_COMPRESS_* for the log; GET_ATTR: NONE if there is no log, or
	 * the kernel has no compressor
	 */
	__u64 compression;
	/** @reserved: zero */
	__u64 reserved[3];
};

/**
 * struct posixtrace_map - one mappable range
 * @offset: for mmap()
 * @size: bytes
 */
struct posixtrace_map {
	__u64 offset;
	__u64 size;
};

/**
 * struct posixtrace_create - argument of CREATE
 *
 * @ctrl, @heads and @pool are contiguous, in this order. Output members must be zero on input.
 */
struct posixtrace_create {
	/** @pid: Input: process to trace, 0 for the caller */
	__s32 pid;
	/** @log_fd: Input: file for the log, open for writing; -1 for a stream without a log */
	__s32 log_fd;
	/** @flags: Input: zero */
	__u32 flags;
	/** @slot: Output: slot of the traced process */
	__u32 slot;
	/** @attr: Input: attributes */
	struct posixtrace_attr attr;
	/** @reader: Output: struct posixtrace_reader, to be mapped read-write */
	struct posixtrace_map reader;
	/** @ctrl: Output: struct posixtrace_ctrl, read-only */
	struct posixtrace_map ctrl;
	/** @heads: Output: struct posixtrace_cpu_head[nr_cpus], read-only */
	struct posixtrace_map heads;
	/**
	 * @pool: Output: sub-buffers of targets, then for system events, then for kernel events;
	 * read-only
	 */
	struct posixtrace_map pool;
	/**
	 * @stream: Output: number of the stream; unique among all present and past streams; never 0
	 */
	__u64 stream;
	/** @boot_id: Input: id of the boot for the log, or zero; the module does not check it */
	__u8 boot_id[16];
	/** @reserved: zero */
	__u64 reserved[5];
};

/**
 * struct posixtrace_origin - the caller of a command that records a system event
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
 * @flags: Output: POSIXTRACE_STATUS_*; reading resets the overruns
 * @flush_error: Output: 0 or the error number of the first error of a flush; reading resets it
 * @lost: Output: events lost so far: overwritten unread, or dropped while the stream was full.
 *	Excludes events that the reader skipped because of the overwrite watermark
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
 * @flags: EVENTID_OPEN: Input: POSIXTRACE_OPEN_*; EVENT_NAME: zero
 * @description: EVENTID_OPEN: Input: address of the description of the type, NUL-terminated, or 0;
 *	EVENT_NAME: zero
 * @description_size: EVENTID_OPEN: Input: bytes at that address, including the NUL; EVENT_NAME:
 *	zero
 * @reserved: Input: zero
 */
struct posixtrace_eventid {
	char name[POSIXTRACE_EVENT_NAME_SIZE];
	__u32 id;
	__u32 flags;
	__aligned_u64 description;
	__u32 description_size;
	__u32 reserved;
};

/* Require a type with exactly this description, or without a description if none is given. */
#define POSIXTRACE_OPEN_EXACT		0x1

/**
 * struct posixtrace_description - argument of DESCRIBE and DESCRIPTION
 * @text: Input: address of the text. DESCRIBE: Input: NUL-terminated; DESCRIPTION: Output: only if
 *	there is room for all of it
 * @id: Input: event type
 * @size: Input: bytes at that address, including the NUL; DESCRIPTION: Output: bytes of the text,
 *	including the NUL
 * @reserved: Input: zero
 */
struct posixtrace_description {
	__aligned_u64 text;
	__u32 id;
	__u32 size;
	__u64 reserved;
};

/**
 * struct posixtrace_event_types - list of the event types of a stream
 * @ids: Input: address of an array of __u32
 * @first: Input: number of types to skip. The order of types is fixed: predefined types come first,
 *	the newest type is last
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
#define POSIXTRACE_FILTER_SET		0	/* replace the filter with the set */
#define POSIXTRACE_FILTER_ADD		1	/* add the set to the filter */
#define POSIXTRACE_FILTER_SUB		2	/* remove the set from the filter */

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
 * struct posixtrace_stats - counters of a stream since CREATE or CLEAR
 * @recorded: Output: recorded user events
 * @dropped: Output: user events dropped because the stream was full
 * @overwritten: Output: recorded user events that were overwritten unread
 * @overwritten_system: Output: recorded system and kernel events that were overwritten unread
 * @memory: Output: bytes of memory in use by this stream's mappings
 * @processes: Output: processes traced now
 * @untraced: Output: children that should be traced but are not for lack of memory
 * @reserved: Output: zero
 *
 * @recorded plus @dropped is the number of user events that were generated for this stream while it
 * was running or full and that passed its filter.
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

/**
 * struct posixtrace_kernel_stats - counters of kernel events since CREATE or CLEAR
 * @recorded: Output: recorded events per class
 * @dropped: Output: events per class dropped because the stream was full
 * @overwritten: Output: recorded events of all classes that were overwritten unread
 * @reserved: Output: zero
 *
 * @recorded plus @dropped is the number of events that were generated for this stream while it was
 * running or full and that passed its filter. posixtrace_status.lost includes both dropped and
 * overwritten events; posixtrace_stats.overwritten_system includes only the overwritten ones.
 */
struct posixtrace_kernel_stats {
	__u64 recorded[POSIXTRACE_CLASSES_MAX];
	__u64 dropped[POSIXTRACE_CLASSES_MAX];
	__u64 overwritten;
	__u64 reserved[7];
};

/* posixtrace_wait.flags */
#define POSIXTRACE_WAIT_DEADLINE	(1U << 0)

/**
 * struct posixtrace_wait - argument of WAIT
 * @flags: Input: POSIXTRACE_WAIT_DEADLINE
 * @reserved: Input: zero
 * @deadline: Input: with the flag: nanoseconds of CLOCK_REALTIME; otherwise zero
 * @unblock: Input: signals to unblock while the caller sleeps, as bits of a signal mask (signal 1
 *	is bit 0); they stay blocked while the handler of another signal runs
 */
struct posixtrace_wait {
	__u32 flags;
	__u32 reserved;
	__u64 deadline;
	__u64 unblock;
};

/**
 * struct posixtrace_release - argument of RELEASE
 * @subbuf: Input: number of a closed sub-buffer that was completely read, or POSIXTRACE_NONE to
 *	restart a full stream that was completely read
 * @reserved: Input: zero
 */
struct posixtrace_release {
	__u32 subbuf;
	__u32 reserved;
};

/**
 * struct posixtrace_defer - argument of DEFER
 * @time: Input: time of the oldest unread record that the reader sees
 * @window: Input: the reader reports a record this long after its time, in nanoseconds; at most
 *	POSIXTRACE_WINDOW_NS_MAX
 * @now: Output: time of the stream's clock
 * @settled: Output: records up to this time may be reported: @now - @window; or @now if no process
 *	records
 *
 * All times are nanoseconds since the Epoch.
 */
struct posixtrace_defer {
	__u64 time;
	__u64 window;
	__u64 now;
	__u64 settled;
};

/*
 * mmap() of a gate at this offset also gives a file without a role the role of a target. A program
 * can then attach with the system calls that the dynamic loader uses: open(), mmap(), close(). No
 * other file can be mapped at this offset. @version is POSIXTRACE_ABI_VERSION: the kernel accepts
 * no other.
 */
#define POSIXTRACE_ATTACH_OFFSET(version)	(1ULL << 63 | (__u64)(version) << 16)

/* ATTACH fails with EUSERS if another process shares the memory of the caller. */
#define POSIXTRACE_ATTACH_ALONE	(1U << 0)

/**
 * struct posixtrace_attach - argument of ATTACH
 * @flags: Input: POSIXTRACE_ATTACH_*
 * @reserved1: zero
 * @gate: Output, zero on input: struct posixtrace_gate, to be mapped read-only
 * @target: Output, zero on input: number of the target; unique among all present and past targets;
 *	never 0
 * @reserved2: zero
 */
struct posixtrace_attach {
	__u32 flags;
	__u32 reserved1;
	struct posixtrace_map gate;
	__u64 target;
	__u64 reserved2[3];
};

/* Thread ids are the same for the controller and for the target. */
#define POSIXTRACE_SLOT_SAME_IDS	(1U << 0)

/* The stream has POSIXTRACE_ORDER_RELAXED. */
#define POSIXTRACE_SLOT_RELAXED		(1U << 1)

/**
 * struct posixtrace_slot - one stream that traces the target
 * @heads: struct posixtrace_cpu_head[], to be mapped read-write; size 0 in an unused slot
 * @pool: sub-buffers of targets, to be mapped read-write
 * @wakeup: struct posixtrace_wakeup, to be mapped read-only
 * @stream: number of the stream; unique among all present and past streams
 * @subbuf_size: bytes
 * @max_data_size: bytes
 * @pid: process id of the target in the pid namespace of the controller
 * @flags: POSIXTRACE_SLOT_*
 * @reserved: zero
 */
struct posixtrace_slot {
	struct posixtrace_map heads;
	struct posixtrace_map pool;
	struct posixtrace_map wakeup;
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
 * @generation: Output: posixtrace_gate.generation of these slots
 * @reserved: zero
 */
struct posixtrace_sync {
	__aligned_u64 slots;
	__aligned_u64 generation;
	__u32 reserved[2];
};

/**
 * struct posixtrace_next - argument of NEXT
 * @slot: Input: slot of a stream, from SYNC
 * @size: Input: maximum bytes needed for the record: POSIXTRACE_RECORD_SIZE
 * @stream: Input: number of that stream, from SYNC
 * @reserved: zero
 */
struct posixtrace_next {
	__u32 slot;
	__u32 size;
	__u64 stream;
	__u64 reserved;
};

/* Flag of EVENT: the caller has already truncated the data */
#define POSIXTRACE_EVENT_TRUNCATED	(1U << 0)

/* Flag of EVENT: return the time of the record; @skip has all slots but one */
#define POSIXTRACE_EVENT_TIME		(1U << 1)

/**
 * struct posixtrace_event - argument of EVENT
 * @event_id: Input: user event type
 * @flags: Input: POSIXTRACE_EVENT_*
 * @data: Input: address of the data
 * @data_len: Input: bytes
 * @prog_address: Input: the instruction after the call
 * @thread_id: Input: pthread_t of the caller
 * @skip: Input: bit s: skip the stream in slot s: it already has the event
 * @reserved: Input: zero
 * @time: Output, only with POSIXTRACE_EVENT_TIME: timestamp of the record; 0 if there is none
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
	__u64 time;
};

/**
 * struct posixtrace_met - argument of MET
 * @time: Input: timestamp of the event that met the condition
 * @duration: Input: length of the scope that it ends, in nanoseconds; ignored for a condition
 *	without a scope
 * @slot: Input: slot of the stream
 * @condition: Input: index in posixtrace_gate.condition[slot]
 * @number: Input: posixtrace_gate_condition.number
 * @count: Input: how often the thread met a condition of this stream since its last MET for the
 *	stream; at least 1
 */
struct posixtrace_met {
	__u64 time;
	__u64 duration;
	__u32 slot;
	__u32 condition;
	__u32 number;
	__u32 count;
};

/**
 * struct posixtrace_checked - argument of CHECKED
 * @stream: Input: number of the expected stream, from CREATE; 0 for a file of role target
 * @arg: Input: argument of the command: an address, as passed to ioctl()
 * @cmd: Input: POSIXTRACE_IOC_*, except CHECKED
 * @reserved: Input: zero
 */
struct posixtrace_checked {
	__u64 stream;
	__aligned_u64 arg;
	__u32 cmd;
	__u32 reserved;
};

/* Flags of MAP */
#define POSIXTRACE_MAPPING_WRITE	(1U << 0)	/* read and write; otherwise read-only */
#define POSIXTRACE_MAPPING_POPULATE	(1U << 1)	/* as MAP_POPULATE */

/**
 * struct posixtrace_mapping - argument of MAP
 * @map: Input: the range, as for mmap()
 * @flags: Input: POSIXTRACE_MAPPING_*
 * @reserved: Input: zero
 * @address: Output, zero on input: address of the mapping
 */
struct posixtrace_mapping {
	struct posixtrace_map map;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 address;
};

/* ------------------------------------------------------------------ */
/* ROTATE								*/

/**
 * struct posixtrace_rotate - argument of ROTATE
 * @log_fd: Input: the file of the next log, as for CREATE
 * @error: Output, zero on input: error number with which the previous log ended, or 0
 */
struct posixtrace_rotate {
	__s32 log_fd;
	__u32 error;
};

/* ------------------------------------------------------------------ */
/* TRIGGER								*/

/**
 * struct posixtrace_condition - a condition on events
 * @begin: name of the event type that begins a scope, NUL-terminated, then zeros; empty: each event
 *	of type @end meets the condition
 * @end: name of the event type that ends it, NUL-terminated, then zeros
 * @threshold: a scope that takes longer meets the condition, in nanoseconds; 0 without @begin
 * @label: returned by TRIGGERED
 * @reserved: zero
 */
struct posixtrace_condition {
	char begin[POSIXTRACE_EVENT_NAME_SIZE];
	char end[POSIXTRACE_EVENT_NAME_SIZE];
	__u64 threshold;
	__u32 label;
	__u32 reserved;
};

/**
 * struct posixtrace_trigger - argument of TRIGGER
 * @blocked: Input: nanoseconds: a traced thread that was blocked for longer meets a condition; 0
 *	for no such condition
 * @runnable: Input: the same for a thread that was runnable without running
 * @conditions: Input: address of an array of struct posixtrace_condition
 * @count: Input: number of elements, at most POSIXTRACE_CONDITIONS_MAX
 * @reserved: Input: zero
 */
struct posixtrace_trigger {
	__u64 blocked;
	__u64 runnable;
	__aligned_u64 conditions;
	__u32 count;
	__u32 reserved;
};

/* posixtrace_triggered.kind */
#define POSIXTRACE_TRIGGER_BLOCKED	1
#define POSIXTRACE_TRIGGER_RUNNABLE	2
#define POSIXTRACE_TRIGGER_EVENT	3	/* a condition without a scope */
#define POSIXTRACE_TRIGGER_SCOPE	4

/**
 * struct posixtrace_triggered - argument of TRIGGERED
 * @count: Output: how often a condition was met since TRIGGER or the last TRIGGERED; for conditions
 *     on events, at least
 * @time: Output: when it was met first, ns since the Epoch; this and all below are 0 if no
 *     condition was met
 * @duration: Output: how long the thread was blocked or runnable, or how long the scope took, in
 *     nanoseconds
 * @pid: Output: its process id, in the pid namespace of the controller
 * @tid: Output: its thread id
 * @kind: Output: POSIXTRACE_TRIGGER_*
 * @label: Output: posixtrace_condition.label
 *
 * If @kind is POSIXTRACE_TRIGGER_EVENT or _SCOPE, the traced process has said so, which is not
 * checked.
 */
struct posixtrace_triggered {
	__u64 count;
	__u64 time;
	__u64 duration;
	__s32 pid;
	__s32 tid;
	__u32 kind;
	__u32 label;
};

/* ------------------------------------------------------------------ */
/* CLOCK_ERROR								*/

/* Argument of CLOCK_ERROR: it is not known how far CLOCK_REALTIME is from UTC. */
#define POSIXTRACE_CLOCK_ERROR_UNKNOWN	(~0ULL)

/* The largest other argument, in nanoseconds: 36 years. */
#define POSIXTRACE_CLOCK_ERROR_MAX	((1ULL << 60) - 1)

/* ------------------------------------------------------------------ */
/* Commands								*/

#define POSIXTRACE_IOC_MAGIC	0xE7

/* any role, and files without a role */
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
#define POSIXTRACE_IOC_DEFER		_IOWR(POSIXTRACE_IOC_MAGIC, 0x1f, struct posixtrace_defer)
#define POSIXTRACE_IOC_DESCRIPTION \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x20, struct posixtrace_description)
#define POSIXTRACE_IOC_KERNEL_STATS \
	_IOR(POSIXTRACE_IOC_MAGIC, 0x21, struct posixtrace_kernel_stats)
#define POSIXTRACE_IOC_WRITE_LOG	_IO(POSIXTRACE_IOC_MAGIC, 0x22)
#define POSIXTRACE_IOC_STATES \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x23, struct posixtrace_states)
#define POSIXTRACE_IOC_FILES \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x24, struct posixtrace_files)
#define POSIXTRACE_IOC_ADD		_IOW(POSIXTRACE_IOC_MAGIC, 0x25, __s32)
#define POSIXTRACE_IOC_ROTATE \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x26, struct posixtrace_rotate)
#define POSIXTRACE_IOC_TRIGGER \
	_IOW(POSIXTRACE_IOC_MAGIC, 0x27, struct posixtrace_trigger)
#define POSIXTRACE_IOC_TRIGGERED \
	_IOR(POSIXTRACE_IOC_MAGIC, 0x28, struct posixtrace_triggered)
#define POSIXTRACE_IOC_CLOCK_ERROR	_IOW(POSIXTRACE_IOC_MAGIC, 0x29, __u64)

/* role target */
#define POSIXTRACE_IOC_ATTACH		_IOWR(POSIXTRACE_IOC_MAGIC, 0x30, struct posixtrace_attach)
#define POSIXTRACE_IOC_SYNC		_IOWR(POSIXTRACE_IOC_MAGIC, 0x31, struct posixtrace_sync)
#define POSIXTRACE_IOC_NEXT		_IOW(POSIXTRACE_IOC_MAGIC, 0x32, struct posixtrace_next)
#define POSIXTRACE_IOC_EVENT		_IOWR(POSIXTRACE_IOC_MAGIC, 0x33, struct posixtrace_event)
#define POSIXTRACE_IOC_WAKE		_IOW(POSIXTRACE_IOC_MAGIC, 0x34, __u32)
#define POSIXTRACE_IOC_MET		_IOW(POSIXTRACE_IOC_MAGIC, 0x35, struct posixtrace_met)

/* roles stream and target */
#define POSIXTRACE_IOC_EVENTID_OPEN \
	_IOWR(POSIXTRACE_IOC_MAGIC, 0x50, struct posixtrace_eventid)
#define POSIXTRACE_IOC_CHECKED		_IOW(POSIXTRACE_IOC_MAGIC, 0x51, struct posixtrace_checked)
#define POSIXTRACE_IOC_MAP		_IOWR(POSIXTRACE_IOC_MAGIC, 0x52, struct posixtrace_mapping)
#define POSIXTRACE_IOC_DESCRIBE \
	_IOW(POSIXTRACE_IOC_MAGIC, 0x53, struct posixtrace_description)

#endif /* _UAPI_LINUX_POSIXTRACE_H */
