/* SPDX-License-Identifier: MIT */
/* The thread that writes the log of a stream. */
#ifndef PXTU_WORKER_H
#define PXTU_WORKER_H

#include "stream/stream.h"

/**
 * pxtu_stream_start_worker() - start the thread that writes the log of a stream
 * @stream: created, with log
 *
 * If it cannot start, the module still writes the log. The thread ends with the stream, and does
 * not use @stream.
 */
void pxtu_stream_start_worker(const struct pxtu_stream *stream);

#endif /* PXTU_WORKER_H */
