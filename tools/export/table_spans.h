/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of periods of threads: scopes, states, waits and system calls.
 */
#ifndef POSIXTRACE_TABLE_SPANS_H
#define POSIXTRACE_TABLE_SPANS_H

#include "export/export.h"
#include "export/table_schemas.h"
#include "export/table_threads.h"

struct table_spans;

/**
 * table_spans_new() - begin to find the periods of a log
 * @export: the log
 * @tables: the tables, indexed by enum table_id; only those with a format are written
 * @threads: numbers of the threads
 * @spans: where to store it
 *
 * Return: 0 or a negative error number.
 */
int table_spans_new(struct export *export, struct table *tables, struct table_threads *threads,
		    struct table_spans **spans);

/* table_spans_event() - process the next event, of a thread; returns 0 or an error number */
int table_spans_event(struct table_spans *spans, const struct event *event, uint32_t utid);

/* table_spans_end() - write the rest after the last event; returns 0 or a negative error number */
int table_spans_end(struct table_spans *spans);

void table_spans_free(struct table_spans *spans);

#endif /* POSIXTRACE_TABLE_SPANS_H */
