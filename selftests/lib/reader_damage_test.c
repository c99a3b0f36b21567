// SPDX-License-Identifier: GPL-2.0
/*
 * The reader's core against a simulated kernel: memory that a traced process has
 * damaged, is damaging, or that is not there. Needs no module.
 */
#define PXT_NO_DEVICE
#include "pxt_test.h"
#include "reader_sim.h"

#include "../../lib/gap.c"
#include "../../lib/reader.c"
#include "../../lib/subbuf.c"

#define CPUS	4
#define SUBBUFS	12

static const struct pxtu_event *next(struct sim *sim)
{
	return pxtu_reader_next(&sim->reader);
}

static __u64 payload(const struct pxtu_event *event)
{
	__u64 value = 0;

	memcpy(&value, event->data, event->data_len < sizeof(value) ? event->data_len : 8);
	return value;
}

/* Time of the sub-buffer's opening, which is before that of the record in front. */
#define OPENED	2

/* Each check of a record has its damage. */
static const struct damage {
	const char *name;
	size_t offset;
	size_t size;
	__u64 value;
} damages[] = {
	{ "size zero", offsetof(struct posixtrace_record, size), 4, 0 },
	{ "size small", offsetof(struct posixtrace_record, size), 4, 40 },
	{ "size other", offsetof(struct posixtrace_record, size), 4, 64 },
	{ "size odd", offsetof(struct posixtrace_record, size), 4, 57 },
	{ "size huge", offsetof(struct posixtrace_record, size), 4, 0xfffffff8 },
	{ "size beyond used", offsetof(struct posixtrace_record, size), 4, 4048 },
	{ "data_len huge", offsetof(struct posixtrace_record, data_len), 4, 0xffffffff },
	{ "data_len other", offsetof(struct posixtrace_record, data_len), 4, 9 },
	{ "id zero", offsetof(struct posixtrace_record, event_id), 4, 0 },
	{ "id system", offsetof(struct posixtrace_record, event_id), 4, POSIXTRACE_ID_STOP },
	{ "id too large", offsetof(struct posixtrace_record, event_id), 4, POSIXTRACE_ID_MAX },
	{ "flags unknown", offsetof(struct posixtrace_record, flags), 4, 2 },
	{ "time before opened", offsetof(struct posixtrace_record, timestamp), 8, 1 },
	{ "time of opening", offsetof(struct posixtrace_record, timestamp), 8, OPENED },
	{ "time after closed", offsetof(struct posixtrace_record, timestamp), 8, ~0ULL },
};

/* Two closed sub-buffers and an open one on CPU 0, some events on CPU 1; damage the middle. */
static void make_damage(struct __test_metadata *_metadata, struct sim *sim,
			const struct damage *damage)
{
	__u64 n, value = damage->value;
	unsigned char *victim;

	ASSERT_EQ(0, sim_init(sim, CPUS, SUBBUFS, true));
	for (n = 1; n <= 200; n++)
		ASSERT_NE(0, sim_write(sim, n % 10 == 9, &n, sizeof(n)));
	/* The second record of the second sub-buffer of CPU 0. */
	n = sim->next[sim->oldest[0]];
	victim = sim->pool + n * SIM_SUBBUF_SIZE + 56;
	ASSERT_EQ(56, ((struct posixtrace_record *)victim)->size);
	if (value == OPENED && damage->size == sizeof(__u64))
		value = sim->subbufs[n].opened;
	memcpy(victim + damage->offset, &value, damage->size);
}

/* It is reported, costs the sub-buffer that it is in, and nothing else. */
TEST(damage_costs_one_subbuf)
{
	const struct damage *damage;
	size_t i;

	for (i = 0; i < PXTU_ARRAY_SIZE(damages); i++) {
		unsigned int errors = 0, read = 0;
		const struct pxtu_event *event;
		__u64 last = 0;
		struct sim sim;
		int error;

		damage = &damages[i];
		make_damage(_metadata, &sim, damage);
		while ((event = next(&sim))) {
			if (event->id == POSIXTRACE_ID_ERROR) {
				errors++;
				ASSERT_EQ(sizeof(error), event->data_len);
				memcpy(&error, event->data, sizeof(error));
				EXPECT_EQ(EIO, error);
				EXPECT_EQ(0, event->pid);
				continue;
			}
			EXPECT_EQ(POSIXTRACE_ID_UNNAMED, event->id);
			EXPECT_GT(payload(event), last);
			last = payload(event);
			read++;
		}
		EXPECT_EQ(1, errors)
			TH_LOG("%s", damage->name);
		EXPECT_EQ(1, sim.reader.corrupt);
		EXPECT_TRUE(sim.reader.overrun);
		/* 73 records fit into 4 KiB; one was read before the damage. */
		EXPECT_EQ(200 - 72, read)
			TH_LOG("%s", damage->name);
		EXPECT_EQ(200, last);
		pxtu_reader_destroy(&sim.reader);
	}
}

struct hostile {
	struct sim *sim;
	int stop;
};

/* Everything that a target may write, at any time, most of it plausible. */
static void *hostile_write(void *arg)
{
	struct hostile *hostile = arg;
	struct sim *sim = hostile->sim;
	unsigned int seed = 1;
	struct posixtrace_record *record;
	__u32 cpu, pos;

	while (!pxtu_load(&hostile->stop)) {
		cpu = (__u32)rand_r(&seed) % CPUS;
		pos = (__u32)rand_r(&seed) % (SUBBUFS * SIM_SUBBUF_SIZE / 8 - 8) * 8;
		record = (void *)(sim->pool + pos);
		switch (rand_r(&seed) % 8) {
		case 0:
			pxtu_store(&sim->heads[cpu].head, (__u64)rand_r(&seed) << 20 ^ pos);
			break;
		case 1:
			pxtu_store(&sim->heads[cpu].head, POSIXTRACE_HEAD(pos, 7));
			break;
		case 2:
			pxtu_store(&record->data_len, (__u32)rand_r(&seed));
			break;
		case 3:
			pxtu_store(&record->size, 56);
			pxtu_store(&record->data_len, 8);
			pxtu_store(&record->event_id, POSIXTRACE_ID_UNNAMED);
			pxtu_store(&record->flags, 0);
			break;
		case 4:
			pxtu_store(&record->timestamp, pxtu_load(&sim->clock));
			break;
		case 5:
			pxtu_store(&record->timestamp, ~0ULL);
			break;
		case 6:
			pxtu_store(&record->size, (__u32)rand_r(&seed) & ~7U);
			break;
		case 7:
			memset(record, rand_r(&seed), 64);
			break;
		}
	}
	return NULL;
}

/*
 * While a target writes rubbish all over the pool and the CPU heads, every call
 * returns, nothing outside is touched, and what is reported is of the right form.
 */
TEST(hostile_target)
{
	const struct pxtu_event *event;
	struct hostile hostile;
	unsigned int round, i, events = 0;
	pthread_t thread;
	struct sim sim;
	__u64 n = 0;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	hostile = (struct hostile){ &sim, 0 };
	ASSERT_EQ(0, pthread_create(&thread, NULL, hostile_write, &hostile));
	/* Until enough of it has hit; if it never does, the time limit ends it. */
	for (round = 0; round < 4000 || sim.reader.corrupt < 1000; round++) {
		pthread_mutex_lock(&sim.lock);
		for (i = 0; i < CPUS; i++) {
			/* The kernel hands out sub-buffers; the writer believes the head. */
			sim_next(&sim, i);
			for (n = 0; n < 20; n++) {
				__u32 pos = sim.open[i] * SIM_SUBBUF_SIZE + (__u32)n * 56;
				struct posixtrace_record record = {
					.size = 56,
					.data_len = 8,
					.event_id = POSIXTRACE_ID_UNNAMED,
					.timestamp = sim_now(&sim),
				};

				memcpy(sim.pool + pos, &record, sizeof(record));
				pxtu_store_release(&sim.heads[i].head,
						   POSIXTRACE_HEAD(pos + 56, n + 1));
			}
		}
		pthread_mutex_unlock(&sim.lock);
		for (i = 0; i < 100 && (event = next(&sim)); i++) {
			events++;
			ASSERT_LE(event->data_len, 1024);
			if (event->id < POSIXTRACE_ID_UNNAMED) {
				ASSERT_TRUE(event->id == POSIXTRACE_ID_ERROR ||
					    event->id == POSIXTRACE_ID_OVERFLOW ||
					    event->id == POSIXTRACE_ID_RESUME);
			} else {
				ASSERT_LT(event->id, POSIXTRACE_ID_MAX);
			}
		}
	}
	pxtu_store(&hostile.stop, 1);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	TH_LOG("%u events, %llu damaged", events, (unsigned long long)sim.reader.corrupt);
	EXPECT_GT(events, 1000);
	pxtu_reader_destroy(&sim.reader);
}

/* The mappings of a stream that was shut down read as zero. */
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

/* Memory that is smaller than it says of itself is refused. */
TEST(small_mappings)
{
	struct posixtrace_attr attr = { .max_data_size = 100 };
	struct pxtu_reader reader;
	struct pxtu_map map;
	struct sim sim;

	ASSERT_EQ(0, sim_init(&sim, CPUS, SUBBUFS, true));
	map = sim.map;
	map.ctrl_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release));
	map = sim.map;
	map.heads_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release));
	map = sim.map;
	map.pool_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release));
	map = sim.map;
	map.shared_size -= 8;
	EXPECT_EQ(-EPROTO, pxtu_reader_init(&reader, &map, &attr, sim_release));
	map = sim.map;
	EXPECT_EQ(0, pxtu_reader_init(&reader, &map, &attr, sim_release));
	pxtu_reader_destroy(&reader);
	pxtu_reader_destroy(&sim.reader);
}

TEST_HARNESS_MAIN
