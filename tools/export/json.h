/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the exporters to JSON share.
 */
#ifndef POSIXTRACE_EXPORT_JSON_H
#define POSIXTRACE_EXPORT_JSON_H

#include "analyze/calls.h"
#include "analyze/spans.h"
#include "export/export.h"

/**
 * export_json_event() - append an event as members of an object
 * @to: where to append
 * @event: the event; for a begin of a pair, with the part of its data that was kept
 * @data_len: number of bytes of data that the event had
 * @html: @to becomes part of an HTML page
 *
 * Appends the fields as "fields" if the type has a description that matches, otherwise the data, if
 * any, as "text" or "bytes". Adds the address and marks incomplete data. Adds no braces.
 */
void export_json_event(struct buffer *to, const struct event *event, size_t data_len, bool html);

/**
 * export_json_interval() - append what is known of a state as members of an object
 * @to: where to append
 * @interval: the interval
 * @html: @to becomes part of an HTML page
 *
 * Of a thread that waits, "call" is the system call, "letter" the state of ps(1), and "io" says
 * that it waits for a block device. "by" is the kind of its waker, and "waker" a process and a
 * thread. "preempted" is a runnable thread that did not wait before, "open" the last interval.
 */
void export_json_interval(struct buffer *to, const struct interval *interval, bool html);

/* export_json_call() - append a system call, except its name and times, as members of an object */
void export_json_call(struct buffer *to, const struct call *call);

/* export_json_irq() - append an interrupt, except its name and times, as members of an object */
void export_json_irq(struct buffer *to, const struct irq *irq, bool html);

/* export_json_lost() - append the member "lost", unless the number of lost events is 0 */
void export_json_lost(struct buffer *to, uint64_t lost);

#endif /* POSIXTRACE_EXPORT_JSON_H */
