// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of "posixtrace top" as text: see text.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/cells.h"
#include "top/text.h"
#include "util/escape.h"

#define NAME_WIDTH	28
#define NAME_WIDTH_MAX	63
#define THREAD_WIDTH	20
#define STATE_WIDTH	25
#define LABEL_SIZE	(POSIXTRACE_THREAD_NAME_SIZE + 16)

const char *top_text_order(enum top_order order)
{
	static const char *const names[TOP_ORDERS] = {
		[TOP_BY_COUNT] = "rate", [TOP_BY_MEAN] = "mean", [TOP_BY_P50] = "p50",
		[TOP_BY_P99] = "p99", [TOP_BY_MAX] = "max", [TOP_BY_TOTAL] = "total",
		[TOP_BY_NAME] = "name",
	};

	return names[order];
}

const char *top_text_thread_order(enum top_thread_order order)
{
	static const char *const names[TOP_THREAD_ORDERS] = {
		[TOP_THREADS_BY_EVENTS] = "events", [TOP_THREADS_BY_TIME] = "time",
		[TOP_THREADS_BY_ID] = "id",
	};

	return names[order];
}

/* ------------------------------------------------------------------ */
/* Cells								*/

/* Appends a name, which may contain any bytes, padded to the width of its column. */
static void put_name(struct buffer *to, const char *name, size_t column)
{
	struct buffer text = { };
	size_t width;

	escape_plain(&text, name, strlen(name));
	width = cells_text_width(&text);
	buffer_put(to, text.data, text.len);
	buffer_spaces(to, width < column ? column - width : 0);
	buffer_free(&text);
}

static void put_time(struct buffer *to, uint64_t ns, bool known)
{
	char text[CELLS_SIZE];

	buffer_printf(to, " %9s", known ? cells_time(text, ns) : "-");
}

static void put_count(struct buffer *to, uint64_t count)
{
	buffer_byte(to, ' ');
	buffer_decimal(to, count, 10);
}

static void put_rate(struct buffer *to, uint64_t count, uint64_t ns)
{
	char text[CELLS_SIZE];

	buffer_printf(to, " %11s", cells_rate(text, count, ns));
}

/* ------------------------------------------------------------------ */
/* The first lines							*/

uint64_t top_lost(const struct posixtrace_stats_info *stats)
{
	return stats->dropped + stats->overwritten + stats->skipped;
}

void top_text_head(struct buffer *to, const struct top_model *model, const struct top_head *head)
{
	const uint64_t lost = top_lost(&head->stats);
	char text[CELLS_SIZE];
	uint64_t now, total;

	top_model_events(model, &now, &total);
	buffer_printf(to, "posixtrace top  %s  processes %llu (kernel)",
		      cells_time(text, top_model_time(model)),
		      (unsigned long long)head->stats.processes);
	if (head->sampled)
		buffer_printf(to, "  threads %zu (sampled)", head->threads);
	buffer_printf(to, "  memory %llu K (kernel)", head->stats.memory >> 10);
	if (head->paused)
		buffer_text(to, "  PAUSED");
	if (head->ended)
		buffer_text(to, "  ALL PROCESSES HAVE ENDED");
	buffer_printf(to, "\nevents %s  total %llu  lost %llu (kernel)",
		      cells_rate(text, now, top_model_interval(model)),
		      (unsigned long long)total, (unsigned long long)lost);
	if (lost > head->lost_before)
		buffer_printf(to, ", %llu of them now: use a larger --size",
			      (unsigned long long)(lost - head->lost_before));
	if (head->stats.damaged)
		buffer_printf(to, "  damaged in %llu places (kernel)", head->stats.damaged);
	if (head->stats.untraced)
		buffer_printf(to, "  children not traced %llu (kernel)", head->stats.untraced);
	buffer_byte(to, '\n');
}

/* ------------------------------------------------------------------ */
/* Event types and scopes						*/

static void put_times(struct buffer *to, const struct top_figures *figures)
{
	const bool known = figures->count;

	put_time(to, figures->mean, known);
	put_time(to, figures->p50, known);
	put_time(to, figures->p99, known);
	put_time(to, figures->max, known);
}

static void head_times(struct buffer *to)
{
	buffer_text(to, "      MEAN       p50       p99       max");
}

/* Appends the figures of the interval or, if @total, of the whole time. */
static void put_figures(struct buffer *to, const struct top_model *model, enum top_table table,
			const struct top_row *row, bool total)
{
	const struct top_figures *figures = total ? &row->total : &row->interval;

	put_count(to, figures->count);
	put_rate(to, figures->count, total ? top_model_time(model) : top_model_interval(model));
	if (table == TOP_SCOPES)
		put_times(to, figures);
}

static void head_figures(struct buffer *to, enum top_table table, bool total)
{
	buffer_printf(to, " %10s %11s", total ? "TOTAL" : "NOW", "RATE");
	if (table == TOP_SCOPES)
		head_times(to);
}

static void put_row(struct buffer *to, const struct top_model *model, enum top_table table,
		    const struct top_view *view, const struct top_row *row, size_t column)
{
	put_name(to, row->name, column);
	put_figures(to, model, table, row, view->total_first);
	if (!view->single)
		put_figures(to, model, table, row, !view->total_first);
	if (table == TOP_SCOPES) {
		put_count(to, row->open);
		put_count(to, row->unmatched);
	}
	buffer_byte(to, '\n');
}

/*
 * Returns how many rows to show. If not all fit in @max lines, the last line says how many are left
 * out.
 */
static size_t limit(size_t count, size_t max)
{
	if (count <= max)
		return count;
	return max ? max - 1 : 0;
}

static void put_more(struct buffer *to, size_t count, size_t shown, const char *what)
{
	if (shown < count)
		buffer_printf(to, "and %zu more %s\n", count - shown, what);
}

int top_text_rows(struct buffer *to, const struct top_model *model, enum top_table table,
		  const struct top_view *view, size_t max)
{
	size_t count, shown, width, column = NAME_WIDTH;
	const struct top_row **rows = top_model_rows(model, table, view->order, view->reverse,
						     &count);

	if (!rows)
		return -ENOMEM;
	shown = limit(count, max);
	for (size_t i = 0; i < shown; i++) {
		width = cells_width(rows[i]->name);
		if (width > column)
			column = width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
	}
	put_name(to, table == TOP_SCOPES ? "FROM BEGIN TO END" : "EVENT", column);
	head_figures(to, table, view->total_first);
	if (!view->single)
		head_figures(to, table, !view->total_first);
	if (table == TOP_SCOPES)
		buffer_text(to, "       OPEN  UNMATCHED");
	buffer_byte(to, '\n');
	for (size_t i = 0; i < shown; i++)
		put_row(to, model, table, view, rows[i], column);
	put_more(to, count, shown, table == TOP_SCOPES ? "scopes" : "event types");
	free(rows);
	return to->failed ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------ */
/* Threads								*/

/*
 * Appends the state of a thread. A running thread has no place, because its next event will show
 * it.
 */
static void put_state(struct buffer *to, struct top_threads *threads,
		      const struct top_thread *thread, struct source *source)
{
	if (thread->interval.state == STATE_RUNNING) {
		buffer_printf(to, "running on %u", thread->interval.cpu);
		return;
	}
	put_name(to, interval_name(&thread->interval), STATE_WIDTH);
	top_threads_place(threads, thread, source, to);
}

static void label_thread(const struct top_thread *thread, char label[LABEL_SIZE])
{
	snprintf(label, LABEL_SIZE, "%.*s-%d", POSIXTRACE_THREAD_NAME_SIZE, thread->state->name,
		 (int)thread->state->tid);
}

static void put_thread(struct buffer *to, struct top_threads *threads,
		       const struct top_thread *thread, struct source *source,
		       const struct top_model *model, size_t column)
{
	const struct posixtrace_thread_state *state = thread->state;
	const bool known = thread->length;
	char label[LABEL_SIZE];

	label_thread(thread, label);
	buffer_printf(to, "%10d  ", (int)state->pid);
	put_name(to, label, column);
	put_rate(to, thread->events, top_model_interval(model));
	buffer_printf(to, "  %s", known && !(state->flags & POSIXTRACE_STATE_SINCE) ? "<" : " ");
	put_time(to, thread->length, known);
	buffer_text(to, "  ");
	put_state(to, threads, thread, source);
	buffer_byte(to, '\n');
}

void top_text_threads(struct buffer *to, struct top_threads *threads, struct source *source,
		      const struct top_model *model, const struct top_view *view, size_t max)
{
	size_t count, shown, column = THREAD_WIDTH;
	const struct top_thread *thread;
	char label[LABEL_SIZE];

	top_threads_sort(threads, view->thread_order, view->reverse);
	thread = top_threads_get(threads, &count);
	shown = limit(count, max);
	for (size_t i = 0; i < shown; i++) {
		label_thread(&thread[i], label);
		cells_widen(&column, label);
	}
	buffer_printf(to, "%10s  %-*s %11s  %11s  %-*s%s\n", "PROCESS", (int)column,
		      "THREAD (sampled)", "EVENTS", "TIME", STATE_WIDTH, "STATE", "IN");
	for (size_t i = 0; i < shown; i++)
		put_thread(to, threads, &thread[i], source, model, column);
	put_more(to, count, shown, "threads");
}
