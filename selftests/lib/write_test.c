// SPDX-License-Identifier: GPL-2.0
/*
 * Records that the process writes itself, with restartable sequences, and records that the module
 * writes for a thread without sequences. The cases are the same for both, and both are also mixed
 * in one stream.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "no_door.h"
#include "pxt_test.h"
#include "storm.h"
#include "syscalls.h"

/* ------------------------------------------------------------------ */
/* One thread								*/

FIXTURE(way)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(way)
{
	bool sequences;
};

FIXTURE_VARIANT_ADD(way, sequence) { true };
FIXTURE_VARIANT_ADD(way, command) { false };

FIXTURE_SETUP(way)
{
	ASSERT_NE(0, __rseq_size);
	ASSERT_GT(CPU_SETSIZE, own_area()->cpu_id);
	if (!variant->sequences)
		ASSERT_EQ(0, forgo_sequences());
	ASSERT_EQ(0, new_wide_stream(0, 4 << 20, POSIX_TRACE_UNTIL_FULL,
				     POSIXTRACE_ORDER_CAUSAL, &self->trid));
}

FIXTURE_TEARDOWN(way)
{
	posix_trace_shutdown(self->trid);
}

static unsigned char pattern(size_t len, size_t i)
{
	return len * 31 + i * 7 + (i >> 8);
}

static void record_pattern(size_t len)
{
	unsigned char *data = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		data[i] = pattern(len, i);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, len);
	free(data);
}

static bool is_pattern(const struct event *event, size_t len)
{
	size_t kept = len < MAX_DATA ? len : MAX_DATA;

	if (event->len != kept ||
	    event->info.posix_truncation_status !=
	    (kept < len ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED))
		return false;
	for (size_t i = 0; i < kept; i++) {
		if (event->data[i] != pattern(len, i))
			return false;
	}
	return true;
}

/* All calls come from the same place, whatever form their records have. */
TEST_F(way, data_of_any_length_arrives)
{
	void *address = NULL;
	struct event event;

	for (size_t len = 0; len <= MAX_DATA + 20; len++)
		record_pattern(len);
	for (size_t len = 0; len <= MAX_DATA + 20; len++) {
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_TRUE(is_pattern(&event, len)) TH_LOG("length %zu", len);
		ASSERT_EQ(getpid(), event.info.posix_pid);
		ASSERT_TRUE(pthread_equal(pthread_self(), event.info.posix_thread_id));
		if (!len)
			address = event.info.posix_prog_address;
		ASSERT_NE(NULL, address);
		ASSERT_EQ(address, event.info.posix_prog_address) TH_LOG("length %zu", len);
	}
	EXPECT_EQ(0, take_user(self->trid, &event));
}

TEST_F(way, events_of_two_places_have_two_addresses)
{
	struct event first, second;

	record_plain(1);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	ASSERT_EQ(1, take_user(self->trid, &first));
	ASSERT_EQ(1, take_user(self->trid, &second));
	EXPECT_NE(NULL, first.info.posix_prog_address);
	EXPECT_NE(first.info.posix_prog_address, second.info.posix_prog_address);
}

/* The time of each event is between two reads of CLOCK_REALTIME. */
TEST_F(way, time_is_the_wall_clock_time)
{
	unsigned long long before, after, last = 0;
	struct event event;

	for (int i = 0; i < rounds(20000); i++) {
		before = now();
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
		after = now();
		ASSERT_EQ(1, take_user(self->trid, &event));
		ASSERT_LE(before, event_time(&event));
		ASSERT_GE(after, event_time(&event));
		ASSERT_LE(last, event_time(&event));
		last = event_time(&event);
	}
}

TEST_F(way, each_stream_gets_the_event)
{
	trace_id_t trid[31];
	struct event event;

	for (int i = 1; i < 31; i++) {
		ASSERT_EQ(0, new_stream(0, i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
					&trid[i]));
		ASSERT_EQ(0, posix_trace_start(trid[i]));
	}
	trid[0] = self->trid;
	for (int number = 0; number < 3; number++)
		record_plain(number);
	for (int i = 0; i < 31; i++) {
		for (int number = 0; number < 3; number++) {
			ASSERT_EQ(1, take_user(trid[i], &event));
			EXPECT_EQ(number, event_number(&event));
		}
		EXPECT_EQ(0, take_user(trid[i], &event));
	}
	for (int i = 1; i < 31; i++)
		posix_trace_shutdown(trid[i]);
}

TEST_F(way, errno_is_kept)
{
	errno = 4711;
	for (int i = 0; i < 1000; i++)
		record_plain(i);
	EXPECT_EQ(4711, errno);
}

/* ------------------------------------------------------------------ */
/* System calls								*/

#define COUNTED	1000

static int record_counted(bool sequences)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || (!sequences && forgo_sequences()))
		return 1;
	/* The controller waits for this stop, and then traces the process. */
	raise(SIGSTOP);
	/* Attaches the process and maps the stream. */
	record_plain(0);
	signpost();
	for (int i = 1; i <= COUNTED; i++)
		record_plain(i);
	signpost();
	return 0;
}

static int count_ioctls(bool sequences, trace_id_t *trid)
{
	struct syscalls calls;
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		_exit(record_counted(sequences));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    new_stream(pid, POSIX_TRACE_LOOP, trid) || posix_trace_start(*trid) ||
	    count_syscalls(&calls, pid) || calls.status)
		return -1;
	return calls.ioctls;
}

TEST(recording_takes_no_system_call_except_for_space)
{
	struct posixtrace_stats_info stats;
	trace_id_t trid;
	int ioctls;

	/* Expect a command for each sub-buffer on each CPU, and after too many interruptions. */
	ioctls = count_ioctls(true, &trid);
	EXPECT_LT(0, ioctls);
	EXPECT_GT(COUNTED / 10, ioctls);
	ASSERT_EQ(0, posixtrace_get_stats(trid, &stats));
	EXPECT_EQ(COUNTED + 1, stats.recorded);
	posix_trace_shutdown(trid);

	/* Without sequences, each event needs a command. */
	EXPECT_LE(COUNTED, count_ioctls(false, &trid));
	posix_trace_shutdown(trid);
}

static long page_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? -1 : usage.ru_minflt;
}

/* Populates the pages around the door. The door itself is not memory. */
static int populate_around(uintptr_t start, uintptr_t end, uintptr_t door)
{
	if (door < start || door >= end)
		return madvise((void *)start, end - start, MADV_POPULATE_READ) ? errno : 0;
	if (madvise((void *)start, door - start, MADV_POPULATE_READ))
		return errno;
	start = door + sizeof(((struct posixtrace_gate *)NULL)->door);
	return madvise((void *)start, end - start, MADV_POPULATE_READ) ? errno : 0;
}

/*
 * Populates all pages of programs and libraries, so that code that runs for the first time causes
 * no page fault.
 */
static int populate_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct posixtrace_gate *gate = (const void *)__posix_trace_gate;
	const uintptr_t mask = sysconf(_SC_PAGESIZE) - 1;
	int err;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];
		uintptr_t start = (info->dlpi_addr + segment->p_vaddr) & ~mask;
		uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz + mask) &
				~mask;

		if (segment->p_type != PT_LOAD)
			continue;
		err = populate_around(start, end, (uintptr_t)gate->door);
		if (err)
			*(int *)data = err;
	}
	return 0;
}

/*
 * Recording wraps around a stream of default size, whose pages were populated when it was mapped.
 */
TEST(recording_takes_no_page_fault)
{
	trace_id_t trid;
	long faults;
	int err = 0;

	PXT_NOT_WITH_SANITIZERS("make page faults of their own");
	if (sysconf(_SC_NPROCESSORS_CONF) > 16)
		SKIP(return, "many CPUs: the stream is larger than what is populated");
	dl_iterate_phdr(populate_object, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, posix_trace_create(0, NULL, &trid));
	ASSERT_EQ(0, posix_trace_start(trid));
	record_plain(0);
	faults = page_faults();
	for (int i = 0; i < 10 * COUNTED; i++)
		record_plain(i);
	EXPECT_EQ(faults, page_faults());
	posix_trace_shutdown(trid);
}

/* ------------------------------------------------------------------ */
/* Many threads, of several processes					*/

FIXTURE(storm)
{
	struct storm storm;
};

FIXTURE_VARIANT(storm)
{
	int policy;
	size_t size;
	unsigned int turns;
	int order;
};

/* Streams that have space for everything, that drop events, and that overwrite events. */
FIXTURE_VARIANT_ADD(storm, that_fits) { POSIX_TRACE_UNTIL_FULL, 48 << 20, 0 };
FIXTURE_VARIANT_ADD(storm, until_full) { POSIX_TRACE_UNTIL_FULL, 32 << 10, 0 };
FIXTURE_VARIANT_ADD(storm, loop) { POSIX_TRACE_LOOP, 32 << 10, 0 };
FIXTURE_VARIANT_ADD(storm, relaxed_that_fits) {
	POSIX_TRACE_UNTIL_FULL, 48 << 20, 0, POSIXTRACE_ORDER_RELAXED
};

FIXTURE_VARIANT_ADD(storm, relaxed_loop_in_short_turns) {
	POSIX_TRACE_LOOP, 32 << 10, 200, POSIXTRACE_ORDER_RELAXED
};

FIXTURE_VARIANT_ADD(storm, that_fits_in_short_turns) { POSIX_TRACE_UNTIL_FULL, 48 << 20, 200 };
FIXTURE_VARIANT_ADD(storm, until_full_in_short_turns) { POSIX_TRACE_UNTIL_FULL, 32 << 10, 200 };
FIXTURE_VARIANT_ADD(storm, loop_in_short_turns) { POSIX_TRACE_LOOP, 32 << 10, 200 };

FIXTURE_SETUP(storm)
{
	self->storm = (struct storm){
		.policy = variant->policy,
		.order = variant->order,
		.size = variant->size,
		.turns = variant->turns,
		.letters = rounds(variant->turns ? 50000 : 150000),
	};
	ASSERT_EQ(0, storm_prepare(&self->storm));
}

FIXTURE_TEARDOWN(storm)
{
	storm_end(&self->storm);
}

TEST_F_TIMEOUT(storm, every_event_is_accounted_for, 120)
{
	storm_run(_metadata, &self->storm);
}

TEST_HARNESS_MAIN
