// SPDX-License-Identifier: GPL-2.0
/*
 * exec() when memory allocation fails. A traced process that survives remains traced. The streams
 * of a controller end with the old program, not earlier.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/ptrace.h>

#include "pxt_test.h"
#include "fault_op.h"

#define ENDS_VARIABLE	"FAULT_EXEC_TEST_ENDS"

/* Exit status for an expected failure of exec(). */
#define EXEC_FAILED	40
#define EXEC_BROKEN	41

/* The new program of a process. */
static void __attribute__((constructor)) end_after_exec(void)
{
	struct target target;

	if (!getenv(ENDS_VARIABLE))
		return;
	_exit(target_open(&target) ||
	      target_event(&target, POSIXTRACE_ID_UNNAMED, "after", 6) ? EXEC_BROKEN : 0);
}

/* Calls exec() with a fault. Does not return on success. */
static int execute(struct fault *fault, int n)
{
	static char *const argv[] = { "ends", NULL };
	static char *const env[] = { ENDS_VARIABLE "=1", NULL };

	fault_arm(fault, n);
	execve("/proc/self/exe", argv, env);
	/* Accept any error. For example, if there is no memory for the arguments, it is E2BIG. */
	return fault_disarm(fault) ? EXEC_FAILED : EXEC_BROKEN;
}

struct role {
	int n;
	bool controls;
	pid_t traced;
};

static bool is_running(struct stream *stream)
{
	struct posixtrace_status status;

	return !stream_status(stream, &status) && status.flags & POSIXTRACE_STATUS_RUNNING;
}

/*
 * The main function of the process that calls exec(). The new program stops, so that its parent can
 * disarm the fault.
 */
static int play(void *arg, const struct talk *talk)
{
	struct role *role = arg;
	struct stream stream;
	struct target target;
	struct fault fault;
	int ret;

	leave_sequences();
	if (role->controls ? stream_create(&stream, role->traced) || stream_start(&stream)
			   : target_open(&target))
		return EXEC_BROKEN;
	if (fault_open(&fault) || ptrace(PTRACE_TRACEME, 0, 0, 0))
		return EXEC_BROKEN;
	say(talk, 0);
	hear(talk);
	raise(SIGSTOP);
	ret = execute(&fault, role->n);
	if (ret == EXEC_FAILED && role->controls && !is_running(&stream))
		return EXEC_BROKEN;
	if (ret == EXEC_FAILED && !role->controls &&
	    target_event(&target, POSIXTRACE_ID_UNNAMED, "before", 7))
		return EXEC_BROKEN;
	return ret;
}

/* Disarms the fault of a stopped process. Returns true if an allocation has failed. */
static bool disarm(pid_t pid)
{
	struct fault fault;
	char path[64];
	bool failed;

	snprintf(path, sizeof(path), "/proc/%d/fail-nth", pid);
	fault.fd = open(path, O_RDWR | O_CLOEXEC);
	if (fault.fd < 0)
		abort();
	failed = fault_disarm(&fault);
	close(fault.fd);
	return failed;
}

/*
 * Makes a process call exec(). Returns its wait status, and stores in @failed if a fault was
 * injected. If exec() fails after the point of no return, the kernel kills the process.
 */
static int watch(pid_t pid, bool *failed)
{
	int status;

	*failed = true;
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_CONT, pid, 0, 0) || waitpid(pid, &status, 0) != pid)
		return -1;
	if (!WIFSTOPPED(status))
		return status;
	*failed = disarm(pid);
	if (ptrace(PTRACE_DETACH, pid, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status)) ||
	    waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static bool is_well(int status, bool failed)
{
	if (!status)
		return true;
	return failed && ((WIFEXITED(status) && WEXITSTATUS(status) == EXEC_FAILED) ||
			  (WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV ||
						   WTERMSIG(status) == SIGKILL)));
}

/* Returns the number of unread user events. */
static int events_of(struct stream *stream)
{
	struct record record = { .size = 0 };
	int count = 0;

	while (stream_take(stream, &record, NULL, 0) == 1)
		count += record.event_id >= POSIXTRACE_ID_UNNAMED;
	return count;
}

FIXTURE(exec)
{
	struct target target;	/* valid in this process, if it is the traced one */
	bool skip;
};

FIXTURE_SETUP(exec)
{
	self->skip = !fault_possible();
	if (!self->skip)
		ASSERT_EQ(0, fault_setup());
	ASSERT_EQ(0, target_open(&self->target));
}

FIXTURE_TEARDOWN(exec)
{
	target_close(&self->target);
}

TEST_F(exec, of_a_traced_process_leaves_it_traced_or_unchanged)
{
	struct role role = { .n = 0 };
	struct posixtrace_stats stats;
	struct stream stream;
	struct child child;
	bool failed = true;
	int status;

	if (self->skip)
		SKIP(return, FAULT_SKIP);
	while (failed) {
		role.n = fault_after(role.n);
		ASSERT_GT(FAULT_MAX, role.n);
		ASSERT_EQ(0, child_start(&child, play, &role));
		ASSERT_EQ(0, hear(&child.talk));
		ASSERT_EQ(0, stream_create(&stream, child.pid));
		ASSERT_EQ(0, stream_start(&stream));
		say(&child.talk, 0);
		status = watch(child.pid, &failed);
		ASSERT_TRUE(is_well(status, failed)) {
			TH_LOG("failure %d: status %#x", role.n, status);
		}
		/* The process records one event after exec(), unless it was killed. */
		EXPECT_EQ(WIFEXITED(status), events_of(&stream)) {
			TH_LOG("failure %d: status %#x", role.n, status);
		}
		ASSERT_EQ(0, command(stream.fd, POSIXTRACE_IOC_GET_STATS, &stats));
		EXPECT_EQ(0, stats.processes);
		EXPECT_EQ(0, stream_stop(&stream));
		stream_close(&stream);
		close(child.talk.in);
		close(child.talk.out);
	}
	EXPECT_LT(1, role.n);
}

TEST_F(exec, of_a_controller_ends_its_stream_on_success)
{
	struct role role = { .controls = true, .traced = getpid() };
	struct child child;
	bool failed = true;
	int status;

	if (self->skip)
		SKIP(return, FAULT_SKIP);
	while (failed) {
		role.n = fault_after(role.n);
		ASSERT_GT(FAULT_MAX, role.n);
		ASSERT_EQ(0, child_start(&child, play, &role));
		ASSERT_EQ(0, hear(&child.talk));
		EXPECT_EQ(1, LOAD(self->target.gate->enable[POSIXTRACE_ID_UNNAMED]));
		say(&child.talk, 0);
		status = watch(child.pid, &failed);
		ASSERT_TRUE(is_well(status, failed)) {
			TH_LOG("failure %d: status %#x", role.n, status);
		}
		EXPECT_EQ(0, LOAD(self->target.gate->enable[POSIXTRACE_ID_UNNAMED]));
		EXPECT_EQ(0, target_streams(&self->target));
		close(child.talk.in);
		close(child.talk.out);
	}
	EXPECT_LT(1, role.n);
}

TEST_HARNESS_MAIN
