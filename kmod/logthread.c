// SPDX-License-Identifier: GPL-2.0
/*
 * The thread of a log: it writes the beginning, serves requests, and writes the end.
 * Requests to it are in stream/log.c, flushes in flush.c.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/wait.h>

#include "logthread.h"
#include "shutdown.h"
#include "ring/clock.h"
#include "stream/commands.h"
#include "stream/log.h"
#include "stream/stream.h"

/* Takes the requests over from the log. */
static unsigned long take_wanted(struct pxt_log *log, struct pxt_caller *caller, u64 *clear)
{
	unsigned long wanted;

	spin_lock(&log->lock);
	wanted = log->wanted;
	/* PXT_LOG_END stays set: no request comes after it. */
	WRITE_ONCE(log->wanted, wanted & BIT(PXT_LOG_END));
	*caller = log->caller;
	*clear = log->clear_wanted;
	spin_unlock(&log->lock);
	return wanted;
}

/* Returns early when a signal comes. */
static void wait_for_work(struct pxt_log *log)
{
	if (pxt_log_flushes_itself(log))
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
	/* FLUSH may have been called again meanwhile. */
	log->flushing = test_bit(PXT_LOG_FLUSH, &log->wanted);
	spin_unlock(&log->lock);
}

/* The stream was cleared. If the log cannot begin anew yet, the next write begins it. */
static int clear_log(struct pxt_log *log)
{
	int err = pxt_logwriter_clear(&log->writer, log->stream->pool.gap_logged);

	log->unstopped = false;
	spin_lock(&log->lock);
	log->full = false;
	log->overwritten = 0;
	log->overwritten_seen = 0;
	log->dropped = 0;
	log->refuses = false;
	log->overrun = false;
	WRITE_ONCE(log->error, err);
	spin_unlock(&log->lock);
	return err;
}

/* Serves all CLEARs up to @number. */
static void clear(struct pxt_log *log, u64 number)
{
	int err = pxt_clear_logged(log->stream);

	if (!err)
		err = clear_log(log);
	spin_lock(&log->lock);
	WRITE_ONCE(log->clear_error, err);
	/* Pairs with the acquire in pxt_log_clear(): clear_error is set. */
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
			/* Writing the end may have to wait: let the watch send another signal. */
			pxt_log_abandon(log);
			break;
		}
		wanted = take_wanted(log, &caller, &number);
		if (wanted & BIT(PXT_LOG_CLEAR))
			clear(log, number);
		if (wanted & BIT(PXT_LOG_FLUSH))
			flush(log, &caller);
		else if (pxt_log_flushes_itself(log) && pxt_flush_pending(log))
			flush(log, NULL);
	} while (!(wanted & BIT(PXT_LOG_END)));
}

static int log_thread(void *arg)
{
	struct pxt_log *log = arg;
	struct pxt_stream *stream = log->stream;
	/* Charge all allocations of this thread to the creator. */
	struct mem_cgroup *old = set_active_memcg(log->writer.file.memcg);

	allow_signal(SIGKILL);
	allow_signal(SIGTERM);
	/*
	 * Do not write to a disk while the hibernation image is made. All other logs may wait
	 * for user space, which is frozen first: this thread could not freeze while it waits.
	 */
	if (log->writer.file.disk)
		set_freezable();
	log->begin_error = pxt_logwriter_begin(&log->writer, &stream->attr,
					       stream->pool.subbuf_size, stream->pool.nr_cpus,
					       log->pid);
	complete_all(&log->begun);
	if (!log->begin_error)
		serve(log);
	/* CREATE, or the end of the stream, sets this bit as its next step, but may be frozen. */
	wait_event_state(log->wait, test_bit(PXT_LOG_END, &log->wanted),
			 (TASK_IDLE | TASK_FREEZABLE));
	if (!log->begin_error)
		pxt_flush_last(log);

	pxt_stream_free_memory(stream);
	set_active_memcg(old);
	/* Closing a socket may linger, so the watch has to go on. */
	pxt_logwriter_destroy(&log->writer);
	pxt_log_end_watch(log);
	/* Pairs with the acquire in pxt_log_ended(). */
	smp_store_release(&log->ended, true);
	wake_up_all(&log->done);
	pxt_stream_put(stream);
	module_put_and_kthread_exit(0);
}

/* As the calling controller sees it. */
static void fill_host(struct posixtrace_log_host *host, const u8 *boot_id)
{
	memcpy(host->boot_id, boot_id, sizeof(host->boot_id));
	host->realtime_offset = ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_REAL));
	host->boottime_offset = ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT));
	host->counter = pxt_clock_counter();
	host->resolution = pxt_clock_resolution();
	/* Its lock is not exported: a name that is being changed may be a mix of both. */
	strscpy(host->node, utsname()->nodename, sizeof(host->node));
	strscpy(host->release, utsname()->release, sizeof(host->release));
	strscpy(host->machine, utsname()->machine, sizeof(host->machine));
}

/**
 * pxt_log_begin() - start the thread, which writes the beginning of the log
 * @log: new
 * @pid: of the traced process
 * @boot_id: what the controller says about that, for posixtrace_log_host.boot_id
 *
 * The thread writes it, as a writer to a pipe without a reader gets SIGPIPE.
 * Context: may sleep; no lock is held. Can be killed and frozen.
 *
 * Return: 0; -EINTR if a signal came before the reader of a pipe made room, or a fatal
 * one; other negative errno. On error the caller has to call pxt_stream_abort().
 */
int pxt_log_begin(struct pxt_log *log, pid_t pid, const u8 *boot_id)
{
	int state = log->writer.file.regular ? TASK_KILLABLE : TASK_INTERRUPTIBLE;
	struct task_struct *thread;
	int err;

	log->pid = pid;
	fill_host(&log->writer.host, boot_id);
	thread = kthread_create(log_thread, log, "posixtrace/%u", log->stream->index);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kref_get(&log->stream->kref);
	/* The caller's file holds the module until then. */
	__module_get(THIS_MODULE);
	/* Keep the task: it may get signals until the log is freed. */
	log->thread = get_task_struct(thread);
	wake_up_process(thread);
	err = wait_for_completion_state(&log->begun, state | TASK_FREEZABLE);
	return err ? -EINTR : log->begin_error;
}
