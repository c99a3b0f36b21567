// SPDX-License-Identifier: MIT
/*
 * The events of a stream: the events of its CPUs in order, with OVERFLOW and RESUME where
 * events were lost.
 *
 * The path of an event, from the bottom of this file to the top: pxtu_reader_next() returns
 * it from the queue; fill_queue() fills the queue with one record and any events that precede it;
 * take_record() takes a record that is not lost; pxtu_merge_first() finds the oldest record of
 * all. run.c takes many records together, and ahead.c uses it to read ahead.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/ahead.h"
#include "stream/gap.h"
#include "stream/merge.h"
#include "stream/reader.h"
#include "stream/window.h"

int pxtu_reader_init(struct pxtu_reader *reader, const struct pxtu_map *map,
		     const struct posixtrace_attr *attr,
		     int (*release)(struct pxtu_reader *reader, __u32 subbuf),
		     int (*defer)(struct pxtu_reader *reader, struct posixtrace_defer *arg))
{
	const struct posixtrace_ctrl *ctrl = map->ctrl;
	__u64 oldest, holders, subbufs, kernel_heads, nr_kernel_cpus, i;

	*reader = (struct pxtu_reader){
		.map = *map,
		.release = release,
		.defer = defer,
		.settled = ~0ULL,
		.gap_lock = 1,
		.runs = PXTU_NO_RUN,
		.runs_end = PXTU_NO_RUN,
	};
	if (map->ctrl_size < sizeof(*ctrl) || ctrl->size < sizeof(*ctrl))
		return -EPROTO;
	reader->nr_cpus = ctrl->nr_cpus;
	reader->nr_subbufs = ctrl->nr_subbufs;
	reader->first_kernel = ctrl->nr_subbufs + ctrl->nr_sys_subbufs;
	reader->nr_all = reader->first_kernel + ctrl->nr_kernel_subbufs;
	nr_kernel_cpus = ctrl->nr_kernel_cpus;
	reader->nr_lists = reader->nr_cpus + 1 + ctrl->nr_kernel_cpus;
	reader->subbuf_size = ctrl->subbuf_size;
	reader->loop = attr->stream_policy == POSIXTRACE_POLICY_LOOP;
	reader->max_data = (__u32)attr->max_data_size;
	oldest = ctrl->oldest_offset;
	holders = ctrl->holders_offset;
	subbufs = ctrl->subbuf_offset;
	kernel_heads = ctrl->kernel_heads_offset;

	/* Check that all of these numbers stay inside the mappings. */
	if (!reader->nr_cpus || !reader->subbuf_size ||
	    reader->subbuf_size % POSIXTRACE_RECORD_ALIGN ||
	    reader->subbuf_size > POSIXTRACE_SUBBUF_SIZE_MAX ||
	    reader->first_kernel < reader->nr_subbufs || reader->nr_all < reader->first_kernel ||
	    (nr_kernel_cpus && nr_kernel_cpus != reader->nr_cpus) ||
	    reader->nr_lists < reader->nr_cpus || kernel_heads % sizeof(__u64) ||
	    attr->max_data_size > POSIXTRACE_DATA_SIZE_MAX ||
	    oldest % sizeof(__u32) || holders % sizeof(__u64) || subbufs % sizeof(__u64) ||
	    oldest + (__u64)reader->nr_lists * sizeof(__u32) > map->ctrl_size ||
	    holders + ((__u64)(reader->nr_lists - 1) / 64 + 1) * sizeof(__u64) > map->ctrl_size ||
	    kernel_heads + nr_kernel_cpus * sizeof(struct posixtrace_cpu_head) > map->ctrl_size ||
	    subbufs + (__u64)reader->nr_all * sizeof(struct posixtrace_subbuf) > map->ctrl_size ||
	    (__u64)reader->nr_cpus * sizeof(struct posixtrace_cpu_head) > map->heads_size ||
	    (__u64)reader->nr_all * reader->subbuf_size > map->pool_size ||
	    sizeof(*map->shared) + (__u64)reader->nr_all * sizeof(map->shared->consumed[0]) >
	    map->shared_size)
		return -EPROTO;

	reader->oldest = (const __u32 *)(const void *)((const char *)ctrl + oldest);
	reader->holders = (const __u64 *)(const void *)((const char *)ctrl + holders);
	reader->subbufs = (const struct posixtrace_subbuf *)
			  (const void *)((const char *)ctrl + subbufs);
	reader->kernel_heads = (const struct posixtrace_cpu_head *)
			       (const void *)((const char *)ctrl + kernel_heads);
	reader->cpu = calloc(reader->nr_lists, sizeof(*reader->cpu));
	reader->kernel = calloc((size_t)nr_kernel_cpus + 1, sizeof(*reader->kernel));
	reader->data = malloc(pxtu_record_room(reader->max_data));
	if (!pxtu_heap_init(&reader->heap, reader->nr_lists) || !reader->cpu || !reader->kernel ||
	    !reader->data) {
		pxtu_reader_destroy(reader);
		return -ENOMEM;
	}
	for (i = 0; i < nr_kernel_cpus; i++)
		reader->cpu[reader->nr_cpus + 1 + i].kernel = &reader->kernel[i];
	return 0;
}

void pxtu_reader_destroy(struct pxtu_reader *reader)
{
	free(reader->cpu);
	free(reader->kernel);
	pxtu_call_names_destroy(&reader->names);
	pxtu_heap_destroy(&reader->heap);
	free(reader->data);
	reader->cpu = NULL;
	reader->kernel = NULL;
	reader->data = NULL;
}

/* Copy the data of a record, before it is taken: afterwards the data may be overwritten. */
static void *copy_data(struct pxtu_reader *reader, const struct pxtu_candidate *cand,
		       const struct pxtu_place *place)
{
	size_t len = cand->record.data_len;
	static const int error = EIO;
	void *to = reader->data;

	if (len && len <= place->room)
		to = place->at;
	if (cand->corrupt)
		memcpy(to, &error, len);
	else if (reader->cpu[cand->cpu].kernel)
		pxtu_kernel_data(&cand->record, cand->data, &reader->names, to);
	else
		memcpy(to, cand->data, len);
	return to;
}

/* Does the current filter suppress this system event of the library? */
static bool filtered(const struct pxtu_reader *reader, __u32 id)
{
	return pxtu_load(&reader->map.ctrl->system_filter) & 1ULL << id;
}

static void queue_system(struct pxtu_reader *reader, __u32 id, __u64 timestamp)
{
	if (!filtered(reader, id))
		pxtu_queue_system(&reader->queue, id, timestamp, reader->lost, reader->data);
}

static void queue_gap(struct pxtu_reader *reader, __u64 resume)
{
	queue_system(reader, POSIXTRACE_ID_OVERFLOW, reader->gap_first);
	reader->lost = pxtu_gap_lost(reader);
	queue_system(reader, POSIXTRACE_ID_RESUME, resume);
	reader->gap_open = false;
}

static bool stream_full(const struct pxtu_reader *reader)
{
	/*
	 * Pairs with the release in pxt_state_publish(): if full, the account already has the gap.
	 */
	return !reader->loop && pxtu_load_acquire(&reader->map.ctrl->flags) & POSIXTRACE_CTRL_FULL;
}

/* Count a record as lost although it was not overwritten, because younger records were. */
static void skip(struct pxtu_reader *reader, const struct pxtu_record *record)
{
	reader->skipped++;
	if (record->event_id >= POSIXTRACE_ID_UNNAMED)
		reader->skipped_user++;
	if (reader->gap_open && record->timestamp < reader->gap_first)
		reader->gap_first = record->timestamp;
}

/*
 * The kernel cannot see events that we hold back, but other threads must not sleep while there are
 * such events: set held before taking the record. The compare-and-swap that takes the record has
 * release semantics; pairs with the barrier in the kernel's pxt_reclaim_reportable(), between
 * reading the consumer positions and held.
 */
void pxtu_reader_hold(struct pxtu_reader *reader, bool held)
{
	if (reader->held == held)
		return;
	reader->held = held;
	pxtu_store(&reader->map.shared->held, held);
}

/*
 * Take the oldest record that is not lost, after copying its data to @data. False if no record
 * may be reported. @best is valid until the next call.
 */
static bool take_record(struct pxtu_reader *reader, const struct pxtu_place *place,
			const struct pxtu_candidate **best, void **data)
{
	const struct pxtu_candidate *first;
	__u64 passed = 0;	/* a record of this time may be reported */
	bool lost;

	for (;;) {
		if (!pxtu_gap_is_noted(reader))
			pxtu_gap_note(reader);
		first = pxtu_merge_first(reader);
		if (!first)
			return false;
		lost = pxtu_gap_has(reader, first->record.timestamp);
		if (!lost && first->record.timestamp > reader->settled &&
		    first->record.timestamp != passed) {
			passed = first->record.timestamp;
			if (pxtu_window_holds(reader, passed))
				return false;
			continue;
		}
		if (!lost) {
			*data = copy_data(reader, first, place);
			pxtu_reader_hold(reader, true);
		}
		if (!pxtu_merge_take(reader))
			continue;
		*best = first;
		if (!lost && (pxtu_gap_is_noted(reader) ||
			      pxtu_gap_note_before(reader, first->record.timestamp)))
			return true;
		skip(reader, &first->record);
	}
}

/* Get the CPU that recorded the records of a list. */
static __u32 cpu_of(const struct pxtu_reader *reader, __u32 list)
{
	if (list < reader->nr_cpus)
		return list;
	return list == reader->nr_cpus ? POSIXTRACE_NO_CPU : list - reader->nr_cpus - 1;
}

/* Take one record, and queue it. If a gap ends with this record, queue the gap first. */
static void fill_queue(struct pxtu_reader *reader, const struct pxtu_place *place)
{
	const struct pxtu_candidate *best;
	void *data = NULL;

	reader->queue.next = 0;
	reader->queue.count = 0;
	if (!pxtu_ahead_is_empty(reader)) {
		reader->queue.event[reader->queue.count++] =
			reader->ahead.event[reader->ahead.next++];
		return;
	}
	do {
		if (!take_record(reader, place, &best, &data))
			return;
		/* An orphan is part of a damaged area that has already been reported. */
	} while (best->orphan || (best->corrupt && filtered(reader, POSIXTRACE_ID_ERROR)));

	if (reader->gap_open &&
	    pxtu_record_after_gap(&best->record, reader->loop, reader->gap_first))
		queue_gap(reader, best->record.timestamp);
	/*
	 * If the gap is reported first, move the data of the record out of the program's buffer,
	 * which the program may reuse before the record is reported.
	 */
	if (reader->queue.count && data != reader->data) {
		memcpy(reader->data, data, best->record.data_len);
		data = reader->data;
	}
	pxtu_queue_record(&reader->queue, &best->record, data, cpu_of(reader, best->cpu),
			  reader->lost);
}

void pxtu_reader_restart(struct pxtu_reader *reader)
{
	if (!stream_full(reader) || !pxtu_ahead_is_empty(reader) || pxtu_merge_first(reader))
		return;
	/*
	 * Note the losses now: if STOP is filtered, no record has made the reader note them. After
	 * the restart, they would become one gap with the next losses.
	 */
	if (!pxtu_gap_is_noted(reader))
		pxtu_gap_note(reader);
	reader->release(reader, POSIXTRACE_NONE);
}

const struct posixtrace_batch_event *pxtu_reader_next(struct pxtu_reader *reader,
						      const struct pxtu_place *place)
{
	struct posixtrace_batch_event *event;
	__u64 timestamp;

	if (reader->queue.next == reader->queue.count) {
		fill_queue(reader, place);
		pxtu_reader_restart(reader);
	}
	if (reader->queue.next == reader->queue.count)
		return NULL;
	event = &reader->queue.event[reader->queue.next++];
	timestamp = pxtu_batch_time(event);
	event->flags = timestamp < reader->youngest ? POSIXTRACE_EVENT_LATE : 0;
	if (!event->flags)
		reader->youngest = timestamp;
	if (event->event.posix_event_id >= POSIXTRACE_ID_UNNAMED)
		reader->read++;
	return event;
}

void pxtu_reader_unread(struct pxtu_reader *reader)
{
	const struct posixtrace_batch_event *event = &reader->queue.event[--reader->queue.next];

	if (event->event.posix_event_id >= POSIXTRACE_ID_UNNAMED)
		reader->read--;
}

void pxtu_reader_settle(struct pxtu_reader *reader)
{
	pxtu_reader_hold(reader, reader->queue.next < reader->queue.count ||
			 !pxtu_ahead_is_empty(reader));
}

void pxtu_reader_clear(struct pxtu_reader *reader)
{
	reader->ahead.next = 0;
	reader->ahead.count = 0;
	reader->queue.next = 0;
	reader->queue.count = 0;
	reader->gap_open = false;
	reader->lost = 0;
	reader->lost_until = 0;
	reader->youngest = 0;
	reader->read = 0;
	reader->corrupt = 0;
	reader->skipped = 0;
	reader->skipped_user = 0;
	reader->overrun = false;
	pxtu_merge_clear(reader);
	pxtu_reader_settle(reader);
}
