/* SPDX-License-Identifier: MIT */
/* Trace ids: which source a number stands for, and how many calls use it. */
#ifndef PXTU_TRID_H
#define PXTU_TRID_H

#include "common/source.h"

/**
 * pxtu_trid_install() - give a source a trace id
 * @source: the source, ready for use
 * @trid: where to write the trace id
 *
 * Return: 0; -ENOMEM, -EAGAIN if there are too many.
 */
int pxtu_trid_install(struct pxtu_source *source, trace_id_t *trid);

/**
 * pxtu_trid_get() - look up a trace id, and use its source
 * @trid: any number
 * @kind: operations that the source must have; NULL for any
 *
 * Return: the source, which lives until pxtu_trid_put(); NULL if the number is no trace id
 * of this process, or stands for a source of another kind.
 */
struct pxtu_source *pxtu_trid_get(trace_id_t trid, const struct pxtu_source_ops *kind);

/**
 * pxtu_trid_lock() - look up a trace id, and take the lock of its source
 * @trid: any number
 * @kind: operations of the only kind to return; NULL for any
 *
 * For short uses: costs less than pxtu_trid_get() and pxtu_trid_put(). Never waits for a reader.
 *
 * Return: the source, until the caller unlocks it; NULL if the number is no trace id of this
 * process, if its source is of another kind, or if another thread has the lock.
 */
struct pxtu_source *pxtu_trid_lock(trace_id_t trid, const struct pxtu_source_ops *kind);

/**
 * pxtu_trid_put() - end the use of a source
 * @source: source from pxtu_trid_get()
 */
void pxtu_trid_put(struct pxtu_source *source);

/**
 * pxtu_trid_remove() - make a trace id invalid
 * @trid: any number
 * @kind: operations that its source must have
 *
 * Return: the source, which belongs to the caller, and until pxtu_trid_drain() also to
 * calls that began earlier; NULL as pxtu_trid_get().
 */
struct pxtu_source *pxtu_trid_remove(trace_id_t trid, const struct pxtu_source_ops *kind);

/**
 * pxtu_trid_drain() - wait until no call uses the source any more
 * @source: source from pxtu_trid_remove()
 *
 * Call with cancellation disabled.
 *
 * Return: true; false in a child that a signal handler forked since pxtu_trid_remove(): its copy
 * of the source may be in use by threads that it does not have, so the caller leaves it alone.
 */
bool pxtu_trid_drain(struct pxtu_source *source);

/**
 * pxtu_trid_forked() - did a signal handler fork while this process used a source?
 *
 * Call only while a source is in use. A child has no mapping of a stream.
 *
 * Return: true in the child.
 */
bool pxtu_trid_forked(void);

#endif /* PXTU_TRID_H */
