// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_attr_getmaxusereventsize():
 * Documentation/conformance/posix_trace_attr_getmaxusereventsize.rst
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "attr_fixture.h"
#include "promise.h"
#include "pxt_test.h"

#define LENS_MAX	8
#define CPUS_MAX	64

TEST_F(attr, a01_grows_with_the_data)
{
	size_t last = 0, size;

	for (size_t len = 0; len <= 1024; len++) {
		size = 4711;
		ASSERT_EQ(0, posix_trace_attr_getmaxusereventsize(&self->attr, len, &size));
		ASSERT_LT(len, size);
		ASSERT_LE(last, size);
		last = size;
	}
	EXPECT_LT(user_size(&self->attr, 0), last);
}

TEST_F(attr, a02_longer_data_counts_as_max_data_size)
{
	size_t sizes[] = { 0, 1, 100, 1024, 65488 };
	size_t largest;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, sizes[i]));
		largest = user_size(&self->attr, sizes[i]);
		EXPECT_LT(sizes[i], largest);
		EXPECT_EQ(largest, user_size(&self->attr, sizes[i] + 1));
		EXPECT_EQ(largest, user_size(&self->attr, 1UL << 32));
		EXPECT_EQ(largest, user_size(&self->attr, SIZE_MAX));
	}
}

TEST_F(attr, a02_uses_the_current_attributes)
{
	size_t small, large;

	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 100));
	small = user_size(&self->attr, 1000);
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 1000));
	large = user_size(&self->attr, 1000);
	EXPECT_LE(small + 900, large);
}

/* ------------------------------------------------------------------ */
/* The promise								*/

FIXTURE(promise)
{
	trace_attr_t attr;	/* attributes of the created stream */
	trace_id_t trid;
	size_t stream_size;
};

FIXTURE_VARIANT(promise)
{
	int policy;
	size_t stream_size;
	size_t max_data_size;
	int count;
	size_t lens[LENS_MAX];
};

FIXTURE_VARIANT_ADD(promise, smallest) {
	POSIX_TRACE_UNTIL_FULL, 0, 0, 1, { 0 }
};

FIXTURE_VARIANT_ADD(promise, mixed) {
	POSIX_TRACE_UNTIL_FULL, 64 << 10, 256, 7, { 0, 256, 1, 100, 255, 8, 3 }
};

/*
 * The worst sizes: records of one eighth of a 4 KiB sub-buffer, and two sizes that leave a
 * tail slightly too small for another record.
 */
FIXTURE_VARIANT_ADD(promise, worst) {
	POSIX_TRACE_UNTIL_FULL, 64 << 10, 464, 8, { 464, 464, 464, 464, 464, 464, 216, 208 }
};

FIXTURE_VARIANT_ADD(promise, worst_loop) {
	POSIX_TRACE_LOOP, 64 << 10, 464, 8, { 464, 464, 464, 464, 464, 464, 216, 208 }
};

FIXTURE_VARIANT_ADD(promise, usual) {
	POSIX_TRACE_UNTIL_FULL, 256 << 10, 1024, 5, { 1024, 0, 500, 1000, 13 }
};

FIXTURE_VARIANT_ADD(promise, usual_loop) {
	POSIX_TRACE_LOOP, 256 << 10, 1024, 5, { 1024, 0, 500, 1000, 13 }
};

FIXTURE_VARIANT_ADD(promise, truncated) {
	POSIX_TRACE_UNTIL_FULL, 30000, 100, 4, { 1000, 10, 101, 65536 }
};

FIXTURE_VARIANT_ADD(promise, large_events) {
	POSIX_TRACE_UNTIL_FULL, 0, 65488, 3, { 65488, 1, 30000 }
};

FIXTURE_SETUP(promise)
{
	ASSERT_EQ(0, promise_create(variant->policy, variant->stream_size, variant->max_data_size,
				    &self->trid, &self->attr));
	ASSERT_EQ(0, posix_trace_attr_getstreamsize(&self->attr, &self->stream_size));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(promise)
{
	posix_trace_shutdown(self->trid);
}

static struct plan plan;

static const trace_event_id_t start[] = { POSIX_TRACE_START };

TEST_F(promise, a03_one_thread)
{
	plan_make(&plan, &self->attr, self->stream_size, 0, variant->lens, variant->count);
	ASSERT_TRUE(plan_is_exact(&plan, &self->attr, self->stream_size));
	run_on(0);
	for (int i = 0; i < plan.count; i++)
		plan_record(&plan, i);
	EXPECT_STREQ("", plan_verify(&plan, self->trid, start, 1));
}

TEST_F(promise, a04_cpus_in_turn)
{
	plan_make(&plan, &self->attr, self->stream_size, 0, variant->lens, variant->count);
	ASSERT_TRUE(plan_is_exact(&plan, &self->attr, self->stream_size));
	plan_record_in_turn(&plan, plan.count);
	EXPECT_STREQ("", plan_verify(&plan, self->trid, start, 1));
}

/* All other CPUs hold a sub-buffer with a single event of the smallest size. */
TEST_F(promise, a04_one_cpu_records_nearly_all)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), i;

	plan_make(&plan, &self->attr, self->stream_size, cpus - 1, variant->lens,
		  variant->count);
	ASSERT_TRUE(plan_is_exact(&plan, &self->attr, self->stream_size));
	for (i = 0; i < cpus - 1; i++) {
		run_on(i);
		plan_record(&plan, i);
	}
	run_on(cpus - 1);
	for (; i < plan.count; i++)
		plan_record(&plan, i);
	EXPECT_STREQ("", plan_verify(&plan, self->trid, start, 1));
}

struct recorder {
	pthread_t thread;
	pthread_barrier_t *barrier;
	int number;
	int step;
};

/* Records every step-th event of the plan, pinned to one CPU. */
static void *record_share(void *arg)
{
	struct recorder *recorder = arg;

	run_on(recorder->number);
	pthread_barrier_wait(recorder->barrier);
	for (int i = recorder->number; i < plan.count; i += recorder->step)
		plan_record(&plan, i);
	return NULL;
}

TEST_F(promise, a04_cpus_at_the_same_time)
{
	struct recorder recorder[CPUS_MAX];
	pthread_barrier_t barrier;
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	ASSERT_GE(CPUS_MAX, cpus);
	plan_make(&plan, &self->attr, self->stream_size, 0, variant->lens, variant->count);
	ASSERT_TRUE(plan_is_exact(&plan, &self->attr, self->stream_size));
	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, cpus));
	for (int i = 0; i < cpus; i++) {
		recorder[i] = (struct recorder){
			.barrier = &barrier, .number = i, .step = cpus
		};
		ASSERT_EQ(0, pthread_create(&recorder[i].thread, NULL, record_share,
					    &recorder[i]));
	}
	for (int i = 0; i < cpus; i++)
		ASSERT_EQ(0, pthread_join(recorder[i].thread, NULL));
	EXPECT_STREQ("", plan_verify(&plan, self->trid, start, 1));
}

/* Records with more threads than CPUs, which are not pinned. */
static void *record_share_anywhere(void *arg)
{
	struct recorder *recorder = arg;

	pthread_barrier_wait(recorder->barrier);
	for (int i = recorder->number; i < plan.count; i += recorder->step)
		plan_record(&plan, i);
	return NULL;
}

TEST_F(promise, a04_unpinned_threads)
{
	struct recorder recorder[7];
	pthread_barrier_t barrier;

	plan_make(&plan, &self->attr, self->stream_size, 0, variant->lens, variant->count);
	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, 7));
	for (int i = 0; i < 7; i++) {
		recorder[i] = (struct recorder){ .barrier = &barrier, .number = i, .step = 7 };
		ASSERT_EQ(0, pthread_create(&recorder[i].thread, NULL, record_share_anywhere,
					    &recorder[i]));
	}
	for (int i = 0; i < 7; i++)
		ASSERT_EQ(0, pthread_join(recorder[i].thread, NULL));
	EXPECT_STREQ("", plan_verify(&plan, self->trid, start, 1));
}

/* Two threads record alternately, so each event also stores its thread. */
struct partner {
	pthread_t thread;
	sem_t turn;
	struct partner *other;
	int number;
};

static void *record_in_turn(void *arg)
{
	struct partner *partner = arg;

	for (int i = partner->number; i < plan.count; i += 2) {
		sem_wait(&partner->turn);
		plan_record(&plan, i);
		sem_post(&partner->other->turn);
	}
	return NULL;
}

TEST_F(promise, a04_threads_in_turn)
{
	struct partner partner[2];

	plan_make(&plan, &self->attr, self->stream_size, 0, variant->lens, variant->count);
	ASSERT_TRUE(plan_is_exact(&plan, &self->attr, self->stream_size));
	for (int i = 0; i < 2; i++) {
		partner[i].other = &partner[!i];
		partner[i].number = i;
		ASSERT_EQ(0, sem_init(&partner[i].turn, 0, !i));
	}
	/* The new threads inherit the CPU affinity. */
	run_on(0);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&partner[i].thread, NULL, record_in_turn,
					    &partner[i]));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(partner[i].thread, NULL));
	EXPECT_STREQ("", plan_verify(&plan, self->trid, start, 1));
}

TEST_F(promise, a05_after_clear)
{
	plan_make(&plan, &self->attr, self->stream_size, 0, variant->lens, variant->count);
	/* Begin with CPUs that hold sub-buffers, neither full nor empty. */
	plan_record_in_turn(&plan, plan.count / 3);
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	plan_record_in_turn(&plan, plan.count);
	EXPECT_STREQ("", plan_verify(&plan, self->trid, NULL, 0));
}

/* After that, the LOOP stream is cleared, and the UNTIL_FULL stream is read until it is empty. */
TEST_F(promise, a05_after_the_stream_was_full)
{
	ASSERT_TRUE(record_until_full(self->trid, &self->attr));
	if (variant->policy == POSIX_TRACE_LOOP)
		ASSERT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_LE(0, take_all(self->trid));
	plan_make(&plan, &self->attr, self->stream_size, 0, variant->lens, variant->count);
	plan_record_in_turn(&plan, plan.count);
	EXPECT_STREQ("", plan_verify(&plan, self->trid, NULL, 0));
}

TEST_F(promise, a06_same_size_for_the_stream)
{
	trace_attr_t asked;

	ASSERT_EQ(0, posix_trace_attr_init(&asked));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&asked, variant->stream_size));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&asked, variant->max_data_size));
	for (size_t len = 0; len < 70000; len = len * 2 + 1)
		EXPECT_EQ(user_size(&asked, len), user_size(&self->attr, len));
}

TEST_F(invalid, a07_invalid_object)
{
	size_t size;

	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxusereventsize(self->attr, 1, &size));
}

TEST_F(attr, a07_null_result)
{
	EXPECT_EQ(EINVAL, posix_trace_attr_getmaxusereventsize(&self->attr, 1, NULL));
}

TEST_HARNESS_MAIN
