// SPDX-License-Identifier: GPL-2.0
/*
 * Hash function for tables: see hash.h.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "util/hash.h"

__extension__ typedef unsigned __int128 product;

static uint64_t fold(uint64_t a, uint64_t b)
{
	product ab = (product)a * b;

	return (uint64_t)ab ^ (uint64_t)(ab >> 64);
}

uint64_t hash_pair(uint64_t first, uint64_t second)
{
	static uint64_t secret[2];
	static bool is_known;

	if (!is_known) {
		/* The kernel passes 16 random bytes to each program. */
		memcpy(secret, (const void *)getauxval(AT_RANDOM), sizeof(secret));
		is_known = true;
	}
	/*
	 * Any odd constant will do. The second fold() mixes bits that the first one did not spread.
	 */
	return fold(fold(first ^ secret[0], second ^ secret[1]) ^ secret[0], 0x9e3779b97f4a7c15ULL);
}

uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *at = data;
	uint64_t word;

	hash = hash_pair(hash, len);
	for (size_t done = 0; done < len; done += sizeof(word)) {
		word = 0;
		memcpy(&word, at + done, len - done < sizeof(word) ? len - done : sizeof(word));
		hash = hash_pair(hash, word);
	}
	return hash;
}
