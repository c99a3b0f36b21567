// SPDX-License-Identifier: GPL-2.0
/*
 * Prints measures as JSON: see measures_json.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "print/json_fields.h"
#include "print/measure_cells.h"
#include "print/measures_json.h"
#include "util/escape.h"

#define DIGITS_MAX	15	/* JSON readers round integers with more digits */

static const char *const tables[MEASURE_KINDS] = {
	[MEASURE_EVENT] = "event",
	[MEASURE_SCOPE] = "scope",
	[MEASURE_CALL] = "call",
	[MEASURE_STATE] = "state",
};

/* ------------------------------------------------------------------ */
/* Members								*/

static void put_number(struct buffer *to, const char *name, uint64_t number)
{
	buffer_printf(to, ",\"%s\":", name);
	json_number(to, number, false);
}

static void put_string(struct buffer *to, const char *name, const char *text, size_t len)
{
	buffer_printf(to, ",\"%s\":", name);
	escape_string(to, text, len, false);
}

static void put_value(struct buffer *to, const struct measure *measure)
{
	const char *quote;

	switch (measure->part) {
	case MEASURE_WHOLE:
		return;
	case MEASURE_NONE:
		buffer_text(to, ",\"value\":null");
		return;
	case MEASURE_OTHERS:
		buffer_text(to, ",\"others\":true");
		return;
	case MEASURE_VALUE:
		break;
	}
	if (measure->value_kind == FIELD_NUMBER) {
		quote = strspn(measure->value, "-0123456789") > DIGITS_MAX ? "\"" : "";
		buffer_printf(to, ",\"value\":%s", quote);
		buffer_put(to, measure->value, measure->value_len);
		buffer_text(to, quote);
	} else {
		put_string(to, "value", measure->value, measure->value_len);
	}
	if (measure->unit)
		put_string(to, "unit", measure->unit, strlen(measure->unit));
}

/* Begins the object of a measure: appends its table, name and value. */
static void put_head(struct buffer *to, const struct measure *measure)
{
	size_t len = measure->name ? strlen(measure->name) : 0;

	buffer_printf(to, "{\"table\":\"%s\"", tables[measure->kind]);
	if (measure->name)
		put_string(to, "name", measure->name, len - (measure->kind == MEASURE_SCOPE));
	put_value(to, measure);
}

static void put_times(struct buffer *to, const struct histogram *times)
{
	static const unsigned int percent[] = { 50, 90, 99 };

	put_number(to, "times", times->count);
	if (!times->count)
		return;
	put_number(to, "total_ns", times->sum);
	put_number(to, "mean_ns", measure_mean(times));
	put_number(to, "min_ns", times->min);
	for (size_t i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		buffer_printf(to, ",\"p%u_ns\":", percent[i]);
		json_number(to, histogram_percentile(times, percent[i]), false);
	}
	put_number(to, "max_ns", times->max);
}

static void put_counts(struct buffer *to, const struct measure *measure)
{
	if (measure->kind == MEASURE_EVENT)
		put_number(to, "count", measure->count);
	if (measure->kind == MEASURE_CALL)
		put_number(to, "errors", measure->errors);
	if (measure->kind == MEASURE_SCOPE || measure->kind == MEASURE_CALL)
		put_number(to, "unmatched", measure->unmatched);
	put_times(to, &measure->times);
}

/* Ends the object of a measure and prints it. */
static int print_object(struct buffer *text, FILE *to)
{
	buffer_text(text, "}\n");
	if (text->failed)
		return -ENOMEM;
	fwrite(text->data, 1, text->len, to);
	buffer_reset(text);
	return 0;
}

static int print_trace(struct buffer *text, const struct measures *measures, uint64_t lost,
		       const char *trace, FILE *to)
{
	buffer_text(text, "{\"table\":\"trace\"");
	if (trace)
		put_string(text, "trace", trace, strlen(trace));
	put_number(text, "user", measures_user(measures));
	put_number(text, "system", measures_system(measures));
	put_number(text, "lost", lost);
	put_number(text, "first_ns", measures_first(measures));
	put_number(text, "last_ns", measures_last(measures));
	return print_object(text, to);
}

/* ------------------------------------------------------------------ */
/* Measures								*/

static int print_kind(struct buffer *text, const struct measures *measures,
		      enum measure_kind kind, FILE *to)
{
	size_t count;
	const struct measure **rows = measures_rows(measures, kind, &count);
	int err = rows ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		put_head(text, rows[i]);
		put_counts(text, rows[i]);
		err = print_object(text, to);
	}
	free(rows);
	return err;
}

int measures_json(const struct measures *measures, uint64_t lost, FILE *to)
{
	struct buffer text = { };
	int err = print_trace(&text, measures, lost, NULL, to);

	for (enum measure_kind kind = 0; !err && kind < MEASURE_KINDS; kind++)
		err = print_kind(&text, measures, kind, to);
	buffer_free(&text);
	return err;
}

/* ------------------------------------------------------------------ */
/* Differences								*/

static void put_real(struct buffer *to, const char *name, double value)
{
	if (!isfinite(value))
		return;
	buffer_printf(to, ",\"%s\":", name);
	buffer_real(to, value, sizeof(value));
}

static void put_side(struct buffer *to, const char *name, const struct measure *measure)
{
	size_t at;

	if (!measure)
		return;
	buffer_printf(to, ",\"%s\":{", name);
	at = to->len;
	put_counts(to, measure);
	/* Remove the comma before the first member. */
	if (!to->failed && at < to->len)
		memmove(to->data + at, to->data + at + 1, to->len-- - at - 1);
	buffer_byte(to, '}');
}

static int print_comparison(struct buffer *text, const struct comparison *row, FILE *to)
{
	static const char *const results[] = {
		[COMPARE_UNCLEAR] = "unclear",
		[COMPARE_FEW] = "few",
		[COMPARE_ONLY_A] = "only a",
		[COMPARE_ONLY_B] = "only b",
		[COMPARE_SHORTER] = "shorter",
		[COMPARE_LONGER] = "longer",
	};

	put_head(text, row->a ? row->a : row->b);
	put_side(text, "a", row->a);
	put_side(text, "b", row->b);
	put_string(text, "result", results[row->result], strlen(results[row->result]));
	if (row->result == COMPARE_UNCLEAR || row->result == COMPARE_SHORTER ||
	    row->result == COMPARE_LONGER) {
		put_real(text, "p", row->p);
		put_real(text, "ratio", row->ratio);
		put_real(text, "ratio_low", row->low);
		put_real(text, "ratio_high", row->high);
	}
	return print_object(text, to);
}

int compare_json(struct measures *const measures[2], const uint64_t lost[2], FILE *to)
{
	struct comparison *rows;
	struct buffer text = { };
	size_t count;
	int err = print_trace(&text, measures[0], lost[0], "a", to);

	if (!err)
		err = print_trace(&text, measures[1], lost[1], "b", to);
	for (enum measure_kind kind = 0; !err && kind < MEASURE_KINDS; kind++) {
		rows = compare_measures(measures[0], measures[1], kind, &count);
		err = rows ? 0 : -ENOMEM;
		for (size_t i = 0; !err && i < count; i++)
			err = print_comparison(&text, &rows[i], to);
		free(rows);
	}
	buffer_free(&text);
	return err;
}
