// SPDX-License-Identifier: MIT
/*
 * Takes many records at once, for posixtrace_getevents(): those that follow one another in the
 * sub-buffer of the oldest record, and are older than the oldest record of each other CPU. One
 * compare-and-swap takes them all, and shows that all copies are what was recorded.
 *
 * Only what is common is done here. At anything else a run ends, and pxtu_reader_next() goes on.
 */
#include <string.h>

#include "stream/reader.h"

#define NSEC_PER_SEC	1000000000ULL

#define COPY_MAX	64	/* bytes */

/**
 * struct run - records that will be taken at once
 * @cand: the first one
 * @bound: the oldest record of all other CPUs
 * @events: where their events go
 * @place: where their data goes
 * @second: begin of the second that the last one is in, in nanoseconds since the Epoch
 * @tv_sec: the same, in seconds
 * @end: the last one, and where the next one begins
 */
struct run {
	const struct pxtu_candidate *cand;
	struct pxtu_heap_item bound;
	struct posixtrace_batch_event *events;
	struct pxtu_place place;
	__u64 second;
	time_t tv_sec;
	struct pxtu_run_end end;
};

/* Is this record the oldest of all CPUs, not lost, and not held back? */
static bool is_next(const struct pxtu_reader *reader, const struct run *run, __u64 timestamp)
{
	const struct pxtu_heap_item item = { .time = timestamp, .cpu = run->cand->cpu };

	return timestamp > reader->overwrite_watermark && timestamp <= reader->settled &&
	       pxtu_heap_before(&item, &run->bound);
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

/*
 * Make the event of a record, and copy its data. False if that does not fit. Inlined, so that
 * the record stays in registers.
 */
static inline __attribute__((__always_inline__)) bool
copy_event(const struct pxtu_reader *reader, struct run *run, const struct pxtu_record *record,
	   const unsigned char *data)
{
	struct posixtrace_batch_event *event = &run->events[run->end.count];
	struct posix_trace_event_info *info = &event->event;
	size_t size = POSIXTRACE_RECORD_ALIGNED(record->data_len);

	/* The next data begins aligned, so that there is room for the padding, too. */
	if (size > run->place.room)
		return false;
	if (record->timestamp - run->second >= NSEC_PER_SEC) {
		run->tv_sec = (time_t)(record->timestamp / NSEC_PER_SEC);
		run->second = (__u64)run->tv_sec * NSEC_PER_SEC;
	}
	info->posix_event_id = record->event_id;
	info->posix_pid = record->writer.pid;
	info->posix_prog_address = (void *)(uintptr_t)record->prog_address;
	info->posix_thread_id = (pthread_t)record->writer.thread_id;
	info->posix_timestamp.tv_sec = run->tv_sec;
	info->posix_timestamp.tv_nsec = (long)(record->timestamp - run->second);
	info->posix_truncation_status = record->flags & POSIXTRACE_RECORD_TRUNCATED ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->data = run->place.at;
	event->data_len = record->data_len;
	event->lost = reader->lost;
	event->cpu = run->cand->cpu;
	event->flags = record->timestamp < reader->youngest ? POSIXTRACE_EVENT_LATE : 0;
	clear_reserved(event);
	copy_padded(run->place.at, data, size);
	run->place.at = (unsigned char *)run->place.at + size;
	run->place.room -= size;
	run->end.timestamp = record->timestamp;
	run->end.writer = record->writer;
	run->end.pos += record->size;
	run->end.count++;
	return true;
}

/* The oldest record was parsed already. */
static bool copy_first(const struct pxtu_reader *reader, struct run *run)
{
	const struct pxtu_candidate *cand = run->cand;

	return !cand->corrupt && !cand->orphan && cand->cpu < reader->nr_cpus &&
	       is_next(reader, run, cand->record.timestamp) &&
	       copy_event(reader, run, &cand->record, cand->data);
}

/*
 * The record behind the last one. The copy of its header is checked as in find_record(): what
 * would be damage there ends the run here. So does a time that the kernel could not tell from
 * that of the first record, see struct posixtrace_consumed.
 */
static bool copy_following(const struct pxtu_reader *reader, struct run *run)
{
	const struct pxtu_view *view = &reader->cpu[run->cand->cpu].view;
	const unsigned char *from = reader->map.pool + run->end.pos +
				    (__u64)view->subbuf * reader->subbuf_size;
	struct pxtu_record record;
	__u32 room;

	if (run->end.pos >= view->used)
		return false;
	room = view->used - run->end.pos;
	return pxtu_record_parse(&record, from, room, &run->end.writer) &&
	       pxtu_record_valid(&record, false, reader->max_data, room) &&
	       record.timestamp >= run->end.timestamp && record.timestamp <= view->ceiling &&
	       record.timestamp - run->cand->record.timestamp < POSIXTRACE_WRITER_SPAN &&
	       is_next(reader, run, record.timestamp) &&
	       copy_event(reader, run, &record, from + record.header);
}

static __u64 time_of(const struct posixtrace_batch_event *event)
{
	return (__u64)event->event.posix_timestamp.tv_sec * NSEC_PER_SEC +
	       (__u64)event->event.posix_timestamp.tv_nsec;
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
		timestamp = time_of(&run->events[kept]);
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
	run.bound = pxtu_heap_second(&reader->heap);
	run.end.pos = POSIXTRACE_CONSUMED_POS(run.cand->consumed);
	if (!copy_first(reader, &run))
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
	if (kept && time_of(&events[kept - 1]) > reader->youngest)
		reader->youngest = time_of(&events[kept - 1]);
	reader->read += kept;
	pxtu_reader_restart(reader);
	return kept;
}
