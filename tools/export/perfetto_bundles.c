// SPDX-License-Identifier: GPL-2.0
/*
 * Bundles of ftrace events for Perfetto: see perfetto_bundles.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/hosts.h"
#include "export/perfetto_args.h"
#include "export/perfetto_bundles.h"
#include "export/perfetto_packets.h"
#include "export/proto.h"
#include "util/escape.h"

#define BUNDLE_SIZE	(8U << 10)	/* write a bundle when it has this many bytes */
#define COMMS		64		/* names in a bundle, at most */

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define TRACE_PACKET			1
#define PACKET_FTRACE_EVENTS		1
#define PACKET_TRUSTED_SEQUENCE_ID	10

#define BUNDLE_CPU			1
#define BUNDLE_EVENT			2
#define BUNDLE_COMPACT_SCHED		4
#define BUNDLE_FTRACE_CLOCK		5

#define COMPACT_INTERN_TABLE		5

#define EVENT_TIMESTAMP			1
#define EVENT_PID			2
#define EVENT_SCHED_SWITCH		4

#define SWITCH_PREV_COMM		1
#define SWITCH_PREV_PID			2
#define SWITCH_PREV_PRIO		3
#define SWITCH_PREV_STATE		4
#define SWITCH_NEXT_COMM		5
#define SWITCH_NEXT_PID			6
#define SWITCH_NEXT_PRIO		7

/* The events have SEQUENCES_FTRACE_CLOCK, not CLOCK_BOOTTIME. */
#define FTRACE_CLOCK_GLOBAL		2

#define STATE_D				2	/* a bit of prev_state: uninterruptible sleep */

/* Columns of the compact switches. Each is an array with one number per switch. */
enum { TIMES, STATES, TIDS, PRIOS, NAMES, COLUMNS };
static const unsigned int column_fields[COLUMNS] = { 1, 2, 3, 4, 6 };

struct bundle {
	struct buffer events;
	struct buffer columns[COLUMNS];
	uint64_t time;			/* time of the last compact switch */
	char comms[COMMS][POSIXTRACE_THREAD_NAME_SIZE];
	unsigned int nr_comms;

	/* The last switch on the CPU. */
	bool known;
	bool full;			/* the last switch was not compact */
	uint64_t last;
	struct running next;		/* the thread that came with the last switch */
};

struct bundles {
	struct bundle *cpus[BUNDLES_CPUS];
	struct bundle *current;
	uint32_t large;			/* number of a CPU with a large bundle, plus 1; or 0 */
	struct buffer nowhere;		/* receives the output if there is no memory for a bundle */
	bool failed;
	size_t event;
	size_t fields;
	uint64_t since;			/* time 0 of the clock of ftrace events */
	unsigned int hosts;		/* number of hosts, for hosts_plain_id() */
};

int bundles_new(unsigned int hosts, struct bundles **bundles)
{
	*bundles = calloc(1, sizeof(**bundles));
	if (!*bundles)
		return -ENOMEM;
	(*bundles)->hosts = hosts;
	return 0;
}

void bundles_since(struct bundles *bundles, uint64_t since)
{
	bundles->since = since;
}

void bundles_free(struct bundles *bundles)
{
	if (!bundles)
		return;
	for (size_t i = 0; i < BUNDLES_CPUS; i++) {
		struct bundle *bundle = bundles->cpus[i];

		for (int column = 0; bundle && column < COLUMNS; column++)
			buffer_free(&bundle->columns[column]);
		if (bundle)
			buffer_free(&bundle->events);
		free(bundle);
	}
	buffer_free(&bundles->nowhere);
	free(bundles);
}

pid_t bundles_plain_id(const struct bundles *bundles, pid_t id)
{
	return id == INT32_MAX ? id : hosts_plain_id(bundles->hosts, id);
}

static struct bundle *find_bundle(struct bundles *bundles, uint32_t cpu)
{
	if (!bundles->cpus[cpu])
		bundles->cpus[cpu] = calloc(1, sizeof(struct bundle));
	bundles->failed |= !bundles->cpus[cpu];
	return bundles->cpus[cpu];
}

static bool is_large(const struct bundle *bundle)
{
	return bundle->events.len >= BUNDLE_SIZE || bundle->columns[TIMES].len >= BUNDLE_SIZE / 4;
}

/* ------------------------------------------------------------------ */
/* Events								*/

struct buffer *bundles_begin(struct bundles *bundles, uint32_t cpu, uint64_t time, pid_t tid,
			     unsigned int type)
{
	struct buffer *to;

	bundles->current = find_bundle(bundles, cpu);
	if (bundles->current && is_large(bundles->current))
		bundles->large = cpu + 1;
	to = bundles->current ? &bundles->current->events : &bundles->nowhere;
	bundles->event = proto_begin(to, BUNDLE_EVENT);
	proto_number(to, EVENT_TIMESTAMP, time - bundles->since);
	proto_number(to, EVENT_PID, (uint32_t)bundles_plain_id(bundles, tid));
	bundles->fields = proto_begin(to, type);
	return to;
}

static struct buffer *current(struct bundles *bundles)
{
	return bundles->current ? &bundles->current->events : &bundles->nowhere;
}

void bundles_end_fields(struct bundles *bundles)
{
	proto_end(current(bundles), bundles->fields);
}

void bundles_end(struct bundles *bundles)
{
	proto_end(current(bundles), bundles->event);
}

/* ------------------------------------------------------------------ */
/* Switches								*/

static void put_comm(struct buffer *to, unsigned int field, const char *comm)
{
	if (comm[0])
		perfetto_text(to, field, comm, strlen(comm));
}

/* Adds a number that the schema declares as int32. */
static void put_int(struct buffer *to, unsigned int field, int value)
{
	proto_number(to, field, (uint64_t)(int64_t)value);
}

static void put_full(struct bundles *bundles, uint32_t cpu, uint64_t time,
		     const struct running *prev, int state, const struct running *next)
{
	struct buffer *to = bundles_begin(bundles, cpu, time, prev->tid, EVENT_SCHED_SWITCH);

	put_comm(to, SWITCH_PREV_COMM, prev->comm);
	put_int(to, SWITCH_PREV_PID, bundles_plain_id(bundles, prev->tid));
	put_int(to, SWITCH_PREV_PRIO, prev->prio);
	proto_number(to, SWITCH_PREV_STATE, (uint64_t)state);
	put_comm(to, SWITCH_NEXT_COMM, next->comm);
	put_int(to, SWITCH_NEXT_PID, bundles_plain_id(bundles, next->tid));
	put_int(to, SWITCH_NEXT_PRIO, next->prio);
	bundles_end_fields(bundles);
	bundles_end(bundles);
}

/* Returns the index of a name in the bundle, or COMMS if there is no room. */
static unsigned int find_comm(struct bundle *bundle, const char *comm)
{
	unsigned int i;

	for (i = 0; i < bundle->nr_comms; i++) {
		if (!strcmp(bundle->comms[i], comm))
			return i;
	}
	if (i < COMMS) {
		strcpy(bundle->comms[i], comm);
		bundle->nr_comms++;
	}
	return i;
}

/*
 * Can a switch be compact? It must follow a switch on the same CPU. Perfetto sorts compact switches
 * before other events with the same time, so no such event may exist whose order matters.
 */
static bool fits(const struct bundle *bundle, uint64_t time, const struct running *prev, int state)
{
	return bundle->known && prev->tid == bundle->next.tid && prev->prio == bundle->next.prio &&
	       !strcmp(prev->comm, bundle->next.comm) &&
	       (bundle->full ? time > bundle->last : time >= bundle->last) && state != STATE_D;
}

void bundles_switch(struct bundles *bundles, uint32_t cpu, uint64_t time,
		    const struct running *prev, int state, const struct running *next)
{
	struct bundle *bundle = find_bundle(bundles, cpu);
	unsigned int comm = COMMS;

	if (!bundle)
		return;
	if (fits(bundle, time, prev, state))
		comm = find_comm(bundle, next->comm);
	if (comm < COMMS) {
		uint64_t since = bundle->columns[TIMES].len ? bundle->time : bundles->since;

		proto_varint(&bundle->columns[TIMES], time - since);
		proto_varint(&bundle->columns[STATES], (uint64_t)state);
		proto_varint(&bundle->columns[TIDS],
			     (uint64_t)bundles_plain_id(bundles, next->tid));
		proto_varint(&bundle->columns[PRIOS], (uint64_t)(int64_t)next->prio);
		proto_varint(&bundle->columns[NAMES], comm);
		bundle->time = time;
	} else {
		put_full(bundles, cpu, time, prev, state, next);
	}
	if (is_large(bundle))
		bundles->large = cpu + 1;
	bundle->full = comm >= COMMS;
	bundle->known = true;
	bundle->last = time;
	bundle->next = *next;
}

/* ------------------------------------------------------------------ */
/* Packets								*/

static void put_compact(struct bundle *bundle, struct buffer *to)
{
	size_t message = proto_begin(to, BUNDLE_COMPACT_SCHED), text;

	for (unsigned int i = 0; i < bundle->nr_comms; i++) {
		text = proto_begin(to, COMPACT_INTERN_TABLE);
		escape_plain(to, bundle->comms[i], strlen(bundle->comms[i]));
		proto_end(to, text);
	}
	for (int i = 0; i < COLUMNS; i++) {
		struct buffer *column = &bundle->columns[i];

		proto_bytes(to, column_fields[i], column->data, column->len);
		to->failed |= column->failed;
		buffer_reset(column);
	}
	proto_end(to, message);
	bundle->nr_comms = 0;
}

static void write_bundle(struct bundles *bundles, uint32_t cpu, struct buffer *to)
{
	struct bundle *bundle = bundles->cpus[cpu];
	size_t packet, message;

	if (!bundle || (!bundle->events.len && !bundle->columns[TIMES].len))
		return;
	packet = proto_begin(to, TRACE_PACKET);
	proto_number(to, PACKET_TRUSTED_SEQUENCE_ID, SEQUENCES_NOW);
	message = proto_begin(to, PACKET_FTRACE_EVENTS);
	proto_number(to, BUNDLE_CPU, cpu);
	proto_number(to, BUNDLE_FTRACE_CLOCK, FTRACE_CLOCK_GLOBAL);
	buffer_put(to, bundle->events.data, bundle->events.len);
	to->failed |= bundle->events.failed;
	buffer_reset(&bundle->events);
	if (bundle->columns[TIMES].len)
		put_compact(bundle, to);
	proto_end(to, message);
	proto_end(to, packet);
}

void bundles_write(struct bundles *bundles, struct buffer *to, bool all)
{
	to->failed |= bundles->failed;
	if (bundles->large)
		write_bundle(bundles, bundles->large - 1, to);
	bundles->large = 0;
	for (uint32_t cpu = 0; all && cpu < BUNDLES_CPUS; cpu++)
		write_bundle(bundles, cpu, to);
}
