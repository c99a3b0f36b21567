// SPDX-License-Identifier: MIT
/*
 * Accounts for lost events, and decides when to report them.
 *
 * When events are lost after the reader has acknowledged the last generation of the gap, the kernel
 * starts a new generation. Losses before the acknowledgment extend the last generation. Unread
 * events up to the overwrite watermark are lost.
 */
#include <sched.h>

#include "stream/gap.h"
#include "stream/reader.h"

/* Yield the CPU after this many attempts to read the account. */
#define SPINS_MAX	1000

/* Read a consistent snapshot of the account. Returns the value of gap_lock. */
static __u32 gap_read(const struct pxtu_reader *reader, struct pxtu_gap *gap)
{
	const struct posixtrace_ctrl *ctrl = reader->map.ctrl;
	unsigned int spins = 0;
	__u32 lock;

	for (;;) {
		/* Pairs with the release in the kernel's pxt_gap_end(). */
		lock = pxtu_load_acquire(&ctrl->gap_lock);
		if (!(lock & 1)) {
			gap->generation = pxtu_load(&ctrl->gap_generation);
			gap->first = pxtu_load(&ctrl->gap_first);
			gap->previous_first = pxtu_load(&ctrl->previous_first);
			gap->overwrite_watermark = pxtu_load(&ctrl->overwrite_watermark);
			/* Pairs with the barrier in the kernel's pxt_gap_begin(). */
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			if (pxtu_load(&ctrl->gap_lock) == lock)
				return lock;
		}
		if (++spins % SPINS_MAX == 0)
			sched_yield();
	}
}

/*
 * Can a new loss be reported together with the open gap? Yes if no event between the gap and the
 * loss survived. That holds for a LOOP stream, which loses its oldest events. A stream that was
 * full and was restarted has events between its gaps, so the second gap waits until the first one
 * is reported.
 */
static bool gap_extends(const struct pxtu_reader *reader)
{
	return !reader->gap_open || reader->loop;
}

static void gap_acknowledge(struct pxtu_reader *reader, const struct pxtu_gap *gap)
{
	/*
	 * A loss that extends the open gap may start before the gap, because the sub-buffer that is
	 * overwritten next may be of another CPU, and start earlier.
	 */
	if (!reader->gap_open || gap->first < reader->gap_first)
		reader->gap_first = gap->first;
	reader->gap_open = true;
	reader->gap_ack = gap->generation;
	/*
	 * Acknowledge before reading the account again. Pairs with the barrier in the kernel's
	 * pxt_gap_begin(), between taking gap_lock and reading gap_ack: if the kernel did not see
	 * our acknowledgment, the account that we read next has its loss.
	 */
	pxtu_store(&reader->map.shared->gap_ack, gap->generation);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * Have we acknowledged this generation? If so, all losses in the account are noted. If this is
 * already the next generation, previous_first is the start of the acknowledged generation, because
 * the kernel starts at most one generation per acknowledgment.
 */
static bool gap_noted(struct pxtu_reader *reader, const struct pxtu_gap *gap, __u32 lock)
{
	bool noted = gap->generation == reader->gap_ack;
	__u64 first = noted ? gap->first : gap->previous_first;

	reader->overwrite_watermark = gap->overwrite_watermark;
	/* The kernel may have extended the gap, in both directions, before we acknowledged it. */
	if (reader->gap_open && first < reader->gap_first)
		reader->gap_first = first;
	if (noted)
		reader->gap_lock = lock;
	return noted;
}

void pxtu_gap_note(struct pxtu_reader *reader)
{
	struct pxtu_gap gap;
	__u32 lock;

	for (;;) {
		lock = gap_read(reader, &gap);
		if (gap_noted(reader, &gap, lock) || !gap_extends(reader))
			return;
		gap_acknowledge(reader, &gap);
	}
}

bool pxtu_gap_note_before(struct pxtu_reader *reader, __u64 timestamp)
{
	struct pxtu_gap gap;
	__u32 lock;

	for (;;) {
		lock = gap_read(reader, &gap);
		if (gap_noted(reader, &gap, lock))
			return timestamp > gap.overwrite_watermark;
		/*
		 * Leave a loss after the record to the next call. But if the loss extends an open
		 * gap, the record may lie between that gap and the loss, and then counts as lost.
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
	for (cpu = 0; cpu + reader->nr_cpus + 1 < reader->nr_lists; cpu++)
		lost += pxtu_load(&reader->kernel_heads[cpu].lost);
	/* A traced process may have forged the count of a head: never report fewer than before. */
	return lost > reader->lost ? lost : reader->lost;
}
