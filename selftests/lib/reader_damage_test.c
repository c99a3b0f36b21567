// SPDX-License-Identifier: GPL-2.0
/*
 * The core of the reader with a simulated kernel: memory that a traced process has damaged or is
 * damaging, or that is missing. Needs no module.
 */
#define PXT_NO_DEVICE
#include <stddef.h>

#include "pxt_test.h"
#include "reader_sim.h"

#include "../../lib/common/kernel.c"
#include "../../lib/stream/gap.c"
#include "../../lib/stream/merge.c"
#include "../../lib/stream/reader.c"
#include "../../lib/stream/run.c"
#include "../../lib/stream/subbuf.c"
#include "../../lib/stream/window.c"

#define CPUS	4
#define SUBBUFS	12

static const struct posixtrace_batch_event *next(struct sim *sim)
{
	static const struct pxtu_place none;

	return pxtu_reader_next(&sim->reader, &none);
}

/* The time at which a sub-buffer was opened, which is before the time of its first record. */
#define OPENED	2

/* Enough events to fill more than two sub-buffers of CPU 0. */
#define EVENTS	400

/* Offsets of records in a sub-buffer. The writer precedes the first record. */
#define FIRST	sizeof(struct posixtrace_writer)
#define SECOND	POSIXTRACE_RECORD_SIZE(sizeof(__u64))
#define THIRD	(SECOND + POSIXTRACE_RECORD_STEP(sizeof(__u64)))

/* Different kinds of damage, for each check that the reader makes of a record. */
static const struct damage {
	const char *name;
	size_t offset;
	size_t size;
	__u64 value;
	unsigned int good;	/* number of records before the damage is detected */
} damages[] = {
#define CASE(at, type, field, size, value, good) { #type "." #field " " #value, \
	(at) + offsetof(struct posixtrace_##type, field), size, value, good }
	CASE(SECOND, record, data_len, 2, 0xffff, 1),
	CASE(SECOND, record, data_len, 2, 0xfff8, 1),
	CASE(SECOND, record, data_len, 2, SIM_SUBBUF_SIZE - SECOND, 1),
	CASE(SECOND, record, data_len, 2, 1025, 1),
	CASE(SECOND, record, data_len, 2, SIM_MAX_DATA + 1, 1),
	/* The data includes a part of the next record. */
	CASE(SECOND, record, data_len, 2, 9, 2),
	CASE(SECOND, record, data_len, 2, 16, 2),
	/* The next record would start with the data. */
	CASE(SECOND, record, data_len, 2, 0, 2),
	CASE(SECOND, record, type, 2, 0, 1),
	CASE(SECOND, record, type, 2, POSIXTRACE_ID_STOP, 1),
	CASE(SECOND, record, type, 2, POSIXTRACE_ID_UNNAMED - 1, 1),
	CASE(SECOND, record, type, 2, 0xffff, 1),
	/* Packed, with a length that no packed record has. */
	CASE(SECOND, record, type, 2, POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED, 2), 1),
	CASE(SECOND, record, type, 2, POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED, 8), 1),
	CASE(SECOND, record, type, 2, POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED, 9), 1),
	CASE(SECOND, record, time, 4, ~0U, 1),
	CASE(THIRD, record, time, 4, 0, 2),
	/* The first record names its writer twice. */
	{ "two writers", FIRST, 8, 0, 0 },
	{ "a writer that is not the first", SECOND, 8, 0, 1 },
	CASE(0, writer, data_len, 2, 8, 0),
	CASE(0, writer, type, 2, POSIXTRACE_RECORD_TYPE(0, POSIXTRACE_RECORD_TRUNCATED), 0),
	CASE(0, writer, type, 2, POSIXTRACE_ID_STOP, 0),
	CASE(0, writer, time, 8, 1ULL << 32, 0),
	CASE(FIRST, record, data_len, 2, 0xffff, 0),
	CASE(FIRST, record, type, 2, 0xffff, 0),
	CASE(FIRST, record, time, 4, ~0U, 0),
};

/*
 * Makes two closed sub-buffers and an open one on CPU 0, and some events on CPU 1. Returns the
 * sub-buffer to damage.
 */
static __u32 make_events(struct __test_metadata *_metadata, struct sim *sim)
{
	__u64 n;

	ASSERT_EQ(0, sim_init(sim, CPUS, SUBBUFS, true));
	for (n = 1; n <= EVENTS; n++)
		ASSERT_NE(0, sim_write(sim, n % 10 == 9, &n, sizeof(n)));
	n = sim->next[sim->oldest[0]];
	ASSERT_EQ(POSIXTRACE_SUBBUF_CLOSED, sim->subbufs[n].state);
	ASSERT_NE(POSIXTRACE_NONE, sim->next[n]);
	return n;
}

/* Reads all events: expects one ERROR, and all events except @lost. */
static void expect_damage(struct __test_metadata *_metadata, struct sim *sim, unsigned int lost,
			  const char *name)
{
	unsigned int errors = 0, read = 0;
	const struct posixtrace_batch_event *event;
	__u64 last = 0;
	int error;

	while ((event = next(sim))) {
		if (event->event.posix_event_id == POSIXTRACE_ID_ERROR) {
			errors++;
			ASSERT_EQ(sizeof(error), event->data_len);
			memcpy(&error, event->data, sizeof(error));
			EXPECT_EQ(EIO, error);
			EXPECT_EQ(0, event->event.posix_pid);
			EXPECT_EQ(0, event->event.posix_thread_id);
			continue;
		}
		EXPECT_EQ(POSIXTRACE_ID_UNNAMED, event->event.posix_event_id);
		if (event->data_len == sizeof(last)) {
			EXPECT_GT(payload(event), last);
			last = payload(event);
			EXPECT_EQ(last % 10 == 9, event->event.posix_thread_id);
		}
		EXPECT_EQ(17, event->event.posix_pid);
		read++;
	}
	EXPECT_EQ(1, errors)
		TH_LOG("%s", name);
	EXPECT_EQ(1, sim->reader.corrupt);
	EXPECT_TRUE(sim->reader.overrun);
	EXPECT_EQ(EVENTS - lost, read)
		TH_LOG("%s", name);
	EXPECT_EQ(EVENTS, last);
	pxtu_reader_destroy(&sim->reader);
}

/* Damage is reported, and costs only its sub-buffer. */
TEST(damage_costs_one_subbuf)
{
	const struct damage *damage;
	struct sim sim;
	__u64 value;
	__u32 idx;
	size_t i;

	for (i = 0; i < PXTU_ARRAY_SIZE(damages); i++) {
		damage = &damages[i];
		idx = make_events(_metadata, &sim);
		value = damage->value;
		if (value == OPENED && damage->size == sizeof(__u64))
			value = sim.subbufs[idx].opened;
		memcpy(sim.pool + idx * SIM_SUBBUF_SIZE + damage->offset, &value, damage->size);
		expect_damage(_metadata, &sim, sim.subbufs[idx].count - damage->good,
			      damage->name);
	}
}

/*
 * The first record has no struct posixtrace_writer. The reader must not use the writer of an
 * earlier sub-buffer or of another CPU.
 */
TEST(first_record_without_a_writer)
{
	unsigned char *mem;
	struct sim sim;
	__u32 idx;

	idx = make_events(_metadata, &sim);
	mem = sim.pool + idx * SIM_SUBBUF_SIZE;
	sim.subbufs[idx].used -= FIRST;
	memmove(mem, mem + FIRST, sim.subbufs[idx].used);
	expect_damage(_metadata, &sim, sim.subbufs[idx].count, "no writer");
}

/* Truncates the last record to each length. */
TEST(record_truncated_by_the_end)
{
	__u32 idx, cut, size = POSIXTRACE_RECORD_STEP(sizeof(__u64));
	unsigned char *mem;
	struct sim sim;

	for (cut = 8; cut < size; cut += 8) {
		idx = make_events(_metadata, &sim);
		sim.subbufs[idx].used -= cut;
		expect_damage(_metadata, &sim, 1, "truncated");
	}
	/* A record with a writer: from a part of the writer to almost the complete record. */
	for (cut = 8; cut < FIRST + size; cut += 8) {
		idx = make_events(_metadata, &sim);
		mem = sim.pool + idx * SIM_SUBBUF_SIZE;
		/* Copy the first record over the last two. */
		memcpy(mem + sim.subbufs[idx].used - 2 * size, mem, FIRST + size);
		sim.subbufs[idx].used -= 2 * size - cut;
		expect_damage(_metadata, &sim, 2, "truncated after the writer");
	}
}

/*
 * The writer of the records after the damage is unknown, so they also count as damaged until a
 * record names its writer.
 */
TEST(damage_lasts_until_a_record_names_its_writer)
{
	const struct posixtrace_batch_event *event;
	struct posixtrace_record *record;
	struct sim sim;
	__u64 n;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	for (n = 1; n <= 3; n++)
		ASSERT_NE(0, sim_write(&sim, 0, &n, sizeof(n)));
	record = (void *)(sim.pool + sim.open[0] * SIM_SUBBUF_SIZE + SECOND);
	record->type |= POSIXTRACE_RECORD_TYPE(0, 0xf);
	ASSERT_NE(NULL, (event = next(&sim)));
	EXPECT_EQ(1, payload(event));
	ASSERT_NE(NULL, (event = next(&sim)));
	EXPECT_EQ(POSIXTRACE_ID_ERROR, event->event.posix_event_id);
	EXPECT_EQ(NULL, next(&sim));

	/* First records of the same thread, one by one; then of another thread. */
	for (n = 4; n <= 8; n++) {
		ASSERT_NE(0, sim_write(&sim, 0, &n, sizeof(n)));
		EXPECT_EQ(NULL, next(&sim));
	}
	for (; n <= 10; n++)
		ASSERT_NE(0, sim_write(&sim, 0, &n, sizeof(n)));
	sim.writer[0] = 47;
	for (; n <= 12; n++)
		ASSERT_NE(0, sim_write(&sim, 0, &n, sizeof(n)));
	for (n = 11; n <= 12; n++) {
		ASSERT_NE(NULL, (event = next(&sim)));
		EXPECT_EQ(n, payload(event));
		EXPECT_EQ(47, event->event.posix_thread_id);
		EXPECT_EQ(17, event->event.posix_pid);
	}
	EXPECT_EQ(NULL, next(&sim));
	EXPECT_EQ(1, sim.reader.corrupt);
	EXPECT_EQ(3, sim.reader.read);

	/* The next sub-buffer is not damaged. */
	record->type = POSIXTRACE_ID_UNNAMED;
	n = POSIXTRACE_HEAD_POS(sim.heads[0].head);
	memset(sim.pool + n, 0xff, 8);
	sim.heads[0].head = POSIXTRACE_HEAD(n + 64, 20);
	ASSERT_NE(NULL, (event = next(&sim)));
	EXPECT_EQ(POSIXTRACE_ID_ERROR, event->event.posix_event_id);
	ASSERT_TRUE(sim_next(&sim, 0));
	n = 13;
	ASSERT_NE(0, sim_write(&sim, 0, &n, sizeof(n)));
	ASSERT_NE(NULL, (event = next(&sim)));
	EXPECT_EQ(13, payload(event));
	EXPECT_EQ(47, event->event.posix_thread_id);
	EXPECT_EQ(NULL, next(&sim));
	pxtu_reader_destroy(&sim.reader);
}

struct hostile {
	struct sim *sim;
	int stop;
};

/* Writes to all memory that a target can write, at any time, mostly with plausible values. */
static void *hostile_write(void *arg)
{
	struct hostile *hostile = arg;
	struct sim *sim = hostile->sim;
	unsigned int seed = 1;
	struct posixtrace_record *record;
	struct posixtrace_writer *writer;
	__u32 cpu, pos;

	while (!pxtu_load(&hostile->stop)) {
		cpu = (__u32)rand_r(&seed) % CPUS;
		pos = (__u32)rand_r(&seed) % (SUBBUFS * SIM_SUBBUF_SIZE / 8 - 8) * 8;
		record = (void *)(sim->pool + pos);
		writer = (void *)(sim->pool + pos);
		switch (rand_r(&seed) % 8) {
		case 0:
			pxtu_store(&sim->heads[cpu].head, (__u64)rand_r(&seed) << 20 ^ pos);
			break;
		case 1:
			pxtu_store(&sim->heads[cpu].head, POSIXTRACE_HEAD(pos, 7));
			break;
		case 2:
			pxtu_store(&record->data_len, (__u16)rand_r(&seed));
			break;
		case 3:
			pxtu_store(&record->data_len, (__u16)rand_r(&seed) % 16);
			pxtu_store(&record->type,
				   POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED,
							  (__u32)rand_r(&seed) % 4));
			break;
		case 4:
			pxtu_store(&writer->time, pxtu_load(&sim->clock));
			break;
		case 5:
			pxtu_store(&record->time, ~0U);
			break;
		case 6:
			pxtu_store(&writer->data_len, 0);
			pxtu_store(&writer->type, rand_r(&seed) % 8 ? POSIXTRACE_ID_WRITER :
						  POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_WRITER, 1));
			pxtu_store(&writer->address_high, (__u32)rand_r(&seed));
			break;
		case 7:
			memset(record, rand_r(&seed), 64);
			break;
		}
	}
	return NULL;
}

/*
 * A target writes garbage all over the pool and the CPU heads. Every call of the reader must
 * return, other memory must not change, and reported events must have a valid form.
 */
TEST(hostile_target)
{
	const struct posixtrace_batch_event *event;
	struct hostile hostile;
	unsigned int round, i, events = 0;
	pthread_t thread;
	struct sim sim;
	__u64 n = 0;

	PXT_NOT_WITH_TSAN("finds the races that this is about");
	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	hostile = (struct hostile){ &sim, 0 };
	ASSERT_EQ(0, pthread_create(&thread, NULL, hostile_write, &hostile));
	/* Loop until enough garbage has had an effect, or the time limit ends the test. */
	for (round = 0; round < 4000 || sim.reader.corrupt < 1000; round++) {
		pthread_mutex_lock(&sim.lock);
		for (i = 0; i < CPUS; i++) {
			/* The kernel hands out sub-buffers; the writer trusts the head. */
			sim_next(&sim, i);
			for (n = 0; n < 20; n++) {
				__u32 pos = sim.open[i] * SIM_SUBBUF_SIZE + (__u32)n * 56;
				struct record record = {
					.data_len = 8,
					.event_id = POSIXTRACE_ID_UNNAMED,
					.timestamp = sim_now(&sim),
				};

				record_format(&record, NULL, sim.pool + pos);
				pxtu_store_release(&sim.heads[i].head,
						   POSIXTRACE_HEAD(pos + 56, n + 1));
			}
		}
		pthread_mutex_unlock(&sim.lock);
		for (i = 0; i < 100 && (event = next(&sim)); i++) {
			events++;
			ASSERT_LE(event->data_len, 1024);
			if (event->event.posix_event_id < POSIXTRACE_ID_UNNAMED) {
				ASSERT_TRUE(event->event.posix_event_id == POSIXTRACE_ID_ERROR ||
					    event->event.posix_event_id == POSIXTRACE_ID_OVERFLOW ||
					    event->event.posix_event_id == POSIXTRACE_ID_RESUME);
			} else {
				ASSERT_LT(event->event.posix_event_id, POSIXTRACE_ID_MAX);
			}
		}
	}
	pxtu_store(&hostile.stop, 1);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	TH_LOG("%u events, %llu damaged", events, (unsigned long long)sim.reader.corrupt);
	EXPECT_GT(events, 1000);
	pxtu_reader_destroy(&sim.reader);
}

/* After the stream was shut down, its mappings read as zero. */
TEST(shut_down)
{
	struct sim sim;
	__u64 n = 1;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	ASSERT_NE(0, sim_write(&sim, 1, &n, sizeof(n)));
	memset(sim.ctrl, 0, sim.map.ctrl_size);
	memset(sim.heads, 0, sim.map.heads_size);
	memset(sim.pool, 0, sim.map.pool_size);
	memset(sim.shared, 0, sim.map.shared_size);
	EXPECT_EQ(NULL, next(&sim));
	pxtu_reader_destroy(&sim.reader);
}

/* The reader must refuse memory that is smaller than its contents claim. */
TEST(small_mappings)
{
	struct posixtrace_attr attr = { .max_data_size = 100 };
	struct pxtu_reader reader;
	struct pxtu_map map;
	struct sim sim;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	map = sim.map;
	map.ctrl_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release, sim_defer));
	map = sim.map;
	map.heads_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release, sim_defer));
	map = sim.map;
	map.pool_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release, sim_defer));
	map = sim.map;
	map.shared_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release, sim_defer));
	map = sim.map;
	EXPECT_EQ(0, pxtu_reader_init(&reader, &map, &attr, sim_release, sim_defer));
	pxtu_reader_destroy(&reader);
	pxtu_reader_destroy(&sim.reader);
}

TEST_HARNESS_MAIN
