// SPDX-License-Identifier: GPL-2.0
/*
 * The thread of a log: it writes the beginning, then what is wanted of it, then the end.
 * What others want of it, and how it is made to end, is in stream/log.c; what a flush does
 * is in flush.c.
 */
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "logthread.h"
#include "shutdown.h"
#include "stream/commands.h"
#include "stream/log.h"
#include "stream/stream.h"

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

/* Ends early when a signal comes. */
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
		else if (pxt_log_flushes_itself(log) && pxt_flush_pending(log))
			flush(log, NULL);
	} while (!(wanted & BIT(PXT_LOG_END)));
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
	pxt_log_end_watch(log);
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
