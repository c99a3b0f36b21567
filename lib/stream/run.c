// SPDX-License-Identifier: MIT
/*
 * Takes many records together, for posixtrace_getevents(): all that are visible, of all CPUs in
 * order. First the records are copied, then one compare-and-swap for each CPU takes its records
 * and proves that all copies are valid.
 *
 * Stops at the first uncommon case, which pxtu_reader_next() handles.
 */
#include <string.h>

#include "stream/gap.h"
#include "stream/merge.h"
#include "stream/reader.h"
#include "stream/run.h"

#define COPY_MAX	64	/* bytes */

/**
 * struct run - the events that are being made
 *
 * Pass the address of this only to functions that are inlined, so that its members stay in
 * registers.
 */
struct run {
	/** @youngest: older events are late */
	__u64 youngest;
	/** @lost: events lost before these events, as far as that is known */
	__u64 lost;
	/** @event: where the next event goes */
	struct posixtrace_batch_event *event;
	/** @place: buffer for its data */
	struct pxtu_place place;
	/** @second: start of the second of the last event, in nanoseconds since the Epoch */
	__u64 second;
	/** @tv_sec: the same as @second, in seconds */
	time_t tv_sec;
};

/**
 * struct limits - which records are taken
 * @max_data: largest data of an event, in bytes
 * @max_list: maximum number of records that are parsed in a row
 * @until: stop at records after this time: the window holds them back, or the time is too far from
 *	the time of the first record for the kernel, see struct posixtrace_consumed
 */
struct limits {
	__u32 max_data;
	__u32 max_list;
	__u64 until;
};

static __u64 earlier(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/*
 * Copy whole words, including the padding after the data. For larger data the C library is faster.
 */
static inline void copy_padded(void *to, const unsigned char *from, size_t size)
{
	const __u64 *word = (const __u64 *)(const void *)from;
	__u64 *place = to;
	size_t i;

	/* @size includes the padding, for which the record and the place both have room. */
	if (size > COPY_MAX) {
		memcpy(to, from, size);
		return;
	}
	for (i = size / sizeof(*word); i--; )
		place[i] = pxtu_load(&word[i]);
}

/*
 * Copy the data of a packed record: half a word, then words. The last half word at @to is padding
 * that the record does not contain.
 */
static inline void copy_packed(void *to, const unsigned char *from, size_t size)
{
	const __u32 first = pxtu_load((const __u32 *)(const void *)from), padding = 0;
	const __u64 *word = (const __u64 *)(const void *)(from + sizeof(first));
	const size_t words = (size - 1) / sizeof(*word);
	unsigned char *rest = (unsigned char *)to + sizeof(first);
	__u64 value;
	size_t i;

	memcpy(to, &first, sizeof(first));
	memcpy((unsigned char *)to + size - sizeof(padding), &padding, sizeof(padding));
	if (size > COPY_MAX) {
		memcpy(rest, word, words * sizeof(*word));
		return;
	}
	for (i = 0; i < words; i++) {
		value = pxtu_load(&word[i]);
		memcpy(rest + i * sizeof(value), &value, sizeof(value));
	}
}

/* No memset(): gcc turns it into a string instruction, which is slow for few bytes. */
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
	_Static_assert(PXTU_ARRAY_SIZE(event->__reserved) == 3, "all are cleared");
}

/*
 * Make the event of a record, and copy its data. False if the data does not fit.
 * Inlined, so that the record stays in registers.
 */
static inline __attribute__((__always_inline__)) bool
copy_event(struct run *run, struct pxtu_item item, const struct pxtu_writer *writer, __u32 cpu)
{
	struct posixtrace_batch_event *event = run->event;
	struct posix_trace_event_info *info = &event->event;
	size_t size = POSIXTRACE_RECORD_ALIGNED((size_t)item.data_len);
	__u64 address;

	/* The data of the next event has to be aligned, so include the padding. */
	if (size > run->place.room)
		return false;
	if (pxtu_unlikely(item.timestamp - run->second >= PXTU_NSEC_PER_SEC)) {
		run->tv_sec = (time_t)(item.timestamp / PXTU_NSEC_PER_SEC);
		run->second = (__u64)run->tv_sec * PXTU_NSEC_PER_SEC;
	}
	info->posix_event_id = POSIXTRACE_RECORD_ID(item.type);
	info->posix_pid = writer->pid;
	info->posix_thread_id = (pthread_t)writer->thread_id;
	info->posix_timestamp.tv_sec = run->tv_sec;
	info->posix_timestamp.tv_nsec = (long)(item.timestamp - run->second);
	info->posix_truncation_status =
		POSIXTRACE_RECORD_FLAGS(item.type) & POSIXTRACE_RECORD_TRUNCATED ?
		POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	event->data = run->place.at;
	event->data_len = item.data_len;
	event->lost = run->lost;
	event->cpu = cpu;
	event->tid = writer->tid;
	event->flags = item.timestamp < run->youngest ? POSIXTRACE_EVENT_LATE : 0;
	clear_reserved(event);
	if (POSIXTRACE_RECORD_FLAGS(item.type) & POSIXTRACE_RECORD_PACKED) {
		copy_packed(run->place.at, item.data, size);
		address = pxtu_record_packed_address(writer->address_high,
						     item.data - sizeof(__u32));
	} else {
		copy_padded(run->place.at, item.data, size);
		address = pxtu_load((const __u64 *)(const void *)item.data - 1);
	}
	info->posix_prog_address = (void *)(uintptr_t)address;
	run->place.at = (unsigned char *)run->place.at + size;
	run->place.room -= size;
	run->event++;
	return true;
}

/* Is this the type of a user event? Any flag other than these two makes the number too large. */
static bool type_valid(__u32 type)
{
	__u32 id = type & ~(__u32)POSIXTRACE_RECORD_TYPE(0, POSIXTRACE_RECORD_TRUNCATED |
							    POSIXTRACE_RECORD_PACKED);

	return id - POSIXTRACE_ID_UNNAMED < POSIXTRACE_ID_MAX - POSIXTRACE_ID_UNNAMED;
}

/* Add the copied records of the list to the run of the CPU. */
static void end_list(const struct pxtu_reader *reader, struct pxtu_reader_cpu *state)
{
	const unsigned char *subbuf = reader->map.pool +
				      (__u64)state->cand.subbuf * reader->subbuf_size;
	struct pxtu_list *list = &state->list;
	const struct pxtu_item *last;

	if (list->next != list->item) {
		last = list->next - 1;
		state->run.count += (size_t)(list->next - list->item);
		state->run.timestamp = last->timestamp;
		state->run.pos = (__u32)POSIXTRACE_RECORD_ALIGNED((size_t)(last->data - subbuf) +
								  last->data_len);
	}
}

/*
 * Parse the records after those that were copied, up to the next record that names its writer. The
 * copies of the headers are checked as in find_record(). False if there is no record, or if the
 * next record has to be taken alone.
 */
static bool fill_list(const struct pxtu_reader *reader, const struct limits *limits,
		      struct pxtu_reader_cpu *state)
{
	const unsigned char *subbuf = reader->map.pool +
				      (__u64)state->cand.subbuf * reader->subbuf_size;
	const __u64 until = earlier(state->view.ceiling, limits->until);
	const __u64 *word, *end = (const __u64 *)(const void *)(subbuf + state->view.used);
	struct pxtu_list *list = &state->list;
	struct pxtu_item *item = list->item, *stop = item + limits->max_list;
	struct pxtu_record_head head;
	__u64 timestamp, from;
	size_t size;

	end_list(reader, state);
	list->next = list->item;
	list->end = list->item;
	word = (const __u64 *)(const void *)(subbuf + state->run.pos);
	if ((size_t)(end - word) >= PXTU_HEADER_MAX / sizeof(*word)) {
		head = pxtu_record_head(word);
		if (head.type == POSIXTRACE_ID_WRITER) {
			if (head.data_len)
				return false;
			/* Also right if the record is not taken now: the next run starts here. */
			state->run.writer = pxtu_record_writer(head, word);
			word += sizeof(struct posixtrace_writer) / sizeof(*word);
		}
	}
	from = state->run.timestamp;
	for (; item < stop; item++) {
		if ((size_t)(end - word) < sizeof(struct posixtrace_record) / sizeof(*word))
			break;
		head = pxtu_record_head(word);
		timestamp = posixtrace_record_time(state->run.writer.time, head.time);
		size = POSIXTRACE_RECORD_STEP((size_t)head.data_len) / sizeof(*word);
		item->data = (const unsigned char *)&word[2];
		if (pxtu_record_packed(head)) {
			if (!POSIXTRACE_RECORD_PACKS(head.data_len))
				break;
			size--;
			item->data -= sizeof(__u32);
		}
		if (!type_valid(head.type) || head.data_len > limits->max_data ||
		    size > (size_t)(end - word) || timestamp < from || timestamp > until)
			break;
		item->timestamp = timestamp;
		item->data_len = head.data_len;
		item->type = head.type;
		from = timestamp;
		word += size;
	}
	list->end = item;
	return list->end != list->item;
}

/*
 * Begin the list of a CPU with its oldest record, which has already been parsed and checked. False
 * if the record has to be taken alone.
 */
static bool begin_list(struct pxtu_reader *reader, const struct limits *limits, __u32 cpu)
{
	struct pxtu_reader_cpu *state = &reader->cpu[cpu];
	const struct pxtu_candidate *cand = &state->cand;
	const struct pxtu_record *record = &cand->record;

	if (cand->corrupt || cand->orphan || cpu >= reader->nr_cpus ||
	    record->timestamp > limits->until)
		return false;
	state->list.item[0] = (struct pxtu_item){
		.timestamp = record->timestamp,
		.data = cand->data,
		.data_len = record->data_len,
		.type = POSIXTRACE_RECORD_TYPE(record->event_id, record->flags),
	};
	state->list.next = state->list.item;
	state->list.end = state->list.item + 1;
	state->run.writer = record->writer;
	state->run_next = PXTU_NO_RUN;
	if (reader->runs == PXTU_NO_RUN)
		reader->runs = cpu;
	else
		reader->cpu[reader->runs_end].run_next = cpu;
	reader->runs_end = cpu;
	return true;
}

/*
 * Copy the records that can be taken together, starting with the first CPU of the heap. Returns the
 * number of events. Afterwards the heap has the time of the next record of each CPU, except for the
 * first CPU.
 */
static size_t copy_runs(struct pxtu_reader *reader, struct posixtrace_batch_event *events,
			size_t max_events, struct pxtu_place *place)
{
	const struct posixtrace_batch_event *stop = events + max_events;
	const __u64 time = reader->heap.time[0];
	struct limits limits = {
		.max_data = reader->max_data,
		.max_list = PXTU_LIST_MAX,
		.until = reader->settled,
	};
	struct run run = {
		.youngest = reader->youngest,
		.lost = reader->lost,
		.event = events,
		.place = *place,
	};
	struct pxtu_heap heap = reader->heap;
	struct pxtu_reader_cpu *state;
	const struct pxtu_item *next;
	__u32 cpu;

	/* Do not parse many more records than will be copied. */
	if (max_events / heap.count < limits.max_list)
		limits.max_list = (__u32)(max_events / heap.count) + 1;
	if (time <= ~0ULL - POSIXTRACE_WRITER_SPAN)
		limits.until = earlier(limits.until, time + POSIXTRACE_WRITER_SPAN - 1);
	do {
		cpu = heap.cpu[0];
		state = &reader->cpu[cpu];
		next = state->list.next;
		if (next == state->list.end && !begin_list(reader, &limits, cpu))
			break;
		if (!copy_event(&run, *state->list.next, &state->run.writer, cpu))
			break;
		next = ++state->list.next;
		if (next == state->list.end && !fill_list(reader, &limits, state))
			break;
		pxtu_heap_fix(&heap, state->list.next->timestamp);
	} while (run.event < stop);
	for (cpu = reader->runs; cpu != PXTU_NO_RUN; cpu = reader->cpu[cpu].run_next)
		end_list(reader, &reader->cpu[cpu]);
	*place = run.place;
	return (size_t)(run.event - events);
}

/*
 * Was this event taken? Its CPU is checked, because the event may be in memory of the program,
 * where another thread may have changed it.
 */
static bool was_taken(const struct pxtu_reader *reader, const struct posixtrace_batch_event *event)
{
	__u32 cpu = event->cpu;

	return cpu < reader->nr_cpus && reader->cpu[cpu].run.count;
}

/*
 * Count those events as lost that were taken. Unread records that are not younger than these events
 * also count as lost.
 */
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
 * The kernel reclaimed the records of a CPU before they were taken. Keep only the events before the
 * first record that was not taken. Returns their number.
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
 * If events were lost while the @count records were copied or taken, the records after the first
 * lost event also count as lost. Returns the number of events before them.
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
	/* events[kept] is the oldest event that counts as lost. */
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
	/* The next record may end the gap, and RESUME comes before it. */
	if (reader->gap_open)
		return 0;
	first = pxtu_merge_first(reader);
	/* Records of the kernel are not copied together. */
	if (!first || first->cpu >= reader->nr_cpus ||
	    pxtu_gap_has(reader, first->record.timestamp))
		return 0;
	/* If records before the first one were lost just now, there is a gap before it. */
	if (!pxtu_gap_is_noted(reader))
		return 0;
	count = copy_runs(reader, events, max_events, &rest);
	if (!count) {
		pxtu_merge_end_runs(reader);
		return 0;
	}
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
