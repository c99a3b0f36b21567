// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the threads that are still blocked: see blocked_print.h.
 */
#include <inttypes.h>
#include <linux/posixtrace.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/holder.h"
#include "print/blocked_print.h"
#include "print/call_text.h"
#include "print/cells.h"
#include "print/state_text.h"
#include "util/buffer.h"
#include "util/escape.h"

#define ROWS_SHOWN	20

/* A row of the table: a blocked thread. */
struct row {
	const struct states_thread *thread;
	struct states_blocked blocked;
	const struct posixtrace_thread_state *state;	/* or NULL */
	uint64_t length;		/* ns; 0: unknown */
	const char *holder;		/* ""; or who holds the lock for which it waits */
	struct buffer place;
};

struct table {
	const struct states *states;
	const struct states_thread *threads;
	size_t nr_threads;
	struct source *source;
	const struct snapshot *now;
	struct open_files *files;	/* or NULL */
	struct call_context call;
	struct lock_wait *lock_wait;
	FILE *to;
	struct row *rows;
	size_t count;
	size_t thread_width;
	size_t holder_width;
};

static const struct posixtrace_thread_state *find_state(const struct snapshot *snapshot, pid_t pid,
							pid_t tid)
{
	const struct posixtrace_thread_state *state;
	size_t count;

	state = snapshot_get(snapshot, &count);
	for (; count; count--, state++) {
		if (state->pid == pid && state->tid == tid)
			return state;
	}
	return NULL;
}

/* Finds the last thread with these ids, or NULL. */
static const struct states_thread *find_thread(const struct table *table, pid_t pid, pid_t tid)
{
	for (size_t i = table->nr_threads; i > 0; i--) {
		if (table->threads[i - 1].pid == pid && table->threads[i - 1].tid == tid)
			return &table->threads[i - 1];
	}
	return NULL;
}

/* Argument of put_fd(): the state that has the descriptors. */
struct fds {
	struct open_files *files;
	const struct posixtrace_thread_state *state;
};

static void put_fd(struct buffer *to, const void *context, int64_t fd)
{
	const struct fds *fds = context;
	const uint64_t time = snapshot_ns(&fds->state->time);
	const struct posixtrace_open_file *file;
	struct buffer name = { };

	file = open_files_find(fds->files, fds->state->pid, (int)fd, time);
	if (file)
		open_files_name(fds->files, file, &name);
	if (name.len && !name.failed) {
		buffer_byte(to, '<');
		escape_plain(to, name.data, name.len);
		buffer_byte(to, '>');
	}
	buffer_free(&name);
}

/*
 * Is the thread the only one of its process? Otherwise another thread may have closed the
 * descriptor during the call, and its number may now belong to a different file.
 */
static bool is_alone(const struct table *table, const struct states_thread *thread)
{
	for (size_t i = 0; i < table->nr_threads; i++) {
		if (table->threads[i].pid == thread->pid && &table->threads[i] != thread)
			return false;
	}
	return true;
}

static void name_place(struct table *table, struct row *row)
{
	const struct posixtrace_thread_state *state = row->state;
	const struct fds fds = { table->files, state };
	const bool named = table->files && is_alone(table, row->thread);

	if (state)
		state_text_place(&row->place, &table->call, table->source, state,
				 named ? put_fd : NULL, &fds);
	else if (row->blocked.address)
		buffer_printf(&row->place, "futex 0x%" PRIx64, row->blocked.address);
	else
		buffer_text(&row->place, "unknown");
}

/* Returns false if the thread is no longer blocked. */
static bool fill_row(struct table *table, uint32_t thread, struct row *row)
{
	uint64_t end = states_last(table->states);

	*row = (struct row){ .thread = &table->threads[thread], .holder = "" };
	if (!states_blocked(table->states, thread, &row->blocked))
		return false;
	row->state = row->blocked.state;
	if (table->now) {
		row->state = find_state(table->now, row->thread->pid, row->thread->tid);
		if (!row->state || !row->state->state)
			return false;
		if (row->state->state != POSIXTRACE_STATE_UNKNOWN)
			end = snapshot_ns(&row->state->time);
	}
	if (row->blocked.since && row->blocked.since < end)
		row->length = end - row->blocked.since;
	name_place(table, row);
	return true;
}

/* Returns the thread that owns the lock, or NULL if this is not certain. */
static const struct states_thread *find_owner(const struct table *table, const struct row *row,
					      const struct holder_words *words)
{
	struct event event;
	pid_t tid;

	if (snapshot_event(table->source, row->state, &event))
		return NULL;
	tid = holder_find(table->lock_wait, &event, words);
	return tid ? find_thread(table, row->state->pid, tid) : NULL;
}

static void name_holder(const struct table *table, struct row *row)
{
	const struct states_thread *owner = NULL;
	struct holder_words words;

	if (row->state && snapshot_futex(row->state, &words))
		owner = find_owner(table, row, &words);
	else if (!row->state && row->blocked.address)
		owner = row->blocked.holder ? &table->threads[row->blocked.holder - 1] : NULL;
	else
		return;
	row->holder = owner ? owner->label : "unknown";
}

static void collect(struct table *table)
{
	struct row *row;

	for (uint32_t i = 0; i < table->nr_threads; i++) {
		row = &table->rows[table->count];
		if (!fill_row(table, i, row))
			continue;
		cells_widen(&table->thread_width, row->thread->label);
		name_holder(table, row);
		cells_widen(&table->holder_width, row->holder);
		table->count++;
	}
}

static int blocked_longer(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	return x->thread->tid < y->thread->tid ? -1 : x->thread->tid > y->thread->tid;
}

static void print_row(const struct table *table, const struct row *row)
{
	char text[CELLS_SIZE];

	fprintf(table->to, "%10d  ", (int)source_plain_id(table->source, row->thread->pid));
	cells_name(table->to, row->thread->label, table->thread_width);
	if (row->length)
		fprintf(table->to, " %1s %9s  ", row->blocked.exact ? "" : "<",
			cells_time(text, row->length));
	else
		fprintf(table->to, " %1s %9s  ", "", "-");
	cells_name(table->to, row->holder, table->holder_width);
	fputs("  ", table->to);
	cells_text(table->to, &row->place, 0);
	fputc('\n', table->to);
}

static void print_rows(const struct table *table, bool all)
{
	size_t shown = all || table->count <= ROWS_SHOWN ? table->count : ROWS_SHOWN;

	fprintf(table->to, "\n%10s  %-*s %11s  %-*s  %s\n", "PROCESS", (int)table->thread_width,
		"STILL BLOCKED", "TIME", (int)table->holder_width, "HELD BY", "IN");
	for (size_t i = 0; i < shown; i++)
		print_row(table, &table->rows[i]);
	if (shown < table->count)
		fprintf(table->to, "%29s threads: use --all\n", "and more");
}

void blocked_print(const struct states *states, struct source *source, const struct snapshot *now,
		   struct open_files *files, FILE *to, bool all)
{
	struct table table = {
		.states = states,
		.source = source,
		.now = now,
		.files = files,
		.to = to,
		.thread_width = 17,
		.holder_width = 16,
	};

	table.threads = states_threads(states, &table.nr_threads);
	table.rows = calloc(table.nr_threads + 1, sizeof(*table.rows));
	if (!table.rows || lock_wait_new(&table.lock_wait)) {
		free(table.rows);
		return;
	}
	collect(&table);
	if (table.count) {
		qsort(table.rows, table.count, sizeof(*table.rows), blocked_longer);
		print_rows(&table, all);
	}
	for (size_t i = 0; i < table.count; i++)
		buffer_free(&table.rows[i].place);
	lock_wait_free(table.lock_wait);
	free(table.rows);
}
