// SPDX-License-Identifier: MIT
/*
 * The order of the events of a log: merges the CPUs by time, with a heap, and inserts OVERFLOW
 * and RESUME where events were lost, and ERROR where the log is damaged.
 *
 * A block contains what traced processes wrote to their memory; the writer of the log only added
 * a checksum. Each record is therefore checked like a record of a stream.
 */
#include <stdlib.h>
#include <string.h>

#include "log/crc32c.h"
#include "log/log.h"
#include "log/logblock.h"
#include "log/loghead.h"
#include "log/logindex.h"
#include "log/logmerge.h"
#include "log/logmetadata.h"
#include "log/logpiece.h"
#include "log/logsurvey.h"
#include "log/logwalk.h"

/* How much of a block is in memory: at most 32 MiB for all CPUs together. */
#define CHUNK_MAX	(16U << 10)
#define CHUNK_MANY	(4U << 10)
#define MANY_CPUS	2048U

/* Get the size of a chunk. A block that is not larger than a chunk is read only once. */
static __u32 chunk_size(const struct pxtu_log *log)
{
	return log->head.nr_cpus < MANY_CPUS ? CHUNK_MAX : CHUNK_MANY;
}

/* Replace the rest of a block with one event that reports the damage. */
static void make_corrupt(struct pxtu_log *log, struct pxtu_log_cpu *cpu, __u64 time, __u32 size)
{
	log->survey.damaged = true;
	pxtu_record_error(&cpu->record, time);
	cpu->corrupt = true;
	cpu->ready = true;
	cpu->open = true;
	cpu->pos = size;
	cpu->floor = time;
}

/* Check the payload, and leave its start in the chunk, unless it is compressed. */
static bool payload_good(struct pxtu_log *log, const struct pxtu_log_entry *entry,
			 struct pxtu_log_cpu *cpu)
{
	__u32 size = entry->packed ? 0 : cpu->chunk_room, done = 0, part, crc = 0;
	unsigned char *to;

	cpu->chunk_pos = 0;
	cpu->chunk_len = entry->size < size ? entry->size : size;
	while (done < entry->size) {
		to = done < cpu->chunk_len ? cpu->chunk : log->scratch;
		part = done < cpu->chunk_len ? cpu->chunk_len : PXTU_LOG_SCRATCH;
		if (part > entry->size - done)
			part = entry->size - done;
		if (pxtu_log_read(log, to, part, entry->offset + done) != (ssize_t)part)
			return false;
		crc = pxtu_crc32c(crc, to, part);
		done += part;
	}
	return crc == entry->payload_crc;
}

/* Read the header of a block again. @same: it is as in the index. False if unreadable. */
static bool read_again(struct pxtu_log *log, const struct pxtu_log_entry *entry, bool *same)
{
	struct posixtrace_log_block head;

	if (pxtu_log_read(log, &head, sizeof(head), entry->offset - log->head.block_size) !=
	    sizeof(head))
		return false;
	*same = head.cookie == log->head.cookie && head.crc == entry->crc;
	return true;
}

/*
 * Do the payload bytes that were just read belong to this block? They do if the header is still the
 * same: the writer of a LOOP log, or of a log that was cleared, writes in ascending order, so it
 * changes the header before the payload.
 */
static bool intact(struct pxtu_log *log, const struct pxtu_log_entry *entry)
{
	bool same;

	return read_again(log, entry, &same) && same;
}

/* Has the writer of a LOOP log overwritten this block since it was indexed? */
static bool overwritten(struct pxtu_log *log, const struct pxtu_log_entry *entry)
{
	bool same;

	return log->head.ring_end && read_again(log, entry, &same) && !same;
}

/* Give up the rest of the first block of a CPU, from @time on: it cannot be read. */
static void give_up(struct pxtu_log *log, struct pxtu_log_cpu *cpu, __u64 time)
{
	const struct pxtu_log_entry *entry = &log->index.entries[cpu->first];

	if (!overwritten(log, entry)) {
		make_corrupt(log, cpu, time, entry->records);
		return;
	}
	log->survey.overwritten = true;
	pxtu_index_pop(log, cpu);
}

/*
 * Is this the newest block of a LOOP log, and can its writer be in the middle of it? Once the
 * writer has started the next block, or has written the final status, this block is complete.
 */
static bool may_be_partial(struct pxtu_log *log, const struct pxtu_log_entry *entry)
{
	struct pxtu_log_walk walk = log->index.walk;
	struct pxtu_log_block next;

	if (!log->head.ring_end || log->index.have_ahead || walk.seq <= walk.newest ||
	    walk.offset != entry->offset + entry->size)
		return false;
	return !pxtu_log_final_now(log) &&
	       pxtu_log_walk(log, &walk, &next) == PXTU_LOG_NOTHING;
}

/*
 * Allocate the chunk of a CPU, and struct pxtu_kernel_cpu for kernel events. For a compressed
 * block, the chunk is allocated when its first piece is unpacked.
 */
static int alloc_chunk(struct pxtu_log *log, struct pxtu_log_cpu *cpu, bool packed)
{
	const __u32 number = (__u32)(cpu - log->index.cpu), size = chunk_size(log);

	if (!cpu->kernel && number > log->head.nr_cpus) {
		cpu->kernel = malloc(sizeof(*cpu->kernel));
		if (!cpu->kernel)
			return -ENOMEM;
	}
	if (packed || cpu->chunk)
		return 0;
	cpu->chunk = malloc(size);
	if (!cpu->chunk)
		return -ENOMEM;
	cpu->chunk_room = size;
	log->index.held += size;
	return 0;
}

/*
 * Unpack the next piece of a compressed block. Unless it is @loaded, check that the writer has not
 * overwritten the block.
 */
static int next_piece(struct pxtu_log *log, struct pxtu_log_cpu *cpu, bool loaded)
{
	const struct pxtu_log_entry *entry = &log->index.entries[cpu->first];
	bool good;
	int err = pxtu_piece_next(log, cpu, loaded, &good);

	if (!err && !(good && (loaded || intact(log, entry))))
		give_up(log, cpu, cpu->floor);
	return err;
}

/* Start to read the first block of a CPU. */
static int open_block(struct pxtu_log *log, struct pxtu_log_cpu *cpu)
{
	const struct pxtu_log_entry *entry = &log->index.entries[cpu->first];
	bool good;

	if (!entry->offset) {
		make_corrupt(log, cpu, entry->opened, 0);
		return 0;
	}
	if (alloc_chunk(log, cpu, entry->packed))
		return -ENOMEM;
	good = payload_good(log, entry, cpu);
	if (!good && may_be_partial(log, entry)) {
		pxtu_index_put_back(log, cpu);
		return 0;
	}
	/* Try again: the writer of a LOOP log may have completed the block since. */
	if (!good && log->head.ring_end)
		good = payload_good(log, entry, cpu);
	if (!good) {
		give_up(log, cpu, entry->opened);
		return 0;
	}
	cpu->open = true;
	cpu->pos = 0;
	cpu->piece = 0;
	cpu->floor = entry->opened;
	cpu->writer.known = false;
	if (cpu->kernel)
		pxtu_kernel_begin(cpu->kernel);
	/* A block that fits is in the scratch buffer, where payload_good() has left it. */
	return entry->packed && entry->size && entry->size <= PXTU_LOG_SCRATCH ?
	       next_piece(log, cpu, true) : 0;
}

/* Load the names of system calls that the survey has found. */
static int load_call_names(struct pxtu_log *log)
{
	struct pxtu_text text = { .room = POSIXTRACE_DESCRIPTION_SIZE };
	char exit[POSIXTRACE_DESCRIPTION_SIZE];
	struct pxtu_text description = { .to = exit, .room = sizeof(exit) };
	__u32 id;

	if (!pxtu_log_description(log, POSIXTRACE_ID_SYSCALL_EXIT, &description))
		pxtu_call_names_describe(&log->call_names, exit);
	for (id = POSIXTRACE_ID_CALL_NAMES; id < POSIXTRACE_ID_UNNAMED; id++) {
		text.to = malloc(text.room);
		if (!text.to)
			return -ENOMEM;
		if (pxtu_log_description(log, id, &text)) {
			free(text.to);
			continue;
		}
		pxtu_call_names_add(&log->call_names, id, text.to);
		log->call_names.loaded = true;
	}
	return 0;
}

/*
 * The writer appends the names before the first event. If they are missing, look again after each
 * block, but not more often, because a forged log may never have them.
 */
static int need_call_names(struct pxtu_log *log)
{
	int err;

	if (log->call_names.loaded || !(log->head.attr.classes & POSIXTRACE_CLASS_SYSCALL) ||
	    log->names_read == log->index.read)
		return 0;
	log->names_read = log->index.read;
	err = load_call_names(log);
	if (err || log->call_names.loaded || pxtu_log_final(&log->survey))
		return err;
	err = pxtu_log_survey(log);
	return err ? err : load_call_names(log);
}

/* Make sure that the chunk has at least @need bytes of the records from the position on. */
static bool read_chunk(struct pxtu_log *log, struct pxtu_log_cpu *cpu,
		       const struct pxtu_log_entry *entry, __u32 need)
{
	__u32 room = entry->records - cpu->pos, want = cpu->chunk_room;

	if (cpu->pos + need <= cpu->chunk_pos + cpu->chunk_len)
		return true;
	/* The chunk is a whole piece, and a record does not cross pieces. */
	if (entry->packed)
		return false;
	if (want > room)
		want = room;
	cpu->chunk_pos = cpu->pos;
	cpu->chunk_len = 0;
	/* No checksum is needed: the payload was good when the block was opened. */
	if (pxtu_log_read(log, cpu->chunk, want, entry->offset + cpu->pos) != (ssize_t)want ||
	    !intact(log, entry))
		return false;
	cpu->chunk_len = want;
	return true;
}

/* Read the record at the position, or its header. False if there is no valid record. */
static bool read_record(struct pxtu_log *log, struct pxtu_log_cpu *cpu,
			const struct pxtu_log_entry *entry)
{
	const size_t number = (size_t)(cpu - log->index.cpu);
	const unsigned char *from;
	__u32 room = entry->packed ? cpu->chunk_pos + cpu->chunk_len - cpu->pos :
				     entry->records - cpu->pos;
	__u32 need = cpu->kernel ? POSIXTRACE_KWORDS_MAX * sizeof(__u64) :
				   PXTU_HEADER_MAX + sizeof(struct posixtrace_stack);

	if (need > room)
		need = room;
	if (!read_chunk(log, cpu, entry, need))
		return false;
	from = cpu->chunk + (cpu->pos - cpu->chunk_pos);
	if (cpu->kernel)
		return pxtu_kernel_parse(&cpu->record, from, room, cpu->kernel, &log->call_names);
	return pxtu_record_parse(&cpu->record, from, room, &cpu->writer) &&
	       pxtu_record_valid(&cpu->record, number >= log->head.nr_cpus,
				 log->head.max_data, room);
}

/* Advance to the next record. */
static void leave_record(struct pxtu_log_cpu *cpu)
{
	cpu->pos += cpu->record.size;
	cpu->floor = cpu->record.timestamp;
	cpu->writer = cpu->record.writer;
}

/*
 * Take one step towards the next event of a CPU: make this event ready, or raise the lower bound of
 * its time.
 */
static int prepare(struct pxtu_log *log, __u32 number)
{
	struct pxtu_log_cpu *cpu = &log->index.cpu[number];
	const struct pxtu_log_entry *entry = &log->index.entries[cpu->first];
	int err;

	if (!cpu->open)
		return open_block(log, cpu);
	if (cpu->pos >= entry->records) {
		pxtu_index_pop(log, cpu);
		return 0;
	}
	if (entry->packed && cpu->pos == cpu->chunk_pos + cpu->chunk_len)
		return next_piece(log, cpu, false);
	err = cpu->kernel ? need_call_names(log) : 0;
	if (err)
		return err;
	if (!read_record(log, cpu, entry) || !cpu->record.writer.known ||
	    cpu->record.timestamp < cpu->floor ||
	    cpu->record.timestamp > entry->closed) {
		give_up(log, cpu, cpu->floor);
		return 0;
	}
	if (cpu->record.timestamp <= entry->overwrite_watermark) {
		/* Count the record as lost: it was not overwritten, but younger ones were. */
		log->index.skipped++;
		leave_record(cpu);
		return 0;
	}
	cpu->corrupt = false;
	cpu->ready = true;
	return 0;
}

static bool copy_data(struct pxtu_log *log, const struct pxtu_log_cpu *cpu)
{
	const struct pxtu_log_entry *entry = &log->index.entries[cpu->first];
	__u32 pos = cpu->pos + cpu->record.header, len = cpu->record.data_len;
	static const int error = EIO;

	if (cpu->corrupt)
		memcpy(log->data, &error, sizeof(error));
	else if (cpu->kernel)
		pxtu_kernel_data(&cpu->record, cpu->chunk + (pos - cpu->chunk_pos),
				 &log->call_names, log->data);
	else if (pos + len <= cpu->chunk_pos + cpu->chunk_len)
		memcpy(log->data, cpu->chunk + (pos - cpu->chunk_pos), len);
	else if (entry->packed)
		return false;
	else
		return pxtu_log_read(log, log->data, len, entry->offset + pos) == (ssize_t)len &&
		       intact(log, entry);
	return true;
}

/* Note the number of lost events. It may be forged, but never let it decrease. */
static void note_lost(struct pxtu_log_index *index, const struct pxtu_log_entry *entry)
{
	__u64 lost = entry->lost + index->skipped;

	if (lost > index->lost)
		index->lost = lost;
}

/* Report all losses before this record, in one pair of events that precedes it. */
static void queue_gaps(struct pxtu_log *log, const struct pxtu_log_cpu *cpu)
{
	struct pxtu_log_index *index = &log->index;
	struct pxtu_log_gap *gap = index->gap;
	__u64 overflow = gap->first;
	unsigned int n;

	for (n = 0; n < index->nr_gaps; n++, gap++) {
		if (index->entries[cpu->first].generation < gap->generation ||
		    !pxtu_record_after_gap(&cpu->record, log->head.loop, gap->first))
			break;
		if (gap->first < overflow)
			overflow = gap->first;
	}
	if (!n)
		return;
	index->nr_gaps -= n;
	memmove(index->gap, gap, index->nr_gaps * sizeof(*gap));
	pxtu_queue_system(&log->queue, POSIXTRACE_ID_OVERFLOW, overflow, index->lost, log->data);
	note_lost(index, &index->entries[cpu->first]);
	pxtu_queue_system(&log->queue, POSIXTRACE_ID_RESUME, cpu->record.timestamp, index->lost,
			  log->data);
}

/* Get the CPU that recorded the records of a list. */
static __u32 cpu_of(const struct pxtu_log *log, __u32 number)
{
	const __u32 nr_cpus = log->head.nr_cpus;

	if (number < nr_cpus)
		return number;
	return number == nr_cpus || number == pxtu_log_nr_lists(log) - 1 ?
	       POSIXTRACE_NO_CPU : number - nr_cpus - 1;
}

static int fill_queue(struct pxtu_log *log)
{
	struct pxtu_log_index *index = &log->index;
	struct pxtu_log_cpu *cpu;
	__u32 number;
	int err;

	log->queue.next = 0;
	log->queue.count = 0;
	for (;;) {
		err = pxtu_index_fill(log);
		if (err || !index->heap.count)
			return err;
		cpu = &index->cpu[index->heap.cpu[0]];
		if (cpu->ready && copy_data(log, cpu))
			break;
		if (cpu->ready)
			give_up(log, cpu, cpu->floor);
		else
			err = prepare(log, index->heap.cpu[0]);
		if (err)
			return err;
		pxtu_index_fix(index);
	}

	queue_gaps(log, cpu);
	number = index->heap.cpu[0];
	pxtu_queue_record(&log->queue, &cpu->record, log->data, cpu_of(log, number),
			  index->lost);
	/* A record that reports damage replaces the rest of the block, so it is not skipped. */
	if (!cpu->corrupt)
		leave_record(cpu);
	cpu->ready = false;
	pxtu_index_fix(index);
	return 0;
}

int pxtu_log_next(struct pxtu_log *log, const struct posixtrace_batch_event **event)
{
	int err = 0;

	*event = NULL;
	if (log->queue.next == log->queue.count)
		err = fill_queue(log);
	if (!err && log->queue.next < log->queue.count)
		*event = &log->queue.event[log->queue.next++];
	return err;
}

void pxtu_log_unread(struct pxtu_log *log)
{
	log->queue.next--;
}
