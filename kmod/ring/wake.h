/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WAKE_H
#define PXT_WAKE_H

#include "ring/pool.h"

void pxt_wake_init(struct pxt_pool *pool);
bool pxt_wake_arm(struct pxt_pool *pool, bool edges);
u32 pxt_wake_round(const struct pxt_pool *pool);
bool pxt_wake_may_sleep(struct pxt_pool *pool, u32 round);
void pxt_wake_disarm(struct pxt_pool *pool);
void pxt_wake_defer(struct pxt_pool *pool, u64 until);
void pxt_wake_end(struct pxt_pool *pool);
void pxt_wake(struct pxt_pool *pool);
void pxt_wake_now(struct pxt_pool *pool);
void pxt_wake_filled(struct pxt_pool *pool);
void pxt_wake_look(struct pxt_pool *pool);
void pxt_wake_rest(struct pxt_pool *pool);

#endif /* PXT_WAKE_H */
