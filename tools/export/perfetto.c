// SPDX-License-Identifier: GPL-2.0
/*
 * Writes Perfetto's native format: a series of TracePacket messages.
 *
 * A begin and its end become a slice. Both of its packets are written at the end, because readers
 * sort packets by time. Slices of a thread must nest; a slice that does not gets a separate track
 * below the track of the thread. A counter has a track in each process. Everything else is an
 * instant, even a begin without an end.
 *
 * A system call is a slice on the track of the thread; an interrupt is a slice on a track below it.
 * perfetto_ftrace.c writes the scheduler events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pairs.h"
#include "event/event_names.h"
#include "event/kevent.h"
#include "export/export.h"
#include "export/perfetto_args.h"
#include "export/perfetto_ftrace.h"
#include "export/proto.h"
#include "util/escape.h"
#include "util/threads.h"

#define WRITE_AT	(1 << 18)	/* bytes */

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define TRACE_PACKET				1

#define PACKET_CLOCK_SNAPSHOT			6
#define PACKET_TIMESTAMP			8
#define PACKET_TRUSTED_SEQUENCE_ID		10
#define PACKET_TRACK_EVENT			11
#define PACKET_INTERNED_DATA			12
#define PACKET_SEQUENCE_FLAGS			13
#define PACKET_TIMESTAMP_CLOCK_ID		58
#define PACKET_DEFAULTS				59
#define PACKET_TRACK_DESCRIPTOR			60
#define PACKET_FIRST_ON_SEQUENCE		87

#define DEFAULTS_TIMESTAMP_CLOCK_ID		58

#define SNAPSHOT_CLOCKS				1
#define SNAPSHOT_PRIMARY_TRACE_CLOCK		2
#define CLOCK_CLOCK_ID				1
#define CLOCK_TIMESTAMP				2

#define DESCRIPTOR_UUID				1
#define DESCRIPTOR_NAME				2
#define DESCRIPTOR_PROCESS			3
#define DESCRIPTOR_THREAD			4
#define DESCRIPTOR_PARENT_UUID			5
#define DESCRIPTOR_COUNTER			8

#define COUNTER_UNIT				3
#define COUNTER_UNIT_NAME			6

#define PROCESS_PID				1
#define PROCESS_NAME				6

#define THREAD_PID				1
#define THREAD_TID				2
#define THREAD_NAME				5

#define EVENT_CATEGORY_IIDS			3
#define EVENT_TYPE				9
#define EVENT_NAME_IID				10
#define EVENT_TRACK_UUID			11
#define EVENT_NAME				23
#define EVENT_COUNTER_VALUE			30
#define EVENT_DOUBLE_COUNTER_VALUE		44

#define INTERNED_CATEGORIES			1
#define INTERNED_EVENT_NAMES			2
#define INTERNED_IID				1
#define INTERNED_NAME				2

/* Values. */
#define CLOCK_ID_REALTIME	1
#define SEQUENCE		1
#define SEQUENCE_OF_THREADS	2
#define FLAG_STATE_CLEARED	1
#define FLAG_NEEDS_STATE	2
#define TYPE_SLICE_BEGIN	1
#define TYPE_SLICE_END		2
#define TYPE_INSTANT		3
#define TYPE_COUNTER		4

#define UNIT_TIME_NS		1
#define UNIT_SIZE_BYTES		3

#define CATEGORY_USER		1
#define CATEGORY_SYSTEM		2
#define CATEGORY_LOST		3
#define CATEGORY_KERNEL		4

/* Ids of interned names: by event type; for stems by the type of the end. */
#define NAME_IID(type)		((type) + 1)
#define STEM_IID(type)		((type) + 1 + EXPORT_TYPES)
#define NAMES			(2 * EXPORT_TYPES + 1)

/* Replaces an unknown kernel thread id; larger than any real id. */
#define UNKNOWN_TID(number)	(1U << 30 | (number))

/* System calls are pairs for analyze/pairs.c, which needs such names. */
#define SYSCALL_BEGIN		"syscall:begin"
#define SYSCALL_END		"syscall:end"

/* Track ids: the kind in the top byte, then a number. */
#define TRACK_LOST		(1ULL << 56)
#define TRACK_SYSTEM		(2ULL << 56)
#define TRACK_PROCESS(process)	(3ULL << 56 | (process))
#define TRACK_THREAD(number)	(4ULL << 56 | (number))
#define TRACK_STEM(number, type) (5ULL << 56 | (uint64_t)(number) << 16 | (type))
#define TRACK_INTERRUPTS(number) (7ULL << 56 | (number))
#define TRACK_COUNTER(process, type) (6ULL << 56 | (uint64_t)(process) << 16 | (type))

struct perfetto {
	struct export *export;
	struct buffer bytes;
	struct threads *threads;
	struct threads *processes;
	struct pairs *pairs;
	struct perfetto_ftrace *ftrace;
	bool interned[NAMES];
	uint32_t counter_process[EXPORT_TYPES];	/* process last given a track for it, or 0 */
};

/* ------------------------------------------------------------------ */
/* Packets								*/

static size_t begin_packet_of(struct perfetto *perfetto, unsigned int sequence)
{
	size_t packet = proto_begin(&perfetto->bytes, TRACE_PACKET);

	proto_number(&perfetto->bytes, PACKET_TRUSTED_SEQUENCE_ID, sequence);
	return packet;
}

static size_t begin_packet(struct perfetto *perfetto)
{
	return begin_packet_of(perfetto, SEQUENCE);
}

/* Declares that all times are CLOCK_REALTIME, even on the viewer's axis. */
static void put_clock(struct perfetto *perfetto)
{
	struct buffer *bytes = &perfetto->bytes;
	size_t packet = begin_packet(perfetto), message, clock;

	message = proto_begin(bytes, PACKET_CLOCK_SNAPSHOT);
	clock = proto_begin(bytes, SNAPSHOT_CLOCKS);
	proto_number(bytes, CLOCK_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_number(bytes, CLOCK_TIMESTAMP, perfetto->export->first_time);
	proto_end(bytes, clock);
	proto_number(bytes, SNAPSHOT_PRIMARY_TRACE_CLOCK, CLOCK_ID_REALTIME);
	proto_end(bytes, message);
	proto_number(bytes, PACKET_FIRST_ON_SEQUENCE, 1);
	proto_end(bytes, packet);

	packet = begin_packet(perfetto);
	proto_number(bytes, PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
	message = proto_begin(bytes, PACKET_DEFAULTS);
	proto_number(bytes, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_end(bytes, message);
	message = proto_begin(bytes, PACKET_INTERNED_DATA);
	for (int i = CATEGORY_USER; i <= CATEGORY_KERNEL; i++) {
		static const char * const names[] = { "user", "system", "lost", "kernel" };
		size_t category = proto_begin(bytes, INTERNED_CATEGORIES);

		proto_number(bytes, INTERNED_IID, i);
		proto_text(bytes, INTERNED_NAME, names[i - CATEGORY_USER]);
		proto_end(bytes, category);
	}
	proto_end(bytes, message);
	proto_end(bytes, packet);
}

static size_t begin_track_of(struct perfetto *perfetto, unsigned int sequence, uint64_t uuid,
			     uint64_t parent, size_t *packet)
{
	size_t track;

	*packet = begin_packet_of(perfetto, sequence);
	track = proto_begin(&perfetto->bytes, PACKET_TRACK_DESCRIPTOR);
	proto_number(&perfetto->bytes, DESCRIPTOR_UUID, uuid);
	if (parent)
		proto_number(&perfetto->bytes, DESCRIPTOR_PARENT_UUID, parent);
	return track;
}

static size_t begin_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent,
			  size_t *packet)
{
	return begin_track_of(perfetto, SEQUENCE, uuid, parent, packet);
}

static void end_track(struct perfetto *perfetto, size_t track, size_t packet)
{
	proto_end(&perfetto->bytes, track);
	proto_end(&perfetto->bytes, packet);
}

/* Gives a process or thread a birth: earlier events belong to a previous one with these ids. */
static void end_timed_track(struct perfetto *perfetto, size_t track, size_t packet, uint64_t time)
{
	proto_end(&perfetto->bytes, track);
	proto_number(&perfetto->bytes, PACKET_TIMESTAMP, time);
	/* Only the sequence of the events has a default clock. */
	proto_number(&perfetto->bytes, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_end(&perfetto->bytes, packet);
}

static void put_named_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent,
			    const char *name)
{
	size_t packet, track = begin_track(perfetto, uuid, parent, &packet);

	perfetto_text(&perfetto->bytes, DESCRIPTOR_NAME, name, strlen(name));
	end_track(perfetto, track, packet);
}

static void put_process(struct perfetto *perfetto, const struct event *event, uint32_t process)
{
	const pid_t pid = event->pid;
	size_t packet, message, track = begin_track(perfetto, TRACK_PROCESS(process), 0, &packet);
	char name[LABEL_SIZE];

	event_process_label(event, name);
	message = proto_begin(&perfetto->bytes, DESCRIPTOR_PROCESS);
	proto_number(&perfetto->bytes, PROCESS_PID, (int64_t)pid);
	perfetto_text(&perfetto->bytes, PROCESS_NAME, name, strlen(name));
	proto_end(&perfetto->bytes, message);
	end_timed_track(perfetto, track, packet, event->time);
}

/* Finds the process number of an event. There are at most as many processes as threads. */
static int find_process(const struct perfetto *perfetto, const struct event *event,
			uint32_t *process)
{
	int ret = threads_find(perfetto->processes, event->pid, event_process_key(event), process);

	return ret < 0 ? ret : 0;
}

/*
 * Readers assign events without a thread track to the last thread described in the same sequence.
 * The first such event would create the thread before its birth, so threads are described in a
 * sequence without events.
 */
static int put_thread(struct perfetto *perfetto, const struct event *event, uint32_t number)
{
	size_t packet, message, track;
	char name[LABEL_SIZE];
	uint32_t process;
	int err = find_process(perfetto, event, &process);

	if (err)
		return err;
	put_process(perfetto, event, process);
	track = begin_track_of(perfetto, SEQUENCE_OF_THREADS, TRACK_THREAD(number),
			       TRACK_PROCESS(process), &packet);
	event_thread_label(event, name);
	message = proto_begin(&perfetto->bytes, DESCRIPTOR_THREAD);
	proto_number(&perfetto->bytes, THREAD_PID, (int64_t)event->pid);
	proto_number(&perfetto->bytes, THREAD_TID,
		     event->tid > 0 ? (uint64_t)event->tid : UNKNOWN_TID(number));
	perfetto_text(&perfetto->bytes, THREAD_NAME, name, strlen(name));
	proto_end(&perfetto->bytes, message);
	end_timed_track(perfetto, track, packet, event->time);
	return 0;
}

/* Finds the track of an event's thread, and describes it at its first use. */
static int find_track(struct perfetto *perfetto, const struct event *event, uint32_t *number,
		      uint64_t *track)
{
	int ret;

	*number = THREADS_OTHERS;
	*track = TRACK_SYSTEM;
	if (!event->user && !event->pid)
		return 0;
	ret = threads_find(perfetto->threads, event->pid, event_thread_key(event), number);
	*track = TRACK_THREAD(*number);
	if (ret > 0 && *number == THREADS_OTHERS)
		put_named_track(perfetto, *track, 0, "further threads");
	else if (ret > 0)
		ret = put_thread(perfetto, event, *number);
	return ret < 0 ? ret : 0;
}

/* ------------------------------------------------------------------ */
/* Events								*/

static size_t begin_event(struct perfetto *perfetto, uint64_t time, unsigned int type,
			  uint64_t track, size_t *packet)
{
	struct buffer *bytes = &perfetto->bytes;
	size_t event;

	*packet = begin_packet(perfetto);
	proto_number(bytes, PACKET_TIMESTAMP, time);
	proto_number(bytes, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	event = proto_begin(bytes, PACKET_TRACK_EVENT);
	proto_number(bytes, EVENT_TYPE, type);
	proto_number(bytes, EVENT_TRACK_UUID, track);
	return event;
}

/* Defines an interned name at its first use. */
static void put_name(struct perfetto *perfetto, size_t iid, const char *name)
{
	struct buffer *bytes = &perfetto->bytes;
	size_t interned, message;

	if (perfetto->interned[iid])
		return;
	interned = proto_begin(bytes, PACKET_INTERNED_DATA);
	message = proto_begin(bytes, INTERNED_EVENT_NAMES);
	proto_number(bytes, INTERNED_IID, iid);
	perfetto_text(bytes, INTERNED_NAME, name, strlen(name));
	proto_end(bytes, message);
	proto_end(bytes, interned);
	perfetto->interned[iid] = true;
}

/* Ends an event. Its name is defined at the first use; later events refer to it by id. */
static void end_event(struct perfetto *perfetto, size_t event, size_t packet, size_t iid,
		      const char *name)
{
	struct buffer *bytes = &perfetto->bytes;

	if (iid)
		proto_number(bytes, EVENT_NAME_IID, iid);
	proto_end(bytes, event);
	if (iid)
		put_name(perfetto, iid, name);
	proto_end(bytes, packet);
}

static int category_of(const struct event *event)
{
	if (event->user)
		return CATEGORY_USER;
	return event->type >= POSIXTRACE_SWITCH_OUT ? CATEGORY_KERNEL : CATEGORY_SYSTEM;
}

static void put_instant(struct perfetto *perfetto, const struct event *event, size_t data_len,
			uint64_t track)
{
	size_t packet;
	size_t message = begin_event(perfetto, event->time, TYPE_INSTANT, track, &packet);

	proto_number(&perfetto->bytes, EVENT_CATEGORY_IIDS, category_of(event));
	perfetto_args(&perfetto->bytes, "", event, data_len);
	end_event(perfetto, message, packet, NAME_IID(event->type), event->name);
}

static void put_lost(struct perfetto *perfetto, const struct event *event)
{
	uint64_t lost = perfetto->export->newly_lost;
	size_t packet, message;
	char name[64];

	snprintf(name, sizeof(name), "%" PRIu64 " events lost", lost);
	message = begin_event(perfetto, event->time, TYPE_INSTANT, TRACK_LOST, &packet);
	proto_number(&perfetto->bytes, EVENT_CATEGORY_IIDS, CATEGORY_LOST);
	proto_text(&perfetto->bytes, EVENT_NAME, name);
	perfetto_arg_number(&perfetto->bytes, "lost", lost);
	end_event(perfetto, message, packet, 0, NULL);
}

/*
 * Defines a name before its event is held: other events may use it before the held one is written.
 */
static void define_name(struct perfetto *perfetto, size_t iid, const char *name)
{
	size_t packet;

	if (perfetto->interned[iid])
		return;
	packet = begin_packet(perfetto);
	proto_number(&perfetto->bytes, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	put_name(perfetto, iid, name);
	proto_end(&perfetto->bytes, packet);
}

static void put_held(struct perfetto *perfetto, const struct pairs_begin *begin)
{
	buffer_put(&perfetto->bytes, begin->held.data, begin->held.len);
	perfetto->bytes.failed |= begin->held.failed;
}

/*
 * Readers keep the file order of events with the same time, so a slice must wait for the enclosing
 * one if both begin at the same time. This switches the output to @hold, and back at the second
 * call.
 */
static void exchange(struct perfetto *perfetto, struct buffer *hold)
{
	struct buffer bytes = perfetto->bytes;

	if (!hold)
		return;
	perfetto->bytes = *hold;
	*hold = bytes;
}

static struct buffer *find_hold(const struct perfetto *perfetto, const struct event *end,
				const struct pairs_begin *begin)
{
	return pairs_hold(perfetto->pairs, end->pid, event_thread_key(end), begin->event.time);
}

static void put_slice(struct perfetto *perfetto, const struct event *end,
		      const struct pairs_result *result, uint32_t number)
{
	const struct pairs_begin *begin = result->begin;
	uint64_t track = TRACK_THREAD(number);
	size_t packet, message;

	if (!result->proper) {
		track = TRACK_STEM(number, end->type);
		put_named_track(perfetto, track, TRACK_THREAD(number), begin->stem);
	}
	message = begin_event(perfetto, begin->event.time, TYPE_SLICE_BEGIN, track, &packet);
	proto_number(&perfetto->bytes, EVENT_CATEGORY_IIDS, CATEGORY_USER);
	perfetto_args(&perfetto->bytes, "", &begin->event, begin->data_len);
	end_event(perfetto, message, packet, STEM_IID(end->type), begin->stem);
	put_held(perfetto, begin);
	message = begin_event(perfetto, end->time, TYPE_SLICE_END, track, &packet);
	perfetto_args(&perfetto->bytes, "end_", end, end->len);
	if (result->lost)
		perfetto_arg_number(&perfetto->bytes, "lost", result->lost);
	end_event(perfetto, message, packet, 0, NULL);
}

static void put_counter_track(struct perfetto *perfetto, const struct event *event,
			      uint32_t process)
{
	const char *unit = event->description->counter->unit;
	struct buffer *bytes = &perfetto->bytes;
	size_t packet, track, counter;

	track = begin_track(perfetto, TRACK_COUNTER(process, event->type), TRACK_PROCESS(process),
			    &packet);
	perfetto_text(bytes, DESCRIPTOR_NAME, event->name, strlen(event->name));
	counter = proto_begin(bytes, DESCRIPTOR_COUNTER);
	if (unit && !strcmp(unit, "ns"))
		proto_number(bytes, COUNTER_UNIT, UNIT_TIME_NS);
	else if (unit && (!strcmp(unit, "B") || !strcmp(unit, "bytes")))
		proto_number(bytes, COUNTER_UNIT, UNIT_SIZE_BYTES);
	else if (unit)
		perfetto_text(bytes, COUNTER_UNIT_NAME, unit, strlen(unit));
	proto_end(bytes, counter);
	end_track(perfetto, track, packet);
}

/* Describes the counter again if another process has used the same type since. */
static int put_counter(struct perfetto *perfetto, const struct event *event,
		       const struct posixtrace_value *value)
{
	bool is_signed = value->field->is_signed;
	size_t packet, message;
	uint32_t process;
	int err = find_process(perfetto, event, &process);

	if (err)
		return err;
	if (perfetto->counter_process[event->type] != process)
		put_counter_track(perfetto, event, process);
	perfetto->counter_process[event->type] = process;
	message = begin_event(perfetto, event->time, TYPE_COUNTER,
			      TRACK_COUNTER(process, event->type), &packet);
	proto_number(&perfetto->bytes, EVENT_CATEGORY_IIDS, CATEGORY_USER);
	if (value->field->type == POSIXTRACE_FIELD_FLOAT)
		proto_double(&perfetto->bytes, EVENT_DOUBLE_COUNTER_VALUE, value->real);
	else if (!is_signed && value->number > INT64_MAX)
		proto_double(&perfetto->bytes, EVENT_DOUBLE_COUNTER_VALUE, (double)value->number);
	else
		proto_number(&perfetto->bytes, EVENT_COUNTER_VALUE, value->number);
	end_event(perfetto, message, packet, 0, NULL);
	return 0;
}

/* ------------------------------------------------------------------ */
/* Events of the kernel							*/

static bool is_syscall(const struct event *event)
{
	return event->type == POSIXTRACE_SYSCALL_ENTRY || event->type == POSIXTRACE_SYSCALL_EXIT;
}

/* Adds the name of a system call without interning it: there are too many names. */
static void put_syscall_name(struct perfetto *perfetto, const struct kevent *entry)
{
	char name[KEVENT_CALL_NAME];

	kevent_call_name(entry, name);
	perfetto_text(&perfetto->bytes, EVENT_NAME, name, strlen(name));
}

/* Writes a system call that began on the same track; @begin and @end are its events. */
static void put_syscall(struct perfetto *perfetto, const struct event *end,
			const struct kevent *exit, const struct pairs_result *result,
			const struct kevent *entry, uint32_t number)
{
	const struct event *begin = &result->begin->event;
	uint64_t track = TRACK_THREAD(number);
	size_t packet, message;

	if (!result->proper) {
		track = TRACK_STEM(number, end->type);
		put_named_track(perfetto, track, TRACK_THREAD(number), "system calls");
	}
	message = begin_event(perfetto, begin->time, TYPE_SLICE_BEGIN, track, &packet);
	proto_number(&perfetto->bytes, EVENT_CATEGORY_IIDS, CATEGORY_KERNEL);
	perfetto_args(&perfetto->bytes, "", begin, result->begin->data_len);
	put_syscall_name(perfetto, entry);
	end_event(perfetto, message, packet, 0, NULL);
	put_held(perfetto, result->begin);
	message = begin_event(perfetto, end->time, TYPE_SLICE_END, track, &packet);
	perfetto_arg_signed(&perfetto->bytes, "result", exit->result);
	if (result->lost)
		perfetto_arg_number(&perfetto->bytes, "lost", result->lost);
	end_event(perfetto, message, packet, 0, NULL);
}

/* An interrupt is recorded when it ends. Nested interrupts are nested slices. */
static void put_interrupt(struct perfetto *perfetto, const struct event *event,
			  const struct kevent *kevent, uint32_t number)
{
	uint64_t duration = kevent->duration;
	uint64_t track = TRACK_INTERRUPTS(number);
	char room[KEVENT_CALL_NAME];
	struct kevent_text name = kevent_irq_name(kevent, room);
	size_t packet, message;

	if (duration > event->time)
		duration = event->time;
	put_named_track(perfetto, track, TRACK_THREAD(number), "interrupts");
	message = begin_event(perfetto, event->time - duration, TYPE_SLICE_BEGIN, track, &packet);
	proto_number(&perfetto->bytes, EVENT_CATEGORY_IIDS, CATEGORY_KERNEL);
	perfetto_args(&perfetto->bytes, "", event, event->len);
	perfetto_text(&perfetto->bytes, EVENT_NAME, name.at, name.len);
	end_event(perfetto, message, packet, 0, NULL);
	message = begin_event(perfetto, event->time, TYPE_SLICE_END, track, &packet);
	end_event(perfetto, message, packet, 0, NULL);
}

/* ------------------------------------------------------------------ */
/* All events								*/

static int put_begin(struct perfetto *perfetto, const struct pairs_begin *begin)
{
	struct event event = begin->event;
	uint64_t track;
	uint32_t number;
	int err;

	if (event.type == POSIXTRACE_SYSCALL_ENTRY) {
		event.user = false;
		event.name = "syscall_entry";
	}
	err = find_track(perfetto, &event, &number, &track);
	if (err)
		return err;
	put_instant(perfetto, &event, begin->data_len, track);
	put_held(perfetto, begin);
	return 0;
}

/* Shows the begin and end of a pair that cannot be a slice. */
static int put_parts(struct perfetto *perfetto, const struct pairs_begin *begin,
		     const struct event *end, uint64_t track)
{
	int err = put_begin(perfetto, begin);

	put_instant(perfetto, end, end->len, track);
	return err;
}

static int put_syscall_event(struct perfetto *perfetto, const struct event *event,
			     const struct kevent *kevent, uint32_t number, uint64_t track)
{
	bool is_entry = event->type == POSIXTRACE_SYSCALL_ENTRY;
	struct pairs_result result;
	struct event pair = *event;
	struct buffer *hold;
	struct kevent entry;
	int err;

	pair.user = true;
	pair.name = SYSCALL_END;
	/* A thread is in one system call at a time. An open one has lost its exit. */
	if (is_entry) {
		err = pairs_event(perfetto->pairs, &pair, &result);
		if (!err && result.begin)
			err = put_begin(perfetto, result.begin);
		if (err)
			return err;
		pair.name = SYSCALL_BEGIN;
	}
	err = pairs_event(perfetto->pairs, &pair, &result);
	if (!err && result.forgotten)
		err = put_begin(perfetto, result.forgotten);
	if (err || is_entry)
		return err;
	if (!result.begin) {
		put_instant(perfetto, event, event->len, track);
	} else if (result.begin->event.time > event->time ||
		   !kevent_read(&result.begin->event, &entry) ||
		   !kevent_leaves(kevent, entry.nr) || entry.compat != kevent->compat) {
		err = put_parts(perfetto, result.begin, event, track);
	} else {
		hold = result.proper ? find_hold(perfetto, event, result.begin) : NULL;
		exchange(perfetto, hold);
		put_syscall(perfetto, event, kevent, &result, &entry, number);
		exchange(perfetto, hold);
	}
	return err;
}

static int put_user_event(struct perfetto *perfetto, const struct event *event, uint32_t number,
			  uint64_t track)
{
	struct pairs_result result = { .role = PAIRS_NONE };
	struct posixtrace_value value;
	struct buffer *hold;
	int err = 0;

	if (number != THREADS_OTHERS)
		err = pairs_event(perfetto->pairs, event, &result);
	if (!err && result.forgotten)
		err = put_begin(perfetto, result.forgotten);
	if (err)
		return err;
	if (result.begin && result.begin->event.time > event->time)
		/* The clock went backwards: do not draw a duration. */
		return put_parts(perfetto, result.begin, event, track);
	if (result.begin) {
		hold = result.proper ? find_hold(perfetto, event, result.begin) : NULL;
		if (hold)
			define_name(perfetto, STEM_IID(event->type), result.begin->stem);
		exchange(perfetto, hold);
		put_slice(perfetto, event, &result, number);
		exchange(perfetto, hold);
	} else if (result.role == PAIRS_NONE && event_is_counter(event, &value)) {
		return put_counter(perfetto, event, &value);
	} else if (result.role != PAIRS_BEGIN) {
		put_instant(perfetto, event, event->len, track);
	}
	return 0;
}

static int put_event(struct perfetto *perfetto, const struct event *event)
{
	struct kevent kevent;
	bool is_kernel = kevent_read(event, &kevent);
	uint32_t number;
	uint64_t track;
	int ret;

	if (event->type >= EXPORT_TYPES)
		return -ERANGE;
	ret = find_track(perfetto, event, &number, &track);
	if (!ret && perfetto->export->newly_lost)
		put_lost(perfetto, event);
	if (!ret && number != THREADS_OTHERS) {
		ret = perfetto_ftrace_event(perfetto->ftrace, event, is_kernel ? &kevent : NULL,
					    number);
		perfetto_ftrace_write(perfetto->ftrace, &perfetto->bytes, false);
	}
	if (!ret && is_kernel && number != THREADS_OTHERS && is_syscall(event))
		ret = put_syscall_event(perfetto, event, &kevent, number, track);
	else if (!ret && is_kernel && number != THREADS_OTHERS && event->type == POSIXTRACE_IRQ)
		put_interrupt(perfetto, event, &kevent, number);
	else if (!ret)
		ret = put_user_event(perfetto, event, number, track);
	return ret < 0 ? ret : export_flush(perfetto->export, &perfetto->bytes, WRITE_AT);
}

static int put_all(struct perfetto *perfetto)
{
	const struct pairs_begin *begin;
	struct event event;
	bool first = true;
	int ret;

	while ((ret = export_next(perfetto->export, &event)) > 0) {
		if (first) {
			put_clock(perfetto);
			put_named_track(perfetto, TRACK_SYSTEM, 0, "trace stream");
			put_named_track(perfetto, TRACK_LOST, 0, "lost events");
			first = false;
		}
		ret = put_event(perfetto, &event);
		if (ret)
			return ret;
	}
	while (!ret && (begin = pairs_take(perfetto->pairs))) {
		ret = put_begin(perfetto, begin);
		if (!ret)
			ret = export_flush(perfetto->export, &perfetto->bytes, WRITE_AT);
	}
	perfetto_ftrace_write(perfetto->ftrace, &perfetto->bytes, true);
	return ret ? ret : export_flush(perfetto->export, &perfetto->bytes, 0);
}

int export_perfetto(struct export *export)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	int err;

	if (!perfetto)
		return -ENOMEM;
	perfetto->export = export;
	err = threads_new(EXPORT_THREADS, &perfetto->threads);
	if (!err)
		err = threads_new(EXPORT_THREADS, &perfetto->processes);
	if (!err)
		err = pairs_new(EXPORT_OPEN_MAX, EXPORT_DEPTH_MAX, &perfetto->pairs);
	if (!err)
		err = perfetto_ftrace_new(&perfetto->ftrace);
	if (!err)
		err = put_all(perfetto);
	perfetto_ftrace_free(perfetto->ftrace);
	pairs_free(perfetto->pairs);
	threads_free(perfetto->threads);
	threads_free(perfetto->processes);
	buffer_free(&perfetto->bytes);
	free(perfetto);
	return err;
}
