// SPDX-License-Identifier: GPL-2.0
/*
 * Ends a stream in a task of its controller: when the controller requests it, closes the file,
 * executes a program or exits, or when CREATE fails. teardown/shutdown.c shuts the stream down;
 * this file decides when, and waits until the log is complete.
 */
#include <linux/file.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/task_work.h>

#include "compat.h"
#include "log/log.h"
#include "log/logturn.h"
#include "logthread/logserve.h"
#include "stream/stream.h"
#include "task/end.h"
#include "teardown/shutdown.h"

/*
 * The caller must wait for the end of the log anyway, so let it write the end, at its own expense.
 */
static void write_end(struct pxt_log *log)
{
	struct mem_cgroup *old = set_active_memcg(log->writer.file.memcg);
	int ret = 0;

	while (!ret && pxt_log_wait_turn(log)) {
		ret = pxt_log_serve(log);
		if (ret > 0) {
			pxt_stream_free_memory(log->stream);
			pxt_log_finish(log);
		}
		pxt_log_put(log);
	}
	set_active_memcg(old);
}

/*
 * Wait until the log of a stream is written. @closes: result of pxt_log_begin_close() before the
 * stream was shut down. Returns as pxt_log_wait(); 0 without a log.
 */
static int wait_end(struct pxt_stream *stream, bool closes)
{
	if (closes) {
		write_end(stream->log);
		pxt_log_end_close(stream->log);
	}
	return stream->log && stream->log->thread ? pxt_log_wait(stream->log) : 0;
}

/**
 * pxt_stream_end() - SHUTDOWN: end a stream and wait until its log is written
 * @stream: not locked
 *
 * POSIX: posix_trace_shutdown(). Context: may sleep; can be killed and frozen.
 *
 * Return: as pxt_log_wait(); 0 without a log.
 */
int pxt_stream_end(struct pxt_stream *stream)
{
	bool closes = pxt_log_begin_close(stream->log);

	pxt_stream_shutdown(stream);
	return wait_end(stream, closes);
}

/**
 * pxt_stream_abort() - end the stream after a failed CREATE
 * @stream: the caller's reference is put
 *
 * Context: may sleep.
 */
void pxt_stream_abort(struct pxt_stream *stream)
{
	pxt_stream_shutdown(stream);
	if (stream->log && stream->log->thread)
		pxt_log_give_up(stream->log);
	/* The log thread may use the stream after the file is closed. */
	pxt_stream_forget_file(stream);
	pxt_stream_put(stream);
}

/* Runs after end_shutdown() of all streams, so that their logs are written in parallel. */
static void end_wait(struct callback_head *work)
{
	struct pxt_stream *stream = container_of(work, struct pxt_stream, end_work);
	struct file *file = READ_ONCE(stream->file);
	bool closes = stream->log && stream->log->end_closes;

	if (stream->log)
		stream->log->end_closes = false;
	wait_end(stream, closes);
	/* No effect if the log has ended. */
	if (stream->log && stream->log->thread)
		pxt_log_abandon(stream->log);
	/* A controller that is killed during the wait queues the work again when it exits. */
	clear_bit(0, &stream->end_pending);
	/*
	 * The kernel defers the final put, so the module is not unloaded while this code runs.
	 */
	fput(file);
}

/* Runs in the controller on its way to user mode or during its exit, without any lock. */
static void end_shutdown(struct callback_head *work)
{
	struct pxt_stream *stream = container_of(work, struct pxt_stream, end_work);
	struct pxt_log *log = stream->log;

	if (log && !log->end_closes)
		log->end_closes = pxt_log_begin_close(log);
	pxt_stream_shutdown(stream);
	if (log)
		log->owner_ended = jiffies;
	init_task_work(work, end_wait);
	if (task_work_add(current, work, TWA_NONE))
		end_wait(work);
}

/* Takes over a reference to the file of the stream; end_wait() puts it. */
static bool queue_end(struct pxt_stream *stream)
{
	init_task_work(&stream->end_work, end_shutdown);
	return !task_work_add(current, &stream->end_work, TWA_RESUME);
}

/**
 * pxt_stream_close() - end a stream when its controller closes the file
 * @stream: may be closed repeatedly
 * @file: file of the stream; the caller has a reference
 *
 * The stream is dead on return. If the log is not complete, the controller waits for it on its way
 * back to user mode, not here: exec() may hold locks that other processes wait for.
 *
 * Context: may sleep, in a thread of the controller.
 */
void pxt_stream_close(struct pxt_stream *stream, struct file *file)
{
	struct pxt_log *log = stream->log;
	bool closes = pxt_log_begin_close(log);

	pxt_stream_shutdown(stream);
	if (!log || pxt_log_ended(log) || test_and_set_bit(0, &stream->end_pending))
		goto end_close;
	log->end_closes = closes;
	get_file(file);
	if (queue_end(stream))
		return;
	log->end_closes = false;
	clear_bit(0, &stream->end_pending);
	fput(file);
end_close:
	if (closes)
		pxt_log_end_close(log);
}

static void end_if_owned(struct pxt_stream *stream, void *unused)
{
	struct file *file;

	if (stream->owner != task_tgid(current) || test_and_set_bit(0, &stream->end_pending))
		return;
	/* The reference holds the stream and the module until end_wait() has run. */
	file = pxt_file_get(&stream->file);
	if (file && !queue_end(stream))
		fput(file);
}

/**
 * pxt_stream_end_owner() - end the streams of a process that executes a program or exits
 *
 * Queues task work that shuts them down before the new program runs or the parent is notified.
 * Includes dead streams with an incomplete log.
 *
 * Context: in a tracepoint, in the task that calls exec or exits; must not sleep.
 */
void pxt_stream_end_owner(void)
{
	pxt_stream_for_each(end_if_owned, NULL);
}
