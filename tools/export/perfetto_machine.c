// SPDX-License-Identifier: GPL-2.0
/*
 * The machine that a Perfetto trace shows: see perfetto_machine.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/perfetto_args.h"
#include "export/perfetto_machine.h"
#include "export/proto.h"

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define TRACE_PACKET			1
#define PACKET_CLOCK_SNAPSHOT		6
#define PACKET_SYSTEM_INFO		45
#define PACKET_MACHINE_ID		98

#define SNAPSHOT_CLOCKS			1
#define SNAPSHOT_PRIMARY_TRACE_CLOCK	2
#define CLOCK_CLOCK_ID			1
#define CLOCK_TIMESTAMP			2

#define SYSTEM_UTSNAME			1
#define SYSTEM_MACHINE_NAME		17
#define UTSNAME_SYSNAME			1
#define UTSNAME_RELEASE			3
#define UTSNAME_MACHINE			4

/* Values. */
#define CLOCK_ID_REALTIME	1
#define CLOCK_ID_MONOTONIC	3
#define CLOCK_ID_BOOTTIME	6

/* Perfetto's layout of thread states is used since Linux 4.14; the module requires 6.1. */
#define RELEASE_UNKNOWN		"6.1"

#define PAIRS			64	/* pairs of clocks that are read with one call */

/* The pairs of clocks in all logs of a host. */
struct pairs_of_host {
	struct posixtrace_clock_pair *pair;
	size_t count;
	size_t room;
};

int64_t machine_shift(const struct event *event)
{
	struct posixtrace_clock_time real;

	if (!source_is_log(event->source) ||
	    posixtrace_convert_times(source_log_trid(event->source, event->log), CLOCK_REALTIME,
				     &event->time, 1, &real) || real.value < 0)
		return 0;
	return (int64_t)((uint64_t)real.value - event->time);
}

/* ------------------------------------------------------------------ */
/* Name and kernel							*/

/* Writes the kernel release, which determines the meaning of the state bits. */
static void put_system(struct packets *packets, const struct event *event)
{
	const size_t packet = packets_packet(packets, SEQUENCES_THREADS);
	const char *host = source_host_name(event->source, event->host);
	struct buffer *to = packets_to(packets);
	struct posixtrace_host_info info;
	size_t system, name;

	if (posixtrace_get_host(source_log_trid(event->source, event->log), &info) &&
	    source_get_host(event->source, &info))
		memset(&info, 0, sizeof(info));
	if (!info.release[0])
		strcpy(info.release, RELEASE_UNKNOWN);
	if (!host[0])
		host = info.node;
	system = proto_begin(to, PACKET_SYSTEM_INFO);
	name = proto_begin(to, SYSTEM_UTSNAME);
	proto_text(to, UTSNAME_SYSNAME, "Linux");
	perfetto_text(to, UTSNAME_RELEASE, info.release, strlen(info.release));
	perfetto_text(to, UTSNAME_MACHINE, info.machine, strlen(info.machine));
	proto_end(to, name);
	if (host[0])
		perfetto_text(to, SYSTEM_MACHINE_NAME, host, strlen(host));
	proto_end(to, system);
	proto_end(to, packet);
}

/* ------------------------------------------------------------------ */
/* Clocks								*/

/* Returns Perfetto's number of a clock; 0: it has none. */
static unsigned int clock_id(int clock)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
		return CLOCK_ID_MONOTONIC;
	case CLOCK_BOOTTIME:
		return CLOCK_ID_BOOTTIME;
	default:
		return 0;
	}
}

static int add_pair(struct pairs_of_host *pairs, const struct posixtrace_clock_pair *pair)
{
	const size_t room = pairs->room ? 2 * pairs->room : PAIRS;
	struct posixtrace_clock_pair *new;

	if (pair->value < 0 || !clock_id(pair->clock))
		return 0;
	if (pairs->count == pairs->room) {
		new = reallocarray(pairs->pair, room, sizeof(*new));
		if (!new)
			return -ENOMEM;
		pairs->pair = new;
		pairs->room = room;
	}
	pairs->pair[pairs->count++] = *pair;
	return 0;
}

static int read_pairs(struct pairs_of_host *pairs, trace_id_t trid)
{
	struct posixtrace_clock_pair some[PAIRS];
	unsigned long long next = 0;
	size_t count;
	int err;

	do {
		count = 0;
		err = posixtrace_get_clock_pairs(trid, some, PAIRS, &count, &next);
		/* An old log or a stream has none. */
		if (err)
			return err == ENOMEM ? -err : 0;
		for (size_t i = 0; !err && i < count; i++)
			err = add_pair(pairs, &some[i]);
	} while (!err && count);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct posixtrace_clock_pair *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->clock - y->clock;
}

static void put_clock(struct buffer *to, unsigned int id, uint64_t time)
{
	size_t clock = proto_begin(to, SNAPSHOT_CLOCKS);

	proto_number(to, CLOCK_CLOCK_ID, id);
	proto_number(to, CLOCK_TIMESTAMP, time);
	proto_end(to, clock);
}

/*
 * Writes the pairs of one moment. Returns their number. Without @primary_trace_clock, Perfetto
 * would show CLOCK_BOOTTIME.
 */
static size_t put_moment(struct packets *packets, const struct posixtrace_clock_pair *pairs,
			 size_t count)
{
	const size_t packet = packets_packet(packets, SEQUENCES_THREADS);
	struct buffer *to = packets_to(packets);
	size_t snapshot = proto_begin(to, PACKET_CLOCK_SNAPSHOT), i;

	put_clock(to, CLOCK_ID_REALTIME, packets_time(packets, pairs->time));
	for (i = 0; i < count && pairs[i].time == pairs->time; i++) {
		/* Perfetto refuses a snapshot that has a clock twice. */
		if (!i || pairs[i].clock != pairs[i - 1].clock)
			put_clock(to, clock_id(pairs[i].clock), (uint64_t)pairs[i].value);
	}
	proto_number(to, SNAPSHOT_PRIMARY_TRACE_CLOCK, CLOCK_ID_REALTIME);
	proto_end(to, snapshot);
	proto_end(to, packet);
	return i;
}

static int put_clocks(struct packets *packets, const struct event *event)
{
	const struct source *source = event->source;
	struct pairs_of_host pairs = { };
	int err = 0;

	for (size_t i = 0; !err && source_is_log(source) && i < source_logs(source); i++) {
		if (source_log_host(source, i) == event->host)
			err = read_pairs(&pairs, source_log_trid(source, i));
	}
	if (!err && pairs.count)
		qsort(pairs.pair, pairs.count, sizeof(*pairs.pair), compare);
	for (size_t i = 0; !err && i < pairs.count;)
		i += put_moment(packets, &pairs.pair[i], pairs.count - i);
	free(pairs.pair);
	return err;
}

int machine_put(struct packets *packets, const struct event *event)
{
	put_system(packets, event);
	return put_clocks(packets, event);
}

/* ------------------------------------------------------------------ */
/* Packets								*/

/* Reads the length of the packet at @at. Returns where the packet begins. */
static size_t packet_at(const struct buffer *packets, size_t at, size_t *len)
{
	unsigned int shift = 0;

	*len = 0;
	at++;	/* the tag, TRACE_PACKET */
	do {
		*len |= (size_t)(packets->data[at] & 0x7f) << shift;
		shift += 7;
	} while (packets->data[at++] & 0x80);
	return at;
}

void machine_stamp(const struct buffer *packets, uint32_t id, struct buffer *to)
{
	size_t packet, len;

	to->failed |= packets->failed;
	if (to->failed)
		return;
	if (!id) {
		buffer_put(to, packets->data, packets->len);
		return;
	}
	for (size_t at = 0; at < packets->len; at += len) {
		at = packet_at(packets, at, &len);
		packet = proto_begin(to, TRACE_PACKET);
		buffer_put(to, packets->data + at, len);
		proto_number(to, PACKET_MACHINE_ID, id);
		proto_end(to, packet);
	}
}
