// SPDX-License-Identifier: GPL-2.0
/*
 * A stream belongs to the process that created it, and ends with it. The test is the traced
 * process, and watches its gate.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "pxt_test.h"
#include "idle.h"
#include "process.h"
#include "uapi.h"

FIXTURE(owner)
{
	struct target target;
};

FIXTURE_SETUP(owner)
{
	ASSERT_EQ(0, target_open(&self->target));
}

FIXTURE_TEARDOWN(owner)
{
	target_close(&self->target);
}

static unsigned int gate(struct target *target)
{
	return LOAD(target->gate->enable[POSIXTRACE_ID_UNNAMED]);
}

/* Returns true if a stream traces this process. */
static int is_traced(struct target *target)
{
	if (target_sync(target))
		return -1;
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		if (target->slots[i].heads.size)
			return 1;
	}
	return 0;
}

/* Traces process *arg, then carries out requests. */
enum { EXIT, EXEC, EXEC_WITH_FILE, FORK_AND_EXIT, FORK_CLOSE };

static int control(void *arg, const struct talk *talk)
{
	struct stream stream;
	struct child child;

	if (stream_create(&stream, *(pid_t *)arg) || stream_start(&stream))
		return 1;
	say(talk, 0);
	for (;;) {
		switch (hear(talk)) {
		case EXIT:
			return 0;
		case EXEC_WITH_FILE:
			fcntl(stream.fd, F_SETFD, 0);
			become_idle(talk);
			return 2;
		case EXEC:
			become_idle(talk);
			return 2;
		case FORK_AND_EXIT:
			/* The child keeps the descriptor and this end of the pipes. */
			if (fork() == 0)
				_exit(child_idle(NULL, talk));
			return 0;
		case FORK_CLOSE:
			if (child_start(&child, child_idle, NULL))
				return 3;
			hear(&child.talk);
			child_wait(&child);
			say(talk, 0);
			break;
		default:
			return 4;
		}
	}
}

static int control_me(struct child *child)
{
	static pid_t pid;

	pid = getpid();
	if (child_start(child, control, &pid))
		return -1;
	return hear(&child->talk);
}

TEST_F(owner, stream_ends_when_its_controller_exits)
{
	struct child child;

	ASSERT_EQ(0, control_me(&child));
	EXPECT_EQ(1, gate(&self->target));
	say(&child.talk, EXIT);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, gate(&self->target));
	EXPECT_EQ(0, is_traced(&self->target));
}

TEST_F(owner, stream_ends_when_its_controller_is_killed)
{
	struct child child;

	ASSERT_EQ(0, control_me(&child));
	EXPECT_EQ(1, gate(&self->target));
	child_kill(&child);
	EXPECT_EQ(0, gate(&self->target));
	EXPECT_EQ(0, is_traced(&self->target));
	/* This process is unaffected. */
	EXPECT_EQ(0, target_event(&self->target, POSIXTRACE_ID_UNNAMED, "x", 1));
}

TEST_F(owner, stream_ends_when_its_controller_execs)
{
	struct child child;

	ASSERT_EQ(0, control_me(&child));
	EXPECT_EQ(1, gate(&self->target));
	say(&child.talk, EXEC);
	ASSERT_EQ(IDLE, hear(&child.talk));
	EXPECT_EQ(0, gate(&self->target));
	EXPECT_EQ(0, is_traced(&self->target));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(owner, stream_ends_by_exec_although_the_descriptor_stays_open)
{
	struct child child;

	ASSERT_EQ(0, control_me(&child));
	EXPECT_EQ(1, gate(&self->target));
	say(&child.talk, EXEC_WITH_FILE);
	ASSERT_EQ(IDLE, hear(&child.talk));
	EXPECT_EQ(0, gate(&self->target));
	EXPECT_EQ(0, is_traced(&self->target));
	EXPECT_EQ(0, child_wait(&child));
}

TEST_F(owner, descriptor_in_a_child_keeps_no_stream_alive)
{
	struct child child;
	int status;

	ASSERT_EQ(0, control_me(&child));
	say(&child.talk, FORK_AND_EXIT);
	/* The child of the controller reports that it runs, and lives until the pipe is closed. */
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(child.pid, waitpid(child.pid, &status, 0));
	EXPECT_EQ(0, gate(&self->target));
	EXPECT_EQ(0, is_traced(&self->target));
	close(child.talk.in);
	close(child.talk.out);
}

TEST_F(owner, end_of_a_child_with_the_descriptor_ends_no_stream)
{
	struct child child;

	ASSERT_EQ(0, control_me(&child));
	say(&child.talk, FORK_CLOSE);
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(1, gate(&self->target));
	say(&child.talk, EXIT);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, gate(&self->target));
}

/* In one round, the copy is closed last. In the others, the original is. */
TEST_F(owner, stream_ends_with_the_last_of_its_descriptors)
{
	for (int round = 0; round < 3; round++) {
		struct stream stream;
		int first, last;

		ASSERT_EQ(0, stream_create(&stream, 0));
		ASSERT_EQ(0, stream_start(&stream));
		first = stream.fd;
		last = dup(first);
		ASSERT_LE(0, last);
		if (round) {
			first = last;
			last = stream.fd;
		}
		/* dup2() closes the descriptor that it replaces. */
		ASSERT_EQ(round == 2 ? first : 0, round == 2 ? dup2(0, first) : close(first));
		EXPECT_EQ(1, gate(&self->target));
		stream.fd = last;
		EXPECT_EQ(0, stream_stop(&stream));
		EXPECT_EQ(0, stream_start(&stream));
		EXPECT_EQ(1, gate(&self->target));
		ASSERT_EQ(0, close(last));
		EXPECT_EQ(0, gate(&self->target));
		EXPECT_EQ(0, is_traced(&self->target));
		stream.fd = -1;
		stream_close(&stream);
		if (round == 2)
			close(first);
	}
}

TEST_F(owner, copy_in_a_child_is_not_counted_among_the_descriptors)
{
	struct stream stream;
	struct child child;
	int copy;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	copy = dup(stream.fd);
	ASSERT_LE(0, copy);
	ASSERT_EQ(0, child_start(&child, child_idle, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	close(copy);
	EXPECT_EQ(1, gate(&self->target));
	stream_close(&stream);
	EXPECT_EQ(0, gate(&self->target));
	EXPECT_EQ(0, is_traced(&self->target));
	EXPECT_EQ(0, child_wait(&child));
}

/* A process that shares the table of descriptors, and so keeps the stream open. */
static int share_files(void *arg)
{
	struct talk *talk = arg;

	say(talk, 0);
	while (hear(talk) != -EPIPE)
		;
	return 0;
}

static int control_and_share(void *arg, const struct talk *talk)
{
	static char stack[16384] __attribute__((aligned(16)));
	struct stream stream;

	if (stream_create(&stream, *(pid_t *)arg) || stream_start(&stream))
		return 1;
	if (clone(share_files, stack + sizeof(stack), CLONE_FILES | SIGCHLD, (void *)talk) < 0)
		return 2;
	pause();
	return 3;
}

TEST_F(owner, stream_ends_although_another_process_shares_all_descriptors)
{
	struct child child;
	pid_t pid = getpid();
	int status;

	ASSERT_EQ(0, child_start(&child, control_and_share, &pid));
	ASSERT_EQ(0, hear(&child.talk));
	EXPECT_EQ(1, gate(&self->target));
	kill(child.pid, SIGKILL);
	ASSERT_EQ(child.pid, waitpid(child.pid, &status, 0));
	EXPECT_EQ(0, gate(&self->target));
	EXPECT_EQ(0, is_traced(&self->target));
	close(child.talk.in);
	close(child.talk.out);
}

static void *unshare_and_end(void *failed)
{
	return unshare(CLONE_FILES) ? failed : NULL;
}

TEST_F(owner, end_of_a_thread_with_its_own_descriptors_ends_no_stream)
{
	struct stream stream;
	pthread_t thread;
	void *failed;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, pthread_create(&thread, NULL, unshare_and_end, &stream));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	ASSERT_EQ(NULL, failed);
	EXPECT_EQ(1, gate(&self->target));
	EXPECT_EQ(0, stream_stop(&stream));
	stream_close(&stream);
}

/* The kernel copies the table of descriptors, finds that the pid is taken, and closes the copy. */
TEST_F(owner, failed_fork_ends_no_stream)
{
	pid_t taken = getpid();
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&taken,
		.set_tid_size = 1,
	};
	struct stream stream;
	long pid;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(0);
	ASSERT_EQ(-1, pid);
	ASSERT_EQ(EEXIST, errno);
	EXPECT_EQ(1, gate(&self->target));
	EXPECT_EQ(0, stream_stop(&stream));
	stream_close(&stream);
}

/* Drops privileges in one thread only: the other threads keep them. */
static void *unshare_too_much(void *failed)
{
	if (syscall(SYS_setresuid, -1, 65534, -1))
		return failed;
	/*
	 * The kernel copies the table of descriptors, refuses the other flag, and closes the copy
	 * of the table.
	 */
	return unshare(CLONE_FILES | CLONE_NEWUTS) && errno == EPERM ? NULL : failed;
}

TEST_F(owner, failed_unshare_ends_no_stream)
{
	struct stream stream;
	pthread_t thread;
	void *failed;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, pthread_create(&thread, NULL, unshare_too_much, &stream));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	ASSERT_EQ(NULL, failed);
	EXPECT_EQ(1, gate(&self->target));
	EXPECT_EQ(0, stream_stop(&stream));
	stream_close(&stream);
}

static void *close_in_table_of_its_own(void *arg)
{
	struct stream *stream = arg;

	return unshare(CLONE_FILES) || close(stream->fd) ? arg : NULL;
}

/*
 * If such a call fails, the kernel closes a copy of the table, and the module must ignore that
 * close. But here, the process itself closes its descriptor.
 */
TEST_F(owner, close_by_a_thread_with_its_own_descriptors_ends_the_stream)
{
	struct stream stream;
	pthread_t thread;
	void *failed;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, pthread_create(&thread, NULL, close_in_table_of_its_own, &stream));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	ASSERT_EQ(NULL, failed);
	EXPECT_EQ(0, gate(&self->target));
	stream_close(&stream);
}

static void *create_and_end(void *arg)
{
	struct stream *stream = arg;

	return stream_create(stream, 0) || stream_start(stream) ? arg : NULL;
}

TEST_F(owner, stream_outlives_the_thread_that_created_it)
{
	struct stream stream;
	pthread_t thread;
	void *failed;

	ASSERT_EQ(0, pthread_create(&thread, NULL, create_and_end, &stream));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	ASSERT_EQ(NULL, failed);
	EXPECT_EQ(1, gate(&self->target));
	EXPECT_EQ(0, stream_stop(&stream));
	EXPECT_EQ(0, gate(&self->target));
	stream_close(&stream);
}

/* ------------------------------------------------------------------ */
/* Commands of another process						*/

FIXTURE(foreign)
{
	struct stream stream;
};

FIXTURE_VARIANT(foreign)
{
	unsigned long cmd;
};

FIXTURE_VARIANT_ADD(foreign, START) { POSIXTRACE_IOC_START };
FIXTURE_VARIANT_ADD(foreign, STOP) { POSIXTRACE_IOC_STOP };
FIXTURE_VARIANT_ADD(foreign, SHUTDOWN) { POSIXTRACE_IOC_SHUTDOWN };
FIXTURE_VARIANT_ADD(foreign, GET_STATUS) { POSIXTRACE_IOC_GET_STATUS };
FIXTURE_VARIANT_ADD(foreign, GET_ATTR) { POSIXTRACE_IOC_GET_ATTR };
FIXTURE_VARIANT_ADD(foreign, EVENT_NAME) { POSIXTRACE_IOC_EVENT_NAME };
FIXTURE_VARIANT_ADD(foreign, EVENT_TYPES) { POSIXTRACE_IOC_EVENT_TYPES };
FIXTURE_VARIANT_ADD(foreign, EVENTID_OPEN) { POSIXTRACE_IOC_EVENTID_OPEN };
FIXTURE_VARIANT_ADD(foreign, WAIT) { POSIXTRACE_IOC_WAIT };
FIXTURE_VARIANT_ADD(foreign, RELEASE) { POSIXTRACE_IOC_RELEASE };
FIXTURE_VARIANT_ADD(foreign, SET_FILTER) { POSIXTRACE_IOC_SET_FILTER };
FIXTURE_VARIANT_ADD(foreign, GET_FILTER) { POSIXTRACE_IOC_GET_FILTER };
FIXTURE_VARIANT_ADD(foreign, CLEAR) { POSIXTRACE_IOC_CLEAR };
FIXTURE_VARIANT_ADD(foreign, GET_STATS) { POSIXTRACE_IOC_GET_STATS };
FIXTURE_VARIANT_ADD(foreign, KERNEL_STATS) { POSIXTRACE_IOC_KERNEL_STATS };
FIXTURE_VARIANT_ADD(foreign, STATES) { POSIXTRACE_IOC_STATES };
FIXTURE_VARIANT_ADD(foreign, FILES) { POSIXTRACE_IOC_FILES };
FIXTURE_VARIANT_ADD(foreign, ADD) { POSIXTRACE_IOC_ADD };
FIXTURE_VARIANT_ADD(foreign, ROTATE) { POSIXTRACE_IOC_ROTATE };
FIXTURE_VARIANT_ADD(foreign, TRIGGER) { POSIXTRACE_IOC_TRIGGER };
FIXTURE_VARIANT_ADD(foreign, TRIGGERED) { POSIXTRACE_IOC_TRIGGERED };
FIXTURE_VARIANT_ADD(foreign, CLOCK_ERROR) { POSIXTRACE_IOC_CLOCK_ERROR };
FIXTURE_VARIANT_ADD(foreign, DESCRIPTION) { POSIXTRACE_IOC_DESCRIPTION };
FIXTURE_VARIANT_ADD(foreign, DESCRIBE) { POSIXTRACE_IOC_DESCRIBE };
FIXTURE_VARIANT_ADD(foreign, DEFER) { POSIXTRACE_IOC_DEFER };
FIXTURE_VARIANT_ADD(foreign, CHECKED) { POSIXTRACE_IOC_CHECKED };
FIXTURE_VARIANT_ADD(foreign, MAP) { POSIXTRACE_IOC_MAP };

FIXTURE_SETUP(foreign)
{
	ASSERT_EQ(0, stream_create(&self->stream, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
}

FIXTURE_TEARDOWN(foreign)
{
	stream_close(&self->stream);
}

struct foreign_call {
	int fd;
	unsigned long cmd;
};

static int call_as_child(void *arg, const struct talk *talk)
{
	struct foreign_call *call = arg;
	char zeros[1024] = { 0 };
	struct posixtrace_eventid *eventid = (void *)zeros;

	(void)talk;
	if (call->cmd == POSIXTRACE_IOC_EVENTID_OPEN)
		strcpy(eventid->name, "foreign");
	else if (call->cmd == POSIXTRACE_IOC_EVENT_NAME)
		eventid->id = POSIXTRACE_ID_START;
	return -command(call->fd, call->cmd, zeros);
}

TEST_F(foreign, command_of_a_child_is_invalid)
{
	struct foreign_call call = { .fd = self->stream.fd, .cmd = variant->cmd };
	struct posixtrace_status status;
	struct child child;

	ASSERT_EQ(0, child_start(&child, call_as_child, &call));
	EXPECT_EQ(EINVAL << 8, child_wait(&child));
	ASSERT_EQ(0, stream_status(&self->stream, &status));
	EXPECT_EQ(POSIXTRACE_STATUS_RUNNING, status.flags);
}

/* ------------------------------------------------------------------ */
/* exec() and death of the traced process				*/

static int attach_and_exec(void *arg, const struct talk *talk)
{
	struct target target;

	(void)arg;
	if (target_open(&target))
		return 1;
	say(talk, 0);
	hear(talk);
	if (target_event(&target, POSIXTRACE_ID_UNNAMED, "before", 7))
		return 2;
	become_idle(talk);
	return 3;
}

TEST(traced_process_stays_traced_when_it_execs)
{
	struct record record;
	struct stream stream;
	struct child child;
	char data[8];

	ASSERT_EQ(0, child_start(&child, attach_and_exec, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, stream_create(&stream, child.pid));
	ASSERT_EQ(0, stream_start(&stream));
	say(&child.talk, 0);
	ASSERT_EQ(IDLE, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	ASSERT_EQ(1, stream_take(&stream, &record, data, sizeof(data)));
	EXPECT_STREQ("before", data);
	EXPECT_EQ(0, stream_stop(&stream));
	stream_close(&stream);
}

static int attach_and_write(void *arg, const struct talk *talk)
{
	struct target target;

	(void)arg;
	if (target_open(&target))
		return 1;
	say(talk, 0);
	for (;;) {
		if (target_event(&target, POSIXTRACE_ID_UNNAMED, "busy", 5))
			return 2;
	}
}

TEST(traced_process_can_be_killed_while_it_records)
{
	struct record record;
	struct posixtrace_wait wait = { .flags = 0 };

	for (int i = 0; i < 5; i++) {
		struct stream stream;
		struct child child;

		ASSERT_EQ(0, child_start(&child, attach_and_write, NULL));
		ASSERT_EQ(0, hear(&child.talk));
		ASSERT_EQ(0, stream_create(&stream, child.pid));
		ASSERT_EQ(0, stream_start(&stream));
		ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
		EXPECT_EQ(0, command(stream.fd, POSIXTRACE_IOC_WAIT, &wait));
		child_kill(&child);
		EXPECT_EQ(0, stream_stop(&stream));
		EXPECT_EQ(1, stream_take(&stream, &record, NULL, 0));
		stream_close(&stream);
	}
}

TEST(controller_can_be_killed_while_the_traced_process_records)
{
	struct target target;

	ASSERT_EQ(0, target_open(&target));
	for (int i = 0; i < 20; i++) {
		struct child child;

		ASSERT_EQ(0, control_me(&child));
		ASSERT_EQ(0, target_event(&target, POSIXTRACE_ID_UNNAMED, "busy", 5));
		kill(child.pid, SIGKILL);
		while (gate(&target))
			ASSERT_EQ(0, target_event(&target, POSIXTRACE_ID_UNNAMED, "busy", 5));
		child_wait(&child);
		EXPECT_EQ(0, is_traced(&target));
	}
	target_close(&target);
}

/* Two threads end at the same moment: each may believe that it is the last one. */
static int threads_at_the_line;

static void *end_together(void *arg)
{
	(void)arg;
	__atomic_fetch_add(&threads_at_the_line, 1, __ATOMIC_ACQ_REL);
	while (LOAD(threads_at_the_line) < 2)
		;
	/* Do not use pthread_exit(), which would take too long. */
	syscall(SYS_exit, 0);
	return NULL;
}

static int end_by_two_threads(void *arg, const struct talk *talk)
{
	pthread_t thread;

	(void)arg;
	say(talk, 0);
	hear(talk);
	if (pthread_create(&thread, NULL, end_together, NULL))
		return 1;
	run_on(1);
	end_together(NULL);
	return 2;
}

TEST(last_two_threads_of_a_traced_process_can_end_together)
{
	struct pollfd pollfd = { .events = POLLIN };

	for (int i = 0; i < 10; i++) {
		struct stream stream;
		struct child child;

		run_on(0);
		ASSERT_EQ(0, child_start(&child, end_by_two_threads, NULL));
		ASSERT_EQ(0, hear(&child.talk));
		ASSERT_EQ(0, stream_create(&stream, child.pid));
		say(&child.talk, 0);
		EXPECT_EQ(0, child_wait(&child));
		/* No process is traced now. */
		pollfd.fd = stream.fd;
		ASSERT_EQ(1, poll(&pollfd, 1, -1));
		EXPECT_EQ(POLLHUP, pollfd.revents);
		stream_close(&stream);
	}
}

TEST_HARNESS_MAIN
