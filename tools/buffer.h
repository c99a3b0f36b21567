/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that become more. A buffer without memory stays as it is and remembers that: whoever
 * fills it asks once, at the end.
 */
#ifndef POSIXTRACE_BUFFER_H
#define POSIXTRACE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct buffer - bytes; all zero is an empty one
 * @data: the bytes
 * @len: how many
 * @room: how many there is memory for
 * @failed: there was no memory for some
 */
struct buffer {
	unsigned char *data;
	size_t len;
	size_t room;
	bool failed;
};

void buffer_put(struct buffer *buffer, const void *data, size_t len);
void buffer_byte(struct buffer *buffer, unsigned char byte);
void buffer_text(struct buffer *buffer, const char *text);
__attribute__((format(printf, 2, 3)))
void buffer_printf(struct buffer *buffer, const char *format, ...);

/* The lowest @size bytes of @value, the lowest first. */
void buffer_number(struct buffer *buffer, uint64_t value, size_t size);

/* Over what is there already, as buffer_number(). */
void buffer_patch(struct buffer *buffer, size_t at, uint64_t value, size_t size);

/* No bytes in it; the memory stays. */
void buffer_reset(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif /* POSIXTRACE_BUFFER_H */
