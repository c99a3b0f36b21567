/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * posixtrace - the memory shared by kernel, traced processes and analyzer: event types and records,
 * the gate, and the memory of streams. Documentation/buffers.rst describes its use.
 *
 * Fixed-width types, no holes; reserved members are zero. linux/posixtrace.h has the commands to
 * map the memory, and includes this file.
 */
#ifndef _UAPI_LINUX_POSIXTRACE_MEMORY_H
#define _UAPI_LINUX_POSIXTRACE_MEMORY_H

#include <linux/types.h>

/*
 * Event type ids: 0..63 are system event types (0 is never used), 64 is the unnamed user
 * event type, named user event types follow.
 */
#define POSIXTRACE_ID_ERROR		1
#define POSIXTRACE_ID_START		2
#define POSIXTRACE_ID_STOP		3
#define POSIXTRACE_ID_OVERFLOW		4
#define POSIXTRACE_ID_RESUME		5
#define POSIXTRACE_ID_FLUSH_START	6
#define POSIXTRACE_ID_FLUSH_STOP	7
#define POSIXTRACE_ID_FILTER		8

/*
 * Kernel event types; a stream records the types of its classes. 9..15 and 32..55 are free; 56..63
 * are used by POSIXTRACE_ID_CALL_NAMES and POSIXTRACE_ID_COMPAT_CALL_NAMES.
 */
#define POSIXTRACE_ID_SWITCH_OUT	16
#define POSIXTRACE_ID_SWITCH_IN		17
#define POSIXTRACE_ID_WAKEUP		18
#define POSIXTRACE_ID_MIGRATE		19
#define POSIXTRACE_ID_FORK		20
#define POSIXTRACE_ID_EXEC		21
#define POSIXTRACE_ID_EXIT		22
#define POSIXTRACE_ID_RENAME		23
#define POSIXTRACE_ID_SIGNAL_GENERATE	24
#define POSIXTRACE_ID_SIGNAL_DELIVER	25
#define POSIXTRACE_ID_PAGE_FAULT	26
#define POSIXTRACE_ID_SYSCALL_ENTRY	27
#define POSIXTRACE_ID_SYSCALL_EXIT	28
#define POSIXTRACE_ID_IRQ		29
#define POSIXTRACE_ID_SYSCALL_TEXT	30
#define POSIXTRACE_ID_FUTEX_WAIT	31

#define POSIXTRACE_ID_UNNAMED		64
#define POSIXTRACE_ID_MAX		4096	/* ids are smaller than this */

/*
 * The names of the system and kernel event types, in the order in which a stream lists them.
 * POSIXTRACE_SYSTEM_TYPES expands FN(id, name) for each POSIXTRACE_ID_<id>, POSIXTRACE_KERNEL_TYPES
 * FN(id, class, name) with POSIXTRACE_CLASS_<class>. FN must use id and class as operands of ##.
 */
#define POSIXTRACE_SYSTEM_TYPES(FN)				\
	FN(ERROR, "posix_trace_error")				\
	FN(START, "posix_trace_start")				\
	FN(STOP, "posix_trace_stop")				\
	FN(OVERFLOW, "posix_trace_overflow")			\
	FN(RESUME, "posix_trace_resume")			\
	FN(FLUSH_START, "posix_trace_flush_start")		\
	FN(FLUSH_STOP, "posix_trace_flush_stop")		\
	FN(FILTER, "posix_trace_filter")

#define POSIXTRACE_UNNAMED_NAME	"posix_trace_unnamed_userevent"

#define POSIXTRACE_KERNEL_TYPES(FN)				\
	FN(SWITCH_OUT, SCHED, "sched_switch_out")		\
	FN(SWITCH_IN, SCHED, "sched_switch_in")			\
	FN(WAKEUP, SCHED, "sched_wakeup")			\
	FN(MIGRATE, SCHED, "sched_migrate_task")		\
	FN(FORK, PROCESS, "sched_process_fork")			\
	FN(EXEC, PROCESS, "sched_process_exec")			\
	FN(EXIT, PROCESS, "sched_process_exit")			\
	FN(RENAME, PROCESS, "task_rename")			\
	FN(SIGNAL_GENERATE, SIGNAL, "signal_generate")		\
	FN(SIGNAL_DELIVER, SIGNAL, "signal_deliver")		\
	FN(PAGE_FAULT, FAULT, "page_fault")			\
	FN(SYSCALL_ENTRY, SYSCALL, "syscall_entry")		\
	FN(SYSCALL_EXIT, SYSCALL, "syscall_exit")		\
	FN(IRQ, IRQ, "irq")					\
	FN(SYSCALL_TEXT, STRINGS, "syscall_text")		\
	FN(FUTEX_WAIT, SCHED, "futex_wait")

/* Maximum number of user event types of a program, including the unnamed one. */
#define POSIXTRACE_IMAGE_TYPES		1024

/**
 * struct posixtrace_event_set - set of event types
 * @bits: bit (id % 64) of word (id / 64) represents type id
 */
struct posixtrace_event_set {
	__u64 bits[POSIXTRACE_ID_MAX / 64];
};

/* Limits of the size of a sub-buffer, in bytes. */
#define POSIXTRACE_SUBBUF_SIZE_MIN	(4U << 10)
#define POSIXTRACE_SUBBUF_SIZE_MAX	(512U << 10)

/* ------------------------------------------------------------------ */
/* Records								*/

/* The data was truncated: to the stream's max-data-size, or earlier by the process. */
#define POSIXTRACE_RECORD_TRUNCATED	(1U << 0)
/* The header is a struct posixtrace_packed_record. Requires POSIXTRACE_RECORD_PACKS(data_len). */
#define POSIXTRACE_RECORD_PACKED	(1U << 1)
/* A struct posixtrace_stack follows the header. Never in a packed record. Not written yet. */
#define POSIXTRACE_RECORD_STACK		(1U << 2)

#define POSIXTRACE_RECORD_ALIGN		8

/*
 * In posixtrace_record.type: the event type in the low bits, POSIXTRACE_RECORD_* flags in the high
 * bits.
 */
#define POSIXTRACE_RECORD_TYPE(id, flags)	((__u16)((id) | (flags) << 12))
#define POSIXTRACE_RECORD_ID(type)		((type) & 0xfffU)
#define POSIXTRACE_RECORD_FLAGS(type)		((__u32)(type) >> 12)

/**
 * struct posixtrace_record - one trace event in a sub-buffer
 * @data_len: bytes of data after this header
 * @type: POSIXTRACE_RECORD_TYPE of event type and flags
 * @time: lower half of the timestamp. The timestamp is the first time with this lower half at or
 *	after the time of the last struct posixtrace_writer, see posixtrace_record_time()
 * @prog_address: the instruction after the call that generated the event
 *
 * The data is padded to a multiple of 8 bytes. The thread is the same as for the previous record in
 * the sub-buffer, unless a struct posixtrace_writer precedes this header.
 *
 * The traced process writes the records of user events, so readers must copy a record and check the
 * copy before they use it.
 */
struct posixtrace_record {
	__u16 data_len;
	__u16 type;
	__u32 time;
	__u64 prog_address;
};

/**
 * struct posixtrace_packed_record - a record without the upper half of its address
 * @data_len: as in struct posixtrace_record
 * @type: as in struct posixtrace_record, with POSIXTRACE_RECORD_PACKED
 * @time: as in struct posixtrace_record
 * @address_low: lower half of the address; the upper half is in the last struct posixtrace_writer
 */
struct posixtrace_packed_record {
	__u16 data_len;
	__u16 type;
	__u32 time;
	__u32 address_low;
};

/* Limit of posixtrace_stack.size: registers, and 8 KiB of the stack. */
#define POSIXTRACE_STACK_SIZE_MAX	(9U << 10)

/**
 * struct posixtrace_stack - a call stack in a record
 * @size: bytes of the stack, a multiple of 8, at most POSIXTRACE_STACK_SIZE_MAX
 * @kind: kind of stack; a reader skips kinds that it does not know
 *
 * This structure is between the header of a record and its data. The stack follows the data and its
 * padding.
 */
struct posixtrace_stack {
	__u32 size;
	__u32 kind;
};

/* The id in posixtrace_writer.type. */
#define POSIXTRACE_ID_WRITER		0

/* A record this many nanoseconds after the last struct posixtrace_writer needs a new one. */
#define POSIXTRACE_WRITER_SPAN		(1ULL << 31)

/* Get the first time at or after @base with the lower half @low. */
static inline __u64 posixtrace_record_time(__u64 base, __u32 low)
{
	return base + (__u32)(low - (__u32)base);
}

/**
 * struct posixtrace_writer - the thread that generated the next record, and a time
 * @data_len: zero
 * @type: POSIXTRACE_ID_WRITER, without flags
 * @address_high: upper half of the addresses in struct posixtrace_packed_record
 * @pid: process id, in the pid namespace of the controller
 * @tid: kernel thread id, in the pid namespace of the controller
 * @thread_id: pthread_t of the generating thread
 * @time: timestamp of the next record, nanoseconds since the Epoch
 *
 * Written before a record if any of these is true:
 *
 * - the record is the first one of its sub-buffer;
 * - its thread differs from the thread of the previous record;
 * - its time is POSIXTRACE_WRITER_SPAN or more after @time of the last struct posixtrace_writer;
 * - it is packed, and the upper half of its address differs from the last @address_high.
 *
 * The structure is part of the record: both are committed, counted and taken together.
 */
struct posixtrace_writer {
	__u16 data_len;
	__u16 type;
	__u32 address_high;
	__s32 pid;
	__s32 tid;
	__u64 thread_id;
	__u64 time;
};

/* ------------------------------------------------------------------ */
/* Records of kernel events						*/

/*
 * The kernel writes its events in words of 8 bytes, each record as small as its values permit:
 *
 *	the head	POSIXTRACE_KHEAD_*
 *	the time	with POSIXTRACE_KFLAG_TIME: nanoseconds since the Epoch
 *	a thread	with POSIXTRACE_KFLAG_THREAD: struct posixtrace_kthread
 *	a stack		with POSIXTRACE_KFLAG_STACK: struct posixtrace_stack; the stack follows the
 *			data, and does not count as words of the record
 *	the data
 *
 * The head has the event type, the number of words of the record, the number of its thread,
 * POSIXTRACE_KFLAG_*, a value that depends on the type, and the lower half of the timestamp. The
 * timestamp is the first time with this lower half at or after the last full time in the
 * sub-buffer. The first record of a sub-buffer has a full time. A struct posixtrace_kthread is in
 * the first record of the sub-buffer that uses a thread number, and again after the number was
 * given to another thread.
 */
#define POSIXTRACE_KHEAD_WORDS_SHIFT	6
#define POSIXTRACE_KHEAD_THREAD_SHIFT	12
#define POSIXTRACE_KHEAD_FLAGS_SHIFT	16
#define POSIXTRACE_KHEAD_VALUE_SHIFT	21
#define POSIXTRACE_KHEAD_TIME_SHIFT	32

#define POSIXTRACE_KHEAD_ID(head)	((__u32)(head) & 0x3f)
#define POSIXTRACE_KHEAD_WORDS(head)	((__u32)(head) >> POSIXTRACE_KHEAD_WORDS_SHIFT & 0x3f)
#define POSIXTRACE_KHEAD_THREAD(head)	((__u32)(head) >> POSIXTRACE_KHEAD_THREAD_SHIFT & 0xf)
#define POSIXTRACE_KHEAD_FLAGS(head)	((__u32)(head) >> POSIXTRACE_KHEAD_FLAGS_SHIFT & 0x1f)
#define POSIXTRACE_KHEAD_VALUE(head)	((__u32)(head) >> POSIXTRACE_KHEAD_VALUE_SHIFT)
#define POSIXTRACE_KHEAD_TIME(head)	((__u32)((head) >> POSIXTRACE_KHEAD_TIME_SHIFT))

/* Exclusive limits of the number of words of a record, and of thread numbers. */
#define POSIXTRACE_KWORDS_MAX		64
#define POSIXTRACE_KTHREADS_MAX		16

#define POSIXTRACE_KFLAG_TIME		(1U << 0)
#define POSIXTRACE_KFLAG_THREAD		(1U << 1)
#define POSIXTRACE_KFLAG_TRUNCATED	(1U << 2)
/* Not written yet. */
#define POSIXTRACE_KFLAG_STACK		(1U << 3)
/*
 * The data has the layout of the type's description, but lacks the id of the thread at its start.
 * The value in the head is the number of padding bytes at the end of the last word.
 */
#define POSIXTRACE_KFLAG_PLAIN		(1U << 4)

/**
 * struct posixtrace_kthread - a thread in records of kernel events
 * @pid: process id, in the pid namespace of the controller
 * @tid: kernel thread id, in the pid namespace of the controller
 * @thread_id: pthread_t of the thread
 */
struct posixtrace_kthread {
	__s32 pid;
	__s32 tid;
	__u64 thread_id;
};

/* Maximum number of words of a record without data. */
#define POSIXTRACE_KRECORD_WORDS \
	(2 + sizeof(struct posixtrace_kthread) / sizeof(__u64))

/*
 * Without POSIXTRACE_KFLAG_PLAIN, the value and the words of data of a type are, from the lowest
 * bit:
 *
 * SWITCH_OUT	value: prio + 1 (8 bits), reason (2)
 *		next_tid (32), next_prio + 1 (8), state (8)
 * SWITCH_IN	value: prio + 1 (8)
 *		prev_tid (24), prev_prio + 1 (8), lower half of runnable (32)
 *		its upper half, if not 0
 * WAKEUP	value: prio + 1 (8), lower 2 bits of by (2), new (1)
 *		waker_pid (24), waker_tid (23), bit 2 of by (1), target_cpu (16)
 * MIGRATE	value: prio + 1 (8)
 *		orig_cpu (32), dest_cpu (32)
 * SIGNAL_GENERATE
 *		value: sig (7), by (2), group (1)
 *		sender_pid (24), sender_tid (24), result (3), code (13, signed)
 * SIGNAL_DELIVER
 *		value: sig (7), action (2)
 *		lower half of flags (32), code (32); the upper half of flags is 0
 * PAGE_FAULT	value: user (1), write (1), exec (1), protection (1)
 *		address
 *		ip
 * SYSCALL_ENTRY
 *		value: nr (10), compat (1)
 *		sizes of the 6 arguments in bytes (4 bits each), then the bytes of the arguments,
 *		lowest first, and padding. No words if all arguments are 0
 * SYSCALL_EXIT	value: nr (10), compat (1)
 *		result, if not 0
 *
 * Values that do not fit are written with POSIXTRACE_KFLAG_PLAIN. The name of a system call is in
 * the descriptions of POSIXTRACE_ID_CALL_NAMES or POSIXTRACE_ID_COMPAT_CALL_NAMES.
 */
#define POSIXTRACE_KVALUE_SCHED(prio, reason_by, new) \
	(((prio) + 1) | (__u32)(reason_by) << 8 | (__u32)(new) << 10)
#define POSIXTRACE_KVALUE_PRIO(value)		((__s32)((value) & 0xff) - 1)
#define POSIXTRACE_KVALUE_REASON(value)		((value) >> 8 & 3)
#define POSIXTRACE_KVALUE_NEW(value)		((value) >> 10 & 1)
#define POSIXTRACE_KVALUE_SIGNAL(sig, by_action, group) \
	((__u32)(sig) | (__u32)(by_action) << 7 | (__u32)(group) << 9)
#define POSIXTRACE_KVALUE_SIG(value)		((value) & 0x7f)
#define POSIXTRACE_KVALUE_SENDER(value)		((value) >> 7 & 3)
#define POSIXTRACE_KVALUE_ACTION(value)		((value) >> 7 & 3)
#define POSIXTRACE_KVALUE_GROUP(value)		((value) >> 9 & 1)
#define POSIXTRACE_KVALUE_FAULT(user, write, exec, protection) \
	((__u32)(user) | (__u32)(write) << 1 | (__u32)(exec) << 2 | (__u32)(protection) << 3)
#define POSIXTRACE_KVALUE_CALL(nr, compat)	((__u32)(nr) | (__u32)(compat) << 10)
#define POSIXTRACE_KVALUE_NR(value)		((value) & 0x3ff)
#define POSIXTRACE_KVALUE_COMPAT(value)		((value) >> 10 & 1)

/* In WAKEUP. Ids are less than 2^22. */
#define POSIXTRACE_KWAKER_BY_SHIFT		47
#define POSIXTRACE_KWAKER_TID(word)		((word) >> 24 & 0x7fffff)
#define POSIXTRACE_KWAKER_BY(value, word) \
	((__u32)((value) >> 8 & 3) | (__u32)((word) >> POSIXTRACE_KWAKER_BY_SHIFT & 1) << 2)

/* In SIGNAL_GENERATE. */
#define POSIXTRACE_KSENT_RESULT_SHIFT		48
#define POSIXTRACE_KSENT_CODE_SHIFT		51
#define POSIXTRACE_KSENT_RESULT(word)		((word) >> POSIXTRACE_KSENT_RESULT_SHIFT & 7)
#define POSIXTRACE_KSENT_CODE(word)		((__s64)(word) >> POSIXTRACE_KSENT_CODE_SHIFT)

/* In SYSCALL_ENTRY. */
#define POSIXTRACE_KARGS			6
#define POSIXTRACE_KARGS_BYTES			3
#define POSIXTRACE_KARGS_SIZES(word)		((word) & 0xffffff)
#define POSIXTRACE_KARG_SIZE(sizes, n)		((__u32)((sizes) >> 4 * (n)) & 0xf)

/*
 * The ids 56..59 and 60..63 are not event types. In streams with class syscall, their descriptions
 * are the names of the system calls of native programs and of 32-bit programs, separated by blanks.
 * The first id has the names of the calls from 0 on, each further id the names of the next
 * POSIXTRACE_CALL_NAMES calls. "-" is a call without a name. The last ids may have no description.
 */
#define POSIXTRACE_ID_CALL_NAMES	56
#define POSIXTRACE_ID_COMPAT_CALL_NAMES	60

/* Maximum number of names in each of these descriptions. */
#define POSIXTRACE_CALL_NAMES		256

/* ------------------------------------------------------------------ */

#define POSIXTRACE_RECORD_ALIGNED(size) \
	(((size) + POSIXTRACE_RECORD_ALIGN - 1) / POSIXTRACE_RECORD_ALIGN * POSIXTRACE_RECORD_ALIGN)

/* Bytes from a record with @len bytes of data to the next one. */
#define POSIXTRACE_RECORD_STEP(len) \
	POSIXTRACE_RECORD_ALIGNED(sizeof(struct posixtrace_record) + (len))

/* Does packing make a record with @len bytes of data smaller, by 8 bytes? */
#define POSIXTRACE_RECORD_PACKS(len)	(!(((len) - 1) & 4))

/* Bytes from a packed record with @len bytes of data to the next one. */
#define POSIXTRACE_RECORD_PACKED_STEP(len) \
	POSIXTRACE_RECORD_ALIGNED(sizeof(struct posixtrace_packed_record) + (len))

/* Maximum bytes of a record with @len bytes of data: not packed, with its posixtrace_writer. */
#define POSIXTRACE_RECORD_SIZE(len) \
	POSIXTRACE_RECORD_ALIGNED(sizeof(struct posixtrace_writer) + \
				  sizeof(struct posixtrace_record) + (len))

/* The largest data of a system event: FILTER contains two event sets. */
#define POSIXTRACE_SYSDATA_MAX	(2 * sizeof(struct posixtrace_event_set))

/* ------------------------------------------------------------------ */
/* The gate (target: read-only)						*/

/* posixtrace_clock.counter */
#define POSIXTRACE_COUNTER_NONE		0	/* read CLOCK_REALTIME */
#define POSIXTRACE_COUNTER_TSC		1	/* x86-64: the time stamp counter */
#define POSIXTRACE_COUNTER_CNTVCT	2	/* arm64: the virtual counter, CNTVCT_EL0 */

/* With this shift, posixtrace_clock.mult times 2^32 cycles of the TSC fits into 64 bits. */
#define POSIXTRACE_CLOCK_SHIFT		30

/* In posixtrace_clock.cycle_last: a counter needs more than a hundred years to reach this value. */
#define POSIXTRACE_CYCLE_NONE		(1ULL << 63)

/**
 * struct posixtrace_clock - the clock of the timestamps
 * @offset: nanoseconds to add to CLOCK_MONOTONIC of the initial time namespace to get a timestamp
 * @seq: odd while the kernel changes the members below
 * @counter: POSIXTRACE_COUNTER_*: the counter used for CLOCK_MONOTONIC
 * @cycle_last: value of the counter at the last update; POSIXTRACE_CYCLE_NONE without a counter
 * @base: nanoseconds of CLOCK_MONOTONIC of the initial time namespace at the last update
 * @fraction: fraction to add to @base, in units of 2^-POSIXTRACE_CLOCK_SHIFT nanoseconds; less than
 *	a second
 * @mult: units of @fraction per cycle; at most two nanoseconds with the time stamp counter, a
 *	microsecond with another counter
 * @wall: nanoseconds to add to CLOCK_MONOTONIC of the initial time namespace to get CLOCK_REALTIME:
 *	same as @offset, or less if CLOCK_REALTIME was set back
 * @real: @base plus @offset
 * @reserved: zero
 *
 * Shared by all processes. The clock follows CLOCK_REALTIME, but never goes back while a stream
 * exists. Only the kernel writes this structure; each tick updates all members except @offset.
 */
struct posixtrace_clock {
	__s64 offset;
	__u32 seq;
	__u32 counter;
	__u64 cycle_last;
	__u64 base;
	__u64 fraction;
	__u64 mult;
	__s64 wall;
	__u64 real;
	__u64 reserved[504];
};

/* Maximum number of streams on one process: slots in its gate. */
#define POSIXTRACE_SLOTS_MAX		31
/*
 * Maximum number of streams with kernel events on one process. Streams whose creator has
 * CAP_SYS_RESOURCE do not count. Each stream costs time at each wake-up of the process's threads,
 * and at each switch to or from one, in the context of other processes.
 */
#define POSIXTRACE_KERNEL_SLOTS_MAX	4

/* In posixtrace_gate.enable, above all slots: a stream has a condition on this type. */
#define POSIXTRACE_GATE_CONDITION	(1U << POSIXTRACE_SLOTS_MAX)

/* Maximum number of conditions of a stream on events. */
#define POSIXTRACE_CONDITIONS_MAX	8

/**
 * struct posixtrace_gate_condition - a condition of a stream on events of the process
 * @number: 0 if the condition cannot be met now. A change of the other members goes through 0 to a
 *	new number, which no gate had for the last 2^32 - 2 numbers since the module was loaded
 * @begin: event type that begins a scope; 0: each event of type @end meets the condition
 * @end: event type that ends the scope
 * @threshold: the scope meets the condition if it is longer, in nanoseconds
 *
 * The scope is from an event of type @begin to the next one of type @end by the same thread,
 * without another such pair in between. Both are recorded in this stream, and see the same @number.
 */
struct posixtrace_gate_condition {
	__u32 number;
	__u16 begin;
	__u16 end;
	__u64 threshold;
};

/**
 * struct posixtrace_gate - the event types to record into each stream
 * @generation: zero at first. Changes when the streams of the target change, when another process
 *	starts to share its memory, and when two of its threads share a thread pointer. The new
 *	number was never used by any gate, and its lower half is not zero
 * @address_high: upper half of the address of the program; records of addresses with this upper
 *	half can be packed. Set by the first ATTACH of an address space, before the process can see
 *	its gate
 * @reserved1: zero
 * @condition: conditions of the stream in each slot
 * @pending: by slot: nonzero if the process has met a condition of the stream, and the controller
 *	has not read that yet, so that it need not be told of further ones soon
 * @reserved2: zero
 * @enable: bit s of word id: record this type into the stream in slot s;
 *	POSIXTRACE_GATE_CONDITION: @condition of one of these slots has this type
 * @clock: the clock; mapped here, but not part of the kernel's gate
 * @door: commands of the traced process without a system call, see POSIXTRACE_DOOR_MAGIC; mapped
 *	here, but not part of the kernel's gate
 *
 * Only the kernel writes the gate; the traced process reads it.
 */
struct posixtrace_gate {
	__u64 generation;
	__u32 address_high;
	__u32 reserved1;
	struct posixtrace_gate_condition
		condition[POSIXTRACE_SLOTS_MAX][POSIXTRACE_CONDITIONS_MAX];
	__u8 pending[POSIXTRACE_SLOTS_MAX];
	__u8 reserved2[81];
	__u32 enable[POSIXTRACE_ID_MAX];
	struct posixtrace_clock clock;
	__u8 door[4096];
};

/*
 * A process may have a filter (seccomp) that kills it on system calls. Instead of a system call, it
 * reads a byte of posixtrace_gate.door, with these registers:
 *
 *		x86-64	arm64
 *	magic	rax	x0	POSIXTRACE_DOOR_MAGIC
 *	command	rdi	x1	POSIXTRACE_DOOR_ASK, or POSIXTRACE_IOC_EVENT, _NEXT, _WAKE,
 *				_MET, _EVENTID_OPEN or _DESCRIBE
 *	arg	rsi	x2	argument of the command
 *	next	rdx	x3	address of the next instruction
 *
 * The kernel replaces the magic number with the result of the command, 0 or negative errno, and the
 * thread continues at the next instruction. If the magic number is still there, there is no door,
 * and the process has only read a byte. 32-bit processes and processes under valgrind have no door.
 */
#define POSIXTRACE_DOOR_MAGIC	0x726f6f6474787001ULL

/*
 * Ask for the seccomp mode of the thread, as returned by prctl(PR_GET_SECCOMP). The result is 0 if
 * seccomp does not restrict its system calls.
 */
#define POSIXTRACE_DOOR_ASK	0U

/* ------------------------------------------------------------------ */
/* The pool								*/

/* posixtrace_cpu_head.limit: the stream is full; count the event in @lost, do not call NEXT. */
#define POSIXTRACE_LIMIT_FULL		1U

/* In the 64-bit head: position in the pool in the low half, number of records in the high half. */
#define POSIXTRACE_HEAD(pos, count)	(((__u64)(count) << 32) | (__u32)(pos))
#define POSIXTRACE_HEAD_POS(head)	((__u32)(head))
#define POSIXTRACE_HEAD_COUNT(head)	((__u32)((head) >> 32))

/* Never a valid head, as positions are multiples of 8. */
#define POSIXTRACE_HEAD_NONE		(~0ULL)

/**
 * struct posixtrace_cpu_head - the write position of one CPU
 * @head: next free byte of the pool and number of records so far in this sub-buffer
 *	(POSIXTRACE_HEAD), in one word, so that one store commits a record
 * @limit: end of this CPU's open sub-buffer in the pool; 0 if it has no open sub-buffer, or
 *	POSIXTRACE_LIMIT_FULL
 * @address_high: upper half of the address in the last record, as in struct posixtrace_writer
 * @lost: events dropped on this CPU while the stream was full
 * @last: no later record of this CPU may be older than this time (nanoseconds)
 * @writer_head: if equal to @head, @address_high and the members below describe the last record;
 *	otherwise they are invalid
 * @pid: process id of the last record, as in struct posixtrace_writer
 * @tid: thread id of the last record, as in struct posixtrace_writer
 * @thread_id: pthread_t of the last record, as in struct posixtrace_writer
 * @time_end: POSIXTRACE_WRITER_SPAN after the time of the last struct posixtrace_writer
 *	(nanoseconds); a record at or after this time needs a new struct posixtrace_writer
 *
 * A writer that can be interrupted stores POSIXTRACE_HEAD_NONE in @writer_head before it changes
 * the members that @writer_head validates. Afterwards it stores the new value of @head in
 * @writer_head, and then in @head. An interrupted writer therefore never leaves values that a later
 * writer would take for valid.
 *
 * One cache line per CPU. It is written by writers on this CPU (a restartable sequence, or the
 * kernel with interrupts off), and by NEXT on this CPU. From other CPUs, the kernel writes @limit
 * when the stream becomes full or not full, and the other members only while no writer can be
 * active. The kernel tracks the open sub-buffer itself and trusts no value here. The write
 * positions of kernel events, which processes cannot write, do not use the members about the last
 * record.
 */
struct posixtrace_cpu_head {
	__u64 head;
	__u32 limit;
	__u32 address_high;
	__u64 lost;
	__u64 last;
	__u64 writer_head;
	__s32 pid;
	__s32 tid;
	__u64 thread_id;
	__u64 time_end;
};

/**
 * struct posixtrace_wakeup - wake-up flag of readers (target: read-only)
 * @need_wakeup: nonzero: a reader is asleep, call WAKE after recording
 * @reserved: zero
 *
 * One per stream, for all processes that the stream traces. Only the kernel writes it.
 */
struct posixtrace_wakeup {
	__u32 need_wakeup;
	__u32 reserved[15];
};

#define POSIXTRACE_SUBBUF_FREE		0
#define POSIXTRACE_SUBBUF_OPEN		1
#define POSIXTRACE_SUBBUF_CLOSED	2

/**
 * struct posixtrace_subbuf - descriptor of a sub-buffer (stream: read-only)
 * @seq: number of this use of the sub-buffer; each hand-out in the stream gets the next number,
 *	from 1
 * @opened: time of the hand-out; no record in the sub-buffer is older (nanoseconds)
 * @closed: time of the close; no record in the sub-buffer is younger (nanoseconds)
 * @cpu: CPU that writes or wrote it; nr_cpus for system events; nr_cpus + 1 + c for kernel events
 *	on CPU c
 * @state: POSIXTRACE_SUBBUF_*
 * @used: bytes of records, once closed
 * @count: number of records, once closed
 * @reserved: zero
 *
 * Only the kernel writes the descriptor. Sub-buffer i is at byte i * subbuf_size of the pool.
 * Sub-buffers of targets come first, then system sub-buffers, then sub-buffers for kernel events.
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

/* posixtrace_ctrl.oldest[] of a CPU without sub-buffers. */
#define POSIXTRACE_NONE			(~0U)

/* posixtrace_ctrl.flags */
#define POSIXTRACE_CTRL_RUNNING		(1U << 0)
#define POSIXTRACE_CTRL_FULL		(1U << 1)
#define POSIXTRACE_CTRL_SHUTDOWN	(1U << 2)

/**
 * struct posixtrace_ctrl - state of a stream for its reader (read-only)
 *
 * Only the kernel writes it.
 */
struct posixtrace_ctrl {
	/** @size: bytes of this structure */
	__u32 size;
	/** @nr_cpus: number of CPUs and of CPU heads; also the number of the system "CPU" */
	__u32 nr_cpus;
	/** @nr_subbufs: sub-buffers that targets write */
	__u32 nr_subbufs;
	/** @nr_sys_subbufs: sub-buffers for system events, allocated when needed */
	__u32 nr_sys_subbufs;
	/** @subbuf_size: bytes */
	__u32 subbuf_size;
	/** @flags: POSIXTRACE_CTRL_*, a hint that may be stale */
	__u32 flags;
	/**
	 * @oldest_offset: offset in this mapping of __u32 oldest[nr_cpus + 1 + nr_kernel_cpus]:
	 * the oldest unreleased sub-buffer of each CPU
	 */
	__u32 oldest_offset;
	/** @subbuf_offset: offset in this mapping of the descriptors */
	__u32 subbuf_offset;
	/**
	 * @gap_lock: odd while the kernel takes a sub-buffer from the reader, and changes
	 * @gap_generation, @gap_first, @previous_first, @overwrite_watermark and @lost
	 */
	__u32 gap_lock;
	/**
	 * @holders_offset: offset in this mapping of __u64 holders[]: bit (c % 64) of word (c / 64)
	 * is set if a sub-buffer with posixtrace_subbuf.cpu == c is in use
	 */
	__u32 holders_offset;
	/**
	 * @gap_generation: incremented when events are lost after the reader has acknowledged all
	 * earlier losses
	 */
	__u64 gap_generation;
	/** @gap_first: time of the first event lost in this gap */
	__u64 gap_first;
	/** @overwrite_watermark: unread events at or before this time are lost */
	__u64 overwrite_watermark;
	/** @lost: events lost in overwritten sub-buffers */
	__u64 lost;
	/** @system_filter: bit id: the filter contains system event type id */
	__u64 system_filter;
	/**
	 * @previous_first: time of the first event lost in the previous gap; may be earlier than
	 * the @gap_first that the reader saw, if the gap grew before the reader acknowledged it
	 */
	__u64 previous_first;
	/** @nr_kernel_cpus: nr_cpus if the stream has kernel events, otherwise 0 */
	__u32 nr_kernel_cpus;
	/** @nr_kernel_subbufs: sub-buffers for kernel events */
	__u32 nr_kernel_subbufs;
	/**
	 * @kernel_heads_offset: offset in this mapping of struct posixtrace_cpu_head[]: the write
	 * position of kernel events on each CPU; 0 if the stream has no kernel events
	 */
	__u32 kernel_heads_offset;
	/** @reserved1: zero */
	__u32 reserved1;
	/** @reserved2: zero */
	__u64 reserved2[3];
	/** @system: the write position of system events */
	struct posixtrace_cpu_head system;
};

/*
 * The consumer position says how far a sub-buffer was read. It consists of the low half of the
 * sequence number, the number of records taken, and the position of the next record in units of 8
 * bytes. The reader takes records with compare-and-swap, and the kernel takes the sub-buffer back
 * with exchange, so each record is read or lost, never both.
 */
#define POSIXTRACE_CONSUMED_POS_BITS	17
#define POSIXTRACE_CONSUMED_COUNT_BITS	15
#define POSIXTRACE_CONSUMED(seq, count, pos) \
	(((__u64)(seq) << 32) | ((__u64)(count) << POSIXTRACE_CONSUMED_POS_BITS) | ((pos) >> 3))
#define POSIXTRACE_CONSUMED_SEQ(consumed)	((__u32)((consumed) >> 32))
#define POSIXTRACE_CONSUMED_COUNT(consumed) \
	((__u32)(consumed) >> POSIXTRACE_CONSUMED_POS_BITS)
#define POSIXTRACE_CONSUMED_POS(consumed) \
	(((__u32)(consumed) & ((1U << POSIXTRACE_CONSUMED_POS_BITS) - 1)) << 3)

/**
 * struct posixtrace_consumed - how far a sub-buffer was read
 * @position: POSIXTRACE_CONSUMED
 * @time: timestamp of the last record taken (nanoseconds); written before @position. The times of
 *	all records taken by one change of @position are within POSIXTRACE_WRITER_SPAN
 */
struct posixtrace_consumed {
	__u64 position;
	__u64 time;
};

/**
 * struct posixtrace_reader - messages of the reader to the kernel (read-write)
 * @gap_ack: the last gap_generation that the reader has acknowledged
 * @held: nonzero from before a record is taken until the reader has reported all taken events;
 *	WAIT does not sleep in that case
 * @reserved: zero
 * @consumed: one entry per sub-buffer, in the order of descriptors
 *
 * Written by the analyzer; the kernel exchanges consumer positions. Wrong values affect only the
 * numbers and times of this stream.
 */
struct posixtrace_reader {
	__u64 gap_ack;
	__u64 held;
	__u64 reserved[6];
	struct posixtrace_consumed consumed[];
};

#endif /* _UAPI_LINUX_POSIXTRACE_MEMORY_H */
