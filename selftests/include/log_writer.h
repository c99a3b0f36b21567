/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes logs for tests of the reader: byte by byte, according to Documentation/trace-log.rst,
 * with a separate implementation of the checksum. The log is built in memory, where a test can
 * examine and damage all of it, and then written to a file.
 *
 * A test makes blocks one by one with log_block_begin(), log_event() ..., log_block_end().
 * Arguments are not checked, because tests also need invalid logs.
 */
#ifndef _SELFTESTS_LOG_WRITER_H
#define _SELFTESTS_LOG_WRITER_H

#include <linux/posixtrace_log.h>
#include <stddef.h>

#include "record.h"

#define LOG_TIME0	1700000000000000000ULL	/* ns: start time of a log */
#define LOG_COOKIE	0x0123456789abcdefULL
#define LOG_SUBBUF	8192U
#define LOG_MAX_DATA	256U
#define LOG_MARKS	1024U
#define LOG_FIRST_NAMED	(POSIXTRACE_ID_UNNAMED + 1)

#define LOG_HEADER	((size_t)sizeof(struct posixtrace_log_header))
#define LOG_BLOCK	((size_t)sizeof(struct posixtrace_log_block))

/**
 * struct log_writer - a log in progress
 */
struct log_writer {
	/** @data: contents of the file */
	unsigned char *data;
	/** @len: bytes used in @data */
	size_t len;
	/** @room: bytes allocated for @data */
	size_t room;
	/** @header: as in the file */
	struct posixtrace_log_header header;
	/** @block: header of the block in progress */
	struct posixtrace_log_block block;
	/**
	 * @before: the last record written to the block
	 */
	struct record before;
	/** @piece: compress blocks of events, in pieces of this many bytes; 0: do not */
	size_t piece;
	/** @at: offset of the block in progress, or 0 */
	size_t at;
	/** @pos: LOOP: offset of the next block */
	size_t pos;
	/** @oldest: LOOP: offset of the oldest complete block */
	size_t oldest;
	/** @lap_end: LOOP: end of the last block of the previous lap */
	size_t lap_end;
	/** @seq: number of the last block */
	__u64 seq;
	/**
	 * @epoch: epoch of the next block
	 */
	__u64 epoch;
	/**
	 * @gap_generation: its value in the next block
	 */
	__u64 gap_generation;
	/**
	 * @gap_first: its value in the next block
	 */
	__u64 gap_first;
	/**
	 * @overwrite_watermark: its value in the next block
	 */
	__u64 overwrite_watermark;
	/**
	 * @lost: its value in the next block
	 */
	__u64 lost;
	/**
	 * @boot_id: boot id that log_host() writes
	 */
	unsigned char boot_id[16];
	/** @nr_names: LOOP: number of names written */
	__u32 nr_names;
	/** @metadata_pos: LOOP: offset of the next metadata block */
	size_t metadata_pos;
	/** @metadata_seq: LOOP: number of the last metadata block */
	__u64 metadata_seq;
	/**
	 * @end: LOOP: the status that was last written
	 */
	struct posixtrace_log_end end;
	/** @eventless: offset of the last block without events; LOOP: 0 */
	size_t eventless;
	/** @mark: the first block with events of each epoch, for log_index() */
	struct posixtrace_log_mark mark[LOG_MARKS + 1];
	/** @nr_marks: number of marks */
	__u32 nr_marks;
	/** @mark_step: epochs from one mark to the next; more in a long log */
	__u64 mark_step;
	/** @newest: the newest block with events */
	struct posixtrace_log_mark newest;
};

/* Computes a checksum, four bits at a time. Shares no code with the code under test. */
__u32 log_crc(const void *data, size_t len);

void log_put(struct log_writer *log, size_t at, const void *data, size_t len);

/* Writes the header again after the test has changed it. */
void log_header(struct log_writer *log);

/* Begins a new log; @ring: bytes of the ring of a LOOP log. */
void log_begin(struct log_writer *log, int log_policy, int stream_policy, __u32 nr_cpus,
	       size_t ring);

void log_free(struct log_writer *log);

void log_block_begin(struct log_writer *log, __u32 type, __u32 cpu);
void log_payload(struct log_writer *log, const void *data, size_t len);

/* Adds a record; @data may be NULL if its length is 0. */
void log_record(struct log_writer *log, const struct record *record, const void *data);

void log_event_id(struct log_writer *log, __u32 id, __u64 time, const void *data, size_t len);

/* Adds a user event whose data is its time. */
void log_event(struct log_writer *log, __u64 time);

/* Writes the headers again after the test has changed log->block. */
void log_block_header(struct log_writer *log, size_t at);

/* Ends the block. Returns its offset. */
size_t log_block_end(struct log_writer *log);

/* Returns the checksum of a name of a LOOP log. */
__u32 log_fixed_name_crc(__u64 cookie, const struct posixtrace_log_name *name);

/* Writes a name, in a separate block or in the area for names. */
size_t log_name(struct log_writer *log, __u32 id, const char *text);

/* Writes a metadata block, with log->block.flags set to @flags. Returns its offset. */
size_t log_metadata(struct log_writer *log, __u32 type, __u32 flags, __u32 count,
		    const void *payload, size_t len);

/* Writes the description of an event type in a separate block; @size includes the NUL. */
size_t log_description(struct log_writer *log, __u32 id, const char *text, size_t size);

/* Writes the description of a kernel event type in a separate block; @size includes the NUL. */
size_t log_kernel_type(struct log_writer *log, __u32 id, const char *text, size_t size);

/* Writes a thread name or a command line in a separate block. Returns the offset. */
size_t log_task(struct log_writer *log, int pid, int tid, __u64 since, const char *name);
size_t log_program(struct log_writer *log, int pid, __u64 since, const char *text, size_t size);

/* Like log_task(), for a thread or process that was born at @born. log_task() uses time 0. */
size_t log_born_task(struct log_writer *log, int pid, int tid, __u64 born, __u64 since,
		     const char *name);
size_t log_born_program(struct log_writer *log, int pid, __u64 born, __u64 since, const char *text,
			size_t size);

/* Writes a file mapping in a separate block; sets @mapping->size. Returns the offset. */
size_t log_mapping(struct log_writer *log, struct posixtrace_log_mapping *mapping,
		   const char *path);

size_t log_host(struct log_writer *log, const char *node);
size_t log_host_machine(struct log_writer *log, const char *node, const char *machine);

size_t log_reset(struct log_writer *log);

/* Writes the index of the blocks so far, before log_end(). Returns its offset. */
size_t log_index(struct log_writer *log);

size_t log_end(struct log_writer *log, __u32 flags);

/* Writes the part of the log after offset @from to the file. A LOOP log is written completely. */
int log_write(const struct log_writer *log, int fd, size_t from);

/* Creates an unnamed file with these bytes. */
int log_bytes_file(const void *data, size_t len);

int log_file(const struct log_writer *log);

/*
 * Writes a START, then events at the times first, first + 1, ... Each epoch has @per_block events
 * of each CPU in turn. All blocks are full.
 */
__u64 log_epochs(struct log_writer *log, __u64 first, int epochs, int per_block);

#endif /* _SELFTESTS_LOG_WRITER_H */
