// SPDX-License-Identifier: GPL-2.0
/*
 * The sequences of packets in a Perfetto trace: see perfetto_sequences.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/perfetto_sequences.h"
#include "export/proto.h"

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define TRACE_PACKET				1

#define PACKET_CLOCK_SNAPSHOT			6
#define PACKET_TRUSTED_SEQUENCE_ID		10
#define PACKET_INTERNED_DATA			12
#define PACKET_SEQUENCE_FLAGS			13
#define PACKET_DEFAULTS				59
#define PACKET_FIRST_ON_SEQUENCE		87

#define DEFAULTS_TRACK_EVENT			11
#define DEFAULTS_TIMESTAMP_CLOCK_ID		58
#define EVENT_DEFAULTS_TRACK_UUID		11

#define SNAPSHOT_CLOCKS				1
#define SNAPSHOT_PRIMARY_TRACE_CLOCK		2
#define CLOCK_CLOCK_ID				1
#define CLOCK_TIMESTAMP				2
#define CLOCK_IS_INCREMENTAL			3

/* Values. */
#define CLOCK_ID_REALTIME	1
#define CLOCK_ID_FIRST		64	/* clocks of a sequence */
#define CLOCK_ID_NOW		65	/* the default clock of SEQUENCES_NOW */
#define CLOCK_ID_LAST		127
#define FLAG_STATE_CLEARED	1

#define FIRST_OTHER	3	/* the first sequence without a fixed number */
#define SPAN		(1ULL << 35)	/* ns; a smaller number has at most 5 bytes */

/*
 * A sequence takes 100 bytes, and about 500 for names that are defined there once more. It saves
 * two or three bytes for each event of its track. Giving a sequence to another track takes 14
 * bytes.
 */
#define MANY		96	/* events of a track that are worth a sequence */
#define FEW		4	/* events of a track that are worth the sequence of an idle track */
#define IDLE		256	/* events of other tracks while a track is idle */
#define OWN_MAX		16	/* tracks with a sequence at a time */
#define FIRST_OWN	2	/* the first place of these */
#define TALLIES		1024

/* The events of a track. Tracks with the same lowest bits share one: see find_tally(). */
struct tally {
	uint64_t track;
	uint32_t events;	/* since it had a sequence */
	uint32_t own;		/* index in sequences.own, plus one */
};

/* The sequence of a track. */
struct own {
	unsigned int sequence;
	uint64_t last;		/* time of its last event */
	uint64_t number;	/* number of that event */
	struct tally *tally;	/* the track */
};

struct sequences {
	struct buffer interned;	/* what each sequence defines */
	unsigned int count;	/* the last number of a sequence */
	uint64_t last;		/* time of the last event of SEQUENCES_NOW */
	unsigned int older;	/* sequence of older events; 0: none so far */
	unsigned int clock;	/* its clock */
	uint64_t since;		/* time 0 of that clock */
	uint64_t events;	/* so far */
	struct own own[OWN_MAX];
	uint32_t nr_own;
	struct tally tallies[TALLIES];
};

int sequences_new(const struct buffer *interned, struct sequences **sequences)
{
	*sequences = calloc(1, sizeof(**sequences));
	if (!*sequences)
		return -ENOMEM;
	(*sequences)->count = FIRST_OTHER - 1;
	buffer_put(&(*sequences)->interned, interned->data, interned->len);
	return (*sequences)->interned.failed || interned->failed ? -ENOMEM : 0;
}

void sequences_free(struct sequences *sequences)
{
	if (sequences)
		buffer_free(&sequences->interned);
	free(sequences);
}

/* ------------------------------------------------------------------ */
/* Declarations								*/

size_t sequences_packet(unsigned int sequence, struct buffer *to)
{
	size_t packet = proto_begin(to, TRACE_PACKET);

	proto_number(to, PACKET_TRUSTED_SEQUENCE_ID, sequence);
	return packet;
}

static void put_clock(struct buffer *to, unsigned int id, uint64_t time, bool is_incremental)
{
	size_t clock = proto_begin(to, SNAPSHOT_CLOCKS);

	proto_number(to, CLOCK_CLOCK_ID, id);
	proto_number(to, CLOCK_TIMESTAMP, time);
	if (is_incremental)
		proto_number(to, CLOCK_IS_INCREMENTAL, 1);
	proto_end(to, clock);
}

/*
 * Begins to use a clock in a sequence; @is_new: the sequence begins; @track: track of its events
 * unless they name one, or 0.
 */
static void put_defaults(const struct sequences *sequences, struct buffer *to,
			 unsigned int sequence, unsigned int clock, bool is_new, uint64_t track)
{
	const struct buffer *interned = &sequences->interned;
	size_t packet = sequences_packet(sequence, to), message, event;

	if (is_new)
		proto_number(to, PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
	message = proto_begin(to, PACKET_DEFAULTS);
	proto_number(to, DEFAULTS_TIMESTAMP_CLOCK_ID, clock);
	if (track) {
		event = proto_begin(to, DEFAULTS_TRACK_EVENT);
		proto_number(to, EVENT_DEFAULTS_TRACK_UUID, track);
		proto_end(to, event);
	}
	proto_end(to, message);
	if (is_new)
		proto_bytes(to, PACKET_INTERNED_DATA, interned->data, interned->len);
	proto_end(to, packet);
}

/* Begins a sequence in which each time counts from the previous packet, the first from @time. */
static void begin_sequence(const struct sequences *sequences, struct buffer *to,
			   unsigned int sequence, uint64_t time, uint64_t track)
{
	const unsigned int clock = sequence == SEQUENCES_NOW ? CLOCK_ID_NOW : CLOCK_ID_FIRST;
	size_t packet = sequences_packet(sequence, to);
	size_t message = proto_begin(to, PACKET_CLOCK_SNAPSHOT);

	put_clock(to, CLOCK_ID_REALTIME, time, false);
	put_clock(to, clock, time, true);
	/* All times are CLOCK_REALTIME, even on the viewer's axis. */
	if (sequence == SEQUENCES_NOW)
		proto_number(to, SNAPSHOT_PRIMARY_TRACE_CLOCK, CLOCK_ID_REALTIME);
	proto_end(to, message);
	proto_number(to, PACKET_FIRST_ON_SEQUENCE, 1);
	proto_end(to, packet);
	put_defaults(sequences, to, sequence, clock, true, track);
}

void sequences_begin(struct sequences *sequences, uint64_t time, struct buffer *to)
{
	begin_sequence(sequences, to, SEQUENCES_NOW, time, 0);
	sequences->last = time;
}

/*
 * Declares a clock that starts at @since, so that the times of older events are short. Begins a new
 * sequence if the sequence of older events has no clock left. Returns true if it does.
 */
static bool begin_span(struct sequences *sequences, uint64_t since, struct buffer *to)
{
	bool is_new = !sequences->older || sequences->clock == CLOCK_ID_LAST;
	size_t packet, message;

	if (is_new)
		sequences->older = ++sequences->count;
	sequences->clock = is_new ? CLOCK_ID_FIRST : sequences->clock + 1;
	sequences->since = since;
	packet = sequences_packet(sequences->older, to);
	message = proto_begin(to, PACKET_CLOCK_SNAPSHOT);
	put_clock(to, CLOCK_ID_REALTIME, since, false);
	put_clock(to, sequences->clock, 0, false);
	proto_end(to, message);
	if (is_new)
		proto_number(to, PACKET_FIRST_ON_SEQUENCE, 1);
	proto_end(to, packet);
	put_defaults(sequences, to, sequences->older, sequences->clock, is_new, 0);
	return is_new;
}

/* ------------------------------------------------------------------ */
/* Events								*/

/*
 * Finds the tally of a track, and counts an event. If tracks share a tally, one of them with more
 * than half of the events keeps it. Returns NULL for the others.
 */
static struct tally *find_tally(struct sequences *sequences, uint64_t track)
{
	struct tally *tally = &sequences->tallies[(track ^ track >> 10) % TALLIES];

	if (tally->track == track) {
		tally->events++;
		return tally;
	}
	if (tally->own)
		return NULL;
	if (tally->events) {
		tally->events--;
		return NULL;
	}
	*tally = (struct tally){ .track = track, .events = 1 };
	return tally;
}

/* Returns the sequence that has not been used for the longest time, or NULL if there is none. */
static struct own *find_idle(struct sequences *sequences)
{
	struct own *idle = NULL;

	for (uint32_t i = 0; i < sequences->nr_own; i++) {
		if (!idle || sequences->own[i].number < idle->number)
			idle = &sequences->own[i];
	}
	return idle;
}

/* Returns the sequence of a track. Gives it one if it has many events; otherwise returns NULL. */
static struct own *find_own(struct sequences *sequences, uint64_t time, uint64_t track,
			    struct buffer *to)
{
	struct tally *tally = find_tally(sequences, track);
	struct own *own;

	if (!tally)
		return NULL;
	if (tally->own)
		return &sequences->own[tally->own - 1];
	if (tally->events <= FEW)
		return NULL;
	own = find_idle(sequences);
	if (tally->events <= MANY && (!own || sequences->events - own->number < IDLE))
		return NULL;
	if (own && (sequences->nr_own == OWN_MAX || sequences->events - own->number >= IDLE)) {
		*own->tally = (struct tally){ .track = own->tally->track };
		put_defaults(sequences, to, own->sequence, CLOCK_ID_FIRST, false, track);
	} else {
		own = &sequences->own[sequences->nr_own++];
		own->sequence = ++sequences->count;
		own->last = time;
		begin_sequence(sequences, to, own->sequence, time, track);
	}
	own->tally = tally;
	tally->own = (uint32_t)(own - sequences->own) + 1;
	return own;
}

/* A long duration may have begun before the span: do not move the span for it. */
static void find_older(struct sequences *sequences, uint64_t time, struct buffer *to,
		       struct sequences_packet *packet)
{
	if (!sequences->older || (time > sequences->since && time - sequences->since >= SPAN))
		packet->replaces = begin_span(sequences, time > SPAN / 4 ? time - SPAN / 4 : 0, to);
	packet->sequence = sequences->older;
	packet->place = SEQUENCES_PLACE_OLDER;
	packet->is_absolute = time < sequences->since;
	packet->time = packet->is_absolute ? time : time - sequences->since;
}

void sequences_event(struct sequences *sequences, uint64_t time, uint64_t track, struct buffer *to,
		     struct sequences_packet *packet)
{
	struct own *own = find_own(sequences, time, track, to);

	sequences->events++;
	*packet = (struct sequences_packet){ .names_track = true };
	if (own && time >= own->last) {
		packet->sequence = own->sequence;
		packet->place = FIRST_OWN + (unsigned int)(own - sequences->own);
		packet->names_track = false;
		packet->time = time - own->last;
		own->last = time;
		own->number = sequences->events;
	} else if (time >= sequences->last) {
		packet->sequence = SEQUENCES_NOW;
		packet->place = SEQUENCES_PLACE_NOW;
		packet->time = time - sequences->last;
		sequences->last = time;
	} else {
		find_older(sequences, time, to, packet);
	}
}
