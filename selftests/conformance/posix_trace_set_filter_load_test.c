// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_set_filter() while threads record:
 * Documentation/conformance/posix_trace_set_filter.rst
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "pxt_test.h"
#include "eventset.h"
#include "trace_test.h"

#define THREADS		3
#define ROUNDS		6
#define CALLS		512	/* per thread */
#define PHASE_CALLS	12	/* limit of calls in a phase, so that CALLS is enough */
#define PHASE_LEAST	4	/* calls that a thread makes before the next phase begins */
#define PHASES		4	/* per round */

/*
 * Phases of the controller, modulo PHASES: the type passes the filter; the controller is about to
 * filter it out; the type is filtered out; the controller is about to let it pass again.
 */
enum phase { PASSES, BEGINS, FILTERED, ENDS };

/*
 * A thread that records events of two types: one always passes the filter, the other only
 * sometimes.
 */
struct recorder {
	int calls;
	int progress;			/* PROGRESS() of the last call */
	unsigned char must[CALLS];	/* the call must be recorded */
	unsigned char must_not[CALLS];
	/* Used by the reader. */
	int seen_always;
	int seen_sometimes;
	unsigned char seen[CALLS];
};

#define PROGRESS(phase, calls)	((phase) * (PHASE_CALLS + 1) + (calls))

struct load {
	int phase;
	int stop;
	struct recorder recorder[THREADS];
};

struct load_data {
	int thread;
	int number;
};

static struct load *load;
static trace_event_id_t always, sometimes;

static void *record(void *arg)
{
	struct recorder *recorder = arg;
	int last = -1, calls = 0, before, after;

	run_on(recorder - load->recorder);
	while (!__atomic_load_n(&load->stop, __ATOMIC_ACQUIRE) && recorder->calls < CALLS) {
		struct load_data data = { recorder - load->recorder, recorder->calls };

		before = __atomic_load_n(&load->phase, __ATOMIC_SEQ_CST);
		if (before != last)
			calls = 0;
		last = before;
		if (calls == PHASE_CALLS) {
			sched_yield();
			continue;
		}
		posix_trace_event(always, &data, sizeof(data));
		posix_trace_event(sometimes, &data, sizeof(data));
		recorder->calls++;
		after = __atomic_load_n(&load->phase, __ATOMIC_SEQ_CST);
		if (before != after)
			continue;
		recorder->must[data.number] = before % PHASES == PASSES;
		recorder->must_not[data.number] = before % PHASES == FILTERED;
		__atomic_store_n(&recorder->progress, PROGRESS(before, ++calls),
				 __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Runs the recording threads until they are stopped. */
static int record_all(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, record, &load->recorder[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void *record_in_thread(void *arg)
{
	return record_all() ? arg : NULL;
}

static int record_in_child(void *arg, const struct talk *talk)
{
	(void)arg;
	if (posix_trace_eventid_open("always", &always) ||
	    posix_trace_eventid_open("sometimes", &sometimes))
		return 1;
	say(talk, 0);
	if (hear(talk))
		return 2;
	return record_all();
}

/* Begins a phase and waits until every thread has completed some calls in it. */
static void enter_phase(int phase)
{
	__atomic_store_n(&load->phase, phase, __ATOMIC_SEQ_CST);
	for (int i = 0; i < THREADS; i++)
		while (__atomic_load_n(&load->recorder[i].progress, __ATOMIC_ACQUIRE) <
		       PROGRESS(phase, PHASE_LEAST))
			sched_yield();
}

FIXTURE(load)
{
	trace_id_t trid;
	struct child child;
	pthread_t thread;
	unsigned long long filtered[ROUNDS];	/* time when set_filter() returned */
	unsigned long long passes[ROUNDS];	/* time when the next set_filter() was called */
};

FIXTURE_VARIANT(load)
{
	bool other_process;
};

FIXTURE_VARIANT_ADD(load, own_process) { false };
FIXTURE_VARIANT_ADD(load, other_process) { true };

FIXTURE_SETUP(load)
{
	trace_attr_t attr;
	pid_t pid = 0;

	load = mmap(NULL, sizeof(*load), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	ASSERT_NE(MAP_FAILED, load);
	if (variant->other_process) {
		ASSERT_EQ(0, child_start(&self->child, record_in_child, NULL));
		ASSERT_EQ(0, hear(&self->child.talk));
		pid = self->child.pid;
	}
	ASSERT_EQ(0, posix_trace_attr_init(&attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&attr, 4 << 20));
	ASSERT_EQ(0, posix_trace_create(pid, &attr, &self->trid));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "always", &always));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "sometimes", &sometimes));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	if (variant->other_process)
		say(&self->child.talk, 0);
	else
		ASSERT_EQ(0, pthread_create(&self->thread, NULL, record_in_thread, load));
	for (int i = 0; i < ROUNDS; i++) {
		enter_phase(i * PHASES + PASSES);
		__atomic_store_n(&load->phase, i * PHASES + BEGINS, __ATOMIC_SEQ_CST);
		ASSERT_EQ(0, filter_one(self->trid, sometimes, POSIX_TRACE_ADD_EVENTSET));
		self->filtered[i] = now();
		enter_phase(i * PHASES + FILTERED);
		__atomic_store_n(&load->phase, i * PHASES + ENDS, __ATOMIC_SEQ_CST);
		self->passes[i] = now();
		ASSERT_EQ(0, filter_one(self->trid, sometimes, POSIX_TRACE_SUB_EVENTSET));
	}
	enter_phase(ROUNDS * PHASES + PASSES);
	__atomic_store_n(&load->stop, 1, __ATOMIC_RELEASE);
	if (variant->other_process) {
		ASSERT_EQ(0, child_wait(&self->child));
	} else {
		void *result;

		ASSERT_EQ(0, pthread_join(self->thread, &result));
		ASSERT_EQ(NULL, result);
	}
	ASSERT_EQ(0, posix_trace_stop(self->trid));
}

FIXTURE_TEARDOWN(load)
{
	posix_trace_shutdown(self->trid);
	munmap(load, sizeof(*load));
}

/*
 * Reads the next event of the recording threads. Stores its thread and number. Counts the FILTER
 * events that precede it in *filters.
 */
static int take_recorded(trace_id_t trid, struct event *event, struct recorder **recorder,
			 int *number, int *filters)
{
	struct load_data data;

	while (take(trid, event) == 1) {
		if (event->info.posix_event_id == POSIX_TRACE_FILTER)
			(*filters)++;
		if (event->info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		memcpy(&data, event->data, sizeof(data));
		*recorder = &load->recorder[data.thread % THREADS];
		*number = data.number % CALLS;
		return 1;
	}
	return 0;
}

TEST_F(load, a10_nothing_is_recorded_after_the_return)
{
	struct recorder *recorder;
	int number, filters = 0, calls = 0;
	struct event event;

	while (take_recorded(self->trid, &event, &recorder, &number, &filters)) {
		if (event.info.posix_event_id != sometimes)
			continue;
		ASSERT_EQ(0, recorder->must_not[number]);
		for (int i = 0; i < ROUNDS; i++)
			ASSERT_FALSE(event_time(&event) > self->filtered[i] &&
				     event_time(&event) < self->passes[i]);
	}
	/* Check that the threads really made calls while the type was filtered out. */
	for (int i = 0; i < THREADS; i++)
		for (int j = 0; j < CALLS; j++)
			calls += load->recorder[i].must_not[j];
	EXPECT_LE(PHASE_LEAST * THREADS * ROUNDS, calls);
}

TEST_F(load, a11_no_event_that_always_passes_is_missed)
{
	struct posix_trace_status_info status;
	struct recorder *recorder;
	int number, filters = 0;
	struct event event;

	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	ASSERT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	while (take_recorded(self->trid, &event, &recorder, &number, &filters))
		if (event.info.posix_event_id == always)
			ASSERT_EQ(recorder->seen_always++, number);
	for (int i = 0; i < THREADS; i++)
		EXPECT_EQ(load->recorder[i].calls, load->recorder[i].seen_always);
}

TEST_F(load, a12_no_event_that_passes_again_is_missed)
{
	int number, filters = 0, last[THREADS] = { -1, -1, -1 };
	struct recorder *recorder;
	struct event event;

	while (take_recorded(self->trid, &event, &recorder, &number, &filters)) {
		if (event.info.posix_event_id != sometimes)
			continue;
		/* Each event once, and in order. */
		ASSERT_LT(last[recorder - load->recorder], number);
		last[recorder - load->recorder] = number;
		recorder->seen[number] = 1;
		recorder->seen_sometimes++;
	}
	for (int i = 0; i < THREADS; i++) {
		for (int j = 0; j < CALLS; j++)
			ASSERT_LE(load->recorder[i].must[j], load->recorder[i].seen[j]);
		EXPECT_LE(PHASE_LEAST * ROUNDS, load->recorder[i].seen_sometimes);
	}
}

TEST_F(load, a13_change_divides_the_stream)
{
	struct recorder *recorder;
	int number, filters = 0;
	struct event event;

	while (take_recorded(self->trid, &event, &recorder, &number, &filters))
		if (event.info.posix_event_id == sometimes)
			ASSERT_EQ(0, filters % 2);
	EXPECT_EQ(2 * ROUNDS, filters);
}

TEST_HARNESS_MAIN
