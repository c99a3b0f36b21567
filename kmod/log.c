// SPDX-License-Identifier: GPL-2.0
/*
 * Logs of streams: made, asked to do something, ended. Each has a thread that does
 * all the writing, so that it may wait for a file system or for the reader of a pipe
 * while nobody else does, and so that it goes on when the controller is killed. What
 * a flush does is in flush.c.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "clear.h"
#include "log.h"
#include "stream.h"

/**
 * pxt_log_new() - make the log of a stream
 * @stream: that nobody knows yet, with its memory
 * @fd: descriptor of the calling process
 *
 * Context: may sleep.
 * Return: 0; -EBADF, -EINVAL if that can not be a log; -ENOMEM.
 */
int pxt_log_new(struct pxt_stream *stream, int fd)
{
	struct pxt_log *log = kzalloc(sizeof(*log), GFP_KERNEL_ACCOUNT);
	int err;

	if (!log)
		return -ENOMEM;
	err = pxt_logwriter_init(&log->writer, fd, &stream->attr, &stream->pool);
	if (err) {
		kfree(log);
		return err;
	}
	init_completion(&log->begun);
	init_completion(&log->ended);
	spin_lock_init(&log->lock);
	init_waitqueue_head(&log->wait);
	init_waitqueue_head(&log->done);
	log->stream = stream;
	stream->log = log;
	return 0;
}

/**
 * pxt_log_free() - end of pxt_log_new()
 * @log: whose thread has ended, or was never started
 */
void pxt_log_free(struct pxt_log *log)
{
	pxt_logwriter_destroy(&log->writer);
	kfree(log);
}

/* ------------------------------------------------------------------ */
/* The thread								*/

/* What is wanted, and by whom; it is ours to do now. */
static unsigned long take_wanted(struct pxt_log *log, struct pxt_caller *caller, u64 *clear)
{
	unsigned long wanted;

	spin_lock(&log->lock);
	wanted = log->wanted;
	WRITE_ONCE(log->wanted, 0);
	*caller = log->caller;
	*clear = log->clear_wanted;
	spin_unlock(&log->lock);
	return wanted;
}

static bool flushes_itself(const struct pxt_log *log)
{
	return log->stream->attr.stream_policy == POSIXTRACE_POLICY_FLUSH;
}

static void wait_for_work(struct pxt_log *log)
{
	if (flushes_itself(log))
		wait_event_freezable_timeout(log->wait, READ_ONCE(log->wanted), HZ);
	else
		wait_event_freezable(log->wait, READ_ONCE(log->wanted));
}

static void flush(struct pxt_log *log, const struct pxt_caller *caller)
{
	spin_lock(&log->lock);
	log->flushing = true;
	spin_unlock(&log->lock);
	pxt_flush(log, caller);
	spin_lock(&log->lock);
	/* Somebody may have asked again meanwhile. */
	log->flushing = test_bit(PXT_LOG_FLUSH, &log->wanted);
	spin_unlock(&log->lock);
}

/* For all who asked for it up to @number. */
static void clear(struct pxt_log *log, u64 number)
{
	int err = pxt_clear_logged(log->stream);

	if (!err)
		err = pxt_logwriter_clear(&log->writer);
	spin_lock(&log->lock);
	log->full = false;
	log->overwritten = 0;
	log->overwritten_seen = 0;
	log->dropped = 0;
	log->refuses = false;
	log->overrun = false;
	WRITE_ONCE(log->error, err);
	WRITE_ONCE(log->clear_error, err);
	/* Pairs with the acquire in pxt_log_clear(): the error is there. */
	smp_store_release(&log->clear_done, number);
	spin_unlock(&log->lock);
	wake_up_all(&log->done);
}

static void serve(struct pxt_log *log)
{
	struct pxt_caller caller;
	unsigned long wanted;
	u64 number;

	do {
		wait_for_work(log);
		wanted = take_wanted(log, &caller, &number);
		if (wanted & BIT(PXT_LOG_CLEAR))
			clear(log, number);
		if (wanted & BIT(PXT_LOG_FLUSH))
			flush(log, &caller);
		else if (flushes_itself(log) && pxt_flush_pending(log))
			flush(log, NULL);
	} while (!(wanted & BIT(PXT_LOG_END)));
	pxt_flush_last(log);
}

static int log_thread(void *arg)
{
	struct pxt_log *log = arg;
	struct pxt_stream *stream = log->stream;
	/* The creator pays for all that this thread allocates. */
	struct mem_cgroup *old = set_active_memcg(log->writer.file.memcg);

	/*
	 * Who reads a pipe may sleep for long, and does so before us when the machine
	 * goes to sleep: it must not wait for us then. Files are left alone meanwhile.
	 */
	if (log->writer.file.regular)
		set_freezable();
	log->begin_error = pxt_logwriter_begin(&log->writer, &stream->attr,
					       stream->pool.subbuf_size, stream->pool.nr_cpus,
					       log->pid);
	complete_all(&log->begun);
	if (log->begin_error)
		wait_event_freezable(log->wait, test_bit(PXT_LOG_END, &log->wanted));
	else
		serve(log);

	pxt_stream_free_memory(stream);
	set_active_memcg(old);
	pxt_logwriter_destroy(&log->writer);
	complete_all(&log->ended);
	pxt_stream_put(stream);
	module_put_and_kthread_exit(0);
}

/**
 * pxt_log_begin() - start the thread, which writes the beginning of the log
 * @log: new
 * @pid: of the traced process
 *
 * Written by the thread, for who writes to a pipe without a reader is sent SIGPIPE.
 * Context: may sleep.
 *
 * Return: 0; -EINTR if a signal came before the reader of a pipe made room, or a fatal
 * one; other negative errno. Then the stream has to be shut down.
 */
int pxt_log_begin(struct pxt_log *log, pid_t pid)
{
	struct task_struct *thread;
	int err;

	log->pid = pid;
	thread = kthread_create(log_thread, log, "posixtrace/%u", log->stream->index);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kref_get(&log->stream->kref);
	/* The caller's file has one. */
	__module_get(THIS_MODULE);
	log->thread = thread;
	wake_up_process(thread);
	if (log->writer.file.regular)
		err = wait_for_completion_killable(&log->begun);
	else
		err = wait_for_completion_interruptible(&log->begun);
	return err ? -EINTR : log->begin_error;
}

/* ------------------------------------------------------------------ */
/* What others want of it						*/

static void want(struct pxt_log *log, int bit)
{
	spin_lock(&log->lock);
	set_bit(bit, &log->wanted);
	spin_unlock(&log->lock);
	wake_up(&log->wait);
}

/**
 * pxt_log_flush() - FLUSH: write what was recorded to the log
 * @stream: not locked
 * @origin: the caller
 *
 * POSIX: posix_trace_flush(). Does not wait for it.
 *
 * Return: 0; -EINVAL if the stream has no log; -ESHUTDOWN.
 */
int pxt_log_flush(struct pxt_stream *stream, const struct posixtrace_origin *origin)
{
	struct pxt_log *log = stream->log;

	if (!log)
		return -EINVAL;
	if (READ_ONCE(stream->dead))
		return -ESHUTDOWN;
	spin_lock(&log->lock);
	log->caller = pxt_sysevent_caller(stream, origin);
	/* Both at once, or a flush that is just ending would say that this one is done. */
	log->flushing = true;
	set_bit(PXT_LOG_FLUSH, &log->wanted);
	spin_unlock(&log->lock);
	wake_up(&log->wait);
	return 0;
}

/**
 * pxt_log_clear() - CLEAR of a stream with log
 * @stream: not locked
 *
 * Waits until it is done. Context: may sleep.
 *
 * Return: 0; -EINTR if a fatal signal came; -ESHUTDOWN; what a file system says when
 * the log can not begin anew.
 */
int pxt_log_clear(struct pxt_stream *stream)
{
	struct pxt_log *log = stream->log;
	u64 number;

	if (READ_ONCE(stream->dead))
		return -ESHUTDOWN;
	spin_lock(&log->lock);
	number = ++log->clear_wanted;
	spin_unlock(&log->lock);
	want(log, PXT_LOG_CLEAR);
	/* Acquire: pairs with the release in clear(), for the error. */
	if (wait_event_killable(log->done, smp_load_acquire(&log->clear_done) >= number ||
				READ_ONCE(stream->dead)))
		return -EINTR;
	return READ_ONCE(stream->dead) ? -ESHUTDOWN : READ_ONCE(log->clear_error);
}

/**
 * pxt_log_used() - a sub-buffer was handed out
 * @log: of its stream
 *
 * With the policy FLUSH, half of the pool is enough. What has just failed is tried
 * again after a second, not each time. Context: may sleep.
 */
void pxt_log_used(struct pxt_log *log)
{
	const struct pxt_pool *pool = &log->stream->pool;

	if (flushes_itself(log) && 2 * READ_ONCE(pool->used) >= pool->nr_user &&
	    !READ_ONCE(log->error) && !test_bit(PXT_LOG_USED, &log->wanted))
		want(log, PXT_LOG_USED);
}

/**
 * pxt_log_stream_full() - the stream has stopped itself
 * @log: of the stream
 *
 * With the policy FLUSH, it goes on as soon as it was flushed. Context: may sleep.
 */
void pxt_log_stream_full(struct pxt_log *log)
{
	if (flushes_itself(log) && !READ_ONCE(log->error))
		want(log, PXT_LOG_USED);
}

/**
 * pxt_log_end() - flush a last time, then free the stream's memory
 * @log: of a stream that is dead and closed
 */
void pxt_log_end(struct pxt_log *log)
{
	wake_up_all(&log->done);
	want(log, PXT_LOG_END);
}

/**
 * pxt_log_wait() - wait until all of it has happened
 * @log: pxt_log_end() was called
 *
 * Nobody waits for the reader of a pipe who is killed, or ends: that goes on without
 * him. What is in a file is there when he has ended. Context: may sleep.
 *
 * Return: 0; the error that kept something from being written; -EINTR if a fatal
 * signal came.
 */
int pxt_log_wait(struct pxt_log *log)
{
	bool ends = current->flags & PF_EXITING;

	/* Interrupted in CREATE already. */
	if (!completion_done(&log->begun))
		return -EINTR;
	if (ends && log->writer.file.regular)
		wait_for_completion(&log->ended);
	else if (ends || wait_for_completion_killable(&log->ended))
		return -EINTR;
	return READ_ONCE(log->error);
}

/* With log->lock. */
static void note_lost(struct pxt_log *log)
{
	const struct pxt_pool *pool = &log->stream->pool;
	u64 lost = READ_ONCE(pool->lost) + pxt_pool_dropped(pool) + log->dropped;

	lockdep_assert_held(&log->lock);
	/* CLEAR makes it less. */
	if (log->refuses && lost > log->lost)
		log->overrun = true;
	log->lost = lost;
}

/**
 * pxt_log_note_lost() - the log takes events now, or does not
 * @log: whose stream's memory is there
 * @refuses: it is full, or writing failed
 *
 * What the stream loses while its log refuses is an overrun of the log.
 */
void pxt_log_note_lost(struct pxt_log *log, bool refuses)
{
	spin_lock(&log->lock);
	note_lost(log);
	log->refuses = refuses;
	spin_unlock(&log->lock);
}

/**
 * pxt_log_status() - what GET_STATUS tells of the log
 * @log: whose stream's lock is held, and is not dead
 * @status: to be completed
 */
void pxt_log_status(struct pxt_log *log, struct posixtrace_status *status)
{
	spin_lock(&log->lock);
	if (log->flushing)
		status->flags |= POSIXTRACE_STATUS_FLUSHING;
	if (log->full)
		status->flags |= POSIXTRACE_STATUS_LOG_FULL;
	note_lost(log);
	if (log->overwritten != log->overwritten_seen || log->overrun)
		status->flags |= POSIXTRACE_STATUS_LOG_OVERRUN;
	log->overwritten_seen = log->overwritten;
	log->overrun = false;
	status->flush_error = log->flush_error;
	log->flush_error = 0;
	spin_unlock(&log->lock);
}

/**
 * pxt_log_untold() - the status did not reach the process
 * @log: whose stream's lock is held
 * @status: what was not told
 */
void pxt_log_untold(struct pxt_log *log, const struct posixtrace_status *status)
{
	spin_lock(&log->lock);
	if (status->flags & POSIXTRACE_STATUS_LOG_OVERRUN)
		log->overrun = true;
	if (!log->flush_error)
		log->flush_error = status->flush_error;
	spin_unlock(&log->lock);
}
