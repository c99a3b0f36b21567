// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the blocks of the trace with the gzip file itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "verify.h"

#define CHUNK			(64 << 10)
#define GZIP_WINDOW_BITS	(15 + 16)

struct unpack {
	const struct report *report;
	char *const *inputs;
	size_t nr_inputs;
	FILE *input;		/* the input file that is being read: inputs[next - 1] */
	size_t next;

	__u64 members;		/* members of the gzip file so far */
	__u64 position;		/* start of the current member in the gzip file */
	__u64 unpacked;		/* number of bytes unpacked */
	unsigned int wrong;	/* number of blocks that differ between trace and file */
};

/*
 * Reads the next @len bytes of all inputs as if they were one file. Returns -1 if there are fewer.
 */
static int read_inputs(struct unpack *unpack, unsigned char *buf, size_t len)
{
	while (len) {
		size_t n = unpack->input ? fread(buf, 1, len, unpack->input) : 0;

		buf += n;
		len -= n;
		if (n)
			continue;
		if (unpack->input)
			fclose(unpack->input);
		unpack->input = NULL;
		if (unpack->next == unpack->nr_inputs)
			return -1;
		unpack->input = fopen(unpack->inputs[unpack->next++], "re");
		if (!unpack->input)
			return -1;
	}
	return 0;
}

static int compare_bytes(struct unpack *unpack, const unsigned char *data, size_t len)
{
	static unsigned char expected[CHUNK];

	if (read_inputs(unpack, expected, len) || memcmp(expected, data, len)) {
		printf("check: unpacked data differ from the input after byte %llu\n",
		       unpack->unpacked);
		return -1;
	}
	unpack->unpacked += len;
	return 0;
}

/* Compares a complete gzip member with its block in the trace. */
static void compare_block(struct unpack *unpack, __u64 size_out, __u64 size_in)
{
	const struct report *report = unpack->report;
	const struct report_block *block = NULL;

	if (unpack->members < report->nr_blocks)
		block = &report->blocks[unpack->members];
	if (!block || !block->packed || !block->written || block->size_out != size_out ||
	    block->size_in != size_in || block->out_offset != unpack->position) {
		if (!unpack->wrong++)
			printf("check: block %llu differs from the trace\n", unpack->members);
	}
	unpack->members++;
	unpack->position += size_out;
}

static int unpack_file(struct unpack *unpack, FILE *file)
{
	static unsigned char in[CHUNK], out[CHUNK];
	z_stream stream = { 0 };
	int ret = -1;
	int err = Z_OK;

	if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK)
		return -1;
	for (;;) {
		if (!stream.avail_in) {
			stream.next_in = in;
			stream.avail_in = fread(in, 1, sizeof(in), file);
			if (!stream.avail_in)
				break;
		}
		if (err == Z_STREAM_END)
			inflateReset(&stream);
		do {
			stream.next_out = out;
			stream.avail_out = sizeof(out);
			err = inflate(&stream, Z_NO_FLUSH);
			if (err != Z_OK && err != Z_STREAM_END && err != Z_BUF_ERROR) {
				printf("check: the file is not a gzip file after byte %llu\n",
				       unpack->position + stream.total_in);
				goto out_end;
			}
			if (compare_bytes(unpack, out, sizeof(out) - stream.avail_out))
				goto out_end;
		} while (err == Z_OK && !stream.avail_out);
		if (err == Z_STREAM_END)
			compare_block(unpack, stream.total_in, stream.total_out);
	}
	if (ferror(file) || err != Z_STREAM_END)
		printf("check: the file is truncated\n");
	else
		ret = 0;
out_end:
	inflateEnd(&stream);
	return ret;
}

bool verify(const struct report *report, const char *output, char *const *inputs,
	    size_t nr_inputs)
{
	struct unpack unpack = { .report = report, .inputs = inputs, .nr_inputs = nr_inputs };
	__u64 blocks = 0, size_in = 0, size_out = 0;
	unsigned char rest;
	bool good;
	FILE *file;

	for (size_t i = 0; i < report->nr_blocks; i++) {
		blocks += report->blocks[i].packed;
		size_in += report->blocks[i].size_in;
		size_out += report->blocks[i].size_out;
	}

	file = fopen(output, "re");
	if (!file) {
		printf("check: %s: %s\n", output, strerror(errno));
		return false;
	}
	good = !unpack_file(&unpack, file);
	fclose(file);
	if (good && !read_inputs(&unpack, &rest, 1)) {
		printf("check: the file lacks a part of the input\n");
		good = false;
	}
	if (unpack.input)
		fclose(unpack.input);

	printf("by the trace      %8llu blocks, %10llu -> %10llu bytes\n",
	       blocks, size_in, size_out);
	if (report->done)
		printf("by the compressor %8llu blocks, %10llu -> %10llu bytes\n",
		       report->done_blocks, report->done_in, report->done_out);
	printf("by the file       %8llu blocks, %10llu -> %10llu bytes\n",
	       unpack.members, unpack.unpacked, unpack.position);

	good = good && !unpack.wrong && blocks == unpack.members &&
	       size_in == unpack.unpacked && size_out == unpack.position;
	if (report->done)
		good = good && report->done_blocks == unpack.members &&
		       report->done_in == unpack.unpacked && report->done_out == unpack.position;
	else
		good = false;
	printf("check: trace and file %s\n", good ? "agree, block by block" : "DIFFER");
	return good;
}
