/* SPDX-License-Identifier: GPL-2.0 */
/* Compresses the records of a block for tests of the reader; shares no code with the module. */
#ifndef _SELFTESTS_LOG_PACK_H
#define _SELFTESTS_LOG_PACK_H

#include <linux/posixtrace_log.h>
#include <stddef.h>

/* Writes @len bytes as a block of LZ4. Returns its size, or 0 if it needs more than @room bytes. */
size_t log_lz4(unsigned char *to, size_t room, const unsigned char *from, size_t len);

/*
 * Compresses @len bytes of records of a block of this type. A piece ends before the record that
 * would make it larger than @piece bytes. Returns the bytes at @to, which has room for
 * log_pack_room(@len).
 */
size_t log_pack(unsigned char *to, __u32 type, const unsigned char *records, size_t len,
		size_t piece);
size_t log_pack_room(size_t len);

#endif /* _SELFTESTS_LOG_PACK_H */
