// SPDX-License-Identifier: GPL-2.0
/*
 * The packets of a Perfetto trace: see perfetto_packets.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_fields.h"
#include "export/perfetto_packets.h"
#include "export/proto.h"
#include "util/escape.h"
#include "util/hash.h"

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define PACKET_TIMESTAMP			8
#define PACKET_TRACK_EVENT			11
#define PACKET_INTERNED_DATA			12
#define PACKET_TIMESTAMP_CLOCK_ID		58

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

/* Limits of interned texts. */
#define TEXTS_MAX	(1U << 14)
#define TEXT_BYTES	(1U << 20)
#define TEXT_LEN	256		/* bytes of a text, with the prefix */
#define TEXT_LEAST	4		/* a shorter text takes no more bytes than its number */
#define SEEN		(1U << 12)

/* An interned text. */
struct text {
	uint32_t hash;
	uint32_t iid;		/* 0: free */
	uint32_t at;		/* offset in packets.texts */
	uint16_t len;
	uint8_t kind;
	uint64_t defined;	/* places of sequences, a bit for each */
};

struct packets {
	struct buffer bytes;
	struct buffer *to;		/* @bytes, or a buffer for later */
	struct buffer definitions;	/* for the current event: fields of InternedData */
	struct sequences *sequences;
	struct fields *fields;
	int64_t shift;			/* what is added to all times */
	unsigned int sequence;		/* sequence of the current event */
	unsigned int place;		/* place of that sequence */
	struct buffer texts;
	struct text table[2 * TEXTS_MAX];
	size_t nr_texts;
	uint32_t iids[PACKETS_ARG_TEXT + 1];	/* last number of each kind */
	uint32_t seen[SEEN];		/* hashes of texts that were written only once */
};

static void put_categories(struct buffer *to)
{
	static const char * const names[] = { "user", "system", "lost", "kernel", "why" };
	size_t category;

	for (int i = PACKETS_USER; i <= PACKETS_WHY; i++) {
		category = proto_begin(to, INTERNED_CATEGORIES);
		proto_number(to, INTERNED_IID, i);
		proto_text(to, INTERNED_NAME, names[i - PACKETS_USER]);
		proto_end(to, category);
	}
}

int packets_new(struct fields *fields, int64_t shift, struct packets **packets)
{
	struct packets *new = calloc(1, sizeof(*new));
	int err;

	*packets = new;
	if (!new)
		return -ENOMEM;
	new->to = &new->bytes;
	new->fields = fields;
	new->shift = shift;
	put_categories(&new->definitions);
	err = sequences_new(&new->definitions, &new->sequences);
	buffer_reset(&new->definitions);
	return err;
}

void packets_free(struct packets *packets)
{
	if (!packets)
		return;
	sequences_free(packets->sequences);
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

uint64_t packets_time(const struct packets *packets, uint64_t time)
{
	return time + (uint64_t)packets->shift;
}

struct buffer *packets_to(struct packets *packets)
{
	return packets->to;
}

void packets_hold(struct packets *packets, struct buffer *hold)
{
	packets->to = hold ? hold : &packets->bytes;
}

size_t packets_packet(struct packets *packets, unsigned int sequence)
{
	return sequences_packet(sequence, packets->to);
}

void packets_begin(struct packets *packets, uint64_t time)
{
	sequences_begin(packets->sequences, packets_time(packets, time), packets->to);
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
	const uint64_t in = 1ULL << packets->place;
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

/* Finds the sequence of an event. A held one is in the first sequence, with its whole time. */
static void place_event(struct packets *packets, uint64_t time, uint64_t track,
			struct sequences_packet *packet)
{
	if (packets->to == &packets->bytes) {
		sequences_event(packets->sequences, time, track, packets->to, packet);
	} else {
		*packet = (struct sequences_packet){
			.sequence = SEQUENCES_NOW,
			.place = SEQUENCES_PLACE_NOW,
			.is_absolute = true,
			.names_track = true,
			.time = time,
		};
	}
	packets->sequence = packet->sequence;
	packets->place = packet->place;
	for (size_t i = 0; packet->replaces && i < 2 * TEXTS_MAX; i++)
		packets->table[i].defined &= ~(1ULL << packet->place);
}

struct packets_event packets_event(struct packets *packets, uint64_t time, unsigned int type,
				   uint64_t track)
{
	struct sequences_packet packet;
	struct packets_event event;

	/*
	 * Leave out the flag that marks packets with interned names: the file always has the
	 * packets that define the names.
	 */
	place_event(packets, packets_time(packets, time), track, &packet);
	event.packet = sequences_packet(packet.sequence, packets->to);
	if (packet.is_absolute)
		proto_number(packets->to, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_number(packets->to, PACKET_TIMESTAMP, packet.time);
	event.message = proto_begin(packets->to, PACKET_TRACK_EVENT);
	proto_number(packets->to, EVENT_TYPE, type);
	if (packet.names_track)
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
		packet = sequences_packet(packets->sequence, &packets->bytes);
	if (definitions->len)
		proto_bytes(&packets->bytes, PACKET_INTERNED_DATA, definitions->data,
			    definitions->len);
	if (definitions->len && is_held)
		proto_end(&packets->bytes, packet);
	proto_end(packets->to, event.packet);
	buffer_reset(definitions);
}

unsigned int packets_field(struct packets *packets, const char *prefix, const char *name,
			   unsigned int type)
{
	return fields_find(packets->fields, prefix, name, type);
}

uint32_t packets_symbol(struct packets *packets, const char *name)
{
	struct buffer *definitions = &packets->definitions;
	uint32_t iid;
	size_t packet;

	packets->sequence = SEQUENCES_NOW;
	packets->place = SEQUENCES_PLACE_NOW;
	iid = packets_intern(packets, PACKETS_SYMBOL, "", name, strlen(name));
	if (definitions->len) {
		packet = sequences_packet(SEQUENCES_NOW, &packets->bytes);
		proto_bytes(&packets->bytes, PACKET_INTERNED_DATA, definitions->data,
			    definitions->len);
		proto_end(&packets->bytes, packet);
	}
	buffer_reset(definitions);
	return iid;
}
