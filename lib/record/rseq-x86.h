/* SPDX-License-Identifier: MIT */
/* Restartable sequences on x86-64. rseq.h describes what they do, and why. */
#ifndef PXTU_RSEQ_X86_H
#define PXTU_RSEQ_X86_H

#include "record/rseq-layout.h"

/*
 * Points where a test may make the sequences last longer; it may change the given register and
 * the flags. On abort it may run more code, which may change eax. Empty in the library.
 */
#define PXTU_POINT_TIME		1	/* the time is taken, nothing is checked */
#define PXTU_POINT_CHECKED	2	/* gate and notes are right for this CPU */
#define PXTU_POINT_HEAD		3	/* the head is read */
#define PXTU_POINT_WRITER	4	/* the writer is half changed, writer_head is no head */
#define PXTU_POINT_DATA		5	/* the record is written, but not its data */
#define PXTU_POINT_WRITTEN	6	/* all of the record is written */
#define PXTU_POINT_COMMIT	7	/* only the head is unchanged */
#define PXTU_POINT_DROP		8	/* the stream is full, the event is not counted yet */
#define PXTU_POINTS		8

#ifndef PXTU_RSEQ_DELAY
#define PXTU_RSEQ_DELAY(point, scratch)
#define PXTU_RSEQ_ABORTED
#endif

/* The rseq area of the thread, at %[area] from the thread pointer. */
#define PXTU_RSEQ_AREA(number)	"%%fs:" PXTU_TEXT(number) "(%[area])"

/*
 * r11: the offset of the area. It is loaded here, because an operand would take a register: with
 * sanitizers and coverage, clang has few left.
 */
#define PXTU_RSEQ_OFFSET					\
	"movq __rseq_offset@GOTPCREL(%%rip), %%r11\n\t"		\
	"movq (%%r11), %%r11\n\t"

/* A member of the structure that %%rcx, %[slot], ... points to. */
#define PXTU_OF(number, base)	PXTU_TEXT(number) "(" base ")"

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

/* The abort handler, after the signature that the kernel checks. */
#define PXTU_RSEQ_ABORT(label)					\
	".pushsection __rseq_failure, \"ax\"\n\t"		\
	".byte 0x0f, 0xb9, 0x3d\n\t"				\
	".long " PXTU_TEXT(RSEQ_SIG) "\n"					\
	"4:\n\t"						\
	PXTU_RSEQ_ABORTED					\
	"jmp %l[" label "]\n\t"					\
	".popsection"

/*
 * Checks that the gate is open and the notes are right; else jumps to "no". Then %%rcx is the
 * head of this CPU. rsi: the gate; r11: offset of the area from the thread pointer.
 */
#define PXTU_RSEQ_CHECK								\
	"movq " PXTU_OF(PXTU_GATE_GENERATION, "%%rsi") ", %%rax\n\t"	\
	"cmpq %%rax, " PXTU_OF(PXTU_STATE_GENERATION, "%[state]") "\n\t"	\
	"jne %l[no]\n\t"							\
	"cmpq %%rax, " PXTU_OF(PXTU_ENTRY_GENERATION, "%[entry]") "\n\t"	\
	"jne %l[no]\n\t"							\
	"movq " PXTU_OF(PXTU_ENTRY_ENABLE, "%[entry]") ", %%rax\n\t"		\
	"movl (%%rax), %%eax\n\t"						\
	"testl %%eax, " PXTU_OF(PXTU_ENTRY_BIT, "%[entry]") "\n\t"		\
	"jz %l[no]\n\t"							\
	"movq " PXTU_OF(PXTU_SLOT_HEADS, "%[slot]") ", %%rcx\n\t"		\
	"testq %%rcx, %%rcx\n\t"						\
	"jz %l[no]\n\t"							\
	"movl %%fs:" PXTU_TEXT(PXTU_RSEQ_CPU_ID) "(%%r11), %%eax\n\t"	\
	"cmpl %%eax, " PXTU_OF(PXTU_STATE_NR_CPUS, "%[state]") "\n\t"	\
	"jbe %l[no]\n\t"							\
	"shlq $" PXTU_TEXT(PXTU_HEAD_SHIFT) ", %%rax\n\t"			\
	"addq %%rax, %%rcx\n\t"						\
	PXTU_RSEQ_DELAY(PXTU_POINT_CHECKED, "%%eax")

#define PXTU_RSEQ_CHECKED					\
	[gate] "m" (gate),					\
	[state] "r" (state),					\
	[slot] "r" (slot),					\
	[entry] "r" (entry)

static inline void pxtu_rseq_arm(void)
{
	__asm__ __volatile__ ("leaq pxtu_rseq_record_table(%%rip), %%rax\n\t"
		"movq %%rax, " PXTU_RSEQ_AREA(PXTU_RSEQ_CS)
		:
		: [area] "r" (__rseq_offset)
		: "memory", "rax");
}

static inline void pxtu_rseq_disarm(void)
{
	__asm__ __volatile__ ("movq $0, " PXTU_RSEQ_AREA(PXTU_RSEQ_CS)
		:
		: [area] "r" (__rseq_offset)
		: "memory");
}

static inline enum pxtu_written
pxtu_rseq_drop(const struct pxtu_state *state, const struct posixtrace_gate *gate,
	       const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	__asm__ goto(PXTU_RSEQ_TABLE("3")
		PXTU_RSEQ_OFFSET
		"movq %[gate], %%rsi\n\t"
		"leaq 3b(%%rip), %%rax\n\t"
		"movq %%rax, %%fs:" PXTU_TEXT(PXTU_RSEQ_CS) "(%%r11)\n"
		"1:\n\t"
		PXTU_RSEQ_CHECK
		"testl $" PXTU_TEXT(PXTU_HEAD_FULL) ", " PXTU_OF(PXTU_HEAD_FLAGS, "%%rcx") "\n\t"
		"jz %l[no]\n\t"
		PXTU_RSEQ_DELAY(PXTU_POINT_DROP, "%%eax")
		"incq " PXTU_OF(PXTU_HEAD_LOST, "%%rcx") "\n"
		"2:\n\t"
		PXTU_RSEQ_ABORT("again")
		:
		: PXTU_RSEQ_CHECKED
		: "memory", "cc", "rax", "rcx", "rsi", "r11"
		: no, again);
	return PXTU_WRITTEN;
no:
	return PXTU_WRITTEN_NO;
again:
	return PXTU_WRITTEN_AGAIN;
}

/* rdx: the time that was taken before. It is too old if the thread was interrupted since. */
#define PXTU_RSEQ_TIME_TAKEN							\
	"leaq pxtu_rseq_record_table(%%rip), %%rax\n\t"				\
	"cmpq %%rax, %%fs:" PXTU_TEXT(PXTU_RSEQ_CS) "(%%r11)\n\t"		\
	"jne %l[again]\n\t"							\
	"movq " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") ", %%rdx\n\t"

/*
 * rdx: the time, computed as in pxtu_clock_count(); or jumps to "no_counter". Reading the
 * counter early is best: the following instructions do not wait for it.
 */
#define PXTU_RSEQ_TIME_COUNT							\
	"movl " PXTU_OF(PXTU_CLOCK_SEQ, "%%rsi") ", %%r8d\n\t"		\
	"cmpl $" PXTU_TEXT(PXTU_COUNTER_TSC) ", " PXTU_OF(PXTU_CLOCK_COUNTER, "%%rsi") "\n\t" \
	"jne %l[no_counter]\n\t"						\
	"lfence\n\t"								\
	"rdtsc\n\t"								\
	"shlq $32, %%rdx\n\t"							\
	"orq %%rdx, %%rax\n\t"							\
	"xorl %%edx, %%edx\n\t"							\
	"subq " PXTU_OF(PXTU_CLOCK_CYCLE_LAST, "%%rsi") ", %%rax\n\t"		\
	"cmovbq %%rdx, %%rax\n\t"						\
	"movl " PXTU_OF(PXTU_CLOCK_MULT, "%%rsi") ", %%edx\n\t"		\
	"mulq %%rdx\n\t"							\
	"addq " PXTU_OF(PXTU_CLOCK_FRACTION, "%%rsi") ", %%rax\n\t"		\
	"adcq $0, %%rdx\n\t"							\
	"movl " PXTU_OF(PXTU_CLOCK_SHIFT, "%%rsi") ", %%ecx\n\t"		\
	"shrdq %%cl, %%rdx, %%rax\n\t"						\
	"addq " PXTU_OF(PXTU_CLOCK_BASE, "%%rsi") ", %%rax\n\t"		\
	"addq " PXTU_OF(PXTU_CLOCK_OFFSET, "%%rsi") ", %%rax\n\t"		\
	"movq %%rax, %%rdx\n\t"							\
	"testl $1, %%r8d\n\t"							\
	"jnz %l[no_counter]\n\t"						\
	"cmpl " PXTU_OF(PXTU_CLOCK_SEQ, "%%rsi") ", %%r8d\n\t"		\
	"jne %l[no_counter]\n\t"

/*
 * Writes the record, with the time in rdx.
 *
 * The head of the CPU names the writer of the previous record: pid, tid and thread_id are
 * valid only if writer_head equals head. Before the sequence changes them, it sets
 * writer_head to a value that no head has; when they are right, it sets writer_head to the
 * next head. So wherever the sequence is aborted before the commit, writer_head differs
 * from head: the next record names its writer, needlessly at worst, and its sequence sets
 * all of this again. After each commit writer_head equals head and the ids are those of
 * the writer, because all writers do the same.
 */
#define PXTU_RSEQ_WRITE								\
	PXTU_RSEQ_DELAY(PXTU_POINT_TIME, "%%eax")				\
	PXTU_RSEQ_CHECK								\
	"testl $" PXTU_TEXT(PXTU_HEAD_FULL) ", " PXTU_OF(PXTU_HEAD_FLAGS, "%%rcx") "\n\t" \
	"jnz %l[is_full]\n\t"							\
	"cmpq " PXTU_OF(PXTU_HEAD_LAST, "%%rcx") ", %%rdx\n\t"			\
	"jb %l[again]\n\t"							\
	/* rax: begin of the record, r9: its end, r8: the head, later the next head. */ \
	"movq " PXTU_OF(PXTU_HEAD_HEAD, "%%rcx") ", %%r8\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_POINT_HEAD, "%%eax")				\
	"movl %%r8d, %%eax\n\t"							\
	"movl " PXTU_OF(PXTU_ENTRY_STEP, "%[entry]") ", %%r9d\n\t"		\
	"addq %%rax, %%r9\n\t"							\
	/* r11: bytes that name the writer. None if we wrote the previous record, too. */ \
	"xorl %%r11d, %%r11d\n\t"						\
	"cmpq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"		\
	"jne 7f\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") ", %%r10\n\t"		\
	"cmpq %%r10, " PXTU_OF(PXTU_HEAD_IDS, "%%rcx") "\n\t"			\
	"jne 7f\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") ", %%r10\n\t"		\
	"cmpq %%r10, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%rcx") "\n\t"		\
	"je 8f\n"								\
	"7:\n\t"								\
	/* No head has this value. */						\
	"movq $-1, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"		\
	"movq " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") ", %%r10\n\t"		\
	"movq %%r10, " PXTU_OF(PXTU_HEAD_IDS, "%%rcx") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_POINT_WRITER, "%%r10d")				\
	"movq " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") ", %%r10\n\t"		\
	"movq %%r10, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%rcx") "\n\t"		\
	"movl $" PXTU_TEXT(PXTU_WRITER_SIZE) ", %%r11d\n\t"			\
	"addq %%r11, %%r8\n\t"							\
	"addq %%r11, %%r9\n"							\
	"8:\n\t"								\
	"addq " PXTU_OF(PXTU_ENTRY_STEP, "%[entry]") ", %%r8\n\t"		\
	"movl " PXTU_OF(PXTU_HEAD_LIMIT, "%%rcx") ", %%r10d\n\t"		\
	"cmpq %%r10, %%r9\n\t"							\
	"ja %l[no_room]\n\t"							\
	/* Another target may have written any limit: stay inside the mapping. */ \
	"cmpq " PXTU_OF(PXTU_SLOT_POOL_SIZE, "%[slot]") ", %%r9\n\t"		\
	"ja %l[no]\n\t"								\
	"movq %%rax, %%rdi\n\t"							\
	"addq " PXTU_OF(PXTU_SLOT_POOL, "%[slot]") ", %%rdi\n\t"		\
	/* r10: does a reader sleep? */						\
	"movq " PXTU_OF(PXTU_SLOT_WAKEUP, "%[slot]") ", %%r10\n\t"		\
	"movl " PXTU_OF(PXTU_NEED_WAKEUP, "%%r10") ", %%r10d\n\t"			\
	"testl %%r11d, %%r11d\n\t"						\
	"jz 5f\n\t"								\
	"movq (%[entry]), %%rax\n\t"						\
	"movq %%rax, (%%rdi)\n\t"						\
	"movq " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, 8(%%rdi)\n\t"						\
	"movq " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, 16(%%rdi)\n\t"						\
	"addq %%r11, %%rdi\n"							\
	"5:\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_HEADER, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, (%%rdi)\n\t"						\
	"movq " PXTU_OF(PXTU_ENTRY_ADDRESS, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, 16(%%rdi)\n\t"						\
	"movq %%rdx, 8(%%rdi)\n\t"						\
	"movq %%rdx, " PXTU_OF(PXTU_HEAD_LAST, "%%rcx") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_POINT_DATA, "%%eax")				\
	"movl " PXTU_OF(PXTU_ENTRY_PIECES, "%[entry]") ", %%r9d\n\t"		\
	"testl %%r9d, %%r9d\n\t"						\
	"jz 11f\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_DATA, "%[entry]") ", %%rsi\n"		\
	"10:\n\t"								\
	"movdqu (%%rsi), %%xmm0\n\t"						\
	"movdqu %%xmm0, 24(%%rdi)\n\t"						\
	"addq $16, %%rsi\n\t"							\
	"addq $16, %%rdi\n\t"							\
	"decl %%r9d\n\t"							\
	"jnz 10b\n"								\
	"11:\n\t"								\
	"movl " PXTU_OF(PXTU_ENTRY_REST_WORDS, "%[entry]") ", %%r9d\n\t"	\
	"testl %%r9d, %%r9d\n\t"						\
	"jz 6f\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_REST, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, 24(%%rdi)\n\t"						\
	"decl %%r9d\n\t"							\
	"jz 6f\n\t"								\
	"movq 8+" PXTU_OF(PXTU_ENTRY_REST, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, 32(%%rdi)\n"						\
	"6:\n\t"								\
	PXTU_RSEQ_DELAY(PXTU_POINT_WRITTEN, "%%eax")				\
	"movq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_POINT_COMMIT, "%%eax")				\
	/* Commit. Stores are not reordered: the reader's acquire sees the record. */ \
	"movq %%r8, " PXTU_OF(PXTU_HEAD_HEAD, "%%rcx") "\n"			\
	"2:\n\t"								\
	"testl %%r10d, %%r10d\n\t"						\
	"jnz %l[do_wake]\n\t"							\
	PXTU_RSEQ_ABORT("again")

#define PXTU_RSEQ_WRITTEN							\
	"memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0"

/* Neither inlined nor cloned: pxtu_rseq_arm() needs the name of its table. */
#if __has_attribute(__noclone__)
#define PXTU_RSEQ_ONCE	__attribute__((__noinline__, __noclone__))
#else
#define PXTU_RSEQ_ONCE	__attribute__((__noinline__))
#endif

static PXTU_RSEQ_ONCE enum pxtu_written
pxtu_rseq_record(const struct pxtu_state *state, const struct posixtrace_gate *gate,
		 const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	/* With link-time optimization pxtu_rseq_arm() may end up in another object file. */
	__asm__ goto(".globl pxtu_rseq_record_table\n\t"
		".hidden pxtu_rseq_record_table\n\t"
		PXTU_RSEQ_TABLE("pxtu_rseq_record_table")
		PXTU_RSEQ_OFFSET
		"movq %[gate], %%rsi\n"
		"1:\n\t"
		PXTU_RSEQ_TIME_TAKEN
		PXTU_RSEQ_WRITE
		:
		: PXTU_RSEQ_CHECKED
		: PXTU_RSEQ_WRITTEN
		: again, is_full, no_room, do_wake, no);
	return PXTU_WRITTEN;
do_wake:
	return PXTU_WRITTEN_WAKE;
again:
	return PXTU_WRITTEN_AGAIN;
is_full:
	return PXTU_WRITTEN_FULL;
no_room:
	return PXTU_WRITTEN_NO_ROOM;
no:
	return PXTU_WRITTEN_NO;
}

static inline enum pxtu_written
pxtu_rseq_record_now(const struct pxtu_state *state, const struct posixtrace_gate *gate,
		     const struct pxtu_slot *slot, const struct pxtu_entry *entry)
{
	__asm__ goto(PXTU_RSEQ_TABLE("3")
		PXTU_RSEQ_OFFSET
		"movq %[gate], %%rsi\n\t"
		"leaq 3b(%%rip), %%rax\n\t"
		"movq %%rax, %%fs:" PXTU_TEXT(PXTU_RSEQ_CS) "(%%r11)\n"
		"1:\n\t"
		PXTU_RSEQ_TIME_COUNT
		PXTU_RSEQ_WRITE
		:
		: PXTU_RSEQ_CHECKED
		: PXTU_RSEQ_WRITTEN
		: again, is_full, no_room, do_wake, no, no_counter);
	return PXTU_WRITTEN;
do_wake:
	return PXTU_WRITTEN_WAKE;
again:
	return PXTU_WRITTEN_AGAIN;
is_full:
	return PXTU_WRITTEN_FULL;
no_room:
	return PXTU_WRITTEN_NO_ROOM;
no_counter:
	return PXTU_WRITTEN_NO_COUNTER;
no:
	return PXTU_WRITTEN_NO;
}

#endif /* PXTU_RSEQ_X86_H */
