/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Puts the events of several logs in order of time. Events with the same time come in the order of
 * the logs, and each log keeps its own order. Types with the same name and description become one
 * type; all others stay apart.
 */
#ifndef POSIXTRACE_MERGE_H
#define POSIXTRACE_MERGE_H

#include <stddef.h>
#include <stdint.h>

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
 * @merge: where to store the result
 *
 * Return: 0 or a negative error number; -ECANCELED after printing why their types do not fit.
 */
int merge_new(struct reader *const *readers, size_t count, struct merge **merge);

/**
 * merge_next() - read the next event of all logs
 * @merge: the logs
 * @event: where to store it, as reader_next(); its member log is set
 *
 * The number of lost events before it is the sum of all logs.
 *
 * Return: as source_next().
 */
int merge_next(struct merge *merge, struct event *event);

/* merge_moved() - begin again, after each reader went to another place in its log */
void merge_moved(struct merge *merge);

/* merge_losses() - get the losses of a log, of which events were read */
const struct merge_losses *merge_losses(const struct merge *merge, size_t log);

/* merge_free() - free a merge, or NULL */
void merge_free(struct merge *merge);

#endif /* POSIXTRACE_MERGE_H */
