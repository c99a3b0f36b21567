// SPDX-License-Identifier: GPL-2.0
/*
 * Copies a log, and compresses its blocks of events in pieces of at most PIECE bytes (default
 * 32768). Blocks that do not become smaller are copied unchanged. Does not support logs with a
 * ring.
 *
 * usage: pack_log FROM TO [PIECE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_pack.h"
#include "log_writer.h"
#include "textfile.h"

static void fail(const char *path)
{
	perror(path);
	exit(1);
}

static void put(FILE *to, const void *data, size_t len)
{
	if (len && fwrite(data, len, 1, to) != 1)
		fail("pack_log");
}

static void put_block(FILE *to, struct posixtrace_log_block *block, const unsigned char *payload,
		      size_t piece)
{
	unsigned char *packed = malloc(log_pack_room(block->size));
	size_t size;

	if (!packed)
		fail("pack_log");
	if (block->type == POSIXTRACE_LOG_EVENTS || block->type == POSIXTRACE_LOG_KERNEL) {
		size = log_pack(packed, block->type, payload, block->size, piece);
		if (size < block->size) {
			block->compression = POSIXTRACE_COMPRESS_LZ4;
			block->records_size = block->size;
			block->size = size;
			payload = packed;
		}
	}
	block->payload_crc = log_crc(payload, block->size);
	block->crc = 0;
	block->crc = log_crc(block, sizeof(*block));
	put(to, block, sizeof(*block));
	put(to, payload, block->size);
	free(packed);
}

int main(int argc, char **argv)
{
	size_t piece = argc > 3 ? strtoul(argv[3], NULL, 0) : 32768, len, at, next;
	struct posixtrace_log_header header;
	struct posixtrace_log_block block;
	unsigned char *log;
	FILE *to;

	if (argc < 3 || !piece || piece % 8) {
		fprintf(stderr, "usage: pack_log FROM TO [PIECE]\n");
		return 2;
	}
	log = file_read(argv[1], &len);
	if (!log || len < sizeof(header))
		fail(argv[1]);
	memcpy(&header, log, sizeof(header));
	header.attr.compression = POSIXTRACE_COMPRESS_LZ4;
	header.crc = 0;
	header.crc = log_crc(&header, sizeof(header));
	to = fopen(argv[2], "w");
	if (!to)
		fail(argv[2]);
	put(to, &header, sizeof(header));
	for (at = header.data_offset; at + sizeof(block) <= len; at = next) {
		memcpy(&block, log + at, sizeof(block));
		next = at + sizeof(block) + block.size;
		if (block.magic != POSIXTRACE_LOG_BLOCK_MAGIC || next > len)
			break;
		put_block(to, &block, log + at + sizeof(block), piece);
	}
	put(to, log + at, len - at);
	if (fclose(to))
		fail(argv[2]);
	free(log);
	return 0;
}
