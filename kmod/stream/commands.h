/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_COMMANDS_H
#define PXT_COMMANDS_H

#include <linux/poll.h>

#include "stream/stream.h"
#include "target/target.h"

/* clear.c */
int pxt_clear_logged(struct pxt_stream *stream);
int pxt_clear(struct pxt_stream *stream);

/* filter.c */
int pxt_filter_set(struct pxt_stream *stream, const struct posixtrace_filter *arg);
int pxt_filter_get(struct pxt_stream *stream, struct posixtrace_event_set *set);

/* record.c */
int pxt_record_event(struct pxt_target *target, const struct posixtrace_event *arg);
int pxt_record_next(struct pxt_target *target, const struct posixtrace_next *arg);
void pxt_record_wake(struct pxt_target *target, u32 mask);

/* wait.c */
void pxt_wait_init(struct pxt_stream *stream);
void pxt_wait_end(struct pxt_stream *stream);
int pxt_wait(struct pxt_stream *stream, const struct posixtrace_wait *arg);
int pxt_wait_defer(struct pxt_stream *stream, struct posixtrace_defer *arg);
__poll_t pxt_wait_poll(struct pxt_stream *stream, struct file *file, poll_table *table);

#endif /* PXT_COMMANDS_H */
