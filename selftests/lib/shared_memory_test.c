// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that share their memory but are not threads of one process, as between clone(CLONE_VM)
 * and exec(). The module refuses SYNC and records. The library remembers this, so each event costs
 * a single command. The clock that the library reads stands still until a test advances it.
 */
#define _GNU_SOURCE
#include <posixtrace.h>
#include <pthread.h>

#include "pxt_test.h"
#include "commands.h"
#include "family.h"

#define EVENTS	100

static long coarse_ms = 1000;

/* Replaces the function of the C library, which our library calls. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (clock != CLOCK_MONOTONIC_COARSE)
		return syscall(SYS_clock_gettime, clock, time);
	time->tv_sec = coarse_ms / 1000;
	time->tv_nsec = coarse_ms % 1000 * 1000000;
	return 0;
}

static void tick(void)
{
	coarse_ms++;
}

/* ------------------------------------------------------------------ */
/* The other process							*/

/*
 * The other process. Both share errno, so this process must not call functions that could fail at
 * the same time.
 */
struct other {
	pid_t pid;
	int wanted;		/* number of events that the process must record */
	int recorded;
	int first;		/* number of its first event */
};

static int record_when_wanted(void *arg)
{
	struct other *other = arg;

	for (;;) {
		while (__atomic_load_n(&other->wanted, __ATOMIC_ACQUIRE) == other->recorded)
			sched_yield();
		record_plain(other->first + other->recorded);
		__atomic_store_n(&other->recorded, other->recorded + 1, __ATOMIC_RELEASE);
	}
	return 0;
}

static void let_record(struct other *other)
{
	__atomic_store_n(&other->wanted, other->recorded + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&other->recorded, __ATOMIC_ACQUIRE) != other->wanted)
		sched_yield();
}

static int other_end(struct other *other)
{
	if (kill(other->pid, SIGKILL) || ended(other->pid) != -SIGKILL)
		return -1;
	other->pid = 0;
	return 0;
}

FIXTURE(sharing)
{
	trace_id_t trid;
	struct other other;
};

FIXTURE_SETUP(sharing)
{
	self->other = (struct other){ .first = 1000 };
	if (PXT_TSAN)
		PXT_SKIP_IN_SETUP("ThreadSanitizer does not support shared memory");
	ASSERT_EQ(0, start_family_stream(0, &self->trid));
	record_plain(0);
	self->other.pid = by_clone_vm(record_when_wanted, &self->other);
	ASSERT_LT(0, self->other.pid);
	commands = (struct commands){ 0 };
}

FIXTURE_TEARDOWN(sharing)
{
	if (self->other.pid > 0)
		EXPECT_EQ(0, other_end(&self->other));
	posix_trace_shutdown(self->trid);
}

/* Expects that the next user event is @number of process @pid. */
static void expect_event(struct __test_metadata *_metadata, trace_id_t trid, pid_t pid, int number)
{
	struct event event;

	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(pid, event.info.posix_pid);
	EXPECT_EQ(number, event_number(&event));
}

static void expect_commands(struct __test_metadata *_metadata, int syncs, int events)
{
	EXPECT_EQ(syncs, commands.syncs);
	EXPECT_EQ(events, commands.events);
	commands = (struct commands){ 0 };
}

TEST_F(sharing, refusal_is_remembered)
{
	for (int i = 0; i < EVENTS; i++)
		record_plain(i);
	expect_commands(_metadata, 1, EVENTS);
	expect_event(_metadata, self->trid, getpid(), 0);
	for (int i = 0; i < EVENTS; i++)
		expect_event(_metadata, self->trid, getpid(), i);
	EXPECT_EQ(1 + EVENTS, generated_for(self->trid));
}

TEST_F(sharing, next_tick_asks_again)
{
	for (int i = 0; i < EVENTS; i++) {
		record_plain(i);
		record_plain(i);
		expect_commands(_metadata, 1, 2);
		tick();
	}
	EXPECT_EQ(1 + 2 * EVENTS, generated_for(self->trid));
}

TEST_F(sharing, change_of_the_gate_asks_again)
{
	trace_id_t later;

	record_plain(1);
	record_plain(2);
	expect_commands(_metadata, 1, 2);
	ASSERT_EQ(0, start_family_stream(0, &later));
	record_plain(3);
	record_plain(4);
	expect_commands(_metadata, 1, 2);
	for (int i = 0; i <= 4; i++)
		expect_event(_metadata, self->trid, getpid(), i);
	expect_event(_metadata, later, getpid(), 3);
	expect_event(_metadata, later, getpid(), 4);
	EXPECT_EQ(0, posix_trace_shutdown(later));
}

TEST_F(sharing, refusal_holds_for_both_processes)
{
	for (int i = 0; i < EVENTS; i++) {
		record_plain(i);
		let_record(&self->other);
	}
	expect_commands(_metadata, 1, 2 * EVENTS);
	expect_event(_metadata, self->trid, getpid(), 0);
	for (int i = 0; i < EVENTS; i++) {
		expect_event(_metadata, self->trid, getpid(), i);
		expect_event(_metadata, self->trid, self->other.pid, self->other.first + i);
	}
	EXPECT_EQ(1 + 2 * EVENTS, generated_for(self->trid));
}

/* No event is lost before the next tick of the clock. After that, events do not need the module. */
TEST_F(sharing, refusal_ends_soon_after_the_sharing)
{
	struct posixtrace_stats_info stats;
	int number = 1;

	record_plain(number++);
	expect_commands(_metadata, 1, 1);
	ASSERT_EQ(0, other_end(&self->other));
	record_plain(number++);
	expect_commands(_metadata, 0, 1);
	tick();
	for (int i = 0; i < EVENTS; i++)
		record_plain(number++);
	expect_commands(_metadata, 1, 0);
	for (int i = 0; i < number; i++)
		expect_event(_metadata, self->trid, getpid(), i);
	ASSERT_EQ(0, posixtrace_get_stats(self->trid, &stats));
	EXPECT_EQ(number, stats.recorded);
	EXPECT_EQ(0, stats.dropped);
}

/* Run by a process with separate memory. */
static int record_alone(void *arg)
{
	(void)arg;
	commands = (struct commands){ 0 };
	for (int i = 0; i < EVENTS; i++)
		record_plain(i);
	if (commands.syncs != 1)
		return 1;
	return commands.events ? 2 : 0;
}

TEST_F(sharing, child_of_fork_is_not_refused)
{
	pid_t pid;

	record_plain(1);
	expect_commands(_metadata, 1, 1);
	pid = by_fork(record_alone, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	expect_event(_metadata, self->trid, getpid(), 0);
	expect_event(_metadata, self->trid, getpid(), 1);
	for (int i = 0; i < EVENTS; i++)
		expect_event(_metadata, self->trid, pid, i);
}

/* A child of vfork() executes a program or ends before its parent resumes. */
static int record_two(void *arg)
{
	(void)arg;
	record_plain(10);
	record_plain(11);
	return 0;
}

TEST_F(sharing, parent_keeps_recording_after_vfork)
{
	pid_t pid;

	ASSERT_EQ(0, other_end(&self->other));
	tick();
	record_plain(1);
	expect_commands(_metadata, 1, 0);
	pid = by_vfork(record_two, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	expect_commands(_metadata, 1, 2);
	record_plain(2);
	expect_commands(_metadata, 0, 1);
	tick();
	record_plain(3);
	record_plain(4);
	expect_commands(_metadata, 1, 0);
	expect_event(_metadata, self->trid, getpid(), 0);
	expect_event(_metadata, self->trid, getpid(), 1);
	expect_event(_metadata, self->trid, pid, 10);
	expect_event(_metadata, self->trid, pid, 11);
	for (int i = 2; i <= 4; i++)
		expect_event(_metadata, self->trid, getpid(), i);
}

/* Closes all descriptors of the child only, which has its own table, and records. */
static int close_all_and_record(void *arg)
{
	(void)arg;
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	record_plain(10);
	return 0;
}

static int lose_the_device_and_record(void *arg)
{
	if (chroot(arg) || chdir("/"))
		return 1;
	return close_all_and_record(NULL);
}

/* The first child can still open the device, and learns that the gate belongs to its parent. */
TEST_F(sharing, parent_keeps_recording_after_children_that_closed_all)
{
	char root[] = "/tmp/shared_memory_XXXXXX";
	pid_t pid, second;

	ASSERT_EQ(0, other_end(&self->other));
	tick();
	record_plain(1);
	pid = by_vfork(close_all_and_record, NULL);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	ASSERT_NE(NULL, mkdtemp(root));
	second = by_vfork(lose_the_device_and_record, root);
	ASSERT_LT(0, second);
	ASSERT_EQ(0, ended(second));
	EXPECT_EQ(0, rmdir(root));
	record_plain(2);
	tick();
	record_plain(3);
	for (int i = 0; i <= 1; i++)
		expect_event(_metadata, self->trid, getpid(), i);
	expect_event(_metadata, self->trid, pid, 10);
	for (int i = 2; i <= 3; i++)
		expect_event(_metadata, self->trid, getpid(), i);
}

/* ------------------------------------------------------------------ */
/* Children of children							*/

/*
 * Records on another CPU. The kernel does not update the child's struct rseq, so it has the
 * parent's CPU.
 */
static int record_elsewhere(void *arg)
{
	(void)arg;
	if (run_on(1) != 1)
		return 1;
	commands = (struct commands){ 0 };
	for (int i = 0; i < EVENTS; i++)
		record_plain(i);
	return commands.events == EVENTS ? 0 : 2;
}

static int fork_and_wait(void *arg)
{
	pid_t *pid = arg;

	*pid = by_fork(record_elsewhere, NULL);
	return ended(*pid);
}

TEST_F(sharing, child_of_a_vfork_child_records_on_the_cpu_it_is_on)
{
	static struct posixtrace_batch_event events[EVENTS];
	char buffer[EVENTS * sizeof(long)];
	struct event event;
	pid_t pid, child;
	size_t count;

	ASSERT_EQ(0, other_end(&self->other));
	tick();
	ASSERT_EQ(0, run_on(0));
	record_plain(1);
	child = by_vfork(fork_and_wait, &pid);
	ASSERT_LT(0, child);
	ASSERT_EQ(0, ended(child));
	expect_event(_metadata, self->trid, getpid(), 0);
	ASSERT_EQ(1, take_user(self->trid, &event));
	ASSERT_EQ(0, posixtrace_getevents(self->trid, events, EVENTS, buffer, sizeof(buffer),
					  &count, POSIXTRACE_NOWAIT));
	ASSERT_EQ(EVENTS, count);
	for (int i = 0; i < EVENTS; i++) {
		EXPECT_EQ(pid, events[i].event.posix_pid);
		EXPECT_EQ(1, events[i].cpu);
	}
}

/* A process that shares its parent's memory, and outlives the parent. */
struct orphan {
	family_fn fn;
	pid_t parent;
	pid_t pid;
};

static int begin_when_alone(void *arg)
{
	struct orphan *orphan = arg;

	while (getppid() == orphan->parent)
		sched_yield();
	return orphan->fn(orphan);
}

static int leave_an_orphan(void *arg)
{
	struct orphan *orphan = arg;

	orphan->parent = getpid();
	record_plain(1);
	orphan->pid = by_clone_vm(begin_when_alone, orphan);
	return orphan->pid < 0;
}

/* The parent records the number 1, and the function the number 2. */
static void run_orphan(struct __test_metadata *_metadata, struct _test_data_sharing *self,
		       struct orphan *orphan, family_fn fn)
{
	pid_t pid;

	ASSERT_NE(NULL, orphan);
	ASSERT_EQ(0, other_end(&self->other));
	orphan->fn = fn;
	ASSERT_EQ(0, adopt_orphans());
	pid = by_fork(leave_an_orphan, orphan);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, ended(pid));
	ASSERT_EQ(0, ended(orphan->pid));
	expect_event(_metadata, self->trid, getpid(), 0);
	expect_event(_metadata, self->trid, orphan->parent, 1);
	expect_event(_metadata, self->trid, orphan->pid, 2);
}

static int record_new_type(void *arg)
{
	trace_event_id_t id;

	(void)arg;
	if (posix_trace_eventid_open("orphan", &id))
		return 1;
	record_as(id, 2);
	return 0;
}

TEST_F(sharing, process_that_outlives_its_parent_records_new_types)
{
	struct orphan *orphan = share(sizeof(*orphan));

	run_orphan(_metadata, self, orphan, record_new_type);
}

static void *record_three(void *arg)
{
	record_plain(3);
	return arg;
}

static int attach_and_record_in_a_thread(void *arg)
{
	pthread_t thread;

	for (int fd = 3; fd < 64; fd++)
		close(fd);
	record_plain(2);
	if (pthread_create(&thread, NULL, record_three, arg))
		return 1;
	return pthread_join(thread, NULL);
}

TEST_F(sharing, process_that_outlives_its_parent_has_its_own_id)
{
	struct orphan *orphan = share(sizeof(*orphan));

	run_orphan(_metadata, self, orphan, attach_and_record_in_a_thread);
	expect_event(_metadata, self->trid, orphan->pid, 3);
}

TEST_HARNESS_MAIN
