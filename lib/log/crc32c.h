/* SPDX-License-Identifier: MIT */
/* The checksum of logs. */
#ifndef PXTU_CRC32C_H
#define PXTU_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * pxtu_crc32c() - CRC32C (Castagnoli), the same as in iSCSI and ext4
 * @crc: 0, or the checksum of the preceding bytes
 * @data: bytes
 * @len: number of bytes
 *
 * The checksum of "123456789" is 0xe3069283.
 *
 * Return: the checksum of all bytes so far.
 */
uint32_t pxtu_crc32c(uint32_t crc, const void *data, size_t len);

/**
 * pxtu_crc32c_table() - like pxtu_crc32c(), without special instructions
 * @crc: 0, or the checksum of the preceding bytes
 * @data: bytes
 * @len: number of bytes
 *
 * Return: the checksum of all bytes so far.
 */
uint32_t pxtu_crc32c_table(uint32_t crc, const void *data, size_t len);

#endif /* PXTU_CRC32C_H */
