// SPDX-License-Identifier: GPL-2.0
/*
 * Compresses exports with zlib: see compress.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "export/compress.h"
#include "export/proto.h"

#define WINDOW_OF_GZIP	(MAX_WBITS + 16)	/* makes zlib write gzip(1) format */
#define MEMORY_LEVEL	8
#define STEP		(16U << 10)		/* bytes of room for each call of zlib */

/* Field numbers from Perfetto's protos/perfetto/trace. */
#define TRACE_PACKET			1
#define PACKET_COMPRESSED_PACKETS	50

/* Perfetto asks for less than 512 KiB in a compressed packet. */
#define PACKETS_SIZE	(256U << 10)

/* ------------------------------------------------------------------ */
/* gzip									*/

struct gzip {
	z_stream stream;
};

int gzip_new(struct gzip **gzip)
{
	struct gzip *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	if (deflateInit2(&new->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_OF_GZIP,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(new);
		return -ENOMEM;
	}
	*gzip = new;
	return 0;
}

void gzip_free(struct gzip *gzip)
{
	if (gzip)
		deflateEnd(&gzip->stream);
	free(gzip);
}

void gzip_put(struct gzip *gzip, const void *data, size_t len, bool end, struct buffer *to)
{
	z_stream *stream = &gzip->stream;

	/* zlib does not change the input. Callers pass much less than 4 GiB. */
	stream->next_in = (void *)data;
	stream->avail_in = (uInt)len;
	do {
		if (!buffer_has_room(to, STEP))
			return;
		stream->next_out = to->data + to->len;
		stream->avail_out = STEP;
		deflate(stream, end ? Z_FINISH : Z_NO_FLUSH);
		to->len += STEP - stream->avail_out;
	} while (!stream->avail_out);
}

/* ------------------------------------------------------------------ */
/* Packets								*/

/* Returns the number of bytes of the packet at the start of @data. */
static size_t packet_size(const unsigned char *data, size_t len)
{
	size_t size = 0, at = 1;
	unsigned int shift = 0;

	/* One byte of the field number, then the length. */
	for (; at < len && shift < 35; shift += 7) {
		size |= (size_t)(data[at] & 0x7f) << shift;
		if (!(data[at++] & 0x80))
			break;
	}
	return at + size < len ? at + size : len;
}

static void put_compressed(struct buffer *to, const unsigned char *data, size_t len)
{
	uLongf room = compressBound(len);
	unsigned char *compressed = malloc(room);
	size_t packet;

	if (!compressed || compress(compressed, &room, data, len) != Z_OK) {
		free(compressed);
		to->failed = true;
		return;
	}
	packet = proto_begin(to, TRACE_PACKET);
	proto_bytes(to, PACKET_COMPRESSED_PACKETS, compressed, room);
	proto_end(to, packet);
	free(compressed);
}

void compress_packets(const struct buffer *from, struct buffer *to)
{
	size_t at = 0, begin = 0, size;

	to->failed |= from->failed;
	for (; at < from->len; at += size) {
		size = packet_size(from->data + at, from->len - at);
		if (at > begin && at + size - begin > PACKETS_SIZE) {
			put_compressed(to, from->data + begin, at - begin);
			begin = at;
		}
	}
	if (at > begin)
		put_compressed(to, from->data + begin, at - begin);
}
