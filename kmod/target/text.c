// SPDX-License-Identifier: GPL-2.0
/*
 * Reference-counted texts for logs: the command line and the mappings of a process.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "target/text.h"

/**
 * pxt_text_new() - allocate a text to be filled in
 * @size: bytes
 *
 * Charged to the memory cgroup of the caller. Context: may sleep.
 * Return: one reference; NULL if out of memory.
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
 * pxt_text_get() - get another reference
 * @text: the caller holds a reference, or a lock that keeps it alive
 */
void pxt_text_get(struct pxt_text *text)
{
	kref_get(&text->kref);
}

/**
 * pxt_text_put() - put a reference
 * @text: may be NULL
 *
 * Context: may sleep.
 */
void pxt_text_put(struct pxt_text *text)
{
	if (text)
		kref_put(&text->kref, text_release);
}
