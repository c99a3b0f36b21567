// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs go offline and come back while threads record on all CPUs and a reader reads. Every event
 * must be accounted for.
 */
#define _GNU_SOURCE
#include <posixtrace.h>

#include "pxt_test.h"
#include "hotplug.h"
#include "reading.h"

#define THREADS_MAX	8
#define CYCLES		2

/* An event with this thread number ends the reading. */
#define END_MARK	THREADS_MAX

struct mark {
	int thread;
	int number;
	char filler[100];
};

struct worker {
	pthread_t thread;
	int index;
	int cpus;
	int count;	/* number of generated events */
	const int *ended;
};

static void record_mark(int thread, int number)
{
	struct mark mark = { .thread = thread, .number = number };

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &mark, sizeof(mark));
}

static void *record(void *arg)
{
	struct worker *worker = arg;

	while (!__atomic_load_n(worker->ended, __ATOMIC_ACQUIRE)) {
		/* If the CPU is offline, stay on this one. */
		if (worker->count % 50 == 0)
			go_to_cpu((worker->count / 50 + worker->index) % worker->cpus);
		record_mark(worker->index, worker->count++);
	}
	return NULL;
}

struct switcher {
	pthread_t thread;
	unsigned int cpus;
	bool joined;
	int ended;
	int err;
};

/* Switches each CPU except the first off and on, one at a time, and then all of them together. */
static int switch_once(unsigned int cpus)
{
	int err = 0;

	for (unsigned int cpu = 1; cpu < cpus && !err; cpu++) {
		err = switch_cpu(cpu, false);
		if (!err)
			err = switch_cpu(cpu, true);
	}
	for (unsigned int cpu = 1; cpu < cpus && !err; cpu++)
		err = switch_cpu(cpu, false);
	return err ? err : switch_all_on();
}

static void *switch_off_and_on(void *arg)
{
	struct switcher *switcher = arg;

	for (int i = 0; i < CYCLES && !switcher->err; i++)
		switcher->err = switch_once(switcher->cpus);
	__atomic_store_n(&switcher->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns once all CPUs stay online. */
static int switcher_end(struct switcher *switcher)
{
	if (!switcher->joined)
		pthread_join(switcher->thread, NULL);
	switcher->joined = true;
	return switcher->err;
}

FIXTURE(hotplug)
{
	struct child guard;
	trace_id_t trid;
	struct switcher switcher;
	struct worker workers[THREADS_MAX];
	int nr_workers;
};

FIXTURE_VARIANT(hotplug)
{
	int policy;
};

FIXTURE_VARIANT_ADD(hotplug, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(hotplug, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(hotplug)
{
	self->switcher = (struct switcher){ .cpus = count_cpus(), .joined = true };
	ASSERT_EQ(0, hotplug_begin(&self->guard));
	ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
	ASSERT_EQ(0, pthread_create(&self->switcher.thread, NULL, switch_off_and_on,
				    &self->switcher));
	self->switcher.joined = false;
	for (self->nr_workers = 0; self->nr_workers < THREADS_MAX &&
	     self->nr_workers < (int)self->switcher.cpus; self->nr_workers++) {
		struct worker *worker = &self->workers[self->nr_workers];

		*worker = (struct worker){
			.index = self->nr_workers,
			.cpus = (int)self->switcher.cpus,
			.ended = &self->switcher.ended,
		};
		ASSERT_EQ(0, pthread_create(&worker->thread, NULL, record, worker));
	}
}

FIXTURE_TEARDOWN(hotplug)
{
	posix_trace_shutdown(self->trid);
	EXPECT_EQ(0, switcher_end(&self->switcher));
	EXPECT_EQ(0, hotplug_end(&self->guard));
}

/* Waits for all threads, and returns the number of events they have generated. */
static long long end_workers(struct worker *workers, int nr)
{
	long long generated = 0;

	for (int i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		generated += workers[i].count;
	}
	return generated;
}

/* A reader that waits for events. */
struct counter {
	pthread_t thread;
	trace_id_t trid;
	int next[THREADS_MAX + 1];
	unsigned long long read;
	int misplaced;
	int errors;
	int ended;
};

static void count_event(struct counter *counter, const struct event *event)
{
	struct mark mark;

	if (event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		return;
	counter->read++;
	memcpy(&mark, event->data, sizeof(mark));
	if (event->len != sizeof(mark) || mark.thread < 0 || mark.thread > END_MARK ||
	    mark.number < counter->next[mark.thread]) {
		counter->misplaced++;
		return;
	}
	counter->next[mark.thread] = mark.number + 1;
}

static void *count(void *arg)
{
	struct counter *counter = arg;
	struct event event;

	while (!counter->next[END_MARK] && !counter->errors) {
		if (read_next(counter->trid, &event, sizeof(event.data)))
			counter->errors++;
		else
			count_event(counter, &event);
	}
	__atomic_store_n(&counter->ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST_F(hotplug, every_event_is_accounted_for)
{
	struct counter counter = { .trid = self->trid };
	struct posixtrace_stats_info stats;
	unsigned long long generated;
	struct event event;
	int marks = 0;

	ASSERT_EQ(0, pthread_create(&counter.thread, NULL, count, &counter));
	ASSERT_EQ(0, switcher_end(&self->switcher));
	generated = end_workers(self->workers, self->nr_workers);
	/* Repeat the end mark: a full stream drops it until the reader has emptied the stream. */
	while (!__atomic_load_n(&counter.ended, __ATOMIC_ACQUIRE)) {
		record_mark(END_MARK, marks++);
		sched_yield();
	}
	pthread_join(counter.thread, NULL);
	while (take(self->trid, &event) == 1)
		count_event(&counter, &event);

	EXPECT_EQ(0, counter.errors);
	EXPECT_EQ(0, counter.misplaced);
	EXPECT_LT(0, counter.read);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(generated + marks, stats.recorded + stats.dropped);
	EXPECT_EQ(counter.read, stats.read);
	EXPECT_EQ(stats.recorded, stats.read + stats.overwritten + stats.skipped);
	EXPECT_EQ(0, stats.damaged);
	EXPECT_EQ(0, variant->policy == POSIX_TRACE_LOOP ? stats.dropped : stats.overwritten);
}

struct control {
	pthread_t thread;
	trace_id_t trid;
	const int *ended;
};

static void *start_and_stop(void *arg)
{
	struct control *control = arg;

	while (!__atomic_load_n(control->ended, __ATOMIC_ACQUIRE)) {
		posix_trace_stop(control->trid);
		posix_trace_start(control->trid);
	}
	return NULL;
}

/* posix_trace_stop() must stop all writers, whichever CPUs are online. */
TEST_F(hotplug, no_event_is_between_stop_and_start)
{
	struct control control = { .trid = self->trid, .ended = &self->switcher.ended };
	int running = 0, misplaced = 0, stops = 0;
	struct event event;
	int ret;

	ASSERT_EQ(0, pthread_create(&control.thread, NULL, start_and_stop, &control));
	do {
		ret = take(self->trid, &event);
		ASSERT_LE(0, ret);
		if (!ret) {
			sched_yield();
			continue;
		}
		switch (event.info.posix_event_id) {
		case POSIX_TRACE_START:
			running = 1;
			break;
		case POSIX_TRACE_STOP:
			running = 0;
			stops++;
			break;
		case POSIX_TRACE_OVERFLOW:
			break;
		case POSIX_TRACE_RESUME:
			/* The lost events may include a START or a STOP. */
			if (variant->policy == POSIX_TRACE_LOOP)
				running = -1;
			break;
		default:
			misplaced += !running;
		}
	} while (ret || !__atomic_load_n(&self->switcher.ended, __ATOMIC_ACQUIRE));
	pthread_join(control.thread, NULL);
	end_workers(self->workers, self->nr_workers);
	EXPECT_EQ(0, misplaced);
	EXPECT_LT(0, stops);
}

TEST_HARNESS_MAIN
