// SPDX-License-Identifier: GPL-2.0
/*
 * The core of the reader with a simulated kernel: the order of events, gaps, and cost. Needs no
 * module. Other programs test the whole system through the public interface.
 */
#define PXT_NO_DEVICE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "reader_hooks.h"

FIXTURE(reader)
{
	struct sim sim;
};

FIXTURE_VARIANT(reader)
{
	bool loop;
	unsigned int run;
};

FIXTURE_VARIANT_ADD(reader, loop)
{
	.loop = true,
};

FIXTURE_VARIANT_ADD(reader, until_full)
{
	.loop = false,
};

FIXTURE_VARIANT_ADD(reader, loop_in_runs)
{
	.loop = true,
	.run = 7,
};

FIXTURE_VARIANT_ADD(reader, until_full_in_runs)
{
	.loop = false,
	.run = RUN_MAX,
};

FIXTURE_VARIANT_ADD(reader, loop_ahead)
{
	.loop = true,
	.run = AHEAD,
};

FIXTURE_VARIANT_ADD(reader, until_full_ahead)
{
	.loop = false,
	.run = AHEAD,
};

FIXTURE_SETUP(reader)
{
	begin_runs(variant->run);
	ASSERT_EQ(0, sim_init(&self->sim, CPUS, SUBBUFS, variant->loop));
}

FIXTURE_TEARDOWN(reader)
{
	pxtu_reader_destroy(&self->sim.reader);
}

TEST_F(reader, empty)
{
	EXPECT_EQ(NULL, next(&self->sim));
	sim_system(&self->sim, POSIXTRACE_ID_START);
	ASSERT_NE(NULL, next(&self->sim));
	EXPECT_EQ(NULL, next(&self->sim));
}

/*
 * Events must be read oldest first, whatever their CPU, with their data unchanged. Memory must be
 * released.
 */
TEST_F(reader, order_of_several_cpus)
{
	unsigned char data[464];
	const struct posixtrace_batch_event *event;
	__u64 n = 0, seen = 0, last = 0;
	unsigned int round, i, len;

	for (round = 0; round < 300; round++) {
		for (i = 0; i < 20; i++) {
			len = 8 + (unsigned int)rand() % 457;
			n++;
			memset(data, (int)n, sizeof(data));
			memcpy(data, &n, sizeof(n));
			ASSERT_NE(0, sim_write(&self->sim, (__u32)rand() % CPUS, data, len));
		}
		while ((event = next(&self->sim))) {
			EXPECT_EQ(++seen, payload(event));
			EXPECT_GT(pxtu_batch_time(event), last);
			last = pxtu_batch_time(event);
			EXPECT_EQ(17, event->event.posix_pid);
			for (i = 8; i < event->data_len; i++)
				ASSERT_EQ((unsigned char)seen,
					  ((const unsigned char *)event->data)[i]);
		}
		ASSERT_EQ(n, seen);
	}
	EXPECT_GT(self->sim.releases, 100);
	EXPECT_FALSE(self->sim.reader.overrun);
}

static void expect_number(struct __test_metadata *_metadata, struct sim *sim, __u64 n, bool late)
{
	const struct posixtrace_batch_event *event = next(sim);

	ASSERT_NE(NULL, event);
	EXPECT_EQ(n, payload(event));
	EXPECT_EQ(late, is_late(event));
}

/* Makes both CPUs open a sub-buffer, without unread records. */
static void open_two(struct __test_metadata *_metadata, struct sim *sim)
{
	for (__u64 n = 0; n < 2; n++) {
		ASSERT_NE(0, sim_write(sim, (__u32)n, &n, sizeof(n)));
		expect_number(_metadata, sim, n, false);
	}
}

/*
 * CPU 0 reads the clock, but commits its record only after CPU 1, and after the reader has looked.
 */
TEST_F(reader, event_of_a_delayed_cpu_is_marked_late)
{
	struct sim *sim = &self->sim;
	__u64 n, at;

	open_two(_metadata, sim);
	at = sim_now(sim);
	n = 11;
	sim_write(sim, 1, &n, sizeof(n));
	expect_number(_metadata, sim, 11, false);
	sim->at = at;
	n = 10;
	sim_write(sim, 0, &n, sizeof(n));
	expect_number(_metadata, sim, 10, true);
	n = 12;
	sim_write(sim, 0, &n, sizeof(n));
	expect_number(_metadata, sim, 12, false);
	EXPECT_EQ(NULL, next(sim));
	/* Events reported before CLEAR do not matter. */
	at = sim_now(sim);
	sim_write(sim, 1, &n, sizeof(n));
	expect_number(_metadata, sim, 12, false);
	pxtu_reader_clear(&sim->reader);
	sim->at = at;
	sim_write(sim, 0, &n, sizeof(n));
	expect_number(_metadata, sim, 12, false);
	EXPECT_EQ(0, sim->defers);
}

#define WINDOW	100

TEST_F(reader, window_holds_events_back)
{
	struct sim *sim = &self->sim;
	__u64 n = 10, time;

	open_two(_metadata, sim);
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, WINDOW));
	time = sim_write(sim, 1, &n, sizeof(n));
	while (sim->clock < time + WINDOW - 1)
		EXPECT_EQ(NULL, next(sim));
	EXPECT_EQ(time + WINDOW - 1, sim->clock);
	expect_number(_metadata, sim, 10, false);
	EXPECT_EQ(NULL, next(sim));
	/* If the window is turned off, an event that is held back is released immediately. */
	sim_write(sim, 1, &n, sizeof(n));
	EXPECT_EQ(NULL, next(sim));
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, 0));
	expect_number(_metadata, sim, 10, false);
}

TEST_F(reader, window_puts_the_event_of_a_delayed_cpu_in_order)
{
	struct sim *sim = &self->sim;
	__u64 n = 11, at;

	open_two(_metadata, sim);
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, WINDOW));
	at = sim_now(sim);
	sim_write(sim, 1, &n, sizeof(n));
	EXPECT_EQ(NULL, next(sim));
	sim->at = at;
	n = 10;
	sim_write(sim, 0, &n, sizeof(n));
	EXPECT_EQ(NULL, next(sim));
	sim->clock += WINDOW;
	expect_number(_metadata, sim, 10, false);
	expect_number(_metadata, sim, 11, false);
	/* A record is delayed for longer than the window. */
	at = sim_now(sim);
	n = 13;
	sim_write(sim, 1, &n, sizeof(n));
	sim->clock += WINDOW;
	expect_number(_metadata, sim, 13, false);
	sim->at = at;
	n = 12;
	sim_write(sim, 0, &n, sizeof(n));
	expect_number(_metadata, sim, 12, true);
}

/* The time of a record of CPU 0 that becomes visible before the kernel reads the clock. */
static __u64 commit_at;

static int commit_and_defer(struct pxtu_reader *reader, struct posixtrace_defer *arg)
{
	struct sim *sim = (struct sim *)reader;
	__u64 n = 10;

	if (commit_at) {
		sim->at = commit_at;
		commit_at = 0;
		sim_write(sim, 0, &n, sizeof(n));
		sim->clock += WINDOW;
	}
	return sim_defer(reader, arg);
}

TEST_F(reader, window_checks_again_when_it_has_passed)
{
	struct sim *sim = &self->sim;
	__u64 n = 11;

	open_two(_metadata, sim);
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, WINDOW));
	sim->reader.defer = commit_and_defer;
	commit_at = sim_now(sim);
	sim_write(sim, 1, &n, sizeof(n));
	expect_number(_metadata, sim, 10, false);
	expect_number(_metadata, sim, 11, false);
}

/* A single DEFER covers all records that may be reported. */
TEST_F(reader, window_costs_one_question_for_many_events)
{
	struct sim *sim = &self->sim;
	__u64 n;

	open_two(_metadata, sim);
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, WINDOW));
	for (n = 0; n < 50; n++)
		sim_write(sim, n % CPUS, &n, sizeof(n));
	sim->clock += 2 * WINDOW;
	sim->defers = 0;
	for (n = 0; n < 50; n++)
		expect_number(_metadata, sim, n, false);
	EXPECT_EQ(1, sim->defers);
}

TEST_F(reader, window_ends_when_no_process_records)
{
	struct sim *sim = &self->sim;
	__u64 n;

	open_two(_metadata, sim);
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, WINDOW));
	for (n = 0; n < 20; n++)
		sim_write(sim, n % CPUS, &n, sizeof(n));
	EXPECT_EQ(NULL, next(sim));
	sim->ended = true;
	for (n = 0; n < 20; n++)
		expect_number(_metadata, sim, n, false);
	/* If they record again, later events are held back. */
	sim->ended = false;
	sim_write(sim, 0, &n, sizeof(n));
	EXPECT_EQ(NULL, next(sim));
}

static int refuse(struct pxtu_reader *reader, struct posixtrace_defer *arg)
{
	(void)reader;
	(void)arg;
	return -ESHUTDOWN;
}

TEST_F(reader, window_holds_nothing_back_after_an_error)
{
	struct sim *sim = &self->sim;
	__u64 n = 10;

	open_two(_metadata, sim);
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, WINDOW));
	sim_write(sim, 0, &n, sizeof(n));
	sim->reader.defer = refuse;
	expect_number(_metadata, sim, 10, false);
	EXPECT_EQ(-ESHUTDOWN, pxtu_window_set(&sim->reader, 0));
}

/* A traced process can write any time, but must not make the reader wait forever. */
TEST_F(reader, window_does_not_hold_an_event_with_a_future_time)
{
	struct sim *sim = &self->sim;
	__u64 n = 10;

	open_two(_metadata, sim);
	ASSERT_EQ(0, pxtu_window_set(&sim->reader, WINDOW));
	sim->at = ~0ULL;
	sim_write(sim, 0, &n, sizeof(n));
	expect_number(_metadata, sim, 10, false);
	/* Other events are held back as before. */
	sim_write(sim, 1, &n, sizeof(n));
	EXPECT_EQ(NULL, next(sim));
}

#define DELAY_MAX	60

/*
 * Reads the time for the next record of a CPU, which will be committed later. Makes sure that the
 * CPU has space for the record. Returns 0 if there is none.
 */
static __u64 begin_record(struct sim *sim, __u32 cpu)
{
	const struct posixtrace_cpu_head *head = sim_head(sim, cpu);

	if (POSIXTRACE_HEAD_POS(head->head) + POSIXTRACE_RECORD_SIZE(sizeof(__u64)) > head->limit &&
	    !sim_next(sim, cpu))
		return 0;
	return sim_now(sim);
}

/*
 * Each CPU is delayed randomly by up to DELAY_MAX between clock and commit, and the reader looks at
 * any time. Returns the number of late events, all of which must be marked.
 */
static unsigned int read_delayed(struct __test_metadata *_metadata, struct sim *sim)
{
	__u64 began[CPUS] = { 0 }, n = 0, read = 0, last = 0;
	const struct posixtrace_batch_event *event;
	unsigned int seed = 1, late = 0;
	__u32 cpu;

	while (n < 5000 || read < n) {
		cpu = (__u32)rand_r(&seed) % CPUS;
		for (__u32 i = 0; i < CPUS; i++) {
			if (!began[i] || (i != cpu && sim->clock < began[i] + DELAY_MAX))
				continue;
			sim->at = began[i];
			began[i] = 0;
			n++;
			ASSERT_NE(0, sim_write(sim, i, &n, sizeof(n)));
		}
		if (n < 5000)
			began[cpu] = begin_record(sim, cpu);
		else
			sim_now(sim);
		if (rand_r(&seed) % 8)
			continue;
		while ((event = next(sim))) {
			read++;
			ASSERT_EQ(POSIXTRACE_ID_UNNAMED, event->event.posix_event_id);
			EXPECT_EQ(pxtu_batch_time(event) < last, is_late(event));
			late += is_late(event);
			if (pxtu_batch_time(event) > last)
				last = pxtu_batch_time(event);
		}
	}
	EXPECT_EQ(0, sim->ctrl->lost + sim->reader.skipped);
	return late;
}

TEST_F(reader, window_longer_than_all_delays_keeps_the_order)
{
	ASSERT_EQ(0, pxtu_window_set(&self->sim.reader, 2 * DELAY_MAX));
	EXPECT_EQ(0, read_delayed(_metadata, &self->sim));
}

TEST_F(reader, without_a_window_all_late_events_are_marked)
{
	EXPECT_LT(100, read_delayed(_metadata, &self->sim));
}

/* A LOOP stream keeps the most recent events. The reader gets one gap, and then all of these. */
TEST(loop_keeps_a_window_without_gaps)
{
	const struct posixtrace_batch_event *event;
	static __u64 time[2001];
	struct sim sim;
	__u64 n, seen;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	for (n = 1; n <= 2000; n++) {
		/* CPU 3 is slow, so its records get old. */
		time[n] = sim_write(&sim, n % 50 ? n / 3 % 3 : 3, &n, sizeof(n));
		ASSERT_NE(0, time[n]);
	}
	event = next(&sim);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_OVERFLOW, event->event.posix_event_id);
	EXPECT_EQ(time[1], pxtu_batch_time(event));
	event = next(&sim);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(POSIXTRACE_ID_RESUME, event->event.posix_event_id);
	n = pxtu_batch_time(event);
	event = next(&sim);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(n, pxtu_batch_time(event));
	seen = payload(event);
	EXPECT_GT(seen, 1);
	EXPECT_EQ(seen - 1, sim.ctrl->lost + sim.reader.skipped);
	EXPECT_GT(sim.reader.skipped, 0);
	while ((event = next(&sim))) {
		EXPECT_EQ(POSIXTRACE_ID_UNNAMED, event->event.posix_event_id);
		EXPECT_EQ(++seen, payload(event));
	}
	EXPECT_EQ(2000, seen);
	pxtu_reader_destroy(&sim.reader);
}

/* Events that were read before the stream wrapped around do not count as lost. */
TEST(loop_events_that_were_read_are_no_gap)
{
	const struct posixtrace_batch_event *event;
	struct sim sim;
	__u64 n, seen = 0;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	for (n = 1; n <= 20000; n++) {
		sim_write(&sim, n % CPUS, &n, sizeof(n));
		if (n % 100)
			continue;
		while ((event = next(&sim)))
			ASSERT_EQ(++seen, payload(event));
	}
	EXPECT_EQ(20000, seen);
	EXPECT_EQ(0, sim.ctrl->lost);
	pxtu_reader_destroy(&sim.reader);
}

#define CHAIN_LENGTH	60000

struct chain {
	struct sim sim;
	__u32 turn;		/* number of the next event to write; a futex */
	__u64 time[CHAIN_LENGTH + 1];
};

struct chain_writer {
	struct chain *chain;
	__u32 cpu;
};

/* Futex bit of the reader when it waits for a turn. A writer uses the bit of its CPU. */
#define CHAIN_READER	(1U << CPUS)

/*
 * Returns the CPU of event @n. CPUs write in short bursts, then in bursts of about a sub-buffer, so
 * that they fill their sub-buffers at different times.
 */
static __u32 chain_cpu(__u32 n)
{
	return n / (n & 1024 ? 7 : 61) % CPUS;
}

/*
 * Sleeps until it is the turn of @n. Does not spin: with fewer processors than threads, a spinning
 * thread would block the one that has the turn.
 */
static void chain_wait(struct chain *chain, __u32 n, __u32 who)
{
	syscall(SYS_futex, &chain->turn, FUTEX_WAIT_BITSET_PRIVATE, n, NULL, NULL, who);
}

static void chain_wake(struct chain *chain, __u32 who)
{
	syscall(SYS_futex, &chain->turn, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, who);
}

/* Writes events on all CPUs. Each is written after the previous one was committed. */
static void *chain_write(void *arg)
{
	struct chain_writer *writer = arg;
	struct chain *chain = writer->chain;
	__u64 n;

	for (;;) {
		n = pxtu_load_acquire(&chain->turn);
		if (n > CHAIN_LENGTH)
			return NULL;
		if (chain_cpu((__u32)n) != writer->cpu) {
			chain_wait(chain, (__u32)n, 1U << writer->cpu);
			continue;
		}
		pxtu_store(&chain->time[n], sim_write(&chain->sim, writer->cpu, &n, sizeof(n)));
		pxtu_store_release(&chain->turn, (__u32)n + 1);
		if (n == CHAIN_LENGTH)
			chain_wake(chain, FUTEX_BITSET_MATCH_ANY);
		else if (chain_cpu((__u32)n + 1) != writer->cpu)
			chain_wake(chain, CHAIN_READER | 1U << chain_cpu((__u32)n + 1));
	}
}

/* The events that the reader got; checked once all writers have finished. */
struct seen {
	__u64 n;
	__u64 time;
	__u64 overflow;
	__u64 resume;
	__u64 lost;
	__u32 cpu;
};

/* Reads while the writers write. At times, lets them overwrite events that were not read. */
static size_t chain_read(struct __test_metadata *_metadata, struct chain *chain,
			 struct seen *seen)
{
	struct seen now = { 0 };
	const struct posixtrace_batch_event *event;
	size_t count = 0;
	__u64 behind;
	__u32 turn;

	while (now.n < CHAIN_LENGTH) {
		bool done = pxtu_load_acquire(&chain->turn) > CHAIN_LENGTH;

		event = next(&chain->sim);
		if (!event) {
			ASSERT_FALSE(done);
			sched_yield();
			continue;
		}
		switch (event->event.posix_event_id) {
		case POSIXTRACE_ID_OVERFLOW:
			EXPECT_EQ(0, now.overflow);
			EXPECT_EQ(now.lost, event->lost);
			EXPECT_EQ(POSIXTRACE_NO_CPU, event->cpu);
			now.overflow = pxtu_batch_time(event);
			continue;
		case POSIXTRACE_ID_RESUME:
			EXPECT_EQ(0, now.resume);
			EXPECT_LT(now.lost, event->lost);
			EXPECT_EQ(POSIXTRACE_NO_CPU, event->cpu);
			now.resume = pxtu_batch_time(event);
			now.lost = event->lost;
			continue;
		}
		EXPECT_EQ(now.lost, event->lost);
		now.n = payload(event);
		now.time = pxtu_batch_time(event);
		now.cpu = event->cpu;
		ASSERT_LT(count, CHAIN_LENGTH);
		seen[count++] = now;
		now.overflow = 0;
		now.resume = 0;

		/*
		 * Let the writers get ahead by 300 to 1800 events, so that they sometimes overwrite
		 * events.
		 */
		behind = now.n + 300 + now.n % 1500;
		if (behind > CHAIN_LENGTH)
			behind = CHAIN_LENGTH;
		while (now.n % 512 == 0 && (turn = pxtu_load(&chain->turn)) < behind)
			chain_wait(chain, turn, CHAIN_READER);
	}
	return count;
}

/*
 * If B happens after A, on any CPUs, B must never be reported before A. If writers overwrite events
 * of a slow reader, the gaps must be reported exactly, and every event must be read or lost.
 */
static void check_chain(struct __test_metadata *_metadata, unsigned int run, unsigned int longest)
{
	static struct chain chain;
	static struct seen seen[CHAIN_LENGTH];
	struct chain_writer writer[CPUS];
	pthread_t thread[CPUS];
	unsigned int i, gaps = 0;
	size_t count, k;
	__u64 last = 0;

	begin_runs(run);
	ASSERT_EQ(0, sim_init(&chain.sim, CPUS, SUBBUFS, true));
	chain.turn = 1;
	for (i = 0; i < CPUS; i++) {
		writer[i] = (struct chain_writer){ &chain, i };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, chain_write, &writer[i]));
	}
	count = chain_read(_metadata, &chain, seen);
	for (i = 0; i < CPUS; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));

	for (k = 0; k < count; k++) {
		ASSERT_GT(seen[k].n, last);
		ASSERT_EQ(chain.time[seen[k].n], seen[k].time);
		ASSERT_EQ(chain_cpu((__u32)seen[k].n), seen[k].cpu);
		/* The count may already include losses after this event. */
		ASSERT_LE(seen[k].n - 1 - k, seen[k].lost);
		if (seen[k].n == last + 1) {
			ASSERT_EQ(0, seen[k].overflow);
			ASSERT_EQ(0, seen[k].resume);
		} else {
			ASSERT_EQ(chain.time[last + 1], seen[k].overflow);
			ASSERT_EQ(seen[k].time, seen[k].resume);
			gaps++;
		}
		last = seen[k].n;
	}
	EXPECT_EQ(CHAIN_LENGTH, count + chain.sim.ctrl->lost + chain.sim.reader.skipped);
	EXPECT_EQ(CHAIN_LENGTH, count + seen[count - 1].lost);
	TH_LOG("%zu read, %llu lost, %llu skipped, %u gaps", count,
	       (unsigned long long)chain.sim.ctrl->lost,
	       (unsigned long long)chain.sim.reader.skipped, gaps);
	EXPECT_GT(gaps, 0);
	EXPECT_EQ(0, chain.sim.reader.corrupt);
	pxtu_reader_destroy(&chain.sim.reader);
	EXPECT_LE(longest, runs.longest);
}

TEST(happens_before_and_gaps)
{
	check_chain(_metadata, 0, 0);
}

TEST(happens_before_and_gaps_in_runs)
{
	check_chain(_metadata, 40, 20);
}

TEST(happens_before_and_gaps_ahead)
{
	check_chain(_metadata, AHEAD, PXTU_AHEAD_EVENTS);
}

static unsigned int looks;

static void count_look(void)
{
	looks++;
}

#define COST_EVENTS	400

/*
 * Reads all events, and ends the stream. Returns the number of accesses to shared memory by the
 * reader.
 */
static unsigned int looks_to_read(struct __test_metadata *_metadata, struct sim *sim)
{
	__u64 n;

	looks = 0;
	sim_between = count_look;
	for (n = 0; n < COST_EVENTS; n++)
		EXPECT_EQ(n, payload(next(sim)));
	sim_between = NULL;
	EXPECT_EQ(NULL, next(sim));
	pxtu_reader_destroy(&sim->reader);
	return looks;
}

/*
 * Returns the number of accesses to shared memory for reading the events of one CPU, while @others
 * other CPUs hold a sub-buffer that was read.
 */
static unsigned int looks_beside(struct __test_metadata *_metadata, __u32 others)
{
	struct sim sim;
	__u64 n;

	ASSERT_EQ(0, sim_init(&sim, others + 1, others + SUBBUFS, true));
	for (n = 0; n <= others; n++)
		sim_write(&sim, (__u32)n, &n, sizeof(n));
	while (next(&sim))
		;
	for (n = 0; n < COST_EVENTS; n++)
		sim_write(&sim, 0, &n, sizeof(n));
	return looks_to_read(_metadata, &sim);
}

/* Sub-buffers are small in this test, and the reader checks the other CPUs after each of them. */
TEST(cpus_without_events_cost_little)
{
	unsigned int alone = looks_beside(_metadata, 0), beside = looks_beside(_metadata, 60);

	TH_LOG("%u looks for %u events, %u beside 60 CPUs", alone, COST_EVENTS, beside);
	EXPECT_LT(COST_EVENTS, alone);
	EXPECT_GE(2 * alone, beside);
}

/* Each event comes from a different CPU than the last one, so the heap changes after each. */
TEST(cpus_with_events_cost_little)
{
	unsigned int looks_of[2];
	struct sim sim;
	__u64 n;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, sim_init(&sim, 32, 2 * 32 + SUBBUFS, true));
		for (n = 0; n < COST_EVENTS; n++)
			sim_write(&sim, i ? (__u32)n % 32 : 0, &n, sizeof(n));
		looks_of[i] = looks_to_read(_metadata, &sim);
	}
	TH_LOG("%u looks for %u events, %u from 32 CPUs", looks_of[0], COST_EVENTS, looks_of[1]);
	EXPECT_GE(2 * looks_of[0], looks_of[1]);
}

static void expect_id(struct __test_metadata *_metadata, struct sim *sim, __u32 id)
{
	const struct posixtrace_batch_event *event = next(sim);

	ASSERT_NE(NULL, event);
	EXPECT_EQ(id, event->event.posix_event_id);
}

/*
 * Writes until the stream is full, and then some more events. Returns the number of events that
 * were kept.
 */
static __u64 fill(struct sim *sim, __u64 *n)
{
	__u64 kept = 0;
	int more = 10;

	while (more) {
		++*n;
		if (sim_write(sim, *n % CPUS, n, sizeof(*n)))
			kept++;
		else
			more--;
	}
	return kept;
}

/*
 * Expects all events, STOP, the gap and START, even if the stream becomes full again before START.
 */
static void check_restart(struct __test_metadata *_metadata, unsigned int run)
{
	const struct posixtrace_batch_event *event;
	struct sim sim;
	__u64 n = 0, kept, i, round;

	begin_runs(run);
	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, false));
	sim_system(&sim, POSIXTRACE_ID_START);
	kept = fill(&sim, &n);
	expect_id(_metadata, &sim, POSIXTRACE_ID_START);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < kept; i++)
			expect_id(_metadata, &sim, POSIXTRACE_ID_UNNAMED);
		ASSERT_TRUE(sim.full);
		expect_id(_metadata, &sim, POSIXTRACE_ID_STOP);
		/* STOP was the last event, so the stream restarts immediately. */
		ASSERT_FALSE(sim.full);
		kept = fill(&sim, &n);
		event = next(&sim);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(POSIXTRACE_ID_OVERFLOW, event->event.posix_event_id);
		i = pxtu_batch_time(event);
		event = next(&sim);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(POSIXTRACE_ID_RESUME, event->event.posix_event_id);
		EXPECT_GT(pxtu_batch_time(event), i);
		i = pxtu_batch_time(event);
		event = next(&sim);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(POSIXTRACE_ID_START, event->event.posix_event_id);
		EXPECT_EQ(i, pxtu_batch_time(event));
	}
	pxtu_reader_destroy(&sim.reader);
}

TEST(until_full_restarts_when_empty)
{
	check_restart(_metadata, 0);
}

TEST(until_full_restarts_when_empty_after_runs)
{
	check_restart(_metadata, 50);
}

TEST(until_full_restarts_when_what_was_read_ahead_is_reported)
{
	check_restart(_metadata, AHEAD);
}

TEST_HARNESS_MAIN
