/* SPDX-License-Identifier: MIT */
/* Writing records without a system call. */
#ifndef PXTU_WRITE_H
#define PXTU_WRITE_H

#include "common/state.h"

/**
 * struct pxtu_call - one call of posix_trace_event()
 * @id: event type, of the user
 * @data: data of the event
 * @len: bytes
 * @prog_address: instruction behind the call
 */
struct pxtu_call {
	__u32 id;
	const void *data;
	size_t len;
	const void *prog_address;
};

/**
 * pxtu_write() - record an event into the streams that we can write into
 * @state: state of this process, which is attached
 * @call: the event
 * @mask: bit s: the stream in slot s wants it
 *
 * Takes note of new streams first, if nobody else is doing that. Async-signal-safe.
 * Keeps errno.
 *
 * Return: bit s: recorded in the stream in slot s, or counted there as lost, if that is
 * full. The module has to see to the others.
 */
__u32 pxtu_write(struct pxtu_state *state, const struct pxtu_call *call, __u32 mask);

#endif /* PXTU_WRITE_H */
