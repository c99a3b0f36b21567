/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the JSON exporters.
 */
#ifndef POSIXTRACE_EXPORT_JSON_H
#define POSIXTRACE_EXPORT_JSON_H

#include "analyze/calls.h"
#include "analyze/spans.h"
#include "export/export.h"

/**
 * export_json_event() - append an event as members of an object
 * @to: where to append
 * @event: the event; for the begin of a pair, with the part of its data that was kept
 * @data_len: number of bytes of data that the event originally had
 * @html: @to becomes part of an HTML page
 *
 * Appends "fields" if the description of the type matches, otherwise any data as "text" or "bytes".
 * Also appends the address, and marks incomplete data. Does not append braces.
 */
void export_json_event(struct buffer *to, const struct event *event, size_t data_len, bool html);

/**
 * export_json_interval() - append the properties of a thread state as members of an object
 * @to: where to append
 * @interval: the interval
 * @html: @to becomes part of an HTML page
 *
 * For a blocked thread, "call" is the system call, "letter" is the state letter of ps(1), and "io"
 * means that the thread waits for a block device. "by" is the kind of waker. "waker" is the process
 * and thread of the waker, if waker_is_thread(). "preempted" means that the thread was preempted,
 * not woken. "open" means that the state lasted beyond the last event.
 */
void export_json_interval(struct buffer *to, const struct interval *interval, bool html);

/* export_json_call() - append the members of a system call, except its name and times */
void export_json_call(struct buffer *to, const struct call *call);

/* export_json_irq() - append the members of an interrupt, except its name and times */
void export_json_irq(struct buffer *to, const struct irq *irq, bool html);

/* export_json_lost() - append the member "lost" unless @lost is 0 */
void export_json_lost(struct buffer *to, uint64_t lost);

#endif /* POSIXTRACE_EXPORT_JSON_H */
