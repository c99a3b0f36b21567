/* SPDX-License-Identifier: MIT */
/* Trace ids: which stream or log a number means, and who is using it. */
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
 * pxtu_trid_get() - the source of a trace id, to use it
 * @trid: any number
 * @kind: operations that it must have; NULL for any
 *
 * Return: the source, that lives until pxtu_trid_put(); NULL if the number is
 * no trace id of this process, or that of a source of another kind.
 */
struct pxtu_source *pxtu_trid_get(trace_id_t trid, const struct pxtu_source_ops *kind);

/**
 * pxtu_trid_put() - end of a use
 * @source: source from pxtu_trid_get()
 */
void pxtu_trid_put(struct pxtu_source *source);

/**
 * pxtu_trid_remove() - make a trace id invalid
 * @trid: any number
 * @kind: operations that its source must have
 *
 * Return: the source, which now belongs to the caller and maybe to calls that
 * began earlier, see pxtu_trid_drain(); NULL as pxtu_trid_get().
 */
struct pxtu_source *pxtu_trid_remove(trace_id_t trid, const struct pxtu_source_ops *kind);

/**
 * pxtu_trid_drain() - wait until nobody uses the source any more
 * @source: source from pxtu_trid_remove()
 *
 * Call with cancellation disabled.
 */
void pxtu_trid_drain(struct pxtu_source *source);

#endif /* PXTU_TRID_H */
