/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tables of "posixtrace top" as lines of text, for the screen and for --batch. The first line
 * of a table has its headings.
 */
#ifndef POSIXTRACE_TOP_TEXT_H
#define POSIXTRACE_TOP_TEXT_H

#include <posixtrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/model.h"
#include "top/threads.h"
#include "util/buffer.h"

/**
 * struct top_head - contents of the first lines that are not in the model
 * @stats: counts from the kernel, including kernel events
 * @lost_before: number of lost events when the last interval began
 * @threads: number of threads in the table of threads
 * @sampled: the states of threads are sampled and shown in a table
 * @paused: the tables are not being updated
 * @ended: all processes have ended
 */
struct top_head {
	struct posixtrace_stats_info stats;
	uint64_t lost_before;
	size_t threads;
	bool sampled;
	bool paused;
	bool ended;
};

/* How to show tables. */
struct top_view {
	enum top_table table;
	int order;		/* enum top_order */
	enum top_thread_order thread_order;
	bool reverse;
	bool total_first;	/* the columns for the whole time come first */
	bool single;		/* show only the columns that come first */
};

/* top_text_head() - append two lines about the stream */
void top_text_head(struct buffer *to, const struct top_model *model, const struct top_head *head);

/* top_lost() - get the number of lost events that the kernel has counted */
uint64_t top_lost(const struct posixtrace_stats_info *stats);

/* top_text_rows() - append a table of at most @max rows; returns 0 or -ENOMEM */
int top_text_rows(struct buffer *to, const struct top_model *model, enum top_table table,
		  const struct top_view *view, size_t max);

/* top_text_threads() - append the table of threads; @source: the stream */
void top_text_threads(struct buffer *to, struct top_threads *threads, struct source *source,
		      const struct top_model *model, const struct top_view *view, size_t max);

/* top_text_order(), top_text_thread_order() - get the name of a column to sort by */
const char *top_text_order(enum top_order order);
const char *top_text_thread_order(enum top_thread_order order);

#endif /* POSIXTRACE_TOP_TEXT_H */
