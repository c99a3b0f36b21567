// SPDX-License-Identifier: GPL-2.0
/*
 * A set of numbers: see bits.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#define CHUNK_BYTES	4096U
#define CHUNK_BITS	(8 * CHUNK_BYTES)
#define CHUNKS_MAX	(BITS_MAX / CHUNK_BYTES)
#define INDEX_MAX	(1ULL << 24)	/* limit of chunks, including those without members */

struct bits {
	unsigned char **chunks;	/* NULL: a chunk without members */
	size_t room;
	size_t count;		/* number of chunks with members */
};

int bits_new(struct bits **bits)
{
	*bits = calloc(1, sizeof(**bits));
	return *bits ? 0 : -ENOMEM;
}

static int grow(struct bits *bits, uint64_t chunk)
{
	size_t room = bits->room ? 2 * bits->room : 64;
	unsigned char **chunks;

	while (room <= chunk)
		room *= 2;
	chunks = reallocarray(bits->chunks, room, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	memset(chunks + bits->room, 0, (room - bits->room) * sizeof(*chunks));
	bits->chunks = chunks;
	bits->room = room;
	return 0;
}

int bits_set(struct bits *bits, uint64_t number)
{
	uint64_t chunk = number / CHUNK_BITS;
	int err = 0;

	if (chunk >= INDEX_MAX)
		return -EFBIG;
	if (chunk >= bits->room)
		err = grow(bits, chunk);
	if (err)
		return err;
	if (!bits->chunks[chunk]) {
		if (bits->count >= CHUNKS_MAX)
			return -EFBIG;
		bits->chunks[chunk] = calloc(CHUNK_BYTES, 1);
		if (!bits->chunks[chunk])
			return -ENOMEM;
		bits->count++;
	}
	bits->chunks[chunk][number % CHUNK_BITS / 8] |= 1U << number % 8;
	return 0;
}

bool bits_test(const struct bits *bits, uint64_t number)
{
	uint64_t chunk = number / CHUNK_BITS;

	return chunk < bits->room && bits->chunks[chunk] &&
	       bits->chunks[chunk][number % CHUNK_BITS / 8] & 1U << number % 8;
}

void bits_free(struct bits *bits)
{
	if (!bits)
		return;
	for (size_t i = 0; i < bits->room; i++)
		free(bits->chunks[i]);
	free(bits->chunks);
	free(bits);
}
