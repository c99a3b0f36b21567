// SPDX-License-Identifier: GPL-2.0
/*
 * posix_trace_set_filter(): Documentation/conformance/posix_trace_set_filter.rst
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "pxt_test.h"
#include "eventset.h"
#include "interrupt.h"
#include "trace_test.h"
#include "withlog.h"

#define UNNAMED	POSIX_TRACE_UNNAMED_USEREVENT
#define SET	POSIX_TRACE_SET_EVENTSET
#define ADD	POSIX_TRACE_ADD_EVENTSET
#define SUB	POSIX_TRACE_SUB_EVENTSET

FIXTURE(filter)
{
	trace_id_t trid;
	trace_event_id_t a, b, c;
};

FIXTURE_SETUP(filter)
{
	ASSERT_EQ(0, posix_trace_eventid_open("a", &self->a));
	ASSERT_EQ(0, posix_trace_eventid_open("b", &self->b));
	ASSERT_EQ(0, posix_trace_eventid_open("c", &self->c));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(filter)
{
	posix_trace_shutdown(self->trid);
}

/* Types of the events that are in the stream, in their order, with zero at the end. */
static void take_types(trace_id_t trid, trace_event_id_t *types, int room)
{
	struct event event;

	while (--room && take(trid, &event) == 1)
		*types++ = event.info.posix_event_id;
	*types = 0;
}

#define EXPECT_TYPES(trid, ...) do {						\
	const trace_event_id_t expect_wanted[] = { 0, ##__VA_ARGS__ };		\
	trace_event_id_t expect_types[64];					\
	size_t expect_i;							\
										\
	take_types(trid, expect_types, 64);					\
	for (expect_i = 1; expect_i < ARRAY_SIZE(expect_wanted); expect_i++)	\
		ASSERT_EQ(expect_wanted[expect_i], expect_types[expect_i - 1]);	\
	ASSERT_EQ(0, expect_types[expect_i - 1]);				\
} while (0)

/* More than any stream of these tests holds. */
static void flood(trace_event_id_t id)
{
	char data[256] = "";

	for (int i = 0; i < 1000; i++)
		posix_trace_event(id, data, sizeof(data));
}

TEST_F(filter, a01_before_the_start)
{
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->b);
}

TEST_F(filter, a02_running)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a, POSIX_TRACE_FILTER, self->b);
}

TEST_F(filter, a03_without_it_everything_is_recorded)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->c, NULL, 0);
	posix_trace_event(UNNAMED, NULL, 0);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a, self->c, UNNAMED, POSIX_TRACE_STOP);
}

/* Only members of the filter and of the set differ in what comes out. */
static void expect_filter(struct __test_metadata *_metadata, trace_id_t trid,
			  const trace_event_set_t *wanted)
{
	trace_event_set_t filter;

	ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
	for (trace_event_id_t id = 1; id < IDS_MAX; id++)
		ASSERT_EQ(set_has(wanted, id), set_has(&filter, id));
}

TEST_F(filter, a04_set)
{
	trace_event_set_t wanted = set_of(self->b);

	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	EXPECT_EQ(0, filter_one(self->trid, self->b, SET));
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a);
}

TEST_F(filter, a05_add)
{
	trace_event_set_t wanted = set_of(self->a), more = set_of(self->b);

	/* One is in both, the others in one of them only. */
	posix_trace_eventset_add(4000, &wanted);
	posix_trace_eventset_add(4000, &more);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &wanted, ADD));
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &more, ADD));
	posix_trace_eventset_add(self->b, &wanted);
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	posix_trace_event(self->c, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->c);
}

TEST_F(filter, a06_sub)
{
	trace_event_set_t wanted = set_filled(POSIX_TRACE_ALL_EVENTS), less = set_of(self->b);

	posix_trace_eventset_del(self->a, &wanted);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &wanted, SET));
	/* One is in both, one in the set only. */
	posix_trace_eventset_add(self->a, &less);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &less, SUB));
	posix_trace_eventset_del(self->b, &wanted);
	expect_filter(_metadata, self->trid, &wanted);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	posix_trace_event(self->c, NULL, 0);
	EXPECT_TYPES(self->trid, self->a, self->b);
}

static void expect_change(struct __test_metadata *_metadata, trace_id_t trid,
			  const trace_event_set_t *old, const trace_event_set_t *new)
{
	struct event event;

	ASSERT_EQ(1, take(trid, &event));
	ASSERT_EQ(POSIX_TRACE_FILTER, event.info.posix_event_id);
	ASSERT_EQ(2 * sizeof(trace_event_set_t), event.len);
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
	EXPECT_EQ(0, memcmp(event.data, old, sizeof(*old)));
	EXPECT_EQ(0, memcmp(event.data + sizeof(*old), new, sizeof(*new)));
}

TEST_F(filter, a07_change_is_recorded_with_both_filters)
{
	trace_event_set_t none = set_filled(POSIX_TRACE_WOPID_EVENTS);
	trace_event_set_t a = set_of(self->a), b = set_of(self->b), both = a;
	struct event event;

	posix_trace_eventset_add(self->b, &both);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &a, SET));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &b, ADD));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &a, SUB));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &none, SET));
	expect_change(_metadata, self->trid, &none, &a);
	expect_change(_metadata, self->trid, &a, &both);
	expect_change(_metadata, self->trid, &both, &b);
	expect_change(_metadata, self->trid, &b, &none);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(filter, a07_also_if_nothing_changes)
{
	trace_event_set_t none = set_filled(POSIX_TRACE_WOPID_EVENTS), a = set_of(self->a);
	struct event event;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &none, SET));
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &a, SUB));
	expect_change(_metadata, self->trid, &none, &none);
	expect_change(_metadata, self->trid, &none, &none);
	EXPECT_EQ(0, take(self->trid, &event));
}

TEST_F(filter, a08_not_recorded_while_suspended)
{
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	EXPECT_TYPES(self->trid);
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, filter_one(self->trid, self->b, SET));
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, POSIX_TRACE_STOP);
}

TEST_F(filter, a09_filter_is_filtered)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_FILTER, SET));
	ASSERT_EQ(0, filter_one(self->trid, self->a, ADD));
	ASSERT_EQ(0, filter_one(self->trid, self->a, SUB));
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_FILTER, SUB));
	EXPECT_TYPES(self->trid, POSIX_TRACE_START);
	ASSERT_EQ(0, filter_one(self->trid, self->a, ADD));
	EXPECT_TYPES(self->trid, POSIX_TRACE_FILTER);
}

/* ------------------------------------------------------------------ */
/* Under load								*/

#define THREADS		3
#define ROUNDS		6
#define CALLS		512	/* of one thread */
#define PHASE_CALLS	12	/* at most, so that they do not run out */
#define PHASE_LEAST	4	/* before the next phase comes */
#define PHASES		4	/* of a round */

/*
 * What the controller has done, times PHASES: let the type pass; begun to filter it
 * out; filtered it out; begun to let it pass.
 */
enum phase { PASSES, BEGINS, FILTERED, ENDS };

/* A thread that records one type that is always let through, and one that is not. */
struct recorder {
	int calls;
	int progress;			/* PROGRESS() in the last phase */
	unsigned char must[CALLS];	/* it is recorded, whatever else happens */
	unsigned char must_not[CALLS];
	/* Of the analyzer. */
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

/* All threads of a program that records; ends when it is told to. */
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

/* Until every thread has made some calls in this phase, begin to end. */
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
	unsigned long long filtered[ROUNDS];	/* when set_filter() had returned */
	unsigned long long passes[ROUNDS];	/* when the next one was called */
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
		ASSERT_EQ(0, filter_one(self->trid, sometimes, ADD));
		self->filtered[i] = now();
		enter_phase(i * PHASES + FILTERED);
		__atomic_store_n(&load->phase, i * PHASES + ENDS, __ATOMIC_SEQ_CST);
		self->passes[i] = now();
		ASSERT_EQ(0, filter_one(self->trid, sometimes, SUB));
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

/* The next event of the threads, of whom @recorder is the one; *filters counts changes. */
static int take_recorded(trace_id_t trid, struct event *event, struct recorder **recorder,
			 int *number, int *filters)
{
	struct load_data data;

	while (take(trid, event) == 1) {
		if (event->info.posix_event_id == POSIX_TRACE_FILTER)
			(*filters)++;
		if (event->info.posix_event_id < UNNAMED)
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
	/* There was something that could have been recorded. */
	for (int i = 0; i < THREADS; i++)
		for (int j = 0; j < CALLS; j++)
			calls += load->recorder[i].must_not[j];
	EXPECT_LE(PHASE_LEAST * THREADS * ROUNDS, calls);
}

TEST_F(load, a11_nothing_is_missed_of_what_always_passes)
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

TEST_F(load, a12_nothing_is_missed_of_what_passes_again)
{
	int number, filters = 0, last[THREADS] = { -1, -1, -1 };
	struct recorder *recorder;
	struct event event;

	while (take_recorded(self->trid, &event, &recorder, &number, &filters)) {
		if (event.info.posix_event_id != sometimes)
			continue;
		/* Once, and in order. */
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

/* ------------------------------------------------------------------ */
/* System event types							*/

TEST_F(filter, a14_start)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_START, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_TYPES(self->trid, self->a, POSIX_TRACE_STOP);
}

TEST_F(filter, a14_stop)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_STOP, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	posix_trace_event(self->a, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START);
}

TEST_F(filter, a14_all_of_them)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_SYSTEM_EVENTS);
	struct posix_trace_status_info status;
	struct event event;

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	flood(self->a);
	ASSERT_EQ(0, filter_one(self->trid, self->b, ADD));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
	do {
		ASSERT_EQ(self->a, event.info.posix_event_id);
	} while (take(self->trid, &event) == 1);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
}

FIXTURE(lossy)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(lossy)
{
	int policy;
};

FIXTURE_VARIANT_ADD(lossy, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(lossy, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(lossy)
{
	ASSERT_EQ(0, new_stream(0, variant->policy, &self->trid));
}

FIXTURE_TEARDOWN(lossy)
{
	posix_trace_shutdown(self->trid);
}

/* What is read, how often OVERFLOW and RESUME. */
static void count_gaps(trace_id_t trid, int *overflows, int *resumes)
{
	struct event event;

	while (take(trid, &event) == 1) {
		*overflows += event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		*resumes += event.info.posix_event_id == POSIX_TRACE_RESUME;
	}
}

static void expect_gaps(struct __test_metadata *_metadata, trace_id_t trid, int wanted_overflows,
			int wanted_resumes)
{
	struct posix_trace_status_info status;
	int overflows = 0, resumes = 0;

	ASSERT_EQ(0, posix_trace_start(trid));
	flood(UNNAMED);
	/* One that is full starts again when it was read, and so the gap ends. */
	count_gaps(trid, &overflows, &resumes);
	posix_trace_event(UNNAMED, NULL, 0);
	count_gaps(trid, &overflows, &resumes);
	EXPECT_EQ(wanted_overflows, overflows);
	EXPECT_EQ(wanted_resumes, resumes);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_OVERRUN, status.posix_stream_overrun_status);
}

TEST_F(lossy, a14_overflow_and_resume_unfiltered)
{
	expect_gaps(_metadata, self->trid, 1, 1);
}

TEST_F(lossy, a14_overflow)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_OVERFLOW, SET));
	expect_gaps(_metadata, self->trid, 0, 1);
}

TEST_F(lossy, a14_resume)
{
	ASSERT_EQ(0, filter_one(self->trid, POSIX_TRACE_RESUME, SET));
	expect_gaps(_metadata, self->trid, 1, 0);
}

/* Full, and nothing in the stream says so: it starts again all the same. */
TEST(a14_until_full_without_system_events)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_SYSTEM_EVENTS);
	struct posix_trace_status_info status;
	struct event event;
	int number = 4711;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posix_trace_set_filter(trid, &set, SET));
	ASSERT_EQ(0, posix_trace_start(trid));
	flood(UNNAMED);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	while (take(trid, &event) == 1)
		ASSERT_EQ(UNNAMED, event.info.posix_event_id);
	ASSERT_EQ(0, posix_trace_get_status(trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	posix_trace_event(UNNAMED, &number, sizeof(number));
	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(UNNAMED, event.info.posix_event_id);
	EXPECT_EQ(number, event_number(&event));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* What else a filter is						*/

TEST_F(lossy, a15_needs_no_room)
{
	struct posix_trace_status_info status;
	struct event event;
	int number = 4711;

	ASSERT_EQ(0, filter_one(self->trid, UNNAMED, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	flood(UNNAMED);
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_NOT_FULL, status.posix_stream_full_status);
	EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, status.posix_stream_overrun_status);
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
	ASSERT_EQ(0, filter_one(self->trid, UNNAMED, SUB));
	posix_trace_event(UNNAMED, &number, sizeof(number));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(number, event_number(&event));
}

TEST_F(filter, a16_types_that_are_not_defined_yet)
{
	trace_event_set_t set = set_filled(POSIX_TRACE_ALL_EVENTS);
	trace_event_id_t of_all, other;

	posix_trace_eventset_del(self->a, &set);
	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_eventid_open("later", &of_all));
	posix_trace_event(of_all, NULL, 0);
	posix_trace_event(self->a, NULL, 0);
	EXPECT_TYPES(self->trid, self->a);
	/* The next one, from the controller's side. */
	ASSERT_EQ(0, filter_one(self->trid, of_all + 1, SET));
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "still later", &other));
	ASSERT_EQ(of_all + 1, other);
	posix_trace_event(other, NULL, 0);
	posix_trace_event(of_all, NULL, 0);
	EXPECT_TYPES(self->trid, of_all);
}

TEST_F(filter, a17_other_streams_record_as_before)
{
	trace_id_t other;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &other));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, posix_trace_start(other));
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	ASSERT_EQ(0, filter_one(other, self->b, SET));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, POSIX_TRACE_FILTER, self->b);
	EXPECT_TYPES(other, POSIX_TRACE_START, POSIX_TRACE_FILTER, self->a);
	EXPECT_EQ(0, posix_trace_shutdown(other));
	/* Its slot may be used again, with an empty filter. */
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &other));
	ASSERT_EQ(0, posix_trace_start(other));
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(other, POSIX_TRACE_START, self->b);
	EXPECT_EQ(0, posix_trace_shutdown(other));
}

TEST_F(filter, a18_stays_through_stop_and_start)
{
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, filter_one(self->trid, self->a, SET));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, POSIX_TRACE_FILTER, POSIX_TRACE_STOP,
		     POSIX_TRACE_START, self->b);
}

TEST_F(filter, a19_set_is_copied)
{
	trace_event_set_t set = set_of(self->a);

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &set, SET));
	memset(&set, 0xff, sizeof(set));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(self->a, NULL, 0);
	posix_trace_event(self->b, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->b);
}

TEST(a20_no_room_for_the_change)
{
	struct posix_trace_status_info status;
	int changes = 0, recorded = 0;
	trace_event_set_t filter;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	do {
		changes++;
		ASSERT_EQ(0, filter_one(trid, UNNAMED + changes, SET));
		ASSERT_EQ(0, posix_trace_get_filter(trid, &filter));
		ASSERT_EQ(1, set_has(&filter, UNNAMED + changes));
		ASSERT_EQ(0, posix_trace_get_status(trid, &status));
		ASSERT_GT(1000, changes);
	} while (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
	EXPECT_EQ(POSIX_TRACE_SUSPENDED, status.posix_stream_status);
	/* That is all that it is: one more is as on any suspended stream. */
	ASSERT_EQ(0, filter_one(trid, UNNAMED, SET));

	ASSERT_EQ(1, take(trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, event.info.posix_event_id);
	while (take(trid, &event) == 1 && event.info.posix_event_id == POSIX_TRACE_FILTER)
		recorded++;
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	EXPECT_NE(0, event_number(&event));
	EXPECT_EQ(changes - 1, recorded);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(filter, a21_signals)
{
	trace_event_set_t sets[2] = { set_of(self->a), set_of(self->b) }, filter;
	struct posix_trace_status_info status;
	int now_set = 0, changed = 0, recorded = 0, err;
	struct event event;

	ASSERT_EQ(0, posix_trace_set_filter(self->trid, &sets[0], SET));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, interrupts_begin(NULL));
	while (interrupts.hits < 30) {
		interrupts_before();
		err = posix_trace_set_filter(self->trid, &sets[!now_set], SET);
		interrupts_after();
		ASSERT_TRUE(!err || err == EINTR);
		if (!err) {
			now_set = !now_set;
			changed++;
		}
		ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
		ASSERT_TRUE(set_equal(&sets[now_set], &filter));
		while (take(self->trid, &event) == 1)
			recorded += event.info.posix_event_id == POSIX_TRACE_FILTER;
		ASSERT_EQ(changed, recorded);
	}
	interrupts_end();
	ASSERT_EQ(0, posix_trace_get_status(self->trid, &status));
	EXPECT_EQ(POSIX_TRACE_RUNNING, status.posix_stream_status);
}

/* ------------------------------------------------------------------ */
/* Errors								*/

TEST(a22_bad_trace_ids)
{
	trace_event_set_t set = set_of(UNNAMED);
	trace_id_t trid;

	EXPECT_EQ(EINVAL, posix_trace_set_filter(0, &set, SET));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(-1, &set, SET));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(4711, &set, SET));
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(trid, &set, SET));
}

static int set_as_child(void *arg, const struct talk *talk)
{
	(void)talk;
	return filter_one(*(trace_id_t *)arg, UNNAMED, SET);
}

TEST_F(filter, a22_trace_id_of_the_parent)
{
	struct child child;
	int status;

	ASSERT_EQ(0, child_start(&child, set_as_child, &self->trid));
	status = child_wait(&child);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EINVAL, WEXITSTATUS(status));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	posix_trace_event(UNNAMED, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, UNNAMED);
}

TEST_F(filter, a24_bad_arguments)
{
	trace_event_set_t set = set_of(self->a);

	ASSERT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(self->trid, NULL, SET));
	for (int how = -2; how < 16; how++)
		if (how != SET && how != ADD && how != SUB)
			EXPECT_EQ(EINVAL, posix_trace_set_filter(self->trid, &set, how));
	posix_trace_event(self->a, NULL, 0);
	EXPECT_TYPES(self->trid, POSIX_TRACE_START, self->a);
}

static void *set_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	filter_one(*(trace_id_t *)arg, UNNAMED, SET);
	return NULL;
}

TEST_F(filter, a25_cancelled)
{
	trace_event_set_t none = set_filled(POSIX_TRACE_WOPID_EVENTS);
	trace_event_set_t all = set_of(UNNAMED), filter;
	pthread_t thread;

	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, pthread_create(&thread, NULL, set_cancelled, &self->trid));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, posix_trace_get_filter(self->trid, &filter));
	EXPECT_TRUE(set_equal(&filter, &none) || set_equal(&filter, &all));
	EXPECT_EQ(0, filter_one(self->trid, self->a, SET));
	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* A log of nothing, open for reading. */
static int open_log(trace_id_t *log)
{
	int fd = log_tmpfile(), err;
	trace_id_t trid;

	err = posix_trace_create_withlog(0, NULL, fd, &trid);
	if (!err)
		err = posix_trace_shutdown(trid);
	if (!err)
		err = posix_trace_open(fd, log);
	close(fd);
	return err;
}

TEST(a23_einval_for_a_log)
{
	trace_event_set_t set;
	trace_id_t log;

	ASSERT_EQ(0, posix_trace_eventset_empty(&set));
	ASSERT_EQ(0, open_log(&log));
	EXPECT_EQ(EINVAL, posix_trace_set_filter(log, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_close(log));
}

TEST_HARNESS_MAIN
