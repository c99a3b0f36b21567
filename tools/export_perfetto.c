// SPDX-License-Identifier: GPL-2.0
/*
 * Writes Perfetto's own format: a series of TracePacket messages, all of one sequence.
 *
 * A begin and its end become a slice, whose two packets are written at the end: readers sort
 * packets by time. Slices of one thread must be nested. A slice that is not gets a track of its
 * own below that of the thread. Everything else is an instant, also a begin without an end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "export.h"
#include "pairs.h"
#include "proto.h"
#include "threads.h"

#define WRITE_AT	(1 << 18)	/* bytes */

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define TRACE_PACKET				1

#define PACKET_CLOCK_SNAPSHOT			6
#define PACKET_TIMESTAMP			8
#define PACKET_TRUSTED_SEQUENCE_ID		10
#define PACKET_TRACK_EVENT			11
#define PACKET_INTERNED_DATA			12
#define PACKET_SEQUENCE_FLAGS			13
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

#define PROCESS_PID				1
#define PROCESS_NAME				6

#define THREAD_PID				1
#define THREAD_TID				2
#define THREAD_NAME				5

#define EVENT_CATEGORY_IIDS			3
#define EVENT_DEBUG_ANNOTATIONS			4
#define EVENT_TYPE				9
#define EVENT_NAME_IID				10
#define EVENT_TRACK_UUID			11
#define EVENT_NAME				23

#define ANNOTATION_BOOL				2
#define ANNOTATION_UINT				3
#define ANNOTATION_INT				4
#define ANNOTATION_DOUBLE			5
#define ANNOTATION_STRING			6
#define ANNOTATION_POINTER			7
#define ANNOTATION_NAME				10

#define INTERNED_CATEGORIES			1
#define INTERNED_EVENT_NAMES			2
#define INTERNED_IID				1
#define INTERNED_NAME				2

/* Values. */
#define CLOCK_ID_REALTIME	1
#define SEQUENCE		1
#define FLAG_STATE_CLEARED	1
#define FLAG_NEEDS_STATE	2
#define TYPE_SLICE_BEGIN	1
#define TYPE_SLICE_END		2
#define TYPE_INSTANT		3

#define CATEGORY_USER		1
#define CATEGORY_SYSTEM		2
#define CATEGORY_LOST		3

/* Ids of interned names: by event type, and for stems by the type of the end. */
#define NAME_IID(type)		((type) + 1)
#define STEM_IID(type)		((type) + 1 + EXPORT_TYPES)
#define NAMES			(2 * EXPORT_TYPES + 1)

/* Ids of tracks: the kind in the top byte, then a number. */
#define TRACK_LOST		(1ULL << 56)
#define TRACK_SYSTEM		(2ULL << 56)
#define TRACK_PROCESS(pid)	(3ULL << 56 | (uint32_t)(pid))
#define TRACK_THREAD(number)	(4ULL << 56 | (number))
#define TRACK_STEM(number, type) (5ULL << 56 | (uint64_t)(number) << 16 | (type))

struct perfetto {
	struct export *export;
	struct buffer bytes;
	struct threads *threads;
	struct pairs *pairs;
	bool interned[NAMES];
};

/* ------------------------------------------------------------------ */
/* Packets								*/

static size_t begin_packet(struct perfetto *perfetto)
{
	size_t packet = proto_begin(&perfetto->bytes, TRACE_PACKET);

	proto_number(&perfetto->bytes, PACKET_TRUSTED_SEQUENCE_ID, SEQUENCE);
	return packet;
}

/* Declares that times, also those of the viewer's axis, are CLOCK_REALTIME. */
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
	for (int i = CATEGORY_USER; i <= CATEGORY_LOST; i++) {
		static const char * const names[] = { "user", "system", "lost" };
		size_t category = proto_begin(bytes, INTERNED_CATEGORIES);

		proto_number(bytes, INTERNED_IID, i);
		proto_text(bytes, INTERNED_NAME, names[i - CATEGORY_USER]);
		proto_end(bytes, category);
	}
	proto_end(bytes, message);
	proto_end(bytes, packet);
}

static size_t begin_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent,
			  size_t *packet)
{
	size_t track;

	*packet = begin_packet(perfetto);
	track = proto_begin(&perfetto->bytes, PACKET_TRACK_DESCRIPTOR);
	proto_number(&perfetto->bytes, DESCRIPTOR_UUID, uuid);
	if (parent)
		proto_number(&perfetto->bytes, DESCRIPTOR_PARENT_UUID, parent);
	return track;
}

static void end_track(struct perfetto *perfetto, size_t track, size_t packet)
{
	proto_end(&perfetto->bytes, track);
	proto_end(&perfetto->bytes, packet);
}

static void put_escaped(struct buffer *bytes, unsigned int field, const void *text, size_t len)
{
	size_t message = proto_begin(bytes, field);

	escape_plain(bytes, text, len);
	proto_end(bytes, message);
}

static void put_named_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent,
			    const char *name)
{
	size_t packet, track = begin_track(perfetto, uuid, parent, &packet);

	put_escaped(&perfetto->bytes, DESCRIPTOR_NAME, name, strlen(name));
	end_track(perfetto, track, packet);
}

static void put_process(struct perfetto *perfetto, pid_t pid)
{
	size_t packet, message, track = begin_track(perfetto, TRACK_PROCESS(pid), 0, &packet);
	char name[32];

	snprintf(name, sizeof(name), "process %d", (int)pid);
	message = proto_begin(&perfetto->bytes, DESCRIPTOR_PROCESS);
	proto_number(&perfetto->bytes, PROCESS_PID, (int64_t)pid);
	proto_text(&perfetto->bytes, PROCESS_NAME, name);
	proto_end(&perfetto->bytes, message);
	end_track(perfetto, track, packet);
}

static void put_thread(struct perfetto *perfetto, const struct event *event, uint32_t number)
{
	size_t packet, message, track;
	char name[32];

	put_process(perfetto, event->pid);
	track = begin_track(perfetto, TRACK_THREAD(number), TRACK_PROCESS(event->pid), &packet);
	snprintf(name, sizeof(name), "thread %#" PRIx64, event->thread);
	message = proto_begin(&perfetto->bytes, DESCRIPTOR_THREAD);
	proto_number(&perfetto->bytes, THREAD_PID, (int64_t)event->pid);
	proto_number(&perfetto->bytes, THREAD_TID, number);
	proto_text(&perfetto->bytes, THREAD_NAME, name);
	proto_end(&perfetto->bytes, message);
	end_track(perfetto, track, packet);
}

/* Finds the track of an event's thread. Describes the track at its first use. */
static int find_track(struct perfetto *perfetto, const struct event *event, uint32_t *number,
		      uint64_t *track)
{
	int ret;

	*number = THREADS_OTHERS;
	*track = TRACK_SYSTEM;
	if (!event->user && !event->pid)
		return 0;
	ret = threads_find(perfetto->threads, event->pid, event->thread, number);
	*track = TRACK_THREAD(*number);
	if (ret > 0 && *number == THREADS_OTHERS)
		put_named_track(perfetto, *track, 0, "further threads");
	else if (ret > 0)
		put_thread(perfetto, event, *number);
	return ret < 0 ? ret : 0;
}

/* ------------------------------------------------------------------ */
/* Annotations								*/

static size_t begin_annotation(struct buffer *bytes, const char *prefix, const char *name)
{
	size_t message = proto_begin(bytes, EVENT_DEBUG_ANNOTATIONS), text;

	text = proto_begin(bytes, ANNOTATION_NAME);
	buffer_text(bytes, prefix);
	buffer_text(bytes, name);
	proto_end(bytes, text);
	return message;
}

static void put_fields(struct buffer *bytes, const char *prefix, const struct layout *layout,
		       const struct event *event)
{
	const unsigned char *data = event->data;
	struct layout_value value;
	size_t message;

	for (size_t i = 0; i < layout->nr_fields; i++, data += value.size) {
		layout_value(layout, i, data, event->data + event->len - data, &value);
		if (value.field->type == LAYOUT_PAD)
			continue;
		message = begin_annotation(bytes, prefix, value.field->name);
		switch (value.field->type) {
		case LAYOUT_UNSIGNED:
			proto_number(bytes, ANNOTATION_UINT, layout_unsigned(&value));
			break;
		case LAYOUT_SIGNED:
			proto_number(bytes, ANNOTATION_INT, layout_signed(&value));
			break;
		case LAYOUT_HEX:
			proto_number(bytes, ANNOTATION_POINTER, layout_unsigned(&value));
			break;
		case LAYOUT_FLOAT:
			proto_double(bytes, ANNOTATION_DOUBLE, layout_float(&value));
			break;
		default:
			put_escaped(bytes, ANNOTATION_STRING, value.data, value.len);
			break;
		}
		proto_end(bytes, message);
	}
}

static void put_data(struct buffer *bytes, const char *prefix, const struct event *event)
{
	size_t len = event->len < EXPORT_DATA_MAX ? event->len : EXPORT_DATA_MAX;
	size_t text_len = len && !event->data[len - 1] ? len - 1 : len;
	size_t message, text;

	if (!len)
		return;
	if (escape_is_text(event->data, text_len)) {
		message = begin_annotation(bytes, prefix, "text");
		put_escaped(bytes, ANNOTATION_STRING, event->data, text_len);
	} else {
		message = begin_annotation(bytes, prefix, "bytes");
		text = proto_begin(bytes, ANNOTATION_STRING);
		escape_hex(bytes, event->data, len);
		proto_end(bytes, text);
	}
	proto_end(bytes, message);
}

static void put_annotation(struct buffer *bytes, const char *prefix, const char *name,
			   unsigned int type, uint64_t value)
{
	size_t message = begin_annotation(bytes, prefix, name);

	proto_number(bytes, type, value);
	proto_end(bytes, message);
}

static void put_annotations(struct perfetto *perfetto, const char *prefix,
			    const struct event *event, size_t data_len)
{
	struct buffer *bytes = &perfetto->bytes;
	const struct layout *layout = NULL;

	if (event->has_data) {
		if (event->len == data_len)
			layout = export_layout(perfetto->export, event);
		if (layout)
			put_fields(bytes, prefix, layout, event);
		else
			put_data(bytes, prefix, event);
		if (!layout && (data_len > event->len || event->len > EXPORT_DATA_MAX))
			put_annotation(bytes, prefix, "data_len", ANNOTATION_UINT, data_len);
	}
	if (event->truncated != POSIX_TRACE_NOT_TRUNCATED)
		put_annotation(bytes, prefix, "data_truncated", ANNOTATION_BOOL, 1);
	if (event->address)
		put_annotation(bytes, prefix, "program_address", ANNOTATION_POINTER,
			       event->address);
	if (event->cpu != SOURCE_NO_CPU)
		put_annotation(bytes, prefix, "on_cpu", ANNOTATION_UINT, event->cpu);
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

/* Adds the name at its first use; later events refer to it by its id. */
static void end_event(struct perfetto *perfetto, size_t event, size_t packet, size_t iid,
		      const char *name)
{
	struct buffer *bytes = &perfetto->bytes;

	if (iid)
		proto_number(bytes, EVENT_NAME_IID, iid);
	proto_end(bytes, event);
	if (iid && !perfetto->interned[iid]) {
		size_t interned = proto_begin(bytes, PACKET_INTERNED_DATA);
		size_t message = proto_begin(bytes, INTERNED_EVENT_NAMES);

		proto_number(bytes, INTERNED_IID, iid);
		put_escaped(bytes, INTERNED_NAME, name, strlen(name));
		proto_end(bytes, message);
		proto_end(bytes, interned);
		perfetto->interned[iid] = true;
	}
	proto_end(bytes, packet);
}

static void put_instant(struct perfetto *perfetto, const struct event *event, size_t data_len,
			uint64_t track)
{
	size_t packet;
	size_t message = begin_event(perfetto, event->time, TYPE_INSTANT, track, &packet);

	proto_number(&perfetto->bytes, EVENT_CATEGORY_IIDS,
		     event->user ? CATEGORY_USER : CATEGORY_SYSTEM);
	put_annotations(perfetto, "", event, data_len);
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
	put_annotation(&perfetto->bytes, "", "lost", ANNOTATION_UINT, lost);
	end_event(perfetto, message, packet, 0, NULL);
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
	put_annotations(perfetto, "", &begin->event, begin->data_len);
	end_event(perfetto, message, packet, STEM_IID(end->type), begin->stem);
	message = begin_event(perfetto, end->time, TYPE_SLICE_END, track, &packet);
	put_annotations(perfetto, "end_", end, end->len);
	if (result->lost)
		put_annotation(&perfetto->bytes, "", "lost", ANNOTATION_UINT, result->lost);
	end_event(perfetto, message, packet, 0, NULL);
}

static int put_begin(struct perfetto *perfetto, const struct pairs_begin *begin)
{
	uint64_t track;
	uint32_t number;
	int err = find_track(perfetto, &begin->event, &number, &track);

	if (!err)
		put_instant(perfetto, &begin->event, begin->data_len, track);
	return err;
}

static int put_event(struct perfetto *perfetto, const struct event *event)
{
	struct pairs_result result = { .role = PAIRS_NONE };
	uint32_t number;
	uint64_t track;
	int err;

	if (event->type >= EXPORT_TYPES)
		return -ERANGE;
	err = find_track(perfetto, event, &number, &track);
	if (!err && number != THREADS_OTHERS)
		err = pairs_event(perfetto->pairs, event, &result);
	if (err)
		return err;
	if (perfetto->export->newly_lost)
		put_lost(perfetto, event);
	if (result.forgotten)
		err = put_begin(perfetto, result.forgotten);
	if (result.begin && result.begin->event.time > event->time) {
		/* The clock went back: there is no duration. */
		err = put_begin(perfetto, result.begin);
		put_instant(perfetto, event, event->len, track);
	} else if (result.begin) {
		put_slice(perfetto, event, &result, number);
	} else if (result.role != PAIRS_BEGIN) {
		put_instant(perfetto, event, event->len, track);
	}
	return err ? err : export_flush(perfetto->export, &perfetto->bytes, WRITE_AT);
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
		err = pairs_new(EXPORT_OPEN_MAX, EXPORT_DEPTH_MAX, &perfetto->pairs);
	if (!err)
		err = put_all(perfetto);
	pairs_free(perfetto->pairs);
	threads_free(perfetto->threads);
	buffer_free(&perfetto->bytes);
	free(perfetto);
	return err;
}
