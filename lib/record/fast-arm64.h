/* SPDX-License-Identifier: MIT */
/*
 * The fast path of an event on arm64. fast.h describes it; fast-x86.h and rseq-arm64.h explain
 * each step in more detail.
 */
#ifndef PXTU_FAST_ARM64_H
#define PXTU_FAST_ARM64_H

#include "record/gate.h"
#include "record/asm-arm64.h"
#include "record/fast-layout.h"

/*
 * Check that this stream, and no other, wants the event. Input: x8: the gate. The load is an
 * acquire, as in PXTU_RSEQ_CHECK.
 */
#define PXTU_FAST_GATE								\
	"lsr w9, %w[header], #16\n\t"						\
	"add x10, x8, #" PXTU_TEXT(PXTU_GATE_ENABLE) "\n\t"			\
	"add x10, x10, x9, lsl #2\n\t"					\
	"ldar w9, [x10]\n\t"							\
	"ldr w10, " PXTU_OF(PXTU_CACHE_BIT, "%[cache]") "\n\t"			\
	"cmp w9, w10\n\t"							\
	"b.ne %l[no]\n\t"

/*
 * Read the counter. Input: x8: the gate. Output: x17: the counter, x13: the clock, x14: the address
 * of its seq, w15: seq. This comes after the gate check: the gate opens after a stream has started,
 * so no event is older than the start. A stream with relaxed order skips the barrier.
 */
#define PXTU_FAST_COUNTER							\
	"add x13, x8, #" PXTU_TEXT(PXTU_CLOCK_OFFSET) "\n\t"			\
	"add x14, x13, #" PXTU_TEXT(PXTU_CLOCK_SEQ) " - " PXTU_TEXT(PXTU_CLOCK_OFFSET) "\n\t" \
	"ldar w15, [x14]\n\t"							\
	"ldr w9, " PXTU_OF(PXTU_CACHE_RELAXED, "%[cache]") "\n\t"		\
	"cbnz w9, 5f\n\t"							\
	"isb\n"									\
	"5:\n\t"								\
	"mrs x17, cntvct_el0\n\t"						\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_TIME)

/*
 * Check that the cache is valid and is for this CPU. Input: x8: the gate, x16: the area. Output:
 * x11: the head of this CPU.
 */
#define PXTU_FAST_CPU								\
	"ldr x9, " PXTU_OF(PXTU_GATE_GENERATION, "x8") "\n\t"			\
	"ldr x10, " PXTU_OF(PXTU_CACHE_GENERATION, "%[cache]") "\n\t"		\
	"cmp x9, x10\n\t"							\
	"b.ne %l[no]\n\t"							\
	"ldr w9, " PXTU_OF(PXTU_RSEQ_CPU_ID, "x16") "\n\t"			\
	"ldr w10, " PXTU_OF(PXTU_CACHE_CPU, "%[cache]") "\n\t"			\
	"cmp w9, w10\n\t"							\
	"b.ne %l[no]\n\t"							\
	"ldr x11, " PXTU_OF(PXTU_CACHE_HEAD, "%[cache]") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_CHECKED)

/*
 * Check that the writer in the head is this thread. PXTU_FAST_RESERVE checks that this writer is
 * valid. Input: x11: the head.
 */
#define PXTU_FAST_WRITER							\
	"ldp x9, x10, " PXTU_OF(PXTU_HEAD_IDS, "x11") "\n\t"			\
	"ldp x12, x8, " PXTU_OF(PXTU_CACHE_IDS, "%[cache]") "\n\t"		\
	"cmp x9, x12\n\t"							\
	"ccmp x10, x8, #0, eq\n\t"						\
	"b.ne %l[no]\n\t"

/*
 * Make room for a record with its data at offset @at. Input: x11: the head. Output: x8: start of
 * the record, x9: bytes of data, x10: end of the record, x12: the next head. The limit of a full
 * stream is below the end of any record, so this fails. A forged head cannot lead out of the pool,
 * because the start of the record is checked as well.
 */
#define PXTU_FAST_RESERVE(at)							\
	"ldr x12, " PXTU_OF(PXTU_HEAD_HEAD, "x11") "\n\t"			\
	"ldr x9, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x11") "\n\t"		\
	/* Do the writer fields describe the last record? */			\
	"cmp x12, x9\n\t"							\
	"b.ne %l[no]\n\t"							\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_HEAD)					\
	"and w9, %w[header], #0xffff\n\t"					\
	/* A signal handler may have filled the cache since the caller checked len_end. */ \
	"ldr x10, " PXTU_OF(PXTU_CACHE_LEN_END, "%[cache]") "\n\t"		\
	"cmp x9, x10\n\t"							\
	"b.hs %l[no]\n\t"							\
	"add w10, w9, #" PXTU_TEXT(at) " + 7\n\t"				\
	"and w10, w10, #0xfffffff8\n\t"					\
	"mov w8, w12\n\t"							\
	"add x12, x12, x10\n\t"						\
	"add x10, x8, x10\n\t"							\
	/* Count the record. */							\
	"mov x6, #1 << 32\n\t"							\
	"add x12, x12, x6\n\t"							\
	"ldr w6, " PXTU_OF(PXTU_HEAD_LIMIT, "x11") "\n\t"			\
	"cmp x10, x6\n\t"							\
	"b.hi %l[no]\n\t"							\
	"ldp x6, x7, " PXTU_OF(PXTU_CACHE_POOL, "%[cache]") "\n\t"		\
	"cmp x8, x7\n\t"							\
	"b.hi %l[no]\n\t"							\
	"add x8, x8, x6\n\t"							\
	"add x10, x10, x6\n\t"

/*
 * Copy x9 bytes of data to x8 + 16, in pieces that may overlap. The padding is in the last word,
 * which is already zero. x16 + 16 is the end of the copy.
 */
#define PXTU_FAST_COPY								\
	"cbz w9, 14f\n\t"							\
	"add x16, x8, x9\n\t"							\
	"add x10, %[data], x9\n\t"						\
	"cmp w9, #16\n\t"							\
	"b.lo 11f\n\t"								\
	"ldp x6, x7, [%[data]]\n\t"						\
	"stp x6, x7, [x8, #16]\n\t"						\
	"ldp x6, x7, [x10, #-16]\n\t"						\
	"stp x6, x7, [x16]\n\t"						\
	"cmp w9, #32\n\t"							\
	"b.ls 14f\n\t"								\
	"ldp x6, x7, [%[data], #16]\n\t"					\
	"stp x6, x7, [x8, #32]\n\t"						\
	"ldp x6, x7, [x10, #-32]\n\t"						\
	"stp x6, x7, [x16, #-16]\n\t"						\
	"b 14f\n"								\
	"11:\n\t"								\
	"tbz w9, #3, 12f\n\t"							\
	"ldr x6, [%[data]]\n\t"						\
	"str x6, [x8, #16]\n\t"						\
	"ldur x6, [x10, #-8]\n\t"						\
	"str x6, [x16, #8]\n\t"						\
	"b 14f\n"								\
	"12:\n\t"								\
	"tbz w9, #2, 13f\n\t"							\
	"ldr w6, [%[data]]\n\t"						\
	"str w6, [x8, #16]\n\t"						\
	"ldur w6, [x10, #-4]\n\t"						\
	"str w6, [x16, #12]\n\t"						\
	"b 14f\n"								\
	/* Up to three bytes: the first, the last, the one in the middle. */	\
	"13:\n\t"								\
	"ldrb w6, [%[data]]\n\t"						\
	"strb w6, [x8, #16]\n\t"						\
	"ldurb w6, [x10, #-1]\n\t"						\
	"strb w6, [x16, #15]\n\t"						\
	"lsr w6, w9, #1\n\t"							\
	"ldrb w7, [%[data], x6]\n\t"						\
	"add x6, x8, x6\n\t"							\
	"strb w7, [x6, #16]\n"							\
	"14:\n\t"

/*
 * Turn the counter in x17 into the time, as in pxtu_clock_count(), and check it against the head at
 * x11. Jump to "no" if the counter is older than the last update of the clock. The same comparison
 * catches POSIXTRACE_CYCLE_NONE.
 */
#define PXTU_FAST_TIME								\
	"ldr x6, " PXTU_OF_CLOCK(PXTU_CLOCK_CYCLE_LAST, "x13") "\n\t"		\
	"subs x17, x17, x6\n\t"						\
	"b.lo %l[no]\n\t"							\
	"ldr x7, " PXTU_OF_CLOCK(PXTU_CLOCK_MULT, "x13") "\n\t"		\
	"mul x6, x17, x7\n\t"							\
	"umulh x17, x17, x7\n\t"						\
	"ldr x7, " PXTU_OF_CLOCK(PXTU_CLOCK_FRACTION, "x13") "\n\t"		\
	"adds x6, x6, x7\n\t"							\
	"adc x17, x17, xzr\n\t"						\
	"extr x17, x17, x6, #" PXTU_TEXT(PXTU_CLOCK_SHIFT) "\n\t"		\
	"ldr x7, " PXTU_OF_CLOCK(PXTU_CLOCK_REAL, "x13") "\n\t"		\
	"add x17, x17, x7\n\t"							\
	/* The address depends on all loads above, so this load comes after them. */ \
	/* Pairs with the barrier in counter_changed() before it changes the clock. */ \
	"eor x7, x17, x17\n\t"							\
	"ldr w7, [x14, x7]\n\t"						\
	/* An odd number fails the comparison. */				\
	"and w15, w15, #0xfffffffe\n\t"					\
	"cmp w7, w15\n\t"							\
	"b.ne %l[no]\n\t"							\
	"ldr x6, " PXTU_OF(PXTU_HEAD_LAST, "x11") "\n\t"			\
	"ldr x7, " PXTU_OF(PXTU_HEAD_TIME_END, "x11") "\n\t"			\
	"cmp x17, x6\n\t"							\
	"b.lo %l[no]\n\t"							\
	"cmp x17, x7\n\t"							\
	"b.hs %l[no]\n\t"

/*
 * Write the record at x8, without time and data. Clear the last word before all else: it may also
 * have data and, in a small packed record, the address.
 */
#define PXTU_FAST_HEADER							\
	"str xzr, [x10, #-8]\n\t"						\
	"str %w[header], [x8]\n\t"						\
	"str %[address], [x8, #8]\n\t"

/* The data of a packed record starts 4 bytes earlier, so move x8. */
#define PXTU_FAST_PACKED_HEADER						\
	"str xzr, [x10, #-8]\n\t"						\
	"orr w7, %w[header], #1 << " PXTU_TEXT(PXTU_PACKED_BIT) "\n\t"		\
	"str w7, [x8]\n\t"							\
	"str %w[address], [x8, #8]\n\t"					\
	"sub x8, x8, #" PXTU_TEXT(PXTU_RECORD_DATA) " - " PXTU_TEXT(PXTU_PACKED_DATA) "\n\t"

/* A sequence: @reserve makes room, @header writes the start of the record, @time its time. */
#define PXTU_FAST_SEQUENCE(reserve, header, time)				\
	"ldr x16, " PXTU_OF(PXTU_CACHE_AREA, "%[cache]") "\n\t"			\
	PXTU_RSEQ_ADDRESS("3b")							\
	"adrp x8, :got:__posix_trace_gate\n\t"					\
	"ldr x8, [x8, :got_lo12:__posix_trace_gate]\n\t"			\
	"str x9, " PXTU_OF(PXTU_RSEQ_CS, "x16") "\n"				\
	"1:\n\t"								\
	PXTU_FAST_GATE								\
	PXTU_FAST_COUNTER							\
	PXTU_FAST_CPU								\
	PXTU_FAST_WRITER							\
	reserve									\
	header									\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_DATA)					\
	PXTU_FAST_COPY								\
	PXTU_FAST_TIME								\
	time									\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_WRITTEN)				\
	"str x17, " PXTU_OF(PXTU_HEAD_LAST, "x11") "\n\t"			\
	"str x12, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x11") "\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_COMMIT)				\
	"ldr x6, " PXTU_OF(PXTU_CACHE_WAKEUP, "%[cache]") "\n\t"			\
	"ldr w6, " PXTU_OF(PXTU_NEED_WAKEUP, "x6") "\n\t"			\
	"ldr x16, " PXTU_OF(PXTU_CACHE_AREA, "%[cache]") "\n\t"			\
	/* Commit, as in PXTU_RSEQ_WRITE, then disarm. */			\
	"stlr x12, [x11]\n"							\
	"2:\n\t"								\
	"str xzr, " PXTU_OF(PXTU_RSEQ_CS, "x16") "\n\t"				\
	"cbnz w6, %l[do_wake]\n\t"						\
	PXTU_RSEQ_ABORT("no")

/* Packs the record as prepare() does. If the gate does not match the cache, the sequence fails. */
#define PXTU_FAST_RECORD							\
	/* As POSIXTRACE_RECORD_PACKS(): the length is in the lower bits. */ \
	"sub w9, %w[header], #1\n\t"						\
	"tbnz w9, #2, 6f\n\t"							\
	"adrp x8, :got:__posix_trace_gate\n\t"					\
	"ldr x8, [x8, :got_lo12:__posix_trace_gate]\n\t"			\
	"lsr x9, %[address], #32\n\t"						\
	"ldr w10, " PXTU_OF(PXTU_GATE_ADDRESS_HIGH, "x8") "\n\t"		\
	"cmp w9, w10\n\t"							\
	"b.ne 6f\n\t"								\
	PXTU_RSEQ_TABLE("3")							\
	PXTU_FAST_SEQUENCE(PXTU_FAST_RESERVE(PXTU_PACKED_DATA), PXTU_FAST_PACKED_HEADER, \
			    "str w17, [x8, #4+4]\n\t")				\
	"b 7f\n"								\
	"6:\n\t"								\
	PXTU_RSEQ_TABLE("3")							\
	PXTU_FAST_SEQUENCE(PXTU_FAST_RESERVE(PXTU_RECORD_DATA), PXTU_FAST_HEADER, \
			    "str w17, [x8, #4]\n\t")				\
	"7:\n\t"

#define PXTU_FAST_OPERANDS							\
	[cache] "r" (cache),							\
	[header] "r" (pxtu_header((__u32)len, (__u32)id, 0)),			\
	[data] "r" (data),							\
	[address] "r" (prog_address)

#define PXTU_FAST_RECORD_CHANGES						\
	PXTU_RSEQ_DELAY_CHANGES "memory", "cc", "x6", "x7", "x8", "x9", "x10", "x11", \
	"x12", "x13", "x14", "x15", "x16", "x17"

/*
 * Write the first word last: it validates the rest. Write @len_end after @area, because the next
 * event uses @area right after checking @len_end. A matching gate generation means that the heads
 * are still mapped. The barrier keeps a thread that has just moved to this CPU from reading the
 * counter early.
 */
#define PXTU_FAST_FILL								\
	"ldr x12, " PXTU_OF(PXTU_CACHE_AREA, "%[from]") "\n\t"			\
	PXTU_RSEQ_ADDRESS("3b")							\
	"str x9, " PXTU_OF(PXTU_RSEQ_CS, "x12") "\n"				\
	"1:\n\t"								\
	"str xzr, [%[cache]]\n\t"						\
	"ldp x10, x11, [%[from], #24]\n\t"					\
	"stp x10, x11, [%[cache], #24]\n\t"					\
	"ldp x10, x11, [%[from], #40]\n\t"					\
	"stp x10, x11, [%[cache], #40]\n\t"					\
	"ldp x10, x11, [%[from], #56]\n\t"					\
	"stp x10, x11, [%[cache], #56]\n\t"					\
	"ldp x10, x11, [%[from], #72]\n\t"					\
	"stp x10, x11, [%[cache], #72]\n\t"					\
	"ldr w10, " PXTU_OF(PXTU_RSEQ_CPU_ID, "x12") "\n\t"			\
	"ldr w11, " PXTU_OF(PXTU_CACHE_NR_CPUS, "%[from]") "\n\t"		\
	"cmp w10, w11\n\t"							\
	"b.hs %l[no]\n\t"							\
	"str w10, " PXTU_OF(PXTU_CACHE_CPU, "%[cache]") "\n\t"			\
	"ldr x11, " PXTU_OF(PXTU_CACHE_HEAD, "%[from]") "\n\t"			\
	"add x11, x11, x10, lsl #" PXTU_TEXT(PXTU_HEAD_SHIFT) "\n\t"		\
	"adrp x12, :got:__posix_trace_gate\n\t"				\
	"ldr x12, [x12, :got_lo12:__posix_trace_gate]\n\t"			\
	"ldr x9, " PXTU_OF(PXTU_GATE_GENERATION, "x12") "\n\t"			\
	"ldr x10, [%[from]]\n\t"						\
	"cmp x9, x10\n\t"							\
	"b.ne %l[no]\n\t"							\
	/* Was the last writer on this CPU our program? */				\
	"ldr w9, " PXTU_OF(PXTU_GATE_ADDRESS_HIGH, "x12") "\n\t"		\
	"ldr w12, " PXTU_OF(PXTU_HEAD_ADDRESS_HIGH, "x11") "\n\t"		\
	"cmp w9, w12\n\t"							\
	"b.ne %l[no]\n\t"							\
	"str x11, " PXTU_OF(PXTU_CACHE_HEAD, "%[cache]") "\n\t"			\
	"ldr x11, " PXTU_OF(PXTU_CACHE_LEN_END, "%[from]") "\n\t"		\
	"str x11, " PXTU_OF(PXTU_CACHE_LEN_END, "%[cache]") "\n\t"		\
	"isb\n\t"								\
	"str x10, [%[cache]]\n"							\
	"2:\n\t"								\
	PXTU_RSEQ_ABORT("no")

#define PXTU_FAST_FILL_CHANGES							\
	PXTU_RSEQ_DELAY_CHANGES "memory", "cc", "x9", "x10", "x11", "x12"

#endif /* PXTU_FAST_ARM64_H */
