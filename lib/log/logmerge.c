// SPDX-License-Identifier: MIT
/*
 * The order of the events of a log: merges the CPUs by time, with the heap of logheap.c, and
 * inserts OVERFLOW and RESUME where events were lost, and ERROR where something is damaged.
 *
 * What is in a block is what traced processes left in their memory, and was only put
 * under a check sum by the writer. So each record is checked as those of a stream are.
 */
#include <stdlib.h>
#include <string.h>

#include "log/crc32c.h"
#include "log/log.h"

/* How much of a block is in memory; on all CPUs together, 32 MiB at most. */
#define CHUNK_MAX	(16U << 10)
#define CHUNK_MANY	(4U << 10)
#define MANY_CPUS	2048U

/* Smaller blocks fit as a whole, and are read once. */
static __u32 chunk_size(const struct pxtu_log *log)
{
	return log->head.nr_cpus < MANY_CPUS ? CHUNK_MAX : CHUNK_MANY;
}

/* Instead of what is left of a block, an event that says that it is lost. */
static void make_corrupt(struct pxtu_log *log, struct pxtu_log_cpu *cpu, __u64 time, __u32 size)
{
	log->facts.damaged = true;
	pxtu_record_error(&cpu->record, time);
	cpu->corrupt = true;
	cpu->ready = true;
	cpu->open = true;
	cpu->pos = size;
	cpu->floor = time;
}

/* Is the payload what was written? The beginning of it is in the chunk then. */
static bool payload_good(struct pxtu_log *log, const struct pxtu_log_entry *entry,
			 struct pxtu_log_cpu *cpu)
{
	__u32 size = chunk_size(log), done = 0, part, crc = 0;
	unsigned char *to;

	cpu->chunk_pos = 0;
	cpu->chunk_len = entry->size < size ? entry->size : size;
	while (done < entry->size) {
		to = done ? log->scratch : cpu->chunk;
		part = done ? PXTU_LOG_SCRATCH : cpu->chunk_len;
		if (part > entry->size - done)
			part = entry->size - done;
		if (pxtu_log_read(log, to, part, entry->offset + done) != (ssize_t)part)
			return false;
		crc = pxtu_crc32c(crc, to, part);
		done += part;
	}
	return crc == entry->payload_crc;
}

/* Begin with the first block of a CPU. */
static int open_block(struct pxtu_log *log, struct pxtu_log_cpu *cpu)
{
	const struct pxtu_log_entry *entry = &log->window.entries[cpu->first];

	if (!entry->offset) {
		make_corrupt(log, cpu, entry->opened, 0);
		return 0;
	}
	if (!cpu->chunk)
		cpu->chunk = malloc(chunk_size(log));
	if (!cpu->chunk)
		return -ENOMEM;
	if (!payload_good(log, entry, cpu)) {
		make_corrupt(log, cpu, entry->opened, entry->size);
		return 0;
	}
	cpu->open = true;
	cpu->pos = 0;
	cpu->floor = entry->opened;
	cpu->writer.known = false;
	return 0;
}

/* The header at the position, or false. */
static bool read_header(struct pxtu_log *log, struct pxtu_log_cpu *cpu,
			const struct pxtu_log_entry *entry)
{
	__u32 room = entry->size - cpu->pos, want = chunk_size(log);
	__u32 need = room < PXTU_HEADER_MAX ? room : (__u32)PXTU_HEADER_MAX;

	if (cpu->pos + need > cpu->chunk_pos + cpu->chunk_len) {
		if (want > room)
			want = room;
		cpu->chunk_pos = cpu->pos;
		cpu->chunk_len = 0;
		if (pxtu_log_read(log, cpu->chunk, want, entry->offset + cpu->pos) !=
		    (ssize_t)want)
			return false;
		cpu->chunk_len = want;
	}
	return pxtu_record_parse(&cpu->record, cpu->chunk + (cpu->pos - cpu->chunk_pos), room,
				 &cpu->writer);
}

/* On to the next one. */
static void leave_record(struct pxtu_log_cpu *cpu)
{
	cpu->pos += cpu->record.size;
	cpu->floor = cpu->record.timestamp;
	cpu->writer = cpu->record.writer;
}

/* One step towards a CPU's next event: afterwards it is ready, or its time is later. */
static int prepare(struct pxtu_log *log, __u32 number)
{
	struct pxtu_log_cpu *cpu = &log->window.cpu[number];
	const struct pxtu_log_entry *entry = &log->window.entries[cpu->first];

	if (!cpu->open)
		return open_block(log, cpu);
	if (cpu->pos >= entry->size) {
		pxtu_window_pop(log, cpu);
		return 0;
	}
	if (!read_header(log, cpu, entry) ||
	    !pxtu_record_valid(&cpu->record, number == log->head.nr_cpus, log->head.max_data,
			       entry->size - cpu->pos) ||
	    !cpu->record.writer.known || cpu->record.timestamp < cpu->floor ||
	    cpu->record.timestamp > entry->closed) {
		make_corrupt(log, cpu, cpu->floor, entry->size);
		return 0;
	}
	if (cpu->record.timestamp <= entry->overwrite_watermark) {
		/* It survived on a slower CPU, but its neighbours are lost. */
		log->window.skipped++;
		leave_record(cpu);
		return 0;
	}
	cpu->corrupt = false;
	cpu->ready = true;
	return 0;
}

static bool copy_data(struct pxtu_log *log, const struct pxtu_log_cpu *cpu)
{
	const struct pxtu_log_entry *entry = &log->window.entries[cpu->first];
	__u32 pos = cpu->pos + cpu->record.header, len = cpu->record.data_len;
	static const int error = EIO;

	if (cpu->corrupt)
		memcpy(log->data, &error, sizeof(error));
	else if (pos + len <= cpu->chunk_pos + cpu->chunk_len)
		memcpy(log->data, cpu->chunk + (pos - cpu->chunk_pos), len);
	else
		return pxtu_log_read(log, log->data, len, entry->offset + pos) == (ssize_t)len;
	return true;
}

/* It may be as forged as all in the file; but it does not fall. */
static void note_lost(struct pxtu_log_window *window, const struct pxtu_log_entry *entry)
{
	__u64 lost = entry->lost + window->skipped;

	if (lost > window->lost)
		window->lost = lost;
}

/* What was lost before this record is reported before it, and at once. */
static void queue_gaps(struct pxtu_log *log, const struct pxtu_log_cpu *cpu)
{
	struct pxtu_log_window *window = &log->window;
	struct pxtu_event event = {
		.id = POSIXTRACE_ID_OVERFLOW,
		.cpu = POSIXTRACE_NO_CPU,
		.lost = window->lost,
		.data = log->data,
	};
	struct pxtu_log_gap *gap = window->gap;
	unsigned int n;

	event.timestamp = gap->first;
	for (n = 0; n < window->nr_gaps; n++, gap++) {
		if (window->entries[cpu->first].generation < gap->generation ||
		    !pxtu_record_after_gap(&cpu->record, log->head.loop, gap->first))
			break;
		if (gap->first < event.timestamp)
			event.timestamp = gap->first;
	}
	if (!n)
		return;
	window->nr_gaps -= n;
	memmove(window->gap, gap, window->nr_gaps * sizeof(*gap));
	pxtu_queue_add(&log->queue, &event);
	note_lost(window, &window->entries[cpu->first]);
	event.id = POSIXTRACE_ID_RESUME;
	event.timestamp = cpu->record.timestamp;
	event.lost = window->lost;
	pxtu_queue_add(&log->queue, &event);
}

static int fill_queue(struct pxtu_log *log)
{
	struct pxtu_log_window *window = &log->window;
	struct pxtu_log_cpu *cpu;
	__u32 number;
	int err;

	log->queue.next = 0;
	log->queue.count = 0;
	for (;;) {
		err = pxtu_window_fill(log);
		if (err || !window->nr_heap)
			return err;
		cpu = &window->cpu[window->heap[0]];
		if (cpu->ready && copy_data(log, cpu))
			break;
		if (cpu->ready)
			make_corrupt(log, cpu, cpu->floor, window->entries[cpu->first].size);
		else
			err = prepare(log, window->heap[0]);
		if (err)
			return err;
		pxtu_heap_fix(window);
	}

	queue_gaps(log, cpu);
	number = window->heap[0];
	pxtu_queue_record(&log->queue, &cpu->record, log->data,
			  number < log->head.nr_cpus ? number : POSIXTRACE_NO_CPU, window->lost);
	/* One that is made up is all that is left of the block. */
	if (!cpu->corrupt)
		leave_record(cpu);
	cpu->ready = false;
	pxtu_heap_fix(window);
	return 0;
}

int pxtu_log_next(struct pxtu_log *log, const struct pxtu_event **event)
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
