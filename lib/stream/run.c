// SPDX-License-Identifier: MIT
/*
 * Takes many records at once, for posixtrace_getevents(): those that follow one another in the
 * sub-buffer of the oldest record, and are older than the oldest record of each other CPU. One
 * compare-and-swap takes them all, and shows that all copies are what was recorded.
 *
 * A run ends at each case that is not common, and pxtu_reader_next() continues with that.
 */
#include <string.h>

#include "stream/reader.h"

#define NSEC_PER_SEC	1000000000ULL

#define COPY_MAX	64	/* bytes */

/**
 * struct run - records that will be taken at once
 * @cand: the first one
 * @subbuf: their sub-buffer, mapped
 * @used: bytes of records that were visible there
 * @limit: later records end the run: another CPU may have an older one; they are held back; they
 *	are younger than the sub-buffer; or the kernel could not tell their time from that of the
 *	first one, see struct posixtrace_consumed
 * @events: where their events go
 * @place: where their data goes
 * @second: begin of the second that the last one is in, in nanoseconds since the Epoch
 * @tv_sec: the same, in seconds
 * @end: the last one, and where the next one begins
 */
struct run {
	const struct pxtu_candidate *cand;
	const unsigned char *subbuf;
	__u32 used;
	__u64 limit;
	struct posixtrace_batch_event *events;
	struct pxtu_place place;
	__u64 second;
	time_t tv_sec;
	struct pxtu_run_end end;
};

static __u64 earlier(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* Prepare the run that begins with the oldest record. False if that has to be taken alone. */
static bool begin(const struct pxtu_reader *reader, struct run *run)
{
	const struct pxtu_heap_item bound = pxtu_heap_second(&reader->heap);
	const struct pxtu_candidate *cand = run->cand;
	const __u64 time = cand->record.timestamp;

	if (cand->corrupt || cand->orphan || cand->cpu >= reader->nr_cpus ||
	    time <= reader->overwrite_watermark || time > reader->settled)
		return false;
	run->subbuf = reader->map.pool + (__u64)cand->subbuf * reader->subbuf_size;
	run->used = reader->cpu[cand->cpu].view.used;
	/* The first record is older than the bound, so this is not below its time. */
	run->limit = bound.cpu > cand->cpu ? bound.time : bound.time - 1;
	run->limit = earlier(run->limit, reader->cpu[cand->cpu].view.ceiling);
	run->limit = earlier(run->limit, reader->settled);
	if (time <= ~0ULL - POSIXTRACE_WRITER_SPAN)
		run->limit = earlier(run->limit, time + POSIXTRACE_WRITER_SPAN - 1);
	run->end.pos = POSIXTRACE_CONSUMED_POS(cand->consumed);
	run->end.writer = cand->record.writer;
	return true;
}

/*
 * Copy data in words, as it lies in the sub-buffer: padded. For larger data the C library is
 * faster.
 */
static inline void copy_padded(void *to, const unsigned char *from, size_t size)
{
	const __u64 *word = (const __u64 *)(const void *)from;
	__u64 *place = to;

	/* An aligned place, and records, have room for the padding. */
	if (size > COPY_MAX) {
		memcpy(to, from, size);
		return;
	}
	for (; size; size -= sizeof(*word))
		*place++ = pxtu_load(word++);
}

/* Each by itself: gcc makes memset() a string instruction here, which is slow for few bytes. */
static inline void clear_reserved(struct posixtrace_batch_event *event)
{
	event->event.__reserved1 = 0;
	event->event.__reserved2[0] = 0;
	event->event.__reserved2[1] = 0;
	event->event.__reserved2[2] = 0;
	_Static_assert(PXTU_ARRAY_SIZE(event->event.__reserved2) == 3, "all are cleared");
	event->__reserved[0] = 0;
	event->__reserved[1] = 0;
	event->__reserved[2] = 0;
	event->__reserved[3] = 0;
	_Static_assert(PXTU_ARRAY_SIZE(event->__reserved) == 4, "all are cleared");
}

/**
 * struct item - a record of a run
 * @head: its first word, checked
 * @timestamp: nanoseconds since the Epoch
 * @size: bytes from its start to the next record
 * @prog_address: instruction after the call
 * @data: its data
 */
struct item {
	struct pxtu_record_head head;
	__u64 timestamp;
	__u32 size;
	__u64 prog_address;
	const unsigned char *data;
};

/*
 * Make the event of a record of the thread @writer, and copy its data. False if that does not fit.
 * Inlined, so that the record stays in registers.
 */
static inline __attribute__((__always_inline__)) bool
copy_event(const struct pxtu_reader *reader, struct run *run, const struct item *item,
	   const struct pxtu_writer *writer)
{
	struct posixtrace_batch_event *event = &run->events[run->end.count];
	struct posix_trace_event_info *info = &event->event;
	size_t size = POSIXTRACE_RECORD_ALIGNED((size_t)item->head.data_len);

	/* The next data begins aligned, so that there is room for the padding, too. */
	if (size > run->place.room)
		return false;
	if (item->timestamp - run->second >= NSEC_PER_SEC) {
		run->tv_sec = (time_t)(item->timestamp / NSEC_PER_SEC);
		run->second = (__u64)run->tv_sec * NSEC_PER_SEC;
	}
	info->posix_event_id = POSIXTRACE_RECORD_ID(item->head.type);
	info->posix_pid = writer->pid;
	info->posix_prog_address = (void *)(uintptr_t)item->prog_address;
	info->posix_thread_id = (pthread_t)writer->thread_id;
	info->posix_timestamp.tv_sec = run->tv_sec;
	info->posix_timestamp.tv_nsec = (long)(item->timestamp - run->second);
	info->posix_truncation_status =
		POSIXTRACE_RECORD_FLAGS(item->head.type) & POSIXTRACE_RECORD_TRUNCATED ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->data = run->place.at;
	event->data_len = item->head.data_len;
	event->lost = reader->lost;
	event->cpu = run->cand->cpu;
	event->flags = item->timestamp < reader->youngest ? POSIXTRACE_EVENT_LATE : 0;
	clear_reserved(event);
	copy_padded(run->place.at, item->data, size);
	run->place.at = (unsigned char *)run->place.at + size;
	run->place.room -= size;
	run->end.timestamp = item->timestamp;
	run->end.pos += item->size;
	run->end.count++;
	return true;
}

/* The oldest record was parsed already. */
static bool copy_first(const struct pxtu_reader *reader, struct run *run)
{
	const struct pxtu_record *record = &run->cand->record;
	const struct item item = {
		.head.data_len = (__u16)record->data_len,
		.head.type = POSIXTRACE_RECORD_TYPE(record->event_id, record->flags),
		.timestamp = record->timestamp,
		.size = record->size,
		.prog_address = record->prog_address,
		.data = run->cand->data,
	};

	return copy_event(reader, run, &item, &run->end.writer);
}

/* Is this the type of a user event? Any flag but TRUNCATED makes it too large. */
static bool type_valid(__u16 type)
{
	__u32 id = type & ~(__u32)POSIXTRACE_RECORD_TYPE(0, POSIXTRACE_RECORD_TRUNCATED);

	return id - POSIXTRACE_ID_UNNAMED < POSIXTRACE_ID_MAX - POSIXTRACE_ID_UNNAMED;
}

/*
 * The record behind the last one. The copy of its header is checked as in find_record(): what
 * would be damage there ends the run here.
 */
static inline bool copy_following(const struct pxtu_reader *reader, struct run *run)
{
	const __u64 *word = (const __u64 *)(const void *)(run->subbuf + run->end.pos);
	const struct pxtu_writer *writer = &run->end.writer;
	__u32 room = run->used - run->end.pos;
	struct pxtu_writer named;
	struct item item;

	if (room < sizeof(struct posixtrace_record))
		return false;
	item.head = pxtu_record_head(word);
	item.size = 0;
	if (pxtu_unlikely(item.head.type == POSIXTRACE_ID_WRITER)) {
		if (room < PXTU_HEADER_MAX || item.head.data_len || item.head.time)
			return false;
		named = pxtu_record_writer(word);
		writer = &named;
		item.size = sizeof(struct posixtrace_writer);
		word += sizeof(struct posixtrace_writer) / sizeof(*word);
		item.head = pxtu_record_head(word);
	}
	item.timestamp = posixtrace_record_time(writer->time, item.head.time);
	item.size += (__u32)POSIXTRACE_RECORD_STEP((__u32)item.head.data_len);
	if (!type_valid(item.head.type) || item.head.data_len > reader->max_data ||
	    item.size > room || item.timestamp < run->end.timestamp ||
	    item.timestamp > run->limit)
		return false;
	item.prog_address = pxtu_load(&word[1]);
	item.data = (const unsigned char *)&word[2];
	if (!copy_event(reader, run, &item, writer))
		return false;
	if (pxtu_unlikely(writer == &named))
		run->end.writer = named;
	return true;
}

/*
 * Events were lost while the records were copied or taken: those behind the first lost event
 * count as lost, too. Returns how many are left.
 */
static size_t lose_rest(struct pxtu_reader *reader, const struct run *run)
{
	__u64 timestamp;
	size_t kept;

	for (kept = 0; kept < run->end.count; kept++) {
		timestamp = pxtu_batch_time(&run->events[kept]);
		if (!pxtu_gap_note_before(reader, timestamp) || reader->gap_open)
			break;
	}
	if (kept == run->end.count)
		return kept;
	/* All of them are user events, and the first of them is the oldest. */
	reader->skipped += run->end.count - kept;
	reader->skipped_user += run->end.count - kept;
	if (reader->gap_open && timestamp < reader->gap_first)
		reader->gap_first = timestamp;
	return kept;
}

size_t pxtu_reader_run(struct pxtu_reader *reader, struct posixtrace_batch_event *events,
		       size_t max_events, struct pxtu_place *place)
{
	struct run run = { .events = events, .place = *place };
	size_t kept;

	if (reader->queue.next < reader->queue.count)
		return 0;
	if (!pxtu_gap_is_noted(reader))
		pxtu_gap_note(reader);
	/* The next record may end the gap. */
	if (reader->gap_open)
		return 0;
	run.cand = pxtu_merge_first(reader);
	if (!run.cand)
		return 0;
	if (!begin(reader, &run) || !copy_first(reader, &run))
		return 0;
	while (run.end.count < max_events && copy_following(reader, &run))
		;
	pxtu_reader_hold(reader, true);
	if (!pxtu_merge_take_run(reader, &run.end))
		return 0;
	kept = run.end.count;
	if (!pxtu_gap_is_noted(reader)) {
		kept = lose_rest(reader, &run);
		if (kept < run.end.count)
			run.place.at = events[kept].data;
	}
	place->room -= (size_t)((unsigned char *)run.place.at - (unsigned char *)place->at);
	place->at = run.place.at;
	if (kept && pxtu_batch_time(&events[kept - 1]) > reader->youngest)
		reader->youngest = pxtu_batch_time(&events[kept - 1]);
	reader->read += kept;
	return kept;
}
