/* SPDX-License-Identifier: GPL-2.0 */
/* Compresses the records of a block, for tests of the reader. Shares no code with the module. */
#ifndef _SELFTESTS_LOG_PACK_H
#define _SELFTESTS_LOG_PACK_H

#include <linux/posixtrace_log.h>
#include <stddef.h>

/*
 * Compresses @len bytes as an LZ4 block. Returns its size, or 0 if it needs more than @room bytes.
 */
size_t log_lz4(unsigned char *to, size_t room, const unsigned char *from, size_t len);

/*
 * Compresses @len bytes of records for a block of the given type, in pieces. A piece ends before
 * the record that would make it larger than @piece bytes. Returns the number of bytes written to
 * @to, which must have room for log_pack_room(@len).
 */
size_t log_pack(unsigned char *to, __u32 type, const unsigned char *records, size_t len,
		size_t piece);
size_t log_pack_room(size_t len);

#endif /* _SELFTESTS_LOG_PACK_H */
