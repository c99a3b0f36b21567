// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which task serves a log. One task at a time flushes it, clears it and writes its end:
 *
 * - the worker, a thread of the controller in WRITE_LOG. Its processor time, memory and I/O are
 *   charged to the cgroups of the controller;
 * - a controller task that ends the stream, if the kernel itself writes the file;
 * - otherwise the kernel thread of the log. It works within a budget of processor time.
 *
 * An interrupted task leaves the rest to the next one. logthread/logserve.c does the work.
 */
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>

#include "log/log.h"
#include "log/logturn.h"
#include "stream/stream.h"

/* Called with the lock. Must the kernel thread leave the log to a controller task? */
static bool is_left_to_controller(const struct pxt_log *log)
{
	lockdep_assert_held(&log->lock);
	return log->worker || log->closers;
}

/* May this server take the log? Called with the lock. */
static bool may_take(const struct pxt_log *log, enum pxt_logfile_server server)
{
	lockdep_assert_held(&log->lock);
	if (log->served || log->finished)
		return false;
	switch (server) {
	case PXT_BY_THREAD:
		return !is_left_to_controller(log);
	case PXT_BY_CLOSER:
		return !log->worker;
	default:
		return true;
	}
}

/**
 * pxt_log_turn() - check if the caller may serve the log or can stop waiting
 * @log: with a thread
 * @server: role of the caller; a worker has called pxt_log_enter(), a closer pxt_log_begin_close()
 *
 * The result is a hint, for use in waits.
 *
 * Return: true if the log is finished, or if pxt_log_take() would succeed.
 */
bool pxt_log_turn(struct pxt_log *log, enum pxt_logfile_server server)
{
	bool turn;

	spin_lock(&log->lock);
	turn = log->finished || may_take(log, server);
	spin_unlock(&log->lock);
	return turn;
}

/**
 * pxt_log_take() - start to serve the log
 * @log: with a thread
 * @server: role of the caller, see pxt_log_turn()
 *
 * Return: true, and the caller must call pxt_log_put(); false if it is not the caller's turn.
 */
bool pxt_log_take(struct pxt_log *log, enum pxt_logfile_server server)
{
	bool taken;

	spin_lock(&log->lock);
	taken = may_take(log, server);
	if (taken) {
		log->served = true;
		log->writer.file.server = server;
	}
	spin_unlock(&log->lock);
	return taken;
}

/* Called with the lock. Return the queue of the tasks that may have work now. */
static wait_queue_head_t *server_of(struct pxt_log *log)
{
	lockdep_assert_held(&log->lock);
	if (log->worker)
		return &log->worker_wait;
	if (log->resting && !test_bit(PXT_LOG_END, &log->wanted))
		return NULL;
	return &log->wait;
}

/**
 * pxt_log_wake() - wake the task that must serve the log
 * @log: with a thread; has new work or is no longer served
 */
void pxt_log_wake(struct pxt_log *log)
{
	wait_queue_head_t *queue;

	spin_lock(&log->lock);
	queue = server_of(log);
	spin_unlock(&log->lock);
	if (queue)
		wake_up(queue);
	/* Wake closers. */
	if (test_bit(PXT_LOG_END, &log->wanted))
		wake_up_all(&log->done);
}

/**
 * pxt_log_put() - undo pxt_log_take()
 * @log: served by the caller
 */
void pxt_log_put(struct pxt_log *log)
{
	spin_lock(&log->lock);
	log->served = false;
	spin_unlock(&log->lock);
	pxt_log_wake(log);
}

/**
 * pxt_log_finish() - note that the end is written and the memory of the stream freed
 * @log: served by the caller
 */
void pxt_log_finish(struct pxt_log *log)
{
	spin_lock(&log->lock);
	WRITE_ONCE(log->finished, true);
	spin_unlock(&log->lock);
	wake_up_all(&log->worker_wait);
	wake_up_all(&log->wait);
	wake_up_all(&log->done);
}

/**
 * pxt_log_take_request() - take over a request
 * @log: served by the caller
 * @bit: PXT_LOG_*
 *
 * Return: true if there was one.
 */
bool pxt_log_take_request(struct pxt_log *log, int bit)
{
	bool was;

	spin_lock(&log->lock);
	was = test_and_clear_bit(bit, &log->wanted);
	if (was && bit == PXT_LOG_FLUSH) {
		log->flush_caller = log->caller;
		log->flush_self = false;
	}
	spin_unlock(&log->lock);
	return was;
}

/**
 * pxt_log_want() - request work from the serving task
 * @log: with a thread
 * @bit: PXT_LOG_*
 */
void pxt_log_want(struct pxt_log *log, int bit)
{
	spin_lock(&log->lock);
	set_bit(bit, &log->wanted);
	spin_unlock(&log->lock);
	pxt_log_wake(log);
}

/* ------------------------------------------------------------------ */
/* The kernel thread							*/

/* The scheduler updates the runtime of a thread in schedule(). */
static u64 runtime(void)
{
	schedule();
	return current->se.sum_exec_runtime;
}

/**
 * pxt_log_account() - charge the processor time of the calling kernel thread to the user
 * @log: log of the thread
 *
 * Context: may sleep.
 * Return: nanoseconds the thread must rest, or 0.
 */
u64 pxt_log_account(struct pxt_log *log)
{
	u64 now, spent, counted;

	if (!pxt_user_work_counts(&log->work))
		return 0;
	now = runtime();
	spent = now - log->ran;
	log->ran = now;
	counted = min(spent, log->ahead);
	log->ahead -= counted;
	return pxt_user_work(&log->work, spent - counted);
}

/* Nanoseconds a thread may use before it checks if it must rest. */
#define WORK_STEP	(2 * NSEC_PER_MSEC)

/**
 * pxt_log_begin_work() - check if the calling kernel thread may work
 * @log: log of the thread
 *
 * Context: may sleep.
 * Return: 0, or nanoseconds the thread must rest. The caller must call pxt_log_end_work()
 * afterwards.
 */
u64 pxt_log_begin_work(struct pxt_log *log)
{
	u64 delay = pxt_log_account(log);

	if (delay || !pxt_user_work_counts(&log->work))
		return delay;
	delay = pxt_user_work_ahead(&log->work, WORK_STEP);
	if (!delay)
		log->ahead = WORK_STEP;
	return delay;
}

/**
 * pxt_log_end_work() - charge the time used since pxt_log_begin_work(), refund the rest
 * @log: log of the calling kernel thread
 *
 * Context: may sleep.
 */
void pxt_log_end_work(struct pxt_log *log)
{
	pxt_log_account(log);
	pxt_user_work_back(&log->work, log->ahead);
	log->ahead = 0;
}

static bool must_end(struct pxt_log *log)
{
	return READ_ONCE(log->finished) ||
	       (test_bit(PXT_LOG_END, &log->wanted) && pxt_log_turn(log, PXT_BY_THREAD));
}

/**
 * pxt_log_rest() - let the kernel thread sleep after its user's processor time is used up
 * @log: log of the calling thread; not served by it
 * @delay: nanoseconds
 *
 * Only the end of the stream wakes it earlier, because the memory of the stream then bounds the
 * amount to write. Context: may sleep; ends on a signal. Can be frozen if the thread can.
 */
void pxt_log_rest(struct pxt_log *log, u64 delay)
{
	spin_lock(&log->lock);
	log->resting = true;
	spin_unlock(&log->lock);
	wait_event_freezable_timeout(log->wait, must_end(log), nsecs_to_jiffies(delay) + 1);
	spin_lock(&log->lock);
	log->resting = false;
	spin_unlock(&log->lock);
}

/**
 * pxt_log_pauses() - check if the serving task should leave the remaining work to another task
 * @log: served by the caller
 *
 * Context: may sleep.
 * Return: true if so.
 */
bool pxt_log_pauses(struct pxt_log *log)
{
	bool left;

	switch (log->writer.file.server) {
	case PXT_BY_THREAD:
		/* pxt_logfile_given_up() takes the signal. */
		if (signal_pending(current))
			return true;
		spin_lock(&log->lock);
		left = is_left_to_controller(log);
		spin_unlock(&log->lock);
		if (left)
			return true;
		return !test_bit(PXT_LOG_END, &log->wanted) && pxt_log_account(log) && !log->ahead;
	case PXT_BY_WORKER:
		/* Since 6.18, the kernel throttles a task by task work, on its way to user mode. */
		return signal_pending(current) || task_work_pending(current);
	default:
		return fatal_signal_pending(current);
	}
}

/* ------------------------------------------------------------------ */
/* The controller							*/

/**
 * pxt_log_enter() - start WRITE_LOG: leave the log to the calling thread
 * @log: started
 *
 * Return: 0, and the caller must call pxt_log_leave(); -ESHUTDOWN if the log is finished; -EBUSY if
 * another thread is in WRITE_LOG.
 */
int pxt_log_enter(struct pxt_log *log)
{
	int err = 0;

	spin_lock(&log->lock);
	if (log->finished)
		err = -ESHUTDOWN;
	else if (log->worker)
		err = -EBUSY;
	else
		WRITE_ONCE(log->worker, current);
	spin_unlock(&log->lock);
	return err;
}

/**
 * pxt_log_leave() - undo pxt_log_enter()
 * @log: entered by the calling thread
 *
 * The kernel thread continues.
 */
void pxt_log_leave(struct pxt_log *log)
{
	spin_lock(&log->lock);
	WRITE_ONCE(log->worker, NULL);
	spin_unlock(&log->lock);
	pxt_log_wake(log);
}

/**
 * pxt_log_begin_close() - leave the end of the log to the calling task
 * @log: log of a stream that the task is about to shut down, or NULL
 *
 * Return: true, and the caller must call pxt_log_end_close(); false if the kernel thread must write
 * the end.
 */
bool pxt_log_begin_close(struct pxt_log *log)
{
	if (!log || !completion_done(&log->begun) || log->begin_error ||
	    !pxt_logfile_allows(&log->writer.file, PXT_BY_CLOSER))
		return false;
	spin_lock(&log->lock);
	log->closers++;
	spin_unlock(&log->lock);
	return true;
}

/**
 * pxt_log_end_close() - undo pxt_log_begin_close()
 * @log: pxt_log_begin_close() returned true for it
 *
 * If the log is not finished, the kernel thread completes it.
 */
void pxt_log_end_close(struct pxt_log *log)
{
	spin_lock(&log->lock);
	log->closers--;
	spin_unlock(&log->lock);
	pxt_log_wake(log);
}
