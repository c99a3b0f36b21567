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
	unsigned int written;	/* last number that the trace describes */
	struct buffer packets;
};

int fields_new(struct fields **fields)
{
	*fields = calloc(1, sizeof(**fields));
	if (!*fields)
		return -ENOMEM;
	(*fields)->last = FIRST - 1;
	(*fields)->written = FIRST - 1;
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
		[FIELDS_BOOL] = 8, [FIELDS_UINT] = 4, [FIELDS_INT] = 3, [FIELDS_DOUBLE] = 1,
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
		return slot->number <= fields->written ? slot->number : 0;
	if (!slot->name[0]) {
		if (fields->used == SLOTS_USED || !is_usual(both))
			return 0;
		fields->used++;
		strcpy(slot->name, both);
		slot->type = (uint8_t)type;
	}
	if (slot->uses < MANY)
		slot->uses++;
	if (slot->uses == MANY && fields->last < LAST) {
		slot->number = (uint16_t)(++fields->last);
		describe(fields, slot);
	}
	return 0;
}

void fields_write(struct fields *fields, struct buffer *to)
{
	if (fields->written == fields->last)
		return;
	buffer_put(to, fields->packets.data, fields->packets.len);
	to->failed |= fields->packets.failed;
	buffer_reset(&fields->packets);
	fields->written = fields->last;
}
