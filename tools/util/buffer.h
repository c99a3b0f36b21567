/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A growing buffer of bytes. When memory runs out, the buffer keeps its contents, ignores
 * further additions and sets @failed. The caller checks @failed once, at the end.
 */
#ifndef POSIXTRACE_BUFFER_H
#define POSIXTRACE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/digits.h"

/**
 * struct buffer - growing buffer; all zero is an empty buffer
 * @data: the bytes
 * @len: number of bytes
 * @room: number of bytes allocated
 * @failed: an allocation failed, so bytes are missing
 */
struct buffer {
	unsigned char *data;
	size_t len;
	size_t room;
	bool failed;
};

/* Make room for @len more bytes. Returns false if out of memory. */
bool buffer_grow(struct buffer *buffer, size_t len);

/* Inline version for the common case, in which there is room for a few more bytes. */
static inline bool buffer_has_room(struct buffer *buffer, size_t len)
{
	return (!buffer->failed && buffer->room - buffer->len >= len) || buffer_grow(buffer, len);
}

static inline void buffer_put(struct buffer *buffer, const void *data, size_t len)
{
	if (!len || !buffer_has_room(buffer, len))
		return;
	memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
}

static inline void buffer_byte(struct buffer *buffer, unsigned char byte)
{
	if (buffer_has_room(buffer, 1))
		buffer->data[buffer->len++] = byte;
}

static inline void buffer_text(struct buffer *buffer, const char *text)
{
	buffer_put(buffer, text, strlen(text));
}

__attribute__((format(printf, 2, 3)))
void buffer_printf(struct buffer *buffer, const char *format, ...);

/* Like buffer_integer(), for a prefix of @prefix_len characters. */
void buffer_digits(struct buffer *buffer, uint64_t value, unsigned int base, const char *prefix,
		   size_t prefix_len, size_t width);

/*
 * Append @prefix and the digits of @value in base 10 or 16, padded on the left with spaces to
 * @width characters. Much faster than buffer_printf(). Inline, so that the compiler knows the
 * length of a constant prefix.
 */
static inline void buffer_integer(struct buffer *buffer, uint64_t value, unsigned int base,
				  const char *prefix, size_t width)
{
	buffer_digits(buffer, value, base, prefix, strlen(prefix), width);
}

/* Append the digits of @value, padded on the left with spaces to @width characters, at most 16. */
static inline void buffer_decimal(struct buffer *buffer, uint64_t value, size_t width)
{
	unsigned char *to;

	if (!buffer_has_room(buffer, 16))
		return;
	to = buffer->data + buffer->len;
	memset(to, ' ', 16);
	if (digits_before((char *)to + width, value, width))
		buffer->len += width;
	else
		buffer_digits(buffer, value, 10, "", 0, width);
}

/* Append @count spaces. */
static inline void buffer_spaces(struct buffer *buffer, size_t count)
{
	if (!buffer_has_room(buffer, count < 32 ? 32 : count))
		return;
	/* Store a constant size, which takes few instructions and is usually enough. */
	memset(buffer->data + buffer->len, ' ', 32);
	if (count > 32)
		memset(buffer->data + buffer->len, ' ', count);
	buffer->len += count;
}

/* Append @value in decimal. */
void buffer_signed(struct buffer *buffer, int64_t value);

/*
 * Append the shortest decimal number that reads back as @value: as a float if @size is 4, otherwise
 * as a double. Infinities and NaN become "inf", "nan" and so on.
 */
void buffer_real(struct buffer *buffer, double value, size_t size);

/* Append the lowest @size bytes of @value, least significant first. */
void buffer_number(struct buffer *buffer, uint64_t value, size_t size);

/* Like buffer_number(), but overwrite existing bytes at offset @at. */
void buffer_patch(struct buffer *buffer, size_t at, uint64_t value, size_t size);

/* Empty the buffer but keep its memory. */
void buffer_reset(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif /* POSIXTRACE_BUFFER_H */
