// SPDX-License-Identifier: GPL-2.0
/*
 * What logs say about processes: memory with references.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "target/text.h"

/**
 * pxt_text_new() - memory to be filled in
 * @size: bytes
 *
 * Charged to the memory cgroup of the caller. Context: may sleep.
 * Return: one reference; NULL if there is no memory.
 */
struct pxt_text *pxt_text_new(u32 size)
{
	struct pxt_text *text = kvmalloc(struct_size(text, data, size),
					 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);

	if (!text)
		return NULL;
	kref_init(&text->kref);
	text->size = size;
	text->hash = 0;
	return text;
}

static void text_release(struct kref *kref)
{
	kvfree(container_of(kref, struct pxt_text, kref));
}

/**
 * pxt_text_get() - one more reference
 * @text: of which the caller has one, or a lock that keeps it
 */
void pxt_text_get(struct pxt_text *text)
{
	kref_get(&text->kref);
}

/**
 * pxt_text_put() - give a reference back
 * @text: may be NULL
 *
 * Context: may sleep.
 */
void pxt_text_put(struct pxt_text *text)
{
	if (text)
		kref_put(&text->kref, text_release);
}
