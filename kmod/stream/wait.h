/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WAIT_H
#define PXT_WAIT_H

#include <linux/poll.h>

#include "stream/stream.h"

/* Ask writers to wake those who wait, or not. With the lock of the wait queue. */
static inline void pxt_wait_ring(struct pxt_stream *stream, bool need_wakeup)
{
	WRITE_ONCE(stream->need_wakeup, need_wakeup);
	WRITE_ONCE(stream->pool.wakeup->need_wakeup, need_wakeup);
}

/*
 * Nobody waits any more: writers need not tell. With the lock of the wait queue.
 * Those who come later set need_wakeup after they have joined the queue, or look at
 * it again.
 */
static inline void pxt_wait_disarm(struct pxt_stream *stream)
{
	/* Seen dead later, the memory is there until that lock was taken once more. */
	if (list_empty(&stream->wait.head) && !READ_ONCE(stream->dead))
		pxt_wait_ring(stream, false);
}

void pxt_wait_init(struct pxt_stream *stream);
void pxt_wait_end(struct pxt_stream *stream);
void pxt_wait_look(struct pxt_stream *stream);
int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg);
__poll_t pxt_wait_poll(struct pxt_stream *stream, struct file *file, poll_table *table);

#endif /* PXT_WAIT_H */
