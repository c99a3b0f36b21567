/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts and measures the events of a stream for "posixtrace top": event types, scopes and threads,
 * in the last interval and in total. Does not depend on the stream or the terminal.
 *
 * To keep the cost of an event small, names are looked up only once per event type, and percentiles
 * are computed only when an interval ends.
 */
#ifndef POSIXTRACE_TOP_MODEL_H
#define POSIXTRACE_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/filter.h"
#include "event/source.h"

enum top_table {
	TOP_SCOPES,
	TOP_EVENTS,
	TOP_TABLES
};

/* Sort keys. All are figures of the last interval, except TOP_BY_TOTAL. */
enum top_order {
	TOP_BY_COUNT,
	TOP_BY_MEAN,
	TOP_BY_P50,
	TOP_BY_P99,
	TOP_BY_MAX,
	TOP_BY_TOTAL,		/* total count */
	TOP_BY_NAME,
	TOP_ORDERS
};

/* Figures of a period of time. Durations are in ns, or 0 if there are none. */
struct top_figures {
	uint64_t count;
	uint64_t mean;
	uint64_t p50;
	uint64_t p99;
	uint64_t max;
};

/**
 * struct top_row - an event type or scope
 * @name: its name; may contain any bytes
 * @interval: the last interval
 * @total: everything up to its end
 * @unmatched: scope: total number of begins and ends without a known duration, except open begins
 * @open: scope: number of begins whose end may still follow: their threads have not ended, and no
 *	event was lost since
 */
struct top_row {
	const char *name;
	struct top_figures interval;
	struct top_figures total;
	uint64_t unmatched;
	uint64_t open;
};

struct top_model;

/* top_model_new() - create an empty model; returns 0 or -ENOMEM */
int top_model_new(struct top_model **model);

/**
 * top_model_filter() - count only some events from now on, and restart all tables
 * @model: the model
 * @filter: the filter, which the model frees; NULL for all events
 *
 * A scope counts if its begin or its end passes the filter. A condition on a field is true if it is
 * true for one of the two events. Conditions on durations also work.
 *
 * Return: 0 or -ENOMEM.
 */
int top_model_filter(struct top_model *model, struct filter *filter);

/* top_model_event() - process the next event; returns 0 or a negative error number */
int top_model_event(struct top_model *model, const struct event *event);

/* top_model_tick() - end the interval, which took @ns; returns 0 or -ENOMEM */
int top_model_tick(struct top_model *model, uint64_t ns);

/* top_model_interval(), top_model_time() - get the ns of the last interval, or of all intervals */
uint64_t top_model_interval(const struct top_model *model);
uint64_t top_model_time(const struct top_model *model);

/*
 * top_model_events() - get the number of events in the last interval and in total, not counting
 * events of the POSIX standard such as posix_trace_start
 */
void top_model_events(const struct top_model *model, uint64_t *interval, uint64_t *total);

/**
 * top_model_rows() - get the rows of a table
 * @model: the model
 * @table: which table
 * @order: sort key; names are in alphabetical order, all other keys in descending order
 * @reverse: reverse the order
 * @count: where to store their number
 *
 * Return: an array to free, or NULL if out of memory. The rows change with the next event or tick.
 */
const struct top_row **top_model_rows(const struct top_model *model, enum top_table table,
				      enum top_order order, bool reverse, size_t *count);

/**
 * top_model_thread() - get how many events a thread recorded
 * @model: the model
 * @pid: its process
 * @tid: kernel thread id; if the ids were reused, the last thread counts
 * @total: where to store the number in total
 *
 * Call it before the first event of the next interval, which may forget threads.
 *
 * Return: the number in the last interval.
 */
uint64_t top_model_thread(struct top_model *model, pid_t pid, pid_t tid, uint64_t *total);

void top_model_free(struct top_model *model);

#endif /* POSIXTRACE_TOP_MODEL_H */
