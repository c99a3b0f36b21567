// SPDX-License-Identifier: GPL-2.0
/*
 * Commands through the door of the gate while the thread is disturbed: by signals, by a debugger,
 * and by other threads that fork, execute programs or unmap the gate.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "door.h"
#include "module.h"
#include "race.h"

#define THREADS	4

static unsigned long long recorded(struct stream *stream)
{
	struct posixtrace_stats stats = { .recorded = 0 };

	return command(stream->fd, POSIXTRACE_IOC_GET_STATS, &stats) ? 0 : stats.recorded;
}

/* ------------------------------------------------------------------ */
/* Signals								*/

static int signals_seen;

static void see_signal(int signal)
{
	(void)signal;
	__atomic_add_fetch(&signals_seen, 1, __ATOMIC_RELEASE);
}

struct caller {
	const struct posixtrace_gate *gate;
	struct posixtrace_event event;
	long ret;
	int end;
	unsigned long long good;
	unsigned long long bad;
};

static void *call_once(void *arg)
{
	struct caller *caller = arg;

	caller->ret = knock(caller->gate, POSIXTRACE_IOC_EVENT, &caller->event);
	return NULL;
}

/*
 * Maps memory in which a page fault waits until the test serves it. Returns the descriptor of the
 * userfaultfd, or negative errno.
 */
static int map_slow(void **memory)
{
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	*memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)*memory;
	range.range.len = 4096;
	return uffd < 0 || *memory == MAP_FAILED || ioctl(uffd, UFFDIO_API, &api) ||
	       ioctl(uffd, UFFDIO_REGISTER, &range) ? -errno : uffd;
}

TEST_F(door, signal_during_a_call_is_delivered_after_it)
{
	static char page[4096] __attribute__((__aligned__(4096))) = "slow data";
	struct caller caller = { .gate = self->target.gate };
	struct sigaction action = { .sa_handler = see_signal };
	struct uffdio_copy copy = { .src = (uintptr_t)page, .len = 4096 };
	struct record record;
	struct uffd_msg msg;
	pthread_t thread;
	char data[16];
	void *memory;
	int uffd;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	uffd = map_slow(&memory);
	ASSERT_LE(0, uffd);
	copy.dst = (uintptr_t)memory;
	caller.event = (struct posixtrace_event){
		.event_id = POSIXTRACE_ID_UNNAMED,
		.data = (uintptr_t)memory,
		.data_len = 10,
	};
	ASSERT_EQ(0, pthread_create(&thread, NULL, call_once, &caller));
	/* The call copies its data now, so it waits for the page. */
	ASSERT_EQ(sizeof(msg), read(uffd, &msg, sizeof(msg)));
	ASSERT_EQ(UFFD_EVENT_PAGEFAULT, msg.event);
	ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	EXPECT_EQ(0, LOAD(signals_seen));
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_COPY, &copy));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, caller.ret);
	EXPECT_EQ(1, LOAD(signals_seen));
	ASSERT_EQ(1, stream_take(&self->stream, &record, data, sizeof(data)));
	EXPECT_STREQ("slow data", data);
	EXPECT_EQ(0, stream_take(&self->stream, &record, NULL, 0));
	close(uffd);
}

static void *call_on(void *arg)
{
	struct caller *caller = arg;
	long ret;

	while (!LOAD(caller->end)) {
		ret = knock(caller->gate, POSIXTRACE_IOC_EVENT, &caller->event);
		if (!ret)
			caller->good++;
		else if (ret != -EINTR)
			caller->bad++;
	}
	return NULL;
}

TEST_F(door, each_call_records_once_despite_many_signals)
{
	struct caller caller = { .gate = self->target.gate };
	struct sigaction action = { .sa_handler = see_signal };
	struct race race = race_begin(2, 1000);
	pthread_t thread;
	int seen;

	caller.event.event_id = POSIXTRACE_ID_UNNAMED;
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, call_on, &caller));
	while (race_continues(&race)) {
		seen = LOAD(signals_seen);
		ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
		while (LOAD(signals_seen) == seen)
			;
	}
	__atomic_store_n(&caller.end, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, caller.bad);
	EXPECT_LT(0, caller.good);
	EXPECT_EQ(caller.good, recorded(&self->stream));
}

/* ------------------------------------------------------------------ */
/* A debugger								*/

/* Makes calls while the test single-steps this process. */
static int knock_debugged(void *arg, const struct talk *talk)
{
	struct posixtrace_event event = { .event_id = POSIXTRACE_ID_UNNAMED };
	struct target target;
	long sum = 0;

	(void)arg;
	if (target_map(&target))
		return 1;
	say(talk, 0);
	hear(talk);
	raise(SIGSTOP);
	for (int i = 0; i < 3; i++)
		sum += knock(target.gate, POSIXTRACE_IOC_EVENT, &event);
	sum += knock(target.gate, POSIXTRACE_IOC_EVENT, BAD_POINTER);
	raise(SIGSTOP);
	return sum == -EFAULT ? 0 : 2;
}

/* Single-steps a process up to its next SIGSTOP. Returns the number of steps, or -1. */
static int step_to_stop(pid_t pid)
{
	int status, steps = 0;

	while (!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SIGSTOP)
			return steps;
		if (WSTOPSIG(status) != SIGTRAP)
			return -1;
		steps++;
	}
	return -1;
}

TEST(debugger_steps_over_calls)
{
	struct record record;
	struct stream stream;
	struct child child;
	int status, events = 0, steps;

	ASSERT_EQ(0, child_start(&child, knock_debugged, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, stream_create(&stream, child.pid));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, child.pid, NULL, NULL));
	say(&child.talk, 0);
	ASSERT_EQ(child.pid, waitpid(child.pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(SIGSTOP, WSTOPSIG(status));
	steps = step_to_stop(child.pid);
	/* Each of the four calls takes several instructions. */
	EXPECT_LT(10, steps);
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, child.pid, NULL, NULL));
	EXPECT_EQ(0, child_wait(&child));
	while (stream_take(&stream, &record, NULL, 0) == 1)
		events += record.event_id == POSIXTRACE_ID_UNNAMED;
	EXPECT_EQ(3, events);
	stream_close(&stream);
}

/* ------------------------------------------------------------------ */
/* Many threads								*/

static struct {
	struct target target;
	struct caller caller[THREADS];
	pthread_t thread[THREADS];
} crowd;

static int crowd_begin(void)
{
	for (int i = 0; i < THREADS; i++) {
		crowd.caller[i] = (struct caller){ .gate = crowd.target.gate };
		crowd.caller[i].event.event_id = POSIXTRACE_ID_UNNAMED;
		if (pthread_create(&crowd.thread[i], NULL, call_on, &crowd.caller[i]))
			return -EAGAIN;
	}
	return 0;
}

/* Stops the threads. Returns the number of failed calls, or -1 if no call was made. */
static long crowd_end(unsigned long long *good)
{
	unsigned long long bad = 0;

	*good = 0;
	for (int i = 0; i < THREADS; i++)
		__atomic_store_n(&crowd.caller[i].end, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(crowd.thread[i], NULL);
		*good += crowd.caller[i].good;
		bad += crowd.caller[i].bad;
	}
	return *good ? (long)bad : -1;
}

/* Forks while the threads make calls. Each child also makes calls. */
static int calls_beside_forks(void)
{
	struct race race = race_begin(2, 50);
	unsigned long long good;
	int status, err;
	pid_t pid;

	err = crowd_begin();
	while (!err && race_continues(&race)) {
		pid = fork();
		if (!pid)
			_exit(knock(crowd.target.gate, POSIXTRACE_IOC_EVENT,
				    &crowd.caller[0].event) ? 1 : 0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			err = -ECHILD;
	}
	return err || crowd_end(&good) ? 1 : 0;
}

/* Replaces the gate with ordinary memory, then the memory with a new gate. */
static int calls_beside_munmap(void)
{
	const size_t size = sizeof(struct posixtrace_gate);
	struct race race = race_begin(2, 50);
	void *at = (void *)crowd.target.gate;
	unsigned long long good;
	struct target other;
	int err;

	close(crowd.target.fd);
	err = crowd_begin();
	while (!err && race_continues(&race)) {
		if (mmap(at, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
			return 1;
		if (knock(crowd.target.gate, POSIXTRACE_IOC_EVENT, BAD_POINTER) != NO_DOOR)
			return 2;
		/* Retry: a running call keeps the old attachment alive for a moment. */
		while ((err = target_map(&other)) == -EBUSY)
			sched_yield();
		if (!err && mremap((void *)other.gate, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
				   at) != at)
			err = -errno;
		if (!err && knock(crowd.target.gate, POSIXTRACE_IOC_EVENT, BAD_POINTER) != -EFAULT)
			return 3;
		close(other.fd);
	}
	/*
	 * Calls may fail while the address is ordinary memory, so only check that calls were made.
	 */
	return err || crowd_end(&good) < 0 ? 4 : 0;
}

static int calls_until_munmap(void)
{
	if (crowd_begin())
		return 1;
	while (!LOAD(crowd.caller[0].good) || !LOAD(crowd.caller[THREADS - 1].good))
		sched_yield();
	munmap((void *)crowd.target.gate, sizeof(struct posixtrace_gate));
	for (;;)
		pause();
}

static int calls_until_exec(void)
{
	if (crowd_begin())
		return 1;
	while (!LOAD(crowd.caller[0].good) || !LOAD(crowd.caller[THREADS - 1].good))
		sched_yield();
	execl("/bin/true", "true", NULL);
	return 2;
}

static int calls_until_the_end(void)
{
	if (crowd_begin())
		return 1;
	while (!LOAD(crowd.caller[0].good) || !LOAD(crowd.caller[THREADS - 1].good))
		sched_yield();
	_exit(0);
}

FIXTURE(crowd)
{
	int references;
};

FIXTURE_VARIANT(crowd)
{
	int (*fn)(void);
	int rounds;
	int status;
};

FIXTURE_VARIANT_ADD(crowd, forks) { calls_beside_forks, 1, 0 };
FIXTURE_VARIANT_ADD(crowd, maps) { calls_beside_munmap, 1, 0 };
FIXTURE_VARIANT_ADD(crowd, munmaps) { calls_until_munmap, 50, SIGSEGV };
FIXTURE_VARIANT_ADD(crowd, execs) { calls_until_exec, 50, 0 };
FIXTURE_VARIANT_ADD(crowd, ends) { calls_until_the_end, 50, 0 };

FIXTURE_SETUP(crowd)
{
	self->references = module_refcount();
	ASSERT_LE(0, self->references);
}

FIXTURE_TEARDOWN(crowd)
{
}

/* Attaches, and continues when it is traced. */
static int attach_and_go_on(void *arg, const struct talk *talk)
{
	int (*const *fn)(void) = arg;

	if (target_map(&crowd.target))
		return 5;
	say(talk, 0);
	hear(talk);
	return (*fn)();
}

TEST_F(crowd, calls_leave_nothing_behind)
{
	struct stream stream;
	struct child child;
	int status;

	for (int i = 0; i < variant->rounds; i++) {
		ASSERT_EQ(0, child_start(&child, attach_and_go_on, (void *)&variant->fn));
		ASSERT_EQ(0, hear(&child.talk));
		create_init(&stream.arg, child.pid);
		stream.arg.attr.inherited = POSIXTRACE_INHERITED;
		ASSERT_EQ(0, stream_open(&stream));
		ASSERT_EQ(0, stream_start(&stream));
		say(&child.talk, 0);
		status = child_wait(&child);
		ASSERT_EQ(variant->status, WIFSIGNALED(status) ? WTERMSIG(status) :
			  WEXITSTATUS(status));
		EXPECT_LT(0, recorded(&stream));
		stream_close(&stream);
	}
	/* Some references are dropped after a grace period. */
	while (module_refcount() != self->references)
		sched_yield();
}

TEST_HARNESS_MAIN
