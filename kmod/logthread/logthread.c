// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel thread of a log: it writes the header, serves the log while no controller task does,
 * and closes the file. log/log.c makes the requests, logserve.c carries them out.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/wait.h>

#include "log/log.h"
#include "log/logturn.h"
#include "log/rotate.h"
#include "logthread/logserve.h"
#include "logthread/logthread.h"
#include "ring/clock.h"
#include "stream/stream.h"
#include "teardown/shutdown.h"

/* While a controller task serves the log, this thread has no work. */
static bool has_work(struct pxt_log *log)
{
	return READ_ONCE(log->finished) ||
	       (pxt_log_has_work(log) && pxt_log_turn(log, PXT_BY_THREAD));
}

/* Returns early on a signal. */
static void wait_for_work(struct pxt_log *log)
{
	if (pxt_log_flushes_itself(log) && !READ_ONCE(log->worker))
		wait_event_freezable_timeout(log->wait, has_work(log), HZ);
	else
		wait_event_freezable(log->wait, has_work(log) ||
				     (pxt_log_flushes_itself(log) && !READ_ONCE(log->worker)));
}

/* Called with the log taken. */
static void serve_once(struct pxt_log *log)
{
	if (pxt_log_serve(log) > 0) {
		pxt_log_account(log);
		pxt_stream_free_memory(log->stream);
		pxt_log_finish(log);
	}
	pxt_log_put(log);
}

/* Serve until the log is finished or the thread gives up. */
static void serve(struct pxt_log *log)
{
	u64 delay;

	while (!pxt_logfile_given_up(&log->writer.file)) {
		wait_for_work(log);
		if (READ_ONCE(log->finished))
			return;
		delay = pxt_log_begin_work(log);
		if (delay && !test_bit(PXT_LOG_END, &log->wanted))
			pxt_log_rest(log, delay);
		else if (!signal_pending(current) && pxt_log_take(log, PXT_BY_THREAD))
			serve_once(log);
		pxt_log_end_work(log);
	}
	pxt_stream_shutdown(log->stream);
	/* Writing the end may block: let the watch send another signal. */
	pxt_log_abandon(log);
}

/* Write the end, unless a controller task does. */
static void serve_end(struct pxt_log *log)
{
	while (!READ_ONCE(log->finished)) {
		wait_event_state(log->wait, pxt_log_turn(log, PXT_BY_THREAD),
				 (TASK_IDLE | TASK_FREEZABLE));
		if (pxt_log_take(log, PXT_BY_THREAD)) {
			/* Consume the signal: pxt_log_pauses() would always be true. */
			pxt_logfile_given_up(&log->writer.file);
			serve_once(log);
		}
	}
}

/* A thread with a budget yields the processor to others. */
#define BUDGET_NICE	10

static int log_thread(void *arg)
{
	struct pxt_log *log = arg;
	struct pxt_stream *stream = log->stream;
	/* Charge all allocations of this thread to the creator. */
	struct mem_cgroup *old = set_active_memcg(log->writer.file.memcg);

	if (pxt_user_work_counts(&log->work))
		set_user_nice(current, BUDGET_NICE);
	allow_signal(SIGKILL);
	allow_signal(SIGTERM);
	/*
	 * Let a thread that writes to a disk freeze, so that it does not write while the
	 * hibernation image is created. The threads of other logs may wait for user space, which is
	 * frozen first: during such a wait, they could not freeze.
	 */
	if (log->writer.file.disk)
		set_freezable();
	log->begin_error = pxt_logwriter_begin(&log->writer, &stream->attr,
					       stream->pool.subbuf_size, stream->pool.nr_cpus,
					       log->pid);
	pxt_log_end_work(log);
	complete_all(&log->begun);
	if (!log->begin_error) {
		pxt_log_put(log);
		serve(log);
	}
	/*
	 * The task that sets this bit, in CREATE or at the end of the stream, may be frozen. So
	 * this wait must be freezable as well.
	 */
	wait_event_state(log->wait, test_bit(PXT_LOG_END, &log->wanted),
			 (TASK_IDLE | TASK_FREEZABLE));
	if (log->begin_error) {
		pxt_stream_free_memory(stream);
		pxt_log_finish(log);
	} else {
		serve_end(log);
	}
	set_active_memcg(old);
	/* Closing a socket may linger, so keep the watch running. */
	pxt_log_rotated(log, -ESHUTDOWN);
	pxt_logwriter_destroy(&log->writer);
	pxt_log_end_watch(log);
	pxt_log_account(log);
	/* Pairs with the acquire in pxt_log_ended(). */
	smp_store_release(&log->ended, true);
	wake_up_all(&log->done);
	pxt_stream_put(stream);
	module_put_and_kthread_exit(0);
}

/* Describe the host as the calling controller sees it. */
static void fill_host(struct posixtrace_log_host *host, const u8 *boot_id)
{
	memcpy(host->boot_id, boot_id, sizeof(host->boot_id));
	host->realtime_offset = ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_REAL));
	host->boottime_offset = ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT));
	host->counter = pxt_clock_counter();
	host->resolution = pxt_clock_resolution();
	/* uts_sem is not exported, so a name read during a change may mix old and new. */
	strscpy(host->node, utsname()->nodename, sizeof(host->node));
	strscpy(host->release, utsname()->release, sizeof(host->release));
	strscpy(host->machine, utsname()->machine, sizeof(host->machine));
}

/* How long CREATE waits until the user's kernel threads are within their budget. */
#define CREATE_WAIT	(10ULL * NSEC_PER_SEC)

/* Processor time that CREATE charges in advance, more than a header usually takes, in ns. */
#define CREATE_WORK	(NSEC_PER_MSEC / 2)

/*
 * Writing the header and the end of a log ignores the budget. Therefore a log can only be created
 * when the time for the earlier ones is paid back: otherwise a user could evade the budget by
 * creating and closing streams. The charge in advance makes parallel callers wait one after
 * another, and the threads of existing logs wait behind them. The log thread refunds the rest.
 */
static int wait_for_budget(struct pxt_log *log)
{
	u64 delay;
	long left;

	if (!pxt_user_work_counts(&log->work))
		return 0;
	delay = pxt_user_work(&log->work, CREATE_WORK);
	if (delay <= CREATE_WAIT) {
		log->ahead = CREATE_WORK;
		left = nsecs_to_jiffies(delay);
		while (left && !signal_pending(current)) {
			set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
			left = schedule_timeout(left);
		}
		if (!left)
			return 0;
		log->ahead = 0;
	}
	pxt_user_work_back(&log->work, CREATE_WORK);
	return delay <= CREATE_WAIT ? -ERESTARTSYS : -EAGAIN;
}

/**
 * pxt_log_begin() - start the thread, which writes the header of the log
 * @log: new
 * @pid: pid of the traced process
 * @boot_id: from the controller, for posixtrace_log_host.boot_id
 *
 * The caller does not write the header itself, because a writer to a pipe without a reader gets
 * SIGPIPE.
 * Context: may sleep; no lock is held. Can be killed and frozen.
 *
 * Return: 0; -ERESTARTSYS on a signal before the user's threads were within budget, and -EAGAIN if
 * that would take longer than 10 s; -EINTR on a fatal signal, or on any signal before the reader of
 * a pipe made room; other negative errno. On error the caller must call pxt_stream_abort().
 */
int pxt_log_begin(struct pxt_log *log, pid_t pid, const u8 *boot_id)
{
	int state = log->writer.file.regular ? TASK_KILLABLE : TASK_INTERRUPTIBLE;
	struct task_struct *thread;
	int err;

	err = wait_for_budget(log);
	if (err)
		return err;
	log->pid = pid;
	fill_host(&log->writer.host, boot_id);
	pxt_logclocks_begin(&log->writer.clocks);
	thread = kthread_create(log_thread, log, "posixtrace/%u", log->stream->index);
	if (IS_ERR(thread)) {
		pxt_user_work_back(&log->work, log->ahead);
		log->ahead = 0;
		return PTR_ERR(thread);
	}
	kref_get(&log->stream->kref);
	/* The caller's file still holds the module here. */
	__module_get(THIS_MODULE);
	/* Keep the task: it may get signals until the log is freed. */
	log->thread = get_task_struct(thread);
	wake_up_process(thread);
	err = wait_for_completion_state(&log->begun, state | TASK_FREEZABLE);
	return err ? -EINTR : log->begin_error;
}
