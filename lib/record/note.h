/* SPDX-License-Identifier: MIT */
/* The note of the stream that this thread recorded into last. Most threads need no other. */
#ifndef PXTU_NOTE_H
#define PXTU_NOTE_H

#include "record/short.h"

/* Only this thread and its signal handlers write and read it. */
extern __thread struct pxtu_note pxtu_note
	__attribute__((__tls_model__("initial-exec"), __visibility__("hidden")));

/**
 * pxtu_note_keep() - keep a note for the next event of this thread
 * @slot: a stream that took an event
 * @entry: that event
 *
 * Async-signal-safe.
 */
void pxtu_note_keep(const struct pxtu_slot *slot, const struct pxtu_entry *entry);

/**
 * pxtu_note_forget() - keep no note
 *
 * For a stream that is full or stopped: the short way would only fail. Async-signal-safe.
 */
void pxtu_note_forget(void);

#endif /* PXTU_NOTE_H */
