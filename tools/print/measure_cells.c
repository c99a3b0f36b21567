// SPDX-License-Identifier: GPL-2.0
/*
 * Table cells of measures: see measure_cells.h.
 */
#include <ctype.h>
#include <string.h>

#include "print/cells.h"
#include "print/measure_cells.h"
#include "util/escape.h"

#define VALUE_BYTES	48	/* bytes of a value that are shown */

/* Returns the number of bytes to show. Does not split a character. */
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

static void put_value(const struct measure *measure, struct buffer *to)
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

/* Appends the name of a measure. For a scope, leaves out the separator before "begin". */
static void put_name(const struct measure *measure, struct buffer *to)
{
	size_t len = measure->name ? strlen(measure->name) : 0;

	if (!measure->name)
		buffer_text(to, "(others)");
	else
		escape_plain(to, measure->name, len - (measure->kind == MEASURE_SCOPE));
}

typedef void (*put_function)(const struct measure *measure, struct buffer *to);

static void widen(size_t *column, const struct measure *measure, put_function put)
{
	struct buffer text = { };
	size_t width;

	put(measure, &text);
	width = cells_text_width(&text);
	*column = width > *column ? width : *column;
	buffer_free(&text);
}

static void print_cell(FILE *to, const struct measure *measure, size_t column, put_function put)
{
	struct buffer text = { };

	if (measure)
		put(measure, &text);
	cells_text(to, &text, column);
	buffer_free(&text);
}

void measure_columns_begin(struct measure_columns *columns, const char *by)
{
	*columns = (struct measure_columns){
		.by = by, .name = MEASURE_NAME_WIDTH, .value = by ? strlen(by) : 0,
	};
}

void measure_columns_widen(struct measure_columns *columns, const struct measure *measure)
{
	widen(&columns->name, measure, put_name);
	widen(&columns->value, measure, put_value);
}

void measure_columns_head(const struct measure_columns *columns, const char *name, FILE *to)
{
	fprintf(to, "%-*s", (int)columns->name, name);
	if (!columns->by)
		return;
	fprintf(to, "  ");
	for (const char *c = columns->by; *c; c++)
		fputc(toupper((unsigned char)*c), to);
	fprintf(to, "%*s", (int)(columns->value - strlen(columns->by)), "");
}

void measure_columns_print(const struct measure_columns *columns, const struct measure *measure,
			   FILE *to)
{
	print_cell(to, measure, columns->name, put_name);
	if (!columns->by)
		return;
	fprintf(to, "  ");
	print_cell(to, measure, columns->value, put_value);
}

void measure_time(FILE *to, const struct histogram *times, uint64_t ns)
{
	char text[CELLS_SIZE];

	fprintf(to, " %9s", times->count ? cells_time(text, ns) : "-");
}

void measure_percentile(FILE *to, const struct histogram *times, unsigned int percent)
{
	measure_time(to, times, times->count ? histogram_percentile(times, percent) : 0);
}

uint64_t measure_mean(const struct histogram *times)
{
	return times->count ? times->sum / times->count : 0;
}

void measure_times(FILE *to, const struct histogram *times)
{
	measure_time(to, times, times->sum);
	measure_time(to, times, measure_mean(times));
	measure_percentile(to, times, 50);
	measure_percentile(to, times, 99);
	measure_time(to, times, times->max);
}
