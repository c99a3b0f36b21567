/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire format of protocol buffers, as far as it is needed to write them.
 */
#ifndef POSIXTRACE_PROTO_H
#define POSIXTRACE_PROTO_H

#include "buffer.h"

/* Numbers and enumerations; a negative one as its 64-bit two's complement. */
void proto_number(struct buffer *to, unsigned int field, uint64_t value);
void proto_double(struct buffer *to, unsigned int field, double value);
void proto_bytes(struct buffer *to, unsigned int field, const void *data, size_t len);
void proto_text(struct buffer *to, unsigned int field, const char *text);

/**
 * proto_begin() - a field that is a message
 * @to: where to put it
 * @field: number of the field
 *
 * Return: what proto_end() wants, behind the fields of the message.
 */
size_t proto_begin(struct buffer *to, unsigned int field);
void proto_end(struct buffer *to, size_t begin);

#endif /* POSIXTRACE_PROTO_H */
