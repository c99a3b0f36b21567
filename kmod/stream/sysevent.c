// SPDX-License-Identifier: GPL-2.0
/*
 * System events: the kernel writes them, under the stream's lock, into sub-buffers that targets do
 * not map. The callers decide when.
 */
#include <linux/minmax.h>
#include <linux/sched.h>

#include "ring/clock.h"
#include "ring/subbuf.h"
#include "ring/wake.h"
#include "stream/sysevent.h"

/* A running stream always has room for the STOP that ends it. */
#define STOP_SIZE	((u32)POSIXTRACE_RECORD_SIZE(sizeof(s32)))

/**
 * pxt_sysevent_prepare() - make room for a system event and a STOP after it
 * @stream: locked, not dead
 * @data_len: bytes of data of the event
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -ENOSPC if there is no room and overwriting is not allowed.
 */
int pxt_sysevent_prepare(struct pxt_stream *stream, u32 data_len)
{
	lockdep_assert_held(&stream->lock);
	return pxt_subbuf_next_sys(&stream->pool, POSIXTRACE_RECORD_SIZE(data_len) + STOP_SIZE);
}

/**
 * pxt_sysevent_caller() - describe the calling thread for system events
 * @stream: any
 * @origin: passed by the calling process
 *
 * Return: @origin, and the ids of the calling thread.
 */
struct pxt_caller pxt_sysevent_caller(const struct pxt_stream *stream,
				      const struct posixtrace_origin *origin)
{
	return (struct pxt_caller) {
		.prog_address = origin->prog_address,
		.thread_id = origin->thread_id,
		.pid = task_tgid_nr_ns(current, stream->ns),
		.tid = task_pid_nr_ns(current, stream->ns),
	};
}

/* Write an event after room was made. Returns its time; the event may be filtered out. */
static u64 write_event(struct pxt_stream *stream, u32 id, const struct pxt_caller *caller,
		       const void *data, u32 len)
{
	bool filtered = pxt_link_filters(&stream->link, id);
	struct pxt_pool *pool = &stream->pool;
	struct pxt_entry entry = {
		.record = {
			.data_len = len,
			.type = POSIXTRACE_RECORD_TYPE(id, 0),
		},
	};
	struct pxt_reservation res;

	/* An event without a caller has no process. */
	if (caller) {
		entry.record.prog_address = caller->prog_address;
		entry.writer.thread_id = caller->thread_id;
		entry.writer.pid = caller->pid;
		entry.writer.tid = caller->tid;
	}
	entry.writer.address_high = upper_32_bits(entry.record.prog_address);
	pxt_entry_pack(&entry);
	/* Renew before reading the clock: an event must not be older than its sub-buffer. */
	if (stream->log && !filtered)
		pxt_subbuf_renew_sys(pool);
	/* System events have unique times, so that their order is certain. */
	pxt_entry_set_time(&entry, max(pxt_clock_now(), pool->ctrl->system.last + 1));
	if (filtered) {
		/*
		 * The filtered event may be STOP. If so, no later record follows it, so let the
		 * readers have the earlier records now.
		 */
		pxt_wake_defer(pool, 0);
		pxt_wake_rest(pool);
		return entry.writer.time;
	}
	if (pxt_subbuf_reserve(pool, pool->nr_cpus, &entry, &res))
		pxt_subbuf_commit(&res, &entry, data);
	pxt_wake_now(pool);
	return entry.writer.time;
}

/**
 * pxt_sysevent_start() - record START with the filter
 * @stream: locked; pxt_sysevent_prepare() made room
 * @caller: the caller, or NULL if the stream starts automatically
 *
 * Return: the time of the event, ns.
 */
u64 pxt_sysevent_start(struct pxt_stream *stream, const struct pxt_caller *caller)
{
	struct posixtrace_event_set filter;

	lockdep_assert_held(&stream->lock);
	pxt_gate_get_filter(&stream->link, &filter);
	return write_event(stream, POSIXTRACE_ID_START, caller, &filter, sizeof(filter));
}

/**
 * pxt_sysevent_filter() - record FILTER
 * @stream: locked; pxt_sysevent_prepare() made room
 * @caller: caller of SET_FILTER
 * @sets: the old and the new filter
 *
 * Return: the time of the event, ns.
 */
u64 pxt_sysevent_filter(struct pxt_stream *stream, const struct pxt_caller *caller,
			const struct posixtrace_event_set sets[2])
{
	lockdep_assert_held(&stream->lock);
	return write_event(stream, POSIXTRACE_ID_FILTER, caller, sets, 2 * sizeof(sets[0]));
}

/**
 * pxt_sysevent_stop() - record STOP with 0, or with 1 if it is automatic
 * @stream: locked; the previous event left room
 * @caller: the caller, or NULL if the stream stops automatically
 *
 * Return: the time of the event, ns.
 */
u64 pxt_sysevent_stop(struct pxt_stream *stream, const struct pxt_caller *caller)
{
	s32 automatic = !caller;

	lockdep_assert_held(&stream->lock);
	return write_event(stream, POSIXTRACE_ID_STOP, caller, &automatic, sizeof(automatic));
}

/**
 * pxt_sysevent_flush() - record FLUSH_START or FLUSH_STOP, if there is room
 * @stream: locked
 * @id: POSIXTRACE_ID_FLUSH_START or POSIXTRACE_ID_FLUSH_STOP
 * @caller: the caller, or NULL if the flush is automatic
 */
void pxt_sysevent_flush(struct pxt_stream *stream, u32 id, const struct pxt_caller *caller)
{
	lockdep_assert_held(&stream->lock);
	if (stream->running && !pxt_sysevent_prepare(stream, 0))
		write_event(stream, id, caller, NULL, 0);
}
