/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_WAIT_H
#define PXT_WAIT_H

#include <linux/poll.h>

struct posixtrace_defer;
struct posixtrace_wait;
struct pxt_stream;

void pxt_wait_init(struct pxt_stream *stream);
void pxt_wait_end(struct pxt_stream *stream);
int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg);
int pxt_wait_defer(struct pxt_stream *stream, struct posixtrace_defer *arg);
__poll_t pxt_wait_poll(struct pxt_stream *stream, struct file *file, poll_table *table);

#endif /* PXT_WAIT_H */
