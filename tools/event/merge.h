/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merges the events of several logs in order of time. Events with the same time have the order of
 * the logs. Events of the same log keep their order. Types with the same name and description
 * become one type. All other types remain distinct.
 *
 * The events of one host have the same clock, so their order is known. Times of different hosts
 * have errors. If the errors overlap, the order of two events is unknown: the second one in this
 * order has event.unordered. An event without it is later than all events of other hosts before it.
 */
#ifndef POSIXTRACE_MERGE_H
#define POSIXTRACE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "event/hosts.h"
#include "event/reader.h"

struct merge;

/* What one of the logs has lost so far. */
struct merge_losses {
	uint64_t damaged;	/* number of damaged places */
	uint64_t lost;		/* number of events that are not in the log */
};

/**
 * merge_new() - begin to merge logs
 * @readers: the logs, at their first events; the caller keeps them open
 * @count: number of logs
 * @hosts: their hosts; must remain valid
 * @merge: where to store the result
 *
 * Return: 0 or a negative error number; -ECANCELED after printing why their types do not fit.
 */
int merge_new(struct reader *const *readers, size_t count, const struct hosts *hosts,
	      struct merge **merge);

/**
 * merge_next() - read the next event of all logs
 * @merge: the logs
 * @event: where to store it, as for reader_next(); also sets event.log and what depends on the
 *	host
 *
 * event.lost is the sum of all logs.
 *
 * Return: as for source_next().
 */
int merge_next(struct merge *merge, struct event *event);

/* merge_moved() - restart the merge, after each reader has moved to a different place in its log */
void merge_moved(struct merge *merge);

/* merge_losses() - get the losses of a log, up to its last event that was read */
const struct merge_losses *merge_losses(const struct merge *merge, size_t log);

/* merge_free() - free a merge; @merge may be NULL */
void merge_free(struct merge *merge);

#endif /* POSIXTRACE_MERGE_H */
