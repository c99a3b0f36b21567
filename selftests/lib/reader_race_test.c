// SPDX-License-Identifier: GPL-2.0
/*
 * The core of the reader with a simulated kernel: writers and the kernel act at any point of the
 * reader's work. Needs no module.
 */
#define PXT_NO_DEVICE
#include "pxt_test.h"
#include "reader_hooks.h"

/* The oldest sub-buffer of CPU 0, while it is being recycled. */
static __u32 half_recycled;
static unsigned int finished;

/* Completes the recycling before RELEASE. In a real kernel, RELEASE would wait for it at a lock. */
static int finish_recycling(struct pxtu_reader *reader, __u32 idx)
{
	struct sim *sim = (struct sim *)reader;

	if (idx == half_recycled && sim->oldest[0] == idx) {
		finished++;
		sim_unlink(sim, idx);
		sim->subbufs[idx].state = POSIXTRACE_SUBBUF_FREE;
	}
	return sim_release(reader, idx);
}

/*
 * A virtual CPU may stop at any time, so the kernel may be in the middle of recycling a sub-buffer.
 */
TEST(cpu_without_visible_records_is_not_empty)
{
	const struct posixtrace_batch_event *event;
	__u64 n = 0, consumed, first;
	struct sim sim;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	sim.reader.release = finish_recycling;
	do {
		n++;
		ASSERT_NE(0, sim_write(&sim, 0, &n, sizeof(n)));
	} while (sim.open[0] == sim.oldest[0]);
	first = n++;
	ASSERT_NE(0, sim_write(&sim, 1, &n, sizeof(n)));

	/* Does the same as sim_recycle(), except its last step. */
	half_recycled = sim.oldest[0];
	sim_gap_lock(&sim);
	consumed = __atomic_exchange_n(&sim.shared->consumed[half_recycled].position, 0,
				       __ATOMIC_SEQ_CST);
	sim_lose(&sim, sim_unread_time(&sim, half_recycled, consumed),
		 sim.subbufs[half_recycled].closed);
	sim_gap_unlock(&sim);

	do {
		event = next(&sim);
		ASSERT_NE(NULL, event);
	} while (event->event.posix_event_id != POSIXTRACE_ID_UNNAMED);
	EXPECT_EQ(first, payload(event));
	EXPECT_EQ(1, finished);
	event = next(&sim);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(n, payload(event));
	EXPECT_EQ(NULL, next(&sim));
	pxtu_reader_destroy(&sim.reader);
}

/* The number of accesses by the reader after which the kernel recycles the oldest sub-buffer. */
static struct {
	struct sim sim;
	unsigned int looks;
} recycled;

static void recycle_once(void)
{
	__u32 idx = sim_oldest_closed(&recycled.sim);

	if (recycled.looks && !--recycled.looks && idx != POSIXTRACE_NONE)
		sim_recycle(&recycled.sim, idx);
}

/*
 * A record must be lost or read, but not both. This must hold even if no record was taken yet, so
 * that the consumer position has its initial value.
 */
TEST(record_is_lost_or_read_once_whenever_its_subbuf_is_recycled)
{
	static const unsigned int max[] = { 0, AHEAD, RUN_MAX };

	for (unsigned int i = 0; i < 3 * 1000; i++) {
		struct sim *sim = &recycled.sim;
		const struct posixtrace_batch_event *event;
		__u64 n = 0, read = 0;

		begin_runs(max[i % 3]);
		ASSERT_EQ(0, sim_init(sim, CPUS, SUBBUFS, true));
		do {
			n++;
			ASSERT_NE(0, sim_write(sim, 0, &n, sizeof(n)));
		} while (sim->open[0] == sim->oldest[0]);
		recycled.looks = 1 + i / 3;
		sim_between = recycle_once;
		while ((event = next(sim)))
			read += event->event.posix_event_id == POSIXTRACE_ID_UNNAMED;
		sim_between = NULL;
		EXPECT_EQ(n, read + sim->ctrl->lost + sim->reader.skipped);
		EXPECT_EQ(0, sim->reader.corrupt);
		pxtu_reader_destroy(&sim->reader);
		munmap((void *)((uintptr_t)sim->pool & -4096UL), sim->map.pool_size);
	}
}

/* A gap that the reader has seen too late, and the losses before and after that. */
static struct {
	struct sim sim;
	__u64 before;
	__u64 seen;
	__u64 behind;
} growth;

static void lose_at(__u64 time)
{
	sim_gap_lock(&growth.sim);
	sim_lose(&growth.sim, time, growth.seen);
	sim_gap_unlock(&growth.sim);
}

/* The gap grows before the reader acknowledges it. After that, another gap starts immediately. */
static void grow_gap(void)
{
	const struct posixtrace_ctrl *ctrl = growth.sim.ctrl;

	if (!growth.sim.reader.gap_open || ctrl->gap_generation != 1)
		return;
	lose_at(growth.sim.shared->gap_ack == 1 ? growth.behind : growth.before);
}

TEST(overflow_has_the_beginning_of_a_gap_that_grew_before_its_acknowledgement)
{
	const struct posixtrace_batch_event *event;
	__u64 n = 1, time;

	ASSERT_EQ(0, sim_init(&growth.sim, CPUS, SUBBUFS, true));
	growth.before = sim_now(&growth.sim);
	growth.seen = sim_now(&growth.sim);
	growth.behind = sim_now(&growth.sim);
	time = sim_write(&growth.sim, 0, &n, sizeof(n));
	lose_at(growth.seen);
	sim_between = grow_gap;
	event = next(&growth.sim);
	sim_between = NULL;
	EXPECT_EQ(2, growth.sim.ctrl->gap_generation);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_OVERFLOW, event->event.posix_event_id);
	EXPECT_EQ(growth.before, pxtu_batch_time(event));
	event = next(&growth.sim);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_RESUME, event->event.posix_event_id);
	EXPECT_EQ(time, pxtu_batch_time(event));
	event = next(&growth.sim);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(n, payload(event));
	pxtu_reader_destroy(&growth.sim.reader);
}

/* ------------------------------------------------------------------ */
/* A stream that becomes full						*/

/* The number of accesses by the reader after which the stream becomes full. */
static struct {
	struct sim sim;
	unsigned int looks;
} filling;

static void fill_up(void)
{
	if (filling.looks && !--filling.looks)
		sim_fill_up(&filling.sim);
}

static void write_until_full(void)
{
	static const char data[SIM_MAX_DATA];

	while (sim_write(&filling.sim, 0, data, sizeof(data)))
		;
}

/* Reads all events. Returns the number of STARTs that are not preceded by a reported hole. */
static int unreported_holes(void)
{
	const struct posixtrace_batch_event *event;
	int unreported = 0, nothing = 0;
	bool hole = false;

	while (nothing < 3) {
		event = next(&filling.sim);
		if (!event) {
			nothing++;
			continue;
		}
		if (event->event.posix_event_id == POSIXTRACE_ID_OVERFLOW)
			hole = true;
		if (event->event.posix_event_id == POSIXTRACE_ID_START) {
			unreported += !hole;
			hole = false;
		}
	}
	return unreported;
}

/* STOP is filtered out, so no event makes the reader look for the hole before START. */
TEST(each_hole_is_reported_whenever_the_stream_becomes_full)
{
	static const unsigned int max[] = { 0, AHEAD, 1, RUN_MAX };
	unsigned int i, looks;
	bool reached;

	for (i = 0; i < sizeof(max) / sizeof(max[0]); i++) {
		looks = 0;
		do {
			begin_runs(max[i]);
			ASSERT_EQ(0, sim_init(&filling.sim, 1, 4, false));
			filling.sim.no_stop = true;
			filling.sim.slow = true;
			write_until_full();
			filling.looks = ++looks;
			sim_between = fill_up;
			while (next(&filling.sim) && filling.looks)
				;
			sim_between = NULL;
			reached = !filling.looks;
			/*
			 * If the reader has restarted the stream, a second hole follows the first
			 * one immediately.
			 */
			filling.sim.slow = false;
			write_until_full();
			ASSERT_EQ(0, unreported_holes());
			pxtu_reader_destroy(&filling.sim.reader);
		} while (reached);
		EXPECT_LT(20, looks);
	}
}

#define RACE_LENGTH	4000

/**
 * struct race - writers that run wherever the reader accesses memory
 * @sim: the stream
 * @seed: selects the interleaving
 * @rarely: let writers run once in this many accesses
 * @burst: maximum number of events that they write at once
 * @cpus: number of CPUs that write
 * @n: number of events so far, kept or dropped
 * @time: time of each event, 0 if it was dropped
 */
static struct race {
	struct sim sim;
	unsigned int seed;
	unsigned int rarely;
	unsigned int burst;
	__u32 cpus;
	__u64 n;
	__u64 time[RACE_LENGTH + 1];
} race;

/* If there are several CPUs, the last one is slow, so that its old events are kept for long. */
static __u32 race_cpu(void)
{
	if (race.cpus == 1)
		return 0;
	if (!((__u32)rand_r(&race.seed) % 40))
		return race.cpus - 1;
	return (__u32)(race.n / 5) % (race.cpus - 1);
}

static void race_write(void)
{
	unsigned int i;

	if (rand_r(&race.seed) % race.rarely)
		return;
	i = 1 + (unsigned int)rand_r(&race.seed) % race.burst;
	for (; i && race.n < RACE_LENGTH; i--) {
		race.n++;
		race.time[race.n] = sim_write(&race.sim, race_cpu(), &race.n, sizeof(race.n));
	}
}

static void race_begin(struct __test_metadata *_metadata, unsigned int seed, bool loop)
{
	static const unsigned int max[] = { 0, AHEAD, 1, RUN_MAX / 2, RUN_MAX };

	memset(&race, 0, sizeof(race));
	begin_runs(max[seed % (sizeof(max) / sizeof(max[0]))]);
	race.seed = seed;
	race.rarely = 1 + (unsigned int)rand_r(&race.seed) % 60;
	race.cpus = 1 + (__u32)rand_r(&race.seed) % CPUS;
	race.burst = 1 + (unsigned int)rand_r(&race.seed) % 400;
	ASSERT_EQ(0, sim_init(&race.sim, CPUS, SUBBUFS, loop));
	sim_between = race_write;
}

static void race_end(void)
{
	sim_between = NULL;
	pxtu_reader_destroy(&race.sim.reader);
	munmap((void *)((uintptr_t)race.sim.pool & -4096UL), race.sim.map.pool_size);
}

/* With any interleaving, a LOOP stream has the correct order, and exactly its gaps are reported. */
TEST(interleavings)
{
	unsigned int seed, gaps = 0;

	for (seed = 1; seed <= 2000; seed++) {
		__u64 last = 0, overflow = 0, resume = 0, read = 0;
		const struct posixtrace_batch_event *event;

		race_begin(_metadata, seed, true);
		while (last < RACE_LENGTH) {
			event = next(&race.sim);
			if (!event)
				continue;
			if (event->event.posix_event_id == POSIXTRACE_ID_OVERFLOW) {
				ASSERT_EQ(0, overflow);
				overflow = pxtu_batch_time(event);
				continue;
			}
			if (event->event.posix_event_id == POSIXTRACE_ID_RESUME) {
				ASSERT_NE(0, overflow);
				ASSERT_EQ(0, resume);
				resume = pxtu_batch_time(event);
				continue;
			}
			read++;
			ASSERT_GT(payload(event), last);
			ASSERT_EQ(race.time[payload(event)], pxtu_batch_time(event));
			if (payload(event) == last + 1) {
				ASSERT_EQ(0, overflow);
			} else {
				ASSERT_EQ(race.time[last + 1], overflow);
				ASSERT_EQ(pxtu_batch_time(event), resume);
				gaps++;
			}
			last = payload(event);
			overflow = 0;
			resume = 0;
		}
		ASSERT_EQ(NULL, next(&race.sim));
		ASSERT_EQ(RACE_LENGTH, read + race.sim.ctrl->lost + race.sim.reader.skipped);
		ASSERT_EQ(0, race.sim.reader.corrupt);
		race_end();
	}
	EXPECT_GT(gaps, 100);
}

/* With any interleaving, only dropped events of an UNTIL_FULL stream are missing. */
TEST(interleavings_until_full)
{
	unsigned int seed, gaps = 0;

	for (seed = 1; seed <= 300; seed++) {
		/* Possible next events: 0 an event or STOP, 1 the gap, 2 RESUME, 3 START. */
		unsigned int state = 0, idle = 0;
		const struct posixtrace_batch_event *event;
		__u64 last = 0, n, read = 0;
		bool stopped = false;

		race_begin(_metadata, seed, false);
		while (idle < 3) {
			event = next(&race.sim);
			if (!event) {
				idle += race.n == RACE_LENGTH;
				continue;
			}
			switch (event->event.posix_event_id) {
			case POSIXTRACE_ID_STOP:
				ASSERT_FALSE(stopped);
				stopped = true;
				break;
			case POSIXTRACE_ID_OVERFLOW:
				ASSERT_TRUE(stopped);
				ASSERT_EQ(0, state);
				state = 2;
				break;
			case POSIXTRACE_ID_RESUME:
				ASSERT_EQ(2, state);
				state = 3;
				break;
			case POSIXTRACE_ID_START:
				ASSERT_EQ(3, state);
				state = 0;
				stopped = false;
				gaps++;
				break;
			default:
				ASSERT_EQ(0, state);
				ASSERT_FALSE(stopped);
				read++;
				ASSERT_GT(payload(event), last);
				for (n = last + 1; n < payload(event); n++)
					ASSERT_EQ(0, race.time[n]);
				last = payload(event);
			}
		}
		ASSERT_EQ(RACE_LENGTH, read + race.sim.dropped);
		race_end();
	}
	EXPECT_GT(gaps, 100);
}

TEST_HARNESS_MAIN
