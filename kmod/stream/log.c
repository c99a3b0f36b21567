// SPDX-License-Identifier: GPL-2.0
/*
 * Logs of streams: made, asked to do something, ended. Each has a log thread, which does
 * all the writing: it alone waits for a file system or for the reader of a pipe, and it
 * goes on when the controller is killed. What a flush does is in flush.c.
 *
 * A log thread ends. A signal makes it give up what it cannot write: root sends one, or
 * the watch of the log, when the controller is gone and nothing moves.
 */
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "stream/clear.h"
#include "stream/log.h"
#include "stream/stream.h"

static unsigned int log_timeout = 10;
module_param(log_timeout, uint, 0644);
MODULE_PARM_DESC(log_timeout, "Seconds without progress until a log without controller ends (default 10)");

/* So much has to move in that time, so that the time of a whole log is bounded, too. */
#define WATCH_BYTES	(64U << 10)

static void watch(struct work_struct *work);

/* Jiffies. */
static unsigned long watch_time(void)
{
	return clamp(READ_ONCE(log_timeout), 1U, 3600U) * HZ;
}

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
	INIT_DELAYED_WORK(&log->watch, watch);
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
	if (log->thread)
		put_task_struct(log->thread);
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
	/* The end stays wanted: nothing comes after it. */
	WRITE_ONCE(log->wanted, wanted & BIT(PXT_LOG_END));
	*caller = log->caller;
	*clear = log->clear_wanted;
	spin_unlock(&log->lock);
	return wanted;
}

static bool flushes_itself(const struct pxt_log *log)
{
	return log->stream->attr.stream_policy == POSIXTRACE_POLICY_FLUSH;
}

/* Ends early when a signal comes. */
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
		if (!pxt_logfile_given_up(&log->writer.file))
			wait_for_work(log);
		if (pxt_logfile_given_up(&log->writer.file)) {
			pxt_stream_shutdown(log->stream);
			/* The end may have to wait after all: another signal follows. */
			pxt_log_abandon(log);
			break;
		}
		wanted = take_wanted(log, &caller, &number);
		if (wanted & BIT(PXT_LOG_CLEAR))
			clear(log, number);
		if (wanted & BIT(PXT_LOG_FLUSH))
			flush(log, &caller);
		else if (flushes_itself(log) && pxt_flush_pending(log))
			flush(log, NULL);
	} while (!(wanted & BIT(PXT_LOG_END)));
}

/* The watch is not queued after this, and does not run. */
static void end_watch(struct pxt_log *log)
{
	spin_lock(&log->lock);
	log->over = true;
	spin_unlock(&log->lock);
	cancel_delayed_work_sync(&log->watch);
}

static int log_thread(void *arg)
{
	struct pxt_log *log = arg;
	struct pxt_stream *stream = log->stream;
	/* The creator pays for all that this thread allocates. */
	struct mem_cgroup *old = set_active_memcg(log->writer.file.memcg);

	allow_signal(SIGKILL);
	allow_signal(SIGTERM);
	/*
	 * No write to a disk while its image is made. All other logs wait for user space
	 * in the end, which is frozen first: to freeze, this thread would have to come back
	 * from there.
	 */
	if (log->writer.file.disk)
		set_freezable();
	log->begin_error = pxt_logwriter_begin(&log->writer, &stream->attr,
					       stream->pool.subbuf_size, stream->pool.nr_cpus,
					       log->pid);
	complete_all(&log->begun);
	if (!log->begin_error)
		serve(log);
	/* CREATE, or whatever ended the stream, says so as its next step. */
	wait_event_idle(log->wait, test_bit(PXT_LOG_END, &log->wanted));
	if (!log->begin_error)
		pxt_flush_last(log);

	pxt_stream_free_memory(stream);
	set_active_memcg(old);
	/* A socket that lingers waits here: the watch has to go on. */
	pxt_logwriter_destroy(&log->writer);
	end_watch(log);
	/* Pairs with the acquire in pxt_log_ended(). */
	smp_store_release(&log->ended, true);
	wake_up_all(&log->done);
	pxt_stream_put(stream);
	module_put_and_kthread_exit(0);
}

/**
 * pxt_log_begin() - start the thread, which writes the beginning of the log
 * @log: new
 * @pid: of the traced process
 *
 * The thread writes it, since a writer to a pipe without a reader gets SIGPIPE.
 * Context: may sleep; no lock is held. Can be killed and frozen.
 *
 * Return: 0; -EINTR if a signal came before the reader of a pipe made room, or a fatal
 * one; other negative errno. Then the stream has to be ended with pxt_stream_abort().
 */
int pxt_log_begin(struct pxt_log *log, pid_t pid)
{
	int state = log->writer.file.regular ? TASK_KILLABLE : TASK_INTERRUPTIBLE;
	struct task_struct *thread;
	int err;

	log->pid = pid;
	thread = kthread_create(log_thread, log, "posixtrace/%u", log->stream->index);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kref_get(&log->stream->kref);
	/* The caller's file has one. */
	__module_get(THIS_MODULE);
	/* Signals may be sent to it until the log is freed. */
	log->thread = get_task_struct(thread);
	wake_up_process(thread);
	err = wait_for_completion_state(&log->begun, state | TASK_FREEZABLE);
	return err ? -EINTR : log->begin_error;
}

/* ------------------------------------------------------------------ */
/* The end of a thread whose controller is gone				*/

/* With the lock of the log. */
static void queue_watch(struct pxt_log *log)
{
	if (!log->over)
		queue_delayed_work(system_wq, &log->watch, watch_time());
}

/* The log thread, which holds stream and module, waits for this before it ends. */
static void watch(struct work_struct *work)
{
	struct pxt_log *log = container_of(to_delayed_work(work), struct pxt_log, watch);
	u64 progress = READ_ONCE(log->writer.file.progress);

	if (!log->writer.file.patient && progress - log->progress < WATCH_BYTES)
		send_sig(SIGKILL, log->thread, 1);
	log->progress = progress;
	spin_lock(&log->lock);
	queue_watch(log);
	spin_unlock(&log->lock);
}

/**
 * pxt_log_abandon() - the controller is gone: the thread ends within a bounded time
 * @log: of a stream that is shut down; any number of times
 *
 * Every log_timeout seconds, 64 KiB have to move, or the thread gives up. That holds for
 * all files but those that the kernel writes by itself, where it always moves on.
 * Context: may sleep.
 */
void pxt_log_abandon(struct pxt_log *log)
{
	spin_lock(&log->lock);
	if (log->thread && !log->watched) {
		log->watched = true;
		queue_watch(log);
	}
	spin_unlock(&log->lock);
}

/* For a bounded time: has it ended by then? */
static bool wait_a_while(struct pxt_log *log, unsigned int state)
{
	return ___wait_event(log->done, ___wait_cond_timeout(pxt_log_ended(log)),
			     (state | TASK_FREEZABLE), 0, watch_time(),
			     __ret = schedule_timeout(__ret)) > 0;
}

/**
 * pxt_log_give_up() - the thread ends without another write that waits
 * @log: whose thread was started, of a stream that is shut down
 *
 * The file is closed when this returns, unless a signal comes or that takes too long.
 * Context: may sleep.
 */
void pxt_log_give_up(struct pxt_log *log)
{
	send_sig(SIGKILL, log->thread, 1);
	pxt_log_abandon(log);
	wait_a_while(log, TASK_INTERRUPTIBLE);
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
	if (wait_event_state(log->done, smp_load_acquire(&log->clear_done) >= number ||
			     READ_ONCE(stream->dead), (TASK_KILLABLE | TASK_FREEZABLE)))
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
 * A controller that was killed, or ends, does not wait for the reader of a pipe: the log
 * thread goes on without it. What is in a file is there when the controller has ended,
 * unless that takes longer than log_timeout seconds.
 *
 * Context: may sleep; no lock is held. Can be killed and frozen.
 *
 * Return: 0; the error that kept something from being written; -EINTR if a fatal
 * signal came.
 */
int pxt_log_wait(struct pxt_log *log)
{
	bool ends = current->flags & PF_EXITING;

	/* CREATE was interrupted before. */
	if (!completion_done(&log->begun))
		return -EINTR;
	/* No signal reaches a controller that ends. */
	if (ends && (!log->writer.file.regular || !wait_a_while(log, TASK_IDLE)))
		return -EINTR;
	if (!ends && wait_event_state(log->done, pxt_log_ended(log),
				      (TASK_KILLABLE | TASK_FREEZABLE)))
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
 * pxt_log_unreported() - the status did not reach the process
 * @log: whose stream's lock is held
 * @status: what was not told
 */
void pxt_log_unreported(struct pxt_log *log, const struct posixtrace_status *status)
{
	spin_lock(&log->lock);
	if (status->flags & POSIXTRACE_STATUS_LOG_OVERRUN)
		log->overrun = true;
	if (!log->flush_error)
		log->flush_error = status->flush_error;
	spin_unlock(&log->lock);
}
