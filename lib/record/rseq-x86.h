/* SPDX-License-Identifier: MIT */
/* Restartable sequences on x86-64. What they do, and why, is in rseq.h. */
#ifndef PXTU_RSEQ_X86_H
#define PXTU_RSEQ_X86_H

#include "record/rseq-layout.h"

/*
 * Points where a test may let the sequences last longer, with a register that it may use,
 * and the flags; and what else it does on abort, with eax. Nothing in the library.
 */
#define PXTU_POINT_TIME		1	/* the time is there, nothing is checked */
#define PXTU_POINT_CHECKED	2	/* gate and notes are right, for this CPU */
#define PXTU_POINT_HEAD		3	/* the head is known */
#define PXTU_POINT_WRITER	4	/* who writes is half changed, writer_head is no head */
#define PXTU_POINT_DATA		5	/* the record is there, but not its data */
#define PXTU_POINT_WRITTEN	6	/* all of the record is there */
#define PXTU_POINT_COMMIT	7	/* only the head is what it was */
#define PXTU_POINT_DROP		8	/* the stream is full, the event not counted */
#define PXTU_POINTS		8

#ifndef PXTU_RSEQ_DELAY
#define PXTU_RSEQ_DELAY(point, scratch)
#define PXTU_RSEQ_ABORTED
#endif

/* The area of a thread lies at that offset from the thread pointer. */
#define PXTU_RSEQ_AREA(number)	"%%fs:" PXTU_TEXT(number) "(%[area])"

/*
 * r11: that offset. Where it lies is not asked of the compiler, which would spend a register
 * on it: with sanitizers and coverage, clang has few left.
 */
#define PXTU_RSEQ_OFFSET					\
	"movq __rseq_offset@GOTPCREL(%%rip), %%r11\n\t"		\
	"movq (%%r11), %%r11\n\t"

/* A member of what %%rcx, %[slot], ... points to. */
#define PXTU_OF(number, base)	PXTU_TEXT(number) "(" base ")"

/* A struct rseq_cs: version, flags, begin, length, where to go on abort. */
#define PXTU_RSEQ_TABLE(label)					\
	".pushsection __rseq_cs, \"aw\"\n\t"			\
	".balign 32\n"						\
	label ":\n"						\
	"9:\n\t"						\
	".long 0, 0\n\t"					\
	".quad 1f, 2f - 1f, 4f\n\t"				\
	".popsection\n\t"					\
	/* So that debuggers know that they must not step through it. */ \
	".pushsection __rseq_cs_ptr_array, \"aw\"\n\t"		\
	".quad 9b\n\t"						\
	".popsection\n\t"

/* Where to go on abort: behind the signature that the kernel wants to see. */
#define PXTU_RSEQ_ABORT(label)					\
	".pushsection __rseq_failure, \"ax\"\n\t"		\
	".byte 0x0f, 0xb9, 0x3d\n\t"				\
	".long " PXTU_TEXT(RSEQ_SIG) "\n"					\
	"4:\n\t"						\
	PXTU_RSEQ_ABORTED					\
	"jmp %l[" label "]\n\t"					\
	".popsection"

/*
 * The gate is open, and the notes are right: %%rcx is the head of this CPU. Else goes to
 * "no". rsi: the gate; r11: from the thread pointer to the area.
 */
#define PXTU_RSEQ_CHECK								\
	"movl " PXTU_OF(PXTU_GATE_GENERATION, "%%rsi") ", %%eax\n\t"	\
	"cmpl %%eax, " PXTU_OF(PXTU_STATE_GENERATION, "%[state]") "\n\t"	\
	"jne %l[no]\n\t"							\
	"cmpl %%eax, " PXTU_OF(PXTU_ENTRY_GENERATION, "%[entry]") "\n\t"	\
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

/* rdx: the time that was taken before; were we disturbed since, it is too old. */
#define PXTU_RSEQ_TIME_TAKEN							\
	"leaq pxtu_rseq_record_table(%%rip), %%rax\n\t"				\
	"cmpq %%rax, %%fs:" PXTU_TEXT(PXTU_RSEQ_CS) "(%%r11)\n\t"		\
	"jne %l[again]\n\t"							\
	"movq " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") ", %%rdx\n\t"

/*
 * rdx: the time, as pxtu_clock_count() has it, or goes to "no_counter". What comes behind
 * does not wait for the counter: it is best read early.
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
 * The record, at the time in rdx.
 *
 * Which thread wrote the record in front is said in the head of the CPU: pid, tid and
 * thread_id are believed only if writer_head is what the head is now. Before these are
 * changed, writer_head is made what no head is; when they are right, what the head is about
 * to be. So wherever we are stopped before the commit, writer_head is not what the head is:
 * the next record says who wrote it, needlessly at worst, and whoever writes that sets all
 * of this anew. And with each commit it is what the head becomes, and the rest is ours, for
 * all who write do the same.
 */
#define PXTU_RSEQ_WRITE								\
	PXTU_RSEQ_DELAY(PXTU_POINT_TIME, "%%eax")				\
	PXTU_RSEQ_CHECK								\
	"testl $" PXTU_TEXT(PXTU_HEAD_FULL) ", " PXTU_OF(PXTU_HEAD_FLAGS, "%%rcx") "\n\t" \
	"jnz %l[is_full]\n\t"							\
	"cmpq " PXTU_OF(PXTU_HEAD_LAST, "%%rcx") ", %%rdx\n\t"			\
	"jb %l[again]\n\t"							\
	/* rax: where the record begins, r9: where it ends, r8: the head, then the next. */ \
	"movq " PXTU_OF(PXTU_HEAD_HEAD, "%%rcx") ", %%r8\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_POINT_HEAD, "%%eax")				\
	"movl %%r8d, %%eax\n\t"							\
	"movl " PXTU_OF(PXTU_ENTRY_STEP, "%[entry]") ", %%r9d\n\t"		\
	"addq %%rax, %%r9\n\t"							\
	/* r11: how much of that says who writes it. Is the one in front ours, too? */ \
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
	/* No head is that. */							\
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
	/* Whoever shares the stream may have written any limit: not beyond the mapping. */ \
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
	/* Commits. Stores are not reordered: the reader's acquire sees the record. */ \
	"movq %%r8, " PXTU_OF(PXTU_HEAD_HEAD, "%%rcx") "\n"			\
	"2:\n\t"								\
	"testl %%r10d, %%r10d\n\t"						\
	"jnz %l[do_wake]\n\t"							\
	PXTU_RSEQ_ABORT("again")

#define PXTU_RSEQ_WRITTEN							\
	"memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0"

/* Not inlined, and not copied: pxtu_rseq_arm() has to know the name of its table. */
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
