/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compresses exports with zlib, in the two ways that viewers support.
 */
#ifndef POSIXTRACE_EXPORT_COMPRESS_H
#define POSIXTRACE_EXPORT_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

struct gzip;

/* gzip_new() - begin a file in the format of gzip(1); returns 0 or -ENOMEM */
int gzip_new(struct gzip **gzip);
void gzip_free(struct gzip *gzip);

/**
 * gzip_put() - compress bytes
 * @gzip: from gzip_new()
 * @data: the bytes
 * @len: number of bytes
 * @end: these are the last bytes of the file
 * @to: where to append the compressed bytes that are ready
 */
void gzip_put(struct gzip *gzip, const void *data, size_t len, bool end, struct buffer *to);

/**
 * compress_packets() - compress Perfetto packets
 * @from: whole packets
 * @to: where to append packets that contain the compressed packets
 */
void compress_packets(const struct buffer *from, struct buffer *to);

#endif /* POSIXTRACE_EXPORT_COMPRESS_H */
