/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_DESCRIPTION_H
#define PXT_DESCRIPTION_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/types.h>

struct pxt_table;

/**
 * struct pxt_description - what the data of an event type is
 * @node: in pxt_table.descriptions, under its lock
 * @id: event type
 * @size: bytes of @text, with the NUL
 * @text: NUL-terminated, without control characters; the module does not know its grammar
 *
 * Constant once it is in the list, and never removed from it.
 */
struct pxt_description {
	struct list_head node;
	u32 id;
	u32 size;
	char text[];
};

struct pxt_description *pxt_description_new(u32 id, u32 size);
int pxt_description_add(struct pxt_table *table, struct pxt_description *description);
int pxt_description_find(struct pxt_table *table, u32 id,
			 const struct pxt_description **description);
const struct pxt_description *pxt_description_next(struct pxt_table *table,
						   const struct pxt_description *last);

/* End of pxt_description_new(), for one that is in no list any more. May sleep. */
static inline void pxt_description_free(struct pxt_description *description)
{
	kvfree(description);
}

#endif /* PXT_DESCRIPTION_H */
