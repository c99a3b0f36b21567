/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * posixtrace - the format of trace logs. The module writes them, the library reads them.
 * Documentation/trace-log.rst describes every byte.
 *
 * All numbers are in the byte order of the writer, as shown by the header. Reserved members are
 * written as zero and ignored by readers.
 */
#ifndef _UAPI_LINUX_POSIXTRACE_LOG_H
#define _UAPI_LINUX_POSIXTRACE_LOG_H

#include <linux/posixtrace.h>
#include <linux/types.h>

/* Like the signature of PNG, this shows if a file was transferred as text. */
#define POSIXTRACE_LOG_MAGIC		"\x89PXTLG\r\n"
#define POSIXTRACE_LOG_ORDER		0x01020304U
#define POSIXTRACE_LOG_VERSION		6

/* Maximum number of CPUs in a log, including the "CPU" of system events. */
#define POSIXTRACE_LOG_CPUS_MAX		8193

/**
 * struct posixtrace_log_header - the start of a log
 */
struct posixtrace_log_header {
	/** @magic: POSIXTRACE_LOG_MAGIC, without the terminating NUL */
	__u8 magic[8];
	/** @order: POSIXTRACE_LOG_ORDER */
	__u32 order;
	/** @version: POSIXTRACE_LOG_VERSION */
	__u32 version;
	/** @size: bytes of this header */
	__u32 size;
	/** @crc: CRC32C of this header with @crc zero */
	__u32 crc;
	/** @cookie: a random number, the same in all blocks of the log */
	__u64 cookie;
	/** @block_size: bytes of struct posixtrace_log_block */
	__u32 block_size;
	/** @subbuf_size: maximum payload of events */
	__u32 subbuf_size;
	/** @nr_cpus: number of CPUs; also the number of the "CPU" of system events */
	__u32 nr_cpus;
	/** @pid: process that the stream was created for, in the pid namespace of the controller */
	__s32 pid;
	/** @data_offset: offset of the first block; in a LOOP log, of the ring */
	__u64 data_offset;
	/**
	 * @ring_size: LOOP: bytes of the ring; otherwise 0, and the blocks extend to the end of the
	 * file
	 */
	__u64 ring_size;
	/** @names_offset: LOOP: offset of struct posixtrace_log_name[]; otherwise 0 */
	__u64 names_offset;
	/** @end_offset: LOOP: offset of struct posixtrace_log_end; otherwise 0 */
	__u64 end_offset;
	/** @attr: attributes of the stream, as granted */
	struct posixtrace_attr attr;
	/** @metadata_offset: LOOP: offset of the blocks that do not contain events; otherwise 0 */
	__u64 metadata_offset;
	/** @series: cookie of the first of several logs of the stream; 0 if there is only one */
	__u64 series;
	/** @previous: cookie of the log before this one; 0 for the first */
	__u64 previous;
	/** @part: number of this log in the series, from 1; 0 if there is only one log */
	__u64 part;
	/** @reserved: zero */
	__u64 reserved[20];
};

#define POSIXTRACE_LOG_BLOCK_MAGIC	0x42545850U	/* "PXTB" */

#define POSIXTRACE_LOG_EVENTS		1	/* payload: records, as in a sub-buffer */
#define POSIXTRACE_LOG_NAMES		2	/* payload: struct posixtrace_log_name */
#define POSIXTRACE_LOG_RESET		3	/* no payload: forget all earlier blocks */
#define POSIXTRACE_LOG_END		4	/* payload: struct posixtrace_log_end */
#define POSIXTRACE_LOG_DESCRIPTIONS	5	/* payload: struct posixtrace_log_description */
#define POSIXTRACE_LOG_HOST		6	/* payload: struct posixtrace_log_host */
#define POSIXTRACE_LOG_TASKS		7	/* payload: struct posixtrace_log_task */
#define POSIXTRACE_LOG_PROGRAMS		8	/* payload: struct posixtrace_log_program */
#define POSIXTRACE_LOG_MAPPINGS		9	/* payload: struct posixtrace_log_mapping */
#define POSIXTRACE_LOG_KERNEL		10	/* payload: kernel events, as in a sub-buffer */
/* Like DESCRIPTIONS, for kernel types and the ids of POSIXTRACE_ID_CALL_NAMES. */
#define POSIXTRACE_LOG_KERNEL_TYPES	11

/* Payload: struct posixtrace_state. Always OPTIONAL. */
#define POSIXTRACE_LOG_STATES		12
/* Payload: struct posixtrace_log_clock. Always OPTIONAL. */
#define POSIXTRACE_LOG_CLOCKS		13

/* Payload: struct posixtrace_log_mark. Always OPTIONAL. */
#define POSIXTRACE_LOG_INDEX		14
/* Payload: struct posixtrace_file. Always OPTIONAL. */
#define POSIXTRACE_LOG_FILES		15

/* posixtrace_log_block.flags */

/* A reader that does not know the type of the block skips the block. */
#define POSIXTRACE_LOG_BLOCK_OPTIONAL	(1U << 0)

/* Blocks start at multiples of this, and are padded with zeros. */
#define POSIXTRACE_LOG_ALIGN		8

/**
 * struct posixtrace_log_block - header of a block
 *
 * The records of a block are in the order of their times. The blocks of a CPU, in the order of
 * @seq, are also in the order of time. A flush writes all events that were recorded on any CPU
 * before the flush began. Therefore the records of an epoch are older than the records two epochs
 * later, on any CPU.
 */
struct posixtrace_log_block {
	/** @magic: POSIXTRACE_LOG_BLOCK_MAGIC */
	__u32 magic;
	/** @crc: CRC32C of this header with @crc zero */
	__u32 crc;
	/** @cookie: cookie of the log */
	__u64 cookie;
	/**
	 * @seq: number of the block, from 1, without gaps; LOOP: metadata is numbered separately
	 */
	__u64 seq;
	/** @epoch: number of the flush that wrote the block, from 1 */
	__u64 epoch;
	/** @type: POSIXTRACE_LOG_* */
	__u32 type;
	/** @payload_crc: CRC32C of the payload */
	__u32 payload_crc;
	/** @size: bytes of payload after this header, as in the file; a multiple of 8 */
	__u32 size;
	/** @cpu: EVENTS, KERNEL: CPU that recorded the events */
	__u32 cpu;
	/** @count: EVENTS, KERNEL: records; other types: structures in the payload */
	__u32 count;
	/** @flags: POSIXTRACE_LOG_BLOCK_* */
	__u32 flags;
	/** @opened: EVENTS, KERNEL: no record is older, ns */
	__u64 opened;
	/** @closed: EVENTS, KERNEL: no record is younger, ns */
	__u64 closed;
	/** @gap_generation: incremented when events were lost */
	__u64 gap_generation;
	/** @gap_first: time of the first event lost in the last gap, ns */
	__u64 gap_first;
	/**
	 * @overwrite_watermark: records at or before this time in this and later blocks are lost,
	 * ns
	 */
	__u64 overwrite_watermark;
	/** @lost: events lost before this block */
	__u64 lost;
	/** @tail: LOOP: offset of the oldest block when this block was written */
	__u64 tail;
	/** @compression: EVENTS, KERNEL: POSIXTRACE_COMPRESS_* of the payload; otherwise 0 */
	__u32 compression;
	/** @records_size: bytes of the records if they are compressed; otherwise 0 */
	__u32 records_size;
	/**
	 * @metadata: offset of the last block before this one that is not EVENTS or KERNEL, or 0.
	 * LOOP: 0
	 */
	__u64 metadata;
};

/* Maximum bytes of the records in a piece. The largest record of a user event fits. */
#define POSIXTRACE_LOG_PIECE_MAX	(64U << 10)

/**
 * struct posixtrace_log_piece - a part of the records of a block, compressed separately
 * @size: bytes after this header, without padding
 * @records_size: bytes of the records, a multiple of 8; equal to @size if the records are not
 *	compressed
 * @heads: 0 if the words of the records are in their usual order. Otherwise the number of items in
 *	the records (see posixtrace_log_item_words()): the first words of all items come first, and
 *	all other words follow
 * @reserved: zero
 *
 * The next piece follows at a multiple of 8. A record does not cross pieces.
 */
struct posixtrace_log_piece {
	__u32 size;
	__u32 records_size;
	__u32 heads;
	__u32 reserved;
};

/* Bytes from a piece with @size bytes to the next one. */
#define POSIXTRACE_LOG_PIECE_STEP(size) \
	((sizeof(struct posixtrace_log_piece) + (size) + POSIXTRACE_LOG_ALIGN - 1) / \
	 POSIXTRACE_LOG_ALIGN * POSIXTRACE_LOG_ALIGN)

/*
 * Get the number of words, of 8 bytes, of an item in a block of this type. An item is a record with
 * its call stack, or a struct posixtrace_writer. @low: the lower half of the first word of the
 * item; @rest: the @left words after the first word. Returns 0 if the words are not an item.
 */
static inline __u32 posixtrace_log_item_words(__u32 type, __u32 low, const __u64 *rest, __u32 left)
{
	const __u32 len = low & 0xffff, flags = POSIXTRACE_RECORD_FLAGS(low >> 16);
	const __u32 kflags = POSIXTRACE_KHEAD_FLAGS(low);
	__u32 words = sizeof(struct posixtrace_writer) / 8, stack = 0, size = 0;

	if (type == POSIXTRACE_LOG_KERNEL) {
		words = POSIXTRACE_KHEAD_WORDS(low);
		if (kflags & POSIXTRACE_KFLAG_STACK)
			stack = 1 + (kflags & POSIXTRACE_KFLAG_TIME ? 1U : 0U) +
				(kflags & POSIXTRACE_KFLAG_THREAD ? 2U : 0U);
	} else if (low) {
		words = (__u32)(flags & POSIXTRACE_RECORD_PACKED ?
				POSIXTRACE_RECORD_PACKED_STEP(len) :
				POSIXTRACE_RECORD_STEP(len)) / 8;
		stack = flags & POSIXTRACE_RECORD_STACK ? 2U : 0U;
		words += stack ? 1U : 0U;
	}
	/* The size must be in a word of this item: @rest need not continue with the next one. */
	if (stack)
		size = stack <= left && stack < words ? (__u32)rest[stack - 1] : ~0U;
	return size % 8 || size > POSIXTRACE_STACK_SIZE_MAX ? 0 : words + size / 8;
}

/**
 * struct posixtrace_log_name - name of a user event type
 * @id: event type; 0 after the last one of a LOOP log
 * @crc: CRC32C of this structure with @crc zero; LOOP: of the cookie and this structure
 * @name: NUL-terminated, then zeros
 *
 * Names are in the order of their definition. Predefined types are not in the log. A name precedes
 * the first block with events of its type.
 */
struct posixtrace_log_name {
	__u32 id;
	__u32 crc;
	char name[POSIXTRACE_EVENT_NAME_SIZE];
};

/**
 * struct posixtrace_log_description - description of a user or kernel event type
 * @id: event type
 * @size: bytes of @text, with the NUL
 * @text: NUL-terminated
 *
 * The next description follows at a multiple of 8. A description precedes the first block with
 * events of its type, unless the type was described later.
 */
struct posixtrace_log_description {
	__u32 id;
	__u32 size;
	char text[];
};

/* Bytes from a description with @size bytes of text to the next one. */
#define POSIXTRACE_LOG_DESCRIPTION_STEP(size) \
	((sizeof(struct posixtrace_log_description) + (size) + POSIXTRACE_LOG_ALIGN - 1) / \
	 POSIXTRACE_LOG_ALIGN * POSIXTRACE_LOG_ALIGN)

/* Bytes of each text in struct posixtrace_log_host, including the NUL. */
#define POSIXTRACE_LOG_HOST_TEXT_SIZE	72

/**
 * struct posixtrace_log_host - where and how the log was written
 * @boot_id: id of the boot, as in /proc/sys/kernel/random/boot_id; zero if unknown
 * @realtime_offset: CLOCK_REALTIME - CLOCK_MONOTONIC when the stream was created, ns
 * @boottime_offset: CLOCK_BOOTTIME - CLOCK_MONOTONIC when the stream was created, ns
 * @counter: POSIXTRACE_COUNTER_*: the counter that traced processes read for their timestamps
 * @resolution: resolution of the clock, ns
 * @node: name of the host, as returned to the controller by uname(); NUL-terminated, then zeros
 * @release: release of the kernel, also from uname()
 * @machine: machine, also from uname()
 * @reserved: zero
 */
struct posixtrace_log_host {
	__u8 boot_id[16];
	__s64 realtime_offset;
	__s64 boottime_offset;
	__u32 counter;
	__u32 resolution;
	char node[POSIXTRACE_LOG_HOST_TEXT_SIZE];
	char release[POSIXTRACE_LOG_HOST_TEXT_SIZE];
	char machine[POSIXTRACE_LOG_HOST_TEXT_SIZE];
	__u64 reserved[3];
};

/* Bytes of the name of a thread, including the NUL. */
#define POSIXTRACE_LOG_TASK_NAME_SIZE	16

/**
 * struct posixtrace_log_task - name of a thread
 * @pid: id of the process, in the pid namespace of the controller
 * @tid: id of the thread, in the same namespace
 * @start: when the thread was created, ns since the Epoch
 * @since: start of the validity of this name, ns since the Epoch; @start for the name that the
 *	thread had when the stream began to trace it
 * @name: as in /proc/PID/comm; NUL-terminated, then zeros
 *
 * A thread may have any number of names. An event has the name with the latest @since that is not
 * after the event.
 */
struct posixtrace_log_task {
	__s32 pid;
	__s32 tid;
	__u64 start;
	__u64 since;
	char name[POSIXTRACE_LOG_TASK_NAME_SIZE];
};

/* Maximum bytes of posixtrace_log_program.text; a longer command line is truncated. */
#define POSIXTRACE_LOG_PROGRAM_SIZE	4096

/**
 * struct posixtrace_log_program - command line of a process
 * @pid: id of the process, in the pid namespace of the controller
 * @size: bytes of @text
 * @start: when its main thread was created, ns since the Epoch
 * @since: start of the validity of this command line, ns since the Epoch
 * @text: the arguments, each with its NUL
 *
 * The next command line follows at a multiple of 8.
 */
struct posixtrace_log_program {
	__s32 pid;
	__u32 size;
	__u64 start;
	__u64 since;
	char text[];
};

/* Bytes from a command line with @size bytes to the next one. */
#define POSIXTRACE_LOG_PROGRAM_STEP(size) \
	((sizeof(struct posixtrace_log_program) + (size) + POSIXTRACE_LOG_ALIGN - 1) / \
	 POSIXTRACE_LOG_ALIGN * POSIXTRACE_LOG_ALIGN)

/* Maximum bytes of posixtrace_log_mapping.path; a longer path is omitted. */
#define POSIXTRACE_LOG_PATH_SIZE	1024
/* Bytes of posixtrace_log_mapping.build_id. */
#define POSIXTRACE_LOG_BUILD_ID_SIZE	20

/**
 * struct posixtrace_log_mapping - a file that a process executes code from
 * @pid: id of the process, in the pid namespace of the controller
 * @size: bytes of @path, with the NUL
 * @start: when the main thread of the process was created, ns since the Epoch
 * @since: when the mappings of the process were scanned, ns since the Epoch
 * @address: first byte of the mapping
 * @length: bytes of the mapping
 * @offset: offset of the first byte in the file, bytes
 * @build_id: build id of the file, then zeros
 * @build_id_size: bytes of @build_id; 0 if the file has no build id, or a longer one
 * @path: as seen by the process; only a NUL if unknown
 *
 * The next mapping follows at a multiple of 8. All mappings with the same @pid and @since belong
 * together and do not overlap.
 */
struct posixtrace_log_mapping {
	__s32 pid;
	__u32 size;
	__u64 start;
	__u64 since;
	__u64 address;
	__u64 length;
	__u64 offset;
	__u8 build_id[POSIXTRACE_LOG_BUILD_ID_SIZE];
	__u32 build_id_size;
	char path[];
};

/* Bytes from a mapping with @size bytes of path to the next one. */
#define POSIXTRACE_LOG_MAPPING_STEP(size) \
	((sizeof(struct posixtrace_log_mapping) + (size) + POSIXTRACE_LOG_ALIGN - 1) / \
	 POSIXTRACE_LOG_ALIGN * POSIXTRACE_LOG_ALIGN)

/*
 * posixtrace_log_clock.clock: UTC. No clock of Linux has this number. The value is a reading of
 * CLOCK_REALTIME, and the error is its maximum error, as noted by the controller.
 */
#define POSIXTRACE_LOG_CLOCK_UTC	1024

/* posixtrace_log_clock.flags: one of the two clocks was set since the previous pair of @clock. */
#define POSIXTRACE_LOG_CLOCK_STEPPED	(1U << 0)

/**
 * struct posixtrace_log_clock - readings of two clocks at one moment
 * @time: reading of the clock of the events, ns since the Epoch
 * @value: reading of the other clock, ns
 * @error: maximum error of @value, ns, or POSIXTRACE_CLOCK_ERROR_UNKNOWN
 * @clock: clockid_t of the other clock, as on Linux, or POSIXTRACE_LOG_CLOCK_UTC
 * @flags: POSIXTRACE_LOG_CLOCK_*
 *
 * The pairs of each clock are in the order of @time.
 */
struct posixtrace_log_clock {
	__u64 time;
	__s64 value;
	__u64 error;
	__s32 clock;
	__u32 flags;
};

/**
 * struct posixtrace_log_mark - where a block of events is
 * @offset: offset of the block
 * @seq: as in the header of the block
 * @epoch: as in the header of the block
 * @closed: as in the header of the block
 *
 * Marks are in the order of their blocks. An epoch has at most one mark, except that the newest
 * block also has one: the last mark. All marks are in blocks of type POSIXTRACE_LOG_INDEX, which
 * are the last blocks before the status.
 */
struct posixtrace_log_mark {
	__u64 offset;
	__u64 seq;
	__u64 epoch;
	__u64 closed;
};

/* posixtrace_log_end.flags */
#define POSIXTRACE_LOG_END_FULL		(1U << 0)	/* UNTIL_FULL: the log became full */
#define POSIXTRACE_LOG_END_OVERRUN	(1U << 1)	/* LOOP: blocks were overwritten */
#define POSIXTRACE_LOG_END_FINAL	(1U << 2)	/* the log is final */
#define POSIXTRACE_LOG_END_CONTINUED	(1U << 3)	/* the stream has a next log */

/**
 * struct posixtrace_log_end - status of the log
 * @cookie: cookie of the log
 * @crc: CRC32C of this structure with @crc zero
 * @flags: POSIXTRACE_LOG_END_*
 * @error: 0, or the error number of the first write error
 * @names: LOOP: number of names; otherwise 0
 * @lost: events that are not in the log: lost in the stream, or dropped because the log was full or
 *	could not be written
 * @overwritten: user events overwritten in the log
 * @time: time of writing, ns
 * @seq: number of the last block before the status
 * @metadata: LOOP: number of the last metadata block before the status; otherwise 0
 *
 * The payload of POSIXTRACE_LOG_END, the last block. A LOOP log has the status at
 * posixtrace_log_header.end_offset instead, where each new status overwrites the previous one.
 */
struct posixtrace_log_end {
	__u64 cookie;
	__u32 crc;
	__u32 flags;
	__s32 error;
	__u32 names;
	__u64 lost;
	__u64 overwritten;
	__u64 time;
	__u64 seq;
	__u64 metadata;
};

#endif /* _UAPI_LINUX_POSIXTRACE_LOG_H */
