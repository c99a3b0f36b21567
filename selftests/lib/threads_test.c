// SPDX-License-Identifier: GPL-2.0
/*
 * Events of several threads: none may be lost, and earlier events must be reported earlier.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <pthread.h>

#include "pxt_test.h"
#include "trace_test.h"

#define THREADS	4
#define EVENTS	400

FIXTURE(threads)
{
	trace_id_t trid;
};

FIXTURE_SETUP(threads)
{
	trace_attr_t attr;

	/* Make the stream large enough for all events. */
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 1 << 20));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(threads)
{
	posix_trace_shutdown(self->trid);
}

struct mark {
	int thread;
	int number;
};

struct worker {
	pthread_t thread;
	int index;
};

static void *record(void *arg)
{
	struct worker *worker = arg;
	struct mark mark = { .thread = worker->index };

	for (mark.number = 0; mark.number < EVENTS; mark.number++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &mark, sizeof(mark));
		if (mark.number % 50 == 49)
			run_on(mark.number / 50 + worker->index);
	}
	return NULL;
}

TEST_F(threads, each_event_arrives_once_and_in_its_threads_order)
{
	struct worker workers[THREADS];
	int next[THREADS] = { 0 };
	struct event event;
	struct mark mark;
	int count = 0;

	for (int i = 0; i < THREADS; i++) {
		workers[i].index = i;
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, record, &workers[i]));
	}
	while (count < THREADS * EVENTS) {
		ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data,
						       sizeof(event.data), &event.len,
						       &event.unavailable));
		if (event.info.posix_event_id == POSIX_TRACE_START)
			continue;
		ASSERT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
		ASSERT_EQ(sizeof(mark), event.len);
		memcpy(&mark, event.data, sizeof(mark));
		ASSERT_LE(0, mark.thread);
		ASSERT_GT(THREADS, mark.thread);
		ASSERT_EQ(next[mark.thread], mark.number);
		ASSERT_TRUE(event.info.posix_thread_id == workers[mark.thread].thread);
		next[mark.thread]++;
		count++;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	EXPECT_EQ(0, take(self->trid, &event));
}

/* Two threads take turns, and their events must have the same order. */
struct table {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int ball;
};

struct player {
	pthread_t thread;
	struct table *table;
	int index;
};

#define ROUNDS	300

static void *play(void *arg)
{
	struct player *player = arg;
	struct table *table = player->table;

	run_on(player->index);
	pthread_mutex_lock(&table->lock);
	while (table->ball < ROUNDS) {
		if (table->ball % 2 != player->index) {
			pthread_cond_wait(&table->changed, &table->lock);
			continue;
		}
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &table->ball,
				  sizeof(table->ball));
		table->ball++;
		pthread_cond_signal(&table->changed);
	}
	pthread_cond_signal(&table->changed);
	pthread_mutex_unlock(&table->lock);
	return NULL;
}

TEST_F(threads, earlier_events_are_reported_earlier)
{
	struct table table = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	struct player players[2];
	struct event event;
	int expected = 0;

	for (int i = 0; i < 2; i++) {
		players[i] = (struct player){ .table = &table, .index = i };
		ASSERT_EQ(0, pthread_create(&players[i].thread, NULL, play, &players[i]));
	}
	/* Read during the game. All events before the reported one must have been reported. */
	while (expected < ROUNDS) {
		ASSERT_EQ(0, posix_trace_getnext_event(self->trid, &event.info, event.data,
						       sizeof(event.data), &event.len,
						       &event.unavailable));
		if (event.info.posix_event_id == POSIX_TRACE_START)
			continue;
		ASSERT_EQ(expected, event_number(&event));
		expected++;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(players[i].thread, NULL);
}

/* Two threads take turns in a spin loop, which moves the ball quickly between CPUs. */
static int ball;

static void *spin(void *arg)
{
	struct player *player = arg;

	run_on(player->index);
	for (;;) {
		int now = __atomic_load_n(&ball, __ATOMIC_ACQUIRE);

		if (now >= ROUNDS)
			return NULL;
		if (now % 2 != player->index) {
			sched_yield();
			continue;
		}
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &now, sizeof(now));
		__atomic_store_n(&ball, now + 1, __ATOMIC_RELEASE);
	}
}

TEST_F(threads, slightly_earlier_events_are_reported_earlier)
{
	struct player players[2];
	struct event event;
	int expected = 0;

	for (int i = 0; i < 2; i++) {
		players[i] = (struct player){ .index = i };
		ASSERT_EQ(0, pthread_create(&players[i].thread, NULL, spin, &players[i]));
	}
	while (expected < ROUNDS) {
		ASSERT_LE(0, take(self->trid, &event));
		if (event.unavailable || event.info.posix_event_id == POSIX_TRACE_START)
			continue;
		ASSERT_EQ(expected, event_number(&event));
		expected++;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(players[i].thread, NULL);
}

static void *start_and_stop(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;

	for (int i = 0; i < 30; i++) {
		posix_trace_stop(trid);
		posix_trace_start(trid);
	}
	posix_trace_stop(trid);
	return NULL;
}

/* After posix_trace_stop(), no event is recorded, whichever threads were recording. */
TEST_F(threads, no_event_is_between_stop_and_start)
{
	struct worker workers[2];
	struct event event;
	pthread_t control;
	bool running = false;

	for (int i = 0; i < 2; i++) {
		workers[i].index = i;
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, record, &workers[i]));
	}
	ASSERT_EQ(0, pthread_create(&control, NULL, start_and_stop, &self->trid));
	pthread_join(control, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i].thread, NULL);
	while (take(self->trid, &event) == 1) {
		if (event.info.posix_event_id == POSIX_TRACE_START) {
			ASSERT_FALSE(running);
			running = true;
		} else if (event.info.posix_event_id == POSIX_TRACE_STOP) {
			ASSERT_TRUE(running);
			running = false;
		} else {
			ASSERT_TRUE(running);
		}
	}
	EXPECT_FALSE(running);
}

/*
 * More threads than processors, which yield all the time, so that they migrate while STOP looks up
 * on which CPUs they run.
 */
#define YIELDERS	6
#define YIELD_STOPS	100
#define LONG_DATA	4096	/* a copy so long that threads are often in it */

static struct {
	int end;
	unsigned int calls;
} yielding;

static void *record_and_yield(void *arg)
{
	struct worker *worker = arg;
	static const char data[LONG_DATA];

	run_on(worker->index % 2);
	while (!__atomic_load_n(&yielding.end, __ATOMIC_RELAXED)) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
		__atomic_fetch_add(&yielding.calls, 1, __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

/* Waits until the threads have made one more call each, on average. */
static void await_calls(void)
{
	unsigned int begin = __atomic_load_n(&yielding.calls, __ATOMIC_RELAXED);

	while (__atomic_load_n(&yielding.calls, __ATOMIC_RELAXED) - begin < YIELDERS)
		sched_yield();
}

TEST_F(threads, no_event_follows_a_stop_when_threads_switch)
{
	struct posixtrace_stats_info before, after;
	struct worker workers[YIELDERS];
	struct event event;
	trace_attr_t attr;
	trace_id_t trid;

	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 1 << 20));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&attr, LONG_DATA));
	ASSERT_EQ(0, posix_trace_create(0, &attr, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	run_on(2);
	for (int i = 0; i < YIELDERS; i++) {
		workers[i].index = i;
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, record_and_yield,
					    &workers[i]));
	}
	for (int i = 0; i < YIELD_STOPS; i++) {
		await_calls();
		ASSERT_EQ(0, posix_trace_stop(trid));
		ASSERT_EQ(0, posixtrace_get_stats(trid, &before));
		await_calls();
		ASSERT_EQ(0, posixtrace_get_stats(trid, &after));
		ASSERT_EQ(before.recorded, after.recorded);
		do {
			ASSERT_EQ(1, take(trid, &event));
		} while (event.info.posix_event_id != POSIX_TRACE_STOP);
		ASSERT_EQ(0, take(trid, &event));
		ASSERT_EQ(0, posix_trace_start(trid));
	}
	__atomic_store_n(&yielding.end, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < YIELDERS; i++)
		pthread_join(workers[i].thread, NULL);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
