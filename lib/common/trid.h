/* SPDX-License-Identifier: MIT */
/* Trace ids: the source of each, and how many calls use it. */
#ifndef PXTU_TRID_H
#define PXTU_TRID_H

#include "common/source.h"

/**
 * pxtu_trid_install() - give a source a trace id
 * @source: the source, ready for use
 * @trid: result
 *
 * Return: 0; -ENOMEM, -EAGAIN if there are too many.
 */
int pxtu_trid_install(struct pxtu_source *source, trace_id_t *trid);

/**
 * pxtu_trid_get() - look up a trace id, and use its source
 * @trid: any number
 * @kind: operations that the source must have; NULL for any
 *
 * Return: the source, valid until pxtu_trid_put(); NULL if the number is not a trace id
 * of this process, or belongs to a source of another kind.
 */
struct pxtu_source *pxtu_trid_get(trace_id_t trid, const struct pxtu_source_ops *kind);

/**
 * pxtu_trid_lock() - look up a trace id, and take the lock of its source
 * @trid: any number
 * @kind: operations that the source must have; NULL for any
 *
 * For short uses: cheaper than pxtu_trid_get() and pxtu_trid_put(). Never waits for a reader.
 *
 * Return: the source, valid until the caller unlocks it; NULL if the number is not a trace id of
 * this process, if its source is of another kind, or if another thread has the lock.
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
 * pxtu_trid_drain() - wait until no call uses the source
 * @source: source from pxtu_trid_remove()
 *
 * Call with cancellation disabled.
 *
 * Return: true; false in a child that a signal handler forked since pxtu_trid_remove(). The caller
 * must not touch its copy of the source, which may be in use by threads that do not exist there.
 */
bool pxtu_trid_drain(struct pxtu_source *source);

/**
 * pxtu_trid_forked() - check if a signal handler forked while this process used a source
 *
 * Call only while a source is in use. Streams are not mapped in a child.
 *
 * Return: true in the child.
 */
bool pxtu_trid_forked(void);

#endif /* PXTU_TRID_H */
