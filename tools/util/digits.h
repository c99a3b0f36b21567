/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Converts numbers to digits. Inline for speed: an event has a dozen numbers, and a command may
 * print millions of events.
 */
#ifndef POSIXTRACE_DIGITS_H
#define POSIXTRACE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_ROOM	20	/* bytes that a number may write, whatever its length */

static inline size_t digits_decimal_len(uint64_t value)
{
	size_t len = 1;

	for (; value >= 10000; value /= 10000)
		len += 4;
	return len + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes the two digits of a number below 100. */
static inline void digits_pair(char *to, unsigned int value)
{
	unsigned int tens = value * 103 >> 10;
	uint16_t pair = (uint16_t)(('0' + tens) | ('0' + value - 10 * tens) << 8);

	memcpy(to, &pair, sizeof(pair));
}

/*
 * Writes the digits right before @end. Returns false if the number may have more than @max (>= 2)
 * digits.
 */
static inline bool digits_before(char *end, uint64_t value, size_t max)
{
	for (; value >= 100; value /= 100, max -= 2) {
		if (max < 4)
			return false;
		end -= 2;
		digits_pair(end, (unsigned int)(value % 100));
	}
	if (value >= 10)
		digits_pair(end - 2, (unsigned int)value);
	else
		end[-1] = (char)('0' + value);
	return true;
}

/* Writes the last @len digits of a value, which has at least that many. */
static inline void digits_decimal(char *to, uint64_t value, size_t len)
{
	for (; len >= 2; len -= 2, value /= 100)
		digits_pair(&to[len - 2], (unsigned int)(value % 100));
	if (len)
		*to = (char)('0' + value % 10);
}

static inline size_t digits_hexadecimal_len(uint64_t value)
{
	return (size_t)(67 - __builtin_clzll(value | 1)) / 4;
}

/* Returns the eight hexadecimal digits of a value, the first one in the lowest byte. */
static inline uint64_t digits_of_half(uint32_t value)
{
	uint64_t x = value, letters;

	/* Spread the digits, one per byte, with the last digit in the lowest byte. */
	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fULL;
	letters = (x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	x += 0x3030303030303030ULL + letters * ('a' - '0' - 10);
	return __builtin_bswap64(x);
}

/* Writes @len hexadecimal digits, at most 16. May overwrite all of DIGITS_ROOM bytes. */
static inline void digits_hexadecimal(char *to, uint64_t value, size_t len)
{
	uint64_t half = digits_of_half((uint32_t)value);

	if (len > 8) {
		/* Write the lower eight digits, then the upper ones before them. */
		memcpy(to + len - 8, &half, 8);
		len -= 8;
		half = digits_of_half((uint32_t)(value >> 32));
		half >>= 8 * (8 - len);
		for (size_t i = 0; i < len; i++, half >>= 8)
			to[i] = (char)half;
		return;
	}
	half >>= 8 * (8 - len);
	memcpy(to, &half, 8);
}

#endif /* POSIXTRACE_DIGITS_H */
