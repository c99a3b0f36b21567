// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that enter a seccomp sandbox, in which a forbidden system call kills them. Traced or
 * not, they must survive, and their events must be recorded.
 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <posixtrace.h>
#include <posixtrace/points.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "parameter.h"
#include "pxt_test.h"
#include "reading.h"
#include "seccomp.h"
#include "sequences.h"

/* More than the sub-buffers of a small stream hold. */
#define EVENTS	20000

/* In strict mode, an x86 processor must not read its counter. */
#ifdef __x86_64__
#define STRICT_FORBIDS_COUNTER	1
#else
#define STRICT_FORBIDS_COUNTER	0
#endif

POSIXTRACE_POINT(inside, (i32, number), (text, text));

static int kill_process(void)
{
	return permit_pipes_only(SECCOMP_RET_KILL_PROCESS, 0);
}

static int kill_thread(void)
{
	return permit_pipes_only(SECCOMP_RET_KILL_THREAD, SECCOMP_FILTER_FLAG_TSYNC);
}

static int refuse(void)
{
	return permit_pipes_only(SECCOMP_RET_ERRNO | EPERM, 0);
}

static int be_strict(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) ? -errno : 0;
}

/* How a child enters its sandbox. */
struct way {
	int (*enter)(void);
	bool no_sequences;
};

FIXTURE(sandbox)
{
	struct child child;
	trace_id_t trid;
	struct event event;
};

FIXTURE_VARIANT(sandbox)
{
	struct way way;
};

FIXTURE_VARIANT_ADD(sandbox, kill_process) { { kill_process, false } };
FIXTURE_VARIANT_ADD(sandbox, kill_thread) { { kill_thread, false } };
FIXTURE_VARIANT_ADD(sandbox, refuse) { { refuse, false } };
FIXTURE_VARIANT_ADD(sandbox, strict) { { be_strict, false } };
FIXTURE_VARIANT_ADD(sandbox, without_sequences) { { kill_process, true } };

FIXTURE_SETUP(sandbox)
{
	self->trid = 0;
	self->child.pid = 0;
}

FIXTURE_TEARDOWN(sandbox)
{
	if (self->trid)
		posix_trace_shutdown(self->trid);
	if (self->child.pid)
		child_kill(&self->child);
}

/* Ends the process without exit(), which may make forbidden system calls. */
static void leave(int status)
{
	syscall(SYS_exit, status);
}

/*
 * Reports that the process is in the sandbox. Then records as many events as each message asks for,
 * until the pipe is closed.
 */
static void record_inside(const struct talk *talk)
{
	long count;

	say(talk, 0);
	while ((count = hear(talk)) > 0) {
		for (int i = 1; i <= count; i++)
			record_number(i);
		say(talk, count);
	}
	leave(0);
}

static int enter_and_record(void *arg, const struct talk *talk)
{
	const struct way *way = arg;

	if (way->no_sequences && forgo_sequences())
		return 1;
	if (way->enter())
		return 2;
	record_inside(talk);
	return 3;
}

/*
 * Records before it enters the sandbox, so it already has a descriptor, mappings of the stream, and
 * a name.
 */
static int record_enter_and_record(void *arg, const struct talk *talk)
{
	const struct way *way = arg;

	if (way->no_sequences && forgo_sequences())
		return 1;
	say(talk, 0);
	if (hear(talk) != 1)
		return 2;
	record_number(0);
	if (way->enter())
		return 3;
	record_inside(talk);
	return 4;
}

static int trace(pid_t pid, trace_id_t *trid)
{
	int err = new_stream(pid, POSIX_TRACE_LOOP, trid);

	return err ? err : posix_trace_start(*trid);
}

/* Starts a child. When the child waits, creates a stream on it, and lets it continue. */
static int trace_waiting_child(struct child *child, int (*fn)(void *arg, const struct talk *talk),
			       trace_id_t *trid)
{
	int err = child_start(child, fn, NULL);

	if (!err)
		err = hear(&child->talk);
	if (!err)
		err = trace(child->pid, trid);
	say(&child->talk, 0);
	return err;
}

/* Returns the number of recorded and lost events of a LOOP stream, or -1 if unknown. */
static long long generated(trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	if (posixtrace_get_stats(trid, &stats))
		return -1;
	return (long long)(stats.recorded + stats.dropped);
}

/* Expects the last events, without a gap. Returns their number. */
static int take_rest(struct __test_metadata *_metadata, trace_id_t trid, int last)
{
	struct event event;
	int count = 0, number = -1;

	while (take_user(trid, &event) == 1) {
		if (count++)
			ASSERT_EQ(number + 1, event_number(&event));
		number = event_number(&event);
	}
	EXPECT_EQ(last, number);
	return count;
}

static void end(struct __test_metadata *_metadata, struct child *child)
{
	say(&child->talk, 0);
	EXPECT_EQ(0, child_wait(child));
	child->pid = 0;
}

TEST_F(sandbox, untraced_program_survives)
{
	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, child_start(&self->child, enter_and_record, (void *)&variant->way));
	ASSERT_EQ(0, hear(&self->child.talk));
	say(&self->child.talk, 100);
	EXPECT_EQ(100, hear(&self->child.talk));
	end(_metadata, &self->child);
}

TEST_F(sandbox, program_that_is_traced_later_records_all)
{
	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, child_start(&self->child, enter_and_record, (void *)&variant->way));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, trace(self->child.pid, &self->trid));
	for (int i = 1; i <= 3; i++) {
		say(&self->child.talk, 1);
		ASSERT_EQ(1, hear(&self->child.talk));
		ASSERT_EQ(1, take_user(self->trid, &self->event));
		EXPECT_EQ(1, event_number(&self->event));
		EXPECT_EQ(self->child.pid, self->event.info.posix_pid);
	}
	say(&self->child.talk, EVENTS);
	ASSERT_EQ(EVENTS, hear(&self->child.talk));
	EXPECT_EQ(3 + EVENTS, generated(self->trid));
	EXPECT_LT(0, take_rest(_metadata, self->trid, EVENTS));
	end(_metadata, &self->child);
}

TEST_F(sandbox, program_that_was_traced_before_records_all)
{
	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, child_start(&self->child, record_enter_and_record, (void *)&variant->way));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, trace(self->child.pid, &self->trid));
	say(&self->child.talk, 1);
	ASSERT_EQ(0, hear(&self->child.talk));
	say(&self->child.talk, EVENTS);
	if (STRICT_FORBIDS_COUNTER && variant->way.enter == be_strict) {
		/* In strict mode, reading the counter kills the process: see posixtrace(7). */
		EXPECT_EQ(-EPIPE, hear(&self->child.talk));
		EXPECT_EQ(SIGSEGV, child_wait(&self->child) & 0x7f);
		self->child.pid = 0;
		return;
	}
	ASSERT_EQ(EVENTS, hear(&self->child.talk));
	EXPECT_EQ(1 + EVENTS, generated(self->trid));
	EXPECT_LT(0, take_rest(_metadata, self->trid, EVENTS));
	end(_metadata, &self->child);
}

TEST_F(sandbox, event_wakes_a_reader)
{
	struct reader reader;

	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, child_start(&self->child, enter_and_record, (void *)&variant->way));
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, trace(self->child.pid, &self->trid));
	ASSERT_EQ(1, take(self->trid, &self->event));
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, reader_start(&reader, self->trid, NULL));
		say(&self->child.talk, 1);
		ASSERT_EQ(0, reader_end(&reader));
		EXPECT_EQ(1, event_number(&reader.event));
		ASSERT_EQ(1, hear(&self->child.talk));
	}
	end(_metadata, &self->child);
}

/* ------------------------------------------------------------------ */
/* Names, threads, daemons						*/

/* Opens names in the sandbox, where it makes no other system calls. */
static int open_names_inside(void *arg, const struct talk *talk)
{
	trace_event_id_t id;

	(void)arg;
	if (kill_process())
		return 1;
	say(talk, 0);
	hear(talk);
	posixtrace_point_inside(4711, "four", 4);
	if (posix_trace_eventid_open("opened inside", &id))
		leave(2);
	posix_trace_event(id, "x", 1);
	say(talk, 0);
	hear(talk);
	leave(0);
	return 3;
}

TEST(names_are_opened_in_a_sandbox)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct child child;
	struct event event;
	trace_id_t trid;

	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, trace_waiting_child(&child, open_names_inside, &trid));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(1, take_user(trid, &event));
	EXPECT_EQ(4711, event_number(&event));
	ASSERT_EQ(0, posix_trace_eventid_get_name(trid, event.info.posix_event_id, name));
	EXPECT_STREQ("inside", name);
	ASSERT_EQ(1, take_user(trid, &event));
	ASSERT_EQ(0, posix_trace_eventid_get_name(trid, event.info.posix_event_id, name));
	EXPECT_STREQ("opened inside", name);
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

struct later {
	const struct talk *talk;
	int running;
	int go;
};

static void *record_first(void *arg)
{
	struct later *later = arg;

	__atomic_store_n(&later->running, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&later->go, __ATOMIC_ACQUIRE))
		;
	/* The library does not know this thread before its first event. */
	record_number(1);
	say(later->talk, 1);
	hear(later->talk);
	leave(0);
	return NULL;
}

/* The other thread inherits the filter of this one. */
static int enter_with_a_thread(void *arg, const struct talk *talk)
{
	struct later later = { .talk = talk };
	pthread_t thread;

	(void)arg;
	say(talk, 0);
	hear(talk);
	record_number(0);
	if (pthread_create(&thread, NULL, record_first, &later))
		return 1;
	/* Wait until the thread runs: it makes other system calls when it starts. */
	while (!__atomic_load_n(&later.running, __ATOMIC_ACQUIRE))
		;
	if (kill_thread())
		return 2;
	__atomic_store_n(&later.go, 1, __ATOMIC_RELEASE);
	/* The other thread reports to the test, which kills both. */
	leave(0);
	return 3;
}

TEST(thread_with_the_filter_of_another_one_records)
{
	struct child child;
	struct event event;
	trace_id_t trid;

	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, trace_waiting_child(&child, enter_with_a_thread, &trid));
	ASSERT_EQ(1, hear(&child.talk));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, take_user(trid, &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(child.pid, event.info.posix_pid);
	}
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* Like a server, creates a child that has only its pipes, and cannot open the device. */
static int be_daemon(void *arg, const struct talk *talk)
{
	char root[] = "/tmp/sandbox_XXXXXX";

	(void)arg;
	/* The pipes have the lowest numbers. */
	if (dup2(talk->in, 3) != 3 || dup2(talk->out, 4) != 4)
		return 1;
	closefrom(5);
	if (!mkdtemp(root) || chroot(root) || chdir("/"))
		return 2;
	if (kill_process())
		return 3;
	record_inside(&(struct talk){ 3, 4 });
	return 4;
}

/* Only the pipes connect the test with the daemon. */
static int fork_daemon(void *arg, const struct talk *talk)
{
	pid_t pid = fork();

	if (!pid)
		_exit(be_daemon(arg, talk));
	say(talk, pid);
	return pid < 0;
}

TEST(child_of_a_daemon_records)
{
	struct child child;
	struct event event;
	trace_id_t trid;
	long pid;

	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, child_start(&child, fork_daemon, NULL));
	/* The parent sends the child's pid, and the child sends 0, in any order. */
	pid = hear(&child.talk) + hear(&child.talk);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, trace(pid, &trid));
	say(&child.talk, 2);
	ASSERT_EQ(2, hear(&child.talk));
	for (int i = 1; i <= 2; i++) {
		ASSERT_EQ(1, take_user(trid, &event));
		EXPECT_EQ(i, event_number(&event));
		EXPECT_EQ(pid, event.info.posix_pid);
	}
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

/* ------------------------------------------------------------------ */
/* The administrator							*/

TEST(administrator_can_close_the_door)
{
	struct way way = { .enter = kill_process };
	struct child child;
	struct event event;
	trace_id_t trid;

	PXT_NOT_WITH_TSAN("makes additional system calls");
	ASSERT_EQ(0, parameter_set("door", "N"));
	ASSERT_EQ(0, child_start(&child, enter_and_record, &way));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, trace(child.pid, &trid));
	say(&child.talk, 100);
	EXPECT_EQ(100, hear(&child.talk));
	EXPECT_EQ(0, take_user(trid, &event));
	ASSERT_EQ(0, parameter_set("door", "Y"));
	say(&child.talk, 1);
	EXPECT_EQ(1, hear(&child.talk));
	EXPECT_EQ(1, take_user(trid, &event));
	say(&child.talk, 0);
	EXPECT_EQ(0, child_wait(&child));
	EXPECT_EQ(0, posix_trace_shutdown(trid));
}

TEST_HARNESS_MAIN
