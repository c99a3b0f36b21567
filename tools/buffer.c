// SPDX-License-Identifier: GPL-2.0
/*
 * A growing buffer of bytes: see buffer.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"

static bool make_room(struct buffer *buffer, size_t len)
{
	size_t room = buffer->room ? buffer->room : 256;
	unsigned char *data;

	if (buffer->failed)
		return false;
	if (buffer->len + len <= buffer->room)
		return true;
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

void buffer_put(struct buffer *buffer, const void *data, size_t len)
{
	if (!len || !make_room(buffer, len))
		return;
	memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
}

void buffer_byte(struct buffer *buffer, unsigned char byte)
{
	buffer_put(buffer, &byte, 1);
}

void buffer_text(struct buffer *buffer, const char *text)
{
	buffer_put(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	char text[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0 || !make_room(buffer, len + 1))
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
