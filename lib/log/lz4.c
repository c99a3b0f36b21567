// SPDX-License-Identifier: MIT
/*
 * Unpacks LZ4. The block format is small and final. This file replaces liblz4, so that every
 * program can read compressed logs, even a static one, or one on a machine without liblz4.
 */
#include <string.h>

#include "log/lz4.h"

#define LENGTH_MAX	15U	/* if a token has this length, more bytes of it follow */
#define MATCH_MIN	4U
#define STRIDE		16U	/* bytes copied at a time where there is room */

/* Add the bytes that follow a length of 15. */
static bool read_length(const unsigned char **at, const unsigned char *end, size_t *len)
{
	unsigned char byte;

	do {
		if (*at == end)
			return false;
		byte = *(*at)++;
		*len += byte;
	} while (byte == 255);
	return true;
}

/* Copy @len bytes from @offset bytes earlier in the result. If both overlap, a pattern repeats. */
static void copy_match(unsigned char *to, size_t offset, size_t len, size_t room)
{
	const unsigned char *from = to - offset;

	if (offset < STRIDE || room < len + STRIDE) {
		while (len--)
			*to++ = *from++;
		return;
	}
	for (size_t done = 0; done < len; done += STRIDE)
		memcpy(to + done, from + done, STRIDE);
}

bool pxtu_lz4_unpack(void *to, size_t size, const void *from, size_t len)
{
	const unsigned char *in = from, *in_end = in + len;
	unsigned char *out = to, *out_end = out + size;
	size_t count, offset;
	unsigned char token;

	while (in < in_end) {
		token = *in++;
		count = token >> 4;
		if (count == LENGTH_MAX && !read_length(&in, in_end, &count))
			return false;
		if (count > (size_t)(in_end - in) || count > (size_t)(out_end - out))
			return false;
		if (count <= STRIDE && in_end - in >= (ptrdiff_t)STRIDE &&
		    out_end - out >= (ptrdiff_t)STRIDE)
			memcpy(out, in, STRIDE);
		else
			memcpy(out, in, count);
		in += count;
		out += count;
		/* The last sequence has no match. */
		if (in == in_end)
			return out == out_end;
		if (in_end - in < 2)
			return false;
		offset = in[0] | (size_t)in[1] << 8;
		in += 2;
		count = token & LENGTH_MAX;
		if (count == LENGTH_MAX && !read_length(&in, in_end, &count))
			return false;
		count += MATCH_MIN;
		if (!offset || offset > (size_t)(out - (unsigned char *)to) ||
		    count > (size_t)(out_end - out))
			return false;
		copy_match(out, offset, count, (size_t)(out_end - out));
		out += count;
	}
	return false;
}
