/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PXT_FILTER_H
#define PXT_FILTER_H

struct posixtrace_event_set;
struct posixtrace_filter;
struct pxt_stream;

int pxt_filter_set(struct pxt_stream *stream, const struct posixtrace_filter *arg);
int pxt_filter_get(struct pxt_stream *stream, struct posixtrace_event_set *set);

#endif /* PXT_FILTER_H */
