// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for events. Whether there are any is looked up in reclaim.c.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "reclaim.h"
#include "wait.h"

/*
 * One more sleeper. The first one sets the bit in the gate. A writer that does
 * not see it has committed before the quiesce ends, and what it wrote is seen
 * when we look again; so writers need no fence.
 */
static int enter(struct pxt_stream *stream)
{
	int err = 0;

	mutex_lock(&stream->lock);
	if (stream->dead) {
		err = -ESHUTDOWN;
	} else if (!stream->nr_waiters++) {
		pxt_target_set_waiters(stream->target, stream, true);
		pxt_target_quiesce(stream->target);
	}
	mutex_unlock(&stream->lock);
	return err;
}

static void leave(struct pxt_stream *stream)
{
	mutex_lock(&stream->lock);
	if (!--stream->nr_waiters && !stream->dead)
		pxt_target_set_waiters(stream->target, stream, false);
	mutex_unlock(&stream->lock);
}

static int sleep_until_readable(struct pxt_stream *stream, ktime_t *expires)
{
	int timeout = -EINTR, ret;
	DEFINE_WAIT(wait);

	for (;;) {
		/* Pairs with the wake-up: it comes after what we look at, and we look after. */
		prepare_to_wait(&stream->wait, &wait, TASK_INTERRUPTIBLE);
		ret = -ESHUTDOWN;
		if (READ_ONCE(stream->dead))
			break;
		ret = 0;
		if (pxt_reclaim_readable(&stream->pool))
			break;
		ret = -ETIMEDOUT;
		if (!timeout)
			break;
		ret = -ERESTARTSYS;
		if (signal_pending(current))
			break;
		/* On CLOCK_REALTIME, so that it follows when that is set. */
		timeout = schedule_hrtimeout_range_clock(expires, current->timer_slack_ns,
							 HRTIMER_MODE_ABS, CLOCK_REALTIME);
	}
	finish_wait(&stream->wait, &wait);
	return ret;
}

/**
 * pxt_wait() - WAIT: sleep until there is something to read
 * @stream: not locked
 * @arg: private copy of what the process passed
 *
 * POSIX: posix_trace_getnext_event(), posix_trace_timedgetnext_event().
 * Takes nothing. Context: may sleep.
 *
 * Return: 0; -EINVAL; -ERESTARTSYS; -ESHUTDOWN; -ETIMEDOUT.
 */
int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg)
{
	bool deadline = arg->flags & POSIXTRACE_WAIT_DEADLINE;
	ktime_t expires;
	int ret;

	if (arg->flags & ~POSIXTRACE_WAIT_DEADLINE || arg->reserved1 || arg->reserved2 ||
	    (!deadline && arg->deadline))
		return -EINVAL;
	/* Without sleeping, nobody has to be told. */
	if (pxt_reclaim_readable(&stream->pool))
		return 0;
	ret = enter(stream);
	if (ret)
		return ret;
	expires = ns_to_ktime(min_t(u64, arg->deadline, KTIME_MAX));
	ret = sleep_until_readable(stream, deadline ? &expires : NULL);
	leave(stream);
	return ret;
}
