// SPDX-License-Identifier: GPL-2.0
/* A traced process that overwrites the memory of its streams. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "scribbler.h"

/* The mappings of a stream that the scribbler overwrites. */
struct prey {
	struct posixtrace_cpu_head *heads;
	size_t heads_size;
	unsigned char *pool;
	size_t pool_size;
	unsigned long long stream;
};

struct scribbler {
	struct target target;
	pthread_rwlock_t lock;		/* held while the mappings are in use */
	struct prey prey[POSIXTRACE_SLOTS_MAX];
	const int *stop;
	uint64_t seed;
};

uint64_t scribbler_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void scribbler_store(void *where, uint64_t value)
{
	__atomic_store_n((uint64_t *)where, value, __ATOMIC_RELAXED);
}

/* Writes wrong values to the head of a CPU. */
static void scribble_head(struct prey *prey, uint64_t *rng)
{
	size_t nr = prey->heads_size / sizeof(*prey->heads);
	struct posixtrace_cpu_head *head = &prey->heads[scribbler_random(rng) % nr];
	uint64_t value = scribbler_random(rng);
	uint32_t pos = (uint32_t)(value >> 8) % (uint32_t)(prey->pool_size + 4096);
	uint64_t now_at = LOAD(head->head);

	switch (value % 10) {
	case 0:		/* somewhere, correctly aligned */
		scribbler_store(&head->head, POSIXTRACE_HEAD(pos & ~7U, value >> 40));
		break;
	case 1:		/* a little further forward or back */
		scribbler_store(&head->head, now_at + (value >> 8) % 256 - 64);
		break;
	case 2:		/* more or fewer records than there are */
		scribbler_store(&head->head, now_at ^ (value >> 8) % 64 << 32);
		break;
	case 3:
		__atomic_store_n(&head->limit, value & 256 ? ~0U :
				 value & 512 ? POSIXTRACE_LIMIT_FULL : pos, __ATOMIC_RELAXED);
		break;
	case 4:
		__atomic_store_n(&head->address_high, (uint32_t)(value >> 8), __ATOMIC_RELAXED);
		break;
	case 5:
		scribbler_store(&head->lost, value);
		break;
	case 6:		/* time of the last record: the maximum or 0 */
		scribbler_store(&head->last, value & 256 ? ~0ULL : 0);
		break;
	case 7:		/* writer of these records */
		scribbler_store(&head->writer_head, now_at);
		scribbler_store(&head->thread_id, value);
		break;
	default:	/* noise */
		scribbler_store((char *)head + (value >> 8) % sizeof(*head) / 8 * 8,
				scribbler_random(rng));
	}
}

/*
 * Returns the start of a record. This is correct if all records before it in the page are intact.
 */
static size_t scribbler_find(const struct prey *prey, uint64_t value)
{
	size_t pos = value % prey->pool_size / 4096 * 4096;
	const struct posixtrace_record *record;

	for (int n = (int)(value >> 40) % 64; n > 0; n--) {
		record = (const void *)(prey->pool + pos);
		if (POSIXTRACE_RECORD_ID(LOAD(record->type)) == POSIXTRACE_ID_WRITER)
			pos += sizeof(struct posixtrace_writer);
		else if (POSIXTRACE_RECORD_FLAGS(LOAD(record->type)) & POSIXTRACE_RECORD_PACKED)
			pos += POSIXTRACE_RECORD_PACKED_STEP(LOAD(record->data_len) % 1024);
		else
			pos += POSIXTRACE_RECORD_STEP(LOAD(record->data_len) % 1024);
		if (pos > prey->pool_size - 64)
			return 0;
	}
	return pos;
}

/* Writes wrong values that look like records. */
static void scribble_pool(struct prey *prey, uint64_t *rng)
{
	uint64_t value = scribbler_random(rng);
	size_t pos = value & 128 ? (value >> 8) % (prey->pool_size - 64) / 8 * 8 :
		     scribbler_find(prey, value >> 8);
	struct posixtrace_record *record = (void *)(prey->pool + pos);
	struct posixtrace_writer *writer = (void *)record;

	switch (value % 6) {
	case 0:		/* any length */
		record->data_len = (uint16_t)((value >> 20) % (value & 64 ? 1024 : 8192));
		record->type = POSIXTRACE_RECORD_TYPE(POSIXTRACE_ID_UNNAMED, (value >> 40) & 3);
		break;
	case 1:		/* any type, including system events */
		record->type = (uint16_t)(value >> 20);
		break;
	case 2:		/* any time */
		record->time = (uint32_t)(value & 256 ? value >> 52 : scribbler_random(rng));
		break;
	case 3:		/* the writer of the next record */
		scribbler_store(record, (uint64_t)POSIXTRACE_ID_WRITER | value >> 40 << 40);
		if (value & 256)
			scribbler_store(&writer->time, value & 512 ? now() : scribbler_random(rng));
		break;
	case 4:
		scribbler_store(record, value & 256 ? ~0ULL : 0);
		break;
	default:
		for (int i = 0; i < 8; i++)
			scribbler_store((char *)record + 8 * i, scribbler_random(rng));
	}
}

static void *scribble(void *arg)
{
	struct scribbler *me = arg;
	uint64_t rng = me->seed;

	while (!LOAD(*me->stop)) {
		pthread_rwlock_rdlock(&me->lock);
		for (int i = 0; i < 256; i++) {
			struct prey *prey = &me->prey[scribbler_random(&rng) % 4];

			if (!prey->heads)
				continue;
			if (scribbler_random(&rng) & 1)
				scribble_head(prey, &rng);
			else
				scribble_pool(prey, &rng);
		}
		pthread_rwlock_unlock(&me->lock);
	}
	return NULL;
}

static void prey_end(struct prey *prey)
{
	munmap(prey->heads, prey->heads_size);
	munmap(prey->pool, prey->pool_size);
	prey->heads = NULL;
}

static void prey_begin(struct prey *prey, int fd, const struct posixtrace_slot *slot)
{
	void *heads, *pool;

	heads = map_range(fd, &slot->heads, PROT_READ | PROT_WRITE);
	if (heads == MAP_FAILED)
		return;
	pool = map_range(fd, &slot->pool, PROT_READ | PROT_WRITE);
	if (pool == MAP_FAILED) {
		munmap(heads, slot->heads.size);
		return;
	}
	*prey = (struct prey){
		.heads = heads,
		.heads_size = slot->heads.size,
		.pool = pool,
		.pool_size = slot->pool.size,
		.stream = slot->stream,
	};
}

/* Maps the streams that exist now. */
static void scribbler_look(struct scribbler *me)
{
	if (target_sync(&me->target))
		return;
	pthread_rwlock_wrlock(&me->lock);
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		struct posixtrace_slot *slot = &me->target.slots[i];
		struct prey *prey = &me->prey[i];

		if (prey->heads && prey->stream != slot->stream)
			prey_end(prey);
		if (!prey->heads && slot->heads.size)
			prey_begin(prey, me->target.fd, slot);
	}
	pthread_rwlock_unlock(&me->lock);
}

static void scribbler_call(struct scribbler *me, uint64_t *rng)
{
	static const char data[4096];
	uint64_t value = scribbler_random(rng);
	struct posixtrace_next next = {
		.slot = (uint32_t)(value >> 8) % 4,
		.size = (uint32_t)(value >> 16) % 1024 / 8 * 8,
	};
	uint32_t slots = (uint32_t)(value >> 8);

	switch (value % 8) {
	case 0:
		next.stream = me->target.slots[next.slot].stream;
		command(me->target.fd, POSIXTRACE_IOC_NEXT, &next);
		break;
	case 1:
		command(me->target.fd, POSIXTRACE_IOC_WAKE, &slots);
		break;
	default:
		target_event(&me->target, POSIXTRACE_ID_UNNAMED, data,
			     (value >> 8) % 16 ? (value >> 12) % 300 : (value >> 12) % 4096);
	}
}

int scribbler_run(const struct talk *talk, const int *stop)
{
	static struct scribbler me = {
		.lock = PTHREAD_RWLOCK_INITIALIZER,
		.seed = 0x2545f4914f6cdd1dULL,
	};
	uint64_t rng = 1 + me.seed;
	pthread_t thread;

	me.stop = stop;
	if (target_open(&me.target))
		return 1;
	if (pthread_create(&thread, NULL, scribble, &me))
		return 2;
	say(talk, 0);
	for (unsigned int i = 0; !LOAD(*stop); i++) {
		if (LOAD(me.target.gate->generation) != me.target.generation)
			scribbler_look(&me);
		scribbler_call(&me, &rng);
		if (i % 64 == 0)
			run_on(i / 64);
	}
	pthread_join(thread, NULL);
	return 0;
}
