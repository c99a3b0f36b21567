// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a stream: made, found, shut down, freed. What it does in between
 * is in state.c.
 */
#include <linux/file.h>
#include <linux/idr.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "compat.h"
#include "mmap.h"
#include "ring/clock.h"
#include "stream/log.h"
#include "stream/stream.h"
#include "stream/wait.h"

/* Guards the list of streams; it is read under RCU. */
static DEFINE_MUTEX(pxt_streams_lock);
static LIST_HEAD(pxt_streams);
static u64 pxt_streams_number;

static DEFINE_IDA(pxt_streams_ida);

static int take_index(struct pxt_stream *stream)
{
	int index = ida_alloc_max(&pxt_streams_ida, stream->charge.places - 1, GFP_KERNEL);

	if (index < 0)
		return index == -ENOSPC ? -EAGAIN : index;
	stream->index = index;
	return 0;
}

/**
 * pxt_stream_new() - make a stream that nobody knows yet
 * @attr: checked attributes
 * @table: of the process to trace; the stream takes a reference
 * @file: that it will belong to
 * @log_fd: descriptor of its log, or -1
 *
 * Context: may sleep.
 * Return: one reference, to be ended with pxt_stream_shutdown() and
 * pxt_stream_put(); or -EAGAIN if there are too many, in all or of this user;
 * -ENOMEM if there is no memory, or the user may not lock that much; -EBADF, -EINVAL
 * if @log_fd can not be the log.
 */
struct pxt_stream *pxt_stream_new(const struct posixtrace_attr *attr, struct pxt_table *table,
				  struct file *file, int log_fd)
{
	struct pxt_stream *stream;
	int err = -ENOMEM;

	stream = kzalloc(sizeof(*stream), GFP_KERNEL_ACCOUNT);
	if (!stream)
		goto fail;
	stream->attr = *attr;
	err = pxt_user_charge_stream(&stream->charge);
	if (err)
		goto free_stream;
	err = take_index(stream);
	if (err)
		goto uncharge;
	err = pxt_pool_init(&stream->pool, &stream->attr, &stream->charge);
	if (err)
		goto free_index;
	if (log_fd != -1)
		err = pxt_log_new(stream, log_fd);
	if (err)
		goto free_pool;
	kref_init(&stream->kref);
	refcount_set(&stream->scratch, 1);
	mutex_init(&stream->lock);
	pxt_wait_init(stream);
	INIT_LIST_HEAD(&stream->node);
	stream->owner = get_pid(task_tgid(current));
	stream->cred = get_current_cred();
	stream->ns = get_pid_ns(task_active_pid_ns(current));
	stream->file = file;
	stream->table = table;
	pxt_table_get(table);
	pxt_clock_get();
	stream->attr.creation_time = pxt_clock_now();
	stream->attr.clock_resolution = pxt_clock_resolution();
	return stream;

free_pool:
	pxt_pool_destroy(&stream->pool);
	pxt_pool_destroy_scratch(&stream->pool);
free_index:
	ida_free(&pxt_streams_ida, stream->index);
uncharge:
	pxt_user_uncharge(&stream->charge);
free_stream:
	kfree(stream);
fail:
	return ERR_PTR(err);
}

/**
 * pxt_stream_publish() - let target and process.c find a new stream
 * @stream: from pxt_stream_new()
 * @target: the process to trace, with a gate
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN if there are too many on the target; -ESTALE if it has ended.
 */
int pxt_stream_publish(struct pxt_stream *stream, struct pxt_target *target)
{
	mutex_lock(&pxt_streams_lock);
	stream->number = ++pxt_streams_number;
	list_add_tail_rcu(&stream->node, &pxt_streams);
	mutex_unlock(&pxt_streams_lock);
	return pxt_gate_link(target, stream);
}

/* With the stream's lock, once: from now on nobody records, and no command works. */
static void end_locked(struct pxt_stream *stream)
{
	bool was_running = stream->running;

	WRITE_ONCE(stream->dead, true);
	stream->running = false;
	WRITE_ONCE(stream->full, false);
	pxt_wait_end(stream);
	pxt_gate_unlink(stream);
	if (stream->log)
		pxt_flush_close(stream, was_running);
}

/* Who walks the list may be at this stream: it keeps its way forward. No list_del_init(). */
static void leave_list(struct pxt_stream *stream)
{
	mutex_lock(&pxt_streams_lock);
	if (!list_empty(&stream->node))
		list_del_rcu(&stream->node);
	mutex_unlock(&pxt_streams_lock);
}

/**
 * pxt_stream_put_scratch() - a mapping has gone, or what is not mapped any more
 * @stream: whose scratch pages the caller needed
 *
 * Context: may sleep.
 */
void pxt_stream_put_scratch(struct pxt_stream *stream)
{
	if (!refcount_dec_and_test(&stream->scratch))
		return;
	pxt_pool_destroy_scratch(&stream->pool);
	pxt_user_uncharge(&stream->charge);
}

/**
 * pxt_stream_free_memory() - free what a dead stream has been recorded into
 * @stream: into which no target records any more; once
 *
 * Until then the end of the controller finds it in the list. Context: may sleep.
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
	pxt_pool_destroy(pool);
	/* Only now may another stream have these offsets. */
	ida_free(&pxt_streams_ida, stream->index);
	pxt_user_uncharge_stream(&stream->charge, PXT_POOL_SCRATCH);
	pxt_stream_put_scratch(stream);
	pxt_clock_put();
	leave_list(stream);
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
 * pxt_stream_forget_file() - a stream does not belong to its file any more
 * @stream: shut down
 *
 * Context: the file has not been freed yet.
 */
void pxt_stream_forget_file(struct pxt_stream *stream)
{
	WRITE_ONCE(stream->file, NULL);
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

static void stream_release(struct kref *kref)
{
	struct pxt_stream *stream = container_of(kref, struct pxt_stream, kref);

	if (stream->log)
		pxt_log_free(stream->log);
	pxt_table_put(stream->table);
	put_pid_ns(stream->ns);
	put_cred(stream->cred);
	put_pid(stream->owner);
	mutex_destroy(&stream->lock);
	kfree_rcu(stream, rcu);
}

/**
 * pxt_stream_put() - give a reference back
 * @stream: shut down, if this may be the last one
 *
 * Context: may sleep.
 */
void pxt_stream_put(struct pxt_stream *stream)
{
	kref_put(&stream->kref, stream_release);
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
	struct pxt_stream *stream;
	struct file *file;

	rcu_read_lock();
	list_for_each_entry_rcu(stream, &pxt_streams, node) {
		if (stream->owner != task_tgid(current) ||
		    test_and_set_bit(0, &stream->end_pending))
			continue;
		/* Holds stream and module until end_shutdown() has run. */
		file = pxt_file_get(&stream->file);
		if (!file)
			continue;
		if (!queue_end(stream))
			fput(file);
	}
	rcu_read_unlock();
}

/**
 * pxt_stream_for_each() - do something with every stream
 * @fn: what to do: under RCU, so it can not sleep; the stream may be shut down
 * @arg: passed to @fn
 *
 * Streams that are made or end meanwhile may be left out.
 */
void pxt_stream_for_each(void (*fn)(struct pxt_stream *stream, void *arg), void *arg)
{
	struct pxt_stream *stream;

	rcu_read_lock();
	list_for_each_entry_rcu(stream, &pxt_streams, node)
		fn(stream, arg);
	rcu_read_unlock();
}
