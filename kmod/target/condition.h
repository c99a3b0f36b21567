/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_CONDITION_H
#define PXT_CONDITION_H

#include <linux/bits.h>
#include <linux/types.h>

#include <linux/posixtrace.h>

struct pxt_link;
struct pxt_table;
struct pxt_target;
struct pxt_type;

/**
 * struct pxt_conditions - conditions of a stream on events
 * @count: number of conditions
 * @condition: the conditions; constant
 * @types: event types that a condition names; under the lock of the table
 */
struct pxt_conditions {
	u32 count;
	struct posixtrace_condition condition[POSIXTRACE_CONDITIONS_MAX];
	struct posixtrace_event_set types;
};

static inline bool pxt_conditions_have(const struct pxt_conditions *conditions, u32 id)
{
	return conditions && conditions->types.bits[id / 64] & BIT_ULL(id % 64);
}

bool pxt_conditions_valid(const struct pxt_conditions *conditions);
void pxt_conditions_begin(struct pxt_conditions *conditions, const struct pxt_table *table);
bool pxt_conditions_learn(struct pxt_conditions *conditions, const struct pxt_type *type);
void pxt_conditions_show(struct pxt_target *target, const struct pxt_link *link, bool renew);
void pxt_conditions_hide(struct pxt_target *target, const struct pxt_link *link);

#endif /* PXT_CONDITION_H */
