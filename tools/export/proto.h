/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the protocol buffers wire format.
 */
#ifndef POSIXTRACE_PROTO_H
#define POSIXTRACE_PROTO_H

#include "util/buffer.h"

/* proto_varint() - append a number without a field, as in a packed array */
void proto_varint(struct buffer *to, uint64_t value);

/*
 * Append a field. Negative numbers are 64-bit two's complement, except that proto_zigzag() writes
 * sint64.
 */
void proto_number(struct buffer *to, unsigned int field, uint64_t value);
void proto_zigzag(struct buffer *to, unsigned int field, int64_t value);
void proto_fixed(struct buffer *to, unsigned int field, uint64_t value);
void proto_double(struct buffer *to, unsigned int field, double value);
void proto_bytes(struct buffer *to, unsigned int field, const void *data, size_t len);
void proto_text(struct buffer *to, unsigned int field, const char *text);

/**
 * proto_begin(), proto_end() - begin and end a field that is a message
 * @to: where to append
 * @field: number of the field
 *
 * Return: the argument @begin for proto_end().
 */
size_t proto_begin(struct buffer *to, unsigned int field);
void proto_end(struct buffer *to, size_t begin);

#endif /* POSIXTRACE_PROTO_H */
