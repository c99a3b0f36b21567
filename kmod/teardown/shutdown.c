// SPDX-License-Identifier: GPL-2.0
/*
 * Shuts a stream down and frees its memory. task/end.c decides when, and waits for the log.
 */
#include <linux/poll.h>

#include "kevent/kevent.h"
#include "kevent/tracepoints.h"
#include "log/log.h"
#include "ring/subbuf.h"
#include "stream/stream.h"
#include "stream/sysevent.h"
#include "stream/wait.h"
#include "teardown/mmap.h"
#include "teardown/shutdown.h"

/* Close all sub-buffers for the last flush. Writers can no longer find the stream on a target. */
static void close_all(struct pxt_stream *stream, bool was_running)
{
	const struct posixtrace_origin origin = { 0 };
	struct pxt_caller caller = pxt_sysevent_caller(stream, &origin);

	lockdep_assert_held(&stream->lock);
	/* A process that found the stream earlier may still call NEXT. */
	pxt_subbuf_set_full(&stream->pool, true);
	if (was_running)
		pxt_sysevent_stop(stream, &caller);
	pxt_subbuf_close_all(&stream->pool);
	pxt_subbuf_close_cpu(&stream->pool, stream->pool.nr_cpus);
}

/* Called once, with the stream's lock. From now on processes cannot record, and commands fail. */
static void end_locked(struct pxt_stream *stream)
{
	bool was_running = stream->running;

	WRITE_ONCE(stream->dead, true);
	stream->running = false;
	WRITE_ONCE(stream->full, false);
	pxt_wait_end(stream);
	pxt_gate_unlink(&stream->link);
	if (stream->log)
		close_all(stream, was_running);
}

/**
 * pxt_stream_free_memory() - free the memory of a dead stream
 * @stream: targets no longer record into it; called once
 *
 * Context: may sleep.
 */
void pxt_stream_free_memory(struct pxt_stream *stream)
{
	struct pxt_pool *pool = &stream->pool;
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	pool->dead = true;
	WRITE_ONCE(pool->ctrl->flags, POSIXTRACE_CTRL_SHUTDOWN);
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	pxt_mmap_zap(stream);
	pxt_tracepoints_put(stream->handled);
	pxt_stream_destroy_memory(stream);
}

static void shutdown_locked(struct pxt_stream *stream)
{
	end_locked(stream);
	/* The task that serves the log writes the rest before it frees the memory. */
	if (stream->log && stream->log->thread)
		pxt_log_end(stream->log);
	else
		pxt_stream_free_memory(stream);
	wake_up_poll(&stream->pool.wake.wait, EPOLLIN | EPOLLHUP);
}

/**
 * pxt_stream_shutdown() - end a stream
 * @stream: may be shut down repeatedly
 *
 * Frees the memory, and with it unread events. With a log, the serving task writes them before it
 * frees the memory: pxt_stream_end() waits for that. Sleeping readers wake up and find the stream
 * dead.
 *
 * Context: may sleep. Does not wait for a file or a process of a user.
 */
void pxt_stream_shutdown(struct pxt_stream *stream)
{
	mutex_lock(&stream->lock);
	if (!stream->dead)
		shutdown_locked(stream);
	mutex_unlock(&stream->lock);
	/* Called without the lock: pxt_kevent_end() waits for work that takes it. */
	pxt_kevent_end(stream);
}
