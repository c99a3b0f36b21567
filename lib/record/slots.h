/* SPDX-License-Identifier: MIT */
/* The streams that trace this process, cached in slots. */
#ifndef PXTU_SLOTS_H
#define PXTU_SLOTS_H

#include "common/state.h"

/**
 * pxtu_slots_update() - update the slots of the streams that trace this process
 * @state: state of this process, which is attached
 *
 * Adds new streams, unless another thread is doing that. Async-signal-safe.
 *
 * Return: false if the slots are out of date or unusable; true is only a hint: sequences check
 * again.
 */
bool pxtu_slots_update(struct pxtu_state *state);

#endif /* PXTU_SLOTS_H */
