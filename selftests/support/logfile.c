// SPDX-License-Identifier: GPL-2.0
/* Parses the module's logs byte by byte. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfile.h"

/* CRC32C, bit by bit: simple and slow. */
static uint32_t logfile_crc(const void *p, size_t len)
{
	const unsigned char *byte = p;
	uint32_t crc = ~0U;

	while (len--) {
		crc ^= *byte++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

bool logfile_crc_right(const void *p, size_t len, size_t crc)
{
	unsigned char copy[512];
	uint32_t stored;

	memcpy(copy, p, len);
	memcpy(&stored, copy + crc, sizeof(stored));
	memset(copy + crc, 0, sizeof(stored));
	return logfile_crc(copy, len) == stored;
}

int logfile_read(struct logfile *log, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);

	memset(log, 0, sizeof(*log));
	if (size < (off_t)sizeof(log->header))
		return -EINVAL;
	log->size = size;
	log->bytes = malloc(log->size);
	if (!log->bytes)
		return -ENOMEM;
	if (pread(fd, log->bytes, log->size, 0) != (ssize_t)log->size)
		return -EIO;
	memcpy(&log->header, log->bytes, sizeof(log->header));
	if (memcmp(log->header.magic, POSIXTRACE_LOG_MAGIC, 8) ||
	    log->header.order != POSIXTRACE_LOG_ORDER ||
	    log->header.version != POSIXTRACE_LOG_VERSION ||
	    log->header.size != sizeof(log->header) ||
	    log->header.block_size != sizeof(struct posixtrace_log_block) ||
	    !logfile_crc_right(&log->header, sizeof(log->header),
			       offsetof(struct posixtrace_log_header, crc)))
		return -EPROTO;
	return 0;
}

void logfile_free(struct logfile *log)
{
	free(log->bytes);
	log->bytes = NULL;
}

const struct posixtrace_log_block *logfile_block(const struct logfile *log, size_t pos,
						 uint64_t seq)
{
	const struct posixtrace_log_block *block = (const void *)(log->bytes + pos);

	if (pos + sizeof(*block) > log->size || block->magic != POSIXTRACE_LOG_BLOCK_MAGIC ||
	    block->cookie != log->header.cookie || block->seq != seq ||
	    !logfile_crc_right(block, sizeof(*block), offsetof(struct posixtrace_log_block, crc)) ||
	    pos + sizeof(*block) + block->size > log->size ||
	    block->payload_crc != logfile_crc(block + 1, block->size))
		return NULL;
	return block;
}
