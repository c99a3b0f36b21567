// SPDX-License-Identifier: GPL-2.0
/*
 * Children of a traced process, created in any way: they are traced into the same stream with
 * POSIX_TRACE_INHERITED, but not with POSIX_TRACE_CLOSE_FOR_CHILD.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <spawn.h>
#include <sys/sysinfo.h>

#include "pxt_test.h"
#include "family.h"

#define EVENTS	3

/* Records EVENTS events with numbers from *arg on. */
static int record_some(void *arg)
{
	for (int i = 0; i < EVENTS; i++)
		record_plain(*(int *)arg + i);
	return 0;
}

/* Expects that the next user event is @number of process @pid. */
static void expect_event(struct __test_metadata *_metadata, trace_id_t trid, pid_t pid, int number)
{
	struct event event;

	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(pid, event.info.posix_pid);
	EXPECT_EQ(number, event_number(&event));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, event.info.posix_event_id);
}

static void expect_no_event(struct __test_metadata *_metadata, trace_id_t trid)
{
	struct event event;

	EXPECT_EQ(0, take_user(trid, &event));
}

FIXTURE(birth)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(birth)
{
	pid_t (*make)(family_fn fn, void *arg);
};

FIXTURE_VARIANT_ADD(birth, fork) { by_fork };
FIXTURE_VARIANT_ADD(birth, vfork) { by_vfork };
FIXTURE_VARIANT_ADD(birth, raw_clone) { by_raw_clone };
FIXTURE_VARIANT_ADD(birth, raw_clone3) { by_raw_clone3 };
FIXTURE_VARIANT_ADD(birth, clone_stack) { by_clone_stack };
/* ThreadSanitizer does not support two processes that share their memory. */
#if !PXT_TSAN
FIXTURE_VARIANT_ADD(birth, clone_vm) { by_clone_vm };
#endif
FIXTURE_VARIANT_ADD(birth, clone_vfork) { by_clone_vfork };
FIXTURE_VARIANT_ADD(birth, clone_files) { by_clone_files };
FIXTURE_VARIANT_ADD(birth, clone_newpid) { by_clone_newpid };
#ifdef HAVE_CLONE3_STACK
FIXTURE_VARIANT_ADD(birth, clone3_stack) { by_clone3_stack };
FIXTURE_VARIANT_ADD(birth, clone3_vm) { by_clone3_vm };
#endif

FIXTURE_SETUP(birth)
{
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
}

FIXTURE_TEARDOWN(birth)
{
	posix_trace_shutdown(self->trid);
}

TEST_F(birth, child_is_traced_into_the_same_stream)
{
	int number = 10;
	pid_t pid;

	record_plain(1);
	pid = variant->make(record_some, &number);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	record_plain(2);

	expect_event(_metadata, self->trid, getpid(), 1);
	for (int i = 0; i < EVENTS; i++)
		expect_event(_metadata, self->trid, pid, number + i);
	expect_event(_metadata, self->trid, getpid(), 2);
	expect_no_event(_metadata, self->trid);
	EXPECT_EQ(2 + EVENTS, generated_for(self->trid));
	EXPECT_EQ(1, processes_of(self->trid));
}

/* The child records first, so it attaches, perhaps in its parent's memory. */
TEST_F(birth, child_can_be_the_first_to_record)
{
	int number = 10;
	pid_t pid;

	pid = variant->make(record_some, &number);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	record_plain(1);
	number = 20;
	for (int i = 0; i < EVENTS; i++)
		expect_event(_metadata, self->trid, pid, 10 + i);
	expect_event(_metadata, self->trid, getpid(), 1);

	pid = variant->make(record_some, &number);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	record_plain(2);
	for (int i = 0; i < EVENTS; i++)
		expect_event(_metadata, self->trid, pid, number + i);
	expect_event(_metadata, self->trid, getpid(), 2);
	expect_no_event(_metadata, self->trid);
	EXPECT_EQ(2 + 2 * EVENTS, generated_for(self->trid));
}

TEST_F(birth, child_is_not_traced_by_other_streams)
{
	int number = 10;
	trace_id_t other;
	pid_t pid;

	ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_CLOSE_FOR_CHILD, 64 << 10,
				       POSIX_TRACE_LOOP, &other));
	ASSERT_EQ(0, posix_trace_start(other));
	record_plain(1);
	pid = variant->make(record_some, &number);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	record_plain(2);
	expect_event(_metadata, other, getpid(), 1);
	expect_event(_metadata, other, getpid(), 2);
	expect_no_event(_metadata, other);
	EXPECT_EQ(2, generated_for(other));
	EXPECT_EQ(1, processes_of(other));
	EXPECT_EQ(2 + EVENTS, generated_for(self->trid));
	ASSERT_EQ(0, posix_trace_shutdown(other));
}

struct names {
	trace_event_id_t common;	/* opened before the child exists */
	trace_event_id_t of_child;
	trace_event_id_t again;
};

static int open_names(void *arg)
{
	struct names *names = arg;

	return posix_trace_eventid_open("common", &names->again) ||
	       posix_trace_eventid_open("of the child", &names->of_child);
}

TEST_F(birth, names_mean_the_same_in_parent_and_child)
{
	struct names *names = share(sizeof(*names));
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	pid_t pid;

	ASSERT_NE(NULL, names);
	ASSERT_EQ(0, posix_trace_eventid_open("common", &names->common));
	pid = variant->make(open_names, names);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	EXPECT_EQ(names->common, names->again);
	ASSERT_EQ(0, posix_trace_eventid_get_name(self->trid, names->of_child, name));
	EXPECT_STREQ("of the child", name);
	ASSERT_EQ(0, posix_trace_trid_eventid_open(self->trid, "of the child", &id));
	EXPECT_EQ(names->of_child, id);
	ASSERT_EQ(0, posix_trace_eventid_open("of the child", &id));
	EXPECT_EQ(names->of_child, id);
	ASSERT_EQ(0, posix_trace_eventid_open("of the parent", &id));
	EXPECT_NE(names->of_child, id);
}

/* No name was opened before, so parent and child share only the stream. */
TEST_F(birth, child_can_open_the_first_name)
{
	struct names *names = share(sizeof(*names));
	trace_event_id_t id;
	pid_t pid;

	ASSERT_NE(NULL, names);
	pid = variant->make(open_names, names);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	EXPECT_NE(names->again, names->of_child);
	ASSERT_EQ(0, posix_trace_eventid_open("of the child", &id));
	EXPECT_EQ(names->of_child, id);
	ASSERT_EQ(0, posix_trace_eventid_open("common", &id));
	EXPECT_EQ(names->again, id);
	record_as(id, 1);
	EXPECT_EQ(1, generated_for(self->trid));
}

static int make_grandchild(void *arg)
{
	pid_t *pids = arg;
	int number = 20;

	record_plain(10);
	pids[1] = by_fork(record_some, &number);
	if (pids[1] < 0 || ended(pids[1]))
		return 1;
	record_plain(11);
	return 0;
}

TEST_F(birth, grandchild_is_traced)
{
	pid_t *pids = share(sizeof(*pids) * 2);

	ASSERT_NE(NULL, pids);
	/* The event does not have pids[1], which is the id in the new namespace. */
	if (variant->make == by_clone_newpid)
		return;
	pids[0] = variant->make(make_grandchild, pids);
	ASSERT_LT(0, pids[0]);
	ASSERT_EQ(0, ended(pids[0]));
	expect_event(_metadata, self->trid, pids[0], 10);
	for (int i = 0; i < EVENTS; i++)
		expect_event(_metadata, self->trid, pids[1], 20 + i);
	expect_event(_metadata, self->trid, pids[0], 11);
	expect_no_event(_metadata, self->trid);
	EXPECT_EQ(2 + EVENTS, generated_for(self->trid));
	EXPECT_EQ(1, processes_of(self->trid));
}

/*
 * Runs in a traced process. The controller is a different process, and sees ids of its own
 * namespace.
 */
static int record_and_create_a_child(void *arg, const struct talk *talk)
{
	pid_t (*make)(family_fn fn, void *arg) = *(void **)arg;
	int number = 10;
	pid_t pid;

	if (hear(talk))
		return 1;
	record_plain(1);
	pid = make(record_some, &number);
	if (pid < 0 || ended(pid))
		return 2;
	record_plain(2);
	say(talk, pid);
	return 0;
}

TEST_F(birth, child_of_another_process_is_traced)
{
	void *make = variant->make;
	struct child child;
	trace_id_t trid;
	pid_t pid;

	/* Otherwise the stream of the fixture would also trace the child. */
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	ASSERT_EQ(0, child_start(&child, record_and_create_a_child, &make));
	ASSERT_EQ(0, start_family_stream(child.pid, &trid));
	say(&child.talk, 0);
	pid = hear(&child.talk);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, child_wait(&child));
	expect_event(_metadata, trid, child.pid, 1);
	for (int i = 0; i < EVENTS; i++)
		expect_event(_metadata, trid, pid, 10 + i);
	expect_event(_metadata, trid, child.pid, 2);
	expect_no_event(_metadata, trid);
	EXPECT_EQ(2 + EVENTS, generated_for(trid));
	EXPECT_EQ(0, processes_of(trid));
	ASSERT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */

FIXTURE(inherit)
{
	trace_id_t trid;
};

FIXTURE_SETUP(inherit)
{
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
	ASSERT_EQ(0, adopt_orphans());
}

FIXTURE_TEARDOWN(inherit)
{
	posix_trace_shutdown(self->trid);
}

#define DEPTH	100

struct chain {
	bool waits;		/* the process waits for its child before it ends */
	pid_t pids[DEPTH];
};

static void go_on(struct chain *chain, int depth)
{
	pid_t pid;

	for (; depth < DEPTH; depth++) {
		pid = fork();
		if (pid < 0)
			_exit(1);
		if (pid > 0)
			_exit(chain->waits ? ended(pid) : 0);
		chain->pids[depth] = getpid();
		record_plain(depth);
	}
	_exit(0);
}

static void check_chain(struct __test_metadata *_metadata, trace_id_t trid, bool waits)
{
	struct chain *chain = share(sizeof(*chain));
	pid_t pid;

	ASSERT_NE(NULL, chain);
	chain->waits = waits;
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0)
		go_on(chain, 0);
	ASSERT_EQ(0, all_ended());
	for (int i = 0; i < DEPTH; i++)
		expect_event(_metadata, trid, chain->pids[i], i);
	expect_no_event(_metadata, trid);
	EXPECT_EQ(DEPTH, generated_for(trid));
	EXPECT_EQ(1, processes_of(trid));
}

TEST_F(inherit, hundred_generations_that_wait_for_their_children)
{
	check_chain(_metadata, self->trid, true);
}

TEST_F(inherit, hundred_generations_that_end_before_their_children)
{
	check_chain(_metadata, self->trid, false);
}

/* Returns how many children can run at the same time on this machine. */
static int fitting_children(int wanted)
{
	struct sysinfo info;
	unsigned long fitting;

	/* A child takes about 200 KiB of memory, and twice as much on a debug kernel. */
	if (sysinfo(&info))
		return 0;
	fitting = info.freeram * info.mem_unit / (600 << 10);
	return fitting < (unsigned long)wanted ? (int)fitting : wanted;
}

struct crowd {
	int total;
	int events;
	pid_t *pids;		/* shared */
};

static int record_at_the_start(const struct crowd *crowd, int index, const int start[2])
{
	char c;

	close(start[1]);
	/* Closing the pipe wakes up all children together. */
	if (read(start[0], &c, 1))
		return 1;
	for (int i = 0; i < crowd->events; i++)
		record_plain(index * crowd->events + i);
	return 0;
}

static void run_batch(struct __test_metadata *_metadata, struct crowd *crowd, int first, int count)
{
	int start[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(start));
	for (int i = first; i < first + count; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			_exit(record_at_the_start(crowd, i, start));
		crowd->pids[i] = pid;
	}
	close(start[0]);
	close(start[1]);
	ASSERT_EQ(0, all_ended());
}

static void run_crowd(struct __test_metadata *_metadata, struct crowd *crowd)
{
	int batch = fitting_children(crowd->total), first;

	crowd->pids = share(crowd->total * sizeof(*crowd->pids));
	ASSERT_NE(NULL, crowd->pids);
	ASSERT_LT(0, batch);
	for (first = 0; first < crowd->total; first += batch)
		run_batch(_metadata, crowd, first,
			  crowd->total - first < batch ? crowd->total - first : batch);
}

TEST_F(inherit, a_thousand_children_record_at_the_same_time)
{
	struct crowd crowd = { .total = rounds(1000), .events = 3 };
	int total = crowd.total * crowd.events;
	char *seen = calloc(total, 1);
	struct event event;

	ASSERT_NE(NULL, seen);
	run_crowd(_metadata, &crowd);
	EXPECT_EQ(total, generated_for(self->trid));
	for (int i = 0; i < total; i++) {
		int number;

		ASSERT_EQ(1, take_user(self->trid, &event));
		number = event_number(&event);
		ASSERT_LE(0, number);
		ASSERT_GT(total, number);
		ASSERT_EQ(0, seen[number]++);
		ASSERT_EQ(crowd.pids[number / crowd.events], event.info.posix_pid);
		/* The events of one process are in order. */
		ASSERT_TRUE(number % crowd.events == 0 || seen[number - 1]);
	}
	expect_no_event(_metadata, self->trid);
	EXPECT_EQ(1, processes_of(self->trid));
}

/* Records more events than the stream holds. Every event is counted. */
static void check_small_stream(struct __test_metadata *_metadata, int policy)
{
	struct crowd crowd = { .total = rounds(200), .events = 4000 / rounds(200) };
	struct posixtrace_stats_info stats;
	unsigned long long taken = 0;
	struct event event;
	trace_id_t trid;

	ASSERT_EQ(0, new_family_stream(0, POSIX_TRACE_INHERITED, 32 << 10, policy, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	run_crowd(_metadata, &crowd);
	EXPECT_EQ(crowd.total * crowd.events, generated_for(trid));
	while (take_user(trid, &event) == 1)
		taken++;
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(taken, stats.read);
	EXPECT_EQ(stats.recorded, stats.read + stats.overwritten + stats.skipped);
	EXPECT_LT(0, stats.dropped + stats.overwritten);
	EXPECT_EQ(0, stats.damaged);
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_F(inherit, dropped_events_are_counted)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	check_small_stream(_metadata, POSIX_TRACE_UNTIL_FULL);
}

TEST_F(inherit, overwritten_events_are_counted)
{
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	check_small_stream(_metadata, POSIX_TRACE_LOOP);
}

static int record_one(void *arg)
{
	record_plain(*(int *)arg);
	return 0;
}

static int record_and_say(void *arg, const struct talk *talk)
{
	record_plain(*(int *)arg);
	say(talk, 0);
	hear(talk);
	return 0;
}

TEST_F(inherit, events_of_a_child_outlive_it)
{
	int count = rounds(300);
	struct child child;

	for (int i = 0; i < count; i++) {
		if (i % 2) {
			pid_t pid = by_fork(record_one, &i);

			ASSERT_LT(0, pid);
			ASSERT_EQ(0, ended(pid));
			expect_event(_metadata, self->trid, pid, i);
		} else {
			ASSERT_EQ(0, child_start(&child, record_and_say, &i));
			ASSERT_EQ(0, hear(&child.talk));
			child_kill(&child);
			expect_event(_metadata, self->trid, child.pid, i);
		}
	}
	expect_no_event(_metadata, self->trid);
	EXPECT_EQ(count, generated_for(self->trid));
}

/* ------------------------------------------------------------------ */
/* Several streams							*/

TEST_F(inherit, later_streams_do_not_trace_the_child)
{
	struct talk_arg { int number; } arg = { 1 };
	trace_id_t later;
	struct child child;

	ASSERT_EQ(0, child_start(&child, record_and_say, &arg));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, start_family_stream(0, &later));
	EXPECT_EQ(1, processes_of(later));
	EXPECT_EQ(2, processes_of(self->trid));
	EXPECT_EQ(0, child_wait(&child));
	record_plain(2);
	expect_event(_metadata, later, getpid(), 2);
	expect_no_event(_metadata, later);
	expect_event(_metadata, self->trid, child.pid, 1);
	expect_event(_metadata, self->trid, getpid(), 2);
	ASSERT_EQ(0, posix_trace_shutdown(later));
}

static int trace_itself(void *arg)
{
	struct event event;
	trace_id_t trid;

	(void)arg;
	if (start_family_stream(0, &trid))
		return 1;
	record_plain(10);
	if (take_user(trid, &event) != 1 || event_number(&event) != 10 ||
	    event.info.posix_pid != getpid() || take_user(trid, &event))
		return 2;
	if (generated_for(trid) != 1 || processes_of(trid) != 1)
		return 3;
	if (posix_trace_shutdown(trid))
		return 4;
	record_plain(11);
	return 0;
}

TEST_F(inherit, child_can_also_trace_itself)
{
	pid_t pid;

	record_plain(1);
	pid = by_fork(trace_itself, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	record_plain(2);
	expect_event(_metadata, self->trid, getpid(), 1);
	expect_event(_metadata, self->trid, pid, 10);
	expect_event(_metadata, self->trid, pid, 11);
	expect_event(_metadata, self->trid, getpid(), 2);
	expect_no_event(_metadata, self->trid);
}

#define SLOTS	31

TEST_F(inherit, thirty_two_streams_are_inherited)
{
	trace_id_t trids[SLOTS] = { self->trid }, surplus;
	int number = 10;
	pid_t pid;

	/* Half of the streams are not inherited. */
	for (int i = 1; i < SLOTS; i++) {
		ASSERT_EQ(0, new_family_stream(0, i % 2 ? POSIX_TRACE_CLOSE_FOR_CHILD :
					       POSIX_TRACE_INHERITED, 32 << 10,
					       POSIX_TRACE_LOOP, &trids[i]));
		ASSERT_EQ(0, posix_trace_start(trids[i]));
	}
	ASSERT_EQ(EAGAIN, start_family_stream(0, &surplus));
	record_plain(1);
	pid = by_fork(record_some, &number);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	for (int i = 0; i < SLOTS; i++) {
		expect_event(_metadata, trids[i], getpid(), 1);
		for (int j = 0; i % 2 == 0 && j < EVENTS; j++)
			expect_event(_metadata, trids[i], pid, number + j);
		expect_no_event(_metadata, trids[i]);
		EXPECT_EQ(1, processes_of(trids[i]));
	}
	for (int i = 1; i < SLOTS; i++)
		ASSERT_EQ(0, posix_trace_shutdown(trids[i]));
}

/* Runs in a child: expects that it can create *arg streams, and no more. */
static int fill_slots(void *arg)
{
	trace_id_t trids[SLOTS], surplus;
	struct event event;

	for (int i = 0; i < *(int *)arg; i++) {
		if (new_family_stream(0, POSIX_TRACE_CLOSE_FOR_CHILD, 32 << 10,
				      POSIX_TRACE_LOOP, &trids[i]) ||
		    posix_trace_start(trids[i]))
			return 1;
	}
	if (start_family_stream(0, &surplus) != EAGAIN)
		return 2;
	record_plain(10);
	for (int i = 0; i < *(int *)arg; i++) {
		if (take_user(trids[i], &event) != 1 || event_number(&event) != 10 ||
		    take_user(trids[i], &event))
			return 3;
	}
	return 0;
}

TEST_F(inherit, child_has_its_own_slots)
{
	int free_slots = SLOTS - 2;
	trace_id_t second;
	pid_t pid;

	ASSERT_EQ(0, start_family_stream(0, &second));
	pid = by_fork(fill_slots, &free_slots);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	record_plain(11);
	expect_event(_metadata, second, pid, 10);
	expect_event(_metadata, second, getpid(), 11);
	expect_event(_metadata, self->trid, pid, 10);
	expect_event(_metadata, self->trid, getpid(), 11);
	expect_no_event(_metadata, self->trid);
	ASSERT_EQ(0, posix_trace_shutdown(second));
}

TEST_HARNESS_MAIN
