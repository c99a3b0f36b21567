// SPDX-License-Identifier: GPL-2.0
/*
 * Compresses the records of a block with the LZ4 of the kernel. The records are cut into pieces, so
 * that a reader needs little memory for each CPU. In a piece, the first words of all records come
 * first, because they resemble each other more than they resemble other words. A target may have
 * written anything instead of records: such data only compresses badly.
 */
#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/lz4.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "log/crc32c.h"
#include "log/pack.h"

/*
 * A piece ends before the record that would make it larger than this. Larger pieces compress little
 * better, and readers have one piece of each CPU in memory.
 */
#define PIECE_SIZE	(32U << 10)

#define PACK_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

#define WORD		sizeof(u64)
#define PIECE_WORDS	(PIECE_SIZE / WORD)
#define PIECE_WORDS_MAX	(POSIXTRACE_LOG_PIECE_MAX / WORD)

/* NULL if the compressor was not there when this module was loaded. */
static typeof(LZ4_compress_default) *compressor = LZ4_compress_default;

/**
 * pxt_pack_available() - check if the kernel has the compressor
 */
bool pxt_pack_available(void)
{
	return READ_ONCE(compressor);
}

/**
 * pxt_pack_init() - allocate the memory to compress blocks
 * @pack: to be initialized; pxt_pack_available() is true
 * @subbuf_size: largest payload of a block, in bytes
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM.
 */
int pxt_pack_init(struct pxt_pack *pack, u32 subbuf_size)
{
	pack->plain = kvmalloc(subbuf_size, PACK_GFP);
	pack->piece = kvzalloc(min(subbuf_size, POSIXTRACE_LOG_PIECE_MAX), PACK_GFP);
	pack->workspace = kvmalloc(LZ4_MEM_COMPRESS, PACK_GFP);
	if (pack->plain && pack->piece && pack->workspace)
		return 0;
	pxt_pack_destroy(pack);
	return -ENOMEM;
}

/**
 * pxt_pack_destroy() - undo pxt_pack_init()
 * @pack: may be destroyed twice, or zero
 */
void pxt_pack_destroy(struct pxt_pack *pack)
{
	kvfree(pack->workspace);
	kvfree(pack->piece);
	kvfree(pack->plain);
	memset(pack, 0, sizeof(*pack));
}

/*
 * Returns the words of the next record, including each struct posixtrace_writer before it; 0 if
 * there is no valid record. Stores the number of items in @items: the record and these structs.
 */
static u32 next_record(u32 type, const u64 *from, u32 words, u32 *items)
{
	bool writer = true;
	u32 size = 0, step;

	*items = 0;
	while (writer && size < words) {
		writer = type == POSIXTRACE_LOG_EVENTS && !lower_32_bits(from[size]);
		step = posixtrace_log_item_words(type, lower_32_bits(from[size]), from + size + 1,
						 words - size - 1);
		if (!step || step > words - size)
			return 0;
		size += step;
		++*items;
	}
	return size <= PIECE_WORDS_MAX ? size : 0;
}

/*
 * Returns the words of the next piece. Stores in @heads how many of them are first words, see
 * move_heads(); 0 if the piece does not start with a record.
 */
static u32 next_piece(u32 type, const u64 *from, u32 words, u32 *heads)
{
	u32 size = 0, step, items;

	*heads = 0;
	while (size < words) {
		step = next_record(type, from + size, words - size, &items);
		if (!step || (size && size + step > PIECE_WORDS))
			break;
		size += step;
		*heads += items;
	}
	return size ? size : min_t(u32, words, PIECE_WORDS);
}

/*
 * Move the first words to the front: their lower halves, then the first bytes of the upper halves,
 * then the second bytes, and so on. The upper half of a first word is a time. It is replaced by the
 * difference from the time before it, except in a struct posixtrace_writer.
 */
static void move_heads(u64 *to, u32 type, const u64 *from, u32 words, u32 heads)
{
	const u64 *end = from + words;
	u32 *low = (u32 *)to, before = 0, high, value, step, i, k;
	u8 *bytes = (u8 *)(low + heads);
	u64 *rest = to + heads;

	for (i = 0; i < heads; i++) {
		low[i] = lower_32_bits(*from);
		high = upper_32_bits(*from++);
		value = high;
		if (low[i]) {
			value -= before;
			before = high;
		}
		for (k = 0; k < sizeof(value); k++)
			bytes[k * heads + i] = value >> 8 * k;
		step = posixtrace_log_item_words(type, low[i], from, end - from);
		for (; step > 1; step--)
			*rest++ = *from++;
	}
}

/* Compress @words words into a piece at @to. Returns its bytes, or 0 if @room is too small. */
static u32 pack_piece(struct pxt_pack *pack, u32 type, const u64 *from, u32 words, u32 heads,
		      void *to, u32 room)
{
	struct posixtrace_log_piece *piece = to;
	u32 size = words * WORD, step;
	int packed;

	if (room <= sizeof(*piece))
		return 0;
	memset(piece, 0, sizeof(*piece));
	piece->records_size = size;
	room -= sizeof(*piece);
	if (heads)
		move_heads(pack->piece, type, from, words, heads);
	packed = READ_ONCE(compressor)((const char *)(heads ? pack->piece : from),
				       (char *)(piece + 1), size, min(room, size - 1),
				       pack->workspace);
	if (packed > 0) {
		piece->size = packed;
		piece->heads = heads;
	} else if (room >= size) {
		piece->size = size;
		memcpy(piece + 1, from, size);
	} else {
		return 0;
	}
	step = POSIXTRACE_LOG_PIECE_STEP(piece->size);
	if (step > room + sizeof(*piece))
		return 0;
	memset((void *)(piece + 1) + piece->size, 0, step - sizeof(*piece) - piece->size);
	return step;
}

/* Compress the records into fewer than @size bytes. Returns the number of bytes; 0 on failure. */
static u32 pack_records(struct pxt_pack *pack, u32 type, void *to, u32 size)
{
	const u64 *from = pack->plain;
	u32 words = size / WORD, part, heads, step, done = 0;

	while (words) {
		part = next_piece(type, from, words, &heads);
		step = pack_piece(pack, type, from, part, heads, to + done, size - done);
		if (!step)
			return 0;
		done += step;
		from += part;
		words -= part;
		cond_resched();
	}
	return done < size ? done : 0;
}

/**
 * pxt_pack_block() - copy the records of a block, and compress them if that makes them smaller
 * @pack: initialized, or zero: do not compress
 * @block: in: its type, and as its size the bytes of the records; out: size and checksum of the
 *	payload, and its compression
 * @payload: the copy; has room for the uncompressed records
 * @records: the records; targets may write to them
 *
 * Context: may sleep.
 */
void pxt_pack_block(struct pxt_pack *pack, struct posixtrace_log_block *block, void *payload,
		    const void *records)
{
	u32 size = block->size, packed;

	if (!pxt_pack_is_on(pack)) {
		block->payload_crc = pxt_crc32c_copy(payload, records, size);
		return;
	}
	/* Compress a private copy, because targets may still write to @records. */
	block->payload_crc = pxt_crc32c_copy(pack->plain, records, size);
	packed = pack_records(pack, block->type, payload, size);
	if (!packed) {
		memcpy(payload, pack->plain, size);
		return;
	}
	block->size = packed;
	block->payload_crc = ~pxt_crc32c(~0U, payload, packed);
	block->compression = POSIXTRACE_COMPRESS_LZ4;
	block->records_size = size;
}
