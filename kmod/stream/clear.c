// SPDX-License-Identifier: GPL-2.0
/*
 * Clearing a stream: as new, but for its state, its filter and its event types.
 */
#include "ring/reclaim.h"
#include "ring/subbuf.h"
#include "stream/commands.h"
#include "stream/log.h"
#include "stream/state.h"
#include "stream/sysevent.h"

static void clear_locked(struct pxt_stream *stream)
{
	struct pxt_pool *pool = &stream->pool;

	lockdep_assert_held(&stream->lock);
	/* Nobody writes, and nobody is given a sub-buffer, while we do this. */
	pxt_gate_set_enabled(&stream->link, false);
	pxt_subbuf_set_full(pool, true);
	pxt_gate_synchronize(&stream->link);
	pxt_reclaim_all(pool);
	pxt_subbuf_clear_full(pool);

	/* That of a stream that was full: it has stopped, and stays so. */
	WRITE_ONCE(stream->full, false);
	stream->overrun = false;
	stream->lost_seen = 0;
	/* There are free ones now: it can not fail. */
	if (stream->running)
		pxt_sysevent_prepare(stream, 0);
	pxt_gate_set_enabled(&stream->link, stream->running);
	pxt_state_publish(stream);
}

/**
 * pxt_clear_logged() - throw away all recorded events of a stream with log
 * @stream: not locked
 *
 * By the thread that flushes it: nothing is being written. Context: may sleep.
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
 * pxt_clear() - CLEAR: throw away all recorded events
 * @stream: not locked
 *
 * POSIX: posix_trace_clear(). A running stream goes on running, one that is
 * suspended or full is suspended then; a log begins anew. Context: may sleep.
 *
 * Return: 0; -ESHUTDOWN; with a log: -EINTR if a fatal signal came.
 */
int pxt_clear(struct pxt_stream *stream)
{
	return stream->log ? pxt_log_clear(stream) : pxt_clear_logged(stream);
}
