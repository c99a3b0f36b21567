// SPDX-License-Identifier: GPL-2.0
/*
 * A growing buffer of bytes: see buffer.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/digits.h"

bool buffer_grow(struct buffer *buffer, size_t len)
{
	size_t room = buffer->room ? buffer->room : 256;
	unsigned char *data;

	if (buffer->failed)
		return false;
	while (room < buffer->len + len)
		room *= 2;
	data = realloc(buffer->data, room);
	if (!data) {
		buffer->failed = true;
		return false;
	}
	buffer->data = data;
	buffer->room = room;
	return true;
}

void buffer_digits(struct buffer *buffer, uint64_t value, unsigned int base, const char *prefix,
		   size_t prefix_len, size_t width)
{
	size_t len = base == 16 ? digits_hexadecimal_len(value) : digits_decimal_len(value);
	size_t have = prefix_len + len, spaces = have < width ? width - have : 0;
	char *to;

	if (!buffer_has_room(buffer, spaces + have + DIGITS_ROOM))
		return;
	to = (char *)buffer->data + buffer->len;
	buffer->len += spaces + have;
	/*
	 * A store of a constant size is a single instruction. The digits overwrite the excess
	 * spaces.
	 */
	if (spaces <= 16)
		memset(to, ' ', 16);
	else
		memset(to, ' ', spaces);
	to += spaces;
	for (size_t i = 0; i < prefix_len; i++)
		*to++ = prefix[i];
	if (base == 16)
		digits_hexadecimal(to, value, len);
	else
		digits_decimal(to, value, len);
}

void buffer_signed(struct buffer *buffer, int64_t value)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

	buffer_integer(buffer, size, 10, value < 0 ? "-" : "", 0);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	char text[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0 || !buffer_has_room(buffer, len + 1))
		return;
	if ((size_t)len < sizeof(text)) {
		memcpy(buffer->data + buffer->len, text, len);
	} else {
		va_start(args, format);
		vsnprintf((char *)buffer->data + buffer->len, len + 1, format, args);
		va_end(args);
	}
	buffer->len += len;
}

void buffer_real(struct buffer *buffer, double value, size_t size)
{
	char text[40];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (size == sizeof(float) ? strtof(text, NULL) == (float)value :
					    strtod(text, NULL) == value)
			break;
	}
	buffer_text(buffer, text);
}

void buffer_number(struct buffer *buffer, uint64_t value, size_t size)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = value >> (8 * i);
	buffer_put(buffer, bytes, size);
}

void buffer_patch(struct buffer *buffer, size_t at, uint64_t value, size_t size)
{
	if (buffer->failed)
		return;
	for (size_t i = 0; i < size; i++)
		buffer->data[at + i] = value >> (8 * i);
}

void buffer_reset(struct buffer *buffer)
{
	buffer->len = 0;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ };
}
