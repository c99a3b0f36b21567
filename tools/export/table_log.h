/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables about the whole log: its host, and what it has lost.
 */
#ifndef POSIXTRACE_TABLE_LOG_H
#define POSIXTRACE_TABLE_LOG_H

#include "export/export.h"
#include "export/table.h"

/**
 * struct table_losses - what was lost so far; initially all zero
 * @seen: an event has been read
 * @first: earliest time of an event
 * @last: latest one
 * @lost: number of lost events without a row
 * @damaged: places with damage that have a row
 * @gaps: places where events were lost that have a row
 *
 * An event that marks damage has no time of its own: the next event ends what is missing.
 */
struct table_losses {
	bool seen;
	uint64_t first;
	uint64_t last;
	uint64_t lost;
	uint64_t damaged;
	uint64_t gaps;
};

/**
 * table_losses_event() - note an event, and write what was lost before it, if anything
 * @table: the table, if it is wanted
 * @losses: what was lost so far
 * @export: the log
 * @event: the event that export_next() has returned
 *
 * Return: 0 or a negative error number.
 */
int table_losses_event(struct table *table, struct table_losses *losses,
		       const struct export *export, const struct event *event);

/* table_losses_end() - write what was lost after the last event, and what was overwritten */
int table_losses_end(struct table *table, struct table_losses *losses, const struct logend *end);

/* table_hosts_put() - write the host of the log; returns 0 or a negative error number */
int table_hosts_put(struct table *table, const struct table_losses *losses,
		    const struct export *export, const struct logend *end);

#endif /* POSIXTRACE_TABLE_LOG_H */
