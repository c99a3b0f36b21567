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

/**
 * struct pxt_taken - a sub-buffer that is being written
 * @subbuf: from pxt_reclaim_take()
 * @gap: likewise
 */
struct pxt_taken {
	struct pxt_subbuf *subbuf;
	struct posixtrace_log_block gap;
};

/**
 * struct pxt_log - the log of a stream
 * @stream: whose it is; lives as long
 * @writer: used by who creates the stream, then by the thread
 * @thread: writes; has a reference to the stream. NULL before it was started; else a
 *	reference to the task
 * @pid: of the process that is traced first; constant
 * @seen: time of the last system event when there was nothing left to write; used by
 *	the thread
 * @taken: used by the thread
 * @begin_error: negative errno of writing the header; set before @begun
 * @begun: that was tried
 * @ended: the thread is done, the file is closed, and the stream's memory is freed;
 *	written by the thread, with release, read by those who wait in @done, with acquire
 * @watch: ends the thread if nothing moves, once the controller is gone
 * @progress: bytes that were written when @watch looked; used by @watch
 * @lock: guards the rest
 * @watched: @watch was begun
 * @over: the thread ends: @watch may not be queued any more
 * @wait: the thread waits for @wanted
 * @done: others wait for the thread
 * @wanted: bits PXT_LOG_*
 * @clear_wanted: number of the last CLEAR that was asked for
 * @clear_done: of the last one that is done
 * @clear_error: negative errno of that, or 0
 * @caller: who wanted the flush
 * @flushing: a flush was asked for or is under way
 * @full: nothing fits any more
 * @overwritten: LOOP: user events that were, so far
 * @overwritten_seen: when the status was asked for
 * @flush_error: first one since then, as a positive number
 * @error: of the last write; 0 if that succeeded; also read without the lock
 * @dropped: user events that did not get into the log
 * @refuses: it is full, or the last write failed: the stream loses events for it
 * @lost: events that the stream had lost when that was looked at last
 * @overrun: some of them since the status was asked for, while it refused them
 */
struct pxt_log {
	struct pxt_stream *stream;
	struct pxt_logwriter writer;
	struct task_struct *thread;
	pid_t pid;
	u64 seen;
	struct pxt_taken taken[PXT_LOG_BATCH];
	int begin_error;
	struct completion begun;
	bool ended;
	struct delayed_work watch;
	u64 progress;

	spinlock_t lock;	/* guards all that follows */
	bool watched;
	bool over;
	wait_queue_head_t wait;
	wait_queue_head_t done;
	unsigned long wanted;
	u64 clear_wanted;
	u64 clear_done;
	int clear_error;
	struct pxt_caller caller;
	bool flushing;
	bool full;
	u64 overwritten;
	u64 overwritten_seen;
	int flush_error;
	int error;
	u64 dropped;
	bool refuses;
	u64 lost;
	bool overrun;
};

#define PXT_LOG_FLUSH	0	/* somebody asked for it */
#define PXT_LOG_USED	1	/* half of the pool is used */
#define PXT_LOG_CLEAR	2
#define PXT_LOG_END	3

int pxt_log_new(struct pxt_stream *stream, int fd);
void pxt_log_free(struct pxt_log *log);

int pxt_log_flush(struct pxt_stream *stream, const struct posixtrace_origin *origin);
int pxt_log_clear(struct pxt_stream *stream);
void pxt_log_used(struct pxt_log *log);
void pxt_log_stream_full(struct pxt_log *log);
void pxt_log_end(struct pxt_log *log);
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

/* Does nothing refer to the controller, its file or its memory any more? */
static inline bool pxt_log_ended(const struct pxt_log *log)
{
	/* Pairs with the release in log_thread(): all that the thread did is done. */
	return smp_load_acquire(&log->ended);
}

#endif /* PXT_LOG_H */
