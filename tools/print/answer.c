// SPDX-License-Identifier: GPL-2.0
/*
 * Prints in one line where the time of a log's threads went: see answer.h.
 */
#include <errno.h>
#include <posixtrace.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/states.h"
#include "print/answer.h"
#include "print/cells.h"
#include "util/buffer.h"
#include "util/escape.h"

/* Sums over all threads, ns. */
struct answer {
	size_t threads;
	uint64_t lifetime;
	uint64_t time[STATES_COUNT];
	const char *call;	/* the call in which most of the blocked time was spent, or NULL */
	uint64_t in_call;
};

static void add_threads(struct answer *answer, const struct states *states)
{
	const struct states_thread *thread = states_threads(states, &answer->threads);

	for (size_t i = 0; i < answer->threads; i++) {
		answer->lifetime += thread[i].lifetime;
		for (int state = 0; state < STATES_COUNT; state++)
			answer->time[state] += thread[i].time[state];
	}
}

static int by_place(const void *a, const void *b)
{
	const struct waits_sum *left = a, *right = b;

	return (left->place > right->place) - (left->place < right->place);
}

/* Adds up the waits in each place over all threads. */
static int add_waits(struct answer *answer, const struct waits *waits)
{
	const struct waits_sum *sums;
	struct waits_sum *sorted;
	uint64_t time = 0;
	size_t count;

	sums = waits_sums(waits, &count);
	if (!count)
		return 0;
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, sums, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_place);
	for (size_t i = 0; i < count; i++) {
		time = i && sorted[i].place == sorted[i - 1].place ? time + sorted[i].time
								     : sorted[i].time;
		if (sorted[i].place <= WAITS_IN_CALL || time <= answer->in_call)
			continue;
		answer->call = waits_place_name(waits, sorted[i].place);
		answer->in_call = time;
	}
	free(sorted);
	return 0;
}

static unsigned int percent(const struct answer *answer, uint64_t ns)
{
	return (unsigned int)(100.0 * (double)ns / (double)answer->lifetime + 0.5);
}

static void print_part(const struct answer *answer, FILE *to, const char *what,
		       enum states_state state)
{
	char text[CELLS_SIZE];

	fprintf(to, "%s%s (%u %%)", what, cells_time(text, answer->time[state]),
		percent(answer, answer->time[state]));
}

static void print_call(const struct answer *answer, FILE *to)
{
	struct buffer name = { };
	char text[CELLS_SIZE];

	escape_message(&name, answer->call, strlen(answer->call));
	if (!name.failed)
		fprintf(to, ", %s of it in %.*s", cells_time(text, answer->in_call), (int)name.len,
			(const char *)name.data);
	buffer_free(&name);
}

static void print_answer(const struct answer *answer, FILE *to)
{
	fprintf(to, "posixtrace: %zu thread%s: ", answer->threads, answer->threads == 1 ? "" : "s");
	print_part(answer, to, "running ", STATES_RUNNING);
	print_part(answer, to, ", waiting for a processor ", STATES_RUNNABLE);
	print_part(answer, to, ", blocked ", STATES_BLOCKED);
	if (answer->call)
		print_call(answer, to);
	if (percent(answer, answer->time[STATES_UNKNOWN]))
		print_part(answer, to, ", unknown ", STATES_UNKNOWN);
	fputc('\n', to);
}

static int collect(struct source *source, struct states *states)
{
	struct event event;
	int err;

	while ((err = source_next(source, &event)) > 0) {
		err = states_event(states, &event, true);
		if (err)
			return err;
	}
	return err ?: states_end(states);
}

static void answer_from(struct source *source, FILE *to)
{
	struct answer answer = { };
	struct states *states;
	unsigned int classes;

	if (source_get_classes(source, &classes))
		return;
	if (states_new(classes, &states))
		return;
	if (!collect(source, states)) {
		add_threads(&answer, states);
		if (answer.lifetime && !add_waits(&answer, states_waits(states)))
			print_answer(&answer, to);
	}
	states_free(states);
}

void answer_print(const char *path, FILE *to)
{
	struct source *source;

	if (source_open_log(path, &source))
		return;
	answer_from(source, to);
	source_close(source);
}
