// SPDX-License-Identifier: GPL-2.0
/*
 * The states of a stream (suspended, running, full), and the commands that report them.
 */
#include <linux/errno.h>

#include "log/log.h"
#include "ring/clock.h"
#include "ring/reclaim.h"
#include "ring/recorder.h"
#include "ring/subbuf.h"
#include "ring/wake.h"
#include "stream/state.h"
#include "stream/sysevent.h"

/**
 * pxt_state_publish() - publish the state to the reader, as a hint
 * @stream: locked, not dead
 */
void pxt_state_publish(struct pxt_stream *stream)
{
	lockdep_assert_held(&stream->lock);
	/*
	 * Publish the state after the gap of a full stream: pairs with the acquire in
	 * stream_full() (library).
	 */
	smp_store_release(&stream->pool.ctrl->flags,
			  (stream->running ? POSIXTRACE_CTRL_RUNNING : 0) |
			  (stream->full ? POSIXTRACE_CTRL_FULL : 0));
}

static void set_full(struct pxt_stream *stream, bool full)
{
	WRITE_ONCE(stream->full, full);
	pxt_state_publish(stream);
}

/* Add a gap: events are lost from now on, until START. */
static void begin_gap(struct pxt_pool *pool, u64 first)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	pxt_gap_begin(pool);
	pxt_gap_add(pool, first);
	pxt_gap_end(pool);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/*
 * If the stream was stopped before it could become full for lack of a sub-buffer for kernel events,
 * add a gap for the events that were lost.
 */
static void end_kernel_full(struct pxt_pool *pool)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	if (pool->kernel_full) {
		WRITE_ONCE(pool->kernel_full, false);
		pxt_gap_begin(pool);
		pxt_gap_add(pool, pool->kernel_full_since);
		pxt_gap_end(pool);
	}
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

/* START was recorded at @start: record other events from now on. */
static void run(struct pxt_stream *stream, u64 start)
{
	lockdep_assert_held(&stream->lock);
	stream->running = true;
	end_kernel_full(&stream->pool);
	/*
	 * START must be the first event, so wait until the clock is past it. A writer may read the
	 * clock before it checks the gate; in that case it checks the time stored by
	 * pxt_subbuf_not_before().
	 */
	pxt_clock_pass(start);
	pxt_subbuf_not_before(&stream->pool, start);
	pxt_gate_set_enabled(&stream->link, true);
	pxt_state_publish(stream);
	if (stream->log)
		pxt_log_started(stream->log);
}

/* Stop handing out sub-buffers, and close all open ones. */
static void fill_up(struct pxt_stream *stream)
{
	pxt_subbuf_set_full(&stream->pool, true);
	pxt_gate_synchronize(&stream->link);
	pxt_subbuf_close_all(&stream->pool);
}

/* There is no room for START: behave as if the stream had started and become full. */
static void start_full(struct pxt_stream *stream)
{
	lockdep_assert_held(&stream->lock);
	fill_up(stream);
	begin_gap(&stream->pool, pxt_clock_now());
	set_full(stream, true);
	pxt_gate_set_enabled(&stream->link, true);
}

static int start_locked(struct pxt_stream *stream, const struct posixtrace_origin *origin)
{
	struct pxt_caller caller = pxt_sysevent_caller(stream, origin);
	int err = pxt_sysevent_prepare(stream, sizeof(struct posixtrace_event_set));

	if (!err)
		run(stream, pxt_sysevent_start(stream, &caller));
	else if (err == -ENOSPC)
		start_full(stream);
	return err == -ENOSPC ? 0 : err;
}

/**
 * pxt_state_start() - START
 * @stream: not locked
 * @origin: the caller
 *
 * POSIX: posix_trace_start(). If there is no room for START, the stream is full, counts lost
 * events, and starts once it is completely read. Context: may sleep.
 *
 * Return: 0, also if already running or full; -ENOMEM; -ESHUTDOWN.
 */
int pxt_state_start(struct pxt_stream *stream, const struct posixtrace_origin *origin)
{
	int err = 0;

	mutex_lock(&stream->lock);
	if (stream->dead)
		err = -ESHUTDOWN;
	else if (!stream->running && !stream->full)
		err = start_locked(stream, origin);
	mutex_unlock(&stream->lock);
	return err;
}

/**
 * pxt_state_stop() - STOP
 * @stream: not locked
 * @origin: the caller
 *
 * POSIX: posix_trace_stop(). Context: may sleep.
 *
 * Return: 0, also if already suspended; -ESHUTDOWN.
 */
int pxt_state_stop(struct pxt_stream *stream, const struct posixtrace_origin *origin)
{
	struct pxt_caller caller = pxt_sysevent_caller(stream, origin);
	int err = 0;

	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
	} else if (stream->running) {
		stream->running = false;
		pxt_gate_set_enabled(&stream->link, false);
		/* STOP must be the last event, so wait for writers that saw the gate open. */
		pxt_gate_synchronize(&stream->link);
		pxt_sysevent_stop(stream, &caller);
		pxt_state_publish(stream);
	}
	mutex_unlock(&stream->lock);
	return err;
}

/**
 * pxt_state_become_full() - suspend a stream that has run out of memory
 * @stream: locked, running, not LOOP
 * @forced: suspend the stream although a sub-buffer is free for user events: system or kernel
 *	events have no free one
 *
 * Records STOP. The gate stays open: further events are counted as dropped.
 * Context: may sleep.
 */
void pxt_state_become_full(struct pxt_stream *stream, bool forced)
{
	struct pxt_pool *pool = &stream->pool;

	lockdep_assert_held(&stream->lock);
	if (!pxt_subbuf_set_full(pool, forced))
		return;
	pxt_gate_synchronize(&stream->link);
	pxt_subbuf_close_all(pool);
	begin_gap(pool, pxt_sysevent_stop(stream, NULL));
	stream->running = false;
	set_full(stream, true);
	if (stream->log)
		pxt_log_stream_full(stream->log);
}

/**
 * pxt_state_kernel_full() - suspend a stream without a sub-buffer for kernel events
 * @stream: locked, not dead
 *
 * No effect unless kernel events were lost for lack of a sub-buffer. If they were, it does not
 * matter that a sub-buffer may be free now.
 * Context: may sleep.
 */
void pxt_state_kernel_full(struct pxt_stream *stream)
{
	lockdep_assert_held(&stream->lock);
	if (!READ_ONCE(stream->pool.kernel_full))
		return;
	if (stream->running)
		pxt_state_become_full(stream, true);
	else if (!stream->full)
		end_kernel_full(&stream->pool);
}

/**
 * pxt_state_log_full() - suspend a stream with a full log
 * @stream: locked
 *
 * Events are dropped from now on until the stream is cleared. Context: may sleep.
 */
void pxt_state_log_full(struct pxt_stream *stream)
{
	lockdep_assert_held(&stream->lock);
	if (stream->full)
		return;
	fill_up(stream);
	stream->running = false;
	set_full(stream, true);
}

/**
 * pxt_state_restart() - restart a full stream if it was completely read
 * @stream: locked, full
 *
 * Context: may sleep.
 * Return: 0; -EBUSY if it has unread events; -ENOMEM.
 */
int pxt_state_restart(struct pxt_stream *stream)
{
	u64 start;
	int err;

	lockdep_assert_held(&stream->lock);
	if (pxt_reclaim_readable(&stream->pool))
		return -EBUSY;
	err = pxt_sysevent_prepare(stream, sizeof(struct posixtrace_event_set));
	if (err)
		return err;
	start = pxt_sysevent_start(stream, NULL);
	/* START must be the first event, so wait until the clock is past it. */
	pxt_clock_pass(start);
	pxt_subbuf_clear_full(&stream->pool);
	stream->running = true;
	set_full(stream, false);
	if (stream->log)
		pxt_log_started(stream->log);
	return 0;
}

/**
 * pxt_state_next() - make room on this CPU for a record
 * @stream: not locked
 * @size: bytes, at most a sub-buffer
 *
 * The stream may become full. Context: may sleep.
 *
 * Return: 0; -EAGAIN if other CPUs hold all sub-buffers, if none is free and the stream was stopped
 * during the call, if it is being cleared, or if the caller is killed; -ENOSPC if the stream is
 * full, with the event counted as lost; -ESHUTDOWN.
 */
int pxt_state_next(struct pxt_stream *stream, u32 size)
{
	int ret;

	for (;;) {
		ret = pxt_subbuf_next(&stream->pool, size);
		if (!ret && stream->log)
			pxt_log_used(stream->log);
		else if (!ret)
			pxt_wake_filled(&stream->pool);
		if (ret != -ENOBUFS)
			return ret;
		/* Killable: the holder, a thread of the controller, may be waiting for memory. */
		if (mutex_lock_killable(&stream->lock))
			return -EAGAIN;
		/* If the stream is dead or full by now, the next iteration returns that. */
		if (!stream->dead && !stream->pool.full) {
			if (stream->running)
				pxt_state_become_full(stream, false);
			else
				ret = -EAGAIN;
		}
		mutex_unlock(&stream->lock);
		if (ret == -EAGAIN)
			return ret;
	}
}

/**
 * pxt_state_release() - RELEASE
 * @stream: not locked
 * @subbuf: number of a sub-buffer, or POSIXTRACE_NONE
 *
 * Context: may sleep.
 * Return: 0; -EBUSY if the sub-buffer is in use or not completely read, or, with POSIXTRACE_NONE,
 * if the stream is full and has unread events; -EINVAL if there is no such sub-buffer, or if the
 * stream has a log; -ENOMEM if there is no memory to restart a full stream; -ESHUTDOWN.
 */
int pxt_state_release(struct pxt_stream *stream, u32 subbuf)
{
	int err = 0, full = 0;

	if (stream->log)
		return -EINVAL;
	if (subbuf != POSIXTRACE_NONE)
		err = pxt_subbuf_release(&stream->pool, subbuf);
	if (err || (subbuf != POSIXTRACE_NONE && !READ_ONCE(stream->full)))
		return err;
	mutex_lock(&stream->lock);
	if (stream->dead)
		full = -ESHUTDOWN;
	else if (stream->full)
		full = pxt_state_restart(stream);
	mutex_unlock(&stream->lock);
	/* The sub-buffer was released; unread events in others are not an error. */
	return subbuf == POSIXTRACE_NONE ? full : 0;
}

/*
 * LOOP: does the next sub-buffer to be handed out contain unread events? The answer does not depend
 * on whether the stream is running. UNTIL_FULL never overwrites, so the answer is always no.
 */
static bool memory_is_full(struct pxt_pool *pool)
{
	unsigned long flags;
	bool full;

	raw_spin_lock_irqsave(&pool->lock, flags);
	full = (pool->wrapped && list_empty(&pool->user.free)) ||
	       (pool->kernel_wrapped && list_empty(&pool->kernel.free));
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return full;
}

static bool take_overrun(struct pxt_pool *pool)
{
	unsigned long flags;
	bool overrun;

	raw_spin_lock_irqsave(&pool->lock, flags);
	overrun = pool->overrun;
	pool->overrun = false;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	return overrun;
}

/**
 * pxt_state_status() - GET_STATUS
 * @stream: not locked
 * @status: result
 *
 * POSIX: posix_trace_get_status(). An overrun is reported once.
 * Context: may sleep.
 *
 * Return: 0; -ESHUTDOWN.
 */
int pxt_state_status(struct pxt_stream *stream, struct posixtrace_status *status)
{
	struct pxt_pool *pool = &stream->pool;
	int err = 0;

	memset(status, 0, sizeof(*status));
	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
		goto unlock;
	}
	status->lost = READ_ONCE(pool->gaps.lost) + pxt_pool_dropped(pool);
	status->memory = pxt_pool_memory(pool);
	if (stream->running)
		status->flags |= POSIXTRACE_STATUS_RUNNING;
	if (stream->full || memory_is_full(pool))
		status->flags |= POSIXTRACE_STATUS_FULL;
	if (take_overrun(pool) || stream->overrun || status->lost != stream->lost_seen)
		status->flags |= POSIXTRACE_STATUS_OVERRUN;
	stream->overrun = false;
	stream->lost_seen = status->lost;
	if (stream->log)
		pxt_log_status(stream->log, status);
unlock:
	mutex_unlock(&stream->lock);
	return err;
}

/**
 * pxt_state_unreported() - restore a status that did not reach the process
 * @stream: not locked
 * @status: from pxt_state_status()
 *
 * Context: may sleep.
 */
void pxt_state_unreported(struct pxt_stream *stream, const struct posixtrace_status *status)
{
	mutex_lock(&stream->lock);
	if (status->flags & POSIXTRACE_STATUS_OVERRUN)
		stream->overrun = true;
	if (stream->log)
		pxt_log_unreported(stream->log, status);
	mutex_unlock(&stream->lock);
}

/**
 * pxt_state_stats() - GET_STATS
 * @stream: not locked
 * @stats: result
 *
 * Context: may sleep.
 * Return: 0; -ESHUTDOWN.
 */
int pxt_state_stats(struct pxt_stream *stream, struct posixtrace_stats *stats)
{
	struct pxt_pool *pool = &stream->pool;
	int err = 0;

	memset(stats, 0, sizeof(*stats));
	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
	} else {
		pxt_subbuf_count(pool, stats);
		stats->dropped = pxt_pool_dropped_user(pool);
		stats->memory = pxt_pool_memory(pool);
		stats->processes = atomic_read(&stream->link.nr_targets);
		stats->untraced = atomic_read(&stream->untraced);
	}
	mutex_unlock(&stream->lock);
	return err;
}

/**
 * pxt_state_kernel_stats() - KERNEL_STATS
 * @stream: not locked
 * @stats: result
 *
 * Context: may sleep.
 * Return: 0, with zeros if the stream has no kernel events; -ESHUTDOWN.
 */
int pxt_state_kernel_stats(struct pxt_stream *stream, struct posixtrace_kernel_stats *stats)
{
	int err = 0;

	memset(stats, 0, sizeof(*stats));
	mutex_lock(&stream->lock);
	if (stream->dead)
		err = -ESHUTDOWN;
	else if (stream->pool.recorder)
		pxt_recorder_count(&stream->pool, stats);
	mutex_unlock(&stream->lock);
	return err;
}
