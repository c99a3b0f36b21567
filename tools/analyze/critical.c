// SPDX-License-Identifier: GPL-2.0
/*
 * Divides a period of a thread: see critical.h.
 *
 * The functions follow the waker of each wait recursively. The chain of struct walk has the threads
 * whose waits are being divided. They all wait at least until the end of the innermost wait, so
 * none of them can be the waker of that wait. If a log says otherwise, is_waiting() ends the
 * recursion.
 */
#include <errno.h>

#include "analyze/critical.h"

/* A thread whose time is being divided. */
struct walk {
	const struct tracks *tracks;
	struct parts *parts;
	const struct walk *outer;	/* the thread that waits for this one, or NULL */
	unsigned int depth;
	uint32_t thread;
	uint32_t parent;		/* the part that is being divided */
	bool open;			/* the thread's last state may outlast the period */
};

static int walk_period(const struct walk *walk, uint64_t begin, uint64_t end);

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Adds a part that is not divided. */
static int add_leaf(const struct walk *walk, uint32_t parent, struct part what, uint64_t begin,
		    uint64_t end)
{
	uint32_t part;
	int err;

	what.thread = walk->thread;
	err = parts_add(walk->parts, parent, &what, begin, end, &part);
	return err ? err : parts_step(walk->parts, part, begin, end);
}

static int add_unknown(const struct walk *walk, uint64_t begin, uint64_t end)
{
	if (begin >= end)
		return 0;
	return add_leaf(walk, walk->parent, (struct part){ .kind = PART_UNKNOWN }, begin, end);
}

/*
 * Finds the stretch at a time, or NULL. Limits @until to its end, or to the start of the next one.
 */
static const struct stretch *stretch_at(const struct walk *walk, enum track track, uint64_t time,
					uint64_t *until)
{
	const struct stretch *end;
	const struct stretch *at = tracks_find(walk->tracks, track, walk->thread, time, &end);

	if (at == end)
		return NULL;
	*until = min(*until, at->begin <= time ? at->end : at->begin);
	return at->begin <= time ? at : NULL;
}

/* ------------------------------------------------------------------ */
/* Running								*/

static uint64_t count_faults(const struct walk *walk, uint64_t begin, uint64_t end)
{
	const struct stretch *last;
	const struct stretch *fault = tracks_find(walk->tracks, TRACK_FAULT, walk->thread, begin,
						  &last);
	uint64_t count = 0;

	for (; fault != last && fault->begin < end; fault++)
		count += fault->begin >= begin;
	return count;
}

static int add_running(const struct walk *walk, const struct stretch *place, uint64_t begin,
		       uint64_t end)
{
	struct part what = { .kind = PART_RUNNING, .thread = walk->thread };
	uint32_t part;
	int err;

	if (place) {
		what.place = place->what;
		what.arg = place->arg;
		what.has_arg = place->has_arg;
	}
	err = parts_add(walk->parts, walk->parent, &what, begin, end, &part);
	if (err)
		return err;
	parts_add_faults(walk->parts, part, count_faults(walk, begin, end));
	return parts_step(walk->parts, part, begin, end);
}

static int divide_running(const struct walk *walk, uint64_t begin, uint64_t end)
{
	const struct stretch *irq, *place;
	uint64_t until;
	int err = 0;

	for (; !err && begin < end; begin = until) {
		until = end;
		irq = stretch_at(walk, TRACK_IRQ, begin, &until);
		if (irq) {
			err = add_leaf(walk, walk->parent,
				       (struct part){ .kind = PART_INTERRUPT, .other = irq->what },
				       begin, until);
			continue;
		}
		place = stretch_at(walk, TRACK_PLACE, begin, &until);
		err = add_running(walk, place, begin, until);
	}
	return err;
}

/* ------------------------------------------------------------------ */
/* Runnable								*/

/* Divides the time that the thread waits for a CPU by the threads that ran on the CPU. */
static int divide_cpu(const struct walk *walk, uint32_t parent, uint32_t cpu, uint64_t begin,
		      uint64_t end)
{
	const struct track_run *last;
	const struct track_run *run = tracks_find_run(walk->tracks, cpu, begin, &last);
	struct part what;
	uint64_t until;
	int err = 0;

	for (; !err && begin < end; begin = until) {
		what = (struct part){ .kind = PART_RAN_OTHER };
		until = end;
		if (run != last && run->cpu == cpu && run->begin <= begin) {
			what.kind = PART_RAN;
			what.other = run->thread;
			until = min(end, run++->end);
		} else if (run != last && run->cpu == cpu) {
			until = min(end, run->begin);
		}
		err = add_leaf(walk, parent, what, begin, until);
	}
	return err;
}

static int divide_runnable(const struct walk *walk, const struct stretch *state, uint64_t begin,
			   uint64_t end)
{
	const struct part what = {
		.kind = PART_RUNNABLE, .thread = walk->thread, .preempted = state->preempted,
	};
	const struct part unknown = { .kind = PART_RAN_UNKNOWN };
	const struct stretch *cpu;
	uint64_t until;
	uint32_t part;
	int err = parts_add(walk->parts, walk->parent, &what, begin, end, &part);

	for (; !err && begin < end; begin = until) {
		until = end;
		cpu = stretch_at(walk, TRACK_CPU, begin, &until);
		if (cpu)
			err = divide_cpu(walk, part, cpu->what, begin, until);
		else
			err = add_leaf(walk, part, unknown, begin, until);
	}
	return err;
}

/* ------------------------------------------------------------------ */
/* Blocked								*/

static bool is_waiting(const struct walk *walk, uint32_t thread)
{
	for (; walk; walk = walk->outer) {
		if (walk->thread == thread)
			return true;
	}
	return false;
}

/* Divides a wait of this thread into what another thread did during that time. */
static int follow(const struct walk *walk, uint32_t part, uint32_t thread, uint64_t begin,
		  uint64_t end, bool open)
{
	const struct walk inner = {
		.tracks = walk->tracks,
		.parts = walk->parts,
		.outer = walk,
		.depth = walk->depth + 1,
		.thread = thread,
		.parent = part,
		.open = open,
	};

	if (!thread || inner.depth > CRITICAL_DEPTH)
		return parts_step(walk->parts, part, begin, end);
	if (is_waiting(walk, thread))
		return add_unknown(&inner, begin, end);
	return walk_period(&inner, begin, end);
}

static int divide_blocked(const struct walk *walk, const struct stretch *state, uint64_t begin,
			  uint64_t end)
{
	const struct part what = {
		.kind = state->fault && state->place == WAITS_IN_NO_CALL ? PART_FAULT :
									   PART_BLOCKED,
		.thread = walk->thread,
		.other = state->waker,
		.holder = state->holder,
		.place = state->place,
		.arg = state->arg,
		.has_arg = state->has_arg,
		.by = state->by,
		.letter = state->letter,
		.io = state->io,
		.fault = state->fault,
		.caused = state->caused,
	};
	uint32_t part;
	int err;

	/*
	 * The thread woke or created the outer thread at @end, so it cannot have been blocked then.
	 */
	if (!walk->open && state->end > end)
		return add_unknown(walk, begin, end);
	err = parts_add(walk->parts, walk->parent, &what, begin, end, &part);
	if (err)
		return err;
	return follow(walk, part, state->caused ? state->waker : 0, begin, end,
		      state->end > end);
}

/* ------------------------------------------------------------------ */
/* Threads								*/

/* Divides the time before the thread existed into what its creator did. */
static int divide_unborn(const struct walk *walk, uint64_t begin, uint64_t end, bool open)
{
	const uint32_t parent = tracks_thread(walk->tracks, walk->thread)->parent;
	const struct part what = {
		.kind = PART_UNBORN, .thread = walk->thread, .other = parent,
	};
	uint32_t part;
	int err = parts_add(walk->parts, walk->parent, &what, begin, end, &part);

	return err ? err : follow(walk, part, parent, begin, end, open);
}

static int divide_state(const struct walk *walk, const struct stretch *state, uint64_t begin,
			uint64_t end)
{
	switch (state->what) {
	case STATE_RUNNING:
		return divide_running(walk, begin, end);
	case STATE_RUNNABLE:
		return divide_runnable(walk, state, begin, end);
	default:
		return divide_blocked(walk, state, begin, end);
	}
}

static int walk_period(const struct walk *walk, uint64_t begin, uint64_t end)
{
	const uint64_t born = tracks_thread(walk->tracks, walk->thread)->born;
	const struct stretch *state, *last;
	uint64_t until;
	int err = 0;

	if (born > begin) {
		until = min(born, end);
		err = divide_unborn(walk, begin, until, walk->open && born > end);
		begin = until;
	}
	state = tracks_find(walk->tracks, TRACK_STATE, walk->thread, begin, &last);
	for (; !err && state != last && state->begin < end; state++) {
		if (state->begin > begin) {
			err = add_unknown(walk, begin, state->begin);
			begin = state->begin;
		}
		until = min(state->end, end);
		if (!err)
			err = divide_state(walk, state, begin, until);
		begin = until;
	}
	return err ? err : add_unknown(walk, begin, end);
}

int critical_divide(const struct tracks *tracks, uint32_t thread, uint64_t begin, uint64_t end,
		    struct parts **parts)
{
	const struct part whole = { .kind = PART_WHOLE };
	struct walk walk = { .tracks = tracks, .thread = thread, .open = true };
	uint32_t part;
	int err = parts_new(parts);

	if (err)
		return err;
	walk.parts = *parts;
	err = parts_add(*parts, PARTS_NONE, &whole, begin, end, &part);
	if (!err)
		err = walk_period(&walk, begin, end);
	if (err) {
		parts_free(*parts);
		*parts = NULL;
	}
	return err;
}
