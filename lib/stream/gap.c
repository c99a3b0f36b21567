// SPDX-License-Identifier: MIT
/*
 * Lost events: the kernel's account of them, and when they are reported.
 *
 * The kernel starts a new generation of the gap when events get lost after the
 * reader has acknowledged the last one; until then it extends that. Events that
 * the reader did not have in its hands at the time are lost up to the overwrite watermark.
 */
#include <sched.h>

#include "stream/reader.h"

/* Reads of a lock that stays odd before the CPU is given to somebody else. */
#define SPINS_MAX	1000

void pxtu_gap_read(const struct pxtu_reader *reader, struct pxtu_gap *gap)
{
	const struct posixtrace_ctrl *ctrl = reader->map.ctrl;
	unsigned int spins = 0;
	__u32 lock;

	for (;;) {
		/* Pairs with the kernel's release when it has changed the account. */
		lock = pxtu_load_acquire(&ctrl->gap_lock);
		if (!(lock & 1)) {
			gap->generation = pxtu_load(&ctrl->gap_generation);
			gap->first = pxtu_load(&ctrl->gap_first);
			gap->overwrite_watermark = pxtu_load(&ctrl->overwrite_watermark);
			/* Pairs with the kernel's barrier before it changes it. */
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			if (pxtu_load(&ctrl->gap_lock) == lock)
				return;
		}
		if (++spins % SPINS_MAX == 0)
			sched_yield();
	}
}

/*
 * Can this loss be told together with the open gap? Yes if nothing that lies
 * between them survived: a LOOP stream loses from the old end. A stream that was
 * full and restarted has events between its gaps: the second one has to wait
 * until the first was reported.
 */
static bool gap_extends(const struct pxtu_reader *reader)
{
	return !reader->gap_open || reader->loop;
}

static void gap_acknowledge(struct pxtu_reader *reader, const struct pxtu_gap *gap)
{
	/*
	 * One that extends the open gap may reach back further: what is overwritten
	 * next can begin before what was overwritten first, on another CPU.
	 */
	if (!reader->gap_open || gap->first < reader->gap_first)
		reader->gap_first = gap->first;
	reader->gap_open = true;
	reader->gap_ack = gap->generation;
	/*
	 * Before the account is read again. Pairs with the kernel's barrier
	 * between taking gap_lock and reading gap_ack: a loss that did not see
	 * what we acknowledge is in the account that is read next.
	 */
	pxtu_store(&reader->map.shared->gap_ack, gap->generation);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Is the account what we have acknowledged, and is it all in our notes? */
static bool gap_noted(struct pxtu_reader *reader, const struct pxtu_gap *gap)
{
	if (gap->generation != reader->gap_ack)
		return false;
	/* It may have been extended to both sides just before we acknowledged it. */
	if (reader->gap_open && gap->first < reader->gap_first)
		reader->gap_first = gap->first;
	return true;
}

void pxtu_gap_note(struct pxtu_reader *reader, struct pxtu_gap *gap)
{
	for (;;) {
		pxtu_gap_read(reader, gap);
		if (gap_noted(reader, gap) || !gap_extends(reader))
			return;
		gap_acknowledge(reader, gap);
	}
}

bool pxtu_gap_note_before(struct pxtu_reader *reader, __u64 timestamp)
{
	struct pxtu_gap gap;

	for (;;) {
		pxtu_gap_read(reader, &gap);
		if (gap_noted(reader, &gap))
			return timestamp > gap.overwrite_watermark;
		/*
		 * What was lost behind the record is for the next call. Unless
		 * something was lost before it too: then it may lie in between,
		 * or not, and counts as lost.
		 */
		if ((gap.first >= timestamp && !reader->gap_open) || !gap_extends(reader))
			return true;
		gap_acknowledge(reader, &gap);
	}
}

__u64 pxtu_gap_lost(const struct pxtu_reader *reader)
{
	__u64 lost = pxtu_load(&reader->map.ctrl->lost) + reader->skipped;
	__u32 cpu;

	for (cpu = 0; cpu < reader->nr_cpus; cpu++)
		lost += pxtu_load(&reader->map.heads[cpu].lost);
	/* What a traced process has written there may be anything. */
	return lost > reader->lost ? lost : reader->lost;
}
