/* SPDX-License-Identifier: MIT */
/* The streams that trace this process, and their memory. */
#ifndef PXTU_SLOTS_H
#define PXTU_SLOTS_H

#include "state.h"

/**
 * pxtu_slots_drop() - count an event in those streams that are full
 * @state: state of this process, which is attached
 * @id: event type
 * @mask: bit s: the stream in slot s wants it
 *
 * Takes note of new streams first, if nobody else is doing that. Async-signal-safe.
 *
 * Return: bit s: the stream in slot s is full, and the event was counted as lost.
 */
__u32 pxtu_slots_drop(struct pxtu_state *state, __u32 id, __u32 mask);

#endif /* PXTU_SLOTS_H */
