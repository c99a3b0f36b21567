/* SPDX-License-Identifier: MIT */
/* Writes records without a system call. */
#ifndef PXTU_WRITE_H
#define PXTU_WRITE_H

#include "common/state.h"

/**
 * struct pxtu_call - one call of posix_trace_event()
 * @id: user event type
 * @data: data of the event
 * @len: bytes
 * @prog_address: instruction after the call
 * @truncated: the data is only a part of what the caller had
 * @time: NULL; or for one stream only: result: timestamp of the record, 0 if it was not written
 */
struct pxtu_call {
	__u32 id;
	const void *data;
	size_t len;
	const void *prog_address;
	bool truncated;
	__u64 *time;
};

/**
 * pxtu_write() - record an event into the streams that are mapped here
 * @state: state of this process, which is attached
 * @call: the event
 * @mask: bit s: the stream in slot s wants it
 *
 * Updates the slots first, unless another thread is doing that.
 * Async-signal-safe. Keeps errno.
 *
 * Return: bit s: recorded in the stream in slot s, or counted there as lost because the stream
 * is full. The module must record into the other streams of @mask.
 */
__u32 pxtu_write(struct pxtu_state *state, const struct pxtu_call *call, __u32 mask);

#endif /* PXTU_WRITE_H */
