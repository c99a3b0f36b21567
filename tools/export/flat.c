// SPDX-License-Identifier: GPL-2.0
/*
 * Writes FlatBuffers: see flat.h.
 */
#include <string.h>

#include "export/flat.h"

void flat_pad(struct buffer *to, size_t align)
{
	while (to->len % align && !to->failed)
		buffer_byte(to, 0);
}

static void put_zeroes(struct buffer *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buffer_byte(to, 0);
}

size_t flat_table(struct buffer *to, const unsigned char *sizes, size_t count, size_t *at)
{
	/*
	 * The vtable holds its own size, the size of the table, and the offset of each field in the
	 * table.
	 */
	const size_t vtable = (flat_pad(to, 2), to->len);
	const size_t vtable_size = 2 * (2 + count);
	size_t table;

	put_zeroes(to, vtable_size);
	flat_pad(to, 4);
	table = to->len;
	buffer_number(to, table - vtable, 4);
	for (size_t i = 0; i < count; i++) {
		at[i] = 0;
		if (!sizes[i])
			continue;
		flat_pad(to, sizes[i]);
		at[i] = to->len;
		buffer_patch(to, vtable + 2 * (2 + i), to->len - table, 2);
		put_zeroes(to, sizes[i]);
	}
	buffer_patch(to, vtable, vtable_size, 2);
	buffer_patch(to, vtable + 2, to->len - table, 2);
	return table;
}

size_t flat_vector(struct buffer *to, size_t count, size_t size, size_t align, size_t *elements)
{
	size_t place;

	/* The number of elements comes right before them, so align the elements, not the number. */
	flat_pad(to, 4);
	while ((to->len + 4) % align && !to->failed)
		put_zeroes(to, 4);
	place = to->len;
	buffer_number(to, count, 4);
	*elements = to->len;
	put_zeroes(to, count * size);
	return place;
}

size_t flat_string(struct buffer *to, const char *text)
{
	size_t place;

	flat_pad(to, 4);
	place = to->len;
	buffer_number(to, strlen(text), 4);
	buffer_put(to, text, strlen(text) + 1);
	return place;
}

void flat_refer(struct buffer *to, size_t from, size_t place)
{
	buffer_patch(to, from, place - from, 4);
}
