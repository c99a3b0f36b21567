// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of periods of threads: see table_spans.h. The periods themselves are determined by the
 * functions in analyze/, as for all other formats.
 */
#include <errno.h>
#include <stdlib.h>
#include <trace.h>

#include "analyze/call_files.h"
#include "analyze/pairs.h"
#include "analyze/spans.h"
#include "export/table_spans.h"
#include "print/json_fields.h"

struct table_spans {
	struct export *export;
	struct table *tables;
	struct table_threads *threads;
	struct pairs *pairs;		/* NULL: no scopes */
	struct spans *spans;		/* NULL: no spans of the kernel */
	struct call_files *files;	/* NULL: the files of system calls are unknown */
	bool all;			/* no option leaves out events of a thread */
	uint64_t gaps;			/* number of places so far where events may be missing */
	struct buffer fields;
	struct buffer end_fields;
};

/* Sets the columns of a period. @complete: begin and end are exact, as far as the events show */
static void set_span(const struct table_spans *spans, struct table *table, uint32_t utid,
		     bool complete)
{
	/*
	 * If options leave out events, an end may belong to a different begin, so nothing is known
	 * to be exact.
	 */
	if (spans->all || !complete)
		table_set(table, SPAN_COMPLETE, complete);
	table_threads_set(spans->threads, table, utid, SPAN_UTID);
}

static void set_period(struct table *table, uint64_t begin, uint64_t end)
{
	table_set(table, SPAN_BEGIN, (int64_t)begin);
	table_set(table, SPAN_END, (int64_t)end);
	table_set(table, SPAN_DURATION, (int64_t)(end - begin));
}

/* ------------------------------------------------------------------ */
/* Scopes								*/

/* Sets the column of fields, if the event has all fields. */
static void set_fields(struct table *table, size_t column, struct buffer *text,
		       const struct event *event, size_t data_len)
{
	buffer_reset(text);
	if (event->truncated == POSIX_TRACE_NOT_TRUNCATED && event->len == data_len &&
	    event_has_fields(event, data_len) && json_values(text, event, false))
		table_set_bytes(table, column, text->data, text->len);
}

static void set_begin(struct table_spans *spans, struct table *table,
		      const struct pairs_begin *begin)
{
	table_set(table, SPAN_BEGIN, (int64_t)begin->event.time);
	table_set_text(table, SCOPE_NAME, begin->stem);
	table_set(table, SCOPE_DEPTH, (int64_t)begin->depth);
	set_fields(table, SCOPE_FIELDS, &spans->fields, &begin->event, begin->data_len);
}

static int end_row(const struct table_spans *spans, struct table *table)
{
	if (spans->fields.failed || spans->end_fields.failed)
		return -ENOMEM;
	return table_row(table);
}

/* Writes a scope whose end is missing. */
static int put_begin(struct table_spans *spans, const struct pairs_begin *begin)
{
	struct table *table = &spans->tables[TABLE_SCOPES];
	uint32_t utid;
	int err = table_threads_find(spans->threads, &begin->event, &utid);

	if (err)
		return err;
	set_span(spans, table, utid, false);
	set_begin(spans, table, begin);
	return end_row(spans, table);
}

/* Writes a scope at its end. Its begin may be missing. */
static int put_end(struct table_spans *spans, const struct event *end,
		   const struct pairs_result *result, uint32_t utid)
{
	struct table *table = &spans->tables[TABLE_SCOPES];
	const struct pairs_begin *begin = result->begin;
	char name[PAIRS_NAME_MAX];
	bool complete = begin && !result->lost && !result->gap &&
			end->time >= begin->event.time;
	uint64_t duration;
	size_t len;

	set_span(spans, table, utid, complete);
	table_set(table, SPAN_END, (int64_t)end->time);
	set_fields(table, SCOPE_END_FIELDS, &spans->end_fields, end, end->len);
	if (!begin) {
		pairs_role(end->name, &len);
		memcpy(name, end->name, len);
		table_set_bytes(table, SCOPE_NAME, name, len);
		return end_row(spans, table);
	}
	set_begin(spans, table, begin);
	table_set(table, SCOPE_LOST, (int64_t)result->lost);
	if (complete) {
		duration = end->time - begin->event.time;
		table_set(table, SPAN_DURATION, (int64_t)duration);
		if (!begin->tangled && begin->inner <= duration)
			table_set(table, SCOPE_SELF, (int64_t)(duration - begin->inner));
	}
	return end_row(spans, table);
}

static int put_scopes(struct table_spans *spans, const struct event *event, uint32_t utid)
{
	struct pairs_result result;
	int err = pairs_event(spans->pairs, event, &result);

	if (!err && result.forgotten)
		err = put_begin(spans, result.forgotten);
	if (!err && result.role == PAIRS_END)
		err = put_end(spans, event, &result, utid);
	return err;
}

/* ------------------------------------------------------------------ */
/* Spans of the kernel							*/

static const char *const state_names[NR_STATES] = {
	[STATE_UNKNOWN] = "unknown",
	[STATE_RUNNING] = "running",
	[STATE_RUNNABLE] = "runnable",
	[STATE_SLEEP] = "sleep",
	[STATE_DISK] = "disk",
	[STATE_STOPPED] = "stopped",
};

static void set_blocked(struct table *table, const struct interval *interval, size_t letter,
			size_t io, size_t call)
{
	if (interval->state < STATE_SLEEP)
		return;
	if (interval->letter)
		table_set_bytes(table, letter, &interval->letter, 1);
	table_set(table, io, interval->io);
	if (interval->call[0])
		table_set_text(table, call, interval->call);
}

static void set_waker(struct table *table, const struct interval *interval, size_t column)
{
	const char *name = waker_name(interval->waker.kind);

	if (interval->waker.kind != WAKER_UNKNOWN && name[0])
		table_set_text(table, column, name);
}

static void set_file(struct table *table, size_t column, const char *path)
{
	if (path)
		table_set_text(table, column, path);
}

static int put_wait(struct table_spans *spans, const struct interval *interval)
{
	struct table *table = &spans->tables[TABLE_WAITS];
	const struct source *source = spans->export->source;
	const struct waker *waker = &interval->waker;
	uint32_t utid;

	set_span(spans, table, interval->thread, interval->complete);
	set_period(table, interval->begin, interval->end);
	table_set_text(table, WAIT_STATE, state_names[interval->state]);
	set_blocked(table, interval, WAIT_LETTER, WAIT_IO, WAIT_CALL);
	set_waker(table, interval, WAIT_BY);
	if (spans->files)
		set_file(table, WAIT_FILE, call_files_of_wait(spans->files, interval));
	if (waker_is_thread(waker)) {
		table_set(table, WAIT_WAKER_PID, source_plain_id(source, waker->pid));
		table_set(table, WAIT_WAKER_TID, source_plain_id(source, waker->tid));
		utid = table_threads_latest(spans->threads, waker->pid, waker->tid);
		if (utid)
			table_set(table, WAIT_WAKER_UTID, utid);
	}
	return table_row(table);
}

static int put_state(void *to, const struct interval *interval)
{
	struct table_spans *spans = to;
	struct table *table = &spans->tables[TABLE_STATES];
	int err = 0;

	if (interval->state >= STATE_SLEEP && table_is_wanted(&spans->tables[TABLE_WAITS]))
		err = put_wait(spans, interval);
	if (err || !table_is_wanted(table))
		return err;
	set_span(spans, table, interval->thread, interval->complete);
	set_period(table, interval->begin, interval->end);
	table_set_text(table, STATE_COLUMN_STATE, state_names[interval->state]);
	if (interval->cpu != SOURCE_NO_CPU)
		table_set(table, STATE_COLUMN_CPU,
			  source_plain_cpu(spans->export->source, interval->cpu));
	if (interval->state == STATE_RUNNABLE)
		table_set(table, STATE_COLUMN_PREEMPTED, interval->preempted);
	set_blocked(table, interval, STATE_COLUMN_LETTER, STATE_COLUMN_IO, STATE_COLUMN_CALL);
	set_waker(table, interval, STATE_COLUMN_BY);
	return table_row(table);
}

static int put_call(void *to, const struct call *call)
{
	struct table_spans *spans = to;
	struct table *table = &spans->tables[TABLE_SYSCALLS];
	bool complete = call->finished && !call->lost && call->mark == spans->gaps;

	if (!table_is_wanted(table))
		return 0;
	set_span(spans, table, call->thread, complete);
	table_set(table, SPAN_BEGIN, (int64_t)call->begin);
	if (complete) {
		set_period(table, call->begin, call->end);
		table_set(table, CALL_RESULT, call->result);
	} else if (call->finished) {
		table_set(table, SPAN_END, (int64_t)call->end);
	}
	table_set_text(table, CALL_NAME, call->name);
	table_set(table, CALL_NR, call->nr);
	table_set(table, CALL_COMPAT, call->compat);
	if (call->cpu != SOURCE_NO_CPU)
		table_set(table, CALL_CPU, source_plain_cpu(spans->export->source, call->cpu));
	table_set(table, CALL_LOST, (int64_t)call->lost);
	for (size_t i = 0; i < KEVENT_ARGS; i++)
		table_set(table, CALL_ARG + i, (int64_t)call->args[i]);
	if (spans->files)
		set_file(table, CALL_FILE, call_files_of_call(spans->files, call));
	return table_row(table);
}

static int put_irq(void *to, const struct irq *irq)
{
	(void)to;
	(void)irq;
	return 0;
}

static int find_thread(void *to, const struct event *event, uint32_t *number)
{
	struct table_spans *spans = to;

	return table_threads_find(spans->threads, event, number);
}

static const struct spans_ops spans_ops = {
	.put_state = put_state,
	.put_call = put_call,
	.put_irq = put_irq,
	.find_thread = find_thread,
};

/* ------------------------------------------------------------------ */
/* All periods								*/

/* Files are known only if all classes are recorded and no option leaves out events. */
static int new_files(struct table_spans *spans, unsigned int classes)
{
	const struct table *tables = spans->tables;

	if ((classes & DESCRIPTORS_CLASSES) != DESCRIPTORS_CLASSES ||
	    !select_has_all(spans->export->selection) ||
	    !(table_is_wanted(&tables[TABLE_WAITS]) || table_is_wanted(&tables[TABLE_SYSCALLS])))
		return 0;
	return call_files_new(spans->export->source, EXPORT_THREADS, &spans->files);
}

int table_spans_new(struct export *export, struct table *tables, struct table_threads *threads,
		    struct table_spans **result)
{
	struct table_spans *spans = calloc(1, sizeof(*spans));
	unsigned int classes = export_kernel_classes(export);
	int err = 0;

	if (!spans)
		return -ENOMEM;
	*result = spans;
	spans->export = export;
	spans->tables = tables;
	spans->threads = threads;
	spans->all = select_has_period(export->selection);
	if (table_is_wanted(&tables[TABLE_SCOPES]))
		err = pairs_new(EXPORT_OPEN_MAX, EXPORT_DEPTH_MAX, &spans->pairs);
	if (err || !classes || !(table_is_wanted(&tables[TABLE_STATES]) ||
				 table_is_wanted(&tables[TABLE_WAITS]) ||
				 table_is_wanted(&tables[TABLE_SYSCALLS])))
		return err;
	err = new_files(spans, classes);
	if (!err)
		err = spans_new(EXPORT_THREADS, classes, &spans_ops, spans, &spans->spans);
	return err ? err : export_start(export, spans->spans);
}

static bool is_gap(const struct event *event)
{
	return !event->partial &&
	       (event->type == POSIX_TRACE_START || event->type == POSIX_TRACE_RESUME ||
		event->type == POSIX_TRACE_ERROR);
}

int table_spans_event(struct table_spans *spans, const struct event *event, uint32_t utid)
{
	bool gap = is_gap(event);
	int err = 0;

	spans->gaps += gap;
	if (spans->pairs)
		err = put_scopes(spans, event, utid);
	if (!err && spans->files)
		err = call_files_event(spans->files, utid, event);
	if (!err && spans->spans)
		err = spans_event(spans->spans, utid, event, gap || spans->export->newly_lost,
				  spans->gaps);
	return err < 0 ? err : 0;
}

int table_spans_end(struct table_spans *spans)
{
	const struct pairs_begin *begin;
	int err = spans->spans ? spans_end(spans->spans) : 0;

	while (!err && spans->pairs && (begin = pairs_take(spans->pairs)))
		err = put_begin(spans, begin);
	return err;
}

void table_spans_free(struct table_spans *spans)
{
	if (!spans)
		return;
	spans_free(spans->spans);
	call_files_free(spans->files);
	pairs_free(spans->pairs);
	buffer_free(&spans->fields);
	buffer_free(&spans->end_fields);
	free(spans);
}
