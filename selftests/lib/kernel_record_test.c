// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events as the module writes them, in a few words each, and as the library reads them.
 * Every value must be preserved, whatever its size, and each event must have the right thread.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <posixtrace.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "pxt_test.h"
#include "kernel_events.h"

#define CALLS		300
#define THREADS		40

/*
 * System call numbers that are not used. For these, the module records all six registers as
 * arguments.
 */
#define SMALL_NR	900
#define BEGIN_NR	901
#define END_NR		902
#define LARGE_NR	70000

#define STREAMS		3

FIXTURE(record)
{
	trace_id_t trid;
	struct kernel_events events;
};

FIXTURE_SETUP(record)
{
	ASSERT_EQ(0, kernel_stream(0, POSIXTRACE_CLASS_SYSCALL, POSIX_TRACE_UNTIL_FULL,
				   &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(record)
{
	posix_trace_shutdown(self->trid);
	kernel_events_free(&self->events);
}

/* Reads the events of system call @nr into @events. Returns 0 or an error number. */
static int read_calls(trace_id_t trid, int nr, struct kernel_events *events)
{
	size_t kept = 0;
	int err = posix_trace_stop(trid);

	if (!err)
		err = kernel_events_read(events, trid);
	for (size_t i = 0; !err && i < events->count; i++) {
		if (events->event[i].data.call.nr == nr)
			events->event[kept++] = events->event[i];
	}
	events->count = kept;
	return err;
}

/*
 * Returns values of every length in bits: first the smallest and the largest of each length, then
 * others.
 */
static unsigned long value_of(unsigned int i)
{
	unsigned int bits = i % 65;
	unsigned long value = bits == 64 ? ~0UL : (1UL << bits) - (i / 65 % 2);

	return i / 130 ? value ^ (unsigned long)i << bits / 2 : value;
}

static long call_with(long nr, unsigned int i)
{
	return syscall(nr, value_of(i), value_of(7 * i + 1), value_of(11 * i + 2),
		       value_of(13 * i + 3), value_of(17 * i + 4), value_of(19 * i + 5));
}

static bool has_arguments(const struct kernel_event *event, unsigned int i)
{
	const uint64_t *args = event->data.call.args;

	return args[0] == value_of(i) && args[1] == value_of(7 * i + 1) &&
	       args[2] == value_of(11 * i + 2) && args[3] == value_of(13 * i + 3) &&
	       args[4] == value_of(17 * i + 4) && args[5] == value_of(19 * i + 5);
}

FIXTURE_VARIANT(record)
{
	long nr;
};

FIXTURE_VARIANT_ADD(record, small_number) { SMALL_NR };
FIXTURE_VARIANT_ADD(record, large_number) { LARGE_NR };

TEST_F(record, arguments_of_any_size_are_shown)
{
	const struct kernel_event *event = NULL;
	int err;

	for (unsigned int i = 0; i < CALLS; i++)
		EXPECT_EQ(-1, call_with(variant->nr, i));
	err = errno;
	ASSERT_EQ(0, read_calls(self->trid, (int)variant->nr, &self->events));
	ASSERT_EQ(2 * CALLS, self->events.count);
	for (unsigned int i = 0; i < CALLS; i++) {
		event = &self->events.event[2 * i];
		EXPECT_EQ(POSIXTRACE_SYSCALL_ENTRY, event->id);
		EXPECT_TRUE(has_arguments(event, i));
		EXPECT_STREQ("", event->data.call.name);
		event++;
		EXPECT_EQ(POSIXTRACE_SYSCALL_EXIT, event->id);
		EXPECT_EQ(-err, event->data.result.result);
	}
}

/* Registers that are not arguments contain old values of the program. Readers must not see them. */
TEST_F(record, registers_that_are_no_arguments_are_not_shown)
{
	const struct kernel_event *event;

	syscall(SYS_getppid, 1, 2, 3, 4, 5, 6);
	ASSERT_EQ(0, read_calls(self->trid, SYS_getppid, &self->events));
	ASSERT_EQ(2, self->events.count);
	event = &self->events.event[0];
	EXPECT_STREQ("getppid", event->data.call.name);
	for (int i = 0; i < 6; i++)
		EXPECT_EQ(0, event->data.call.args[i]);
	EXPECT_EQ(getppid(), self->events.event[1].data.result.result);
}

struct worker {
	pthread_t thread;
	pthread_barrier_t *barrier;
	pid_t tid;
	unsigned int number;
};

static void *call_by_turns(void *arg)
{
	struct worker *worker = arg;

	worker->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(worker->barrier);
	for (unsigned int i = 0; i < CALLS / 10; i++) {
		call_with(SMALL_NR, worker->number);
		sched_yield();
	}
	return NULL;
}

/* The threads are on one processor, and are more than a sub-buffer can name at a time. */
TEST_F(record, events_of_many_threads_name_their_own)
{
	unsigned int seen[THREADS] = { 0 }, number;
	struct worker workers[THREADS];
	const struct kernel_event *event;
	pthread_barrier_t barrier;
	cpu_set_t set, before;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(set), &set));
	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, THREADS));
	for (number = 0; number < THREADS; number++) {
		workers[number].barrier = &barrier;
		workers[number].number = number;
		ASSERT_EQ(0, pthread_create(&workers[number].thread, NULL, call_by_turns,
					    &workers[number]));
	}
	for (number = 0; number < THREADS; number++)
		pthread_join(workers[number].thread, NULL);
	sched_setaffinity(0, sizeof(before), &before);
	ASSERT_EQ(0, read_calls(self->trid, SMALL_NR, &self->events));
	for (size_t i = 0; i < self->events.count; i++) {
		event = &self->events.event[i];
		for (number = 0; number < THREADS; number++) {
			if (workers[number].tid == event->data.tid)
				break;
		}
		ASSERT_GT(THREADS, number);
		EXPECT_EQ(getpid(), event->pid);
#ifdef __x86_64__
		EXPECT_EQ((unsigned long long)workers[number].thread, event->thread);
#endif
		if (event->id != POSIXTRACE_SYSCALL_ENTRY)
			continue;
		EXPECT_TRUE(has_arguments(event, number));
		seen[number]++;
	}
	for (number = 0; number < THREADS; number++)
		EXPECT_EQ(CALLS / 10, seen[number]);
	EXPECT_EQ(0, self->events.lost);
}

#ifdef __x86_64__
/*
 * A 32-bit program has a different number for getpid(), and its name comes from a different table.
 */
TEST_F(record, calls_of_32_bit_programs_have_their_own_names)
{
	const int nr = 20;
	long result = nr;

	__asm__ volatile("int $0x80" : "+a" (result) : "b" (0), "c" (0), "d" (0) :
			 "memory", "r8", "r9", "r10", "r11");
	if (result != getpid())
		SKIP(return, "kernel without 32-bit programs");
	ASSERT_EQ(0, read_calls(self->trid, nr, &self->events));
	for (size_t i = 0; i < self->events.count; i++) {
		if (self->events.event[i].id != POSIXTRACE_SYSCALL_ENTRY ||
		    !self->events.event[i].data.call.compat)
			continue;
		EXPECT_STREQ("getpid", self->events.event[i].data.call.name);
		return;
	}
	EXPECT_TRUE(false) TH_LOG("no call of a 32-bit program");
}
#endif

/* Values of si_code. The sender of a signal with siginfo can choose any. */
static const int codes[] = { -1, SI_TKILL, -60, -4095, -4096, -4097, -1000000, INT_MIN };

static void ignore(int sig)
{
	(void)sig;
}

FIXTURE(signals)
{
	trace_id_t trid;
	struct kernel_events events;
};

FIXTURE_SETUP(signals)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART | SA_NODEFER };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, sigaction(SIGRTMAX, &action, NULL));
	ASSERT_EQ(0, kernel_stream(0, POSIXTRACE_CLASS_SIGNAL, POSIX_TRACE_UNTIL_FULL,
				   &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(signals)
{
	posix_trace_shutdown(self->trid);
	kernel_events_free(&self->events);
}

TEST_F(signals, codes_of_any_size_are_shown)
{
	const union kernel_data *generate, *deliver;
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	siginfo_t info = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		info.si_code = codes[i];
		ASSERT_EQ(0, syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGRTMAX, &info));
	}
	ASSERT_EQ(0, kill(getpid(), SIGUSR1));
	ASSERT_EQ(0, posix_trace_stop(self->trid));
	ASSERT_EQ(0, kernel_events_read(&self->events, self->trid));
	ASSERT_EQ(2 * ARRAY_SIZE(codes) + 2, self->events.count);
	for (size_t i = 0; i < ARRAY_SIZE(codes) + 1; i++) {
		const bool last = i == ARRAY_SIZE(codes);
		const int sig = last ? SIGUSR1 : SIGRTMAX, code = last ? SI_USER : codes[i];

		EXPECT_EQ(POSIXTRACE_SIGNAL_GENERATE, self->events.event[2 * i].id);
		generate = &self->events.event[2 * i].data;
		EXPECT_EQ(tid, generate->generate.tid);
		EXPECT_EQ(sig, generate->generate.sig);
		EXPECT_EQ(code, generate->generate.code);
		EXPECT_EQ(last, generate->generate.group);
		EXPECT_EQ(SIGNAL_DELIVERED, generate->generate.result);
		EXPECT_EQ(SENT_BY_THREAD, generate->generate.by);
		EXPECT_EQ(getpid(), generate->generate.sender_pid);
		EXPECT_EQ(tid, generate->generate.sender_tid);
		EXPECT_EQ(POSIXTRACE_SIGNAL_DELIVER, self->events.event[2 * i + 1].id);
		deliver = &self->events.event[2 * i + 1].data;
		EXPECT_EQ(sig, deliver->deliver.sig);
		EXPECT_EQ(code, deliver->deliver.code);
		EXPECT_EQ(ACTION_HANDLER, deliver->deliver.action);
		EXPECT_EQ(SA_RESTART | SA_NODEFER,
			  deliver->deliver.flags & (SA_RESTART | SA_NODEFER));
	}
}

/* ------------------------------------------------------------------ */
/* Several streams							*/

/* Causes events of all classes, in their short and long forms of records. */
static void do_something(char *page, long number)
{
	const struct timespec moment = { .tv_nsec = 1 };
	siginfo_t info = { .si_code = -1 - (int)(number % 10000) };

	switch (number % 7) {
	case 0:
		call_with(SMALL_NR, number % 1000);
		break;
	case 1:
		call_with(LARGE_NR, number % 1000);
		break;
	case 2:
		syscall(SYS_getppid);
		break;
	case 3:
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGRTMAX, &info);
		break;
	case 4:
		raise(SIGUSR1);
		break;
	case 5:
		madvise(page, 1, MADV_DONTNEED);
		__atomic_store_n(page, 1, __ATOMIC_RELAXED);
		break;
	case 6:
		nanosleep(&moment, NULL);
		break;
	}
}

/* Removes all events except those between the two markers. */
static void cut(struct kernel_events *events)
{
	const struct kernel_event *event = events->event;
	size_t begin = 0, end;

	while (begin < events->count && (event[begin].id != POSIXTRACE_SYSCALL_EXIT ||
					 event[begin].data.result.nr != BEGIN_NR))
		begin++;
	for (end = begin; end < events->count; end++) {
		if (event[end].id == POSIXTRACE_SYSCALL_ENTRY && event[end].data.call.nr == END_NR)
			break;
	}
	memmove(events->event, event + begin, (end - begin) * sizeof(*event));
	events->count = end - begin;
}

/* Are the events equal, except for data that depend on the time? */
static bool is_same(const struct kernel_event *a, const struct kernel_event *b)
{
	union kernel_data data = b->data;

	if (a->id == POSIXTRACE_SWITCH_IN)
		data.in.runnable = a->data.in.runnable;
	return a->id == b->id && a->pid == b->pid && a->cpu == b->cpu && a->thread == b->thread &&
	       !memcmp(&a->data, &data, sizeof(data));
}

TEST(all_streams_get_the_same_events)
{
	const unsigned int classes = POSIXTRACE_CLASS_SYSCALL | POSIXTRACE_CLASS_SIGNAL |
				     POSIXTRACE_CLASS_SCHED |
				     (posixtrace_sysconf(POSIXTRACE_SC_KERNEL_CLASSES) &
				      POSIXTRACE_CLASS_FAULT);
	const struct sigaction action = { .sa_handler = ignore };
	const unsigned int seed = (unsigned int)time(NULL);
	struct kernel_events events[STREAMS] = { 0 };
	trace_id_t trid[STREAMS];
	cpu_set_t set;
	char *page;
	int i;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, sigaction(SIGRTMAX, &action, NULL));
	page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	/* Events of one processor have the same order in all streams. */
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(set), &set));
	for (i = 0; i < STREAMS; i++) {
		ASSERT_EQ(0, kernel_stream(0, classes, POSIX_TRACE_UNTIL_FULL, &trid[i]));
		ASSERT_EQ(0, posix_trace_start(trid[i]));
	}
	srandom(seed);
	syscall(BEGIN_NR);
	for (i = 0; i < CALLS; i++)
		do_something(page, random());
	syscall(END_NR);
	for (i = 0; i < STREAMS; i++) {
		ASSERT_EQ(0, posix_trace_stop(trid[i]));
		ASSERT_EQ(0, kernel_events_read(&events[i], trid[i]));
		EXPECT_EQ(0, events[i].lost);
		cut(&events[i]);
		ASSERT_LT(CALLS, events[i].count);
	}
	for (i = 1; i < STREAMS; i++) {
		ASSERT_EQ(events[0].count, events[i].count);
		for (size_t j = 0; j < events[i].count; j++) {
			EXPECT_TRUE(is_same(&events[0].event[j], &events[i].event[j]))
				TH_LOG("seed %u, stream %d, event %zu", seed, i, j);
		}
		kernel_events_free(&events[i]);
		posix_trace_shutdown(trid[i]);
	}
	kernel_events_free(&events[0]);
	posix_trace_shutdown(trid[0]);
	munmap(page, 1);
}

TEST_HARNESS_MAIN
