// SPDX-License-Identifier: GPL-2.0
/*
 * Copies a log, and adds an index before its end, as the module does. Does not support logs with a
 * ring or a RESET.
 *
 * usage: index_log FROM TO
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_writer.h"
#include "textfile.h"

static void fail(const char *path)
{
	perror(path);
	exit(1);
}

/* Writes a copy of a block, with new numbers, offsets and checksums. */
static void put(struct log_writer *log, const struct posixtrace_log_block *from,
		const unsigned char *payload)
{
	struct posixtrace_log_end end;

	log_block_begin(log, from->type, from->cpu);
	log->block = *from;
	log->block.metadata = log->eventless;
	log->block.seq = log->seq;
	log->block.size = 0;
	if (from->type == POSIXTRACE_LOG_END) {
		memcpy(&end, payload, sizeof(end));
		end.seq = log->seq - 1;
		end.crc = 0;
		end.crc = log_crc(&end, sizeof(end));
		log_payload(log, &end, sizeof(end));
	} else {
		log_payload(log, payload, from->size);
	}
	log_block_end(log);
}

int main(int argc, char **argv)
{
	struct posixtrace_log_block block;
	static struct log_writer log;
	unsigned char *from;
	size_t len, at;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: index_log FROM TO\n");
		return 2;
	}
	from = file_read(argv[1], &len);
	if (!from || len < sizeof(log.header))
		fail(argv[1]);
	log_begin(&log, POSIXTRACE_POLICY_APPEND, POSIXTRACE_POLICY_FLUSH, 1, 0);
	memcpy(&log.header, from, sizeof(log.header));
	log_header(&log);
	for (at = log.header.data_offset; at + sizeof(block) <= len;
	     at += sizeof(block) + block.size) {
		memcpy(&block, from + at, sizeof(block));
		if (block.magic != POSIXTRACE_LOG_BLOCK_MAGIC ||
		    at + sizeof(block) + block.size > len)
			break;
		if (block.type == POSIXTRACE_LOG_END)
			log_index(&log);
		put(&log, &block, from + at + sizeof(block));
	}
	fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || log_write(&log, fd, 0) || close(fd))
		fail(argv[2]);
	log_free(&log);
	free(from);
	return 0;
}
