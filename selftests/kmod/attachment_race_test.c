// SPDX-License-Identifier: GPL-2.0
/*
 * After CREATE has returned, no thread of the process may read zero as the generation of its gate,
 * which would mean that the process has no stream. This must hold whenever the thread first read
 * the gate.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "pxt_test.h"
#include "process.h"
#include "race.h"
#include "uapi.h"

#define THREADS	3

/* Data that all processes share. */
static struct {
	int here;
	int go;
	int created;
	int zeros;		/* number of threads that still read zero after CREATE */
	int early;		/* number of threads that read zero before CREATE */
	int dawdle[THREADS];
	bool look_before;	/* threads map the page before CREATE, which then unmaps it */
	bool forget;		/* threads drop the page and fault it in repeatedly */
} *scene;

static const struct posixtrace_gate *gate;

static void dawdle(int loops)
{
	while (loops-- > 0)
		__asm__ __volatile__ ("");
}

/* Yields while it waits: there may be fewer processors than threads. */
static void wait_for_go(void)
{
	__atomic_add_fetch(&scene->here, 1, __ATOMIC_ACQ_REL);
	while (!LOAD(scene->go))
		sched_yield();
}

static void *look(void *arg)
{
	const int number = (int)(intptr_t)arg;
	unsigned long long generation;
	bool early = false;
	int created;

	if (scene->look_before)
		early = !LOAD(gate->generation);
	wait_for_go();
	dawdle(scene->dawdle[number]);
	do {
		created = LOAD(scene->created);
		generation = LOAD(gate->generation);
		early |= !generation;
		if (scene->forget && !number)
			madvise((void *)gate, 4096, MADV_DONTNEED);
	} while (!created);
	if (!generation)
		__atomic_add_fetch(&scene->zeros, 1, __ATOMIC_RELAXED);
	if (early)
		__atomic_add_fetch(&scene->early, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int look_at_once(void *arg, const struct talk *talk)
{
	pthread_t threads[THREADS];
	struct target target;

	(void)arg;
	if (!gate) {
		if (target_map(&target))
			return 1;
		gate = target.gate;
	}
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, look, (void *)(intptr_t)i))
			return 2;
	}
	if (talk)
		say(talk, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

FIXTURE(race)
{
	int unused;
};

FIXTURE_VARIANT(race)
{
	bool look_before;
	bool forget;
	bool inherited;		/* the process inherited the mapping from its parent */
};

FIXTURE_VARIANT_ADD(race, first_look) { false, false, false };
FIXTURE_VARIANT_ADD(race, first_look_of_a_child) { false, false, true };
FIXTURE_VARIANT_ADD(race, looked_before) { true, false, false };
FIXTURE_VARIANT_ADD(race, many_first_looks) { false, true, false };
FIXTURE_VARIANT_ADD(race, many_first_looks_of_a_child) { true, true, true };

FIXTURE_SETUP(race)
{
	scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, scene);
}

FIXTURE_TEARDOWN(race)
{
	munmap(scene, sizeof(*scene));
}

/* The threads start looking at any time from before CREATE to after it. */
static void new_round(bool look_before, bool forget, long long span)
{
	memset(scene, 0, sizeof(*scene));
	scene->look_before = look_before;
	scene->forget = forget;
	for (int i = 0; i < THREADS; i++)
		scene->dawdle[i] = rand() % span;
}

/* Returns the number of dawdle() loops that take @nsec nanoseconds. */
static long long loops_in(unsigned long long nsec)
{
	unsigned long long before = clock_now(CLOCK_MONOTONIC);

	dawdle(1000000);
	return 1000000 * nsec / (clock_now(CLOCK_MONOTONIC) - before + 1) + 1;
}

TEST_F(race, gate_is_open_once_create_has_returned)
{
	struct race race = race_begin(3, 20);
	unsigned long long before, took = 200000, sum = 0;
	struct target target = { .fd = -1 };
	int early = 0, late = 0;
	struct stream stream;
	struct child child;
	long long span;

	gate = NULL;
	if (variant->inherited) {
		ASSERT_EQ(0, target_map(&target));
		gate = target.gate;
	}
	create_init(&stream.arg, 0);
	while (race_continues(&race)) {
		span = loops_in(took);
		new_round(variant->look_before, variant->forget, span);
		ASSERT_EQ(0, child_start(&child, look_at_once, NULL));
		ASSERT_EQ(0, hear(&child.talk));
		while (LOAD(scene->here) < THREADS)
			sched_yield();
		create_init(&stream.arg, child.pid);
		stream.fd = device_open();
		ASSERT_LE(0, stream.fd);
		__atomic_store_n(&scene->go, 1, __ATOMIC_RELEASE);
		dawdle(rand() % span);
		before = clock_now(CLOCK_MONOTONIC);
		ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_CREATE, &stream.arg));
		__atomic_store_n(&scene->created, 1, __ATOMIC_RELEASE);
		took = clock_now(CLOCK_MONOTONIC) - before;
		sum += took;
		took = took < 1000000 ? took : 1000000;
		ASSERT_EQ(0, child_wait(&child));
		ASSERT_EQ(0, scene->zeros) TH_LOG("round %d", race.rounds);
		early += scene->early;
		late += THREADS - scene->early;
		close(stream.fd);
	}
	TH_LOG("%d rounds, %d threads looked before the gate opened, %d after", race.rounds, early,
	       late);
	TH_LOG("CREATE took %llu microseconds", sum / race.rounds / 1000);
	EXPECT_LT(0, early);
	if (!variant->look_before)
		EXPECT_LT(0, late);
	if (variant->inherited)
		target_close(&target);
}

/* ------------------------------------------------------------------ */
/* Children of traced processes						*/

/* Forks children. All threads of a child read the gate for the first time at the same time. */
static int fork_lookers(void *arg, const struct talk *talk)
{
	struct race race = race_begin(3, 20);
	struct target target;
	struct child child;

	(void)arg;
	if (target_map(&target))
		return 1;
	gate = target.gate;
	say(talk, 0);
	hear(talk);
	while (race_continues(&race)) {
		memset(scene, 0, sizeof(*scene));
		scene->created = 1;
		scene->look_before = race.rounds % 2;
		if (child_start(&child, look_at_once, NULL))
			return 2;
		while (LOAD(scene->here) < THREADS)
			sched_yield();
		__atomic_store_n(&scene->go, 1, __ATOMIC_RELEASE);
		if (child_wait(&child))
			return 3;
		if (scene->zeros || scene->early)
			return 4;
	}
	return 0;
}

TEST(child_of_a_traced_process_sees_its_gate_from_the_start)
{
	struct stream stream;
	struct child child;

	scene = mmap(NULL, sizeof(*scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, scene);
	ASSERT_EQ(0, child_start(&child, fork_lookers, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	create_init(&stream.arg, child.pid);
	stream.arg.attr.inherited = POSIXTRACE_INHERITED;
	ASSERT_EQ(0, stream_open(&stream));
	say(&child.talk, 0);
	EXPECT_EQ(0, WEXITSTATUS(child_wait(&child)));
	stream_close(&stream);
}

TEST_HARNESS_MAIN
