// SPDX-License-Identifier: GPL-2.0
/*
 * Extensions of Perfetto's schema for frequent arguments: see perfetto_fields.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto_fields.h"
#include "export/perfetto_sequences.h"
#include "export/proto.h"
#include "util/hash.h"

/* A description takes about 70 bytes, and saves three bytes for each use. */
#define MANY		32	/* uses that are worth an extension */

/* Extensions with two bytes of field number that Perfetto and Chrome do not use. */
#define FIRST		1800
#define LAST		2047

#define SLOTS		512	/* a power of two */
#define SLOTS_USED	256	/* at most */
#define NAME_SIZE	64

/* Field numbers from Perfetto's protos/perfetto/trace and from descriptor.proto. */
#define PACKET_EXTENSION_DESCRIPTOR	72
#define EXTENSION_SET			1
#define SET_FILE			1
#define FILE_NAME			1
#define FILE_EXTENSION			7
#define FIELD_NAME			1
#define FIELD_EXTENDEE			2
#define FIELD_NUMBER			3
#define FIELD_LABEL			4
#define FIELD_TYPE			5

#define LABEL_OPTIONAL			1

/*
 * Arguments of kernel events, which have the same number in each trace, so that traces can be read
 * together. Only append to this list.
 */
static const struct {
	const char *name;
	unsigned int type;
} known[] = {
	{ "on_cpu", FIELDS_UINT },
	{ "result", FIELDS_INT },
	{ "user", FIELDS_BOOL },
	{ "write", FIELDS_BOOL },
	{ "exec", FIELDS_BOOL },
	{ "protection", FIELDS_BOOL },
	{ "number", FIELDS_UINT },
	{ "number", FIELDS_INT },
};

#define KNOWN	(sizeof(known) / sizeof(known[0]))

struct slot {
	char name[NAME_SIZE];	/* empty: free */
	uint8_t type;
	uint8_t uses;		/* until it has a number */
	uint16_t number;	/* of the extension, or 0 */
};

struct fields {
	struct slot slots[SLOTS];
	unsigned int used;
	unsigned int last;	/* last number that was given */
	bool fixed;		/* only those of known_names */
	struct buffer packets;
};

int fields_new(bool fixed, struct fields **fields)
{
	*fields = calloc(1, sizeof(**fields));
	if (!*fields)
		return -ENOMEM;
	(*fields)->last = FIRST + KNOWN - 1;
	(*fields)->fixed = fixed;
	return 0;
}

void fields_free(struct fields *fields)
{
	if (fields)
		buffer_free(&fields->packets);
	free(fields);
}

/* Perfetto replaces some characters in the names of annotations, so take only usual names. */
static bool is_usual(const char *name)
{
	for (; *name; name++) {
		char lower = (char)(*name | 0x20);

		if (!(lower >= 'a' && lower <= 'z') && !(*name >= '0' && *name <= '9') &&
		    *name != '_')
			return false;
	}
	return true;
}

/* Returns the slot of an argument, or a free one. There is always a free slot. */
static struct slot *find_slot(struct fields *fields, const char *name, unsigned int type)
{
	for (uint64_t i = hash_bytes(type, name, strlen(name));; i++) {
		struct slot *slot = &fields->slots[i % SLOTS];

		if (!slot->name[0] || (slot->type == type && !strcmp(slot->name, name)))
			return slot;
	}
}

/* Describe each extension in a separate file, because readers skip a file whose name they know. */
static void describe(struct fields *fields, const struct slot *slot)
{
	static const unsigned int types[] = {
		[FIELDS_BOOL] = 8, [FIELDS_UINT] = 4, [FIELDS_INT] = 18, [FIELDS_DOUBLE] = 1,
	};
	struct buffer *to = &fields->packets;
	size_t packet = sequences_packet(SEQUENCES_NOW, to);
	size_t descriptor = proto_begin(to, PACKET_EXTENSION_DESCRIPTOR);
	size_t set = proto_begin(to, EXTENSION_SET);
	size_t file = proto_begin(to, SET_FILE), field, name;

	name = proto_begin(to, FILE_NAME);
	buffer_printf(to, "posixtrace/%u", (unsigned int)slot->number);
	proto_end(to, name);
	field = proto_begin(to, FILE_EXTENSION);
	name = proto_begin(to, FIELD_NAME);
	buffer_printf(to, "debug.%s", slot->name);
	proto_end(to, name);
	proto_text(to, FIELD_EXTENDEE, ".perfetto.protos.TrackEvent");
	proto_number(to, FIELD_NUMBER, slot->number);
	proto_number(to, FIELD_LABEL, LABEL_OPTIONAL);
	proto_number(to, FIELD_TYPE, types[slot->type]);
	proto_end(to, field);
	proto_end(to, file);
	proto_end(to, set);
	proto_end(to, descriptor);
	proto_end(to, packet);
}

/* Returns a number for an argument, or 0 if it must remain an annotation. */
static unsigned int next_number(struct fields *fields, const struct slot *slot)
{
	for (unsigned int i = 0; i < KNOWN; i++) {
		if (known[i].type == slot->type && !strcmp(known[i].name, slot->name))
			return FIRST + i;
	}
	return fields->fixed || fields->last == LAST ? 0 : ++fields->last;
}

unsigned int fields_find(struct fields *fields, const char *prefix, const char *name,
			 unsigned int type)
{
	size_t prefix_len = strlen(prefix), len = strlen(name);
	char both[NAME_SIZE];
	struct slot *slot;

	if (!len || prefix_len + len >= NAME_SIZE)
		return 0;
	memcpy(both, prefix, prefix_len);
	memcpy(both + prefix_len, name, len + 1);
	slot = find_slot(fields, both, type);
	if (slot->number)
		return slot->number;
	if (!slot->name[0]) {
		if (fields->used == SLOTS_USED || !is_usual(both))
			return 0;
		fields->used++;
		strcpy(slot->name, both);
		slot->type = (uint8_t)type;
	}
	if (slot->uses < MANY)
		slot->uses++;
	if (slot->uses == MANY)
		slot->number = (uint16_t)next_number(fields, slot);
	if (slot->number)
		describe(fields, slot);
	return slot->number;
}

void fields_write(struct fields *fields, struct buffer *to)
{
	buffer_put(to, fields->packets.data, fields->packets.len);
	to->failed |= fields->packets.failed;
	buffer_reset(&fields->packets);
}
