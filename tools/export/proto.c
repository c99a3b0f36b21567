// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol buffers wire format: see proto.h.
 */
#include <string.h>

#include "export/proto.h"

#define WIRE_VARINT	0
#define WIRE_64_BIT	1
#define WIRE_BYTES	2

#define LENGTH_BYTES	4	/* reserved for a length to fill in later: 28 bits */

static void put_varint(struct buffer *to, uint64_t value)
{
	while (value >= 0x80) {
		buffer_byte(to, value | 0x80);
		value >>= 7;
	}
	buffer_byte(to, value);
}

static void put_tag(struct buffer *to, unsigned int field, unsigned int wire)
{
	put_varint(to, field << 3 | wire);
}

void proto_number(struct buffer *to, unsigned int field, uint64_t value)
{
	put_tag(to, field, WIRE_VARINT);
	put_varint(to, value);
}

void proto_double(struct buffer *to, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_tag(to, field, WIRE_64_BIT);
	buffer_number(to, bits, sizeof(bits));
}

void proto_bytes(struct buffer *to, unsigned int field, const void *data, size_t len)
{
	put_tag(to, field, WIRE_BYTES);
	put_varint(to, len);
	buffer_put(to, data, len);
}

void proto_text(struct buffer *to, unsigned int field, const char *text)
{
	proto_bytes(to, field, text, strlen(text));
}

size_t proto_begin(struct buffer *to, unsigned int field)
{
	put_tag(to, field, WIRE_BYTES);
	buffer_number(to, 0, LENGTH_BYTES);
	return to->len;
}

/* A varint may be padded, so the length fits into the reserved bytes. */
void proto_end(struct buffer *to, size_t begin)
{
	size_t len = to->len - begin;
	uint64_t bytes = 0;

	for (int i = 0; i < LENGTH_BYTES; i++)
		bytes |= (uint64_t)((len >> (7 * i) & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0))
			 << (8 * i);
	buffer_patch(to, begin - LENGTH_BYTES, bytes, LENGTH_BYTES);
}
