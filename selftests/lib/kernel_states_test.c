// SPDX-License-Identifier: GPL-2.0
/*
 * The states of threads before their first events, compared with what the test made the threads do,
 * and with /proc.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "kernel_events.h"
#include "process.h"
#include "uapi.h"
#include "withlog.h"

#define CLASSES		POSIXTRACE_CLASS_SCHED
#define THREADS_MAX	4096
#define IN_CALL		(POSIXTRACE_STATE_USER | POSIXTRACE_STATE_CALL | POSIXTRACE_STATE_SAME_IDS)

/* Labels of the state of sched_switch_out. */
enum { RUNNABLE, SLEEPS, DISK, IS_STOPPED, IS_TRACED };

struct states {
	struct posixtrace_thread_state state[THREADS_MAX];
	size_t count;
};

FIXTURE(states)
{
	struct child child;
	trace_id_t trid;
	struct states *states;
};

FIXTURE_SETUP(states)
{
	self->child = (struct child){ .pid = 0 };
	self->trid = 0;
	self->states = calloc(1, sizeof(*self->states));
	ASSERT_NE(NULL, self->states);
}

FIXTURE_TEARDOWN(states)
{
	if (self->trid > 0)
		posix_trace_shutdown(self->trid);
	if (self->child.pid > 0)
		child_kill(&self->child);
	free(self->states);
}

/* Gets the states of all threads. Returns 0 or an error number. */
static int get_states(trace_id_t trid, struct states *states)
{
	unsigned long long next = 0;
	size_t count;
	int err;

	states->count = 0;
	do {
		err = posixtrace_get_states(trid, states->state + states->count,
					    THREADS_MAX - states->count, &count, &next);
		states->count += err ? 0 : count;
	} while (!err && count && states->count < THREADS_MAX);
	return err;
}

static const struct posixtrace_thread_state *find(const struct states *states, pid_t tid)
{
	for (size_t i = 0; i < states->count; i++) {
		if (states->state[i].tid == tid)
			return &states->state[i];
	}
	return NULL;
}

/*
 * Waits until a thread has left its CPU. This is needed because a stopping thread informs its
 * parent before it leaves the CPU. Returns 0 or an error number.
 */
static int wait_blocked(trace_id_t trid, struct states *states, pid_t tid,
			const struct posixtrace_thread_state **state)
{
	int err;

	do {
		err = get_states(trid, states);
		*state = find(states, tid);
		if (!err && !*state)
			err = ESRCH;
	} while (!err && !(*state)->state);
	return err;
}

static int trace(struct child *child, int (*fn)(void *arg, const struct talk *talk),
		 trace_id_t *trid)
{
	int err = child_start(child, fn, NULL);

	return err ?: kernel_stream(child->pid, CLASSES, POSIX_TRACE_LOOP, trid);
}

static unsigned long long to_ns(const struct timespec *time)
{
	return (unsigned long long)time->tv_sec * NSEC + (unsigned long long)time->tv_nsec;
}

/* Does the kernel record when threads last got a CPU (CONFIG_SCHED_INFO)? */
static bool has_times(void)
{
	return !access("/proc/self/schedstat", F_OK);
}

/* ------------------------------------------------------------------ */
/* Blocked								*/

TEST_F(states, thread_that_sleeps_is_in_its_system_call)
{
	const struct posixtrace_thread_state *state;
	unsigned long long before, after;

	ASSERT_EQ(0, trace(&self->child, child_idle, &self->trid));
	ASSERT_EQ(true, falls_asleep(&self->child.pid, NULL));
	before = now();
	ASSERT_EQ(0, get_states(self->trid, self->states));
	after = now();
	ASSERT_EQ(1, self->states->count);
	state = &self->states->state[0];
	EXPECT_EQ(self->child.pid, state->pid);
	EXPECT_EQ(self->child.pid, state->tid);
	EXPECT_EQ(getpid(), state->ppid);
	EXPECT_EQ(SLEEPS, state->state);
	EXPECT_EQ(IN_CALL, state->flags);
	EXPECT_EQ(SYS_read, state->call);
	EXPECT_EQ(syscall_of(self->child.pid), state->call);
	EXPECT_EQ(0, strcmp("read", state->call_name));
	EXPECT_LE(before, to_ns(&state->time));
	EXPECT_GE(after, to_ns(&state->time));
	/*
	 * The thread last got a CPU after its creation and before the call. Its creation time comes
	 * from a different clock, which may differ slightly.
	 */
	EXPECT_EQ(has_times(), !!to_ns(&state->since));
	if (has_times())
		EXPECT_LE(to_ns(&state->start), to_ns(&state->since) + NSEC / 100);
	EXPECT_GE(before, to_ns(&state->since));
	EXPECT_EQ(0, strcmp("kernel_states_t", state->name));
}

struct deadlock {
	pthread_mutex_t mutex[2];
	int ready;
	pid_t tid[2];
};

static struct deadlock deadlock = {
	.mutex = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER },
};

/* Each thread has one mutex. They do not sleep here, so if one sleeps, it waits for a mutex. */
static void wait_until_ready(void)
{
	while (__atomic_load_n(&deadlock.ready, __ATOMIC_ACQUIRE) < 2)
		sched_yield();
}

static void *lock_both(void *arg)
{
	const int first = arg == &deadlock.mutex[1];

	deadlock.tid[first] = gettid();
	pthread_mutex_lock(&deadlock.mutex[first]);
	__atomic_add_fetch(&deadlock.ready, 1, __ATOMIC_RELEASE);
	wait_until_ready();
	pthread_mutex_lock(&deadlock.mutex[!first]);
	return NULL;
}

/* A child function: reports the ids of two threads that wait for each other. */
static int be_deadlocked(void *arg, const struct talk *talk)
{
	pthread_t threads[2];

	(void)arg;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, lock_both, &deadlock.mutex[i]);
	wait_until_ready();
	for (int i = 0; i < 2; i++)
		say(talk, deadlock.tid[i]);
	say(talk, (long)&deadlock);
	return (int)hear(talk);
}

TEST_F(states, deadlock_shows_both_mutexes_and_their_owners)
{
	const struct posixtrace_thread_state *state;
	const struct deadlock *at;
	pid_t tid[2];

	ASSERT_EQ(0, trace(&self->child, be_deadlocked, &self->trid));
	for (int i = 0; i < 2; i++) {
		tid[i] = (pid_t)hear(&self->child.talk);
		ASSERT_EQ(true, falls_asleep(&tid[i], NULL));
	}
	at = (const struct deadlock *)hear(&self->child.talk);
	ASSERT_EQ(0, get_states(self->trid, self->states));
	EXPECT_EQ(3, self->states->count);
	for (int i = 0; i < 2; i++) {
		state = find(self->states, tid[i]);
		ASSERT_NE(NULL, state);
		EXPECT_EQ(SLEEPS, state->state);
		EXPECT_EQ(IN_CALL | POSIXTRACE_STATE_FUTEX, state->flags);
		EXPECT_EQ(SYS_futex, state->call);
		EXPECT_EQ((uintptr_t)&at->mutex[!i], state->args[0]);
		EXPECT_EQ(FUTEX_WAIT_PRIVATE, state->args[1]);
		/* The mutex is locked and has waiters. glibc stores the owner in the third word. */
		EXPECT_EQ(2, state->futex[0]);
		EXPECT_EQ(tid[!i], (pid_t)state->futex[2]);
	}
}

static void *wait_for_word(void *word)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

/* A child function: a thread waits for a futex, and the page of the futex is dropped. */
static int lose_the_page(void *arg, const struct talk *talk)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, wait_for_word, page);
	say(talk, (long)page);
	hear(talk);
	madvise(page, 4096, MADV_DONTNEED);
	say(talk, 0);
	return (int)hear(talk);
}

TEST_F(states, futex_in_a_missing_page_is_unknown)
{
	const struct posixtrace_thread_state *state;
	uintptr_t page;

	ASSERT_EQ(0, trace(&self->child, lose_the_page, &self->trid));
	page = (uintptr_t)hear(&self->child.talk);
	do {
		ASSERT_EQ(0, get_states(self->trid, self->states));
		ASSERT_LE(1, self->states->count);
		state = &self->states->state[self->states->count - 1];
	} while (state->tid == self->child.pid || !(state->flags & POSIXTRACE_STATE_FUTEX));
	EXPECT_EQ(page, state->args[0]);
	say(&self->child.talk, 0);
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, get_states(self->trid, self->states));
	ASSERT_EQ(2, self->states->count);
	state = &self->states->state[1];
	EXPECT_EQ(SYS_futex, state->call);
	EXPECT_EQ(page, state->args[0]);
	EXPECT_EQ(IN_CALL, state->flags);
	EXPECT_EQ(0, state->futex[0]);
}

/* A child function: is stuck in vfork() until the parent writes to the pipe. */
static int be_in_vfork(void *arg, const struct talk *talk)
{
	long value;
	pid_t pid;

	(void)arg;
	say(talk, 0);
	pid = vfork();
	if (!pid) {
		if (read(talk->in, &value, sizeof(value)) < 0)
			_exit(1);
		_exit(0);
	}
	return waitpid(pid, NULL, 0) != pid;
}

TEST_F(states, parent_of_a_vfork_waits_uninterruptibly)
{
	const struct posixtrace_thread_state *state;

	ASSERT_EQ(0, trace(&self->child, be_in_vfork, &self->trid));
	ASSERT_EQ(0, hear(&self->child.talk));
	do {
		ASSERT_EQ(0, get_states(self->trid, self->states));
		state = find(self->states, self->child.pid);
		ASSERT_NE(NULL, state);
	} while (state->state != DISK);
	EXPECT_EQ(IN_CALL, state->flags);
	EXPECT_EQ(thread_state(self->child.pid), 'D');
	say(&self->child.talk, 0);
	EXPECT_EQ(0, child_wait(&self->child));
	self->child.pid = 0;
}

TEST_F(states, stopped_and_traced_threads_are_stopped)
{
	const struct posixtrace_thread_state *state;
	int status;

	ASSERT_EQ(0, trace(&self->child, child_idle, &self->trid));
	ASSERT_EQ(0, kill(self->child.pid, SIGSTOP));
	ASSERT_EQ(self->child.pid, waitpid(self->child.pid, &status, WUNTRACED));
	ASSERT_EQ(0, wait_blocked(self->trid, self->states, self->child.pid, &state));
	EXPECT_EQ(IS_STOPPED, state->state);
	ASSERT_EQ(0, kill(self->child.pid, SIGCONT));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, self->child.pid, 0, 0));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, self->child.pid, 0, 0));
	ASSERT_EQ(self->child.pid, waitpid(self->child.pid, &status, 0));
	ASSERT_EQ(0, wait_blocked(self->trid, self->states, self->child.pid, &state));
	EXPECT_EQ(IS_TRACED, state->state);
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, self->child.pid, 0, 0));
}

/* ------------------------------------------------------------------ */
/* Not blocked								*/

static void *spin(void *arg)
{
	(void)arg;
	run_on(0);
	for (;;)
		__asm__ __volatile__("");
	return NULL;
}

/* A child function: two threads share a CPU. */
static int compete(void *arg, const struct talk *talk)
{
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, spin, NULL);
	say(talk, 0);
	spin(NULL);
	return 0;
}

TEST_F(states, of_two_threads_on_a_cpu_one_is_runnable)
{
	unsigned int running = 0, runnable = 0;
	const struct posixtrace_thread_state *state;

	run_on(1);
	ASSERT_EQ(0, trace(&self->child, compete, &self->trid));
	ASSERT_EQ(0, hear(&self->child.talk));
	while (!running || !runnable) {
		ASSERT_EQ(0, get_states(self->trid, self->states));
		for (size_t i = 0; i < self->states->count; i++) {
			state = &self->states->state[i];
			/* Until the thread has moved to that CPU, it may also be blocked. */
			if (state->state)
				continue;
			EXPECT_EQ(0, state->flags & ~(POSIXTRACE_STATE_RUNNING |
						      POSIXTRACE_STATE_SINCE));
			if (has_times() && !(state->flags & POSIXTRACE_STATE_SINCE))
				continue;
			EXPECT_LE(to_ns(&state->since), to_ns(&state->time));
			if (state->flags & POSIXTRACE_STATE_RUNNING)
				running++;
			else
				runnable++;
		}
	}
}

/* ------------------------------------------------------------------ */
/* Which threads							*/

#define MANY	600

static void *wait_at_barrier(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

/* A child function: has many threads until the parent says so. */
static int have_many_threads(void *arg, const struct talk *talk)
{
	static pthread_t threads[MANY];
	static pthread_barrier_t barrier;

	(void)arg;
	pthread_barrier_init(&barrier, NULL, MANY + 1);
	for (int i = 0; i < MANY; i++)
		pthread_create(&threads[i], NULL, wait_at_barrier, &barrier);
	say(talk, 0);
	hear(talk);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	say(talk, 0);
	return (int)hear(talk);
}

TEST_F(states, each_of_many_threads_is_reported_once)
{
	pid_t last = 0;

	ASSERT_EQ(0, trace(&self->child, have_many_threads, &self->trid));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, get_states(self->trid, self->states));
	EXPECT_EQ(MANY + 1, self->states->count);
	for (size_t i = 0; i < self->states->count; i++) {
		EXPECT_EQ(self->child.pid, self->states->state[i].pid);
		EXPECT_LT(last, self->states->state[i].tid);
		last = self->states->state[i].tid;
	}
	say(&self->child.talk, 0);
	ASSERT_EQ(0, hear(&self->child.talk));
	/* The kernel may still be removing the last thread. */
	do {
		ASSERT_EQ(0, get_states(self->trid, self->states));
	} while (self->states->count != 1);
}

static void *outlive(void *talk)
{
	say(talk, gettid());
	hear(talk);
	_exit(0);
}

/* A child function: the main thread exits, the other one lives. */
static int leave_main_thread(void *arg, const struct talk *talk)
{
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, outlive, (void *)talk);
	pthread_exit(NULL);
}

TEST_F(states, thread_that_has_exited_has_no_state)
{
	pid_t tid;

	ASSERT_EQ(0, trace(&self->child, leave_main_thread, &self->trid));
	tid = (pid_t)hear(&self->child.talk);
	while (!is_zombie(self->child.pid))
		sched_yield();
	ASSERT_EQ(0, get_states(self->trid, self->states));
	ASSERT_EQ(1, self->states->count);
	EXPECT_EQ(tid, self->states->state[0].tid);
}

TEST_F(states, stream_without_kernel_events_has_no_states)
{
	struct posixtrace_thread_state state;
	unsigned long long next = 0;
	size_t count;

	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	EXPECT_EQ(ENOTSUP, posixtrace_get_states(self->trid, &state, 1, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_states(self->trid, &state, 0, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_states(self->trid, NULL, 1, &count, &next));
	EXPECT_EQ(EINVAL, posixtrace_get_states(-1, &state, 1, &count, &next));
}

TEST_F(states, wrong_arguments_are_refused)
{
	struct posixtrace_state state;
	struct posixtrace_states arg = { .states = (uintptr_t)&state, .count = 1 };
	int fd;

	ASSERT_EQ(0, trace(&self->child, child_idle, &self->trid));
	fd = posixtrace_fd(self->trid);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, command(fd, POSIXTRACE_IOC_STATES, &arg));
	EXPECT_EQ(1, arg.count);
	EXPECT_EQ(self->child.pid, state.tid);
	arg = (struct posixtrace_states){ .states = (uintptr_t)&state };
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_STATES, &arg));
	arg = (struct posixtrace_states){ .states = (uintptr_t)&state, .count = 1, .next = -1 };
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_STATES, &arg));
	arg = (struct posixtrace_states){ .states = 1, .count = 1 };
	EXPECT_EQ(-EFAULT, command(fd, POSIXTRACE_IOC_STATES, &arg));
	EXPECT_EQ(-EFAULT, command(fd, POSIXTRACE_IOC_STATES, (void *)1));
	/* Start after the largest possible id. */
	arg = (struct posixtrace_states){
		.states = (uintptr_t)&state, .count = 1, .next = INT_MAX,
	};
	EXPECT_EQ(0, command(fd, POSIXTRACE_IOC_STATES, &arg));
	EXPECT_EQ(0, arg.count);
	EXPECT_EQ(-1, arg.next);
}

/* ------------------------------------------------------------------ */
/* Logs									*/

static int read_log_states(int fd, struct states *states)
{
	trace_id_t log;
	int err;

	if (lseek(fd, 0, SEEK_SET))
		return errno;
	err = posix_trace_open(fd, &log);
	if (err)
		return err;
	err = get_states(log, states);
	return err ?: posix_trace_close(log);
}

/* Waits until the log has that many states. Returns 0 or an error number. */
static int wait_states(int fd, struct states *states, size_t count)
{
	int err;

	do {
		err = read_log_states(fd, states);
	} while (!err && states->count < count);
	return err;
}

TEST_F(states, log_has_the_states_of_each_start)
{
	const struct posixtrace_thread_state *state;
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, child_start(&self->child, child_idle, NULL));
	ASSERT_EQ(true, falls_asleep(&self->child.pid, NULL));
	ASSERT_EQ(0, kernel_withlog(self->child.pid, CLASSES, 1 << 20, POSIX_TRACE_APPEND, fd,
				    &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	/* The states are written to the log without a flush. */
	ASSERT_EQ(0, wait_states(fd, self->states, 1));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, wait_states(fd, self->states, 2));
	ASSERT_EQ(0, posix_trace_shutdown(self->trid));
	self->trid = 0;
	ASSERT_EQ(0, read_log_states(fd, self->states));
	ASSERT_EQ(2, self->states->count);
	for (int i = 0; i < 2; i++) {
		state = &self->states->state[i];
		EXPECT_EQ(self->child.pid, state->tid);
		EXPECT_EQ(SLEEPS, state->state);
		EXPECT_EQ(SYS_read, state->call);
	}
	EXPECT_LT(to_ns(&self->states->state[0].time), to_ns(&self->states->state[1].time));
	close(fd);
}

TEST_F(states, loop_log_has_them_after_it_was_cleared)
{
	int fd = log_tmpfile();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, child_start(&self->child, child_idle, NULL));
	ASSERT_EQ(true, falls_asleep(&self->child.pid, NULL));
	ASSERT_EQ(0, kernel_withlog(self->child.pid, CLASSES, 1 << 20, POSIX_TRACE_LOOP, fd,
				    &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
	ASSERT_EQ(0, wait_states(fd, self->states, 1));
	ASSERT_EQ(0, posix_trace_clear(self->trid));
	ASSERT_EQ(0, withlog_flush(self->trid));
	ASSERT_EQ(0, read_log_states(fd, self->states));
	ASSERT_EQ(1, self->states->count);
	EXPECT_EQ(SYS_read, self->states->state[0].call);
	close(fd);
}

TEST_HARNESS_MAIN
