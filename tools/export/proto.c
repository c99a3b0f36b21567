// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol buffers wire format: see proto.h.
 */
#include <string.h>

#include "export/proto.h"

#define WIRE_VARINT	0
#define WIRE_64_BIT	1
#define WIRE_BYTES	2

void proto_varint(struct buffer *to, uint64_t value)
{
	while (value >= 0x80) {
		buffer_byte(to, value | 0x80);
		value >>= 7;
	}
	buffer_byte(to, value);
}

static void put_tag(struct buffer *to, unsigned int field, unsigned int wire)
{
	proto_varint(to, field << 3 | wire);
}

void proto_number(struct buffer *to, unsigned int field, uint64_t value)
{
	put_tag(to, field, WIRE_VARINT);
	proto_varint(to, value);
}

void proto_zigzag(struct buffer *to, unsigned int field, int64_t value)
{
	proto_number(to, field, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void proto_fixed(struct buffer *to, unsigned int field, uint64_t value)
{
	put_tag(to, field, WIRE_64_BIT);
	buffer_number(to, value, sizeof(value));
}

void proto_double(struct buffer *to, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed(to, field, bits);
}

void proto_bytes(struct buffer *to, unsigned int field, const void *data, size_t len)
{
	put_tag(to, field, WIRE_BYTES);
	proto_varint(to, len);
	buffer_put(to, data, len);
}

void proto_text(struct buffer *to, unsigned int field, const char *text)
{
	proto_bytes(to, field, text, strlen(text));
}

/* Reserve one byte for the length, which is enough for most messages (less than 128 bytes). */
size_t proto_begin(struct buffer *to, unsigned int field)
{
	put_tag(to, field, WIRE_BYTES);
	buffer_byte(to, 0);
	return to->len;
}

void proto_end(struct buffer *to, size_t begin)
{
	size_t len = to->len - begin, more = 0;

	if (to->failed)
		return;
	for (size_t rest = len; rest >= 0x80; rest >>= 7)
		more++;
	if (more && !buffer_has_room(to, more))
		return;
	if (more)
		memmove(to->data + begin + more, to->data + begin, len);
	to->len += more;
	for (size_t i = 0; i <= more; i++, len >>= 7)
		to->data[begin - 1 + i] = (unsigned char)((len & 0x7f) | (i < more ? 0x80 : 0));
}
