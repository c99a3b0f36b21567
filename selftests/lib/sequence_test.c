// SPDX-License-Identifier: GPL-2.0
/*
 * The restartable sequences that write a record, stopped after each of their instructions. Each
 * record must have the right thread, whichever thread writes next on that CPU. The sequences use
 * memory of the test, and an rseq area that is not registered, so that the kernel does not restart
 * them. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include <sys/mman.h>

#include "pxt_test.h"
#include "record.h"
#include "sequences.h"
#include "step.h"

#include "../../lib/record/clock.h"
#include "../../lib/record/rseq.h"
#include "../../lib/record/fast.h"

#ifdef HAVE_STEPS
#define POOL_SIZE	4096U
#define EVENT_ID	POSIXTRACE_ID_UNNAMED
#define RECORDS		4	/* number of records before the stopped one */

/* One CPU of one stream, and a traced process. */
struct world {
	struct posixtrace_cpu_head head;
	__u64 pool[POOL_SIZE / 8];
};

/* The gate of the library. The tests fill it, and no thread records with it. */
#define gate (*(struct posixtrace_gate *)(void *)__posix_trace_gate)
static struct posixtrace_wakeup wakeup;

/* A thread of a program. The data of its records is its index in identities[]. */
struct identity {
	__s32 pid;
	__s32 tid;
	__u64 thread_id;
	__u32 address_high;
};

static const struct identity identities[] = {
	{ 11, 21, 0x7f31, 0x5555 },
	/* Each of the following differs from the first one in one member. */
	{ 12, 21, 0x7f31, 0x5555 },
	{ 11, 22, 0x7f31, 0x5555 },
	{ 11, 21, 0x7f32, 0x5555 },
	{ 11, 21, 0x7f31, 0x5556 },
};

/* Records are packed. Their data has 4 bytes if this is true, otherwise 8. */
static bool packed;

static __u64 address_of(__u64 who)
{
	return (__u64)identities[who].address_high << 32 | (0x1000 + who);
}

static __u32 data_size(void)
{
	return packed ? sizeof(__u32) : sizeof(__u64);
}

static __u32 record_step(void)
{
	return packed ? 16 : 24;
}

#define IDENTITIES	(sizeof(identities) / sizeof(identities[0]))

/* Returns true if identities @a and @b differ in at most one member. */
static bool are_alike(__u64 a, __u64 b)
{
	return a == b || !a || !b;
}

/* Returns a cache for @who. Also sets the clock of the gate, as each tick of the kernel does. */
static struct pxtu_cache cache_of(struct world *world, __u64 who)
{
	gate.clock.cycle_last = pxtu_counter();
	return (struct pxtu_cache){
		.len_end = PXTU_FAST_MAX + 1,
		.head = &world->head,
		.pool = (unsigned char *)world->pool,
		.last_begin = sizeof(world->pool) - PXTU_FAST_RECORD_MAX,
		.wakeup = &wakeup,
		.ids = pxtu_pair(identities[who].pid, identities[who].tid),
		.thread_id = identities[who].thread_id,
		.area = own_area(),
		.bit = 1,
		.nr_cpus = 1,
	};
}

static enum pxtu_written write_as(struct world *world, __u64 who)
{
	const struct pxtu_slot slot = {
		.heads = &world->head,
		.pool = (unsigned char *)world->pool,
		.pool_size = sizeof(world->pool),
		.wakeup = &wakeup,
	};
	const struct pxtu_entry entry = {
		.header = pxtu_header(data_size(), EVENT_ID, packed ? POSIXTRACE_RECORD_PACKED : 0),
		.prog_address = packed ? (address_of(who) & 0xffffffff) | who << 32 :
					 address_of(who),
		.time = world->head.last,
		.rest = { who },
		.rest_words = packed ? 0 : 1,
		.step = POSIXTRACE_HEAD(record_step(), 1),
		.writer = (__u64)identities[who].address_high << 32,
		.enable = &gate.enable[EVENT_ID],
		.ids = pxtu_pair(identities[who].pid, identities[who].tid),
		.thread_id = identities[who].thread_id,
		.area = own_area(),
		.bit = 1,
		.nr_cpus = 1,
	};

	pxtu_rseq_arm();
	return pxtu_rseq_record(&gate, &slot, &entry);
}

/* Call this only if the same thread was the last writer. */
static enum pxtu_written write_short_as(struct world *world, __u64 who)
{
	const struct pxtu_cache cache = cache_of(world, who);

	gate.address_high = identities[who].address_high;
	return pxtu_fast_record(&cache, EVENT_ID, data_size(), &who, address_of(who));
}

/* Returns true if each committed record has the correct thread and address. */
static bool is_right(const struct world *world)
{
	struct record record = { .size = 0 };
	const struct identity *identity;
	unsigned int n = 0, at;
	const void *data;
	__u64 who = 0;

	for (at = 0; at < POSIXTRACE_HEAD_POS(world->head.head); at += record.size) {
		data = record_parse(&record, (const char *)world->pool + at);
		if (!data || record.event_id != EVENT_ID || record.data_len != data_size() ||
		    record.flags != (packed ? POSIXTRACE_RECORD_PACKED : 0))
			return false;
		memcpy(&who, data, data_size());
		identity = who < IDENTITIES ? &identities[who] : NULL;
		if (!identity || record.pid != identity->pid || record.tid != identity->tid ||
		    record.thread_id != identity->thread_id ||
		    record.prog_address != address_of(who))
			return false;
		n++;
	}
	return at == POSIXTRACE_HEAD_POS(world->head.head) &&
	       n == POSIXTRACE_HEAD_COUNT(world->head.head);
}

static struct world now_here;
static unsigned int steps_seen, steps_in_middle, wrong, refused;

/*
 * Called at each instruction at which the sequence is stopped. On a copy of its memory, one thread
 * writes, then the same or another one. Tries all pairs of threads that are_alike().
 */
static void others_write(void)
{
	static struct world world;
	static __u64 head;
	unsigned int count = POSIXTRACE_HEAD_COUNT(now_here.head.head);

	steps_seen++;
	steps_in_middle += now_here.head.writer_head != now_here.head.head;
	if (now_here.head.head != head && !is_right(&now_here))
		wrong++;
	head = now_here.head.head;
	for (unsigned int first = 0; first < IDENTITIES; first++) {
		for (unsigned int second = 0; second < IDENTITIES; second++) {
			if (!are_alike(first, second))
				continue;
			world = now_here;
			refused += write_as(&world, first) != PXTU_WRITTEN;
			refused += write_as(&world, second) != PXTU_WRITTEN;
			wrong += !is_right(&world);
			wrong += POSIXTRACE_HEAD_COUNT(world.head.head) != count + 2;
		}
	}
}

FIXTURE(stopped)
{
	enum pxtu_written last;
};

FIXTURE_VARIANT(stopped)
{
	bool packed;
};

FIXTURE_VARIANT_ADD(stopped, whole) { false };
FIXTURE_VARIANT_ADD(stopped, packed) { true };

FIXTURE_SETUP(stopped)
{
	ASSERT_EQ(0, forgo_sequences());
	/* Set the CPU as the kernel would if the area were still registered. */
	own_area()->cpu_id = 0;
	packed = variant->packed;
	/* If the module is loaded, its read-only pages are mapped there. */
	ASSERT_EQ(&gate, mmap(&gate, sizeof(gate), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	memset(&gate, 0, sizeof(gate));
	gate.enable[EVENT_ID] = 1;
	gate.clock.counter = PXTU_COUNTER;
}

FIXTURE_TEARDOWN(stopped)
{
}

/* Stops @who at each instruction of @write. @before has written all earlier records. */
static void stop_everywhere(struct __test_metadata *_metadata, __u64 before, __u64 who,
			    enum pxtu_written (*write)(struct world *world, __u64 who))
{
	memset(&now_here, 0, sizeof(now_here));
	now_here.head.limit = POOL_SIZE;
	now_here.head.writer_head = POSIXTRACE_HEAD_NONE;
	for (int i = 0; i < RECORDS; i++)
		ASSERT_EQ(PXTU_WRITTEN, write_as(&now_here, before));
	ASSERT_TRUE(is_right(&now_here));
	ASSERT_EQ(RECORDS * record_step() + 32, POSIXTRACE_HEAD_POS(now_here.head.head));
	steps_seen = 0;
	steps_in_middle = 0;
	ASSERT_EQ(0, steps_begin(others_write));
	write(&now_here, who);
	steps_end();
	EXPECT_EQ(RECORDS + 1, POSIXTRACE_HEAD_COUNT(now_here.head.head));
	EXPECT_EQ((RECORDS + 1) * record_step() + (before == who ? 32 : 64),
		  POSIXTRACE_HEAD_POS(now_here.head.head));
	EXPECT_TRUE(is_right(&now_here));
	/* The test has stopped at all instructions. */
	EXPECT_LT(60, steps_seen);
	EXPECT_LT(before == who ? 0 : 10, steps_in_middle);
}

TEST_F_TIMEOUT(stopped, next_record_has_its_own_writer, 120)
{
	for (unsigned int before = 0; before < IDENTITIES; before++)
		for (unsigned int who = 0; who < IDENTITIES; who++)
			if (are_alike(before, who))
				stop_everywhere(_metadata, before, who, write_as);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, refused);
}

TEST_F_TIMEOUT(stopped, next_record_after_the_fast_path_has_its_own_writer, 120)
{
	for (unsigned int who = 0; who < IDENTITIES; who++)
		stop_everywhere(_metadata, who, who, write_short_as);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, refused);
}

TEST_F(stopped, fast_path_refuses_the_record_of_another_writer)
{
	struct world world = { .head.limit = POOL_SIZE, .head.writer_head = POSIXTRACE_HEAD_NONE };

	EXPECT_EQ(PXTU_WRITTEN_NO, write_short_as(&world, 0));
	ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
	EXPECT_EQ(PXTU_WRITTEN, write_short_as(&world, 0));
	/* The last identity differs only in address_high, and pxtu_fast_fill() refuses it. */
	for (unsigned int who = 1; who < IDENTITIES - 1; who++)
		EXPECT_EQ(PXTU_WRITTEN_NO, write_short_as(&world, who));
	EXPECT_TRUE(is_right(&world));
}

TEST_F(stopped, fast_path_checks_cache_gate_clock_and_room)
{
	struct world world = { .head.limit = POOL_SIZE, .head.writer_head = POSIXTRACE_HEAD_NONE };
	struct pxtu_cache cache = cache_of(&world, 0);
	__u64 data = 0;

	gate.address_high = identities[0].address_high;
	ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
#define EXPECT_REFUSED(member, value)							\
	do {										\
		__typeof__(member) *where = &(member), right = *where;			\
		*where = (value);							\
		EXPECT_EQ(PXTU_WRITTEN_NO, pxtu_fast_record(&cache, EVENT_ID, data_size(), &data, \
							     address_of(0)));		\
		EXPECT_EQ(1, POSIXTRACE_HEAD_COUNT(world.head.head));			\
		*where = right;								\
	} while (0)
	EXPECT_REFUSED(gate.generation, 1);
	EXPECT_REFUSED(gate.enable[EVENT_ID], 0);
	EXPECT_REFUSED(gate.enable[EVENT_ID], 2);
	EXPECT_REFUSED(gate.enable[EVENT_ID], 3);
	EXPECT_REFUSED(gate.clock.cycle_last, POSIXTRACE_CYCLE_NONE);
	/* The last update of the clock is later than the event. */
	EXPECT_REFUSED(gate.clock.cycle_last, right + (1ULL << 40));
#ifdef __x86_64__
	/* The last update of the clock is so long ago that a 64-bit product would overflow. */
	EXPECT_REFUSED(gate.clock.cycle_last, right - (1ULL << 32));
#endif
	EXPECT_REFUSED(gate.clock.seq, 1);
	EXPECT_REFUSED(cache.generation, 1);
	/*
	 * A signal handler may have cached a different stream, which accepts less data per event.
	 */
	EXPECT_REFUSED(cache.len_end, data_size());
	EXPECT_REFUSED(cache.len_end, 0);
	EXPECT_REFUSED(cache.bit, 2);
	EXPECT_REFUSED(cache.cpu, 1);
	EXPECT_REFUSED(cache.ids, 0);
	EXPECT_REFUSED(cache.thread_id, 0);
	EXPECT_REFUSED(cache.last_begin, POSIXTRACE_HEAD_POS(world.head.head) - 1);
	EXPECT_REFUSED(cache.last_begin, 0);
	EXPECT_REFUSED(world.head.limit, POSIXTRACE_HEAD_POS(world.head.head) + record_step() - 1);
	EXPECT_REFUSED(world.head.limit, POSIXTRACE_LIMIT_FULL);
	EXPECT_REFUSED(world.head.limit, 0);
	EXPECT_REFUSED(world.head.last, ~0ULL);
	EXPECT_REFUSED(world.head.time_end, 0);
	EXPECT_REFUSED(world.head.writer_head, POSIXTRACE_HEAD_NONE);
	EXPECT_REFUSED(own_area()->cpu_id, 1);
	cache.last_begin = POSIXTRACE_HEAD_POS(world.head.head);
	world.head.limit = cache.last_begin + record_step();
	EXPECT_EQ(PXTU_WRITTEN,
		  pxtu_fast_record(&cache, EVENT_ID, data_size(), &data, address_of(0)));
	EXPECT_TRUE(is_right(&world));
}

/* For all lengths, the data must be written, and zeros up to the next record. */
TEST_F(stopped, fast_path_writes_data_and_padding)
{
	const __u64 address = address_of(0);
	unsigned char data[PXTU_FAST_MAX];
	const unsigned char *written;
	struct record record;
	struct world world;
	__u32 size;
	bool packs;

	gate.address_high = identities[variant->packed ? 0 : IDENTITIES - 1].address_high;

	for (__u32 i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i + 1);
	for (__u32 len = 0; len <= sizeof(data); len++) {
		struct pxtu_cache cache = cache_of(&world, 0);

		memset(&world, 0xee, sizeof(world));
		world.head = (struct posixtrace_cpu_head){
			.limit = POOL_SIZE,
			.writer_head = POSIXTRACE_HEAD_NONE,
		};
		ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
		record_parse(memset(&record, 0, sizeof(record)), world.pool);
		written = (unsigned char *)world.pool + POSIXTRACE_HEAD_POS(world.head.head);
		ASSERT_EQ(PXTU_WRITTEN, pxtu_fast_record(&cache, EVENT_ID, len, data, address));
		packs = variant->packed && len % 8 >= 1 && len % 8 <= 4;
		written = record_parse(&record, written);
		ASSERT_NE(NULL, written);
		EXPECT_EQ(len, record.data_len);
		EXPECT_EQ(EVENT_ID, record.event_id);
		EXPECT_EQ(packs ? POSIXTRACE_RECORD_PACKED : 0, record.flags);
		EXPECT_EQ(address, record.prog_address);
		EXPECT_EQ(world.head.last, record.timestamp);
		EXPECT_EQ((len + (packs ? 12 : 16) + 7) / 8 * 8, record.size);
		EXPECT_EQ(0, memcmp(written, data, len));
		/* The bytes from the data to the next record. */
		size = record.size - (packs ? 12 : 16);
		for (__u32 i = len; i < size; i++)
			EXPECT_EQ(0, written[i]);
		EXPECT_EQ(0xee, written[size]);
		EXPECT_EQ(written + size,
			  (unsigned char *)world.pool + POSIXTRACE_HEAD_POS(world.head.head));
	}
}

TEST_F(stopped, fast_path_converts_the_counter)
{
	struct world world = { .head.limit = POOL_SIZE, .head.writer_head = POSIXTRACE_HEAD_NONE };
	const __u64 half = 1ULL << (POSIXTRACE_CLOCK_SHIFT - 1);
	struct pxtu_cache cache = cache_of(&world, 0);
	__u64 before, after;

	ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
	gate.clock.real = 1000000;
	gate.clock.mult = half;
	for (__u64 fraction = 0; fraction <= 7 * half; fraction += 7 * half) {
		gate.clock.fraction = fraction;
		before = pxtu_counter() - gate.clock.cycle_last;
		ASSERT_EQ(PXTU_WRITTEN, pxtu_fast_record(&cache, EVENT_ID, 0, NULL, 0));
		after = pxtu_counter() - gate.clock.cycle_last;
		EXPECT_LE(1000000 + (before * half + fraction) / (2 * half), world.head.last);
		EXPECT_GE(1000000 + (after * half + fraction) / (2 * half), world.head.last);
	}
}

static void count_steps(void)
{
	steps_seen++;
}

TEST_F(stopped, relaxed_order_takes_the_time_without_fence)
{
	struct world world = { .head.limit = POOL_SIZE, .head.writer_head = POSIXTRACE_HEAD_NONE };
	struct pxtu_cache cache = cache_of(&world, 0);
	unsigned int steps[2];

	PXT_NOT_WITH_TSAN("was seen to show no steps here, why is not known");
	ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
	for (cache.relaxed = 0; cache.relaxed < 2; cache.relaxed++) {
		steps_seen = 0;
		ASSERT_EQ(0, steps_begin(count_steps));
		pxtu_fast_record(&cache, EVENT_ID, 0, NULL, 0);
		steps_end();
		steps[cache.relaxed] = steps_seen;
	}
	EXPECT_EQ(3, POSIXTRACE_HEAD_COUNT(world.head.head));
	EXPECT_EQ(steps[0], steps[1] + 1);
}

static struct pxtu_cache cached, old, fresh;
static unsigned int torn, emptied, dangling;

static void look_at_cache(void)
{
	steps_seen++;
	if (!cached.generation)
		emptied++;
	else if (memcmp(&cached, &old, sizeof(cached)) && memcmp(&cached, &fresh, sizeof(cached)))
		torn++;
	/* With the area of another thread, the next event would store there before any check. */
	dangling += cached.len_end && cached.area != own_area();
}

/* Each member has a different value. */
static void make_caches(struct world *world)
{
	memset(&old, 1, sizeof(old));
	old.area = own_area();
	memset(&fresh, 2, sizeof(fresh));
	fresh.head = &world->head;
	fresh.area = own_area();
	fresh.cpu = 0;
	fresh.nr_cpus = 1;
	gate.generation = fresh.generation;
	gate.address_high = 0x5555;
	world->head.address_high = gate.address_high;
}

static void fill_in_steps(struct __test_metadata *_metadata)
{
	steps_seen = 0;
	torn = 0;
	emptied = 0;
	dangling = 0;
	ASSERT_EQ(0, steps_begin(look_at_cache));
	pxtu_fast_fill(&cached, &fresh);
	steps_end();
	EXPECT_EQ(0, memcmp(&cached, &fresh, sizeof(cached)));
	EXPECT_EQ(0, torn);
	EXPECT_EQ(0, dangling);
	EXPECT_LT(8, emptied);
	EXPECT_LT(emptied, steps_seen);
}

TEST_F(stopped, cache_is_whole_or_empty)
{
	struct world world;

	make_caches(&world);
	cached = old;
	fill_in_steps(_metadata);
	/* The first event of a thread. */
	memset(&cached, 0, sizeof(cached));
	fill_in_steps(_metadata);
}

TEST_F(stopped, what_may_be_gone_is_not_cached)
{
	struct world world;

	make_caches(&world);
	/* After an exec, the thread may have the ids of the last writer, but not its addresses. */
	world.head.address_high++;
	pxtu_fast_fill(&cached, &fresh);
	EXPECT_EQ(0, cached.generation);
	world.head.address_high--;
	gate.generation++;
	pxtu_fast_fill(&cached, &fresh);
	EXPECT_EQ(0, cached.generation);
	gate.generation--;
	own_area()->cpu_id = 1;
	pxtu_fast_fill(&cached, &fresh);
	EXPECT_EQ(0, cached.generation);
	own_area()->cpu_id = 0;
	pxtu_fast_fill(&cached, &fresh);
	EXPECT_EQ(0, memcmp(&cached, &fresh, sizeof(cached)));
}

/* After that time, the lower half of the time in a record would be ambiguous. */
TEST_F(stopped, writer_is_named_again_at_the_end_of_the_span)
{
	struct world world = { .head.limit = POOL_SIZE, .head.writer_head = POSIXTRACE_HEAD_NONE };

	ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
	EXPECT_EQ(world.head.last + POSIXTRACE_WRITER_SPAN, world.head.time_end);
	for (unsigned int i = 0; i < 4; i++) {
		const __u32 before = POSIXTRACE_HEAD_POS(world.head.head);

		world.head.last = world.head.time_end - !(i % 2);
		ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
		EXPECT_EQ(before + (i % 2 ? 32 : 0) + record_step(),
			  POSIXTRACE_HEAD_POS(world.head.head));
		EXPECT_TRUE(is_right(&world));
	}
}

/* If a different thread wrote last, the record needs more space, for the name of its thread. */
TEST_F(stopped, space_suffices_for_the_record)
{
	struct world world;

	for (__u64 who = 0; who < 2; who++) {
		for (__u32 left = 0; left <= 64; left += 8) {
			memset(&world, 0, sizeof(world));
			world.head.limit = POOL_SIZE;
			world.head.writer_head = POSIXTRACE_HEAD_NONE;
			ASSERT_EQ(PXTU_WRITTEN, write_as(&world, 0));
			world.head.limit = POSIXTRACE_HEAD_POS(world.head.head) + left;
			EXPECT_EQ(left < (who ? 32 : 0) + record_step() ? PXTU_WRITTEN_NO_ROOM :
									  PXTU_WRITTEN,
				  write_as(&world, who));
			EXPECT_TRUE(is_right(&world));
		}
	}
}
#endif /* HAVE_STEPS */

TEST_HARNESS_MAIN
