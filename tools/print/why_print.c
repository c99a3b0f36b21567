// SPDX-License-Identifier: GPL-2.0
/*
 * Prints why a period took so long, as a tree: see why_print.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print/cells.h"
#include "print/why_print.h"
#include "print/why_text.h"
#include "util/escape.h"

/* Parts of less than 1/200 of the whole are combined into one line. */
#define SMALL	200

/* Arguments that all lines share. */
struct tree {
	const struct why *why;
	const struct part *parts;
	FILE *to;
	bool all;
	struct buffer text;
};

static double percent(const struct tree *tree, uint64_t ns)
{
	const uint64_t whole = tree->parts[0].ns;

	return whole ? 100.0 * (double)ns / (double)whole : 0;
}

/* Prints tree->text as the end of a line, and empties it. */
static int end_line(struct tree *tree)
{
	if (tree->text.failed)
		return -ENOMEM;
	fwrite(tree->text.data, 1, tree->text.len, tree->to);
	fputc('\n', tree->to);
	buffer_reset(&tree->text);
	return 0;
}

static void print_cells(const struct tree *tree, uint64_t ns, uint64_t count, uint64_t longest)
{
	char text[CELLS_SIZE];

	fprintf(tree->to, "%9s %6.1f ", cells_time(text, ns), percent(tree, ns));
	if (count)
		fprintf(tree->to, "%6llu %9s  ", (unsigned long long)count,
			cells_time(text, longest));
	else
		fprintf(tree->to, "%18s", "");
}

/*
 * Print the number of periods? It is useful for waits and interrupts, but not for running threads.
 */
static bool is_counted(const struct part *part)
{
	switch (part->kind) {
	case PART_RUNNABLE:
	case PART_BLOCKED:
	case PART_FAULT:
	case PART_INTERRUPT:
		return true;
	default:
		return false;
	}
}

/*
 * Returns the thread that ran while @part waited for a CPU, if there was only one. That thread is
 * printed on the line of @part.
 */
static const struct part *only_runner(const struct tree *tree, const struct part *part)
{
	const struct part *child;

	if (part->kind != PART_RUNNABLE || part->child == PARTS_NONE)
		return NULL;
	child = &tree->parts[part->child];
	return child->next == PARTS_NONE ? child : NULL;
}

static int print_part(struct tree *tree, const struct part *part, unsigned int depth)
{
	const struct part *runner = only_runner(tree, part);
	const struct part *parent = &tree->parts[part->parent];
	bool counted = is_counted(part);

	print_cells(tree, part->ns, counted ? part->count : 0, part->longest);
	buffer_spaces(&tree->text, 2 * depth);
	/*
	 * Print the thread of a part if it differs from that of its parent: inside a wait, it is
	 * the waker.
	 */
	if (part->kind != PART_MORE && parent->kind != PART_WHOLE &&
	    parent->thread != part->thread) {
		why_text_label(&tree->text, tree->why->tracks, part->thread);
		buffer_text(&tree->text, ": ");
	}
	why_text(&tree->text, tree->why->tracks, part);
	if (runner) {
		buffer_text(&tree->text, ", ");
		why_text(&tree->text, tree->why->tracks, runner);
	}
	return end_line(tree);
}

static int print_rest(struct tree *tree, uint64_t ns, size_t count, unsigned int depth)
{
	print_cells(tree, ns, 0, 0);
	buffer_spaces(&tree->text, 2 * depth);
	buffer_printf(&tree->text, "%zu smaller part%s", count, count == 1 ? "" : "s");
	return end_line(tree);
}

static bool is_small(const struct tree *tree, const struct part *part)
{
	return !tree->all && part->ns < tree->parts[0].ns / SMALL;
}

static int print_parts(struct tree *tree, uint32_t number, unsigned int depth)
{
	size_t count, i;
	uint32_t *sorted = parts_sorted(tree->why->parts, number, &count);
	uint64_t rest = 0;
	int err = sorted ? 0 : -ENOMEM;

	for (i = 0; !err && i < count; i++) {
		const struct part *part = &tree->parts[sorted[i]];

		if (is_small(tree, part) && i + 1 < count)
			break;
		err = print_part(tree, part, depth);
		if (!err && !only_runner(tree, part))
			err = print_parts(tree, sorted[i], depth + 1);
	}
	for (size_t small = i; !err && small < count; small++)
		rest += tree->parts[sorted[small]].ns;
	/* Print the line for the rest only if other parts have lines. */
	if (!err && i && i < count)
		err = print_rest(tree, rest, count - i, depth);
	free(sorted);
	return err;
}

/* ------------------------------------------------------------------ */
/* The longest part							*/

/* Compares what two parts are, ignoring their place in the tree. */
static int compare_what(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->other != y->other)
		return x->other < y->other ? -1 : 1;
	if (x->holder != y->holder)
		return x->holder < y->holder ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->arg != y->arg)
		return x->arg < y->arg ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return x->io - y->io;
}

/*
 * Finds the kind of part that took longest, among the parts without children. Returns 0 or -ENOMEM.
 */
static int find_longest(const struct tree *tree, struct part *longest)
{
	size_t count, leaves = 0;
	const struct part *parts = parts_all(tree->why->parts, &count);
	struct part *sorted = calloc(count, sizeof(*sorted));

	*longest = (struct part){ .kind = PART_UNKNOWN };
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++) {
		if (parts[i].child == PARTS_NONE && parts[i].kind != PART_MORE)
			sorted[leaves++] = parts[i];
	}
	qsort(sorted, leaves, sizeof(*sorted), compare_what);
	for (size_t i = 0; i < leaves; i++) {
		if (i && !compare_what(&sorted[i - 1], &sorted[i])) {
			sorted[i].ns += sorted[i - 1].ns;
			sorted[i].faults += sorted[i - 1].faults;
		}
		if (sorted[i].ns > longest->ns)
			*longest = sorted[i];
	}
	free(sorted);
	return 0;
}

static int print_longest(struct tree *tree)
{
	char text[CELLS_SIZE];
	struct part longest;
	int err = find_longest(tree, &longest);

	if (err || !longest.ns)
		return err;
	buffer_printf(&tree->text, "most: %.1f %% (%s) ", percent(tree, longest.ns),
		      cells_time(text, longest.ns));
	why_text_label(&tree->text, tree->why->tracks, longest.thread);
	buffer_text(&tree->text, ": ");
	if (longest.kind == PART_RAN || longest.kind == PART_RAN_OTHER ||
	    longest.kind == PART_RAN_UNKNOWN)
		buffer_text(&tree->text, "runnable, ");
	why_text(&tree->text, tree->why->tracks, &longest);
	return end_line(tree);
}

/* ------------------------------------------------------------------ */
/* All									*/

/* Appends a time in the format of "posixtrace dump", to be found there. */
static void put_time(struct tree *tree, uint64_t time)
{
	const uint64_t ns = time - tree->why->first;

	buffer_printf(&tree->text, "%llu.%03llu", (unsigned long long)(ns / 1000),
		      (unsigned long long)(ns % 1000));
}

static const char *const sums[] = {
	"running", "runnable", "interrupts", "faults", "blocked", "unknown",
};

#define NR_SUMS		(sizeof(sums) / sizeof(sums[0]))

/* Returns the index in sums[] to which a part is added. */
static size_t sum_of(const struct part *part)
{
	switch (part->kind) {
	case PART_RUNNING:
		return 0;
	case PART_RUNNABLE:
		return 1;
	case PART_INTERRUPT:
		return 2;
	case PART_FAULT:
		return 3;
	case PART_BLOCKED:
		return 4;
	default:
		return 5;
	}
}

/* Prints how long the explained thread itself was in each state. */
static int print_sums(struct tree *tree)
{
	uint64_t ns[NR_SUMS] = { };
	const char *comma = "";
	char text[CELLS_SIZE];

	for (uint32_t child = tree->parts[0].child; child != PARTS_NONE;
	     child = tree->parts[child].next)
		ns[sum_of(&tree->parts[child])] += tree->parts[child].ns;
	for (size_t i = 0; i < NR_SUMS; i++) {
		if (!ns[i])
			continue;
		buffer_printf(&tree->text, "%s%s %s (%.1f %%)", comma, sums[i],
			      cells_time(text, ns[i]), percent(tree, ns[i]));
		comma = ", ";
	}
	return *comma ? end_line(tree) : 0;
}

static int print_head(struct tree *tree)
{
	const struct why *why = tree->why;
	char text[CELLS_SIZE];

	if (why->scope) {
		escape_plain(&tree->text, why->scope, strlen(why->scope));
		buffer_printf(&tree->text, " %zu of %zu: ", why->number, why->of);
	}
	buffer_printf(&tree->text, "%s of ", cells_time(text, why->end - why->begin));
	why_text_label(&tree->text, why->tracks, why->thread);
	buffer_printf(&tree->text, ", process %d, from ",
		      (int)tracks_thread(why->tracks, why->thread)->plain_pid);
	put_time(tree, why->begin);
	buffer_text(&tree->text, " to ");
	put_time(tree, why->end);
	return end_line(tree);
}

int why_print(const struct why *why, FILE *to, bool all)
{
	struct tree tree = { .why = why, .to = to, .all = all };
	size_t count;
	int err;

	tree.parts = parts_all(why->parts, &count);
	err = print_head(&tree);
	if (!err)
		err = print_sums(&tree);
	if (!err)
		err = print_longest(&tree);
	fprintf(to, "\n%9s %6s %6s %9s  %s\n", "TIME", "%", "COUNT", "LONGEST", "WHAT");
	if (!err)
		err = print_parts(&tree, 0, 0);
	buffer_free(&tree.text);
	return err;
}
