/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Restartable sequences with a long delay at a selected point. Include this before all other
 * headers: the program then contains the library's code, with delay loops in the sequences.
 */
#ifndef _SELFTESTS_DELAY_H
#define _SELFTESTS_DELAY_H

#define DELAY_TEXT_(number)	#number
#define DELAY_TEXT(number)	DELAY_TEXT_(number)

#if defined(__x86_64__)
#define HAVE_DELAYS

/*
 * Delays a thread at this point. The mark remains if the kernel aborts the sequence because of the
 * delay.
 */
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

/* The same for arm64, with three scratch registers. */
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
#include "../../lib/record/cache.c"
#include "../../lib/record/write.c"

#include "family.h"
#include "process.h"

/*
 * The sequences refer to these three variables by name. Set delay_loops before other threads are
 * started.
 */
unsigned int delay_loops[PXTU_DELAYS + 1];
__thread unsigned int delay_at;
/* Number of aborts at each point. Index 0 is for aborts elsewhere. */
__thread unsigned int delay_aborts[PXTU_DELAYS + 1];

/* Returns the number of loops that take @nanoseconds on an idle processor. */
static inline unsigned int loops_of(unsigned long long nanoseconds)
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
#endif /* HAVE_DELAYS */

#endif /* _SELFTESTS_DELAY_H */
