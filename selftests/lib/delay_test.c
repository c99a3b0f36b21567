// SPDX-License-Identifier: GPL-2.0
/*
 * Restartable sequences with a long delay at one point or another: a writer is often
 * interrupted there, and has to retry. The program contains the library's own code, with
 * loops in the sequences.
 */
#define _GNU_SOURCE
#define DELAY_TEXT_(number)	#number
#define DELAY_TEXT(number)	DELAY_TEXT_(number)

#if defined(__x86_64__)
#define HAVE_DELAYS

/* The point where a thread is delayed; the mark remains when the kernel aborts the sequence. */
__asm__(".macro delay point, scratch\n\t"
	"movl 4*\\point+delay_loops(%rip), \\scratch\n\t"
	"testl \\scratch, \\scratch\n\t"
	"jz 21f\n\t"
	"movl $\\point, %fs:delay_at@tpoff\n"
	"20:\n\t"
	"decl \\scratch\n\t"
	"jnz 20b\n\t"
	"movl $0, %fs:delay_at@tpoff\n"
	"21:\n\t"
	".endm\n\t"
	".macro aborted scratch32, scratch64\n\t"
	"movl %fs:delay_at@tpoff, \\scratch32\n\t"
	"movl $0, %fs:delay_at@tpoff\n\t"
	"incl %fs:delay_aborts@tpoff(,\\scratch64,4)\n\t"
	".endm\n");

#define PXTU_RSEQ_DELAY(point, scratch)	"delay " DELAY_TEXT(point) ", " scratch "\n\t"
#define PXTU_RSEQ_ABORTED		"aborted %%eax, %%rax\n\t"

#elif defined(__AARCH64EL__)
#define HAVE_DELAYS

/* The same, with registers of their own. */
__asm__(".macro delay point\n\t"
	"adrp x3, delay_loops+4*\\point\n\t"
	"ldr w3, [x3, :lo12:delay_loops+4*\\point]\n\t"
	"cbz w3, 21f\n\t"
	"mrs x4, tpidr_el0\n\t"
	"add x4, x4, :tprel_hi12:delay_at\n\t"
	"add x4, x4, :tprel_lo12_nc:delay_at\n\t"
	"mov w5, #\\point\n\t"
	"str w5, [x4]\n"
	"20:\n\t"
	"subs w3, w3, #1\n\t"
	"b.ne 20b\n\t"
	"str wzr, [x4]\n"
	"21:\n\t"
	".endm\n\t"
	".macro aborted\n\t"
	"mrs x4, tpidr_el0\n\t"
	"add x3, x4, :tprel_hi12:delay_at\n\t"
	"add x3, x3, :tprel_lo12_nc:delay_at\n\t"
	"ldr w5, [x3]\n\t"
	"str wzr, [x3]\n\t"
	"add x3, x4, :tprel_hi12:delay_aborts\n\t"
	"add x3, x3, :tprel_lo12_nc:delay_aborts\n\t"
	"ldr w4, [x3, x5, lsl #2]\n\t"
	"add w4, w4, #1\n\t"
	"str w4, [x3, x5, lsl #2]\n\t"
	".endm\n");

#define PXTU_RSEQ_DELAY(point)	"delay " DELAY_TEXT(point) "\n\t"
#define PXTU_RSEQ_DELAY_CHANGES	"x3", "x4", "x5",
#define PXTU_RSEQ_ABORTED	"aborted\n\t"
#endif

#ifdef HAVE_DELAYS
#include "../../lib/record/event.c"
#include "../../lib/record/note.c"
#include "../../lib/record/write.c"
#endif

#include "storm.h"

#ifdef HAVE_DELAYS
/* The sequences use these three by name. Set before other threads exist. */
unsigned int delay_loops[PXTU_POINTS + 1];
__thread unsigned int delay_at;
/* Aborts at each point; index 0: elsewhere. */
__thread unsigned int delay_aborts[PXTU_POINTS + 1];

/* Of all threads, in shared memory. */
static struct aborts {
	long at[PXTU_POINTS + 1];
} *aborts;

/* Also called in a handler: a count is added by the handler or by the interrupted thread. */
static void collect_aborts(void)
{
	for (int point = 0; point <= PXTU_POINTS; point++) {
		unsigned int count = __atomic_exchange_n(&delay_aborts[point], 0,
							 __ATOMIC_RELAXED);

		if (count)
			__atomic_fetch_add(&aborts->at[point], count, __ATOMIC_RELAXED);
	}
}

/* Runs before the abort that it causes, and has its own sequences. */
static void record_in_handler(int signal)
{
	unsigned int at = delay_at;

	send_from_handler(signal);
	collect_aborts();
	delay_at = at;
}

/* The number of loops that takes @nanoseconds on an undisputed processor. */
static unsigned int loops_of(unsigned long long nanoseconds)
{
	unsigned long long best = ~0ULL, start, took;
	const unsigned int loops = 100000;

	for (int i = 0; i < 10; i++) {
		start = now();
		dawdle(loops);
		took = now() - start;
		if (took < best)
			best = took;
	}
	return nanoseconds * loops / (best + 1) + 1;
}

FIXTURE(delay)
{
	struct storm storm;
};

FIXTURE_VARIANT(delay)
{
	int point;	/* or 0 for all */
	int policy;
	size_t size;
};

#define ROOMY	(16 << 20)
#define SMALL	(32 << 10)

FIXTURE_VARIANT_ADD(delay, time) { PXTU_POINT_TIME, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, checked) { PXTU_POINT_CHECKED, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, checked_and_full) { PXTU_POINT_CHECKED, POSIX_TRACE_UNTIL_FULL, SMALL };
FIXTURE_VARIANT_ADD(delay, head) { PXTU_POINT_HEAD, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, head_of_loop) { PXTU_POINT_HEAD, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, writer) { PXTU_POINT_WRITER, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, header) { PXTU_POINT_DATA, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, written) { PXTU_POINT_WRITTEN, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, commit) { PXTU_POINT_COMMIT, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, commit_of_loop) { PXTU_POINT_COMMIT, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, drop) { PXTU_POINT_DROP, POSIX_TRACE_UNTIL_FULL, SMALL };
FIXTURE_VARIANT_ADD(delay, short_checked) { PXTU_POINT_SHORT_CHECKED, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, short_head) { PXTU_POINT_SHORT_HEAD, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, short_time) { PXTU_POINT_SHORT_TIME, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, short_header) { PXTU_POINT_SHORT_DATA, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, short_written) { PXTU_POINT_SHORT_WRITTEN, POSIX_TRACE_LOOP, SMALL };
FIXTURE_VARIANT_ADD(delay, short_commit) { PXTU_POINT_SHORT_COMMIT, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, all_that_fits) { 0, POSIX_TRACE_UNTIL_FULL, ROOMY };
FIXTURE_VARIANT_ADD(delay, all_until_full) { 0, POSIX_TRACE_UNTIL_FULL, SMALL };
FIXTURE_VARIANT_ADD(delay, all_of_loop) { 0, POSIX_TRACE_LOOP, SMALL };

static int the_point;
static unsigned long long deadline;

/* All points means all but the drops, which are few. */
static bool is_counted(int point)
{
	return the_point ? point == the_point : point != PXTU_POINT_DROP;
}

/* On a kernel that is not slow. On one that is, these would leave no time for anything else. */
#define DELAY		40000ULL	/* nanoseconds */
#define TURNS		200		/* microseconds */
#define LETTERS		10000

static long wanted_aborts(void)
{
	return the_point ? 200 : 40;
}

static bool were_often_aborted(void)
{
	for (int point = 1; point <= PXTU_POINTS; point++) {
		if (is_counted(point) &&
		    __atomic_load_n(&aborts->at[point], __ATOMIC_RELAXED) < wanted_aborts())
			return now() > deadline;
	}
	return true;
}

FIXTURE_SETUP(delay)
{
	unsigned int loops = loops_of(DELAY * pxt_time_scale());

	ASSERT_NE(0, __rseq_size);
	aborts = share(sizeof(*aborts));
	ASSERT_NE(NULL, aborts);
	the_point = variant->point;
	for (int point = 1; point <= PXTU_POINTS; point++) {
		if (!the_point)
			delay_loops[point] = loops / PXTU_POINTS;
		else if (point == the_point)
			delay_loops[point] = loops;
	}
	storm_handler = record_in_handler;
	storm_letter_sent = collect_aborts;
	self->storm = (struct storm){
		.policy = variant->policy,
		.size = variant->size,
		.turns = TURNS * pxt_time_scale(),
		.letters = rounds(LETTERS),
		.is_long_enough = were_often_aborted,
		.unread = the_point == PXTU_POINT_DROP,
	};
	ASSERT_EQ(0, storm_prepare(&self->storm));
}

FIXTURE_TEARDOWN(delay)
{
	storm_end(&self->storm);
}

TEST_F_TIMEOUT(delay, aborted_there_every_event_is_accounted_for, 60)
{
	deadline = now() + 30 * NSEC * pxt_time_scale();
	storm_run(_metadata, &self->storm);
	for (int point = 1; point <= PXTU_POINTS; point++) {
		if (is_counted(point))
			EXPECT_LE(wanted_aborts(), aborts->at[point]);
		if (aborts->at[point])
			TH_LOG("point %d: %ld aborts", point, aborts->at[point]);
	}
}
#endif /* HAVE_DELAYS */

TEST_HARNESS_MAIN
