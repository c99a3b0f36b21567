// SPDX-License-Identifier: MIT
/*
 * Unpacks the pieces of a compressed block, one at a time, and moves the first words of the records
 * back to their places. The checksum of the block was good, but the file may be forged, so all
 * sizes are checked first.
 */
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "log/loghead.h"
#include "log/logpiece.h"
#include "log/lz4.h"

#define WORD	((__u32)sizeof(__u64))

/* A piece of the largest size must fit. */
_Static_assert(PXTU_LOG_SCRATCH >= POSIXTRACE_LOG_PIECE_MAX, "one size");

/* Can this be a piece of @room bytes or fewer, with at most @left bytes of records? */
static bool piece_valid(const struct posixtrace_log_piece *piece, __u32 room, __u32 left)
{
	return piece->size <= piece->records_size && piece->records_size <= left &&
	       piece->records_size <= POSIXTRACE_LOG_PIECE_MAX && piece->records_size &&
	       piece->records_size % WORD == 0 && piece->heads <= piece->records_size / WORD &&
	       POSIXTRACE_LOG_PIECE_STEP(piece->size) <= room;
}

/* Get the piece at the position of the CPU. NULL if there is no valid piece. */
static const unsigned char *read_piece(struct pxtu_log *log, struct pxtu_log_cpu *cpu, bool loaded,
				       struct posixtrace_log_piece *piece)
{
	const struct pxtu_log_entry *entry = &log->index.entries[cpu->first];
	const __u32 room = entry->size - cpu->piece;
	const __u64 offset = entry->offset + cpu->piece;

	if (room < sizeof(*piece))
		return NULL;
	if (loaded)
		memcpy(piece, log->scratch, sizeof(*piece));
	else if (pxtu_log_read(log, piece, sizeof(*piece), offset) != sizeof(*piece))
		return NULL;
	if (!piece_valid(piece, room, entry->records - cpu->pos))
		return NULL;
	if (loaded)
		return log->scratch + sizeof(*piece);
	if (pxtu_log_read(log, log->scratch, piece->size, offset + sizeof(*piece)) !=
	    (ssize_t)piece->size)
		return NULL;
	return log->scratch;
}

/* Make room for the records of a piece in the chunk of a CPU. */
static int reserve(struct pxtu_log *log, struct pxtu_log_cpu *cpu, __u32 size, bool *good)
{
	unsigned char *chunk;

	if (size <= cpu->chunk_room)
		return 0;
	/* Only a forged log needs so much memory. */
	if (log->index.held + size - cpu->chunk_room > PXTU_LOG_HELD_MAX) {
		*good = false;
		return 0;
	}
	chunk = realloc(cpu->chunk, size);
	if (!chunk)
		return -ENOMEM;
	log->index.held += size - cpu->chunk_room;
	cpu->chunk = chunk;
	cpu->chunk_room = size;
	return 0;
}

/* The inverse of move_heads() in kmod/log/pack.c. False if the records have another size. */
static bool place_heads(void *records, const void *from, __u32 type, __u32 size, __u32 heads)
{
	const __u32 *lows = from;
	const unsigned char *bytes = (const unsigned char *)(lows + heads);
	const __u64 *rest = (const __u64 *)from + heads;
	__u32 left = size / WORD - heads, low, high, time = 0, words, i;
	__u64 *to = records;

	for (i = 0; i < heads; i++) {
		low = lows[i];
		high = (__u32)bytes[i] | (__u32)bytes[heads + i] << 8 |
		       (__u32)bytes[2 * heads + i] << 16 | (__u32)bytes[3 * heads + i] << 24;
		/* A struct posixtrace_writer, where the low half is 0, has no time here. */
		if (low) {
			time += high;
			high = time;
		}
		words = posixtrace_log_item_words(type, low, rest, left);
		if (!words || words - 1 > left)
			return false;
		*to++ = (__u64)high << 32 | low;
		left -= words - 1;
		while (--words)
			*to++ = *rest++;
	}
	return !left;
}

/* Unpack a piece into the chunk. */
static bool unpack(struct pxtu_log *log, struct pxtu_log_cpu *cpu, __u32 type,
		   const struct posixtrace_log_piece *piece, const unsigned char *from)
{
	void *to = piece->heads ? (void *)log->piece : cpu->chunk;

	if (piece->size == piece->records_size)
		memcpy(to, from, piece->size);
	else if (!pxtu_lz4_unpack(to, piece->records_size, from, piece->size))
		return false;
	return !piece->heads || place_heads(cpu->chunk, log->piece, type, piece->records_size,
					    piece->heads);
}

int pxtu_piece_next(struct pxtu_log *log, struct pxtu_log_cpu *cpu, bool loaded, bool *good)
{
	const __u32 type = cpu->kernel ? POSIXTRACE_LOG_KERNEL : POSIXTRACE_LOG_EVENTS;
	struct posixtrace_log_piece piece;
	const unsigned char *from;
	int err;

	if (!log->piece)
		log->piece = malloc(POSIXTRACE_LOG_PIECE_MAX);
	if (!log->piece)
		return -ENOMEM;
	from = read_piece(log, cpu, loaded, &piece);
	*good = from;
	err = from ? reserve(log, cpu, piece.records_size, good) : 0;
	if (err || !*good)
		return err;
	*good = unpack(log, cpu, type, &piece, from);
	cpu->piece += (__u32)POSIXTRACE_LOG_PIECE_STEP(piece.size);
	cpu->chunk_pos = cpu->pos;
	cpu->chunk_len = piece.records_size;
	return 0;
}
