// SPDX-License-Identifier: GPL-2.0
/*
 * The event futex_wait shows for what a thread waits in the system call futex, and the memory at
 * that address. Other waits must not have this event. Filters and several streams must not
 * interfere.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <posixtrace.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pxt_test.h"
#include "kernel_events.h"
#include "process.h"

#define SCHED		POSIXTRACE_CLASS_SCHED
#define PAGE		4096

/* The words of a mutex in glibc. */
struct words {
	uint32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	uint32_t kind;
};

FIXTURE(futex)
{
	struct child child;
	uint64_t known;		/* addresses in the child, from @memory */
	uint64_t cut;
	struct kernel_events events;
	struct kernel_events others;
	trace_id_t trid;
	trace_id_t other;
};

/* If a processor of the guest stalls for this long, a timeout may expire before the wait begins. */
#define TIMEOUT		100000000

/* Waits until a timeout. */
static void wait_for(const void *address, int operation, uint32_t value)
{
	const struct timespec timeout = { .tv_nsec = TIMEOUT };

	syscall(SYS_futex, address, operation, value, &timeout, NULL, FUTEX_BITSET_MATCH_ANY);
}

static int wait_for_futexes(void *arg, const struct talk *talk)
{
	char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	struct words *words = (struct words *)memory;
	/* A lock in the last word of a page. The word of its owner would be in the next page. */
	uint32_t *cut = (uint32_t *)(memory + PAGE) - 1;
	const struct timespec nap = { .tv_nsec = TIMEOUT };

	(void)arg;
	if (memory == MAP_FAILED || mprotect(memory + PAGE, PAGE, PROT_NONE))
		return 1;
	*words = (struct words){ .lock = 7, .owner = -8, .kind = 0x90000009 };
	*cut = 1;
	say(talk, (long)words);
	say(talk, (long)cut);
	hear(talk);
	wait_for(words, FUTEX_WAIT_PRIVATE, 7);
	wait_for(cut, FUTEX_WAIT, 1);
	/* A wait for something else, and a futex call that does not wait. */
	nanosleep(&nap, NULL);
	wait_for(words, FUTEX_WAIT_PRIVATE, 6);
	say(talk, 0);
	hear(talk);
	return 0;
}

FIXTURE_SETUP(futex)
{
	ASSERT_EQ(0, child_start(&self->child, wait_for_futexes, NULL));
	self->known = (uint64_t)hear(&self->child.talk);
	self->cut = (uint64_t)hear(&self->child.talk);
}

FIXTURE_TEARDOWN(futex)
{
	child_kill(&self->child);
	if (self->trid > 0)
		posix_trace_shutdown(self->trid);
	if (self->other > 0)
		posix_trace_shutdown(self->other);
	kernel_events_free(&self->events);
	kernel_events_free(&self->others);
}

/* Traces the waits with a filter that excludes type @without; 0: no filter. */
static int trace_waits(struct _test_data_futex *self, trace_event_id_t without)
{
	trace_event_set_t filter;
	int err = kernel_stream(self->child.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->trid);

	posix_trace_eventset_empty(&filter);
	if (without)
		posix_trace_eventset_add(without, &filter);
	if (!err)
		err = posix_trace_set_filter(self->trid, &filter, POSIX_TRACE_SET_EVENTSET);
	if (!err)
		err = posix_trace_start(self->trid);
	say(&self->child.talk, 0);
	if (!err)
		err = hear(&self->child.talk) ? -1 : posix_trace_stop(self->trid);
	return err ?: kernel_events_read(&self->events, self->trid);
}

/* Finds the next event of a type at or after *at, and advances *at past it; NULL at the end. */
static const struct kernel_event *next(const struct kernel_events *events, trace_event_id_t id,
				       size_t *at)
{
	while (*at < events->count) {
		if (events->event[(*at)++].id == id)
			return &events->event[*at - 1];
	}
	return NULL;
}

static void expect_waits(struct __test_metadata *_metadata, struct _test_data_futex *self,
			 const struct kernel_events *events)
{
	const struct kernel_event *event;
	size_t at = 0;

	event = next(events, POSIXTRACE_FUTEX_WAIT, &at);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(self->child.pid, event->data.futex.tid);
	EXPECT_EQ(self->known, event->data.futex.address);
	EXPECT_NE(0, event->data.futex.ip);
	EXPECT_EQ(FUTEX_WAIT, event->data.futex.operation);
	EXPECT_EQ(1, event->data.futex.known);
	EXPECT_EQ(1, event->data.futex.same_ids);
	EXPECT_EQ(7, event->data.futex.lock);
	EXPECT_EQ(-8, event->data.futex.owner);
	EXPECT_EQ(0x90000009, event->data.futex.kind);

	event = next(events, POSIXTRACE_FUTEX_WAIT, &at);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(self->cut, event->data.futex.address);
	EXPECT_EQ(0, event->data.futex.known);
	EXPECT_EQ(0, event->data.futex.lock);
	EXPECT_EQ(0, event->data.futex.owner);
	EXPECT_EQ(0, event->data.futex.kind);

	EXPECT_EQ(NULL, next(events, POSIXTRACE_FUTEX_WAIT, &at));
	EXPECT_EQ(0, events->lost);
}

TEST_F(futex, waits_have_the_memory_of_the_futex)
{
	const struct kernel_event *event;
	size_t at = 0;

	ASSERT_EQ(0, trace_waits(self, 0));
	expect_waits(_metadata, self, &self->events);
	while ((event = next(&self->events, POSIXTRACE_FUTEX_WAIT, &at))) {
		ASSERT_LT(at, self->events.count);
		EXPECT_EQ(POSIXTRACE_SWITCH_OUT, event[1].id);
		EXPECT_EQ(BLOCKED, event[1].data.out.reason);
		EXPECT_EQ(STATE_SLEEPING, event[1].data.out.state);
		EXPECT_EQ(event->data.tid, event[1].data.tid);
		EXPECT_EQ(event->time, event[1].time);
	}
	/* The nap also blocks the thread. */
	EXPECT_LE(3, kernel_events_blocked(&self->events));
	EXPECT_EQ(0, kernel_events_impossible(&self->events));
}

TEST_F(futex, each_of_both_events_can_be_filtered_out)
{
	ASSERT_EQ(0, trace_waits(self, POSIXTRACE_SWITCH_OUT));
	expect_waits(_metadata, self, &self->events);
	EXPECT_EQ(0, kernel_events_count(&self->events, POSIXTRACE_SWITCH_OUT));
}

TEST_F(futex, switches_are_recorded_without_the_waits)
{
	ASSERT_EQ(0, trace_waits(self, POSIXTRACE_FUTEX_WAIT));
	EXPECT_EQ(0, kernel_events_count(&self->events, POSIXTRACE_FUTEX_WAIT));
	EXPECT_LE(3, kernel_events_blocked(&self->events));
}

TEST_F(futex, several_streams_have_them)
{
	ASSERT_EQ(0, kernel_stream(self->child.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->other));
	ASSERT_EQ(0, posix_trace_start(self->other));
	ASSERT_EQ(0, trace_waits(self, 0));
	ASSERT_EQ(0, posix_trace_stop(self->other));
	ASSERT_EQ(0, kernel_events_read(&self->others, self->other));
	expect_waits(_metadata, self, &self->events);
	expect_waits(_metadata, self, &self->others);
}

/* ------------------------------------------------------------------ */
/* Hostile operations							*/

/*
 * Not a valid operation of futex(2). Its upper bits must not get into other fields of the record.
 */
#define HOSTILE		0x10200

/*
 * Installs a seccomp filter that makes calls with that operation wait for a supervisor. Returns the
 * descriptor of the supervisor.
 */
static int supervise(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HOSTILE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/*
 * The supervisor: lets the system call of the main thread fail once it is waiting. The listener is
 * readable before that thread is asleep.
 */
static void *end_wait(void *arg)
{
	struct pollfd listener = { .fd = *(const int *)arg, .events = POLLIN };

	poll(&listener, 1, -1);
	while (!is_asleep(getpid()))
		sched_yield();
	close(listener.fd);
	return NULL;
}

static int wait_for_supervisor(void *arg, const struct talk *talk)
{
	int listener = supervise();
	pthread_t thread;

	(void)arg;
	say(talk, listener >= 0 && !pthread_create(&thread, NULL, end_wait, &listener));
	hear(talk);
	/* This address cannot be read. */
	syscall(SYS_futex, 16, HOSTILE, 0, NULL, NULL, 0);
	pthread_join(thread, NULL);
	say(talk, 0);
	hear(talk);
	return 0;
}

FIXTURE(hostile)
{
	struct child child;
	struct kernel_events events;
	trace_id_t trid;
};

FIXTURE_SETUP(hostile)
{
	ASSERT_EQ(0, child_start(&self->child, wait_for_supervisor, NULL));
	ASSERT_EQ(1, hear(&self->child.talk));
	ASSERT_EQ(0, kernel_stream(self->child.pid, SCHED, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(hostile)
{
	child_kill(&self->child);
	if (self->trid > 0)
		posix_trace_shutdown(self->trid);
	kernel_events_free(&self->events);
}

TEST_F(hostile, operation_changes_no_other_field)
{
	const struct kernel_event *event = NULL;
	size_t at = 0;

	say(&self->child.talk, 0);
	ASSERT_EQ(0, hear(&self->child.talk));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	do {
		event = next(&self->events, POSIXTRACE_FUTEX_WAIT, &at);
		ASSERT_NE(NULL, event);
	} while (event->data.futex.address != 16);
	EXPECT_EQ(255, event->data.futex.operation);
	EXPECT_EQ(0, event->data.futex.known);
	EXPECT_EQ(1, event->data.futex.same_ids);
}

TEST_HARNESS_MAIN
