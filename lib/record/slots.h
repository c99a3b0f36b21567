/* SPDX-License-Identifier: MIT */
/* Notes of the streams that trace this process. */
#ifndef PXTU_SLOTS_H
#define PXTU_SLOTS_H

#include "common/state.h"

/**
 * pxtu_slots_update() - update the notes of the streams that trace this process
 * @state: state of this process, which is attached
 *
 * Takes note of new streams, unless another thread is doing that. Async-signal-safe.
 *
 * Return: false if the notes are out of date, or of no use; true is a hint: sequences check
 * again.
 */
bool pxtu_slots_update(struct pxtu_state *state);

#endif /* PXTU_SLOTS_H */
