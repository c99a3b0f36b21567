/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core of the reader, compiled with a hook before each access to shared memory. In the hook, a
 * test can count accesses, or let a writer or the kernel act. Include this header in only one file
 * of a program.
 */
#ifndef READER_HOOKS_H
#define READER_HOOKS_H

#include "../../lib/common/pxtu.h"

/* Calls sim_between(). */
static void sim_hook(void);

#undef pxtu_load
#undef pxtu_load_acquire
#undef pxtu_store
#define pxtu_load(p)		({ sim_hook(); __atomic_load_n(p, __ATOMIC_RELAXED); })
#define pxtu_load_acquire(p)	({ sim_hook(); __atomic_load_n(p, __ATOMIC_ACQUIRE); })
#define pxtu_store(p, v)	({ sim_hook(); __atomic_store_n(p, v, __ATOMIC_RELAXED); })
#define memcpy(to, from, len)	({ sim_hook(); __builtin_memcpy(to, from, len); sim_hook(); })

#include "../../lib/common/kernel.c"
#include "../../lib/stream/ahead.c"
#include "../../lib/stream/gap.c"
#include "../../lib/stream/merge.c"
#include "../../lib/stream/reader.c"
#include "../../lib/stream/run.c"
#include "../../lib/stream/subbuf.c"
#include "../../lib/stream/window.c"

#undef pxtu_load
#undef pxtu_load_acquire
#undef pxtu_store
#undef memcpy
#define pxtu_load(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define pxtu_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define pxtu_store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)

/* Accesses in the simulation itself are by the kernel and by writers, so they have no hook. */
#include "reader_sim.h"

#define CPUS	4
#define SUBBUFS	12

/* What the hook does, or NULL. */
static void (*sim_between)(void);

static void sim_hook(void)
{
	void (*between)(void) = sim_between;

	if (!between)
		return;
	/* The action may access shared memory, so prevent a recursion. */
	sim_between = NULL;
	between();
	sim_between = between;
}

#define RUN_MAX		256
#define AHEAD		(RUN_MAX + 1)

/**
 * struct runs - events that were taken together
 * @max: maximum number taken together; 0: one by one; AHEAD: as many as the reader reads ahead
 * @events: the events
 * @data: their data
 * @next: index of the next event to return
 * @count: number of events
 * @longest: largest number of events taken together so far
 */
static struct runs {
	unsigned int max;
	struct posixtrace_batch_event events[RUN_MAX];
	__u64 data[RUN_MAX * SIM_MAX_DATA / 8];
	size_t next;
	size_t count;
	size_t longest;
} runs;

static void begin_runs(unsigned int max)
{
	runs = (struct runs){ .max = max };
}

static const struct posixtrace_batch_event *next_of_run(struct sim *sim)
{
	struct pxtu_place place = { runs.data, sizeof(runs.data) };

	if (runs.next == runs.count) {
		runs.next = 0;
		runs.count = pxtu_reader_run(&sim->reader, runs.events, runs.max, &place);
		if (runs.count > runs.longest)
			runs.longest = runs.count;
		if (!runs.count)
			return NULL;
		pxtu_reader_restart(&sim->reader);
	}
	return &runs.events[runs.next++];
}

static const struct posixtrace_batch_event *next_ahead(struct sim *sim)
{
	const struct posixtrace_batch_event *event = pxtu_ahead_next(&sim->reader);

	if (sim->reader.ahead.count > runs.longest)
		runs.longest = sim->reader.ahead.count;
	return event;
}

static const struct posixtrace_batch_event *next_of_several(struct sim *sim)
{
	return runs.max == AHEAD ? next_ahead(sim) : next_of_run(sim);
}

static const struct posixtrace_batch_event *next(struct sim *sim)
{
	const struct posixtrace_batch_event *event = runs.max ? next_of_several(sim) : NULL;
	static const struct pxtu_place none;

	return event ? event : pxtu_reader_next(&sim->reader, &none);
}

#endif /* READER_HOOKS_H */
