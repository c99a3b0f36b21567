/* SPDX-License-Identifier: MIT */
/* The check sum of logs. */
#ifndef PXTU_CRC32C_H
#define PXTU_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * pxtu_crc32c() - CRC32C (Castagnoli) as iSCSI and ext4 have it
 * @crc: 0, or that of the bytes before
 * @data: bytes
 * @len: how many
 *
 * That of "123456789" is 0xe3069283.
 *
 * Return: the check sum of all bytes so far.
 */
uint32_t pxtu_crc32c(uint32_t crc, const void *data, size_t len);

/**
 * pxtu_crc32c_table() - the same, without instructions that not every CPU has
 * @crc: as above
 * @data: as above
 * @len: as above
 */
uint32_t pxtu_crc32c_table(uint32_t crc, const void *data, size_t len);

#endif /* PXTU_CRC32C_H */
