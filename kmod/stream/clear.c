// SPDX-License-Identifier: GPL-2.0
/*
 * Clears a stream. It keeps its filter and its event types, and a running one continues to run.
 */
#include "log/log.h"
#include "ring/reclaim.h"
#include "ring/subbuf.h"
#include "stream/clear.h"
#include "stream/state.h"
#include "stream/sysevent.h"

static void clear_locked(struct pxt_stream *stream)
{
	struct pxt_pool *pool = &stream->pool;

	lockdep_assert_held(&stream->lock);
	/* Until this is done, targets cannot write, and sub-buffers are not handed out. */
	pxt_gate_set_enabled(&stream->link, false);
	pxt_subbuf_set_full(pool, true);
	pxt_gate_synchronize(&stream->link);
	pxt_reclaim_all(pool);
	pxt_subbuf_clear_full(pool);

	/* A full stream has stopped, and remains suspended. */
	WRITE_ONCE(stream->full, false);
	stream->overrun = false;
	stream->lost_seen = 0;
	/* Cannot fail: there are free sub-buffers now. */
	if (stream->running)
		pxt_sysevent_prepare(stream, 0);
	pxt_gate_set_enabled(&stream->link, stream->running);
	pxt_state_publish(stream);
}

/**
 * pxt_clear_logged() - discard all recorded events of a stream
 * @stream: not locked
 *
 * With a log, the task that serves it calls this, so no sub-buffer is being written to the log.
 * Context: may sleep.
 *
 * Return: 0; -ESHUTDOWN.
 */
int pxt_clear_logged(struct pxt_stream *stream)
{
	int err = 0;

	mutex_lock(&stream->lock);
	if (stream->dead)
		err = -ESHUTDOWN;
	else
		clear_locked(stream);
	mutex_unlock(&stream->lock);
	return err;
}

/**
 * pxt_clear() - CLEAR: discard all recorded events
 * @stream: not locked
 *
 * POSIX: posix_trace_clear(). A running stream keeps running; a suspended or full one is suspended
 * afterwards; a log is restarted. Context: may sleep.
 *
 * Return: 0; -ESHUTDOWN; with a log: -EINTR after a fatal signal.
 */
int pxt_clear(struct pxt_stream *stream)
{
	return stream->log ? pxt_log_clear(stream) : pxt_clear_logged(stream);
}
