// SPDX-License-Identifier: GPL-2.0
/* Compresses the records of a block. Shares no code with the module. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log_pack.h"

#define HASH_BITS	12
#define MATCH_MIN	4U
#define LITERALS_LAST	12U	/* no match may start in this many bytes at the end */
#define MATCH_END	5U	/* the last bytes are literals */
#define OFFSET_MAX	65535U

static size_t put_length(unsigned char *to, size_t at, size_t room, size_t len)
{
	for (; len >= 255 && at < room; len -= 255)
		to[at++] = 255;
	if (at < room)
		to[at] = len;
	return at + 1;
}

/* Appends literals, and a match unless @match is 0. */
static size_t put_sequence(unsigned char *to, size_t at, size_t room, const unsigned char *literals,
			   size_t count, size_t offset, size_t match)
{
	size_t token = at++, more = match ? match - MATCH_MIN : 0;

	if (at + count + 2 >= room)
		return room + 1;
	to[token] = (count < 15 ? count : 15) << 4 | (more < 15 ? more : 15);
	if (count >= 15)
		at = put_length(to, at, room, count - 15);
	if (at + count + 2 >= room)
		return room + 1;
	memcpy(to + at, literals, count);
	at += count;
	if (!match)
		return at;
	to[at++] = offset;
	to[at++] = offset >> 8;
	return more >= 15 ? put_length(to, at, room, more - 15) : at;
}

size_t log_lz4(unsigned char *to, size_t room, const unsigned char *from, size_t len)
{
	static size_t last[1 << HASH_BITS];
	size_t at = 0, begin = 0, pos = 0, match, before;
	__u32 word;

	memset(last, 0, sizeof(last));
	while (len > LITERALS_LAST && pos < len - LITERALS_LAST && at <= room) {
		size_t *slot;

		memcpy(&word, from + pos, sizeof(word));
		slot = &last[word * 2654435761U >> (32 - HASH_BITS)];
		before = *slot;
		*slot = pos + 1;
		if (!before || pos + 1 - before > OFFSET_MAX ||
		    memcmp(from + before - 1, &word, sizeof(word))) {
			pos++;
			continue;
		}
		before--;
		for (match = MATCH_MIN; pos + match < len - MATCH_END &&
		     from[before + match] == from[pos + match]; match++)
			;
		at = put_sequence(to, at, room, from + begin, pos - begin, pos - before, match);
		pos += match;
		begin = pos;
	}
	if (at <= room)
		at = put_sequence(to, at, room, from + begin, len - begin, 0, 0);
	return at <= room ? at : 0;
}

/* Returns the bytes of the record or struct posixtrace_writer at an address; 0: unknown. */
static size_t item_size(__u32 type, const unsigned char *at, size_t left, bool *writer)
{
	const bool kernel = type == POSIXTRACE_LOG_KERNEL;
	size_t len = at[0] | at[1] << 8, flags = at[3] >> 4, size, stack;
	__u32 stack_size;

	*writer = !kernel && !at[0] && !at[1] && !at[2] && !at[3];
	if (*writer)
		return 32;
	size = kernel ? 8 * (len >> 6 & 63) : ((flags & 2 ? 12 : 16) + len + 7) / 8 * 8;
	if (!(kernel ? at[2] & 8 : flags & 4))
		return size;
	/*
	 * In a kernel event, the call stack follows the time and the thread; in a user event, it
	 * follows the header.
	 */
	stack = kernel ? 8 + (at[2] & 1 ? 8 : 0) + (at[2] & 2 ? 16 : 0) : 16;
	if (stack + 8 > left || (kernel && stack + 8 > size))
		return 0;
	memcpy(&stack_size, at + stack, sizeof(stack_size));
	if (stack_size % 8 || stack_size > POSIXTRACE_STACK_SIZE_MAX)
		return 0;
	return size + stack_size + (kernel ? 0 : 8);
}

/* Returns the bytes of the records of the next piece. Stores the number of their first words. */
static size_t piece_size(__u32 type, const unsigned char *from, size_t len, size_t piece,
			 __u32 *heads)
{
	size_t size = 0, next = 0, step;
	__u32 count = 0;
	bool writer;

	*heads = 0;
	while (next < len) {
		step = item_size(type, from + next, len - next, &writer);
		if (!step || step > len - next)
			break;
		next += step;
		count++;
		if (writer)
			continue;
		if (next > POSIXTRACE_LOG_PIECE_MAX || (size && next > piece))
			break;
		size = next;
		*heads = count;
	}
	if (size)
		return size;
	return len < piece ? len : piece;
}

static void move_heads(unsigned char *to, __u32 type, const unsigned char *from, size_t len,
		       __u32 heads)
{
	size_t at = 0, rest = 8 * (size_t)heads, size;
	__u32 before = 0, high, value;
	bool writer;

	for (__u32 i = 0; i < heads; i++) {
		size = item_size(type, from + at, len - at, &writer);
		memcpy(to + 4 * (size_t)i, from + at, 4);
		memcpy(&high, from + at + 4, sizeof(high));
		value = writer ? high : high - before;
		before = writer ? before : high;
		for (int k = 0; k < 4; k++)
			to[4 * (size_t)heads + k * (size_t)heads + i] = value >> 8 * k;
		memcpy(to + rest, from + at + 8, size - 8);
		rest += size - 8;
		at += size;
	}
}

size_t log_pack_room(size_t len)
{
	/* At worst, each word is a piece. */
	return len + (len / 8 + 1) * sizeof(struct posixtrace_log_piece);
}

size_t log_pack(unsigned char *to, __u32 type, const unsigned char *records, size_t len,
		size_t piece)
{
	struct posixtrace_log_piece head;
	unsigned char *moved = malloc(len ? len : 1);
	size_t done = 0, size, step;

	if (!moved)
		abort();
	for (; len; len -= size, records += size) {
		memset(&head, 0, sizeof(head));
		size = piece_size(type, records, len, piece, &head.heads);
		head.records_size = size;
		if (head.heads)
			move_heads(moved, type, records, size, head.heads);
		else
			memcpy(moved, records, size);
		head.size = log_lz4(to + done + sizeof(head), size - 1, moved, size);
		if (!head.size) {
			head.size = size;
			head.heads = 0;
			memcpy(to + done + sizeof(head), records, size);
		}
		memcpy(to + done, &head, sizeof(head));
		step = sizeof(head) + (head.size + 7) / 8 * 8;
		memset(to + done + sizeof(head) + head.size, 0, step - sizeof(head) - head.size);
		done += step;
	}
	free(moved);
	return done;
}
