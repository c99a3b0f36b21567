/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WAIT_H
#define PXT_WAIT_H

#include <linux/poll.h>

#include "stream.h"

/*
 * Nobody waits any more: writers need not tell. With the lock of the wait queue.
 * Those who come later set the bit after they have joined the queue, or look at
 * it again.
 */
static inline void pxt_wait_disarm(struct pxt_stream *stream)
{
	if (list_empty(&stream->wait.head) && !stream->dead)
		pxt_target_set_waiting(stream->target, stream->slot, false);
}

int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg);
__poll_t pxt_wait_poll(struct pxt_stream *stream, struct file *file, poll_table *table);

#endif /* PXT_WAIT_H */
