/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables about the whole log: its host and its losses.
 */
#ifndef POSIXTRACE_TABLE_LOG_H
#define POSIXTRACE_TABLE_LOG_H

#include "export/export.h"
#include "export/table.h"

/* The events of a host. */
struct table_host {
	uint64_t first;		/* earliest time of an event */
	uint64_t last;		/* latest time of an event */
	uint64_t events;
};

/**
 * struct table_losses - losses up to the current event; initially all zero
 * @seen: an event has been read
 * @first: earliest time of an event
 * @last: latest time of an event
 * @lost: number of lost events for which no row was written yet
 * @damaged: number of damaged places for which a row was written
 * @gaps: number of places with lost events for which a row was written
 * @hosts: index: event.host; NULL before the first event
 *
 * An event that marks damage has no exact time, so the missing period ends with the next
 * event.
 */
struct table_losses {
	bool seen;
	uint64_t first;
	uint64_t last;
	uint64_t lost;
	uint64_t damaged;
	uint64_t gaps;
	struct table_host *hosts;
};

/**
 * table_losses_event() - note an event, and write the losses before it, if any
 * @table: the table, if it is wanted
 * @losses: what was lost so far
 * @export: the log
 * @event: the event that export_next() has returned
 *
 * Return: 0 or a negative error number.
 */
int table_losses_event(struct table *table, struct table_losses *losses,
		       const struct export *export, const struct event *event);

/* table_losses_end() - write the losses after the last event, and the overwritten events */
int table_losses_end(struct table *table, struct table_losses *losses, const struct logend *end);

/* table_hosts_put() - write the hosts of the logs; returns 0 or a negative error number */
int table_hosts_put(struct table *table, const struct table_losses *losses,
		    const struct export *export, const struct logend *end);

/* table_losses_free() - free what table_losses_event() has allocated */
void table_losses_free(struct table_losses *losses);

#endif /* POSIXTRACE_TABLE_LOG_H */
