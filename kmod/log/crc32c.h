/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CRC32C_H
#define PXT_CRC32C_H

#include <linux/types.h>

void pxt_crc32c_init(void);
u32 pxt_crc32c_copy(void *to, const void *from, size_t len);

#endif /* PXT_CRC32C_H */
