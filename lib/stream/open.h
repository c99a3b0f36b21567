/* SPDX-License-Identifier: MIT */
/* Creates and frees streams. */
#ifndef PXTU_OPEN_H
#define PXTU_OPEN_H

#include "stream/stream.h"

/**
 * pxtu_stream_alloc() - allocate a stream for pxtu_stream_create()
 * @withlog: it will have a log
 *
 * Return: the stream, for pxtu_stream_dealloc(); NULL if out of memory.
 */
struct pxtu_stream *pxtu_stream_alloc(bool withlog);

/**
 * pxtu_stream_dealloc() - free a stream that was not created, or was destroyed
 * @stream: from pxtu_stream_alloc()
 */
void pxtu_stream_dealloc(struct pxtu_stream *stream);

/**
 * pxtu_stream_create() - create a stream, and share its memory with the module
 * @stream: allocated; its descriptor is the device, without role. On error, this closes the
 *	descriptor
 * @create: argument of CREATE
 *
 * Return: 0; -EINTR if interrupted by a signal, then no stream was created; other negative errno.
 */
int pxtu_stream_create(struct pxtu_stream *stream, struct posixtrace_create *create);

/**
 * pxtu_stream_share() - share the memory of a stream with the module
 * @stream: allocated; its descriptor has the role of a stream
 * @create: result of CREATE for that stream
 *
 * Return: 0 or negative errno.
 */
int pxtu_stream_share(struct pxtu_stream *stream, const struct posixtrace_create *create);

/**
 * pxtu_stream_unshare() - undo pxtu_stream_share()
 * @stream: not in use by other threads; its descriptor stays open
 */
void pxtu_stream_unshare(struct pxtu_stream *stream);

/**
 * pxtu_stream_destroy() - undo pxtu_stream_create(), and close the descriptor
 * @stream: created; not in use by other threads
 */
void pxtu_stream_destroy(struct pxtu_stream *stream);

#endif /* PXTU_OPEN_H */
