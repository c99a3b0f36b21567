// SPDX-License-Identifier: MIT
/* The note of the stream that this thread recorded into last. */
#include "record/note.h"

__thread struct pxtu_note pxtu_note;

void pxtu_note_keep(const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	const __u32 max_data = pxtu_load(&slot->max_data);
	const struct pxtu_note note = {
		.generation = entry->generation,
		.len_end = (max_data < PXTU_SHORT_MAX ? max_data : PXTU_SHORT_MAX) + 1,
		.head = pxtu_load(&slot->heads),
		.pool = pxtu_load(&slot->pool),
		.last_begin = pxtu_load(&slot->pool_size) - PXTU_SHORT_RECORD_MAX,
		.wakeup = pxtu_load(&slot->wakeup),
		.ids = entry->ids,
		.thread_id = entry->thread_id,
		.area = entry->area,
		.bit = entry->bit,
		.relaxed = pxtu_load(&slot->relaxed),
		.nr_cpus = entry->nr_cpus,
	};

	/* An event that does not fit the short way changes nothing. */
	if (pxtu_load(&pxtu_note.generation) == note.generation &&
	    pxtu_load(&pxtu_note.bit) == note.bit &&
	    pxtu_load(&pxtu_note.cpu) == pxtu_rseq_cpu(note.area))
		return;
	pxtu_short_keep(&pxtu_note, &note);
}

void pxtu_note_forget(void)
{
	pxtu_store(&pxtu_note.len_end, 0);
	pxtu_store(&pxtu_note.generation, 0);
}
