/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of events and of the values of counters.
 */
#ifndef POSIXTRACE_TABLE_EVENTS_H
#define POSIXTRACE_TABLE_EVENTS_H

#include "export/table.h"
#include "export/table_threads.h"

/**
 * struct table_texts - texts of a row; initially all zero; the caller frees the buffers
 * @fields: the fields of an event
 * @data: data of an event as hexadecimal digits
 */
struct table_texts {
	struct buffer fields;
	struct buffer data;
};

/**
 * table_events_put() - write an event
 * @table: the table
 * @threads: the threads
 * @event: the event
 * @utid: number of its thread, or 0
 * @texts: memory for texts
 *
 * Return: 0 or a negative error number.
 */
int table_events_put(struct table *table, const struct table_threads *threads,
		     const struct event *event, uint32_t utid, struct table_texts *texts);

/* table_counters_put() - write an event if it has a counter value; see table_events_put() */
int table_counters_put(struct table *table, const struct table_threads *threads,
		       const struct event *event, uint32_t utid);

#endif /* POSIXTRACE_TABLE_EVENTS_H */
