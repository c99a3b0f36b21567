// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a stream: when its controller asks for it, closes it, executes a program or
 * ends, or when CREATE fails.
 */
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include "compat.h"
#include "mmap.h"
#include "shutdown.h"
#include "ring/subbuf.h"
#include "stream/commands.h"
#include "stream/log.h"
#include "stream/stream.h"
#include "stream/sysevent.h"

/* Nothing is recorded any more. No process finds the stream on a target. */
static void close_all(struct pxt_stream *stream, bool was_running)
{
	const struct posixtrace_origin nobody = { 0 };
	struct pxt_caller caller = pxt_sysevent_caller(stream, &nobody);

	lockdep_assert_held(&stream->lock);
	/* Whoever found it there before may still ask for more. */
	pxt_subbuf_set_full(&stream->pool, true);
	if (was_running)
		pxt_sysevent_stop(stream, &caller);
	pxt_subbuf_close_all(&stream->pool);
	pxt_subbuf_close_cpu(&stream->pool, stream->pool.nr_cpus);
}

/* With the stream's lock, once: from now on nobody records, and no command works. */
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
 * pxt_stream_free_memory() - free what a dead stream has been recorded into
 * @stream: into which no target records any more; once
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
	pxt_stream_destroy_memory(stream);
}

static void shutdown_locked(struct pxt_stream *stream)
{
	end_locked(stream);
	/* A log is written first, and its thread frees the memory then. */
	if (stream->log && stream->log->thread)
		pxt_log_end(stream->log);
	else
		pxt_stream_free_memory(stream);
	wake_up_poll(&stream->pool.wait, EPOLLIN | EPOLLHUP);
}

/**
 * pxt_stream_shutdown() - end a stream
 * @stream: any number of times
 *
 * Events that were not read are gone, and so is the memory. With a log, the log thread
 * writes them, and frees the memory then: pxt_stream_wait_end() waits for that. Sleepers
 * wake up and find the stream dead.
 *
 * Context: may sleep. Does not wait for anything that a user chose.
 */
void pxt_stream_shutdown(struct pxt_stream *stream)
{
	mutex_lock(&stream->lock);
	if (!stream->dead)
		shutdown_locked(stream);
	mutex_unlock(&stream->lock);
}

/**
 * pxt_stream_wait_end() - wait until the log of a stream is written
 * @stream: shut down; no lock is held
 *
 * POSIX: posix_trace_shutdown(). Context: may sleep; can be killed and frozen.
 *
 * Return: 0; as pxt_log_wait().
 */
int pxt_stream_wait_end(struct pxt_stream *stream)
{
	return stream->log && stream->log->thread ? pxt_log_wait(stream->log) : 0;
}

/**
 * pxt_stream_abort() - end a stream that its creator never got
 * @stream: of a CREATE that failed; one reference, which is put
 *
 * Context: may sleep.
 */
void pxt_stream_abort(struct pxt_stream *stream)
{
	pxt_stream_shutdown(stream);
	if (stream->log && stream->log->thread)
		pxt_log_give_up(stream->log);
	/* The thread may need the stream for longer than the file is open. */
	pxt_stream_forget_file(stream);
	pxt_stream_put(stream);
}

/* In the controller, on its way to user mode or while it ends: without any lock. */
static void end_shutdown(struct callback_head *work)
{
	struct pxt_stream *stream = container_of(work, struct pxt_stream, end_work);
	struct file *file = READ_ONCE(stream->file);

	pxt_stream_shutdown(stream);
	pxt_stream_wait_end(stream);
	/* Of no effect if that has seen the end of the log. */
	if (stream->log && stream->log->thread)
		pxt_log_abandon(stream->log);
	/* A controller that was killed in there comes here once more. */
	clear_bit(0, &stream->end_pending);
	/* Put later, by the core: our code is not left without a reference. */
	fput(file);
}

/* The caller has a reference to the file for it, which end_shutdown() puts. */
static bool queue_end(struct pxt_stream *stream)
{
	init_task_work(&stream->end_work, end_shutdown);
	return !task_work_add(current, &stream->end_work, TWA_RESUME);
}

/**
 * pxt_stream_close() - the controller closes the file of its stream
 * @stream: any number of times
 * @file: of the stream; the caller has a reference
 *
 * The stream is dead when this returns. If the log is not written then, the caller waits
 * for it on its way back to user mode, and not here, where exec() may hold locks that
 * other processes wait for.
 *
 * Context: may sleep, in a thread of the controller.
 */
void pxt_stream_close(struct pxt_stream *stream, struct file *file)
{
	pxt_stream_shutdown(stream);
	if (!stream->log || pxt_log_ended(stream->log) ||
	    test_and_set_bit(0, &stream->end_pending))
		return;
	get_file(file);
	if (!queue_end(stream)) {
		clear_bit(0, &stream->end_pending);
		fput(file);
	}
}

static void end_if_owned(struct pxt_stream *stream, void *unused)
{
	struct file *file;

	if (stream->owner != task_tgid(current) || test_and_set_bit(0, &stream->end_pending))
		return;
	/* Holds stream and module until end_shutdown() has run. */
	file = pxt_file_get(&stream->file);
	if (file && !queue_end(stream))
		fput(file);
}

/**
 * pxt_stream_end_owner() - the calling process has become another program, or ends
 *
 * Its streams are shut down before that begins to run, or before its parent learns
 * of its end. So are those that are dead, but whose log is not yet written.
 *
 * Context: preemption off, in the task that executes or ends.
 */
void pxt_stream_end_owner(void)
{
	pxt_stream_for_each(end_if_owned, NULL);
}
