/* SPDX-License-Identifier: MIT */
/* Conditions of streams on the events of this process. */
#ifndef PXTU_CONDITION_H
#define PXTU_CONDITION_H

#include "common/state.h"

/**
 * pxtu_condition_slots() - find the streams with a condition on an event type
 * @id: event type
 * @mask: slots of streams that want the event
 *
 * Return: the slots among @mask with such a condition.
 */
__u32 pxtu_condition_slots(__u32 id, __u32 mask);

/**
 * pxtu_condition_event() - check the conditions of a stream after an event was recorded in it
 * @state: state of this process; NULL if it has none
 * @slot: slot of the stream
 * @id: event type
 * @time: timestamp of the record
 *
 * Tells the module if the event meets one. Async-signal-safe.
 */
void pxtu_condition_event(struct pxtu_state *state, __u32 slot, __u32 id, __u64 time);

#endif /* PXTU_CONDITION_H */
