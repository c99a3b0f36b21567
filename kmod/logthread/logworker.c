// SPDX-License-Identifier: GPL-2.0
/*
 * WRITE_LOG: a thread of the controller serves the log of a stream.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>
#include <linux/wait.h>

#include "log/log.h"
#include "log/logturn.h"
#include "logthread/logserve.h"
#include "logthread/logworker.h"
#include "stream/stream.h"
#include "teardown/shutdown.h"

static void count_worker(struct pxt_stream *stream, void *arg)
{
	int *count = arg;

	if (stream->log && stream->owner == task_tgid(current) && READ_ONCE(stream->log->worker))
		++*count;
}

/*
 * Are all remaining threads of the calling process workers? A process ends with its last thread, so
 * workers must not keep it alive after the main thread and all others have ended.
 */
static bool is_alone(void)
{
	int workers = 0;

	if (!(READ_ONCE(current->group_leader->flags) & PF_EXITING))
		return false;
	pxt_stream_for_each(count_worker, &workers);
	return atomic_read(&current->signal->live) <= workers;
}

/* Called under RCU, which keeps the worker's task_struct. */
static void wake_worker(struct pxt_stream *stream, void *arg)
{
	struct task_struct *task = arg, *worker;

	if (!stream->log || stream->owner != task_tgid(task))
		return;
	worker = READ_ONCE(stream->log->worker);
	if (worker)
		wake_up_process(worker);
}

/**
 * pxt_log_thread_ends() - wake workers that may be the last threads of their process
 * @task: an exiting thread, no longer counted by its process
 *
 * Context: in a tracepoint; must not sleep.
 */
void pxt_log_thread_ends(struct task_struct *task)
{
	if (READ_ONCE(task->group_leader->flags) & PF_EXITING)
		pxt_stream_for_each(wake_worker, task);
}

static bool has_work(struct pxt_log *log)
{
	return READ_ONCE(log->finished) || is_alone() ||
	       (pxt_log_has_work(log) && pxt_log_turn(log, PXT_BY_WORKER));
}

/* Returns 0, or -ERESTARTSYS on a signal. */
static int wait_for_work(struct pxt_log *log)
{
	long time = pxt_log_flushes_itself(log) ? HZ : MAX_SCHEDULE_TIMEOUT;
	/*
	 * Not freezable, so that a freeze interrupts the wait: the kernel thread then serves the
	 * log.
	 */
	long left = wait_event_interruptible_timeout(log->worker_wait, has_work(log), time);

	return min(left, 0L);
}

static int work(struct pxt_log *log)
{
	int ret = 0;

	while (!READ_ONCE(log->finished)) {
		ret = wait_for_work(log);
		/* A task that does not return to user mode cannot be throttled. */
		if (ret || task_work_pending(current))
			return -ERESTARTSYS;
		if (is_alone())
			return -EDEADLK;
		if (!pxt_log_take(log, PXT_BY_WORKER))
			continue;
		ret = pxt_log_serve(log);
		if (ret > 0) {
			pxt_stream_free_memory(log->stream);
			pxt_log_finish(log);
		}
		pxt_log_put(log);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/**
 * pxt_log_work() - WRITE_LOG: serve the log of a stream
 * @stream: not locked
 *
 * Context: may sleep.
 *
 * Return: 0 when the log is complete; -EINVAL without a log; -EOPNOTSUPP if only the kernel thread
 * may write this file; -EBUSY if another thread is in WRITE_LOG; -ESHUTDOWN if the log was already
 * complete; -EDEADLK if only workers are left in the process; -EINTR or -ERESTARTNOHAND on a
 * signal, or if the kernel needs the thread.
 */
long pxt_log_work(struct pxt_stream *stream)
{
	struct pxt_log *log = stream->log;
	struct mem_cgroup *old;
	long ret;

	if (!log)
		return -EINVAL;
	if (!pxt_logfile_allows(&log->writer.file, PXT_BY_WORKER))
		return -EOPNOTSUPP;
	ret = pxt_log_enter(log);
	if (ret)
		return ret;
	old = set_active_memcg(log->writer.file.memcg);
	ret = work(log);
	set_active_memcg(old);
	pxt_log_leave(log);
	if (ret == -ERESTARTSYS)
		return signal_pending(current) ? -ERESTARTNOHAND : -EINTR;
	return ret;
}
