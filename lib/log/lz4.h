/* SPDX-License-Identifier: MIT */
/* Unpacks blocks of LZ4. */
#ifndef PXTU_LZ4_H
#define PXTU_LZ4_H

#include <stdbool.h>
#include <stddef.h>

/**
 * pxtu_lz4_unpack() - unpack a block of LZ4
 * @to: result
 * @size: bytes of the result
 * @from: the block, which may contain anything
 * @len: bytes of the block
 *
 * Return: false if the block does not unpack to exactly @size bytes.
 */
bool pxtu_lz4_unpack(void *to, size_t size, const void *from, size_t len);

#endif /* PXTU_LZ4_H */
