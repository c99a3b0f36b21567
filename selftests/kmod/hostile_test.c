// SPDX-License-Identifier: GPL-2.0
/*
 * A traced process overwrites all memory that it can write, while a reader reads. It may lose its
 * own events, but must not affect the kernel, the reader or other streams. The reader uses the
 * library, which must withstand this.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <trace.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

#define INNOCENT_EVENTS	400

enum { HEADS = 1, POOL = 2 };

static uint64_t scramble(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct victim {
	uint64_t *words;
	size_t count;
};

/* An almost plausible value reaches more code than noise. */
static uint64_t evil(uint64_t *state, size_t bytes)
{
	uint64_t value = scramble(state);

	switch (value % 6) {
	case 0:
		return 0;
	case 1:
		return ~0ULL;
	case 2:		/* a position in the pool, as in a head */
		return (value >> 8) % (bytes + 64);
	case 3:		/* size and length of a record, almost right */
		return ((value >> 8) % 512) | ((value >> 20) % 512) << 32;
	case 4:		/* a small multiple of 8 */
		return (value >> 8) % 64 * 8;
	default:
		return value;
	}
}

static void *scribble(void *arg)
{
	struct victim *victims = arg;
	uint64_t state = 88172645463325252ULL;

	for (;;) {
		for (int i = 0; i < 2; i++) {
			struct victim *victim = &victims[i];
			uint64_t where;

			if (!victim->count)
				continue;
			where = scramble(&state) % victim->count;
			__atomic_store_n(&victim->words[where],
					 evil(&state, victim->count * 8), __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

/*
 * Runs in the traced process: one thread overwrites the memory at *arg, another one records events
 * normally.
 */
static int hostile(void *arg, const struct talk *talk)
{
	struct victim victims[2] = { { .count = 0 } };
	int what = *(int *)arg;
	struct posixtrace_slot *slot;
	struct target target;
	pthread_t thread;

	if (target_open(&target))
		return 1;
	say(talk, 0);
	hear(talk);
	if (target_sync(&target))
		return 2;
	slot = &target.slots[0];
	if (what & HEADS) {
		victims[0].words = map_range(target.fd, &slot->heads, PROT_READ | PROT_WRITE);
		victims[0].count = slot->heads.size / 8;
	}
	if (what & POOL) {
		victims[1].words = map_range(target.fd, &slot->pool, PROT_READ | PROT_WRITE);
		victims[1].count = slot->pool.size / 8;
	}
	if (pthread_create(&thread, NULL, scribble, victims))
		return 3;
	say(talk, 0);
	for (unsigned int i = 0;; i++) {
		struct posixtrace_next next = {
			.slot = 0,
			.size = i % 512 / 8 * 8,
			.stream = slot->stream,
		};

		target_event(&target, POSIXTRACE_ID_UNNAMED, &i, i % 200);
		if (i % 7 == 0)
			command(target.fd, POSIXTRACE_IOC_NEXT, &next);
		if (i % 64 == 0)
			run_on(i / 64);
	}
}

/* Runs in a process that another stream traces: reports how many events it has recorded. */
static int innocent(void *arg, const struct talk *talk)
{
	struct target target;

	(void)arg;
	if (target_open(&target))
		return 1;
	say(talk, 0);
	hear(talk);
	for (int i = 0; i < INNOCENT_EVENTS; i++) {
		if (target_event(&target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)))
			return 2;
	}
	say(talk, INNOCENT_EVENTS);
	return 0;
}

FIXTURE(hostile)
{
	trace_id_t trid;
	struct child scribbler;
};

FIXTURE_VARIANT(hostile)
{
	int what;
	int policy;
};

FIXTURE_VARIANT_ADD(hostile, heads) { HEADS, POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(hostile, pool) { POOL, POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(hostile, heads_and_pool) { HEADS | POOL, POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(hostile, heads_until_full) { HEADS, POSIX_TRACE_UNTIL_FULL };
FIXTURE_VARIANT_ADD(hostile, heads_and_pool_until_full) { HEADS | POOL, POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(hostile)
{
	trace_attr_t attr;
	int what = variant->what;

	ASSERT_EQ(0, child_start(&self->scribbler, hostile, &what));
	ASSERT_EQ(0, hear(&self->scribbler.talk));
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 64 << 10));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&attr, 256));
	ASSERT_EQ(0, posix_trace_attr_setstreamfullpolicy(&attr, variant->policy));
	ASSERT_EQ(0, posix_trace_create(self->scribbler.pid, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	say(&self->scribbler.talk, 0);
	ASSERT_EQ(0, hear(&self->scribbler.talk));
}

FIXTURE_TEARDOWN(hostile)
{
	child_kill(&self->scribbler);
}

/* Reads an event, and checks that all its values are valid. Returns false if there is no event. */
static bool read_one(struct __test_metadata *_metadata, trace_id_t trid, trace_event_id_t *id)
{
	struct posix_trace_event_info info;
	char name[TRACE_EVENT_NAME_MAX + 1];
	unsigned char data[300];
	int unavailable = -1;
	size_t len = 4711;

	memset(data, 0x5a, sizeof(data));
	ASSERT_EQ(0, posix_trace_trygetnext_event(trid, &info, data, 256, &len, &unavailable));
	if (unavailable)
		return false;
	EXPECT_GE(256, len);
	EXPECT_EQ(0x5a, data[256]);
	EXPECT_LE(0, info.posix_timestamp.tv_nsec);
	EXPECT_GT(1000000000, info.posix_timestamp.tv_nsec);
	EXPECT_LE(0, info.posix_truncation_status);
	EXPECT_GE(POSIX_TRACE_TRUNCATED_READ, info.posix_truncation_status);
	/* The id belongs to the process, or at least is in range. */
	EXPECT_GT(POSIXTRACE_ID_MAX, info.posix_event_id);
	posix_trace_eventid_get_name(trid, info.posix_event_id, name);
	*id = info.posix_event_id;
	return true;
}

TEST_F(hostile, reader_survives_and_can_stop)
{
	struct posix_trace_status_info status;
	trace_event_id_t id = 0;
	int events = 0;

	/* Read up to a maximum number of events, in a maximum number of attempts. */
	for (int i = 0; i < 20000 && events < 2000; i++)
		events += read_one(_metadata, self->trid, &id);
	EXPECT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(0, posix_trace_stop(self->trid));

	/* Reading the remaining events must end although the process still overwrites memory. */
	for (events = 0; events < 100000; events++) {
		if (!read_one(_metadata, self->trid, &id))
			break;
	}
	EXPECT_GT(100000, events);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(hostile, shutdown_while_it_scribbles)
{
	trace_event_id_t id;

	for (int i = 0; i < 100; i++)
		read_one(_metadata, self->trid, &id);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
	/* The scribbler now writes to scratch pages, and still runs. */
	EXPECT_EQ(0, kill(self->scribbler.pid, 0));
	EXPECT_EQ(0, waitpid(self->scribbler.pid, NULL, WNOHANG));
}

TEST_F(hostile, death_of_the_scribbler_leaves_a_readable_stream)
{
	trace_event_id_t id;
	int events;

	for (int i = 0; i < 100; i++)
		read_one(_metadata, self->trid, &id);
	kill(self->scribbler.pid, SIGKILL);
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	for (events = 0; events < 100000; events++) {
		if (!read_one(_metadata, self->trid, &id))
			break;
	}
	EXPECT_GT(100000, events);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(hostile, other_streams_are_exact)
{
	struct posixtrace_status status;
	struct record record;
	struct stream stream;
	struct child child;
	trace_event_id_t id;
	int n;

	ASSERT_EQ(0, child_start(&child, innocent, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, stream_create(&stream, child.pid));
	ASSERT_EQ(0, stream_start(&stream));
	say(&child.talk, 0);
	for (int i = 0; i < 500; i++)
		read_one(_metadata, self->trid, &id);
	ASSERT_EQ(INNOCENT_EVENTS, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));

	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(POSIXTRACE_ID_START, record.event_id);
	for (int i = 0; i < INNOCENT_EVENTS; i++) {
		ASSERT_EQ(1, stream_take(&stream, &record, &n, sizeof(n)));
		ASSERT_EQ(POSIXTRACE_ID_UNNAMED, record.event_id);
		ASSERT_EQ(child.pid, record.pid);
		ASSERT_EQ(i, n);
	}
	EXPECT_EQ(0, stream_take(&stream, &record, NULL, 0));
	ASSERT_EQ(0, stream_status(&stream, &status));
	EXPECT_EQ(0, status.lost);
	stream_close(&stream);
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_HARNESS_MAIN
