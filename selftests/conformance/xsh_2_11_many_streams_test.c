// SPDX-License-Identifier: GPL-2.0
/*
 * Many streams, processes, threads and controllers: every event is accounted for.
 * Documentation/conformance/xsh_2_11_many_streams.rst
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "pxt_test.h"
#include "stream_state.h"

/* The maximum number of streams per process. */
#define STREAMS_MAX	31

#define THREADS		4
#define EVENTS		300

/* ------------------------------------------------------------------ */
/* Accounting								*/

/* Threads that record, each on its own CPU, and count their events. */
struct crew {
	pthread_t thread[THREADS];
	int started;
	int recorded;
};

static void *record_on_a_cpu(void *arg)
{
	struct crew *crew = arg;

	run_on(__atomic_fetch_add(&crew->started, 1, __ATOMIC_RELAXED));
	for (int i = 0; i < EVENTS; i++) {
		record_number(i);
		__atomic_fetch_add(&crew->recorded, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int crew_start(struct crew *crew)
{
	*crew = (struct crew){ .started = 0 };
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&crew->thread[i], NULL, record_on_a_cpu, crew))
			return -1;
	}
	return 0;
}

static int crew_is_done(struct crew *crew)
{
	return __atomic_load_n(&crew->recorded, __ATOMIC_ACQUIRE) == THREADS * EVENTS;
}

static void crew_join(struct crew *crew)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(crew->thread[i], NULL);
}

/* Reads all events, and adds the number of user events to @taken. */
static int take_counting(trace_id_t trid, unsigned long long *taken)
{
	struct event event;
	int ret;

	while ((ret = take(trid, &event)) == 1)
		*taken += event.info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT;
	return ret;
}

/*
 * Checks the counters of a stream after all threads have stopped recording: @generated events
 * were generated, and @taken of them were read. Returns the first error, or NULL.
 */
static const char *wrong_account(trace_id_t trid, unsigned long long generated,
				 unsigned long long taken)
{
	struct posixtrace_stats_info stats;

	if (posixtrace_get_stats(trid, &stats))
		return "the counters cannot be read";
	if (stats.recorded + stats.dropped != generated)
		return "recorded and dropped do not add up to the generated events";
	if (stats.read != taken)
		return "the number of read events is wrong";
	if (take_counting(trid, &taken) || posixtrace_get_stats(trid, &stats))
		return "the events cannot be read";
	if (stats.recorded + stats.dropped != generated)
		return "reading changed the number of events";
	if (stats.read != taken)
		return "the number of read events is wrong at the end";
	if (stats.damaged)
		return "records are damaged";
	if (stats.read + stats.overwritten + stats.skipped != stats.recorded)
		return "read, overwritten and skipped do not add up to recorded";
	return NULL;
}

FIXTURE(account)
{
	trace_id_t trid;
	struct crew crew;
};

FIXTURE_VARIANT(account)
{
	int policy;
};

FIXTURE_VARIANT_ADD(account, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(account, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(account)
{
	ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
}

FIXTURE_TEARDOWN(account)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(account, a01_many_threads_without_a_reader)
{
	struct posixtrace_stats_info stats;

	ASSERT_EQ(0, crew_start(&self->crew));
	crew_join(&self->crew);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	/* The test needs losses, so there must be some. */
	EXPECT_LT(0, stats.dropped + stats.overwritten);
	EXPECT_EQ(NULL, wrong_account(self->trid, THREADS * EVENTS, 0));
}

TEST_F(account, a02_many_threads_with_a_reader)
{
	unsigned long long taken = 0;

	ASSERT_EQ(0, crew_start(&self->crew));
	while (!crew_is_done(&self->crew))
		ASSERT_EQ(0, take_counting(self->trid, &taken));
	crew_join(&self->crew);
	EXPECT_EQ(NULL, wrong_account(self->trid, THREADS * EVENTS, taken));
}

/* The reader is so slow that events are always lost. */
TEST_F(account, a02_many_threads_with_a_slow_reader)
{
	unsigned long long taken = 0;
	struct event event;
	int ret = 0;

	ASSERT_EQ(0, crew_start(&self->crew));
	while (!crew_is_done(&self->crew)) {
		for (int i = 0; i < 30 && (ret = take_user(self->trid, &event)) == 1; i++)
			taken++;
		ASSERT_LE(0, ret);
		/* Wait until 100 more events are recorded. */
		for (int seen = __atomic_load_n(&self->crew.recorded, __ATOMIC_ACQUIRE);
		     !crew_is_done(&self->crew) &&
		     __atomic_load_n(&self->crew.recorded, __ATOMIC_ACQUIRE) < seen + 100;)
			sched_yield();
	}
	crew_join(&self->crew);
	EXPECT_EQ(NULL, wrong_account(self->trid, THREADS * EVENTS, taken));
}

/* A thread that reads streams in turn, and counts the user events of each. */
struct reader {
	pthread_t thread;
	const trace_id_t *trid;
	unsigned long long *taken;
	int streams;
	int ended;
	int failed;
};

static void *read_until_ended(void *arg)
{
	struct reader *reader = arg;

	while (!__atomic_load_n(&reader->ended, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < reader->streams; i++)
			reader->failed += take_counting(reader->trid[i], &reader->taken[i]) != 0;
	}
	return NULL;
}

static int reader_begin(struct reader *reader, const trace_id_t *trid, unsigned long long *taken,
			int streams)
{
	*reader = (struct reader){ .trid = trid, .taken = taken, .streams = streams };
	return pthread_create(&reader->thread, NULL, read_until_ended, reader);
}

/* Returns how often reading failed. */
static int reader_end(struct reader *reader)
{
	__atomic_store_n(&reader->ended, 1, __ATOMIC_RELEASE);
	pthread_join(reader->thread, NULL);
	return reader->failed;
}

TEST_F(account, a03_many_readers)
{
	unsigned long long taken[2] = { 0 };
	struct reader reader[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, reader_begin(&reader[i], &self->trid, &taken[i], 1));
	ASSERT_EQ(0, crew_start(&self->crew));
	crew_join(&self->crew);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, reader_end(&reader[i]));
	EXPECT_EQ(NULL, wrong_account(self->trid, THREADS * EVENTS, taken[0] + taken[1]));
}

/* A traced process with threads: records on request, and reports when it is done. */
static int child_crew(void *arg, const struct talk *talk)
{
	struct crew crew;

	(void)arg;
	say(talk, 0);
	while (hear(talk) != -EPIPE) {
		if (crew_start(&crew))
			return 1;
		crew_join(&crew);
		say(talk, THREADS * EVENTS);
	}
	return 0;
}

#define CHILDREN	3
#define STREAMS		(2 * CHILDREN)

/* Each child has two streams, LOOP and UNTIL_FULL. Streams 0 and 1 trace the first child. */
struct family {
	struct child child[CHILDREN];
	trace_id_t trid[STREAMS];
	unsigned long long taken[STREAMS];
};

static int family_start(struct family *family)
{
	memset(family, 0, sizeof(*family));
	for (int i = 0; i < CHILDREN; i++) {
		struct child *child = &family->child[i];
		trace_id_t *trid = &family->trid[2 * i];

		if (child_start(child, child_crew, NULL) || hear(&child->talk) ||
		    new_stream(child->pid, POSIX_TRACE_LOOP, &trid[0]) ||
		    new_stream(child->pid, POSIX_TRACE_UNTIL_FULL, &trid[1]) ||
		    posix_trace_start(trid[0]) || posix_trace_start(trid[1]))
			return -1;
	}
	return 0;
}

/* All children record at the same time. */
static int family_record(struct family *family)
{
	int failed = 0;

	for (int i = 0; i < CHILDREN; i++)
		say(&family->child[i].talk, 0);
	for (int i = 0; i < CHILDREN; i++)
		failed += hear(&family->child[i].talk) != THREADS * EVENTS;
	return failed;
}

static const char *family_end(struct family *family)
{
	const char *wrong = NULL;

	/* End the last child first: it has copies of the pipes of the earlier ones. */
	for (int i = CHILDREN - 1; i >= 0; i--) {
		if (child_wait(&family->child[i]))
			wrong = "a child failed";
	}
	for (int i = 0; i < STREAMS; i++) {
		if (!wrong)
			wrong = wrong_account(family->trid[i], THREADS * EVENTS,
					      family->taken[i]);
		posix_trace_shutdown(family->trid[i]);
	}
	return wrong;
}

TEST(a04_several_processes_without_a_reader)
{
	struct family family;

	ASSERT_EQ(0, family_start(&family));
	ASSERT_EQ(0, family_record(&family));
	EXPECT_EQ(NULL, family_end(&family));
}

TEST(a04_several_processes_with_readers)
{
	struct reader reader;
	struct family family;

	ASSERT_EQ(0, family_start(&family));
	ASSERT_EQ(0, reader_begin(&reader, family.trid, family.taken, STREAMS));
	ASSERT_EQ(0, family_record(&family));
	EXPECT_EQ(0, reader_end(&reader));
	EXPECT_EQ(NULL, family_end(&family));
}

/*
 * Checks that the numbers of each thread only increase. If some are missing, OVERFLOW and RESUME
 * must have been reported after the previous number. Threads record on all CPUs while a reader
 * reads.
 */
struct mark {
	int thread;
	int number;
	char filler[240];
};

struct marker {
	pthread_t thread;
	int index;
	int *done;
};

static void *record_marks(void *arg)
{
	struct marker *marker = arg;
	struct mark mark = { .thread = marker->index };

	run_on(marker->index);
	for (mark.number = 0; mark.number < EVENTS; mark.number++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &mark, sizeof(mark));
	__atomic_fetch_add(marker->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST_F(account, a05_every_gap_has_a_pair_before_the_next_event)
{
	int done = 0, pairs = 0, ended = 0, number[THREADS], pairs_at[THREADS];
	struct marker marker[THREADS];
	struct event event;
	struct mark mark;
	int id;

	for (int i = 0; i < THREADS; i++) {
		number[i] = -1;
		pairs_at[i] = 0;
		marker[i] = (struct marker){ .index = i, .done = &done };
		ASSERT_EQ(0, pthread_create(&marker[i].thread, NULL, record_marks, &marker[i]));
	}
	while ((id = take_id(self->trid, &event)) > 0 || !ended) {
		ASSERT_LE(0, id);
		if (!id)
			ended = __atomic_load_n(&done, __ATOMIC_ACQUIRE) == THREADS;
		if (id == POSIX_TRACE_OVERFLOW) {
			ASSERT_EQ(POSIX_TRACE_RESUME, take_id(self->trid, &event));
			pairs++;
		}
		if (id != POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		memcpy(&mark, event.data, sizeof(mark));
		ASSERT_LT(number[mark.thread], mark.number);
		if (mark.number > number[mark.thread] + 1)
			ASSERT_LT(pairs_at[mark.thread], pairs);
		number[mark.thread] = mark.number;
		pairs_at[mark.thread] = pairs;
	}
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(marker[i].thread, NULL));
}

/* ------------------------------------------------------------------ */
/* Many streams								*/

#define TYPES	5

/*
 * Filters the types by the number of the stream: stream i filters out type k if bit k of i is set.
 */
static int filter_by_number(trace_id_t trid, int i, const trace_event_id_t types[TYPES])
{
	trace_event_set_t set;
	int err = posix_trace_eventset_empty(&set);

	for (int t = 0; t < TYPES && !err; t++) {
		if (i & 1 << t)
			err = posix_trace_eventset_add(types[t], &set);
	}
	return err ? err : posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

/* Reads the next event. Returns true if it has this type and this number. */
static int comes_next(trace_id_t trid, trace_event_id_t id, int number)
{
	struct event event;

	return take(trid, &event) == 1 && event.info.posix_event_id == id &&
	       event_number(&event) == number;
}

TEST(a06_32_streams_with_different_filters_on_one_process)
{
	trace_event_id_t types[TYPES];
	trace_id_t trid[STREAMS_MAX];
	char name[] = "type 0";

	for (int t = 0; t < TYPES; t++) {
		name[5] = '0' + t;
		ASSERT_EQ(0, posix_trace_eventid_open(name, &types[t]));
	}
	for (int i = 0; i < STREAMS_MAX; i++) {
		ASSERT_EQ(0, new_stream(0, i % 2 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP,
					&trid[i]));
		ASSERT_EQ(0, filter_by_number(trid[i], i, types));
		ASSERT_EQ(0, posix_trace_start(trid[i]));
	}
	for (int n = 0; n < 20; n++)
		posix_trace_event(types[n % TYPES], &n, sizeof(n));
	for (int i = 0; i < STREAMS_MAX; i++) {
		struct event event;

		ASSERT_EQ(POSIX_TRACE_START, take_id(trid[i], &event));
		for (int n = 0; n < 20; n++) {
			if (!(i & 1 << n % TYPES))
				EXPECT_TRUE(comes_next(trid[i], types[n % TYPES], n));
		}
		EXPECT_EQ(0, take(trid[i], &event));
		EXPECT_EQ(POSIX_TRACE_NO_OVERRUN, overrun_of(trid[i]));
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
	}
}

/* Half of the streams are full and suspended. The other half overwrite their oldest events. */
TEST(a07_full_streams_do_not_affect_the_others)
{
	trace_id_t trid[STREAMS_MAX];
	int next = 0;

	for (int i = 0; i < STREAMS_MAX; i++) {
		ASSERT_EQ(0, new_stream(0, i % 2 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP,
					&trid[i]));
		ASSERT_EQ(0, posix_trace_start(trid[i]));
	}
	while (next < 400)
		record_number(next++);
	for (int i = 0; i < STREAMS_MAX; i++) {
		EXPECT_EQ(i % 2 ? STATE(SUSPENDED, FULL) : STATE(RUNNING, FULL),
			  state_of(trid[i]));
		EXPECT_EQ(NULL, wrong_account(trid[i], next, 0));
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
	}
}

/* An operation on stream i affects only stream i. */
TEST(a08_each_stream_is_controlled_independently)
{
	trace_id_t trid[STREAMS_MAX];
	struct event event;

	for (int i = 0; i < STREAMS_MAX; i++)
		ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &trid[i]));
	for (int i = 0; i < STREAMS_MAX; i++) {
		ASSERT_EQ(0, posix_trace_start(trid[i]));
		record_number(i);
		ASSERT_EQ(0, posix_trace_stop(trid[i]));
	}
	for (int i = 0; i < STREAMS_MAX; i++) {
		ASSERT_EQ(POSIX_TRACE_START, take_id(trid[i], &event));
		EXPECT_TRUE(comes_next(trid[i], POSIX_TRACE_UNNAMED_USEREVENT, i));
		EXPECT_EQ(POSIX_TRACE_STOP, take_id(trid[i], &event));
		EXPECT_EQ(0, take(trid[i], &event));
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
	}
}

/* Runs in a child: creates *@arg streams of the smallest size on itself. */
static int use_streams(void *arg, const struct talk *talk)
{
	const int count = *(int *)arg;
	trace_id_t trid[STREAMS_MAX];
	trace_attr_t attr;
	int n;

	if (posix_trace_attr_init(&attr) || posix_trace_attr_setstreamsize(&attr, 8 << 10) ||
	    posix_trace_attr_setmaxdatasize(&attr, 64))
		return 1;
	for (n = 0; n < count; n++) {
		if (posix_trace_create(0, &attr, &trid[n]) || posix_trace_start(trid[n]))
			return 2;
	}
	say(talk, n);
	/* Wait until all processes have created their streams. */
	if (hear(talk))
		return 3;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &n, sizeof(n));
	for (n = 0; n < count; n++) {
		struct event event;

		if (take_user(trid[n], &event) != 1 || event_number(&event) != count ||
		    event.info.posix_pid != getpid() || take(trid[n], &event))
			return 4;
	}
	return 0;
}

TEST(a09_trace_sys_max_streams_work_at_the_same_time)
{
	/* Each process has as many as one process can have, and the last one has the rest. */
	enum { ALL = TRACE_SYS_MAX / STREAMS_MAX + 1 };
	struct child child[ALL];
	int count[ALL];

	for (int i = 0; i < ALL; i++) {
		count[i] = i < ALL - 1 ? STREAMS_MAX : TRACE_SYS_MAX % STREAMS_MAX;
		ASSERT_EQ(0, child_start(&child[i], use_streams, &count[i]));
	}
	for (int i = 0; i < ALL; i++)
		EXPECT_EQ(count[i], hear(&child[i].talk));
	for (int i = 0; i < ALL; i++)
		say(&child[i].talk, 0);
	for (int i = ALL - 1; i >= 0; i--)
		EXPECT_EQ(0, child_wait(&child[i]));
}

/* ------------------------------------------------------------------ */
/* Controllers and traced processes					*/

/* A controller: reports how many events of process *arg it has read, until the pipe is closed. */
static int control(void *arg, const struct talk *talk)
{
	struct event event;
	trace_id_t trid;
	int count = 0;

	if (new_stream(*(pid_t *)arg, POSIX_TRACE_LOOP, &trid) || posix_trace_start(trid))
		return 1;
	say(talk, 0);
	while (hear(talk) != -EPIPE) {
		while (take_user(trid, &event) == 1)
			count++;
		say(talk, count);
	}
	return 0;
}

TEST(a10_many_controllers_trace_one_process)
{
	struct child child[4];
	pid_t pid = getpid();

	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, child_start(&child[i], control, &pid));
		ASSERT_EQ(0, hear(&child[i].talk));
	}
	for (int n = 0; n < 10; n++)
		record_number(n);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(10, let_record(&child[i], 0));
	/* One controller exits and one is killed: the others continue. */
	EXPECT_EQ(0, child_wait(&child[3]));
	child_kill(&child[2]);
	for (int n = 0; n < 10; n++)
		record_number(n);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(20, let_record(&child[i], 0));
	for (int i = 1; i >= 0; i--)
		EXPECT_EQ(0, child_wait(&child[i]));
}

TEST(a11_one_controller_traces_many_processes)
{
	struct child child[4];
	trace_id_t trid[4];
	struct event event;

	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, child_start(&child[i], child_record, NULL));
		ASSERT_EQ(0, hear(&child[i].talk));
		ASSERT_EQ(0, new_stream(child[i].pid, POSIX_TRACE_LOOP, &trid[i]));
		ASSERT_EQ(0, posix_trace_start(trid[i]));
	}
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(i, let_record(&child[i], i));
	for (int i = 3; i >= 0; i--) {
		ASSERT_EQ(1, take_user(trid[i], &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(child[i].pid, event.info.posix_pid);
		EXPECT_EQ(0, take(trid[i], &event));
		EXPECT_EQ(0, child_wait(&child[i]));
		EXPECT_EQ(0, posix_trace_shutdown(trid[i]));
	}
}

/* A stream. Its traced process has recorded number 1 and then exited. */
FIXTURE(orphan)
{
	struct child child;
	trace_id_t trid;
};

FIXTURE_VARIANT(orphan)
{
	int policy;
	int killed;
};

FIXTURE_VARIANT_ADD(orphan, ended) { POSIX_TRACE_LOOP, 0 };
FIXTURE_VARIANT_ADD(orphan, killed) { POSIX_TRACE_UNTIL_FULL, 1 };

FIXTURE_SETUP(orphan)
{
	ASSERT_EQ(0, child_start(&self->child, child_record, NULL));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, new_stream(self->child.pid, variant->policy, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(1, let_record(&self->child, 1));
	if (variant->killed)
		child_kill(&self->child);
	else
		ASSERT_EQ(0, child_wait(&self->child));
}

FIXTURE_TEARDOWN(orphan)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(orphan, a12_stream_outlives_its_process)
{
	struct event event;

	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, take_id(self->trid, &event));
	EXPECT_EQ(1, event_number(&event));
	EXPECT_EQ(self->child.pid, event.info.posix_pid);
	EXPECT_EQ(0, take(self->trid, &event));
	EXPECT_EQ(NULL, wrong_account(self->trid, 1, 1));
}

TEST_F(orphan, a12_stream_can_be_controlled_after_its_process)
{
	trace_event_set_t set;
	trace_event_id_t id;
	struct event event;

	EXPECT_EQ(0, posix_trace_stop(self->trid));
	EXPECT_EQ(0, posix_trace_start(self->trid));
	EXPECT_EQ(0, posix_trace_eventset_empty(&set));
	EXPECT_EQ(0, posix_trace_set_filter(self->trid, &set, POSIX_TRACE_SET_EVENTSET));
	EXPECT_EQ(0, posix_trace_trid_eventid_open(self->trid, "orphan", &id));
	ASSERT_EQ(1, take_user(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_STOP, take_id(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_START, take_id(self->trid, &event));
	EXPECT_EQ(POSIX_TRACE_FILTER, take_id(self->trid, &event));
	EXPECT_EQ(0, posix_trace_clear(self->trid));
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(self->trid));
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

/* The stream was full when its process ended. It restarts when it is read, like any other. */
TEST(a12_full_stream_starts_again_after_its_process)
{
	struct child child;
	struct event event;
	trace_id_t trid;
	int expected = 0;

	ASSERT_EQ(0, child_start(&child, child_crew, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, new_stream(child.pid, POSIX_TRACE_UNTIL_FULL, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	ASSERT_EQ(THREADS * EVENTS, let_record(&child, 0));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(STATE(SUSPENDED, FULL), state_of(trid));
	EXPECT_EQ(POSIX_TRACE_START, take_id(trid, &event));
	while (take_id(trid, &event) == POSIX_TRACE_UNNAMED_USEREVENT)
		expected++;
	EXPECT_EQ(POSIX_TRACE_STOP, event.info.posix_event_id);
	EXPECT_LT(0, expected);
	EXPECT_EQ(STATE(RUNNING, NOT_FULL), state_of(trid));
	EXPECT_EQ(NULL, wrong_account(trid, THREADS * EVENTS, expected));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* As defined by the kernel. The headers of the C library may lack it. */
struct clone_with_pid {
	unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal;
	unsigned long long stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

TEST_F(orphan, a13_another_process_with_the_same_id_is_not_traced)
{
	pid_t pid = self->child.pid;
	struct clone_with_pid args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long long)(uintptr_t)&pid,
		.set_tid_size = 1,
	};
	unsigned long long taken = 0;
	int status;
	pid_t ret;

	ret = syscall(SYS_clone3, &args, sizeof(args));
	if (ret < 0 && errno == EPERM)
		SKIP(return, "needs the right to choose a process id");
	ASSERT_LE(0, ret);
	if (ret == 0) {
		record_number(2);
		_exit(getpid() == pid ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(ret, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, take_counting(self->trid, &taken));
	EXPECT_EQ(1, taken);
}

TEST_HARNESS_MAIN
