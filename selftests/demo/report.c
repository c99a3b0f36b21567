// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes the events of the compressor, prints them and counts them. Its only source is the trace.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "report.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* An event with a larger block number is broken. */
#define BLOCKS_MAX	(16U << 20)

static __u64 nanoseconds(const struct timespec *time)
{
	return (__u64)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Grows *@array to hold element @index, with zeroed new elements. False if memory is exhausted. */
static bool grow(void *array, size_t *count, size_t index, size_t size)
{
	char **old = array;
	size_t room = *count;
	char *new;

	if (index < room)
		return true;
	room = index + 1 > 2 * room ? index + 1 : 2 * room;
	new = realloc(*old, room * size);
	if (!new)
		return false;
	memset(new + *count * size, 0, (room - *count) * size);
	*old = new;
	*count = room;
	return true;
}

int report_init(struct report *report, trace_id_t trid)
{
	const struct {
		const char *name;
		trace_event_id_t *id;
	} types[] = {
		{ EVENT_THREAD, &report->id.thread },
		{ EVENT_READ, &report->id.read },
		{ EVENT_COMPRESS, &report->id.compress },
		{ EVENT_PACKED, &report->id.packed },
		{ EVENT_WRITE, &report->id.write },
		{ EVENT_DONE, &report->id.done },
	};
	int err;

	report->trid = trid;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		err = posix_trace_trid_eventid_open(trid, types[i].name, types[i].id);
		if (err)
			return err;
	}
	return 0;
}

static bool is(const struct report *report, trace_event_id_t a, trace_event_id_t b)
{
	return posix_trace_eventid_equal(report->trid, a, b);
}

static const char *name_of(struct report *report, trace_event_id_t id)
{
	struct report_name *name;
	size_t i;

	for (i = 0; i < report->nr_names && report->names[i].name[0]; i++) {
		if (is(report, report->names[i].id, id))
			return report->names[i].name;
	}
	if (!grow(&report->names, &report->nr_names, i, sizeof(*name)))
		return "?";
	name = &report->names[i];
	if (posix_trace_eventid_get_name(report->trid, id, name->name)) {
		name->name[0] = '\0';
		return "?";
	}
	name->id = id;
	return name->name;
}

/* Returns the number of a thread, from 1 in the order of first events; 0 if memory is exhausted. */
static unsigned int worker_of(struct report *report, pthread_t thread)
{
	size_t i;

	for (i = 0; i < report->nr_workers && report->workers[i].thread; i++) {
		if (pthread_equal(report->workers[i].thread, thread))
			return i + 1;
	}
	if (!grow(&report->workers, &report->nr_workers, i, sizeof(report->workers[0])))
		return 0;
	report->workers[i].thread = thread;
	return i + 1;
}

static void print_bytes(const unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len && i < 24; i++)
		printf("%02x ", data[i]);
	printf("(%zu bytes)", len);
}

static bool note_block(struct report *report, const struct posix_trace_event_info *info,
		       const struct block_data *data, unsigned int thread)
{
	__u64 now = nanoseconds(&info->posix_timestamp);
	struct report_worker *worker;
	struct report_block *block;

	if (data->number >= BLOCKS_MAX)
		return true;
	if (!grow(&report->blocks, &report->nr_blocks, data->number, sizeof(*block)))
		return false;
	block = &report->blocks[data->number];
	worker = &report->workers[thread - 1];

	if (is(report, info->posix_event_id, report->id.compress)) {
		block->begin = now;
	} else if (is(report, info->posix_event_id, report->id.packed)) {
		block->packed = true;
		block->worker = thread - 1;
		block->size_in = data->size_in;
		block->size_out = data->size_out;
		if (block->begin)
			block->duration = now - block->begin;
		worker->blocks++;
		worker->size_in += data->size_in;
		worker->size_out += data->size_out;
		worker->busy += block->duration;
	} else if (is(report, info->posix_event_id, report->id.write)) {
		block->written = true;
		block->out_offset = data->offset;
	}
	return true;
}

static void print_block(const struct report *report, trace_event_id_t id,
			const struct block_data *data)
{
	printf("block %llu", data->number);
	if (is(report, id, report->id.read))
		printf(": %u bytes at %llu of file %u",
		       data->size_in, data->offset, data->file + 1);
	else if (is(report, id, report->id.compress))
		printf(": %u bytes", data->size_in);
	else if (is(report, id, report->id.packed))
		printf(": %u -> %u bytes", data->size_in, data->size_out);
	else
		printf(": %u bytes at %llu", data->size_out, data->offset);
}

static bool is_block_event(const struct report *report, trace_event_id_t id)
{
	return is(report, id, report->id.read) || is(report, id, report->id.compress) ||
	       is(report, id, report->id.packed) || is(report, id, report->id.write);
}

/* Prints the data of an event, which may have any alignment. */
static void print_data(const struct report *report, const struct posix_trace_event_info *info,
		       const void *data, size_t len)
{
	trace_event_id_t id = info->posix_event_id;
	struct thread_data hello;
	struct block_data block;
	struct done_data done;
	int automatic;

	if (is_block_event(report, id) && len == sizeof(block)) {
		memcpy(&block, data, sizeof(block));
		print_block(report, id, &block);
	} else if (is(report, id, report->id.thread) && len == sizeof(hello)) {
		memcpy(&hello, data, sizeof(hello));
		printf("worker %u of %u", hello.worker, hello.workers);
	} else if (is(report, id, report->id.done) && len == sizeof(done)) {
		memcpy(&done, data, sizeof(done));
		printf("%llu blocks, %llu -> %llu bytes", done.blocks,
		       done.size_in, done.size_out);
	} else if (is(report, id, POSIX_TRACE_STOP) && len == sizeof(automatic)) {
		memcpy(&automatic, data, sizeof(automatic));
		printf(automatic ? "automatic" : "by the controller");
	} else if (is(report, id, POSIX_TRACE_START)) {
		printf("by the controller");
	} else if (len) {
		print_bytes(data, len);
	}
	if (info->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		printf(" (truncated)");
}

bool report_event(struct report *report, const struct posix_trace_event_info *info,
		  const void *data, size_t len)
{
	__u64 now = nanoseconds(&info->posix_timestamp);
	trace_event_id_t id = info->posix_event_id;
	struct block_data block;
	struct done_data done;
	unsigned int thread = 0;

	if (!report->first)
		report->first = now;
	report->last = now;

	/* System events belong to no thread of the compressor. */
	if (is_block_event(report, id) || is(report, id, report->id.thread) ||
	    is(report, id, report->id.done)) {
		report->events++;
		thread = worker_of(report, info->posix_thread_id);
		if (!thread)
			return false;
	}
	if (is(report, id, POSIX_TRACE_OVERFLOW))
		report->overflows++;
	if (is(report, id, report->id.done) && len == sizeof(done)) {
		memcpy(&done, data, sizeof(done));
		report->done = true;
		report->done_blocks = done.blocks;
		report->done_in = done.size_in;
		report->done_out = done.size_out;
	}

	if (!report->quiet) {
		printf("%10llu.%03u  %6d  %#14lx  %-22s ", (now - report->first) / 1000,
		       (unsigned int)((now - report->first) % 1000), (int)info->posix_pid,
		       (unsigned long)info->posix_thread_id, name_of(report, id));
		print_data(report, info, data, len);
		putchar('\n');
	}
	if (is_block_event(report, id) && len == sizeof(block)) {
		memcpy(&block, data, sizeof(block));
		return note_block(report, info, &block, thread);
	}
	return true;
}

static double mega_per_second(__u64 bytes, __u64 duration)
{
	return duration ? bytes * 1e3 / duration : 0;
}

static double percent(__u64 part, __u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void summarize_row(const char *thread, const struct report_worker *worker)
{
	printf("%-16s %7llu %11llu %11llu %6.1f%% %9.1f %8.2f\n", thread,
	       worker->blocks, worker->size_in, worker->size_out,
	       percent(worker->size_out, worker->size_in), worker->busy / 1e6,
	       mega_per_second(worker->size_in, worker->busy));
}

void report_summary(const struct report *report)
{
	const struct report_block *slowest = NULL;
	struct report_worker all = { 0 };
	char label[24];

	printf("\nthread            blocks    bytes in   bytes out   ratio   busy ms     MB/s\n");
	for (size_t i = 0; i < report->nr_workers; i++) {
		const struct report_worker *worker = &report->workers[i];

		if (!worker->blocks)
			continue;
		snprintf(label, sizeof(label), "%#lx", (unsigned long)worker->thread);
		summarize_row(label, worker);
		all.blocks += worker->blocks;
		all.size_in += worker->size_in;
		all.size_out += worker->size_out;
		all.busy += worker->busy;
	}
	summarize_row("all", &all);

	for (size_t i = 0; i < report->nr_blocks; i++) {
		const struct report_block *block = &report->blocks[i];

		if (block->packed && block->begin &&
		    (!slowest || block->duration > slowest->duration))
			slowest = block;
	}
	if (slowest)
		printf("slowest block     number %td: %.3f ms for %u bytes in thread %#lx\n",
		       slowest - report->blocks, slowest->duration / 1e6, slowest->size_in,
		       (unsigned long)report->workers[slowest->worker].thread);
	printf("from first event to last   %.3f ms, %.2f MB/s\n",
	       (report->last - report->first) / 1e6,
	       mega_per_second(all.size_in, report->last - report->first));
	printf("events            %llu of the compressor, ", report->events);
	if (report->overflows || report->overrun)
		printf("some were LOST: %llu gaps\n", report->overflows);
	else
		printf("none lost\n");
}

void report_free(struct report *report)
{
	free(report->names);
	free(report->workers);
	free(report->blocks);
}
