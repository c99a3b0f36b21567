/* SPDX-License-Identifier: MIT */
/*
 * Reading of a log: a file that may be cut, damaged, forged, or still written.
 *
 * Each file calls only those in front of it: loghead.c checks the header, logblock.c
 * finds blocks, logring.c knows the ring of a LOOP log, logwalk.c goes from block to block
 * in each kind of log, logfacts.c collects names and status, logheap.c sorts the CPUs,
 * logwindow.c has an index of blocks, logmerge.c brings the events of all CPUs in order,
 * logops.c has the operations of a source, log.c opens and closes.
 * Documentation/trace-log.rst describes the format. Only pread() is used: a mapping of a
 * file that gets shorter would kill us.
 *
 * One caller at a time: the lock of the source.
 */
#ifndef PXTU_LOG_H
#define PXTU_LOG_H

#include <sys/types.h>

#include <linux/posixtrace_log.h>

#include "common/source.h"

/* Larger block headers than ours are read, what is behind is not looked at. */
#define PXTU_LOG_BLOCK_MAX	1024U
#define PXTU_LOG_SCRATCH	(64U << 10)

/*
 * How much may be searched for the next block. A search through anything that is
 * damaged by accident ends long before. But a file may have a hole of some exabytes,
 * which costs its maker nothing and us years.
 */
#define PXTU_LOG_BUDGET_MAX	(64ULL << 20)

/* That many blocks at most are indexed at once. */
#define PXTU_LOG_ENTRIES_MAX	(1U << 16)
#define PXTU_LOG_GAPS_MAX	16U
#define PXTU_LOG_NONE		(~0U)

/**
 * struct pxtu_log_head - what the header of a log says, checked
 * @cookie: number that all blocks have
 * @begin: offset of the first block
 * @ring_end: LOOP: end of the ring; else 0
 * @names: LOOP: offset of the names
 * @end: LOOP: offset of the status
 * @block_size: bytes of a block's header
 * @payload_max: no payload of whichever type is larger
 * @subbuf_size: no payload of events is larger
 * @nr_cpus: the number of the "CPU" of system events
 * @max_data: largest data that a user event can have
 * @loop: the stream has the policy POSIX_TRACE_LOOP
 * @attr: attributes of the stream
 */
struct pxtu_log_head {
	__u64 cookie;
	__u64 begin;
	__u64 ring_end;
	__u64 names;
	__u64 end;
	__u32 block_size;
	__u32 payload_max;
	__u32 subbuf_size;
	__u32 nr_cpus;
	__u32 max_data;
	bool loop;
	struct posixtrace_attr attr;
};

/**
 * struct pxtu_log_block - a block that was found
 * @offset: where it begins
 * @head: copy of its header; type 0 if there is no block
 */
struct pxtu_log_block {
	__u64 offset;
	struct posixtrace_log_block head;
};

/**
 * struct pxtu_log_walk - how far one has got from block to block
 * @offset: where the next block should be, or where the search for it goes on
 * @seq: its number; when searching, the smallest that it can have
 * @lost_from: when searching: where the damage begins
 * @searching: a damaged place was reported, and what comes behind is not found yet
 * @any: when searching: it is not known how much was lost
 * @budget: bytes that may be searched, before more good blocks are found
 * @newest: LOOP: number of the last block
 * @newest_end: LOOP: end of it
 * @skip: LOOP: blocks before this number are known already
 * @last_lap: LOOP: the lap that has the newest block, not the one before
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
	bool last_lap;
};

/**
 * struct pxtu_log_facts - what is known of the log as a whole
 * @walk: how far it was looked through
 * @start: where its blocks begin that count: behind the last RESET
 * @start_generation: generation of the gap there
 * @generation: that of the last block
 * @damaged: something is damaged; never reset
 * @gap: events were lost in the stream
 * @overwritten: LOOP: blocks were, while we read them or before
 * @ended: END was found
 * @end_valid: @end is
 * @end: what END said
 * @names: names of user event types, in the order of the log
 * @nr_names: how many
 * @names_room: how many fit
 * @names_read: LOOP: how many places for names were looked at
 * @place: place in @names of each type, from 1; 0 for none
 */
struct pxtu_log_facts {
	struct pxtu_log_walk walk;
	struct pxtu_log_walk start;
	__u64 start_generation;
	__u64 generation;
	bool damaged;
	bool gap;
	bool overwritten;
	bool ended;
	bool end_valid;
	struct posixtrace_log_end end;
	struct posixtrace_log_name *names;
	__u32 nr_names;
	__u32 names_room;
	__u32 names_read;
	__u16 place[POSIXTRACE_ID_MAX];
};

/**
 * struct pxtu_log_entry - one block of events in the index, or a damaged place
 * @offset: of the payload; 0 for a damaged place
 * @opened: no record is older; or the time that the damage is reported with
 * @closed: no record is younger
 * @epoch: as in the block, but never falling
 * @generation: of the gap
 * @overwrite_watermark: records at or before this time are lost
 * @lost: events lost so far
 * @size: bytes of payload
 * @payload_crc: check sum of the payload
 * @next: next one of this CPU, or of the free ones, or PXTU_LOG_NONE
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
	__u32 payload_crc;
	__u32 next;
};

/**
 * struct pxtu_log_cpu - where the reader is on one CPU
 * @first: oldest block that is not read to its end, or PXTU_LOG_NONE
 * @last: last block in the index
 * @open: the check sum of the first was found good
 * @ready: @record is the next event
 * @corrupt: it is made up, for what is there is no record
 * @pos: of the next record, in the payload of the first block
 * @floor: no record from there on is older
 * @chunk: part of that payload, of chunk_size() bytes (logmerge.c); allocated when needed
 * @chunk_pos: where in the payload it begins
 * @chunk_len: how much is in there
 * @record: the next record, checked
 * @writer: of the record before it
 */
struct pxtu_log_cpu {
	__u32 first;
	__u32 last;
	bool open;
	bool ready;
	bool corrupt;
	__u32 pos;
	__u64 floor;
	unsigned char *chunk;
	__u32 chunk_pos;
	__u32 chunk_len;
	struct pxtu_record record;
	struct pxtu_writer writer;
};

/**
 * struct pxtu_log_gap - events were lost, and that is not reported yet
 * @generation: of the blocks that come after
 * @first: time of the first lost event
 */
struct pxtu_log_gap {
	__u64 generation;
	__u64 first;
};

/**
 * struct pxtu_log_window - the blocks of two epochs
 * @walk: what comes next
 * @ahead: a block of events that is not in the index yet
 * @have_ahead: there is one
 * @begun: a block of events was found
 * @ended: END was found
 * @settled: nothing is to be added before an epoch was read to its end
 * @crowded: the index was full
 * @epoch: that of the oldest blocks in the index
 * @left: entries of that epoch, and of the next
 * @entries: the index
 * @room: how many entries are allocated
 * @used: how many of them were ever used
 * @free: first of those that are free again
 * @last_epoch: largest epoch so far
 * @time: of what was found last
 * @generation: of the gap, so far
 * @overwrite_watermark: so far
 * @lost: events lost in the gaps that were reported
 * @skipped: records that were at or before the overwrite overwrite_watermark
 * @read: bytes of the blocks that were found
 * @gap: gaps to be reported, the oldest first
 * @nr_gaps: how many
 * @cpu: CPUs, then system events, then damaged places
 * @heap: those of them that have entries; the first has the smallest time
 * @nr_heap: how many
 */
struct pxtu_log_window {
	struct pxtu_log_walk walk;
	struct pxtu_log_block ahead;
	bool have_ahead;
	bool begun;
	bool ended;
	bool settled;
	bool crowded;
	__u64 epoch;
	__u32 left[2];
	struct pxtu_log_entry *entries;
	__u32 room;
	__u32 used;
	__u32 free;
	__u64 last_epoch;
	__u64 time;
	__u64 generation;
	__u64 overwrite_watermark;
	__u64 lost;
	__u64 skipped;
	__u64 read;
	struct pxtu_log_gap gap[PXTU_LOG_GAPS_MAX];
	unsigned int nr_gaps;
	struct pxtu_log_cpu *cpu;
	__u32 *heap;
	__u32 nr_heap;
};

/**
 * struct pxtu_log - a log that is open for reading
 * @source: what the trace id stands for; its lock guards all below
 * @types_next: event types told by posix_trace_eventtypelist_getnext_id()
 * @fd: our own descriptor of it
 * @dev: device of the file: the program may close @fd and open something else
 * @ino: inode of the file
 * @foreign: it has
 * @error: 0, or -errno of the first call that failed for want of something of ours: the
 *	file is not to blame. See pxtu_log_failed()
 * @size: bytes of the file, when last looked at
 * @head: its header
 * @facts: names and status
 * @window: where the reader is
 * @queue: events to be reported next
 * @data: data of the record in @queue
 * @scratch: PXTU_LOG_SCRATCH bytes, for whoever reads
 */
struct pxtu_log {
	struct pxtu_source source;
	__u32 types_next;
	int fd;
	__u64 dev;
	__u64 ino;
	bool foreign;
	int error;
	__u64 size;
	struct pxtu_log_head head;
	struct pxtu_log_facts facts;
	struct pxtu_log_window window;
	struct pxtu_queue queue;
	unsigned char *data;
	unsigned char *scratch;
};

/* Operations of all sources that are logs. logops.c */
extern const struct pxtu_source_ops pxtu_log_ops __attribute__((__visibility__("hidden")));

static inline struct pxtu_log *pxtu_log_of(const struct pxtu_source *source)
{
	return pxtu_container_of(source, struct pxtu_log, source);
}

/* loghead.c */

/**
 * pxtu_log_read() - read from the file
 * @log: the log
 * @to: where to write it
 * @len: bytes
 * @offset: where in the file
 *
 * Return: bytes read, fewer only at the end of the file; negative errno.
 */
ssize_t pxtu_log_read(struct pxtu_log *log, void *to, size_t len, __u64 offset);

/**
 * pxtu_log_failed() - was there no memory, or the like, since this was last asked?
 * @log: the log
 *
 * Then what was found is not what is in the file.
 *
 * Return: 0 or negative errno.
 */
int pxtu_log_failed(struct pxtu_log *log);

/**
 * pxtu_log_reaches() - is the file that long?
 * @log: the log
 * @end: offset
 *
 * Looks again at what may have grown; and whether it is still the same file.
 */
bool pxtu_log_reaches(struct pxtu_log *log, __u64 end);

/**
 * pxtu_log_head_read() - read and check the header
 * @log: with an open descriptor
 *
 * Return: 0; -EINVAL if the file is no log that we can read; other negative errno.
 */
int pxtu_log_head_read(struct pxtu_log *log);

/* logblock.c */

/* What a step from block to block found. */
enum pxtu_log_step {
	PXTU_LOG_NOTHING,	/* for now */
	PXTU_LOG_BLOCK,		/* a block; its payload is checked unless it is EVENTS */
	PXTU_LOG_DAMAGE,	/* a damaged place; what is behind comes with the next call */
};

/* What is at an offset. */
enum pxtu_log_at {
	PXTU_LOG_AT_END,	/* less than a block */
	PXTU_LOG_AT_BLOCK,	/* a block that the log can have, by its header */
	PXTU_LOG_AT_OTHER,	/* something else */
};

/**
 * pxtu_log_look() - what is there?
 * @log: the log
 * @offset: where to look
 * @limit: blocks end here at the latest
 * @block: set if there is a block
 */
enum pxtu_log_at pxtu_log_look(struct pxtu_log *log, __u64 offset, __u64 limit,
			       struct pxtu_log_block *block);

/**
 * pxtu_log_search() - look for a block at @walk's offset and behind
 * @log: the log
 * @walk: searching; its offset moves to the block, or to where the search ended
 * @limit: blocks end here at the latest
 * @last: largest number that it can have
 * @block: set if there is a block
 *
 * Return: false if there is none.
 */
bool pxtu_log_search(struct pxtu_log *log, struct pxtu_log_walk *walk, __u64 limit, __u64 last,
		     struct pxtu_log_block *block);

/**
 * pxtu_log_step_over() - the block that was expected is there
 * @log: the log
 * @walk: goes behind it
 * @block: the block
 */
enum pxtu_log_step pxtu_log_step_over(struct pxtu_log *log, struct pxtu_log_walk *walk,
				      struct pxtu_log_block *block);

/**
 * pxtu_log_walk_straight() - pxtu_log_walk() where one block follows another
 * @log: the log
 * @walk: how far the caller has got
 * @limit: blocks end here at the latest
 * @last: number of the last block
 * @block: set if there is a block
 */
enum pxtu_log_step pxtu_log_walk_straight(struct pxtu_log *log, struct pxtu_log_walk *walk,
					  __u64 limit, __u64 last, struct pxtu_log_block *block);

/* Bytes of header and payload. */
static inline __u64 pxtu_log_block_bytes(const struct pxtu_log *log,
					 const struct pxtu_log_block *block)
{
	return (__u64)log->head.block_size + block->head.size;
}

/* logring.c */

/**
 * pxtu_ring_start() - find the oldest and the newest block
 * @log: a LOOP log
 * @walk: to be set to the oldest
 */
void pxtu_ring_start(struct pxtu_log *log, struct pxtu_log_walk *walk);

/**
 * pxtu_ring_walk() - pxtu_log_walk() in a ring
 * @log: a LOOP log
 * @walk: from pxtu_ring_start()
 * @block: as for pxtu_log_walk()
 */
enum pxtu_log_step pxtu_ring_walk(struct pxtu_log *log, struct pxtu_log_walk *walk,
				  struct pxtu_log_block *block);

/* logwalk.c */

/**
 * pxtu_log_walk() - go to the next block
 * @log: the log
 * @walk: how far the caller has got
 * @block: where to write what was found. After PXTU_LOG_DAMAGE it is set if the
 *	header is good and the payload is not
 *
 * Ends, whatever is in the file, in a time that is proportional to its real size.
 */
enum pxtu_log_step pxtu_log_walk(struct pxtu_log *log, struct pxtu_log_walk *walk,
				 struct pxtu_log_block *block);

/**
 * pxtu_log_walk_start() - to the first block
 * @log: the log
 * @walk: to be set
 */
void pxtu_log_walk_start(struct pxtu_log *log, struct pxtu_log_walk *walk);

/* logfacts.c */

/**
 * pxtu_log_survey() - look through what was not looked through yet
 * @log: the log
 *
 * Reads the headers of all blocks, and the payload of those that are not events.
 *
 * Return: 0; -ENOMEM, then it goes on where it was; -ESHUTDOWN if the program closed
 * our descriptor.
 */
int pxtu_log_survey(struct pxtu_log *log);

/**
 * pxtu_log_status() - status of the log
 * @log: the log
 * @info: where to write it
 */
void pxtu_log_status(const struct pxtu_log *log, struct posix_trace_status_info *info);

/**
 * pxtu_log_name() - name of an event type
 * @log: the log
 * @id: any number
 *
 * Return: the name, NULL if the log has no such type so far.
 */
const char *pxtu_log_name(const struct pxtu_log *log, __u32 id);

/**
 * pxtu_log_type() - event type at a place in the list of types
 * @log: the log
 * @place: from 0
 *
 * Return: the type, 0 at the end.
 */
__u32 pxtu_log_type(const struct pxtu_log *log, __u32 place);

/* logheap.c */

/**
 * pxtu_heap_add() - a CPU has blocks now
 * @window: the window
 * @cpu: its number
 */
void pxtu_heap_add(struct pxtu_log_window *window, __u32 cpu);

/**
 * pxtu_heap_fix() - the first CPU has got younger, or has no blocks any more
 * @window: the window
 */
void pxtu_heap_fix(struct pxtu_log_window *window);

/* logwindow.c */

/**
 * pxtu_window_init() - allocate what is always needed
 * @log: with its header read
 *
 * Return: 0 or -ENOMEM.
 */
int pxtu_window_init(struct pxtu_log *log);

/**
 * pxtu_window_destroy() - free all
 * @log: initialized, or zero
 */
void pxtu_window_destroy(struct pxtu_log *log);

/**
 * pxtu_window_start() - to the oldest event
 * @log: the log
 */
void pxtu_window_start(struct pxtu_log *log);

/**
 * pxtu_window_fill() - index what can be the next event's block
 * @log: the log
 *
 * Return: 0; -ENOMEM, then nothing is lost; -ESHUTDOWN.
 */
int pxtu_window_fill(struct pxtu_log *log);

/**
 * pxtu_window_pop() - the first block of a CPU was read to its end
 * @log: the log
 * @cpu: the CPU; the caller corrects its place in the heap
 */
void pxtu_window_pop(struct pxtu_log *log, struct pxtu_log_cpu *cpu);

/* logmerge.c */

/**
 * pxtu_log_next() - the next event
 * @log: the log
 * @event: set to the event, valid until the next call; NULL if there is none
 *
 * Return: 0; -ENOMEM, then nothing is lost; -ESHUTDOWN if the program closed our
 * descriptor.
 */
int pxtu_log_next(struct pxtu_log *log, const struct pxtu_event **event);

/**
 * pxtu_log_unread() - the last event was not reported after all
 * @log: the log
 */
void pxtu_log_unread(struct pxtu_log *log);

/* log.c */

/**
 * pxtu_log_open() - open a log for reading
 * @fd: descriptor of the log, which is copied
 * @log: where to write the address of the log, for pxtu_log_close()
 *
 * Changes errno.
 *
 * Return: 0; -EBADF if @fd is not open for reading; -EINVAL if the file is no log that we
 * can read; other negative errno.
 */
int pxtu_log_open(int fd, struct pxtu_log **log);

/**
 * pxtu_log_close() - close and free a log
 * @log: the log; used by the caller only
 *
 * Changes errno.
 */
void pxtu_log_close(struct pxtu_log *log);

/**
 * pxtu_log_rewind() - to the oldest event
 * @log: the log
 *
 * Return: 0 or negative errno.
 */
int pxtu_log_rewind(struct pxtu_log *log);

#endif /* PXTU_LOG_H */
