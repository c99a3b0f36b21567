// SPDX-License-Identifier: GPL-2.0
/*
 * Prints tables of measures: see measures_print.h.
 */
#include <stdlib.h>

#include "print/cells.h"
#include "print/measure_cells.h"
#include "print/measures_print.h"

#define ROWS_SHOWN	20

/* Arguments that all tables share. */
struct tables {
	const struct measures *measures;
	const char *by;
	FILE *to;
	bool all;
};

static void print_event(const struct tables *tables, const struct measure *row)
{
	uint64_t span = measures_last(tables->measures) - measures_first(tables->measures);
	char text[CELLS_SIZE];
	FILE *to = tables->to;

	fprintf(to, " %10llu %11s     ", (unsigned long long)row->count,
		cells_rate(text, row->count, span));
	measure_percentile(to, &row->times, 50);
	measure_percentile(to, &row->times, 99);
	measure_time(to, &row->times, row->times.max);
}

static void print_scope(const struct tables *tables, const struct measure *row)
{
	fprintf(tables->to, " %10llu", (unsigned long long)row->count);
	measure_times(tables->to, &row->times);
	fprintf(tables->to, " %10llu", (unsigned long long)row->unmatched);
}

static void print_call(const struct tables *tables, const struct measure *row)
{
	fprintf(tables->to, " %10llu %8llu", (unsigned long long)(row->count + row->unmatched),
		(unsigned long long)row->errors);
	measure_times(tables->to, &row->times);
	fprintf(tables->to, " %10llu", (unsigned long long)row->unmatched);
}

static const struct {
	const char *name;
	const char *columns;
	void (*print)(const struct tables *tables, const struct measure *row);
} kinds[MEASURE_KINDS] = {
	[MEASURE_EVENT] = {
		"EVENT",
		"      COUNT        RATE INTERVAL: p50       p99       max",
		print_event,
	},
	[MEASURE_SCOPE] = {
		"FROM BEGIN TO END",
		"      COUNT" MEASURE_TIMES "  UNMATCHED",
		print_scope,
	},
	[MEASURE_CALL] = {
		"SYSTEM CALL",
		"      CALLS   ERRORS" MEASURE_TIMES " UNFINISHED",
		print_call,
	},
};

/*
 * Prints how many syscall_exits have no entry. A new thread has such an exit, because its creator
 * made the call.
 */
static void print_returns(const struct tables *tables)
{
	uint64_t count = measures_returns(tables->measures);

	if (count)
		fprintf(tables->to, "and %llu return%s without a call, as of new threads\n",
			(unsigned long long)count, count == 1 ? "" : "s");
}

static void print_rows(const struct tables *tables, enum measure_kind kind,
		       const struct measure_columns *columns,
		       const struct measure *const *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		measure_columns_print(columns, rows[i], tables->to);
		kinds[kind].print(tables, rows[i]);
		fputc('\n', tables->to);
	}
}

static void print_table(const struct tables *tables, enum measure_kind kind)
{
	struct measure_columns columns;
	size_t all, count, shown;
	const struct measure **rows = measures_rows(tables->measures, kind, &all);

	if (!rows || !all) {
		free(rows);
		return;
	}
	/* The rows for all other values are last, and are always shown. */
	count = all;
	while (count && rows[count - 1]->part == MEASURE_OTHERS)
		count--;
	shown = tables->all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
	measure_columns_begin(&columns, tables->by);
	for (size_t i = 0; i < all; i++) {
		if (i < shown || i >= count)
			measure_columns_widen(&columns, rows[i]);
	}
	fputc('\n', tables->to);
	measure_columns_head(&columns, kinds[kind].name, tables->to);
	fprintf(tables->to, "%s\n", kinds[kind].columns);
	print_rows(tables, kind, &columns, rows, shown);
	if (shown < count)
		fprintf(tables->to, "and %zu more rows: use --all\n", count - shown);
	print_rows(tables, kind, &columns, rows + count, all - count);
	if (kind == MEASURE_CALL)
		print_returns(tables);
	free(rows);
}

/* Prints the number of events that are in no table because they lack the field of --by. */
static void print_without(const struct tables *tables)
{
	uint64_t events;
	size_t types;

	if (measures_options(tables->measures)->by != MEASURES_BY_FIELD)
		return;
	events = measures_without(tables->measures, &types);
	if (!types)
		return;
	fprintf(tables->to, "\n%llu event%s of %zu type%s without the field\n",
		(unsigned long long)events, events == 1 ? "" : "s", types,
		types == 1 ? "" : "s");
}

static void print_events(const struct tables *tables)
{
	const struct measures *measures = tables->measures;
	char text[CELLS_SIZE];

	fprintf(tables->to, "%-9s %llu user, %llu system\n", "events",
		(unsigned long long)measures_user(measures),
		(unsigned long long)measures_system(measures));
	fprintf(tables->to, "%-9s %s\n", "time",
		cells_time(text, measures_last(measures) - measures_first(measures)));
}

void measures_print(const struct measures *measures, const char *by, FILE *to, bool all)
{
	const struct tables tables = { .measures = measures, .by = by, .to = to, .all = all };

	if (by)
		print_events(&tables);
	print_table(&tables, MEASURE_EVENT);
	print_table(&tables, MEASURE_SCOPE);
	print_table(&tables, MEASURE_CALL);
	print_without(&tables);
}
