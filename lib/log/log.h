/* SPDX-License-Identifier: MIT */
/*
 * Reads logs: files that may be cut, damaged, forged, or still being written.
 *
 * Each file only calls files named before it: loghead.c checks the header, logblock.c finds
 * blocks, logring.c handles the ring of a LOOP log, logwalk.c walks from block to block in each
 * kind of log, logmetadata.c, logtasks.c, logmappings.c, logstates.c and logclocks.c handle the
 * metadata (logtasks.h), logmarks.c remembers where blocks are, logsurvey.c collects names and
 * status, logbrief.c does the same without the headers of all blocks, logindex.c has an index of
 * blocks, logpiece.c unpacks compressed blocks, logmerge.c merges the events of all CPUs by time,
 * logops.c has the operations of a source, log.c opens and closes.
 * Documentation/trace-log.rst describes the format. All files use pread(): accessing a mapping of
 * a file that becomes shorter would kill the process.
 *
 * Called with the lock of the source, by one caller at a time.
 */
#ifndef PXTU_LOG_H
#define PXTU_LOG_H

#include <sys/types.h>

#include <linux/posixtrace_log.h>

#include "common/heap.h"
#include "common/kernel.h"
#include "common/source.h"
#include "log/logclocks.h"
#include "log/logstates.h"
#include "log/logtasks.h"

/* The header of a block may be larger than struct posixtrace_log_block; the rest is ignored. */
#define PXTU_LOG_BLOCK_MAX	1024U
#define PXTU_LOG_SCRATCH	(64U << 10)

/*
 * How many bytes to search for the next block. After accidental damage a search ends much
 * earlier, but a forged file may have a hole of exabytes, which would take years.
 */
#define PXTU_LOG_BUDGET_MAX	(64ULL << 20)

/* The maximum number of blocks in the index. */
#define PXTU_LOG_ENTRIES_MAX	(1U << 16)
#define PXTU_LOG_GAPS_MAX	16U

/* The maximum number of marks, an even number. A writer makes about a fourth as many. */
#define PXTU_LOG_MARKS_MAX	4096U

/*
 * Maximum bytes of unpacked records in memory, for all CPUs: a small forged file may unpack to any
 * size. A writer makes pieces of 32 KiB, so 4096 CPUs with kernel events have room.
 */
#define PXTU_LOG_HELD_MAX	(256ULL << 20)

#define PXTU_LOG_NONE		(~0U)

/**
 * struct pxtu_log_head - the header of a log, checked
 */
struct pxtu_log_head {
	/** @cookie: number that is in all blocks of the log */
	__u64 cookie;
	/** @series: cookie of the first log of a series, or 0 */
	__u64 series;
	/** @part: number in the series; 0 for the first or only log */
	__u64 part;
	/** @begin: offset of the first block */
	__u64 begin;
	/** @ring_end: LOOP: end of the ring; otherwise 0 */
	__u64 ring_end;
	/** @names: LOOP: offset of the names */
	__u64 names;
	/** @metadata: LOOP: offset of the metadata */
	__u64 metadata;
	/** @end: LOOP: offset of the status */
	__u64 end;
	/** @block_size: size of the header of a block, in bytes */
	__u32 block_size;
	/** @payload_max: largest payload of any type, in bytes */
	__u32 payload_max;
	/** @subbuf_size: largest payload of events, in bytes */
	__u32 subbuf_size;
	/** @nr_cpus: number of CPUs; also the index of the "CPU" of system events */
	__u32 nr_cpus;
	/** @max_data: largest data of a user event, in bytes */
	__u32 max_data;
	/** @loop: the stream has the policy POSIX_TRACE_LOOP */
	bool loop;
	/** @attr: attributes of the stream */
	struct posixtrace_attr attr;
};

/**
 * struct pxtu_log_block - a block
 * @offset: offset of the block
 * @head: copy of its header; type 0 if there is no block
 */
struct pxtu_log_block {
	__u64 offset;
	struct posixtrace_log_block head;
};

/**
 * struct pxtu_log_walk - position of a walk from block to block
 * @offset: expected offset of the next block, or where the search for it continues
 * @seq: number of the next block; when searching, its smallest possible number
 * @lost_from: when searching: where the damage begins
 * @searching: a damaged place was reported, and the next block has not been found yet
 * @any: when searching: the number of lost blocks is unknown
 * @budget: bytes that may be searched before more good blocks are found
 * @newest: LOOP: number of the newest block
 * @newest_end: LOOP: end of the newest block
 * @skip: LOOP: the caller already knows the blocks before this number
 * @refused: LOOP: cost of scans of the whole ring that did not find overwritten blocks
 * @last_lap: LOOP: the position is in the lap of the newest block, not in the previous lap
 */
struct pxtu_log_walk {
	__u64 offset;
	__u64 seq;
	__u64 lost_from;
	bool searching;
	bool any;
	__u64 budget;
	__u64 newest;
	__u64 newest_end;
	__u64 skip;
	__u32 refused;
	bool last_lap;
};

/**
 * struct pxtu_log_description - location of the description of an event type
 * @offset: offset of the text
 * @size: bytes of the text, with the NUL; 0 if there is no description
 */
struct pxtu_log_description {
	__u64 offset;
	__u32 size;
};

/**
 * struct pxtu_log_marks - where blocks of events are, see logmarks.c
 * @mark: room for PXTU_LOG_MARKS_MAX marks in the order of the blocks, or NULL
 * @count: number of marks
 * @stride: one of this many epochs has a mark
 * @passed: number of epochs since @stride was last set
 * @last_epoch: the last of these epochs
 */
struct pxtu_log_marks {
	struct posixtrace_log_mark *mark;
	__u32 count;
	__u32 stride;
	__u32 passed;
	__u64 last_epoch;
};

/**
 * struct pxtu_log_survey - facts about the whole log
 */
struct pxtu_log_survey {
	/** @walk: how far the log has been surveyed */
	struct pxtu_log_walk walk;
	/** @start: start of the valid blocks: after the last RESET */
	struct pxtu_log_walk start;
	/** @start_generation: generation of the gap at @start */
	__u64 start_generation;
	/** @generation: generation of the gap at the last block */
	__u64 generation;
	/** @damaged: the log is damaged somewhere; never reset */
	bool damaged;
	/** @gap: events were lost in the stream */
	bool gap;
	/** @overwritten: LOOP: the writer overwrote blocks before they were read */
	bool overwritten;
	/** @ended: END was found */
	bool ended;
	/** @brief: the headers of blocks of events were not read yet: see logbrief.c */
	bool brief;
	/** @end_valid: @end is valid */
	bool end_valid;
	/** @end: contents of END */
	struct posixtrace_log_end end;
	/** @names: names of user event types, in the order of the log */
	struct posixtrace_log_name *names;
	/** @nr_names: number of names */
	__u32 nr_names;
	/** @names_room: number of names that fit */
	__u32 names_room;
	/** @names_read: LOOP: number of name slots that were read */
	__u32 names_read;
	/** @marks: where blocks of events are */
	struct pxtu_log_marks marks;
	/** @newest: LOOP: offset of the newest block, if the marks have it; otherwise 0 */
	__u64 newest;
	/** @metadata: LOOP: how far the metadata has been read */
	struct pxtu_log_walk metadata;
	/** @torn: LOOP: offset of a metadata block seen incomplete; otherwise 0 */
	__u64 torn;
	/** @metadata_first: LOOP: number of the first metadata block when it was last checked */
	__u64 metadata_first;
	/** @tasks: names of threads and processes, and the host */
	struct pxtu_log_tasks tasks;
	/** @states: places of the states of threads */
	struct pxtu_log_rows states;
	/** @files: places of the open files of processes */
	struct pxtu_log_rows files;
	/** @clocks: pairs of clocks */
	struct pxtu_log_clocks clocks;
	/** @described: the descriptions, by event type; NULL if there are no descriptions */
	struct pxtu_log_description *described;
	/** @place: index in @names of each type, from 1; 0: not in @names */
	__u16 place[POSIXTRACE_ID_MAX];
};

/**
 * struct pxtu_log_entry - one block of events in the index, or a damaged place
 * @offset: offset of the payload; 0 for a damaged place
 * @opened: no record is older; or the time of the event that reports the damage
 * @closed: no record is younger
 * @epoch: as in the block, but never decreases
 * @generation: generation of the gap
 * @overwrite_watermark: records at or before this time are lost
 * @lost: events lost so far
 * @size: bytes of payload
 * @records: bytes of the records: @size, or more if they are compressed
 * @payload_crc: checksum of the payload
 * @crc: checksum of the header of the block
 * @next: next entry of this CPU, or next free entry, or PXTU_LOG_NONE
 * @packed: the records are compressed
 */
struct pxtu_log_entry {
	__u64 offset;
	__u64 opened;
	__u64 closed;
	__u64 epoch;
	__u64 generation;
	__u64 overwrite_watermark;
	__u64 lost;
	__u32 size;
	__u32 records;
	__u32 payload_crc;
	__u32 crc;
	__u32 next;
	bool packed;
};

/**
 * struct pxtu_log_cpu - position of the reader on one CPU
 */
struct pxtu_log_cpu {
	/** @first: oldest block that is not completely read, or PXTU_LOG_NONE */
	__u32 first;
	/** @last: last block in the index */
	__u32 last;
	/** @open: the checksum of the first block is good */
	bool open;
	/** @ready: @record is the next event */
	bool ready;
	/** @corrupt: @record reports damage, because there is no valid record */
	bool corrupt;
	/** @pos: position of the next record in the records of the first block */
	__u32 pos;
	/** @piece: if the records are compressed: position of the next piece in the payload */
	__u32 piece;
	/** @floor: no record from @pos on is older */
	__u64 floor;
	/** @chunk: part of the records; allocated on demand, see chunk_size() in logmerge.c */
	unsigned char *chunk;
	/** @chunk_room: bytes allocated for the chunk */
	__u32 chunk_room;
	/** @chunk_pos: position of the chunk in the records */
	__u32 chunk_pos;
	/** @chunk_len: bytes in the chunk */
	__u32 chunk_len;
	/** @record: the next record, checked */
	struct pxtu_record record;
	/** @writer: writer of the previous record */
	struct pxtu_writer writer;
	/**
	 * @kernel: what the next record of kernel events may refer to; allocated with @chunk, NULL
	 * for other CPUs
	 */
	struct pxtu_kernel_cpu *kernel;
};

/**
 * struct pxtu_log_gap - a loss of events that has not been reported yet
 * @generation: generation of the gap in the blocks after the loss
 * @first: time of the first lost event
 */
struct pxtu_log_gap {
	__u64 generation;
	__u64 first;
};

/**
 * struct pxtu_log_index - the index: the blocks of two epochs
 */
struct pxtu_log_index {
	/** @walk: position of the next block */
	struct pxtu_log_walk walk;
	/** @ahead: a block of events that has not been indexed yet */
	struct pxtu_log_block ahead;
	/** @have_ahead: @ahead is valid */
	bool have_ahead;
	/** @begun: a block of events was found */
	bool begun;
	/** @ended: END was found */
	bool ended;
	/** @settled: do not add blocks before an epoch is completely read */
	bool settled;
	/** @partial: the next block was incomplete, so do not retry immediately */
	bool partial;
	/** @crowded: the index was full */
	bool crowded;
	/** @epoch: epoch of the oldest blocks in the index */
	__u64 epoch;
	/** @left: number of entries of @epoch, and of the next epoch */
	__u32 left[2];
	/** @entries: the index */
	struct pxtu_log_entry *entries;
	/** @room: number of allocated entries */
	__u32 room;
	/** @used: number of entries that were ever used */
	__u32 used;
	/** @free: first entry of the free list */
	__u32 free;
	/** @last_epoch: largest epoch so far */
	__u64 last_epoch;
	/** @time: time of the last block found */
	__u64 time;
	/** @generation: generation of the gap so far */
	__u64 generation;
	/** @overwrite_watermark: overwrite watermark so far */
	__u64 overwrite_watermark;
	/** @lost: events lost in the gaps that were reported */
	__u64 lost;
	/** @skipped: number of records that count as lost although they were not overwritten */
	__u64 skipped;
	/** @read: bytes of the blocks that were found */
	__u64 read;
	/** @held: bytes of all chunks */
	__u64 held;
	/** @gap: gaps to be reported, the oldest first */
	struct pxtu_log_gap gap[PXTU_LOG_GAPS_MAX];
	/** @nr_gaps: number of gaps */
	unsigned int nr_gaps;
	/** @cpu: CPUs, then system events, then damaged places */
	struct pxtu_log_cpu *cpu;
	/** @heap: indices in @cpu that have entries */
	struct pxtu_heap heap;
};

/**
 * struct pxtu_log - a log that is open for reading
 */
struct pxtu_log {
	/** @source: the source of its trace id; the lock guards all below */
	struct pxtu_source source;
	/** @types_next: event types returned by posix_trace_eventtypelist_getnext_id() */
	__u32 types_next;
	/** @looks: how many times missing tasks were looked up since the last event */
	__u32 looks;
	/** @looked_at: time of the last lookup, in ns of CLOCK_MONOTONIC_COARSE */
	__u64 looked_at;
	/** @fd: our descriptor of the file */
	int fd;
	/** @dev: device of the file, to notice if the program opens another file as @fd */
	__u64 dev;
	/** @ino: inode of the file */
	__u64 ino;
	/** @sought: posixtrace_seek() was called, so the status must not read all headers */
	bool sought;
	/** @foreign: @fd now refers to another file */
	bool foreign;
	/**
	 * @error: 0, or the first error that is not damage of the file: this process is out of
	 * memory, or a block requires a newer library. See pxtu_log_failed()
	 */
	int error;
	/** @size: size of the file when last checked, in bytes */
	__u64 size;
	/** @head: header of the file */
	struct pxtu_log_head head;
	/** @survey: names and status */
	struct pxtu_log_survey survey;
	/** @index: position of the reader */
	struct pxtu_log_index index;
	/** @call_names: names of system calls; empty without the class syscall */
	struct pxtu_call_names call_names;
	/** @names_read: value of @index.read when @call_names were last missing */
	__u64 names_read;
	/** @queue: the next events to report */
	struct pxtu_queue queue;
	/** @data: data of the record in @queue */
	unsigned char *data;
	/** @scratch: PXTU_LOG_SCRATCH bytes for temporary use */
	unsigned char *scratch;
	/** @piece: a piece that is being unpacked: POSIXTRACE_LOG_PIECE_MAX bytes, or NULL */
	__u64 *piece;
};

/* The operations of logs as sources, in logops.c. */
extern const struct pxtu_source_ops pxtu_log_ops __attribute__((__visibility__("hidden")));

static inline struct pxtu_log *pxtu_log_of(const struct pxtu_source *source)
{
	return pxtu_container_of(source, struct pxtu_log, source);
}

/*
 * Number of lists of blocks: one for each CPU, one for system events, one for the kernel events of
 * each CPU if the log has them, and one for damaged places.
 */
static inline __u32 pxtu_log_nr_lists(const struct pxtu_log *log)
{
	const __u32 nr_cpus = log->head.nr_cpus;

	return nr_cpus + 1 + (log->head.attr.classes ? nr_cpus : 0) + 1;
}

/* Size of header and payload. */
static inline __u64 pxtu_log_block_bytes(const struct pxtu_log *log,
					 const struct pxtu_log_block *block)
{
	return (__u64)log->head.block_size + block->head.size;
}

/**
 * pxtu_log_open() - open a log for reading
 * @fd: descriptor of the log, which is duplicated
 * @log: result, for pxtu_log_close()
 *
 * Changes errno.
 *
 * Return: 0; -EBADF if @fd is not open for reading; -EINVAL if the file is not a log that this
 * version can read; other negative errno.
 */
int pxtu_log_open(int fd, struct pxtu_log **log);

/**
 * pxtu_log_close() - close and free a log
 * @log: the log; not in use by other threads
 *
 * Changes errno.
 */
void pxtu_log_close(struct pxtu_log *log);

/**
 * pxtu_log_rewind() - go back to the oldest event
 * @log: the log
 *
 * Return: 0 or negative errno.
 */
int pxtu_log_rewind(struct pxtu_log *log);

/**
 * pxtu_log_seek() - go to a time
 * @log: the log
 * @time: ns since the Epoch
 *
 * The next event is the first one at or after @time, or an earlier one. Until the next call of
 * pxtu_log_rewind(), the status does not report damage in blocks that were not read.
 *
 * Return: 0 or negative errno.
 */
int pxtu_log_seek(struct pxtu_log *log, __u64 time);

#endif /* PXTU_LOG_H */
