/* SPDX-License-Identifier: MIT */
/* The streams that trace this process, and their memory. */
#ifndef PXTU_SLOTS_H
#define PXTU_SLOTS_H

#include "common/state.h"

/**
 * pxtu_slots_update() - have notes of the streams that trace this process
 * @state: state of this process, which is attached
 *
 * Takes note of new streams first, if nobody else is doing that. Async-signal-safe.
 *
 * Return: false if the notes are not those of this moment, or of no use; true is a hint:
 * sequences look again.
 */
bool pxtu_slots_update(struct pxtu_state *state);

#endif /* PXTU_SLOTS_H */
