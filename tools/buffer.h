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

void buffer_put(struct buffer *buffer, const void *data, size_t len);
void buffer_byte(struct buffer *buffer, unsigned char byte);
void buffer_text(struct buffer *buffer, const char *text);
__attribute__((format(printf, 2, 3)))
void buffer_printf(struct buffer *buffer, const char *format, ...);

/*
 * Append the shortest decimal number that is read as @value again, as a float if @size is 4, or as
 * a double. It may also be "nan", "inf" and so on.
 */
void buffer_real(struct buffer *buffer, double value, size_t size);

/* Append the lowest @size bytes of @value, least significant first. */
void buffer_number(struct buffer *buffer, uint64_t value, size_t size);

/* As buffer_number(), but overwrite existing bytes at offset @at. */
void buffer_patch(struct buffer *buffer, size_t at, uint64_t value, size_t size);

/* Empty the buffer but keep its memory. */
void buffer_reset(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif /* POSIXTRACE_BUFFER_H */
