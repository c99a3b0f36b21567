/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes FlatBuffers, the format of Arrow's metadata. Offsets only point forward: first comes a
 * table, then the objects to which it refers.
 */
#ifndef POSIXTRACE_FLAT_H
#define POSIXTRACE_FLAT_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

#define FLAT_FIELDS	8	/* per table, at most */

/**
 * flat_table() - append a table whose fields are zero
 * @to: the FlatBuffer; must start at the beginning of the buffer
 * @sizes: bytes of each field: 1, 2, 4 (also for an offset), 8, or 0 if it is absent
 * @count: number of fields
 * @at: where to store the places of the fields, for buffer_patch() and flat_refer()
 *
 * Return: the place of the table.
 */
size_t flat_table(struct buffer *to, const unsigned char *sizes, size_t count, size_t *at);

/**
 * flat_vector() - append a vector of zeroes
 * @to: the FlatBuffer
 * @count: number of elements
 * @size: bytes of an element
 * @align: alignment of an element, 4 or 8
 * @elements: where to store the place of the first element
 *
 * Return: the place of the vector.
 */
size_t flat_vector(struct buffer *to, size_t count, size_t size, size_t align, size_t *elements);

/* flat_string() - append a string; returns its place */
size_t flat_string(struct buffer *to, const char *text);

/* flat_refer() - set the offset at @from to the place @place */
void flat_refer(struct buffer *to, size_t from, size_t place);

/* flat_pad() - append zeroes up to a multiple of @align bytes */
void flat_pad(struct buffer *to, size_t align);

#endif /* POSIXTRACE_FLAT_H */
