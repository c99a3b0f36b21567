// SPDX-License-Identifier: GPL-2.0
/*
 * A seccomp filter of a process refuses commands of the module with any error. The process must
 * record no events and leak no resources, however often it retries.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/ptrace.h>
#include <ucontext.h>

#include "no_door.h"
#include "pxt_test.h"
#include "foreign.h"
#include "reading.h"
#include "seccomp.h"
#include "syscalls.h"

#define EVENTS	1000

/*
 * Minimum time in milliseconds between two attempts to attach, and the maximum number of system
 * calls per attempt.
 */
#define PAUSE			100
#define CALLS_OF_ATTEMPT	64

/* These include 0, and errors that the library interprets as answers of the module. */
static const int errors[] = {
	0, EPERM, ESRCH, EINTR, EIO, ENXIO, EBADF, EAGAIN, ENOMEM, EACCES, EFAULT, EBUSY, ENODEV,
	EINVAL, ENFILE, EMFILE, ENOTTY, ENOSPC, EPROTO, ENOTSUP, ESHUTDOWN, EALREADY,
	ESTALE, EUSERS, ETIMEDOUT,
};

FIXTURE(refused)
{
	int unused;
};

FIXTURE_VARIANT(refused)
{
	struct refusal refusal;
	bool attached;		/* the process attaches before the filter is installed */
	bool creates;		/* a stream can be created in spite of the filter */
};

FIXTURE_VARIANT_ADD(refused, attach) {
	.refusal = { .commands = { POSIXTRACE_IOC_ATTACH } }, .creates = true,
};

FIXTURE_VARIANT_ADD(refused, map) {
	.refusal = { .commands = { POSIXTRACE_IOC_CHECKED } },
};

FIXTURE_VARIANT_ADD(refused, attach_and_create) {
	.refusal = { .commands = { POSIXTRACE_IOC_ATTACH, POSIXTRACE_IOC_CREATE } },
};

FIXTURE_VARIANT_ADD(refused, all) {
	.refusal = { .err = 0 },
};

FIXTURE_VARIANT_ADD(refused, record) {
	.refusal = { .commands = { POSIXTRACE_IOC_EVENT, POSIXTRACE_IOC_NEXT,
				   POSIXTRACE_IOC_SYNC, POSIXTRACE_IOC_WAKE } },
	.attached = true, .creates = true,
};

FIXTURE_VARIANT_ADD(refused, all_attached) {
	.refusal = { .err = 0 }, .attached = true,
};

FIXTURE_SETUP(refused)
{
	self->unused = 0;
}

FIXTURE_TEARDOWN(refused)
{
}

/* Counts everything that a process might leak. */
struct counts {
	int fds;
	int maps;
};

static struct counts count(void)
{
	return (struct counts){ count_device_fds(NULL), count_device_maps() };
}

/* Runs in a new process. Returns 0, or the number of the failed step. */
static int try_refused(const struct refusal *refusal, bool attached, bool creates)
{
	struct counts before, after;
	trace_event_id_t type;
	trace_id_t trid;
	int i, ret;

	if (attached)
		record_number(0);
	before = count();
	if (refuse_commands(refusal) < 0)
		return 1;
	errno = 4711;
	for (i = 0; i < EVENTS; i++)
		record_number(i);
	if (errno != 4711)
		return 2;
	/* The calls may return any result, but they must return. */
	for (i = 0; i < 3; i++) {
		ret = posix_trace_eventid_open("name", &type);
		if (!attached && !ret)
			return 3;
		ret = new_stream(getppid(), POSIX_TRACE_LOOP, &trid);
		if (!creates && !ret)
			return 4;
		if (!ret && posix_trace_shutdown(trid))
			return 5;
	}
	after = count();
	/* The library may have closed an old descriptor, but must not keep additional ones. */
	if (after.fds > before.fds)
		return 6;
	return after.maps > before.maps ? 7 : 0;
}

TEST_F(refused, leaks_nothing)
{
	int status;
	pid_t pid;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct refusal refusal = variant->refusal;

		refusal.err = errors[i];
		pid = fork();
		if (pid == 0)
			_exit(try_refused(&refusal, variant->attached, variant->creates));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status)
			TH_LOG("error %d: %d", errors[i], WEXITSTATUS(status));
	}
}

/* The library cannot even see which file its descriptor refers to. */
static int record_without_stat(int err)
{
	const struct refusal refusal = { .err = err, .stat = true };
	int before = dup(STDIN_FILENO), after;

	close(before);
	if (refuse_commands(&refusal) < 0)
		return 1;
	for (int i = 0; i < EVENTS; i++)
		record_number(i);
	after = dup(STDIN_FILENO);
	return after == before ? 0 : 2;
}

TEST(leaks_nothing_without_stat)
{
	int status;
	pid_t pid;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		pid = fork();
		if (pid == 0)
			_exit(record_without_stat(errors[i]));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status)
			TH_LOG("error %d: %d", errors[i], WEXITSTATUS(status));
	}
}

static int trapped;

/* Handles SIGSYS: makes the refused system call of the interrupted code return EPERM. */
static void answer(int signal, siginfo_t *info, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;

	(void)signal;
	(void)info;
	__atomic_fetch_add(&trapped, 1, __ATOMIC_RELAXED);
#if defined(__x86_64__)
	machine->gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
	machine->regs[0] = -EPERM;
#else
	(void)machine;
#endif
}

static int record_trapped(void)
{
	const struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO };
	const struct refusal refusal = { .trap = true };

	if (sigaction(SIGSYS, &action, NULL) || refuse_commands(&refusal) < 0)
		return 1;
	for (int i = 0; i < EVENTS; i++)
		record_number(i);
	return __atomic_load_n(&trapped, __ATOMIC_RELAXED) ? 0 : 2;
}

/* The kernel kills a process that blocks SIGSYS. */
TEST(filter_may_let_a_handler_answer)
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		_exit(record_trapped());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* ------------------------------------------------------------------ */
/* A thread that is killed while it attaches the process		*/

static const struct refusal kills = { .commands = { POSIXTRACE_IOC_ATTACH }, .kill = true };

static void *record_killed(void *unused)
{
	if (refuse_commands(&kills) < 0)
		return unused;
	record_number(1);
	return unused;
}

static int kill_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, record_killed, NULL) || pthread_join(thread, NULL);
}

/* The child shares the memory, but is not a thread of this process. */
static pid_t __attribute__((noinline)) run_child_of_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		record_killed(NULL);
		_exit(0);
	}
	return pid;
}

static int kill_child_of_vfork(void)
{
	pid_t pid = run_child_of_vfork();
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 0 : -1;
}

/* Like kill_child_of_vfork(), but the child is not reaped. */
static int kill_child_and_go_on(void)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, run_child_of_vfork(), &info, WEXITED | WNOWAIT) ||
	       info.si_code == CLD_EXITED;
}

FIXTURE(killed)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(killed)
{
	int (*kill)(void);
};

FIXTURE_VARIANT_ADD(killed, thread) { kill_thread };
FIXTURE_VARIANT_ADD(killed, child_of_vfork) { kill_child_of_vfork };
FIXTURE_VARIANT_ADD(killed, child_that_remains) { kill_child_and_go_on };

FIXTURE_SETUP(killed)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, variant->kill());
}

FIXTURE_TEARDOWN(killed)
{
	EXPECT_EQ(0, posix_trace_shutdown(self->trid));
}

TEST_F(killed, others_can_attach)
{
	trace_event_id_t id;

	EXPECT_EQ(0, posix_trace_eventid_open("killed", &id));
}

/* At first, the process records through the module. Soon it maps a gate and the stream. */
TEST_F(killed, others_record)
{
	int before = count_device_maps(), count = 0;
	struct event event;

	do {
		record_number(count);
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_EQ(count++, event_number(&event));
	} while (count_device_maps() < before + 3);
}

static int record_refused(const struct refusal *refusal)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || refuse_commands(refusal) < 0)
		return 1;
	raise(SIGSTOP);
	signpost();
	for (int i = 0; i < 100 * EVENTS; i++)
		record_number(i);
	signpost();
	return 0;
}

/* Refused commands are retried only occasionally, not for each event. */
TEST(attempts_are_rare)
{
	static const int some[] = { EBADF, EINVAL, EBUSY, ENOTTY, ENOTSUP, EPERM };
	struct syscalls calls;
	long long attempts, before;
	int status;
	pid_t pid;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		const struct refusal refusal = { .err = some[i] };

		before = coarse_now();
		pid = fork();
		if (pid == 0)
			_exit(record_refused(&refusal));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, count_syscalls(&calls, pid));
		EXPECT_EQ(0, calls.status);
		attempts = 2 + (coarse_now() - before) / PAUSE;
		EXPECT_LE(1, calls.opens);
		EXPECT_GE(attempts, calls.opens)
			TH_LOG("error %d", some[i]);
		EXPECT_GE(attempts * CALLS_OF_ATTEMPT, calls.all)
			TH_LOG("error %d", some[i]);
	}
}

TEST_HARNESS_MAIN
