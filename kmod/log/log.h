/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_LOG_H
#define PXT_LOG_H

#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "log/logblock.h"
#include "stream/stream.h"
#include "stream/sysevent.h"
#include "target/files.h"

/**
 * enum pxt_log_phase - progress of a flush
 * @PXT_LOG_NO_FLUSH: no flush is in progress
 * @PXT_LOG_LAST_EPOCH: the flush writes the rest of the epoch that the last flush began
 * @PXT_LOG_EVENTS: the flush has begun an epoch, and writes its events
 * @PXT_LOG_STATUS: the events are written, or failed; STOP (if the log is full) and the status
 *	(LOOP) are still to be written
 */
enum pxt_log_phase {
	PXT_LOG_NO_FLUSH,
	PXT_LOG_LAST_EPOCH,
	PXT_LOG_EVENTS,
	PXT_LOG_STATUS,
};

/**
 * struct pxt_taken - a sub-buffer that is being written to the log
 * @subbuf: from pxt_reclaim_take()
 * @gap: from pxt_reclaim_take()
 * @lost: events the stream has lost before it
 */
struct pxt_taken {
	struct pxt_subbuf *subbuf;
	struct posixtrace_log_block gap;
	u64 lost;
};

/**
 * struct pxt_log - the log of a stream
 *
 * One task at a time serves it: flushes, clears, or writes the end. See enum pxt_logfile_server and
 * pxt_log_take().
 */
struct pxt_log {
	/** @stream: the stream; lives as long */
	struct pxt_stream *stream;
	/** @pid: process that the stream was created for; constant */
	pid_t pid;
	/**
	 * @thread: the log thread, which holds a reference to the stream; NULL until it is started,
	 * then a reference to the task
	 */
	struct task_struct *thread;
	/** @work: account of the thread's processor time; used by the thread */
	struct pxt_user_work work;
	/** @ran: the thread's processor time already in @work, ns; used by the thread */
	u64 ran;
	/** @ahead: unused time charged to @work in advance, ns; used by CREATE, then the thread */
	u64 ahead;
	/** @wait: the thread waits here for @wanted */
	wait_queue_head_t wait;
	/** @worker_wait: a thread of the controller waits here for @wanted */
	wait_queue_head_t worker_wait;
	/** @done: others wait here for the serving task and for the end of the thread */
	wait_queue_head_t done;

	/* Used by the serving task; @writer by CREATE before that: */
	/** @writer: writes the contents */
	struct pxt_logwriter writer;
	/**
	 * @seen: time of the last system event, as of the last time that all events were written
	 */
	u64 seen;
	/** @half_cleared: CLEAR was interrupted: the stream is cleared, but not the log */
	bool half_cleared;
	/** @states_due: the states of threads must be written */
	bool states_due;
	/** @states_next: first thread id whose state is still to be written; negative: none */
	pid_t states_next;
	/** @files_next: first descriptor whose row is still to be written */
	struct pxt_files_cursor files_next;
	/** @files_written: rows written since they were due */
	u32 files_written;
	/** @unstopped: the log is full, but STOP could not be written yet */
	bool unstopped;
	/** @taken: sub-buffers that are being written */
	struct pxt_taken taken[PXT_LOG_BATCH];
	/** @phase: progress of the current or interrupted flush; read by others */
	enum pxt_log_phase phase;
	/** @flush_caller: caller of that flush */
	struct pxt_caller flush_caller;
	/** @flush_self: that flush has no caller */
	bool flush_self;
	/** @flush_last: time of the last system event that the flush writes */
	u64 flush_last;
	/** @flush_result: negative errno of writing its events, or 0 */
	int flush_result;
	/** @end_error: first error of writing the end, a negative errno or 0 */
	int end_error;

	/* Written by the log thread, read by other tasks: */
	/** @begin_error: negative errno of writing the header, or 0; set before @begun */
	int begin_error;
	/** @begun: the thread has tried to write the header */
	struct completion begun;
	/**
	 * @ended: the log thread is done, the file is closed and the stream's memory freed;
	 * written with release, read by waiters in @done with acquire
	 */
	bool ended;

	/** @watch: ends the thread if it makes no progress after the controller is gone */
	struct delayed_work watch;
	/** @due: when @watch runs next, in jiffies; guarded by @lock */
	unsigned long due;
	/** @progress: bytes written when @watch last ran; used by @watch */
	u64 progress;
	/**
	 * @owner_ended: when the end of the controller shut the stream down, in jiffies; used by
	 * tasks of the controller to compute the remaining wait, see task/end.c
	 */
	unsigned long owner_ended;

	/** @end_closes: pxt_log_begin_close() was called for the work that ends the stream */
	bool end_closes;

	/** @lock: guards the next fields */
	spinlock_t lock;
	/** @served: a task serves the log */
	bool served;
	/** @worker: the thread of the controller that is in WRITE_LOG, or NULL; read under RCU */
	struct task_struct *worker;
	/**
	 * @closers: number of controller tasks that will write the end; also read without the lock
	 */
	u32 closers;
	/** @resting: the thread has used up its processor time: only the end wakes it */
	bool resting;
	/** @finished: the end is written and no work is left; also read without the lock */
	bool finished;
	/** @watched: @watch was started */
	bool watched;
	/** @over: the thread is ending: do not queue @watch */
	bool over;
	/** @wanted: bits PXT_LOG_*; also read without the lock */
	unsigned long wanted;
	/** @rotation: a ROTATE in progress, or NULL; constant for the serving task */
	struct pxt_rotation *rotation;
	/** @clock_error: the last error of CLOCK_REALTIME that the controller has noted */
	struct pxt_clock_error clock_error;
	/** @clock_noted: @clock_error is new */
	bool clock_noted;
	/** @clear_wanted: number of the last CLEAR requested */
	u64 clear_wanted;
	/**
	 * @clear_done: number of the last completed CLEAR; written with release, read with acquire
	 */
	u64 clear_done;
	/** @clear_error: negative errno of that CLEAR, or 0; also read without the lock */
	int clear_error;
	/** @caller: caller of the requested FLUSH */
	struct pxt_caller caller;
	/** @flushing: a flush is requested or in progress */
	bool flushing;
	/** @full: UNTIL_FULL: no more events fit; read by the serving task without the lock */
	bool full;
	/** @overwritten: LOOP: user events that were overwritten so far */
	u64 overwritten;
	/** @overwritten_seen: @overwritten at the last GET_STATUS */
	u64 overwritten_seen;
	/** @flush_error: the first error since the last GET_STATUS, as a positive number */
	int flush_error;
	/** @error: negative errno of the last write, or 0; also read without the lock */
	int error;
	/** @dropped: user events that did not reach the log */
	u64 dropped;
	/** @refuses: the log is full or the last write failed, so the stream loses events */
	bool refuses;
	/** @lost: lost events of the stream when last counted */
	u64 lost;
	/** @overrun: events were lost since the last GET_STATUS while @refuses was set */
	bool overrun;
};

#define PXT_LOG_FLUSH	0	/* FLUSH was called */
#define PXT_LOG_USED	1	/* half of the pool is used */
#define PXT_LOG_CLEAR	2
#define PXT_LOG_END	3
#define PXT_LOG_STATES	4	/* recording has started: write the states of threads */
#define PXT_LOG_ROTATE	5	/* continue in another file */
#define PXT_LOG_MORE_STATES	6	/* continue to write the states of threads */

int pxt_log_new(struct pxt_stream *stream, int fd);
void pxt_log_free(struct pxt_log *log);

int pxt_log_flush(struct pxt_stream *stream, const struct pxt_caller *caller);
int pxt_log_clear(struct pxt_stream *stream);
int pxt_log_note_clock_error(struct pxt_stream *stream, u64 ns);
bool pxt_log_take_clock_error(struct pxt_log *log, struct pxt_clock_error *error);
void pxt_log_started(struct pxt_log *log);
void pxt_log_used(struct pxt_log *log);
void pxt_log_stream_full(struct pxt_log *log);
void pxt_log_end(struct pxt_log *log);
bool pxt_log_wait_turn(struct pxt_log *log);
int pxt_log_wait(struct pxt_log *log);
void pxt_log_abandon(struct pxt_log *log);
void pxt_log_end_watch(struct pxt_log *log);
void pxt_log_give_up(struct pxt_log *log);
void pxt_log_status(struct pxt_log *log, struct posixtrace_status *status);
void pxt_log_unreported(struct pxt_log *log, const struct posixtrace_status *status);
void pxt_log_note_lost(struct pxt_log *log, bool refuses);

static inline bool pxt_log_flushes_itself(const struct pxt_log *log)
{
	return log->stream->attr.stream_policy == POSIXTRACE_POLICY_FLUSH;
}

/* Write the states of all threads with the next metadata. Called by the serving task. */
static inline void pxt_log_make_states_due(struct pxt_log *log)
{
	log->states_due = true;
	log->states_next = 0;
	log->files_next = (struct pxt_files_cursor){ 0 };
	log->files_written = 0;
}

/* Is a request or an interrupted flush waiting for the serving task? */
static inline bool pxt_log_has_work(const struct pxt_log *log)
{
	return READ_ONCE(log->wanted) || READ_ONCE(log->phase);
}

/* Has the log thread finished with the controller's file and the stream's memory? */
static inline bool pxt_log_ended(const struct pxt_log *log)
{
	/* Pairs with the release in log_thread(): all stores of the thread are visible. */
	return smp_load_acquire(&log->ended);
}

#endif /* PXT_LOG_H */
