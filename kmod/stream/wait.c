// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for events, and polling. ring/reclaim.c determines if there are any.
 *
 * A reader sets need_wakeup of the stream, synchronizes, and looks for events again. A writer that
 * does not see need_wakeup has committed before the synchronization ends, so the reader finds its
 * record; writers therefore need no fence. If the synchronization would interrupt other processes
 * too often, the kernel checks for such a record a little later instead.
 *
 * A writer that sees need_wakeup may never call WAKE: it may be killed, execute a program, or leave
 * a signal handler by siglongjmp(). While need_wakeup is set, the kernel therefore checks for
 * events periodically, and whenever a process exits or executes a program.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "ring/clock.h"
#include "ring/reclaim.h"
#include "ring/wake.h"
#include "stream/state.h"
#include "stream/wait.h"

/* A reader is woken within a second, even if a busy machine doubles the delay. */
#define LOOK_MS	500

/*
 * Without a synchronization, a writer that was recording when need_wakeup was set might not call
 * WAKE. After this time it has finished.
 */
#define SOON_MS	10

/* The work may run on any CPU, because the CPU of the reader may be isolated. */
static void queue_look(struct pxt_stream *stream)
{
	queue_delayed_work(system_unbound_wq, &stream->look, msecs_to_jiffies(LOOK_MS));
}

/* The caller checks for records itself, so this may postpone an earlier check. */
static void queue_look_soon(struct pxt_stream *stream)
{
	mod_delayed_work(system_unbound_wq, &stream->look, msecs_to_jiffies(SOON_MS));
}

/*
 * Called with the lock before a reader sleeps: a full stream records no event that could wake the
 * reader. Usually the reader requests the restart, but it may have taken the last event before it
 * could see that the stream is full. With unread events this has no effect.
 */
static void restart_if_full(struct pxt_stream *stream)
{
	if (stream->full && !stream->log)
		pxt_state_restart(stream);
}

/*
 * Set need_wakeup for a reader. Holds the lock of the stream throughout, so that no other reader
 * relies on a synchronization that has not ended. @round may be NULL.
 */
static int arm(struct pxt_stream *stream, bool edges, u32 *round)
{
	int err = 0;

	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
	} else {
		restart_if_full(stream);
		if (pxt_wake_arm(&stream->pool, edges) || pxt_gate_try_synchronize(&stream->link))
			queue_look(stream);
		else
			queue_look_soon(stream);
		if (round)
			*round = pxt_wake_round(&stream->pool);
	}
	mutex_unlock(&stream->lock);
	return err;
}

/* If a reader sets need_wakeup after the check here, the reader queues this work. */
static void look(struct work_struct *work)
{
	struct pxt_stream *stream = container_of(to_delayed_work(work), struct pxt_stream, look);

	pxt_wake_look(&stream->pool);
	/* The last poller may have gone without clearing need_wakeup. */
	pxt_wake_disarm(&stream->pool);
	if (READ_ONCE(stream->pool.wake.need_wakeup))
		queue_look(stream);
}

/**
 * pxt_wait_init() - prepare a stream for waiting
 * @stream: new
 */
void pxt_wait_init(struct pxt_stream *stream)
{
	pxt_wake_init(&stream->pool);
	INIT_DELAYED_WORK(&stream->look, look);
}

/**
 * pxt_wait_end() - clear need_wakeup for the last time
 * @stream: locked and dead
 *
 * Does not wake sleeping readers. Context: may sleep.
 */
void pxt_wait_end(struct pxt_stream *stream)
{
	lockdep_assert_held(&stream->lock);
	pxt_wake_end(&stream->pool);
	cancel_delayed_work_sync(&stream->look);
}

/* Return the result of WAIT if the reader should not sleep now; -EAGAIN if it should. */
static int reason_to_stay_awake(struct pxt_stream *stream, bool timeout)
{
	if (READ_ONCE(stream->dead))
		return -ESHUTDOWN;
	if (pxt_reclaim_reportable(&stream->pool))
		return 0;
	if (timeout)
		return -ETIMEDOUT;
	if (signal_pending(current))
		return -ERESTARTSYS;
	return -EAGAIN;
}

static int sleep_until_readable(struct pxt_stream *stream, ktime_t *expires)
{
	bool timeout = false;
	DEFINE_WAIT(wait);
	u32 round;
	int ret;

	for (;;) {
		ret = arm(stream, false, &round);
		if (ret)
			break;
		/*
		 * Pairs with the wake-up after a record: either it finds this reader in the queue,
		 * or the check finds the record.
		 */
		prepare_to_wait(&stream->pool.wake.wait, &wait, TASK_INTERRUPTIBLE);
		ret = reason_to_stay_awake(stream, timeout);
		if (ret != -EAGAIN)
			break;
		/*
		 * Before this reader joined the queue, a wake-up may have cleared need_wakeup. From
		 * now on it is cleared only after this reader was woken. The sleep uses
		 * CLOCK_REALTIME to follow steps of that clock.
		 */
		if (pxt_wake_may_sleep(&stream->pool, round))
			timeout = !schedule_hrtimeout_range_clock(expires,
								  current->timer_slack_ns,
								  HRTIMER_MODE_ABS,
								  CLOCK_REALTIME);
		finish_wait(&stream->pool.wake.wait, &wait);
	}
	finish_wait(&stream->pool.wake.wait, &wait);
	pxt_wake_disarm(&stream->pool);
	return ret;
}

/*
 * The C library cancels a thread by a signal, which must not interrupt the handler of another
 * signal. If only signals in @unblock are pending, their handlers run. Otherwise the handlers of
 * the other signals run first, with the mask of the caller, and the rest stays pending.
 */
static int sleep_unblocking(struct pxt_stream *stream, u64 unblock, ktime_t *expires)
{
	sigset_t set = { .sig = { unblock } }, before;
	int ret;

	BUILD_BUG_ON(sizeof(set) != sizeof(unblock));
	if (!unblock)
		return sleep_until_readable(stream, expires);
	sigprocmask(SIG_UNBLOCK, &set, &before);
	ret = sleep_until_readable(stream, expires);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (ret != -ERESTARTSYS || signal_pending(current))
		return ret;
	current->saved_sigmask = before;
	set_restore_sigmask();
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/*
	 * Another thread may have taken the signal since then. In that case only this flag makes
	 * the kernel restore the mask and restart the call.
	 */
	set_thread_flag(TIF_SIGPENDING);
	return ret;
}

/*
 * The deadline had passed before the call: check without sleeping. need_wakeup stays clear, so no
 * synchronization is needed. A full stream that was completely read is still restarted.
 */
static int look_once(struct pxt_stream *stream)
{
	int ret;

	mutex_lock(&stream->lock);
	if (!stream->dead)
		restart_if_full(stream);
	mutex_unlock(&stream->lock);
	ret = reason_to_stay_awake(stream, false);
	return ret == -EAGAIN ? -ETIMEDOUT : ret;
}

/**
 * pxt_wait() - WAIT: sleep until an event can be read
 * @stream: not locked
 * @arg: private copy of the argument
 *
 * POSIX: posix_trace_getnext_event(), posix_trace_timedgetnext_event(). Does not take the event.
 * Context: may sleep.
 *
 * Return: 0; -EINVAL; -ERESTARTSYS; -ESHUTDOWN; -ETIMEDOUT.
 */
int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg)
{
	bool deadline = arg->flags & POSIXTRACE_WAIT_DEADLINE;
	ktime_t expires;

	if (arg->flags & ~POSIXTRACE_WAIT_DEADLINE || arg->reserved ||
	    (!deadline && arg->deadline))
		return -EINVAL;
	/* Without a sleep, writers need not see need_wakeup. */
	if (pxt_reclaim_reportable(&stream->pool))
		return 0;
	expires = ns_to_ktime(min_t(u64, arg->deadline, KTIME_MAX));
	if (deadline && ktime_compare(expires, ktime_get_real()) <= 0)
		return look_once(stream);
	return sleep_unblocking(stream, arg->unblock, deadline ? &expires : NULL);
}

/**
 * pxt_wait_defer() - DEFER: determine which records may be reported
 * @stream: not locked
 * @arg: private copy of the argument, and the result
 *
 * Defers the records if the oldest one is too young. A wrong time cannot harm other streams, and
 * delays the reader of this one for at most a window. A time in the future is wrong, so it is
 * ignored. If no process records, no older record can become visible, so nothing is deferred.
 *
 * Context: may sleep.
 *
 * Return: 0; -EINVAL; -ESHUTDOWN.
 */
int pxt_wait_defer(struct pxt_stream *stream, struct posixtrace_defer *arg)
{
	struct pxt_pool *pool = &stream->pool;
	int err = 0;

	if (arg->window > POSIXTRACE_WINDOW_NS_MAX)
		return -EINVAL;
	/*
	 * With the lock held, STOP has not started, or all writers that saw the gate open have
	 * finished.
	 */
	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
		goto unlock;
	}
	arg->now = pxt_clock_now();
	arg->settled = arg->now - arg->window;
	if (arg->time > arg->settled && arg->time <= arg->now && stream->running)
		pxt_wake_defer(pool, arg->time + arg->window);
	else
		pxt_wake_defer(pool, 0);
	/*
	 * Pairs with pxt_gate_gone(), which decrements nr_targets first. The lock of the wait queue
	 * orders the two: either this function sees that no process is left, or pxt_gate_gone()
	 * ends the deferral.
	 */
	if (!stream->running || !atomic_read(&stream->link.nr_targets)) {
		pxt_wake_defer(pool, 0);
		arg->settled = arg->now;
	}
unlock:
	mutex_unlock(&stream->lock);
	return err;
}

/*
 * Does this poller rely on a wake-up for each event, without a check in between? epoll passes its
 * flags on. So does io_uring: it sets EPOLLONESHOT, or only EPOLLET for a multishot poll. With
 * EPOLLONESHOT, a poller registers again and checks then. With EPOLLEXCLUSIVE, a wake-up reaches
 * only one poller, so the others rely on the next event.
 */
static bool wants_edges(const poll_table *table)
{
	__poll_t events = poll_requested_events(table);

	return events & EPOLLEXCLUSIVE || (events & (EPOLLET | EPOLLONESHOT)) == EPOLLET;
}

/**
 * pxt_wait_poll() - handle poll(), select(), epoll
 * @stream: not locked
 * @file: file of the stream
 * @table: table of the caller
 *
 * A poller stays queued, but the first wake-up clears need_wakeup. Further events need no wake-up
 * until the poller checks again and this function sets it again. An edge-triggered poller gets a
 * wake-up for each event, because need_wakeup stays set for it. Context: may sleep.
 *
 * Return: EPOLLIN if an event can be read; EPOLLPRI if a condition of TRIGGER was met; EPOLLHUP
 * after shutdown, and after all traced processes have ended.
 */
__poll_t pxt_wait_poll(struct pxt_stream *stream, struct file *file, poll_table *table)
{
	bool edges = wants_edges(table);
	__poll_t other;

	poll_wait(file, &stream->pool.wake.wait, table);
	other = pxt_trigger_poll(&stream->trigger, file, table);
	if (!atomic_read(&stream->link.nr_targets))
		other |= EPOLLHUP;
	/* The events of a stream with a log are read from the log. */
	if (stream->log)
		return READ_ONCE(stream->dead) ? EPOLLHUP : other;
	/* Do not make writers wake a poller that waits for conditions only. */
	if (!(poll_requested_events(table) & (EPOLLIN | EPOLLRDNORM)))
		return READ_ONCE(stream->dead) ? EPOLLHUP : other;
	/* An edge-triggered poller might not check again after it has read, so arm in any case. */
	if (!edges && pxt_reclaim_reportable(&stream->pool))
		return other | EPOLLIN | EPOLLRDNORM;
	if (arm(stream, edges, NULL))
		return EPOLLHUP;
	return other | (pxt_reclaim_reportable(&stream->pool) ? EPOLLIN | EPOLLRDNORM : 0);
}
