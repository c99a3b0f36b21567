/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences on arm64. rseq.h describes what they do, and why; rseq-x86.h has more
 * on each step.
 */
#ifndef PXTU_RSEQ_ARM64_H
#define PXTU_RSEQ_ARM64_H

#include "record/rseq-layout.h"

/* A member of the structure that %[slot], x12, ... points to. */
#define PXTU_OF(number, base)	"[" base ", #" PXTU_TEXT(number) "]"

/* A struct rseq_cs: version, flags, begin, length, address of the abort handler. */
#define PXTU_RSEQ_TABLE(label)					\
	".pushsection __rseq_cs, \"aw\"\n\t"			\
	".balign 32\n"						\
	label ":\n"						\
	"9:\n\t"						\
	".long 0, 0\n\t"					\
	".quad 1f, 2f - 1f, 4f\n\t"				\
	".popsection\n\t"					\
	/* Tells debuggers not to step through the sequence. */ \
	".pushsection __rseq_cs_ptr_array, \"aw\"\n\t"		\
	".quad 9b\n\t"						\
	".popsection\n\t"

/* x9: the address of a table. */
#define PXTU_RSEQ_RECORD_TABLE					\
	"adrp x9, pxtu_rseq_record_table\n\t"			\
	"add x9, x9, :lo12:pxtu_rseq_record_table\n\t"

#define PXTU_RSEQ_DROP_TABLE					\
	"adrp x9, pxtu_rseq_drop_table\n\t"			\
	"add x9, x9, :lo12:pxtu_rseq_drop_table\n\t"

/* The abort handler, after the signature that the kernel checks. */
#define PXTU_RSEQ_ABORT(label)					\
	"b 12f\n\t"						\
	".inst " PXTU_TEXT(RSEQ_SIG_CODE) "\n"			\
	"4:\n\t"						\
	"b %l[" label "]\n"					\
	"12:\n\t"

/* Gate open, slot ours? Else jumps to "no". Then x12 is the head of this CPU. */
#define PXTU_RSEQ_CHECK								\
	"ldr x9, " PXTU_OF(PXTU_GATE_GENERATION, "%[gate]") "\n\t"		\
	"ldr x10, " PXTU_OF(PXTU_ENTRY_GENERATION, "%[entry]") "\n\t"		\
	"cmp x9, x10\n\t"							\
	"b.ne %l[no]\n\t"							\
	"ldr x10, " PXTU_OF(PXTU_ENTRY_ENABLE, "%[entry]") "\n\t"		\
	"ldr w10, [x10]\n\t"							\
	"ldr w9, " PXTU_OF(PXTU_ENTRY_BIT, "%[entry]") "\n\t"			\
	"tst w9, w10\n\t"							\
	"b.eq %l[no]\n\t"							\
	"ldr x12, " PXTU_OF(PXTU_SLOT_HEADS, "%[slot]") "\n\t"			\
	"cbz x12, %l[no]\n\t"							\
	"ldr w9, " PXTU_OF(PXTU_RSEQ_CPU_ID, "%[area]") "\n\t"			\
	"ldr w10, " PXTU_OF(PXTU_ENTRY_NR_CPUS, "%[entry]") "\n\t"		\
	"cmp w9, w10\n\t"							\
	"b.hs %l[no]\n\t"							\
	"add x12, x12, x9, lsl #" PXTU_TEXT(PXTU_HEAD_SHIFT) "\n\t"

#define PXTU_RSEQ_CHECKED					\
	[area] "r" (pxtu_rseq_area()),				\
	[gate] "r" (gate),					\
	[slot] "r" (slot),					\
	[entry] "r" (entry)

static inline void pxtu_rseq_arm(void)
{
	__asm__ __volatile__ (PXTU_RSEQ_RECORD_TABLE
		"str x9, " PXTU_OF(PXTU_RSEQ_CS, "%[area]")
		:
		: [area] "r" (pxtu_rseq_area())
		: "memory", "x9");
}

static inline void pxtu_rseq_disarm(void)
{
	__asm__ __volatile__ ("str xzr, " PXTU_OF(PXTU_RSEQ_CS, "%[area]")
		:
		: [area] "r" (pxtu_rseq_area())
		: "memory");
}

/* Its table has a name, too: arm64 has no other way to its address. */
static __attribute__((__noinline__)) enum pxtu_written
pxtu_rseq_drop(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
	       const struct pxtu_entry *entry)
{
	__asm__ goto(PXTU_RSEQ_TABLE("pxtu_rseq_drop_table")
		PXTU_RSEQ_DROP_TABLE
		"str x9, " PXTU_OF(PXTU_RSEQ_CS, "%[area]") "\n"
		"1:\n\t"
		PXTU_RSEQ_CHECK
		"ldr w9, " PXTU_OF(PXTU_HEAD_FLAGS, "x12") "\n\t"
		"tst w9, #" PXTU_TEXT(PXTU_HEAD_FULL) "\n\t"
		"b.eq %l[no]\n\t"
		"ldr x9, " PXTU_OF(PXTU_HEAD_LOST, "x12") "\n\t"
		"add x9, x9, #1\n\t"
		"str x9, " PXTU_OF(PXTU_HEAD_LOST, "x12") "\n"
		"2:\n\t"
		PXTU_RSEQ_ABORT("again")
		:
		: PXTU_RSEQ_CHECKED
		: "memory", "cc", "x9", "x10", "x12"
		: no, again);
	return PXTU_WRITTEN;
no:
	return PXTU_WRITTEN_NO;
again:
	return PXTU_WRITTEN_AGAIN;
}

/* Neither inlined nor cloned: pxtu_rseq_arm() needs the name of its table. */
static __attribute__((__noinline__)) enum pxtu_written
pxtu_rseq_record(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
		 const struct pxtu_entry *entry)
{
	/* With link-time optimization pxtu_rseq_arm() may end up in another object file. */
	__asm__ goto(".globl pxtu_rseq_record_table\n\t"
		".hidden pxtu_rseq_record_table\n\t"
		PXTU_RSEQ_TABLE("pxtu_rseq_record_table")
		"1:\n\t"
		/* The time is too old if the thread was interrupted since. */
		PXTU_RSEQ_RECORD_TABLE
		"ldr x10, " PXTU_OF(PXTU_RSEQ_CS, "%[area]") "\n\t"
		"cmp x9, x10\n\t"
		"b.ne %l[again]\n\t"
		PXTU_RSEQ_CHECK
		/* x11: the time. */
		"ldr x11, " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") "\n\t"
		"ldr x9, " PXTU_OF(PXTU_HEAD_LAST, "x12") "\n\t"
		"cmp x11, x9\n\t"
		"b.lo %l[again]\n\t"
		/* x9: begin of the record, x10: its end, x13: the head, later the next head. */
		"ldr x13, " PXTU_OF(PXTU_HEAD_HEAD, "x12") "\n\t"
		"ldr x14, " PXTU_OF(PXTU_ENTRY_STEP, "%[entry]") "\n\t"
		"mov w9, w13\n\t"
		"add x10, x9, w14, uxtw\n\t"
		/* x15: bytes that name the writer. None if we wrote the previous record, too. */
		"mov x15, #0\n\t"
		"ldr x16, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x12") "\n\t"
		"cmp x16, x13\n\t"
		"b.ne 7f\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") "\n\t"
		"ldr x17, " PXTU_OF(PXTU_HEAD_IDS, "x12") "\n\t"
		"cmp x16, x17\n\t"
		"b.ne 7f\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") "\n\t"
		"ldr x17, " PXTU_OF(PXTU_HEAD_THREAD_ID, "x12") "\n\t"
		"cmp x16, x17\n\t"
		"b.ne 7f\n\t"
		"ldr x16, " PXTU_OF(PXTU_HEAD_TIME_END, "x12") "\n\t"
		"cmp x11, x16\n\t"
		"b.lo 8f\n"
		"7:\n\t"
		/* No head has this value. Other writers of this CPU see it in this order. */
		"mov x16, #-1\n\t"
		"str x16, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x12") "\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") "\n\t"
		"str x16, " PXTU_OF(PXTU_HEAD_IDS, "x12") "\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") "\n\t"
		"str x16, " PXTU_OF(PXTU_HEAD_THREAD_ID, "x12") "\n\t"
		"mov x16, #1\n\t"
		"add x16, x11, x16, lsl #" PXTU_TEXT(PXTU_WRITER_SPAN_BITS) "\n\t"
		"str x16, " PXTU_OF(PXTU_HEAD_TIME_END, "x12") "\n\t"
		"mov x15, #" PXTU_TEXT(PXTU_WRITER_SIZE) "\n\t"
		"add x13, x13, x15\n\t"
		"add x10, x10, x15\n"
		"8:\n\t"
		"add x13, x13, x14\n\t"
		"ldr w16, " PXTU_OF(PXTU_HEAD_LIMIT, "x12") "\n\t"
		"cmp x10, x16\n\t"
		"b.hi %l[no_room]\n\t"
		/* Another target may have written any limit: stay inside the mapping. */
		"ldr x16, " PXTU_OF(PXTU_SLOT_POOL_SIZE, "%[slot]") "\n\t"
		"cmp x10, x16\n\t"
		"b.hi %l[no]\n\t"
		"ldr x16, " PXTU_OF(PXTU_SLOT_POOL, "%[slot]") "\n\t"
		"add x9, x9, x16\n\t"
		/* w10: does a reader sleep? */
		"ldr x10, " PXTU_OF(PXTU_SLOT_WAKEUP, "%[slot]") "\n\t"
		"ldr w10, " PXTU_OF(PXTU_NEED_WAKEUP, "x10") "\n\t"
		"cbz x15, 5f\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") "\n\t"
		"stp xzr, x16, [x9]\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") "\n\t"
		"stp x16, x11, [x9, #16]\n\t"
		"add x9, x9, x15\n"
		"5:\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_HEADER, "%[entry]") "\n\t"
		"orr x16, x16, x11, lsl #32\n\t"
		"ldr x17, " PXTU_OF(PXTU_ENTRY_ADDRESS, "%[entry]") "\n\t"
		"stp x16, x17, [x9]\n\t"
		"str x11, " PXTU_OF(PXTU_HEAD_LAST, "x12") "\n\t"
		"ldr w15, " PXTU_OF(PXTU_ENTRY_PIECES, "%[entry]") "\n\t"
		"cbz w15, 11f\n\t"
		"ldr x14, " PXTU_OF(PXTU_ENTRY_DATA, "%[entry]") "\n"
		"10:\n\t"
		"ldp x16, x17, [x14], #16\n\t"
		"stp x16, x17, [x9, #16]\n\t"
		"add x9, x9, #16\n\t"
		"subs w15, w15, #1\n\t"
		"b.ne 10b\n"
		"11:\n\t"
		"ldr w15, " PXTU_OF(PXTU_ENTRY_REST_WORDS, "%[entry]") "\n\t"
		"cbz w15, 6f\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_REST, "%[entry]") "\n\t"
		"str x16, [x9, #16]\n\t"
		"subs w15, w15, #1\n\t"
		"b.eq 6f\n\t"
		"ldr x16, " PXTU_OF(PXTU_ENTRY_REST + 8, "%[entry]") "\n\t"
		"str x16, [x9, #24]\n"
		"6:\n\t"
		"str x13, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "x12") "\n\t"
		/* Commit: pairs with the reader's acquire in subbuf_used(). */
		"stlr x13, [x12]\n"
		"2:\n\t"
		"cbnz w10, %l[do_wake]\n\t"
		PXTU_RSEQ_ABORT("again")
		:
		: PXTU_RSEQ_CHECKED
		: "memory", "cc", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17"
		: again, no_room, do_wake, no);
	return PXTU_WRITTEN;
do_wake:
	return PXTU_WRITTEN_WAKE;
again:
	return PXTU_WRITTEN_AGAIN;
no_room:
	return PXTU_WRITTEN_NO_ROOM;
no:
	return PXTU_WRITTEN_NO;
}

/* The module publishes no counter here: pxtu_clock_now() asks the vDSO. */
static inline enum pxtu_written
pxtu_rseq_record_now(const struct posixtrace_gate *gate, const struct pxtu_slot *slot,
		     struct pxtu_entry *entry)
{
	(void)gate;
	(void)slot;
	(void)entry;
	return PXTU_WRITTEN_NO_COUNTER;
}

_Static_assert(PXTU_HEAD_HEAD == 0, "STLR takes no offset");

#endif /* PXTU_RSEQ_ARM64_H */
