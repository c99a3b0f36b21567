/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parses logs byte by byte, for tests of the module's output. Any deviation from
 * Documentation/trace-log.rst is an error. Does not use the library's reader.
 */
#ifndef _SELFTESTS_LOGFILE_H
#define _SELFTESTS_LOGFILE_H

#include <linux/posixtrace_log.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi.h"

/* A log in memory. */
struct logfile {
	unsigned char *bytes;
	size_t size;
	struct posixtrace_log_header header;
};

/* Is the CRC at offset @crc in the structure at @p correct? */
bool logfile_crc_right(const void *p, size_t len, size_t crc);

int logfile_read(struct logfile *log, int fd);
void logfile_free(struct logfile *log);

/* Returns the complete block at @pos if its number is @seq, otherwise NULL. */
const struct posixtrace_log_block *logfile_block(const struct logfile *log, size_t pos,
						 uint64_t seq);

static inline size_t logfile_next(const struct posixtrace_log_block *block, size_t pos)
{
	return pos + sizeof(*block) + block->size;
}

#endif /* _SELFTESTS_LOGFILE_H */
