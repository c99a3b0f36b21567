// SPDX-License-Identifier: GPL-2.0
/*
 * Prints tables of measures: see measures_print.h.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "print/cells.h"
#include "print/measures_print.h"
#include "util/escape.h"

#define ROWS_SHOWN	20
#define NAME_WIDTH	28
#define VALUE_BYTES	48	/* shown of a value */

/* Shared by the tables. */
struct tables {
	const struct measures *measures;
	const char *by;
	FILE *to;
	bool all;
};

/* ------------------------------------------------------------------ */
/* Cells								*/

/* Returns the number of bytes to show, without a part of a character at the end. */
static size_t shown_bytes(const struct measure *measure)
{
	size_t len = measure->value_len;

	if (len <= VALUE_BYTES)
		return len;
	len = VALUE_BYTES;
	while (len && (measure->value[len] & 0xc0) == 0x80)
		len--;
	return len;
}

void measures_put_value(const struct measure *measure, struct buffer *to)
{
	size_t len = shown_bytes(measure);

	switch (measure->part) {
	case MEASURE_WHOLE:
		return;
	case MEASURE_NONE:
		buffer_text(to, "(none)");
		return;
	case MEASURE_OTHERS:
		buffer_text(to, "(other values)");
		return;
	case MEASURE_VALUE:
		break;
	}
	if (measure->value_kind == FIELD_TEXT)
		escape_quoted(to, measure->value, len);
	else
		escape_plain(to, measure->value, len);
	if (len < measure->value_len)
		buffer_text(to, "...");
	if (measure->unit) {
		buffer_byte(to, ' ');
		escape_plain(to, measure->unit, strlen(measure->unit));
	}
}

/* Appends the name; of a scope without the separator before "begin". */
static void put_name(const struct measure *measure, struct buffer *to)
{
	size_t len = measure->name ? strlen(measure->name) : 0;

	if (!measure->name)
		buffer_text(to, "(others)");
	else
		escape_plain(to, measure->name, len - (measure->kind == MEASURE_SCOPE));
}

static size_t width_of(const struct measure *measure,
		       void (*put)(const struct measure *measure, struct buffer *to))
{
	struct buffer text = { };
	size_t width;

	put(measure, &text);
	width = cells_text_width(&text);
	buffer_free(&text);
	return width;
}

static void print_cell(FILE *to, const struct measure *measure, size_t width,
		       void (*put)(const struct measure *measure, struct buffer *to))
{
	struct buffer text = { };

	put(measure, &text);
	cells_text(to, &text, width);
	buffer_free(&text);
}

static void print_time(FILE *to, const struct histogram *times, uint64_t ns)
{
	char text[CELLS_SIZE];

	fprintf(to, " %9s", times->count ? cells_time(text, ns) : "-");
}

static void print_percentile(FILE *to, const struct histogram *times, unsigned int percent)
{
	print_time(to, times, times->count ? histogram_percentile(times, percent) : 0);
}

/* ------------------------------------------------------------------ */
/* Tables								*/

static void print_event(const struct tables *tables, const struct measure *row)
{
	uint64_t span = measures_last(tables->measures) - measures_first(tables->measures);
	char text[CELLS_SIZE];
	FILE *to = tables->to;

	fprintf(to, " %10llu %11s     ", (unsigned long long)row->count,
		cells_rate(text, row->count, span));
	print_percentile(to, &row->times, 50);
	print_percentile(to, &row->times, 99);
	print_time(to, &row->times, row->times.max);
}

static void print_times(FILE *to, const struct histogram *times)
{
	print_time(to, times, times->sum);
	print_time(to, times, times->count ? times->sum / times->count : 0);
	print_percentile(to, times, 50);
	print_percentile(to, times, 99);
	print_time(to, times, times->max);
}

static void print_scope(const struct tables *tables, const struct measure *row)
{
	fprintf(tables->to, " %10llu", (unsigned long long)row->count);
	print_times(tables->to, &row->times);
	fprintf(tables->to, " %10llu", (unsigned long long)row->unmatched);
}

static void print_call(const struct tables *tables, const struct measure *row)
{
	fprintf(tables->to, " %10llu %8llu", (unsigned long long)(row->count + row->unmatched),
		(unsigned long long)row->errors);
	print_times(tables->to, &row->times);
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
		"      COUNT     TOTAL      MEAN       p50       p99       max  UNMATCHED",
		print_scope,
	},
	[MEASURE_CALL] = {
		"SYSTEM CALL",
		"      CALLS   ERRORS     TOTAL      MEAN       p50       p99       max UNFINISHED",
		print_call,
	},
};

/* The columns of a table: the widths of the first two. */
struct columns {
	size_t name;
	size_t value;
};

static void print_head(const struct tables *tables, enum measure_kind kind,
		       const struct columns *columns)
{
	FILE *to = tables->to;

	fprintf(to, "\n%-*s", (int)columns->name, kinds[kind].name);
	if (tables->by) {
		fprintf(to, "  ");
		for (const char *c = tables->by; *c; c++)
			fputc(toupper((unsigned char)*c), to);
		fprintf(to, "%*s", (int)(columns->value - strlen(tables->by)), "");
	}
	fprintf(to, "%s\n", kinds[kind].columns);
}

/* A new thread returns from the call of its creator. */
static void print_returns(const struct tables *tables)
{
	uint64_t count = measures_returns(tables->measures);

	if (count)
		fprintf(tables->to, "and %llu return%s without a call, as of new threads\n",
			(unsigned long long)count, count == 1 ? "" : "s");
}

static void widen(struct columns *columns, const struct measure *const *rows, size_t count)
{
	size_t width;

	for (size_t i = 0; i < count; i++) {
		width = width_of(rows[i], put_name);
		columns->name = width > columns->name ? width : columns->name;
		width = width_of(rows[i], measures_put_value);
		columns->value = width > columns->value ? width : columns->value;
	}
}

static void print_rows(const struct tables *tables, enum measure_kind kind,
		       const struct columns *columns, const struct measure *const *rows,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		print_cell(tables->to, rows[i], columns->name, put_name);
		if (tables->by) {
			fprintf(tables->to, "  ");
			print_cell(tables->to, rows[i], columns->value, measures_put_value);
		}
		kinds[kind].print(tables, rows[i]);
		fputc('\n', tables->to);
	}
}

static void print_table(const struct tables *tables, enum measure_kind kind)
{
	struct columns columns = { NAME_WIDTH, tables->by ? strlen(tables->by) : 0 };
	size_t all, count, shown;
	const struct measure **rows = measures_rows(tables->measures, kind, &all);

	if (!rows || !all) {
		free(rows);
		return;
	}
	/* The rows of other values are at the end, and always shown. */
	count = all;
	while (count && rows[count - 1]->part == MEASURE_OTHERS)
		count--;
	shown = tables->all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
	widen(&columns, rows, shown);
	widen(&columns, rows + count, all - count);
	print_head(tables, kind, &columns);
	print_rows(tables, kind, &columns, rows, shown);
	if (shown < count)
		fprintf(tables->to, "and %zu more rows: use --all\n", count - shown);
	print_rows(tables, kind, &columns, rows + count, all - count);
	if (kind == MEASURE_CALL)
		print_returns(tables);
	free(rows);
}

/* Says what the tables leave out because it does not have the field. */
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
