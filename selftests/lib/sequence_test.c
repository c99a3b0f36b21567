// SPDX-License-Identifier: GPL-2.0
/*
 * The restartable sequence of a record, stopped after each of its instructions: each record
 * has its own thread, whichever thread writes next on that CPU. It runs in memory of the
 * test, and without the kernel, which would restart it. Needs no module.
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
#include "pxt_test.h"
#include "record.h"
#include "sequences.h"
#include "step.h"

#include "../../lib/record/rseq.h"

#ifdef HAVE_STEPS
#define POOL_SIZE	4096U
#define EVENT_ID	POSIXTRACE_ID_UNNAMED
#define RECORDS		4	/* before the stopped one */

/* One CPU of one stream, and a traced process. */
struct world {
	struct posixtrace_cpu_head head;
	__u64 pool[POOL_SIZE / 8];
};

static struct posixtrace_gate gate;
static struct posixtrace_wakeup wakeup;

/* A thread: the data of its records is its index. */
struct identity {
	__s32 pid;
	__s32 tid;
	__u64 thread_id;
};

static const struct identity identities[] = {
	{ 11, 21, 0x7f31 },
	/* Each of these differs from the first in one member. */
	{ 12, 21, 0x7f31 },
	{ 11, 22, 0x7f31 },
	{ 11, 21, 0x7f32 },
};

#define IDENTITIES	(sizeof(identities) / sizeof(identities[0]))

static enum pxtu_written write_with(struct pxtu_state *state, struct world *world, __u64 who)
{
	struct pxtu_entry entry = {
		.writer = {
			.ids = (__u32)identities[who].pid | (__u64)identities[who].tid << 32,
			.thread_id = identities[who].thread_id,
		},
		.header = sizeof(who) | (__u64)EVENT_ID << 32,
		.time = world->head.last,
		.rest = { who },
		.rest_words = 1,
		.step = POSIXTRACE_HEAD(POSIXTRACE_RECORD_STEP(sizeof(who)), 1),
		.enable = &gate.enable[EVENT_ID],
		.bit = 1,
	};

	state->nr_cpus = 1;
	state->slot[0].heads = &world->head;
	state->slot[0].pool = (unsigned char *)world->pool;
	state->slot[0].pool_size = sizeof(world->pool);
	state->slot[0].wakeup = &wakeup;
	pxtu_rseq_arm();
	return pxtu_rseq_record(state, &gate, &state->slot[0], &entry);
}

static enum pxtu_written write_as(struct world *world, __u64 who)
{
	static struct pxtu_state state;

	return write_with(&state, world, who);
}

/* True if each committed record has the correct thread. */
static bool is_right(const struct world *world)
{
	struct record record = { .size = 0 };
	const struct identity *identity;
	unsigned int n = 0, at;
	const void *data;
	__u64 who;

	for (at = 0; at < POSIXTRACE_HEAD_POS(world->head.head); at += record.size) {
		data = record_parse(&record, (const char *)world->pool + at);
		if (!data || record.event_id != EVENT_ID || record.data_len != sizeof(who))
			return false;
		memcpy(&who, data, sizeof(who));
		identity = who < IDENTITIES ? &identities[who] : NULL;
		if (!identity || record.pid != identity->pid || record.tid != identity->tid ||
		    record.thread_id != identity->thread_id)
			return false;
		n++;
	}
	return at == POSIXTRACE_HEAD_POS(world->head.head) &&
	       n == POSIXTRACE_HEAD_COUNT(world->head.head);
}

static struct world now_here;
static unsigned int steps_seen, steps_in_middle, wrong, refused;

/*
 * The sequence is stopped here: on a copy of its memory, each thread writes, then each of
 * them again.
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

FIXTURE_SETUP(stopped)
{
	ASSERT_EQ(0, forgo_sequences());
	/* As the kernel would set it, if it were still registered. */
	own_area()->cpu_id = 0;
	gate.enable[EVENT_ID] = 1;
}

FIXTURE_TEARDOWN(stopped)
{
}

/* @before has written all records so far, and @who is stopped at each instruction. */
static void stop_everywhere(struct __test_metadata *_metadata, __u64 before, __u64 who)
{
	static struct pxtu_state stopped;

	memset(&now_here, 0, sizeof(now_here));
	now_here.head.limit = POOL_SIZE;
	now_here.head.writer_head = POSIXTRACE_HEAD_NONE;
	for (int i = 0; i < RECORDS; i++)
		ASSERT_EQ(PXTU_WRITTEN, write_as(&now_here, before));
	ASSERT_TRUE(is_right(&now_here));
	ASSERT_EQ(RECORDS * 32 + 24, POSIXTRACE_HEAD_POS(now_here.head.head));
	steps_seen = 0;
	steps_in_middle = 0;
	/* The others have a state of their own, like other processes. */
	ASSERT_EQ(0, steps_begin(others_write));
	write_with(&stopped, &now_here, who);
	steps_end();
	EXPECT_EQ(RECORDS + 1, POSIXTRACE_HEAD_COUNT(now_here.head.head));
	EXPECT_EQ((RECORDS + 1) * 32 + (before == who ? 24 : 48),
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
			stop_everywhere(_metadata, before, who);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, refused);
}

/* Another thread than the last writer needs more space, as its record names it. */
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
			EXPECT_EQ(left < (who ? 56 : 32) ? PXTU_WRITTEN_NO_ROOM : PXTU_WRITTEN,
				  write_as(&world, who));
			EXPECT_TRUE(is_right(&world));
		}
	}
}
#endif /* HAVE_STEPS */

TEST_HARNESS_MAIN
