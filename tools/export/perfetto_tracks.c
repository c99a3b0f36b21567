// SPDX-License-Identifier: GPL-2.0
/*
 * Describes the tracks of a Perfetto trace: see perfetto_tracks.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_names.h"
#include "export/export.h"
#include "export/perfetto_args.h"
#include "export/perfetto_tracks.h"
#include "export/proto.h"
#include "util/threads.h"

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define PACKET_TIMESTAMP			8
#define PACKET_TIMESTAMP_CLOCK_ID		58
#define PACKET_TRACK_DESCRIPTOR			60

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

/* Values. */
#define CLOCK_ID_REALTIME	1
#define UNIT_TIME_NS		1
#define UNIT_SIZE_BYTES		3

/* Stands for an unknown kernel thread id. Larger than any real id. */
#define UNKNOWN_TID(number)	(1U << 30 | (number))

#define DESCRIBED		1024	/* size of @described */

struct perfetto_tracks {
	struct packets *packets;
	struct threads *threads;
	struct threads *processes;
	uint64_t described[DESCRIBED];	/* cache of track ids, indexed by their lowest bits */
	uint32_t counter_process[EXPORT_TYPES];	/* last process with such a track, or 0 */
};

int perfetto_tracks_new(struct packets *packets, struct perfetto_tracks **tracks)
{
	struct perfetto_tracks *new = calloc(1, sizeof(*new));
	int err;

	*tracks = new;
	if (!new)
		return -ENOMEM;
	new->packets = packets;
	err = threads_new(EXPORT_THREADS, &new->threads);
	return err ? err : threads_new(EXPORT_THREADS, &new->processes);
}

void perfetto_tracks_free(struct perfetto_tracks *tracks)
{
	if (!tracks)
		return;
	threads_free(tracks->threads);
	threads_free(tracks->processes);
	free(tracks);
}

static struct buffer *to(const struct perfetto_tracks *tracks)
{
	return packets_to(tracks->packets);
}

static size_t begin_track_of(struct perfetto_tracks *tracks, unsigned int sequence, uint64_t uuid,
			     uint64_t parent, size_t *packet)
{
	size_t track;

	*packet = packets_packet(tracks->packets, sequence);
	track = proto_begin(to(tracks), PACKET_TRACK_DESCRIPTOR);
	proto_number(to(tracks), DESCRIPTOR_UUID, uuid);
	if (parent)
		proto_number(to(tracks), DESCRIPTOR_PARENT_UUID, parent);
	return track;
}

static size_t begin_track(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent,
			  size_t *packet)
{
	return begin_track_of(tracks, SEQUENCES_NOW, uuid, parent, packet);
}

static void end_track(struct perfetto_tracks *tracks, size_t track, size_t packet)
{
	proto_end(to(tracks), track);
	proto_end(to(tracks), packet);
}

/*
 * Sets the birth of a process or thread. Earlier events belong to a previous one with the same ids.
 */
static void end_timed_track(struct perfetto_tracks *tracks, size_t track, size_t packet,
			    uint64_t time)
{
	proto_end(to(tracks), track);
	proto_number(to(tracks), PACKET_TIMESTAMP, packets_time(tracks->packets, time));
	proto_number(to(tracks), PACKET_TIMESTAMP_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_end(to(tracks), packet);
}

void perfetto_tracks_name(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent,
			  const char *name)
{
	uint64_t *described = &tracks->described[(uuid ^ uuid >> 10) % DESCRIBED];
	size_t packet, track;

	if (*described == uuid)
		return;
	track = begin_track(tracks, uuid, parent, &packet);
	perfetto_text(to(tracks), DESCRIPTOR_NAME, name, strlen(name));
	end_track(tracks, track, packet);
	*described = uuid;
}

static void put_process(struct perfetto_tracks *tracks, const struct event *event, uint32_t process)
{
	const pid_t pid = source_plain_id(event->source, event->pid);
	size_t packet, message, track = begin_track(tracks, TRACK_PROCESS(process), 0, &packet);
	char name[LABEL_SIZE];

	event_process_label(event, name);
	message = proto_begin(to(tracks), DESCRIPTOR_PROCESS);
	proto_number(to(tracks), PROCESS_PID, (int64_t)pid);
	perfetto_text(to(tracks), PROCESS_NAME, name, strlen(name));
	proto_end(to(tracks), message);
	end_timed_track(tracks, track, packet, event->time);
}

/* Finds the process number of an event. There are never more processes than threads. */
static int find_process(const struct perfetto_tracks *tracks, const struct event *event,
			uint32_t *process)
{
	int ret = threads_find(tracks->processes, event->pid, event_process_key(event), process);

	return ret < 0 ? ret : 0;
}

/*
 * Describes a thread. Perfetto assigns an event without a thread track to the thread that was last
 * described in the same sequence. Such an event would create the thread before its birth, so
 * threads are described in a separate sequence that has no events.
 */
static int put_thread(struct perfetto_tracks *tracks, const struct event *event, uint32_t number)
{
	size_t packet, message, track;
	char name[LABEL_SIZE];
	uint32_t process;
	int err = find_process(tracks, event, &process);

	if (err)
		return err;
	put_process(tracks, event, process);
	track = begin_track_of(tracks, SEQUENCES_THREADS, TRACK_THREAD(number),
			       TRACK_PROCESS(process), &packet);
	perfetto_label(event, name);
	message = proto_begin(to(tracks), DESCRIPTOR_THREAD);
	proto_number(to(tracks), THREAD_PID,
		     (int64_t)source_plain_id(event->source, event->pid));
	proto_number(to(tracks), THREAD_TID,
		     event->tid > 0 ? (uint64_t)source_plain_id(event->source, event->tid) :
				      UNKNOWN_TID(number));
	perfetto_text(to(tracks), THREAD_NAME, name, strlen(name));
	proto_end(to(tracks), message);
	end_timed_track(tracks, track, packet, event->time);
	return 0;
}

int perfetto_tracks_find(struct perfetto_tracks *tracks, const struct event *event,
			 uint32_t *number, uint64_t *track)
{
	int ret;

	*number = THREADS_OTHERS;
	*track = TRACK_SYSTEM;
	if (!event->user && !event->pid)
		return 0;
	ret = threads_find(tracks->threads, event->pid, event_thread_key(event), number);
	*track = TRACK_THREAD(*number);
	if (ret > 0 && *number == THREADS_OTHERS)
		perfetto_tracks_name(tracks, *track, 0, "further threads");
	else if (ret > 0)
		ret = put_thread(tracks, event, *number);
	return ret < 0 ? ret : 0;
}

static void put_counter_track(struct perfetto_tracks *tracks, const struct event *event,
			      uint32_t process)
{
	const char *unit = event->description->counter->unit;
	struct buffer *bytes = to(tracks);
	size_t packet, track, counter;

	track = begin_track(tracks, TRACK_COUNTER(process, event->type), TRACK_PROCESS(process),
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
	end_track(tracks, track, packet);
}

int perfetto_tracks_counter(struct perfetto_tracks *tracks, const struct event *event,
			    uint64_t *track)
{
	uint32_t process;
	int err = find_process(tracks, event, &process);

	if (err)
		return err;
	if (tracks->counter_process[event->type] != process)
		put_counter_track(tracks, event, process);
	tracks->counter_process[event->type] = process;
	*track = TRACK_COUNTER(process, event->type);
	return 0;
}

uint64_t perfetto_tracks_thread(struct perfetto_tracks *tracks, pid_t pid, uint64_t key)
{
	uint32_t number;

	/* A number not seen before belongs to a thread without exported events. */
	if (threads_find(tracks->threads, pid, key, &number) || number == THREADS_OTHERS)
		return 0;
	return TRACK_THREAD(number);
}
