// SPDX-License-Identifier: MIT
/*
 * Compares the scopes of this process with the thresholds in the gate. Only events of types that a
 * condition names come here: their words in the gate have POSIXTRACE_GATE_CONDITION, so the fast
 * path does not take them.
 *
 * A thread remembers when its scopes began. As in the command, an end belongs to the latest begin
 * of the same thread that has no end yet. The number of a condition is unique, so what an earlier
 * condition, a stopped stream or the parent of this process left behind belongs to none.
 */
#include "common/sys.h"
#include "record/attach.h"
#include "record/condition.h"
#include "record/gate.h"

/* Scopes that a thread remembers: if more are open, it forgets the oldest one. */
#define OPEN_MAX	16

/* Times of an entry without a scope, and of one that is being filled. */
#define FREE		0
#define FILLING		1

/* While the controller has not read what was met, a thread calls MET at most this often, in ns. */
#define PAUSE		1000000U

/* Each entry has a scope that began at @time, if that is larger than FILLING. */
static __thread struct {
	__u64 time[OPEN_MAX];
	__u32 number[OPEN_MAX];
} opened __attribute__((__tls_model__("initial-exec")));

/*
 * How often conditions of a stream were met since the last MET, which was for an event at @time. A
 * hint. A gate of another @generation may belong to another process, after a fork.
 */
static __thread struct {
	__u64 generation;
	__u64 time;
	__u32 slot;
	__u32 count;
} unsaid __attribute__((__tls_model__("initial-exec")));

/* Returns false if the condition cannot be met, or is changing. */
static bool read_condition(const struct posixtrace_gate_condition *from,
			   struct posixtrace_gate_condition *condition)
{
	/* Pairs with the store in the kernel's store(). */
	condition->number = pxtu_load_acquire(&from->number);
	condition->begin = pxtu_load(&from->begin);
	condition->end = pxtu_load(&from->end);
	condition->threshold = pxtu_load(&from->threshold);
	/* Pairs with the barrier in the kernel's store(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return condition->number && pxtu_load(&from->number) == condition->number;
}

static bool names(const struct posixtrace_gate_condition *condition, __u32 id)
{
	return pxtu_load(&condition->begin) == id || pxtu_load(&condition->end) == id;
}

__u32 pxtu_condition_slots(__u32 id, __u32 mask)
{
	__u32 slot, i, found = 0;

	for (slot = 0; slot < POSIXTRACE_SLOTS_MAX; slot++) {
		for (i = 0; mask & (1U << slot) && i < POSIXTRACE_CONDITIONS_MAX; i++) {
			if (names(&pxtu_gate()->condition[slot][i], id))
				found |= 1U << slot;
		}
	}
	return found;
}

/* Signal handlers use the same entries. They take and free other ones than this function does. */
static void begin_scope(__u32 number, __u64 time)
{
	__u64 oldest;
	int i, at;

	do {
		at = 0;
		oldest = pxtu_load(&opened.time[0]);
		for (i = 1; i < OPEN_MAX; i++) {
			if (pxtu_load(&opened.time[i]) >= oldest)
				continue;
			at = i;
			oldest = pxtu_load(&opened.time[i]);
		}
	} while (!__atomic_compare_exchange_n(&opened.time[at], &oldest, FILLING, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	pxtu_store(&opened.number[at], number);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pxtu_store(&opened.time[at], time);
}

/* Returns the time at which the scope began; 0 if that is unknown. */
static __u64 end_scope(__u32 number)
{
	__u64 latest = FILLING, time;
	int i, at = 0;

	for (i = 0; i < OPEN_MAX; i++) {
		time = pxtu_load(&opened.time[i]);
		if (time <= latest || pxtu_load(&opened.number[i]) != number)
			continue;
		at = i;
		latest = time;
	}
	if (latest == FILLING)
		return 0;
	pxtu_store(&opened.time[at], FREE);
	return latest;
}

static void say(struct pxtu_state *state, struct posixtrace_met *met)
{
	const struct posixtrace_gate *gate = pxtu_gate();
	const __u64 generation = pxtu_load(&gate->generation);
	int saved_errno = errno;

	if (pxtu_load(&unsaid.generation) != generation || pxtu_load(&unsaid.slot) != met->slot) {
		pxtu_store(&unsaid.count, 0);
		pxtu_store(&unsaid.time, 0);
		pxtu_store(&unsaid.slot, met->slot);
		pxtu_store(&unsaid.generation, generation);
	}
	met->count = pxtu_load(&unsaid.count) + 1;
	if (met->time - pxtu_load(&unsaid.time) < PAUSE && pxtu_load(&gate->pending[met->slot])) {
		pxtu_store(&unsaid.count, met->count);
		return;
	}
	pxtu_store(&unsaid.count, 0);
	pxtu_store(&unsaid.time, met->time);
	pxtu_target_ioctl(state, POSIXTRACE_IOC_MET, met);
	errno = saved_errno;
}

void pxtu_condition_event(struct pxtu_state *state, __u32 slot, __u32 id, __u64 time)
{
	struct posixtrace_gate_condition condition;
	struct posixtrace_met met = { .time = time, .slot = slot };
	__u64 begin;

	for (; met.condition < POSIXTRACE_CONDITIONS_MAX; met.condition++) {
		if (!read_condition(&pxtu_gate()->condition[slot][met.condition], &condition))
			continue;
		if (condition.begin == id)
			begin_scope(condition.number, time);
		if (condition.end != id)
			continue;
		met.number = condition.number;
		met.duration = 0;
		if (condition.begin) {
			begin = end_scope(condition.number);
			met.duration = begin && time > begin ? time - begin : 0;
			if (met.duration <= condition.threshold)
				continue;
		}
		say(state, &met);
	}
}
