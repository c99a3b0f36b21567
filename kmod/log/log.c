// SPDX-License-Identifier: GPL-2.0
/*
 * Logs of streams: creation, requests, and the end. A thread of the controller or the kernel thread
 * of the log does all the writing: logturn.c decides which one. The kernel thread is in
 * logthread/logthread.c. It continues if the controller is killed.
 *
 * Every log thread ends. After a signal it gives up writes that would have to wait. Root may send a
 * signal; the watch of the log sends one if the controller is gone and the log makes no progress.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "log/log.h"
#include "ring/recorder.h"
#include "log/logturn.h"
#include "stream/stream.h"

static unsigned int log_timeout = 10;
module_param(log_timeout, uint, 0644);
MODULE_PARM_DESC(log_timeout, "Seconds without progress after which a log without a controller ends (default 10)");

/* A log must write this many bytes within log_timeout, so that the time to end it is bounded. */
#define WATCH_BYTES	(64U << 10)

static void watch(struct work_struct *work);

/* log_timeout in jiffies. */
static unsigned long watch_time(void)
{
	return clamp(READ_ONCE(log_timeout), 1U, 3600U) * HZ;
}

/**
 * pxt_log_new() - create the log of a stream
 * @stream: with memory, not published yet
 * @fd: descriptor of the calling process
 *
 * Context: may sleep.
 * Return: 0; -EBADF, -EINVAL if @fd cannot be a log; -ENOMEM.
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
	init_waitqueue_head(&log->worker_wait);
	/* The log counts as served until the thread has written the header. */
	log->served = true;
	init_waitqueue_head(&log->done);
	err = pxt_user_work_init(&log->work, &stream->charge);
	if (err) {
		pxt_logwriter_destroy(&log->writer);
		kfree(log);
		return err;
	}
	log->stream = stream;
	stream->log = log;
	if (stream->pool.recorder)
		stream->pool.recorder->reports = true;
	return 0;
}

/**
 * pxt_log_free() - undo pxt_log_new()
 * @log: its thread has ended, or was never started
 */
void pxt_log_free(struct pxt_log *log)
{
	pxt_logwriter_destroy(&log->writer);
	pxt_user_work_destroy(&log->work);
	if (log->thread)
		put_task_struct(log->thread);
	kfree(log);
}

/* ------------------------------------------------------------------ */
/* The end of a log thread without a controller			*/

/*
 * Called with the lock. While tasks are frozen, a server of the file or a reader of the pipe is
 * frozen as well and cannot be blamed for the lack of progress. The watch may run before these
 * tasks are thawed, so it checks @due: after a freeze, it runs late.
 */
static void queue_watch(struct pxt_log *log)
{
	log->due = jiffies + watch_time();
	if (!log->over)
		queue_delayed_work(system_freezable_wq, &log->watch, watch_time());
}

/*
 * The log thread, which holds the stream and the module, cancels this work before it ends.
 */
static void watch(struct work_struct *work)
{
	struct pxt_log *log = container_of(to_delayed_work(work), struct pxt_log, watch);
	u64 progress = READ_ONCE(log->writer.file.progress);
	bool frozen;

	spin_lock(&log->lock);
	frozen = time_after(jiffies, log->due + watch_time());
	spin_unlock(&log->lock);
	if (!frozen && !log->writer.file.patient && progress - log->progress < WATCH_BYTES)
		send_sig(SIGKILL, log->thread, 1);
	log->progress = progress;
	spin_lock(&log->lock);
	queue_watch(log);
	spin_unlock(&log->lock);
}

/**
 * pxt_log_abandon() - make the thread end in bounded time after the controller is gone
 * @log: log of a stream that is shut down; may be called repeatedly
 *
 * The thread gives up unless it writes 64 KiB every log_timeout seconds. Files the kernel itself
 * writes are exempt: they always make progress.
 * Context: may sleep.
 */
void pxt_log_abandon(struct pxt_log *log)
{
	spin_lock(&log->lock);
	if (log->thread && !log->watched) {
		log->watched = true;
		log->progress = READ_ONCE(log->writer.file.progress);
		queue_watch(log);
	}
	spin_unlock(&log->lock);
}

/**
 * pxt_log_end_watch() - stop the watch for good
 * @log: the log of the calling thread, which ends
 *
 * Context: may sleep.
 */
void pxt_log_end_watch(struct pxt_log *log)
{
	spin_lock(&log->lock);
	log->over = true;
	spin_unlock(&log->lock);
	cancel_delayed_work_sync(&log->watch);
}

/* Wait until log_timeout seconds after @since (jiffies). Returns true if the thread has ended. */
static bool wait_a_while(struct pxt_log *log, unsigned int state, unsigned long since)
{
	long left = max_t(long, since + watch_time() - jiffies, 0);

	return ___wait_event(log->done, ___wait_cond_timeout(pxt_log_ended(log)),
			     (state | TASK_FREEZABLE), 0, left,
			     __ret = schedule_timeout(__ret)) > 0;
}

/**
 * pxt_log_wait_turn() - wait until the calling controller task may write the end
 * @log: pxt_log_begin_close() and pxt_log_end() were called
 *
 * Context: may sleep; no lock is held. Can be killed and frozen. An exiting task waits for
 * log_timeout seconds at most, counted from the end of the stream.
 *
 * Return: true if the caller now serves the log; false if the log is finished or the wait was
 * interrupted or timed out.
 */
bool pxt_log_wait_turn(struct pxt_log *log)
{
	long left = max_t(long, log->owner_ended + watch_time() - jiffies, 0);

	if (!(current->flags & PF_EXITING))
		wait_event_state(log->done, pxt_log_turn(log, PXT_BY_CLOSER),
				 (TASK_KILLABLE | TASK_FREEZABLE));
	else
		___wait_event(log->done,
			      ___wait_cond_timeout(pxt_log_turn(log, PXT_BY_CLOSER)),
			      (TASK_IDLE | TASK_FREEZABLE), 0, left,
			      __ret = schedule_timeout(__ret));
	return pxt_log_take(log, PXT_BY_CLOSER);
}

/**
 * pxt_log_give_up() - make the thread end without further writes that would have to wait
 * @log: with a thread, of a stream that is shut down
 *
 * The file is closed on return, unless a signal interrupts the wait or closing takes too long.
 * Context: may sleep.
 */
void pxt_log_give_up(struct pxt_log *log)
{
	send_sig(SIGKILL, log->thread, 1);
	pxt_log_abandon(log);
	wait_a_while(log, TASK_INTERRUPTIBLE, jiffies);
}

/* ------------------------------------------------------------------ */
/* Requests to the log thread						*/

/**
 * pxt_log_flush() - FLUSH: write the recorded events to the log
 * @stream: not locked
 * @caller: caller of FLUSH
 *
 * POSIX: posix_trace_flush(). Does not wait for the flush.
 *
 * Return: 0; -EINVAL if the stream has no log; -ESHUTDOWN.
 */
int pxt_log_flush(struct pxt_stream *stream, const struct pxt_caller *caller)
{
	struct pxt_log *log = stream->log;

	if (!log)
		return -EINVAL;
	if (READ_ONCE(stream->dead))
		return -ESHUTDOWN;
	spin_lock(&log->lock);
	log->caller = *caller;
	/* Set @flushing with the bit: otherwise the end of an earlier flush would clear it. */
	log->flushing = true;
	set_bit(PXT_LOG_FLUSH, &log->wanted);
	spin_unlock(&log->lock);
	pxt_log_wake(log);
	return 0;
}

/**
 * pxt_log_clear() - CLEAR of a stream with a log
 * @stream: not locked
 *
 * Waits until the log is cleared. Context: may sleep.
 *
 * Return: 0; -EINTR after a fatal signal; -ESHUTDOWN; the error of the file system if the log
 * cannot be restarted.
 */
int pxt_log_clear(struct pxt_stream *stream)
{
	struct pxt_log *log = stream->log;
	u64 number;

	if (READ_ONCE(stream->dead))
		return -ESHUTDOWN;
	spin_lock(&log->lock);
	number = ++log->clear_wanted;
	/*
	 * Change clear_wanted and the bit under one lock: otherwise an earlier CLEAR might complete
	 * @number before this CLEAR is requested.
	 */
	set_bit(PXT_LOG_CLEAR, &log->wanted);
	spin_unlock(&log->lock);
	pxt_log_wake(log);
	/* Pairs with the release in clear(): clear_error is set. */
	if (wait_event_state(log->done, smp_load_acquire(&log->clear_done) >= number ||
			     READ_ONCE(stream->dead), (TASK_KILLABLE | TASK_FREEZABLE)))
		return -EINTR;
	return READ_ONCE(stream->dead) ? -ESHUTDOWN : READ_ONCE(log->clear_error);
}

/**
 * pxt_log_note_clock_error() - CLOCK_ERROR: note how far CLOCK_REALTIME may be from UTC
 * @stream: not locked
 * @ns: the maximum error, ns; or POSIXTRACE_CLOCK_ERROR_UNKNOWN
 *
 * The log gets it with the next pairs of clocks, or the end.
 *
 * Return: 0; -EINVAL if the stream has no log, or the error is too large; -ESHUTDOWN.
 */
int pxt_log_note_clock_error(struct pxt_stream *stream, u64 ns)
{
	struct pxt_log *log = stream->log;
	struct pxt_clock_error error;

	/* A reader takes a larger error for damage. */
	if (!log || (ns > POSIXTRACE_CLOCK_ERROR_MAX && ns != POSIXTRACE_CLOCK_ERROR_UNKNOWN))
		return -EINVAL;
	if (READ_ONCE(stream->dead))
		return -ESHUTDOWN;
	pxt_logclocks_measure(&error, ns);
	spin_lock(&log->lock);
	log->clock_error = error;
	log->clock_noted = true;
	spin_unlock(&log->lock);
	return 0;
}

/**
 * pxt_log_take_clock_error() - take over the error of CLOCK_REALTIME that was noted
 * @log: served by the caller
 * @error: result
 *
 * Return: true if there is a new one.
 */
bool pxt_log_take_clock_error(struct pxt_log *log, struct pxt_clock_error *error)
{
	bool noted;

	spin_lock(&log->lock);
	noted = log->clock_noted;
	log->clock_noted = false;
	*error = log->clock_error;
	spin_unlock(&log->lock);
	return noted;
}

/**
 * pxt_log_started() - note that recording has started, or continues after a loss
 * @log: log of the stream
 *
 * The states that the threads have at this time show what happened before their first events.
 * Context: may sleep.
 */
void pxt_log_started(struct pxt_log *log)
{
	if (log->stream->attr.classes)
		pxt_log_want(log, PXT_LOG_STATES);
}

/**
 * pxt_log_used() - note that a sub-buffer was handed out
 * @log: log of the stream
 *
 * With the policy FLUSH, the log is flushed when half of the pool is in use. After an error, the
 * serving task retries only once a second. Context: may sleep.
 */
void pxt_log_used(struct pxt_log *log)
{
	const struct pxt_pool *pool = &log->stream->pool;

	bool half = 2 * READ_ONCE(pool->used) >= pool->nr_user ||
		    (pool->nr_kernel && 2 * READ_ONCE(pool->kernel_used) >= pool->nr_kernel);

	if (pxt_log_flushes_itself(log) && half &&
	    !READ_ONCE(log->error) && !test_bit(PXT_LOG_USED, &log->wanted))
		pxt_log_want(log, PXT_LOG_USED);
}

/**
 * pxt_log_stream_full() - note that the stream has become full
 * @log: log of the stream
 *
 * With the policy FLUSH, this starts a flush. The stream resumes after it.
 * Context: may sleep.
 */
void pxt_log_stream_full(struct pxt_log *log)
{
	if (pxt_log_flushes_itself(log) && !READ_ONCE(log->error))
		pxt_log_want(log, PXT_LOG_USED);
}

/**
 * pxt_log_end() - let the serving task flush a last time and free the stream's memory
 * @log: log of a stream that is dead and closed
 */
void pxt_log_end(struct pxt_log *log)
{
	wake_up_all(&log->done);
	pxt_log_want(log, PXT_LOG_END);
}

/**
 * pxt_log_wait() - wait for the thread to end
 * @log: pxt_log_end() was called
 *
 * A controller that is killed or exits does not wait for the reader of a pipe: the log thread
 * continues without it. A regular file is complete when the controller has exited, unless writing
 * takes longer than log_timeout seconds.
 *
 * Context: may sleep; no lock is held. Can be killed and frozen.
 *
 * Return: 0; the error of the last write; -EINTR after a fatal signal.
 */
int pxt_log_wait(struct pxt_log *log)
{
	bool ends = current->flags & PF_EXITING;

	/* CREATE was interrupted before the header was written. */
	if (!completion_done(&log->begun))
		return -EINTR;
	/* Signals do not reach an exiting controller, so it waits only for a while. */
	if (ends && (!log->writer.file.regular || !wait_a_while(log, TASK_IDLE, log->owner_ended)))
		return -EINTR;
	if (!ends && wait_event_state(log->done, pxt_log_ended(log),
				      (TASK_KILLABLE | TASK_FREEZABLE)))
		return -EINTR;
	return READ_ONCE(log->error);
}

/* Called with log->lock. */
static void note_lost(struct pxt_log *log)
{
	const struct pxt_pool *pool = &log->stream->pool;
	u64 lost = READ_ONCE(pool->gaps.lost) + pxt_pool_dropped(pool) + log->dropped;

	lockdep_assert_held(&log->lock);
	/* After CLEAR, the count is lower, which is not an overrun. */
	if (log->refuses && lost > log->lost)
		log->overrun = true;
	log->lost = lost;
}

/**
 * pxt_log_note_lost() - note if the log accepts events
 * @log: log of a stream with memory
 * @refuses: the log is full, or writing failed
 *
 * Events the stream loses while its log refuses them are an overrun of the log.
 */
void pxt_log_note_lost(struct pxt_log *log, bool refuses)
{
	spin_lock(&log->lock);
	note_lost(log);
	log->refuses = refuses;
	spin_unlock(&log->lock);
}

/**
 * pxt_log_status() - add the status of the log to GET_STATUS
 * @log: log of a stream that is locked and not dead
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
 * pxt_log_unreported() - restore a status that did not reach the process
 * @log: log of a stream that is locked
 * @status: from pxt_log_status()
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
