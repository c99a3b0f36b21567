// SPDX-License-Identifier: MIT
/*
 * Records events of the traced process. The gate decides whether to record. Most events take the
 * fast path, and write.c writes the records of all others. If it cannot, the module writes them.
 */
#define __POSIX_TRACE_NO_INLINE
#include <pthread.h>

#include "record/attach.h"
#include "record/condition.h"
#include "record/door.h"
#include "record/event.h"
#include "record/gate.h"
#include "record/cache.h"
#include "record/fast.h"
#include "record/write.h"

/*
 * Let the module record into the streams that the library could not write to. Ignore errors: the
 * module counts lost events. Returns the time of the record if @flags have POSIXTRACE_EVENT_TIME.
 */
static __attribute__((__noinline__, __cold__)) __u64
let_the_module_record(struct pxtu_state *state, const struct pxtu_call *call, __u32 skip,
		      __u32 flags)
{
	struct posixtrace_event event = {
		.event_id = call->id,
		.flags = flags | (call->truncated ? POSIXTRACE_EVENT_TRUNCATED : 0),
		.data = (uintptr_t)call->data,
		.data_len = call->len,
		.prog_address = (uintptr_t)call->prog_address,
		.thread_id = (uintptr_t)pthread_self(),
		.skip = skip,
	};
	int saved_errno = errno;

	if (pxtu_target_ioctl(state, POSIXTRACE_IOC_EVENT, &event))
		event.time = 0;
	errno = saved_errno;
	return event.time;
}

/*
 * Record an event of a type that a condition names. Streams with such a condition get it one by
 * one, because each has its own time for it. If @writes, the library tries to write it.
 */
static __attribute__((__noinline__, __cold__)) void
record_condition(struct pxtu_state *state, const struct pxtu_call *call, __u32 mask, bool writes)
{
	__u32 left, bit, done = 0;
	struct pxtu_call one = *call;
	__u64 time;

	mask &= ~POSIXTRACE_GATE_CONDITION;
	one.time = &time;
	for (left = pxtu_condition_slots(call->id, mask); left; left -= bit) {
		bit = left & -left;
		time = 0;
		if (!writes || !pxtu_write(state, &one, bit))
			time = let_the_module_record(state, call, ~bit, POSIXTRACE_EVENT_TIME);
		if (time)
			pxtu_condition_event(state, (__u32)__builtin_ctz(bit), call->id, time);
		done |= bit;
	}
	if (mask == done)
		return;
	if (writes)
		done |= pxtu_write(state, call, mask & ~done);
	if (mask != done)
		let_the_module_record(state, call, done, 0);
}

/*
 * Record into the streams that want the event. Not inlined, like the next functions: otherwise
 * events that do not need these functions would also save their registers.
 */
__attribute__((__noinline__))
static void record(struct pxtu_state *state, trace_event_id_t id, const void *data, size_t len,
		   void *prog_address, bool truncated)
{
	__u32 mask = pxtu_load(&pxtu_gate()->enable[id]), done;
	const struct pxtu_call call = {
		.id = id,
		.data = data,
		.len = len,
		.prog_address = prog_address,
		.truncated = truncated,
	};

	/* No stream wants the event, so keep later ones from trying the fast path. */
	if (!mask) {
		pxtu_cache_drop();
		return;
	}
	if (pxtu_unlikely(mask & POSIXTRACE_GATE_CONDITION)) {
		record_condition(state, &call, mask, true);
		return;
	}
	done = pxtu_write(state, &call, mask);
	if (pxtu_unlikely(mask != done))
		let_the_module_record(state, &call, done, 0);
}

/*
 * The process has no descriptor yet: open one, then record as usual. If opening is not allowed or
 * fails, the module records, by a command through the door.
 */
__attribute__((__noinline__, __cold__))
static void record_unattached(struct pxtu_state *state, trace_event_id_t id, const void *data,
			      size_t len, void *prog_address, bool truncated)
{
	const struct pxtu_call call = {
		.id = id,
		.data = data,
		.len = len,
		.prog_address = prog_address,
		.truncated = truncated,
	};
	int ret;

	if (pxtu_sandboxed()) {
		record_condition(state, &call, pxtu_load(&pxtu_gate()->enable[id]), false);
		return;
	}
	state = pxtu_state();
	if (!state)
		return;
	ret = pxtu_attach(state, 0);
	/*
	 * While another thread attaches, the gate is open for everything, and the module decides
	 * what to record. If the program closed the new descriptor immediately, try again for the
	 * same event.
	 */
	if (ret >= 0 || pxtu_unattached(ret) || ret == -EBADF)
		record(state, id, data, len, prog_address, truncated);
	else if (pxtu_gate_mapped())
		record_condition(state, &call, pxtu_load(&pxtu_gate()->enable[id]), false);
}

/*
 * Wake the reader, on behalf of the fast path. The gate or the cache may have changed since the
 * record was written, by a command or in a signal handler. If both have, the wake-up is lost here,
 * and the kernel finds the record later.
 */
__attribute__((__noinline__, __cold__))
void pxtu_event_wake(trace_event_id_t id)
{
	__u32 wakeups = pxtu_load(&pxtu_gate()->enable[id]) | pxtu_load(&pxtu_cache.bit);

	pxtu_target_ioctl(pxtu_attach_state(), POSIXTRACE_IOC_WAKE, &wakeups);
}

__attribute__((__noinline__))
void pxtu_event_record(trace_event_id_t id, const void *data, size_t len, void *prog_address,
		       bool truncated)
{
	/* Pairs with the compare-and-swap in pxtu_state_make(). */
	struct pxtu_state *state = pxtu_load_acquire(&pxtu_state_page);

	/* Pairs with the store in attach_locked(). */
	if (pxtu_likely(state && pxtu_load_acquire(&state->attached)))
		record(state, id, data, len, prog_address, truncated);
	else
		record_unattached(state, id, data, len, prog_address, truncated);
}

/**
 * posix_trace_event() - record an event
 * @event_id: user event type, from posix_trace_eventid_open(), or
 *	POSIX_TRACE_UNNAMED_USEREVENT
 * @data_ptr: data of the event; may be NULL if @data_len is 0
 * @data_len: bytes of data; data beyond max-data-size is truncated
 *
 * The event goes into every stream that traces the process, is running and does not
 * filter out its type. Without such a stream, and for system event types and
 * invalid numbers, this has no effect.
 *
 * Async-signal-safe, thread-safe, not a cancellation point. Keeps errno, takes no
 * lock, allocates no memory. A program attaches to the module before main().
 * Without the module, or with one of another version, this process and its children
 * remember that: later calls return immediately, until posix_trace_eventid_open() or
 * posix_trace_create() finds the module. A process that can no longer open the device, for
 * example after chroot(), that has no free descriptor, or that has a filter (seccomp) still
 * records: see posixtrace(7).
 *
 * <trace.h> has an inline that calls this only if the gate is open for the type:
 * while the gate is shut, an event costs a load and a branch.
 */
PXTU_API void posix_trace_event(trace_event_id_t event_id, const void *restrict data_ptr,
				size_t data_len)
{
	const struct pxtu_cache *cache = &pxtu_cache;

	if (pxtu_unlikely(event_id < POSIX_TRACE_UNNAMED_USEREVENT ||
			  event_id >= POSIXTRACE_ID_MAX))
		return;
	/*
	 * Only an attached process has a valid cache. If a stream starts or stops during the call,
	 * this event may or may not be recorded in it.
	 */
	if (data_len >= cache->len_end) {
		if (pxtu_load(&pxtu_gate()->enable[event_id]))
			pxtu_event_record(event_id, data_ptr, data_len,
					  __builtin_return_address(0), false);
		return;
	}
	switch (pxtu_fast_record(cache, event_id, data_len, data_ptr,
				 (uintptr_t)__builtin_return_address(0))) {
	case PXTU_WRITTEN:
		return;
	case PXTU_WRITTEN_WAKE:
		pxtu_event_wake(event_id);
		return;
	default:
		pxtu_event_record(event_id, data_ptr, data_len, __builtin_return_address(0),
				  false);
	}
}
