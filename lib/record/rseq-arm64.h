/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences on arm64. rseq.h describes what they do, and why; rseq-x86.h explains each
 * step in more detail.
 */
#ifndef PXTU_RSEQ_ARM64_H
#define PXTU_RSEQ_ARM64_H

#include "record/asm-arm64.h"

/*
 * Check that the gate is open and the slot is ours, or else jump to "no". Input: x16: the area.
 * Output: x12: struct posixtrace_cpu_head of this CPU. The acquire orders the gate before the time
 * in that head, which START sets before it opens the gate. Pairs with the unlocks in run()
 * (kmod/stream/state.c).
 */
#define PXTU_RSEQ_CHECK								\
	"ldr x9, " PXTU_OF(PXTU_GATE_GENERATION, "%[gate]") "\n\t"		\
	"ldr x10, " PXTU_OF(PXTU_ENTRY_GENERATION, "%[entry]") "\n\t"		\
	"cmp x9, x10\n\t"							\
	"b.ne %l[no]\n\t"							\
	"ldr x10, " PXTU_OF(PXTU_ENTRY_ENABLE, "%[entry]") "\n\t"		\
	"ldar w10, [x10]\n\t"							\
	"ldr w9, " PXTU_OF(PXTU_ENTRY_BIT, "%[entry]") "\n\t"			\
	"tst w9, w10\n\t"							\
	"b.eq %l[no]\n\t"							\
	"ldr x12, " PXTU_OF(PXTU_SLOT_HEADS, "%[slot]") "\n\t"			\
	"cbz x12, %l[no]\n\t"							\
	"ldr w9, " PXTU_OF(PXTU_RSEQ_CPU_ID, "x16") "\n\t"			\
	"ldr w10, " PXTU_OF(PXTU_ENTRY_NR_CPUS, "%[entry]") "\n\t"		\
	"cmp w9, w10\n\t"							\
	"b.hs %l[no]\n\t"							\
	"add x12, x12, x9, lsl #" PXTU_TEXT(PXTU_HEAD_SHIFT) "\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_DELAY_CHECKED)

#define PXTU_RSEQ_ARM								\
	PXTU_RSEQ_ADDRESS("pxtu_rseq_record_table")				\
	"str x9, " PXTU_OF(PXTU_RSEQ_CS, "%[area]")

#define PXTU_RSEQ_DROP								\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_AREA, "%[entry]") "\n\t"			\
	PXTU_RSEQ_ADDRESS("3b")							\
	"str x9, " PXTU_OF(PXTU_RSEQ_CS, "x16") "\n"				\
	"1:\n\t"								\
	PXTU_RSEQ_CHECK								\
	"ldr w9, " PXTU_OF(PXTU_HEAD_LIMIT, "x12") "\n\t"			\
	"cmp w9, #" PXTU_TEXT(PXTU_LIMIT_FULL) "\n\t"				\
	"b.ne %l[no]\n\t"							\
	PXTU_RSEQ_DELAY(PXTU_DELAY_DROP)					\
	"ldr x9, " PXTU_OF(PXTU_HEAD_LOST, "x12") "\n\t"			\
	"add x9, x9, #1\n\t"							\
	"str x9, " PXTU_OF(PXTU_HEAD_LOST, "x12") "\n"				\
	"2:\n\t"								\
	PXTU_RSEQ_ABORT("again")

#define PXTU_RSEQ_ARM_CHANGES	"memory", "x9"
#define PXTU_RSEQ_DROP_CHANGES							\
	PXTU_RSEQ_DELAY_CHANGES "memory", "cc", "x9", "x10", "x12", "x16"

/*
 * Load the time that was taken earlier into x11. If the thread was interrupted since, the area at
 * x16 no longer points to @table, and the time is stale.
 */
#define PXTU_RSEQ_TIME_TAKEN(table)						\
	PXTU_RSEQ_ADDRESS(table)						\
	"ldr x10, " PXTU_OF(PXTU_RSEQ_CS, "x16") "\n\t"			\
	"cmp x9, x10\n\t"							\
	"b.ne %l[again]\n\t"							\
	"ldr x11, " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") "\n\t"

/* Write the record, with the time in x11. */
#define PXTU_RSEQ_WRITE								\
	PXTU_RSEQ_DELAY(PXTU_DELAY_TIME)					\
	PXTU_RSEQ_CHECK								\
	"ldr x9, " PXTU_OF(PXTU_HEAD_LAST, "x12") "\n\t"			\
	"cmp x11, x9\n\t"							\
	"b.lo %l[again]\n\t"							\
	/* x9: start of the record, x10: its end, x13: the head, later the next head. */ \
	"ldr x13, " PXTU_OF(PXTU_HEAD_HEAD, "x12") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_DELAY_HEAD)					\
	"ldr x14, " PXTU_OF(PXTU_ENTRY_STEP, "%[entry]") "\n\t"		\
	"mov w9, w13\n\t"							\
	"add x10, x9, w14, uxtw\n\t"						\
	/* x15: bytes that name the writer; 0 if we wrote the previous record, recently enough. */ \
	"mov x15, #0\n\t"							\
	"ldr x16, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x12") "\n\t"		\
	"cmp x16, x13\n\t"							\
	"b.ne 7f\n\t"								\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") "\n\t"			\
	"ldr x17, " PXTU_OF(PXTU_HEAD_IDS, "x12") "\n\t"			\
	"cmp x16, x17\n\t"							\
	"b.ne 7f\n\t"								\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") "\n\t"		\
	"ldr x17, " PXTU_OF(PXTU_HEAD_THREAD_ID, "x12") "\n\t"			\
	"cmp x16, x17\n\t"							\
	"b.ne 7f\n\t"								\
	"ldr w16, " PXTU_OF(PXTU_ENTRY_WRITER + 4, "%[entry]") "\n\t"		\
	"ldr w17, " PXTU_OF(PXTU_HEAD_ADDRESS_HIGH, "x12") "\n\t"		\
	"cmp w16, w17\n\t"							\
	"b.ne 7f\n\t"								\
	"ldr x16, " PXTU_OF(PXTU_HEAD_TIME_END, "x12") "\n\t"			\
	"cmp x11, x16\n\t"							\
	"b.lo 8f\n"								\
	"7:\n\t"								\
	/* Invalid: no head has this value. Other writers of this CPU see the stores in order. */ \
	"mov x16, #-1\n\t"							\
	"str x16, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x12") "\n\t"		\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") "\n\t"			\
	"str x16, " PXTU_OF(PXTU_HEAD_IDS, "x12") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_DELAY_WRITER)					\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") "\n\t"		\
	"str x16, " PXTU_OF(PXTU_HEAD_THREAD_ID, "x12") "\n\t"			\
	"ldr w16, " PXTU_OF(PXTU_ENTRY_WRITER + 4, "%[entry]") "\n\t"		\
	"str w16, " PXTU_OF(PXTU_HEAD_ADDRESS_HIGH, "x12") "\n\t"		\
	"mov x16, #1\n\t"							\
	"add x16, x11, x16, lsl #" PXTU_TEXT(PXTU_WRITER_SPAN_BITS) "\n\t"	\
	"str x16, " PXTU_OF(PXTU_HEAD_TIME_END, "x12") "\n\t"			\
	"mov x15, #" PXTU_TEXT(PXTU_WRITER_SIZE) "\n\t"			\
	"add x13, x13, x15\n\t"						\
	"add x10, x10, x15\n"							\
	"8:\n\t"								\
	"add x13, x13, x14\n\t"						\
	"ldr w16, " PXTU_OF(PXTU_HEAD_LIMIT, "x12") "\n\t"			\
	"cmp x10, x16\n\t"							\
	"b.hi %l[no_room]\n\t"							\
	/* Another target may have forged the limit: stay inside the mapping. */ \
	"ldr x16, " PXTU_OF(PXTU_SLOT_POOL_SIZE, "%[slot]") "\n\t"		\
	"cmp x10, x16\n\t"							\
	"b.hi %l[no]\n\t"							\
	"ldr x16, " PXTU_OF(PXTU_SLOT_POOL, "%[slot]") "\n\t"			\
	"add x9, x9, x16\n\t"							\
	"cbz x15, 5f\n\t"							\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_WRITER, "%[entry]") "\n\t"		\
	"ldr x17, " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") "\n\t"			\
	"stp x16, x17, [x9]\n\t"						\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") "\n\t"		\
	"stp x16, x11, [x9, #16]\n\t"						\
	"add x9, x9, x15\n"							\
	"5:\n\t"								\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_HEADER, "%[entry]") "\n\t"		\
	"orr x16, x16, x11, lsl #32\n\t"					\
	"ldr x17, " PXTU_OF(PXTU_ENTRY_ADDRESS, "%[entry]") "\n\t"		\
	"stp x16, x17, [x9]\n\t"						\
	"str x11, " PXTU_OF(PXTU_HEAD_LAST, "x12") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_DELAY_DATA)					\
	"ldr w15, " PXTU_OF(PXTU_ENTRY_PIECES, "%[entry]") "\n\t"		\
	"cbz w15, 11f\n\t"							\
	"ldr x14, " PXTU_OF(PXTU_ENTRY_DATA, "%[entry]") "\n"			\
	"10:\n\t"								\
	"ldp x16, x17, [x14], #16\n\t"					\
	"stp x16, x17, [x9, #16]\n\t"						\
	"add x9, x9, #16\n\t"							\
	"subs w15, w15, #1\n\t"						\
	"b.ne 10b\n"								\
	"11:\n\t"								\
	"ldr w15, " PXTU_OF(PXTU_ENTRY_REST_WORDS, "%[entry]") "\n\t"		\
	"cbz w15, 6f\n\t"							\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_REST, "%[entry]") "\n\t"		\
	"str x16, [x9, #16]\n\t"						\
	"subs w15, w15, #1\n\t"						\
	"b.eq 6f\n\t"								\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_REST + 8, "%[entry]") "\n\t"		\
	"str x16, [x9, #24]\n"							\
	"6:\n\t"								\
	PXTU_RSEQ_DELAY(PXTU_DELAY_WRITTEN)					\
	"str x13, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x12") "\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_DELAY_COMMIT)					\
	/* w10: need_wakeup. Read it in the sequence, where its mapping cannot go away. */ \
	"ldr x10, " PXTU_OF(PXTU_SLOT_WAKEUP, "%[slot]") "\n\t"		\
	"ldr w10, " PXTU_OF(PXTU_NEED_WAKEUP, "x10") "\n\t"			\
	/* Commit: pairs with the reader's acquire in subbuf_used(). */		\
	"stlr x13, [x12]\n"							\
	"2:\n\t"								\
	"cbnz w10, %l[do_wake]\n\t"						\
	PXTU_RSEQ_ABORT("again")

#define PXTU_RSEQ_WRITE_CHANGES							\
	PXTU_RSEQ_DELAY_CHANGES							\
	"memory", "cc", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17"

/*
 * Read the counter, ordered as in pxtu_counter(), or jump to "no_counter". Output, for
 * PXTU_RSEQ_TIME_COUNT: x11: the counter, x13: the clock, w14: its seq.
 */
#define PXTU_RSEQ_COUNTER							\
	"add x13, %[gate], #" PXTU_TEXT(PXTU_CLOCK_OFFSET) "\n\t"		\
	"add x15, x13, #" PXTU_TEXT(PXTU_CLOCK_SEQ) " - " PXTU_TEXT(PXTU_CLOCK_OFFSET) "\n\t" \
	"ldar w14, [x15]\n\t"							\
	"ldr w9, " PXTU_OF_CLOCK(PXTU_CLOCK_COUNTER, "x13") "\n\t"		\
	"cmp w9, #" PXTU_TEXT(PXTU_COUNTER_CNTVCT) "\n\t"			\
	"b.ne %l[no_counter]\n\t"						\
	"isb\n\t"								\
	"mrs x11, cntvct_el0\n\t"

/*
 * Turn the counter in x11 into the time, as in pxtu_clock_count(), or jump to "no_counter".
 * Changes x9 and x10.
 */
#define PXTU_RSEQ_TIME_COUNT							\
	"ldr x9, " PXTU_OF_CLOCK(PXTU_CLOCK_CYCLE_LAST, "x13") "\n\t"		\
	"subs x11, x11, x9\n\t"						\
	"csel x11, x11, xzr, hs\n\t"						\
	"ldr x9, " PXTU_OF_CLOCK(PXTU_CLOCK_MULT, "x13") "\n\t"		\
	"mul x10, x11, x9\n\t"							\
	"umulh x11, x11, x9\n\t"						\
	"ldr x9, " PXTU_OF_CLOCK(PXTU_CLOCK_FRACTION, "x13") "\n\t"		\
	"adds x10, x10, x9\n\t"						\
	"adc x11, x11, xzr\n\t"						\
	"extr x11, x11, x10, #" PXTU_TEXT(PXTU_CLOCK_SHIFT) "\n\t"		\
	"ldr x9, " PXTU_OF_CLOCK(PXTU_CLOCK_REAL, "x13") "\n\t"		\
	"add x11, x11, x9\n\t"							\
	/* Pairs with the barrier in counter_changed() before it changes the clock. */ \
	"dmb ishld\n\t"							\
	"ldr w9, " PXTU_OF_CLOCK(PXTU_CLOCK_SEQ, "x13") "\n\t"			\
	/* An odd number fails the comparison. */				\
	"and w14, w14, #0xfffffffe\n\t"					\
	"cmp w9, w14\n\t"							\
	"b.ne %l[no_counter]\n\t"

#define PXTU_RSEQ_RECORD							\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_AREA, "%[entry]") "\n"			\
	"1:\n\t"								\
	PXTU_RSEQ_TIME_TAKEN("pxtu_rseq_record_table")				\
	PXTU_RSEQ_WRITE

#define PXTU_RSEQ_RECORD_NOW							\
	"ldr x16, " PXTU_OF(PXTU_ENTRY_AREA, "%[entry]") "\n\t"			\
	"ldr x9, " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") "\n\t"			\
	"cbnz x9, 12f\n\t"							\
	PXTU_RSEQ_ADDRESS("3b")							\
	"str x9, " PXTU_OF(PXTU_RSEQ_CS, "x16") "\n"				\
	"1:\n\t"								\
	PXTU_RSEQ_COUNTER							\
	PXTU_RSEQ_TIME_COUNT							\
	"str x11, " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") "\n\t"			\
	"b 13f\n"								\
	"12:\n\t"								\
	PXTU_RSEQ_TIME_TAKEN("3b")						\
	"13:\n\t"								\
	PXTU_RSEQ_WRITE

#endif /* PXTU_RSEQ_ARM64_H */
