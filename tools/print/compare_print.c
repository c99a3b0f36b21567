// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the differences between two traces: see compare_print.h. A row has a line for each trace.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/compare.h"
#include "print/compare_print.h"
#include "print/measure_cells.h"

#define ROWS_SHOWN	20
#define CERTAINTY_MAX	99.99	/* per cent; larger values are shown as "> 99.99 %" */

static const struct {
	const char *name;
	const char *longer;
	const char *shorter;
} kinds[MEASURE_KINDS] = {
	[MEASURE_SCOPE] = { "FROM BEGIN TO END", "slower", "faster" },
	[MEASURE_CALL] = { "SYSTEM CALL", "slower", "faster" },
	[MEASURE_STATE] = { "STATE", "longer", "shorter" },
	[MEASURE_EVENT] = { "INTERVAL BETWEEN EVENTS", "longer", "shorter" },
};

static void print_trace(FILE *to, const char *trace, const struct measure *measure)
{
	static const struct histogram none;

	fprintf(to, "  %s %10llu", trace, measure ? (unsigned long long)measure->count : 0);
	measure_times(to, measure ? &measure->times : &none);
}

static void print_ratio(FILE *to, const struct comparison *comparison)
{
	char range[32];

	snprintf(range, sizeof(range), "%.2f to %.2f", comparison->low, comparison->high);
	fprintf(to, " %8.2f  %-16s", comparison->ratio, range);
}

static void print_result(FILE *to, const struct comparison *comparison, enum measure_kind kind)
{
	const double certainty = 100 * (1 - comparison->p);
	const char *word = comparison->result == COMPARE_LONGER ? kinds[kind].longer :
								 kinds[kind].shorter;

	switch (comparison->result) {
	case COMPARE_ONLY_A:
	case COMPARE_ONLY_B:
		fprintf(to, " %8s  %-16s  only in %c", "-", "-",
			comparison->result == COMPARE_ONLY_A ? 'A' : 'B');
		return;
	case COMPARE_FEW:
		fprintf(to, " %8s  %-16s  too few", "-", "-");
		return;
	case COMPARE_UNCLEAR:
		print_ratio(to, comparison);
		fprintf(to, "  not certain");
		return;
	default:
		print_ratio(to, comparison);
		if (certainty > CERTAINTY_MAX)
			fprintf(to, "  %s, > %.2f %%", word, CERTAINTY_MAX);
		else
			fprintf(to, "  %s, %.2f %%", word, certainty);
	}
}

static int print_table(const struct measures *a, const struct measures *b, enum measure_kind kind,
		       const char *by, FILE *to, bool all)
{
	struct measure_columns columns;
	size_t count, shown;
	struct comparison *rows = compare_measures(a, b, kind, &count);

	if (!rows || !count) {
		free(rows);
		return rows ? 0 : -ENOMEM;
	}
	shown = all || count <= ROWS_SHOWN ? count : ROWS_SHOWN;
	measure_columns_begin(&columns, by);
	for (size_t i = 0; i < shown; i++)
		measure_columns_widen(&columns, rows[i].a ? rows[i].a : rows[i].b);
	fputc('\n', to);
	measure_columns_head(&columns, kinds[kind].name, to);
	fprintf(to, "         COUNT%s %8s  %-16s  %s\n", MEASURE_TIMES, "B / A", "99 % INTERVAL",
		"RESULT");
	for (size_t i = 0; i < shown; i++) {
		measure_columns_print(&columns, rows[i].a ? rows[i].a : rows[i].b, to);
		print_trace(to, "A", rows[i].a);
		fputc('\n', to);
		measure_columns_print(&columns, NULL, to);
		print_trace(to, "B", rows[i].b);
		print_result(to, &rows[i], kind);
		fputc('\n', to);
	}
	if (shown < count)
		fprintf(to, "and %zu more rows: use --all\n", count - shown);
	free(rows);
	return 0;
}

int compare_print(const struct measures *a, const struct measures *b, const char *by, FILE *to,
		  bool all)
{
	static const enum measure_kind order[] = {
		MEASURE_SCOPE, MEASURE_CALL, MEASURE_STATE, MEASURE_EVENT,
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(order) / sizeof(order[0]); i++)
		err = print_table(a, b, order[i], by, to, all);
	return err;
}
