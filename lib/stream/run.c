// SPDX-License-Identifier: MIT
/*
 * Takes many records at once, for posixtrace_getevents(): as many as are visible, those of all CPUs
 * in their order. First they are copied. Then one compare-and-swap for each CPU takes its records,
 * and shows that all copies are what was recorded.
 *
 * That ends at each case that is not common, and pxtu_reader_next() continues with it.
 */
#include <string.h>

#include "stream/reader.h"

#define NSEC_PER_SEC	1000000000ULL

#define COPY_MAX	64	/* bytes */

/**
 * struct run - the records of a CPU that are being copied
 *
 * Its address goes to no other function, so that all that changes stays in registers.
 */
struct run {
	/** @max_data: largest data of an event, in bytes */
	__u32 max_data;
	/**
	 * @until: later records end it: they are held back, or the kernel could not tell their time
	 * from that of the first one, see struct posixtrace_consumed
	 */
	__u64 until;
	/** @youngest: older events are late */
	__u64 youngest;
	/** @lost: known number of lost events before them */
	__u64 lost;
	/** @event: where the next event goes */
	struct posixtrace_batch_event *event;
	/** @place: where its data goes */
	struct pxtu_place place;
	/** @second: begin of the second that the last one is in, in nanoseconds since the Epoch */
	__u64 second;
	/** @tv_sec: the same, in seconds */
	time_t tv_sec;

	/** @cpu: the CPU */
	__u32 cpu;
	/** @subbuf: its sub-buffer, mapped */
	const unsigned char *subbuf;
	/** @used: bytes of records that were visible there */
	__u32 used;
	/** @limit: before later records, those of another CPU come, or something ends it */
	__u64 limit;
	/** @begin: the first event of this CPU since it is its turn */
	const struct posixtrace_batch_event *begin;
	/** @pos: where the next record begins in the sub-buffer, in bytes */
	__u32 pos;
	/** @timestamp: of the last record, in nanoseconds since the Epoch */
	__u64 timestamp;
	/** @writer: of that record, or of the one behind; not copied, because it seldom changes */
	struct pxtu_writer *writer;
};

static __u64 earlier(__u64 a, __u64 b)
{
	return a < b ? a : b;
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
 * Make the event of a record, and copy its data. False if that does not fit.
 * Inlined, so that the record stays in registers.
 */
static inline __attribute__((__always_inline__)) bool
copy_event(struct run *run, const struct pxtu_item *item)
{
	struct posixtrace_batch_event *event = run->event;
	struct posix_trace_event_info *info = &event->event;
	size_t size = POSIXTRACE_RECORD_ALIGNED((size_t)item->data_len);

	/* The next data begins aligned, so that there is room for the padding, too. */
	if (size > run->place.room)
		return false;
	if (pxtu_unlikely(item->timestamp - run->second >= NSEC_PER_SEC)) {
		run->tv_sec = (time_t)(item->timestamp / NSEC_PER_SEC);
		run->second = (__u64)run->tv_sec * NSEC_PER_SEC;
	}
	info->posix_event_id = POSIXTRACE_RECORD_ID(item->type);
	info->posix_pid = run->writer->pid;
	info->posix_prog_address = (void *)(uintptr_t)item->prog_address;
	info->posix_thread_id = (pthread_t)run->writer->thread_id;
	info->posix_timestamp.tv_sec = run->tv_sec;
	info->posix_timestamp.tv_nsec = (long)(item->timestamp - run->second);
	info->posix_truncation_status =
		POSIXTRACE_RECORD_FLAGS(item->type) & POSIXTRACE_RECORD_TRUNCATED ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->data = run->place.at;
	event->data_len = item->data_len;
	event->lost = run->lost;
	event->cpu = run->cpu;
	event->flags = item->timestamp < run->youngest ? POSIXTRACE_EVENT_LATE : 0;
	clear_reserved(event);
	copy_padded(run->place.at, item->data, size);
	run->place.at = (unsigned char *)run->place.at + size;
	run->place.room -= size;
	run->timestamp = item->timestamp;
	run->pos += item->size;
	run->event++;
	return true;
}

/* Is this the type of a user event? Any flag but TRUNCATED makes it too large. */
static bool type_valid(__u32 type)
{
	__u32 id = type & ~(__u32)POSIXTRACE_RECORD_TYPE(0, POSIXTRACE_RECORD_TRUNCATED);

	return id - POSIXTRACE_ID_UNNAMED < POSIXTRACE_ID_MAX - POSIXTRACE_ID_UNNAMED;
}

/*
 * Look at the record behind the last one. The copy of its header is checked as in find_record():
 * false for what would be damage there, and if there is none.
 */
static inline __attribute__((__always_inline__)) bool look(struct run *run, struct pxtu_item *item)
{
	const __u64 *word = (const __u64 *)(const void *)(run->subbuf + run->pos);
	__u32 room = run->used - run->pos;
	struct pxtu_record_head head;

	if (room < sizeof(struct posixtrace_record))
		return false;
	head = pxtu_record_head(word);
	item->size = 0;
	if (pxtu_unlikely(head.type == POSIXTRACE_ID_WRITER)) {
		if (room < PXTU_HEADER_MAX || head.data_len || head.time)
			return false;
		/* If it is not taken now, the next run begins with it, and finds the name again. */
		*run->writer = pxtu_record_writer(word);
		item->size = sizeof(struct posixtrace_writer);
		word += sizeof(struct posixtrace_writer) / sizeof(*word);
		head = pxtu_record_head(word);
	}
	item->data_len = head.data_len;
	item->type = head.type;
	item->timestamp = posixtrace_record_time(run->writer->time, head.time);
	item->size += (__u32)POSIXTRACE_RECORD_STEP((__u32)head.data_len);
	item->prog_address = pxtu_load(&word[1]);
	item->data = (const unsigned char *)&word[2];
	return type_valid(item->type) && item->data_len <= run->max_data &&
	       item->size <= room && item->timestamp >= run->timestamp;
}

/* The oldest record of a CPU was parsed and checked already. False if it has to be taken alone. */
static inline bool first_of(const struct pxtu_reader *reader, struct run *run,
			    struct pxtu_item *item)
{
	const struct pxtu_candidate *cand = &reader->cpu[run->cpu].cand;
	const struct pxtu_record *record = &cand->record;

	if (cand->corrupt || cand->orphan || run->cpu >= reader->nr_cpus ||
	    record->timestamp > run->until)
		return false;
	run->pos = POSIXTRACE_CONSUMED_POS(cand->consumed);
	run->timestamp = record->timestamp;
	*run->writer = record->writer;
	item->data_len = record->data_len;
	item->type = POSIXTRACE_RECORD_TYPE(record->event_id, record->flags);
	item->timestamp = record->timestamp;
	item->size = record->size;
	item->prog_address = record->prog_address;
	item->data = cand->data;
	return true;
}

/*
 * It is the turn of the first CPU of the heap: continue with the record that was seen there. False
 * if that has to be taken alone.
 */
static inline __attribute__((__always_inline__)) bool
enter(struct pxtu_reader *reader, struct run *run, struct pxtu_item *item)
{
	const struct pxtu_heap_item second = pxtu_heap_second(&reader->heap);
	const __u32 cpu = reader->heap.item[0].cpu;
	struct pxtu_reader_cpu *state = &reader->cpu[cpu];

	run->cpu = cpu;
	run->begin = run->event;
	run->subbuf = reader->map.pool + (__u64)state->cand.subbuf * reader->subbuf_size;
	run->used = state->view.used;
	run->writer = &state->run.writer;
	/* The record is older than that of the second, so this is not below its time. */
	run->limit = second.cpu > cpu ? second.time : second.time - 1;
	run->limit = earlier(run->limit, earlier(state->view.ceiling, run->until));
	if (!state->run.count)
		return first_of(reader, run, item);
	run->pos = state->run.pos;
	run->timestamp = state->run.timestamp;
	pxtu_item_copy(item, &state->seen);
	return true;
}

/* Note what was copied of this CPU. */
static inline void leave(struct pxtu_reader *reader, const struct run *run)
{
	struct pxtu_reader_cpu *state = &reader->cpu[run->cpu];

	if (run->event == run->begin)
		return;
	if (!state->run.count) {
		state->run_next = PXTU_NO_RUN;
		if (reader->runs == PXTU_NO_RUN)
			reader->runs = run->cpu;
		else
			reader->cpu[reader->runs_end].run_next = run->cpu;
		reader->runs_end = run->cpu;
	}
	state->run.count += (size_t)(run->event - run->begin);
	state->run.pos = run->pos;
	state->run.timestamp = run->timestamp;
}

/*
 * Copy what can be taken at once, from the first CPU of the heap on. Returns the number of events.
 * The heap has the time of the next record then, but for its first CPU.
 */
static size_t copy_runs(struct pxtu_reader *reader, struct posixtrace_batch_event *events,
			size_t max_events, struct pxtu_place *place)
{
	const struct posixtrace_batch_event *stop = events + max_events;
	const __u64 time = reader->heap.item[0].time;
	struct run run = {
		.max_data = reader->max_data,
		.until = reader->settled,
		.youngest = reader->youngest,
		.lost = reader->lost,
		.event = events,
		.place = *place,
	};
	struct pxtu_item item = { .size = 0 };
	bool more;

	if (time <= ~0ULL - POSIXTRACE_WRITER_SPAN)
		run.until = earlier(run.until, time + POSIXTRACE_WRITER_SPAN - 1);
	while (enter(reader, &run, &item)) {
		do {
			more = copy_event(&run, &item) && run.event < stop && look(&run, &item);
		} while (more && item.timestamp <= run.limit);
		leave(reader, &run);
		if (!more || item.timestamp > run.until ||
		    item.timestamp > reader->cpu[run.cpu].view.ceiling)
			break;
		pxtu_item_copy(&reader->cpu[run.cpu].seen, &item);
		pxtu_heap_fix(&reader->heap, item.timestamp);
	}
	*place = run.place;
	return (size_t)(run.event - events);
}

/* Was this one taken? The program may have changed the event already: check the index. */
static bool was_taken(const struct pxtu_reader *reader, const struct posixtrace_batch_event *event)
{
	__u32 cpu = event->cpu;

	return cpu < reader->nr_cpus && reader->cpu[cpu].run.count;
}

/* These records were taken, but count as lost, and so do all that are not younger. */
static void lose(struct pxtu_reader *reader, const struct posixtrace_batch_event *events,
		 size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!was_taken(reader, &events[i]))
			continue;
		/* All of them are user events. */
		reader->skipped++;
		reader->skipped_user++;
		reader->lost_until = pxtu_batch_time(&events[i]);
	}
}

/*
 * The kernel reclaimed the records of a CPU before they were taken. Returns how many events are
 * before the first one of these.
 */
static size_t keep_taken(struct pxtu_reader *reader, const struct posixtrace_batch_event *events,
			 size_t count)
{
	size_t kept = 0;

	while (kept < count && was_taken(reader, &events[kept]))
		kept++;
	lose(reader, events + kept, count - kept);
	return kept;
}

/*
 * Events were lost while the @count records were copied or taken: those behind the first lost
 * event count as lost, too. Returns how many are left.
 */
static size_t lose_rest(struct pxtu_reader *reader, const struct posixtrace_batch_event *events,
			size_t count)
{
	__u64 timestamp;
	size_t kept;

	for (kept = 0; kept < count; kept++) {
		timestamp = pxtu_batch_time(&events[kept]);
		if (!pxtu_gap_note_before(reader, timestamp) || reader->gap_open)
			break;
	}
	if (kept == count)
		return kept;
	/* The first of them is the oldest. */
	lose(reader, events + kept, count - kept);
	if (reader->gap_open && timestamp < reader->gap_first)
		reader->gap_first = timestamp;
	return kept;
}

size_t pxtu_reader_run(struct pxtu_reader *reader, struct posixtrace_batch_event *events,
		       size_t max_events, struct pxtu_place *place)
{
	const struct pxtu_candidate *first;
	struct pxtu_place rest = *place;
	size_t count, kept;

	if (reader->queue.next < reader->queue.count)
		return 0;
	if (!pxtu_gap_is_noted(reader))
		pxtu_gap_note(reader);
	/* The next record may end the gap. */
	if (reader->gap_open)
		return 0;
	first = pxtu_merge_first(reader);
	if (!first || pxtu_gap_has(reader, first->record.timestamp))
		return 0;
	count = copy_runs(reader, events, max_events, &rest);
	if (!count)
		return 0;
	pxtu_reader_hold(reader, true);
	kept = count;
	if (!pxtu_merge_take_runs(reader))
		kept = keep_taken(reader, events, count);
	if (!pxtu_gap_is_noted(reader))
		kept = lose_rest(reader, events, kept);
	pxtu_merge_end_runs(reader);
	if (kept < count)
		rest.at = events[kept].data;
	place->room -= (size_t)((unsigned char *)rest.at - (unsigned char *)place->at);
	place->at = rest.at;
	if (kept && pxtu_batch_time(&events[kept - 1]) > reader->youngest)
		reader->youngest = pxtu_batch_time(&events[kept - 1]);
	reader->read += kept;
	return kept;
}
