/* SPDX-License-Identifier: MIT */
/* The slow path of all kinds of events. */
#ifndef PXTU_EVENT_H
#define PXTU_EVENT_H

#include "common/pxtu.h"

/**
 * pxtu_event_record() - record an event that the fast path did not take
 * @id: user event type
 * @data: data of the event
 * @len: bytes
 * @prog_address: instruction after the call
 * @truncated: the data is only the beginning of what the caller wanted to record
 *
 * Attaches the process if necessary. Async-signal-safe. Keeps errno.
 */
void pxtu_event_record(trace_event_id_t id, const void *data, size_t len, void *prog_address,
		       bool truncated);

/**
 * pxtu_event_wake() - wake the reader of an event that took the fast path
 * @id: event type
 *
 * Async-signal-safe. Keeps errno.
 */
void pxtu_event_wake(trace_event_id_t id);

#endif /* PXTU_EVENT_H */
