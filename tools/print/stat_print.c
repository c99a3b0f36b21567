// SPDX-License-Identifier: GPL-2.0
/*
 * Prints tables of event statistics: see stat_print.h.
 */
#include <stdlib.h>
#include <string.h>

#include "print/cells.h"
#include "print/stat_print.h"
#include "util/escape.h"

#define THREADS_SHOWN	20
#define NAME_WIDTH	28
#define BAR_WIDTH	40
#define THREAD_WIDTH	17

static void print_percentiles(FILE *to, const struct histogram *histogram)
{
	static const unsigned int percent[] = { 50, 90, 99 };
	char text[CELLS_SIZE];

	for (size_t i = 0; i < sizeof(percent) / sizeof(percent[0]); i++)
		fprintf(to, " %9s", histogram->count ?
			cells_time(text, histogram_percentile(histogram, percent[i])) : "-");
	fprintf(to, " %9s", histogram->count ? cells_time(text, histogram->max) : "-");
}

/* ------------------------------------------------------------------ */
/* Types								*/

static int more_events(const void *a, const void *b)
{
	const struct stat_type *x = *(struct stat_type *const *)a;
	const struct stat_type *y = *(struct stat_type *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Prints the statistics of all fields, if there are any. */
static void print_fields(const struct stat_type *const *types, size_t count, FILE *to)
{
	bool head = false;

	for (size_t i = 0; i < count; i++) {
		if (!types[i]->fields.nr_fields)
			continue;
		if (!head)
			fprintf(to, "\n%-40s %10s %12s %12s %12s  %s\n", "FIELD", "COUNT", "MIN",
				"MEAN", "MAX", "UNIT");
		head = true;
		stat_fields_print(&types[i]->fields, types[i]->name, to);
	}
}

static void print_types(const struct stats *stats, FILE *to)
{
	static const struct stat_type *sorted[STAT_TYPES];
	char text[CELLS_SIZE];
	size_t count = 0, width = NAME_WIDTH;

	for (size_t i = 0; i < STAT_TYPES; i++) {
		if (!stats->type[i])
			continue;
		sorted[count++] = stats->type[i];
		cells_widen(&width, stats->type[i]->name);
	}
	qsort(sorted, count, sizeof(*sorted), more_events);
	fprintf(to, "\n%-*s %10s %11s  %s%3s %9s %9s %9s\n", (int)width, "EVENT", "COUNT", "RATE",
		"INTERVAL: ", "p50", "p90", "p99", "max");
	for (size_t i = 0; i < count; i++) {
		cells_name(to, sorted[i]->name, width);
		fprintf(to, " %10llu %11s%5s", (unsigned long long)sorted[i]->count,
			cells_rate(text, sorted[i]->count, stats->last - stats->first), "");
		print_percentiles(to, &sorted[i]->intervals);
		fputc('\n', to);
	}
	print_fields(sorted, count, to);
}

/* ------------------------------------------------------------------ */
/* Threads								*/

static int busier(const void *a, const void *b)
{
	const struct stat_thread *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void print_thread(const struct stats *stats, FILE *to, const struct stat_thread *thread)
{
	char rate[CELLS_SIZE], first[CELLS_SIZE], last[CELLS_SIZE];

	fprintf(to, "%10llu %11s %9s %9s\n", (unsigned long long)thread->count,
		cells_rate(rate, thread->count, stats->last - stats->first),
		cells_time(first, thread->first > stats->first ?
			    thread->first - stats->first : 0),
		cells_time(last, thread->last > stats->first ?
			    thread->last - stats->first : 0));
}

static void print_label(FILE *to, const struct stat_thread *thread, size_t width)
{
	if (thread->label[0])
		cells_name(to, thread->label, width);
	else
		fprintf(to, "%#*llx", (int)width, (unsigned long long)thread->thread);
	fputc(' ', to);
}

static void print_threads(const struct stats *stats, FILE *to, bool all)
{
	struct stat_thread *sorted;
	size_t count = stats->nr_threads - 1, shown, width = THREAD_WIDTH;

	/* Entry 0 is for all threads beyond the limit. */
	sorted = calloc(stats->nr_threads, sizeof(*sorted));
	if (!sorted)
		return;
	memcpy(sorted, stats->thread + 1, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), busier);
	shown = all || count <= THREADS_SHOWN ? count : THREADS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		cells_widen(&width, sorted[i].label);
	fprintf(to, "\n%10s %*s %10s %11s %9s %9s\n", "PROCESS", (int)width, "THREAD", "COUNT",
		"RATE", "FIRST", "LAST");
	for (size_t i = 0; i < shown; i++) {
		fprintf(to, "%10d ", (int)sorted[i].pid);
		print_label(to, &sorted[i], width);
		print_thread(stats, to, &sorted[i]);
	}
	if (shown < count)
		fprintf(to, "%*s threads: use --all\n", (int)width + 11, "and more");
	if (stats->thread[0].count) {
		fprintf(to, "%*s ", (int)width + 11, "all others");
		print_thread(stats, to, &stats->thread[0]);
	}
	free(sorted);
}

/* ------------------------------------------------------------------ */
/* Pairs								*/

static bool is_pair(const struct stat_pair *pair)
{
	return pair->roles == (1U << PAIRS_BEGIN | 1U << PAIRS_END);
}

/* Prints the name of a pair without the separator before "begin". */
static void print_pair_name(FILE *to, const struct stat_pair *pair, size_t column)
{
	char name[PAIRS_NAME_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)strlen(pair->name) - 1, pair->name);
	cells_name(to, name, column);
}

static int longer(const void *a, const void *b)
{
	const struct stat_pair *x = *(struct stat_pair *const *)a;
	const struct stat_pair *y = *(struct stat_pair *const *)b;

	if (x->durations.sum != y->durations.sum)
		return x->durations.sum < y->durations.sum ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void print_histogram(FILE *to, const struct histogram *histogram)
{
	char from[CELLS_SIZE], until[CELLS_SIZE];
	unsigned int first = HISTOGRAM_ROWS, last = 0;
	uint64_t most = 0, count;

	for (unsigned int row = 0; row < HISTOGRAM_ROWS; row++) {
		count = histogram_row(histogram, row);
		if (count && first == HISTOGRAM_ROWS)
			first = row;
		if (count)
			last = row;
		if (count > most)
			most = count;
	}
	for (unsigned int row = first; row <= last; row++) {
		count = histogram_row(histogram, row);
		fprintf(to, "  [%9s, %9s) %10llu |%-*.*s|\n",
			cells_time(from, histogram_row_start(row)),
			row + 1 < HISTOGRAM_ROWS ?
			cells_time(until, histogram_row_start(row + 1)) : "",
			(unsigned long long)count, BAR_WIDTH,
			(int)((double)count * BAR_WIDTH / most + 0.5),
			"########################################");
	}
}

/* Explains why events of a pair are unmatched. */
static void print_unmatched(FILE *to, const struct stat_pair *pair)
{
	fprintf(to, "  unmatched: %llu without end, ", (unsigned long long)pair->no_end);
	fprintf(to, "%llu without begin, ", (unsigned long long)pair->no_begin);
	fprintf(to, "%llu across a gap\n", (unsigned long long)pair->doubtful);
}

static void print_pairs(const struct stats *stats, FILE *to, bool histograms)
{
	static const struct stat_pair *sorted[STAT_TYPES];
	struct stat_pair *pair;
	size_t count = 0, width = NAME_WIDTH;
	char text[CELLS_SIZE];

	for (pair = stats->pair; pair; pair = pair->next) {
		if (!is_pair(pair))
			continue;
		sorted[count++] = pair;
		cells_widen(&width, pair->name);
	}
	if (!count)
		return;
	qsort(sorted, count, sizeof(*sorted), longer);
	fprintf(to, "\n%-*s %10s %9s %9s %9s %9s %9s %10s\n", (int)width, "FROM BEGIN TO END",
		"COUNT", "TOTAL", "p50", "p90", "p99", "max", "UNMATCHED");
	for (size_t i = 0; i < count; i++) {
		print_pair_name(to, sorted[i], width);
		fprintf(to, " %10llu %9s", (unsigned long long)sorted[i]->durations.count,
			cells_time(text, sorted[i]->durations.sum));
		print_percentiles(to, &sorted[i]->durations);
		fprintf(to, " %10llu", (unsigned long long)(sorted[i]->no_begin +
							    sorted[i]->no_end +
							    2 * sorted[i]->doubtful));
		fputc('\n', to);
		if (sorted[i]->no_begin || sorted[i]->no_end || sorted[i]->doubtful)
			print_unmatched(to, sorted[i]);
	}
	for (size_t i = 0; histograms && i < count; i++) {
		if (!sorted[i]->durations.count)
			continue;
		fputc('\n', to);
		print_pair_name(to, sorted[i], 0);
		fputc('\n', to);
		print_histogram(to, &sorted[i]->durations);
	}
}

void stats_print(const struct stats *stats, FILE *to, bool all, bool histograms)
{
	char text[CELLS_SIZE];

	fprintf(to, "%-9s %llu user, %llu system", "events",
		(unsigned long long)stats->user, (unsigned long long)stats->system);
	if (stats->truncated)
		fprintf(to, "; %llu with truncated data", (unsigned long long)stats->truncated);
	if (!stats->begun) {
		fputc('\n', to);
		return;
	}
	fprintf(to, "\n%-9s %s\n", "time", cells_time(text, stats->last - stats->first));
	fprintf(to, "%-9s %s\n", "rate",
		cells_rate(text, stats->user, stats->last - stats->first));
	print_types(stats, to);
	if (stats->user)
		print_threads(stats, to, all);
	print_pairs(stats, to, histograms);
}
