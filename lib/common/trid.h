/* SPDX-License-Identifier: MIT */
/* Trace ids: which stream or log a number means, and who is using it. */
#ifndef PXTU_TRID_H
#define PXTU_TRID_H

#include "stream/stream.h"

/**
 * pxtu_trid_install() - give a stream a trace id
 * @stream: the stream, ready for use
 * @trid: where to write the trace id
 *
 * Return: 0; -ENOMEM, -EAGAIN if there are too many.
 */
int pxtu_trid_install(struct pxtu_stream *stream, trace_id_t *trid);

/**
 * pxtu_trid_get() - the active stream of a trace id, to use it
 * @trid: any number
 *
 * Return: the stream, that lives until pxtu_trid_put(); NULL if the number is
 * no trace id of this process, or that of a log.
 */
struct pxtu_stream *pxtu_trid_get(trace_id_t trid);

/**
 * pxtu_trid_get_log() - the log of a trace id, to use it
 * @trid: any number
 *
 * Return: as pxtu_trid_get(), of a log only.
 */
struct pxtu_stream *pxtu_trid_get_log(trace_id_t trid);

/**
 * pxtu_trid_put() - end of a use
 * @stream: stream from pxtu_trid_get()
 */
void pxtu_trid_put(struct pxtu_stream *stream);

/**
 * pxtu_trid_remove() - make the trace id of an active stream invalid
 * @trid: any number
 *
 * Return: the stream, which now belongs to the caller and maybe to calls that
 * began earlier, see pxtu_trid_drain(); NULL if the number is no trace id of
 * this process, or that of a log.
 */
struct pxtu_stream *pxtu_trid_remove(trace_id_t trid);

/**
 * pxtu_trid_remove_log() - make the trace id of a log invalid
 * @trid: any number
 *
 * Return: as pxtu_trid_remove(), of a log only.
 */
struct pxtu_stream *pxtu_trid_remove_log(trace_id_t trid);

/**
 * pxtu_trid_drain() - wait until nobody uses the stream any more
 * @stream: stream from pxtu_trid_remove()
 *
 * Call with cancellation disabled.
 */
void pxtu_trid_drain(struct pxtu_stream *stream);

#endif /* PXTU_TRID_H */
