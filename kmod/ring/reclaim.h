/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_RECLAIM_H
#define PXT_RECLAIM_H

#include <linux/posixtrace_log.h>

#include "ring/pool.h"

void pxt_gap_begin(struct pxt_pool *pool);
void pxt_gap_add(struct pxt_pool *pool, u64 first);
void pxt_gap_end(struct pxt_pool *pool);
void pxt_reclaim_set_holder(struct pxt_pool *pool, u32 cpu, bool holds);
void pxt_reclaim_free(struct pxt_pool *pool, struct pxt_subbuf *subbuf);
struct pxt_subbuf *pxt_reclaim_first(struct pxt_subbuf_kind *kind);
struct pxt_subbuf *pxt_reclaim_read(struct pxt_pool *pool, struct pxt_subbuf_kind *kind);
struct pxt_subbuf *pxt_reclaim_oldest(struct pxt_pool *pool, struct pxt_subbuf_kind *kind);
void pxt_reclaim_begin_epoch(struct pxt_pool *pool);
struct pxt_subbuf *pxt_reclaim_take(struct pxt_pool *pool, struct posixtrace_log_block *gap);
void pxt_reclaim_untake(struct pxt_pool *pool, struct pxt_subbuf *subbuf,
			const struct posixtrace_log_block *gap);
void pxt_reclaim_done(struct pxt_pool *pool, struct pxt_subbuf *subbuf,
		      const struct posixtrace_log_block *gap);
void pxt_reclaim_all(struct pxt_pool *pool);
bool pxt_reclaim_is_read(const struct pxt_pool *pool, const struct pxt_subbuf *subbuf);
u64 pxt_reclaim_deferred(const struct pxt_pool *pool);
bool pxt_reclaim_readable(struct pxt_pool *pool);
bool pxt_reclaim_reportable(struct pxt_pool *pool);

#endif /* PXT_RECLAIM_H */
