/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WAIT_H
#define PXT_WAIT_H

#include <linux/poll.h>

#include "stream/stream.h"

void pxt_wait_init(struct pxt_stream *stream);
void pxt_wait_end(struct pxt_stream *stream);
int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg);
__poll_t pxt_wait_poll(struct pxt_stream *stream, struct file *file, poll_table *table);

#endif /* PXT_WAIT_H */
