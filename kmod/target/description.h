/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_DESCRIPTION_H
#define PXT_DESCRIPTION_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/types.h>

struct cred;
struct pxt_author;
struct pxt_table;
struct pxt_type;

/**
 * struct pxt_description - description of the data of an event type
 * @node: in pxt_table.descriptions, under its lock
 * @id: the event type
 * @size: bytes of @text, with the NUL
 * @guest: created by a guest of the table
 * @text: NUL-terminated, without control characters; the module does not parse it
 *
 * Constant once in the list; freed with its type.
 */
struct pxt_description {
	struct list_head node;
	u32 id;
	u32 size;
	bool guest;
	char text[];
};

/**
 * struct pxt_describer - the rights of a caller
 * @is_guest: the caller is a guest of the table
 * @cred: credentials of the process that opened the type; a reference, or NULL
 * @may_describe: the caller may describe types of a process with @cred
 */
struct pxt_describer {
	bool is_guest;
	const struct cred *cred;
	bool may_describe;
};

struct pxt_description *pxt_description_new(u32 id, u32 size);
bool pxt_description_valid(const struct pxt_description *description);
bool pxt_description_same(const struct pxt_description *a, const struct pxt_description *b);
int pxt_description_fits(const struct pxt_table *table, const struct pxt_author *author,
			 bool is_guest, const struct pxt_description *description);
void pxt_description_attach(struct pxt_table *table, struct pxt_author *author, bool is_guest,
			    struct pxt_type *type, struct pxt_description *description);
void pxt_describer_look(struct pxt_describer *describer);
void pxt_describer_end(const struct pxt_describer *describer);
int pxt_description_add(struct pxt_table *table, struct pxt_author *author,
			struct pxt_describer *describer, struct pxt_type *type,
			struct pxt_description *description);
int pxt_describe(struct pxt_table *table, struct pxt_author *author,
		 struct pxt_description *description);
int pxt_description_find(struct pxt_table *table, u32 id,
			 const struct pxt_description **description);
const struct pxt_description *pxt_description_next(struct pxt_table *table,
						   const struct pxt_description *last);

/* Undo pxt_description_new(). The description must not be in a list. May sleep. */
static inline void pxt_description_free(struct pxt_description *description)
{
	kvfree(description);
}

#endif /* PXT_DESCRIPTION_H */
