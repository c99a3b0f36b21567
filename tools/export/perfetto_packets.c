// SPDX-License-Identifier: GPL-2.0
/*
 * The packets of a Perfetto trace: see perfetto_packets.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_packets.h"
#include "export/proto.h"
#include "util/escape.h"
#include "util/hash.h"

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
#define PACKET_FIRST_ON_SEQUENCE		87

#define DEFAULTS_TIMESTAMP_CLOCK_ID		58

#define SNAPSHOT_CLOCKS				1
#define SNAPSHOT_PRIMARY_TRACE_CLOCK		2
#define CLOCK_CLOCK_ID				1
#define CLOCK_TIMESTAMP				2
#define CLOCK_IS_INCREMENTAL			3

#define EVENT_CATEGORY_IIDS			3
#define EVENT_TYPE				9
#define EVENT_NAME_IID				10
#define EVENT_TRACK_UUID			11
#define EVENT_NAME				23

#define INTERNED_CATEGORIES			1
#define INTERNED_IID				1
#define INTERNED_NAME				2

/* Values. */
#define CLOCK_ID_REALTIME	1
#define CLOCK_ID_FIRST		64	/* first clock id for the clocks of a sequence */
#define CLOCK_ID_LAST		127
#define FLAG_STATE_CLEARED	1

#define FIRST_OLDER		3	/* the first sequence with older events */
#define SPAN			(1ULL << 35)	/* ns; smaller numbers take at most 5 bytes */

/* Limits of interned texts. */
#define TEXTS_MAX	(1U << 14)
#define TEXT_BYTES	(1U << 20)
#define TEXT_LEN	256		/* bytes of a text, with the prefix */
#define TEXT_LEAST	4		/* a shorter text takes no more bytes than its number */
#define SEEN		(1U << 12)

/* Bits of the sequences in which a text is defined. */
#define IN_NOW		1
#define IN_OLDER	2

/* An interned text. */
struct text {
	uint32_t hash;
	uint32_t iid;		/* 0: free */
	uint32_t at;		/* offset in packets.texts */
	uint16_t len;
	uint8_t kind;
	uint8_t defined;	/* IN_* */
};

struct packets {
	struct buffer bytes;
	struct buffer *to;		/* @bytes, or the buffer of packets_hold() */
	struct buffer definitions;	/* for the current event: fields of InternedData */
	unsigned int sequence;		/* sequence of the current event */
	uint64_t last;			/* time of the last event of PACKETS_NOW */
	unsigned int older;		/* sequence for older events; 0: none so far */
	unsigned int clock;		/* current clock of @older */
	uint64_t since;			/* time 0 of @clock */
	struct buffer texts;
	struct text table[2 * TEXTS_MAX];
	size_t nr_texts;
	uint32_t iids[PACKETS_ARG_TEXT + 1];	/* last number of each kind */
	uint32_t seen[SEEN];		/* hashes of texts that were written only once */
};

int packets_new(struct packets **packets)
{
	*packets = calloc(1, sizeof(**packets));
	if (!*packets)
		return -ENOMEM;
	(*packets)->to = &(*packets)->bytes;
	return 0;
}

void packets_free(struct packets *packets)
{
	if (!packets)
		return;
	buffer_free(&packets->bytes);
	buffer_free(&packets->definitions);
	buffer_free(&packets->texts);
	free(packets);
}

struct buffer *packets_bytes(struct packets *packets)
{
	packets->bytes.failed |= packets->definitions.failed | packets->texts.failed;
	return &packets->bytes;
}

struct buffer *packets_to(struct packets *packets)
{
	return packets->to;
}

void packets_hold(struct packets *packets, struct buffer *hold)
{
	packets->to = hold ? hold : &packets->bytes;
}

/* ------------------------------------------------------------------ */
/* Sequences and clocks							*/

static size_t begin_packet(struct buffer *to, unsigned int sequence)
{
	size_t packet = proto_begin(to, TRACE_PACKET);

	proto_number(to, PACKET_TRUSTED_SEQUENCE_ID, sequence);
	return packet;
}

size_t packets_packet(struct packets *packets, unsigned int sequence)
{
	return begin_packet(packets->to, sequence);
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

static void put_categories(struct buffer *to)
{
	static const char * const names[] = { "user", "system", "lost", "kernel", "why" };
	size_t message = proto_begin(to, PACKET_INTERNED_DATA), category;

	for (int i = PACKETS_USER; i <= PACKETS_WHY; i++) {
		category = proto_begin(to, INTERNED_CATEGORIES);
		proto_number(to, INTERNED_IID, i);
		proto_text(to, INTERNED_NAME, names[i - PACKETS_USER]);
		proto_end(to, category);
	}
	proto_end(to, message);
}

/* Sets the clock of a sequence. @is_new: the sequence begins here. */
static void put_defaults(struct buffer *to, unsigned int sequence, unsigned int clock, bool is_new)
{
	size_t packet = begin_packet(to, sequence), message;

	if (is_new)
		proto_number(to, PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
	message = proto_begin(to, PACKET_DEFAULTS);
	proto_number(to, DEFAULTS_TIMESTAMP_CLOCK_ID, clock);
	proto_end(to, message);
	if (is_new)
		put_categories(to);
	proto_end(to, packet);
}

void packets_begin(struct packets *packets, uint64_t time)
{
	struct buffer *to = packets->to;
	size_t packet = begin_packet(to, PACKETS_NOW);
	size_t message = proto_begin(to, PACKET_CLOCK_SNAPSHOT);

	/* Use CLOCK_REALTIME for all times, including the axis of the viewer. */
	put_clock(to, CLOCK_ID_REALTIME, time, false);
	put_clock(to, CLOCK_ID_FIRST, time, true);
	proto_number(to, SNAPSHOT_PRIMARY_TRACE_CLOCK, CLOCK_ID_REALTIME);
	proto_end(to, message);
	proto_number(to, PACKET_FIRST_ON_SEQUENCE, 1);
	proto_end(to, packet);
	put_defaults(to, PACKETS_NOW, CLOCK_ID_FIRST, true);
	packets->last = time;
}

/*
 * Declares a clock that starts at @since, so that the times of older events are small numbers. If
 * the sequence for older events has used all clock ids, begins a new sequence.
 */
static void begin_span(struct packets *packets, uint64_t since)
{
	struct buffer *to = &packets->bytes;
	bool is_new = !packets->older || packets->clock == CLOCK_ID_LAST;
	size_t packet, message;

	if (is_new) {
		packets->older = packets->older ? packets->older + 1 : FIRST_OLDER;
		for (size_t i = 0; i < 2 * TEXTS_MAX; i++)
			packets->table[i].defined &= ~IN_OLDER;
	}
	packets->clock = is_new ? CLOCK_ID_FIRST : packets->clock + 1;
	packets->since = since;
	packet = begin_packet(to, packets->older);
	message = proto_begin(to, PACKET_CLOCK_SNAPSHOT);
	put_clock(to, CLOCK_ID_REALTIME, since, false);
	put_clock(to, packets->clock, 0, false);
	proto_end(to, message);
	if (is_new)
		proto_number(to, PACKET_FIRST_ON_SEQUENCE, 1);
	proto_end(to, packet);
	put_defaults(to, packets->older, packets->clock, is_new);
}

/* Begins the packet of an event, in the sequence where its time takes the fewest bytes. */
static size_t begin_timed_packet(struct packets *packets, uint64_t time)
{
	bool is_held = packets->to != &packets->bytes;
	bool is_older = !is_held && time < packets->last;
	bool is_absolute = is_held;
	size_t packet;

	if (is_older) {
		/*
		 * Do not move the clock for the begin of a long duration, which may be far before
		 * other events.
		 */
		if (!packets->older || (time > packets->since && time - packets->since >= SPAN))
			begin_span(packets, time > SPAN / 4 ? time - SPAN / 4 : 0);
		is_absolute = time < packets->since;
	}
	packets->sequence = is_older ? packets->older : PACKETS_NOW;
	packet = begin_packet(packets->to, packets->sequence);
	if (is_absolute)
		proto_number(packets->to, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_number(packets->to, PACKET_TIMESTAMP, is_absolute ? time :
		     is_older ? time - packets->since : time - packets->last);
	if (!is_absolute && !is_older)
		packets->last = time;
	return packet;
}

/* ------------------------------------------------------------------ */
/* Texts								*/

static uint32_t hash_of(enum packets_kind kind, const unsigned char *text, size_t len)
{
	uint64_t hash = kind, word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = hash_pair(word, hash);
	}
	word = len;
	for (size_t i = 0; i < len; i++)
		word = word << 8 | text[i];
	return (uint32_t)hash_pair(word, hash);
}

/* Returns the slot of a text, or the free slot for it. The table is never full. */
static struct text *find_text(struct packets *packets, enum packets_kind kind, uint32_t hash,
			      const void *bytes, size_t len)
{
	for (size_t i = hash;; i++) {
		struct text *text = &packets->table[i % (2 * TEXTS_MAX)];

		if (!text->iid || (text->hash == hash && text->kind == kind && text->len == len &&
				   !memcmp(packets->texts.data + text->at, bytes, len)))
			return text;
	}
}

/*
 * Checks if the hash of a text is still there from its first occurrence. Does not use the secret of
 * hash_pair(), so that the same log always gives the same trace.
 */
static bool was_seen(struct packets *packets, const unsigned char *text, size_t len)
{
	uint32_t hash = 2166136261, *seen;
	bool same;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ text[i]) * 16777619;
	seen = &packets->seen[hash % SEEN];
	same = *seen == hash;
	*seen = hash;
	return same;
}

static void define(struct packets *packets, const struct text *text)
{
	struct buffer *to = &packets->definitions;
	size_t message = proto_begin(to, text->kind), string;

	proto_number(to, INTERNED_IID, text->iid);
	string = proto_begin(to, INTERNED_NAME);
	escape_plain(to, packets->texts.data + text->at, text->len);
	proto_end(to, string);
	proto_end(to, message);
}

static uint32_t intern(struct packets *packets, enum packets_kind kind, const void *bytes,
		       size_t len)
{
	const uint8_t in = packets->sequence == PACKETS_NOW ? IN_NOW : IN_OLDER;
	uint32_t hash = hash_of(kind, bytes, len);
	struct text *text = find_text(packets, kind, hash, bytes, len);

	if (!text->iid) {
		if (packets->nr_texts == TEXTS_MAX || packets->texts.len + len > TEXT_BYTES ||
		    (kind == PACKETS_ARG_TEXT && !was_seen(packets, bytes, len)))
			return 0;
		*text = (struct text){
			.hash = hash,
			.iid = ++packets->iids[kind],
			.at = (uint32_t)packets->texts.len,
			.len = (uint16_t)len,
			.kind = (uint8_t)kind,
		};
		buffer_put(&packets->texts, bytes, len);
		packets->nr_texts++;
	}
	if (packets->texts.failed)
		return 0;
	if (!(text->defined & in))
		define(packets, text);
	text->defined |= in;
	return text->iid;
}

uint32_t packets_intern(struct packets *packets, enum packets_kind kind, const char *prefix,
			const void *text, size_t len)
{
	size_t prefix_len = strlen(prefix);
	char both[TEXT_LEN];

	if (prefix_len + len > TEXT_LEN || (kind == PACKETS_ARG_TEXT && len < TEXT_LEAST))
		return 0;
	if (!prefix_len)
		return intern(packets, kind, text, len);
	memcpy(both, prefix, prefix_len);
	memcpy(both + prefix_len, text, len);
	return intern(packets, kind, both, prefix_len + len);
}

/* ------------------------------------------------------------------ */
/* Events								*/

struct packets_event packets_event(struct packets *packets, uint64_t time, unsigned int type,
				   uint64_t track)
{
	struct packets_event event;

	/*
	 * Leave out the flag that marks packets with interned names: the file always has the
	 * packets that define the names.
	 */
	event.packet = begin_timed_packet(packets, time);
	event.message = proto_begin(packets->to, PACKET_TRACK_EVENT);
	proto_number(packets->to, EVENT_TYPE, type);
	proto_number(packets->to, EVENT_TRACK_UUID, track);
	return event;
}

void packets_category(struct packets *packets, enum packets_category category)
{
	proto_number(packets->to, EVENT_CATEGORY_IIDS, category);
}

void packets_name(struct packets *packets, const char *name, size_t len)
{
	uint32_t iid = packets_intern(packets, PACKETS_EVENT_NAME, "", name, len);
	size_t text;

	if (iid) {
		proto_number(packets->to, EVENT_NAME_IID, iid);
		return;
	}
	text = proto_begin(packets->to, EVENT_NAME);
	escape_plain(packets->to, name, len);
	proto_end(packets->to, text);
}

void packets_end(struct packets *packets, struct packets_event event)
{
	struct buffer *definitions = &packets->definitions;
	bool is_held = packets->to != &packets->bytes;
	size_t packet = event.packet;

	proto_end(packets->to, event.message);
	/*
	 * The packet of a held event comes later in the file than the definition, but its names may
	 * be used by events before it.
	 */
	if (definitions->len && is_held)
		packet = begin_packet(&packets->bytes, packets->sequence);
	if (definitions->len)
		proto_bytes(&packets->bytes, PACKET_INTERNED_DATA, definitions->data,
			    definitions->len);
	if (definitions->len && is_held)
		proto_end(&packets->bytes, packet);
	proto_end(packets->to, event.packet);
	buffer_reset(definitions);
}

uint32_t packets_symbol(struct packets *packets, const char *name)
{
	struct buffer *definitions = &packets->definitions;
	uint32_t iid;
	size_t packet;

	packets->sequence = PACKETS_NOW;
	iid = packets_intern(packets, PACKETS_SYMBOL, "", name, strlen(name));
	if (definitions->len) {
		packet = begin_packet(&packets->bytes, PACKETS_NOW);
		proto_bytes(&packets->bytes, PACKET_INTERNED_DATA, definitions->data,
			    definitions->len);
		proto_end(&packets->bytes, packet);
	}
	buffer_reset(definitions);
	return iid;
}
