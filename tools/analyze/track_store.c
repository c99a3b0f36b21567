// SPDX-License-Identifier: GPL-2.0
/*
 * Stretches of tracks: see track_store.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/track_store.h"

/* The stretches of one track of one thread. */
struct list {
	struct stretch *at;
	uint32_t count;
	uint32_t room;
};

struct track_store {
	struct window *windows;		/* sorted, without overlaps */
	size_t nr_windows;
	struct list (*threads)[NR_TRACKS];	/* index: thread number */
	size_t room;			/* entries allocated in @threads */
	size_t count;			/* number of stretches */
	bool more;
	struct track_run *runs;		/* sorted by CPU and time, after track_store_end() */
	size_t nr_runs;
};

/* ------------------------------------------------------------------ */
/* Windows								*/

static int begins_earlier(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Joins windows that overlap, so that the windows are sorted by both starts and ends. */
static void join_windows(struct track_store *store)
{
	struct window *windows = store->windows;
	size_t last = 0;

	if (!store->nr_windows)
		return;
	qsort(windows, store->nr_windows, sizeof(*windows), begins_earlier);
	for (size_t i = 1; i < store->nr_windows; i++) {
		if (windows[i].begin > windows[last].end)
			windows[++last] = windows[i];
		else if (windows[i].end > windows[last].end)
			windows[last].end = windows[i].end;
	}
	store->nr_windows = last + 1;
}

static bool is_wanted(const struct track_store *store, const struct stretch *stretch)
{
	size_t low = 0, high = store->nr_windows;

	/* Find the first window that ends after the stretch begins. */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (store->windows[middle].end > stretch->begin)
			high = middle;
		else
			low = middle + 1;
	}
	return low < store->nr_windows && store->windows[low].begin < stretch->end;
}

int track_store_new(const struct window *windows, size_t count, struct track_store **store)
{
	struct track_store *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->windows = calloc(count + 1, sizeof(*new->windows));
	if (!new->windows) {
		free(new);
		return -ENOMEM;
	}
	memcpy(new->windows, windows, count * sizeof(*windows));
	new->nr_windows = count;
	join_windows(new);
	*store = new;
	return 0;
}

/* ------------------------------------------------------------------ */
/* Stretches								*/

static struct list *make_list(struct track_store *store, uint32_t thread, enum track track)
{
	struct list (*more)[NR_TRACKS];
	size_t room = store->room ? store->room : 64;

	while (room <= thread)
		room *= 2;
	if (room > store->room) {
		more = reallocarray(store->threads, room, sizeof(*more));
		if (!more)
			return NULL;
		memset(more + store->room, 0, (room - store->room) * sizeof(*more));
		store->threads = more;
		store->room = room;
	}
	return &store->threads[thread][track];
}

static int grow(struct list *list)
{
	uint32_t room = list->room ? 2 * list->room : 16;
	struct stretch *more = reallocarray(list->at, room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->at = more;
	list->room = room;
	return 0;
}

int track_store_add(struct track_store *store, uint32_t thread, enum track track,
		    const struct stretch *stretch)
{
	uint64_t begin = stretch->begin;
	struct list *list;

	if (begin >= stretch->end || !is_wanted(store, stretch))
		return 0;
	if (store->count == TRACKS_MAX) {
		store->more = true;
		return 0;
	}
	list = make_list(store, thread, track);
	if (!list || (list->count == list->room && grow(list)))
		return -ENOMEM;
	if (list->count && list->at[list->count - 1].end > begin)
		begin = list->at[list->count - 1].end;
	if (begin >= stretch->end)
		return 0;
	list->at[list->count] = *stretch;
	list->at[list->count++].begin = begin;
	store->count++;
	return 0;
}

const struct stretch *track_store_find(const struct track_store *store, enum track track,
				       uint32_t thread, uint64_t time, const struct stretch **end)
{
	const struct list *list;
	size_t low = 0, high;

	*end = NULL;
	if (thread >= store->room)
		return NULL;
	list = &store->threads[thread][track];
	high = list->count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (list->at[middle].end > time)
			high = middle;
		else
			low = middle + 1;
	}
	if (list->count)
		*end = list->at + list->count;
	return list->count ? list->at + low : NULL;
}

/* ------------------------------------------------------------------ */
/* Processors								*/

static int runs_earlier(const void *a, const void *b)
{
	const struct track_run *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Shortens runs that overlap, so that their ends are sorted. Only forged logs have such runs. */
static void cut_overlaps(struct track_store *store)
{
	struct track_run *runs = store->runs;
	size_t kept = 0;

	for (size_t i = 0; i < store->nr_runs; i++) {
		struct track_run run = runs[i];

		if (kept && runs[kept - 1].cpu == run.cpu && runs[kept - 1].end > run.begin)
			run.begin = runs[kept - 1].end;
		if (run.begin < run.end)
			runs[kept++] = run;
	}
	store->nr_runs = kept;
}

static void add_runs(struct track_store *store, uint32_t thread, const struct list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct stretch *stretch = &list->at[i];

		if (stretch->what != STATE_RUNNING || stretch->cpu == SOURCE_NO_CPU)
			continue;
		store->runs[store->nr_runs++] = (struct track_run){
			.begin = stretch->begin,
			.end = stretch->end,
			.cpu = stretch->cpu,
			.thread = thread,
		};
	}
}

int track_store_end(struct track_store *store)
{
	size_t count = 0;

	for (size_t i = 0; i < store->room; i++)
		count += store->threads[i][TRACK_STATE].count;
	store->runs = calloc(count + 1, sizeof(*store->runs));
	if (!store->runs)
		return -ENOMEM;
	for (size_t i = 0; i < store->room; i++)
		add_runs(store, (uint32_t)i, &store->threads[i][TRACK_STATE]);
	qsort(store->runs, store->nr_runs, sizeof(*store->runs), runs_earlier);
	cut_overlaps(store);
	return 0;
}

const struct track_run *track_store_find_run(const struct track_store *store, uint32_t cpu,
					     uint64_t time, const struct track_run **end)
{
	size_t low = 0, high = store->nr_runs;

	*end = store->runs + store->nr_runs;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		const struct track_run *run = &store->runs[middle];

		if (run->cpu > cpu || (run->cpu == cpu && run->end > time))
			high = middle;
		else
			low = middle + 1;
	}
	return store->runs + low;
}

bool track_store_more(const struct track_store *store)
{
	return store->more;
}

void track_store_free(struct track_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->room; i++) {
		for (size_t track = 0; track < NR_TRACKS; track++)
			free(store->threads[i][track].at);
	}
	free(store->threads);
	free(store->windows);
	free(store->runs);
	free(store);
}
