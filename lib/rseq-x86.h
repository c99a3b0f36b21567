/* SPDX-License-Identifier: MIT */
/* Restartable sequences on x86-64. What they do, and why, is in rseq.h. */
#ifndef PXTU_RSEQ_X86_H
#define PXTU_RSEQ_X86_H

#include <sys/rseq.h>

#include "state.h"

/*
 * An asm statement takes 30 operands, and has no offsetof(): what it needs of the
 * structures, in bytes.
 */
#define PXTU_RSEQ_CPU_ID	4
#define PXTU_RSEQ_CS		8
#define PXTU_HEAD_SHIFT		6
#define PXTU_HEAD_HEAD		0
#define PXTU_HEAD_LIMIT		8
#define PXTU_HEAD_FLAGS		12
#define PXTU_HEAD_LOST		16
#define PXTU_HEAD_LAST		24
#define PXTU_HEAD_WRITER_HEAD	32
#define PXTU_HEAD_IDS		40
#define PXTU_HEAD_THREAD_ID	48
#define PXTU_HEAD_FULL		1
#define PXTU_SLOT_HEADS		0
#define PXTU_SLOT_POOL		8
#define PXTU_SLOT_POOL_SIZE	16
#define PXTU_SLOT_BELL		24
#define PXTU_BELL_KICK		0
#define PXTU_DRAFT_IDS		8
#define PXTU_DRAFT_THREAD_ID	16
#define PXTU_DRAFT_RECORD	24
#define PXTU_DRAFT_TIMESTAMP	32
#define PXTU_DRAFT_GENERATION	256
#define PXTU_DRAFT_END		264
#define PXTU_DRAFT_REST		272
#define PXTU_DRAFT_DATA		280
#define PXTU_DRAFT_STEP		288

#define PXTU_AT(number, type, member) \
	_Static_assert((number) == offsetof(struct type, member), "as the sequences have it")

PXTU_AT(PXTU_RSEQ_CPU_ID, rseq, cpu_id);
PXTU_AT(PXTU_RSEQ_CS, rseq, rseq_cs);
_Static_assert(1 << PXTU_HEAD_SHIFT == sizeof(struct posixtrace_cpu_head), "likewise");
PXTU_AT(PXTU_HEAD_HEAD, posixtrace_cpu_head, head);
PXTU_AT(PXTU_HEAD_LIMIT, posixtrace_cpu_head, limit);
PXTU_AT(PXTU_HEAD_FLAGS, posixtrace_cpu_head, flags);
PXTU_AT(PXTU_HEAD_LOST, posixtrace_cpu_head, lost);
PXTU_AT(PXTU_HEAD_LAST, posixtrace_cpu_head, last);
PXTU_AT(PXTU_HEAD_WRITER_HEAD, posixtrace_cpu_head, writer_head);
/* Two numbers of 32 bits in one piece, in the same order in both. */
PXTU_AT(PXTU_HEAD_IDS, posixtrace_cpu_head, pid);
PXTU_AT(PXTU_HEAD_IDS + 4, posixtrace_cpu_head, tid);
PXTU_AT(PXTU_HEAD_THREAD_ID, posixtrace_cpu_head, thread_id);
_Static_assert(PXTU_HEAD_FULL == POSIXTRACE_HEAD_FULL, "likewise");
PXTU_AT(PXTU_SLOT_HEADS, pxtu_slot, heads);
PXTU_AT(PXTU_SLOT_POOL, pxtu_slot, pool);
PXTU_AT(PXTU_SLOT_POOL_SIZE, pxtu_slot, pool_size);
PXTU_AT(PXTU_SLOT_BELL, pxtu_slot, bell);
PXTU_AT(PXTU_BELL_KICK, posixtrace_bell, kick);
PXTU_AT(0, pxtu_draft, writer);
PXTU_AT(PXTU_DRAFT_IDS, pxtu_draft, writer.pid);
PXTU_AT(PXTU_DRAFT_IDS + 4, pxtu_draft, writer.tid);
PXTU_AT(PXTU_DRAFT_THREAD_ID, pxtu_draft, writer.thread_id);
PXTU_AT(PXTU_DRAFT_RECORD, pxtu_draft, record);
PXTU_AT(PXTU_DRAFT_TIMESTAMP, pxtu_draft, record.timestamp);
PXTU_AT(PXTU_DRAFT_GENERATION, pxtu_draft, generation);
PXTU_AT(PXTU_DRAFT_END, pxtu_draft, end);
PXTU_AT(PXTU_DRAFT_REST, pxtu_draft, rest);
PXTU_AT(PXTU_DRAFT_DATA, pxtu_draft, data);
PXTU_AT(PXTU_DRAFT_STEP, pxtu_draft, step);

#undef PXTU_AT

/* Such a number, in an instruction. */
#define PXTU_TEXT_(number)	#number
#define PXTU_TEXT(number)	PXTU_TEXT_(number)

/* The area of a thread lies at that offset from the thread pointer. */
#define PXTU_RSEQ_AREA(number)	"%%fs:" PXTU_TEXT(number) "(%[area])"

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
	"jmp %l[" label "]\n\t"					\
	".popsection"

/* The gate is open, and the notes are right: %%rcx is the head of this CPU. Else goes to "no". */
#define PXTU_RSEQ_CHECK						\
	"movl %[gate_generation], %%eax\n\t"			\
	"cmpl %%eax, %[generation]\n\t"				\
	"jne %l[no]\n\t"					\
	"testl %[bit], %[enable]\n\t"				\
	"jz %l[no]\n\t"					\
	"movq " PXTU_OF(PXTU_SLOT_HEADS, "%[slot]") ", %%rcx\n\t"			\
	"testq %%rcx, %%rcx\n\t"				\
	"jz %l[no]\n\t"					\
	"movl " PXTU_RSEQ_AREA(PXTU_RSEQ_CPU_ID) ", %%eax\n\t"		\
	"cmpl %%eax, %[nr_cpus]\n\t"				\
	"jbe %l[no]\n\t"					\
	"shlq $" PXTU_TEXT(PXTU_HEAD_SHIFT) ", %%rax\n\t"				\
	"addq %%rax, %%rcx\n\t"

#define PXTU_RSEQ_CHECKED					\
	[area] "r" (__rseq_offset),				\
	[gate_generation] "m" (gate->generation),		\
	[generation] "m" (state->generation),			\
	[enable] "m" (gate->enable[id]),			\
	[bit] "r" (1U << slot),					\
	[slot] "r" (&state->slot[slot]),			\
	[nr_cpus] "m" (state->nr_cpus)

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

static inline bool pxtu_rseq_drop(const struct pxtu_state *state,
				  const struct posixtrace_gate *gate, __u32 id, unsigned int slot)
{
	__asm__ goto(PXTU_RSEQ_TABLE("3")
		"leaq 3b(%%rip), %%rax\n\t"
		"movq %%rax, " PXTU_RSEQ_AREA(PXTU_RSEQ_CS) "\n"
		"1:\n\t"
		PXTU_RSEQ_CHECK
		"testl $" PXTU_TEXT(PXTU_HEAD_FULL) ", " PXTU_OF(PXTU_HEAD_FLAGS, "%%rcx") "\n\t"
		"jz %l[no]\n\t"
		"incq " PXTU_OF(PXTU_HEAD_LOST, "%%rcx") "\n"
		"2:\n\t"
		PXTU_RSEQ_ABORT("no")
		:
		: PXTU_RSEQ_CHECKED
		: "memory", "cc", "rax", "rcx"
		: no);
	return true;
no:
	return false;
}

/* Not inlined, and not copied: pxtu_rseq_arm() has to know the name of its table. */
#if __has_attribute(__noclone__)
#define PXTU_RSEQ_ONCE	__attribute__((__noinline__, __noclone__))
#else
#define PXTU_RSEQ_ONCE	__attribute__((__noinline__))
#endif

/*
 * Which thread wrote the record in front is said in the head of the CPU: pid, tid and
 * thread_id are believed only if writer_head is what the head is now. Before these are
 * changed, writer_head is made what no head is; when they are right, what the head is about
 * to be. So wherever we are stopped before the commit, writer_head is not what the head is:
 * the next record says who wrote it, needlessly at worst, and whoever writes that sets all
 * of this anew. And with each commit it is what the head becomes, and the rest is ours, for
 * all who write do the same.
 */
static PXTU_RSEQ_ONCE enum pxtu_written
pxtu_rseq_record(const struct pxtu_state *state, const struct posixtrace_gate *gate, __u32 id,
		 unsigned int slot, const struct pxtu_draft *draft)
{
	__asm__ goto(PXTU_RSEQ_TABLE("pxtu_rseq_record_table")
		"1:\n\t"
		/* Were we disturbed since the time was taken? Then it is too old. */
		"leaq pxtu_rseq_record_table(%%rip), %%rax\n\t"
		"cmpq %%rax, " PXTU_RSEQ_AREA(PXTU_RSEQ_CS) "\n\t"
		"jne %l[again]\n\t"
		"movl %[gate_generation], %%eax\n\t"
		"cmpl %%eax, " PXTU_OF(PXTU_DRAFT_GENERATION, "%[draft]") "\n\t"
		"jne %l[no]\n\t"
		PXTU_RSEQ_CHECK
		"testl $" PXTU_TEXT(PXTU_HEAD_FULL) ", " PXTU_OF(PXTU_HEAD_FLAGS, "%%rcx") "\n\t"
		"jnz %l[is_full]\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_TIMESTAMP, "%[draft]") ", %%rax\n\t"
		"cmpq " PXTU_OF(PXTU_HEAD_LAST, "%%rcx") ", %%rax\n\t"
		"jb %l[again]\n\t"
		/* rax: where the record begins, r9: where it ends, r8: the head, then the next. */
		"movq " PXTU_OF(PXTU_HEAD_HEAD, "%%rcx") ", %%r8\n\t"
		"movl %%r8d, %%eax\n\t"
		"movl " PXTU_OF(PXTU_DRAFT_STEP, "%[draft]") ", %%r9d\n\t"
		"addq %%rax, %%r9\n\t"
		"leaq " PXTU_OF(PXTU_DRAFT_RECORD, "%[draft]") ", %%rsi\n\t"
		/* Is the one in front ours, too? */
		"cmpq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"
		"jne 7f\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_IDS, "%[draft]") ", %%r10\n\t"
		"cmpq %%r10, " PXTU_OF(PXTU_HEAD_IDS, "%%rcx") "\n\t"
		"jne 7f\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_THREAD_ID, "%[draft]") ", %%r10\n\t"
		"cmpq %%r10, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%rcx") "\n\t"
		"je 8f\n"
		"7:\n\t"
		/* No head is that. */
		"movq $-1, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_IDS, "%[draft]") ", %%r10\n\t"
		"movq %%r10, " PXTU_OF(PXTU_HEAD_IDS, "%%rcx") "\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_THREAD_ID, "%[draft]") ", %%r10\n\t"
		"movq %%r10, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%rcx") "\n\t"
		"movq %[draft], %%rsi\n\t"
		"addq $" PXTU_TEXT(PXTU_DRAFT_RECORD) ", %%r8\n\t"
		"addq $" PXTU_TEXT(PXTU_DRAFT_RECORD) ", %%r9\n"
		"8:\n\t"
		"addq " PXTU_OF(PXTU_DRAFT_STEP, "%[draft]") ", %%r8\n\t"
		"movl " PXTU_OF(PXTU_HEAD_LIMIT, "%%rcx") ", %%r10d\n\t"
		"cmpq %%r10, %%r9\n\t"
		"ja %l[no_room]\n\t"
		/* Whoever shares the stream may have written any limit: not beyond the mapping. */
		"cmpq " PXTU_OF(PXTU_SLOT_POOL_SIZE, "%[slot]") ", %%r9\n\t"
		"ja %l[no]\n\t"
		"movq %%rax, %%rdi\n\t"
		"addq " PXTU_OF(PXTU_SLOT_POOL, "%[slot]") ", %%rdi\n\t"
		/* r10: does a reader sleep? */
		"movq " PXTU_OF(PXTU_SLOT_BELL, "%[slot]") ", %%r10\n\t"
		"movl " PXTU_OF(PXTU_BELL_KICK, "%%r10") ", %%r10d\n\t"
		/* r9: the head is not in rcx while that counts. */
		"movq %%rcx, %%r9\n"
		"5:\n\t"
		"movq (%%rsi), %%rax\n\t"
		"movq %%rax, (%%rdi)\n\t"
		"addq $8, %%rsi\n\t"
		"addq $8, %%rdi\n\t"
		"cmpq %%rsi, " PXTU_OF(PXTU_DRAFT_END, "%[draft]") "\n\t"
		"jne 5b\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_REST, "%[draft]") ", %%rcx\n\t"
		"testq %%rcx, %%rcx\n\t"
		"jz 6f\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_DATA, "%[draft]") ", %%rsi\n\t"
		"rep movsb\n"
		"6:\n\t"
		"movq " PXTU_OF(PXTU_DRAFT_TIMESTAMP, "%[draft]") ", %%rax\n\t"
		"movq %%rax, " PXTU_OF(PXTU_HEAD_LAST, "%%r9") "\n\t"
		"movq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%r9") "\n\t"
		/* Commits. Stores are not reordered: the reader's acquire sees the record. */
		"movq %%r8, " PXTU_OF(PXTU_HEAD_HEAD, "%%r9") "\n"
		"2:\n\t"
		"testl %%r10d, %%r10d\n\t"
		"jnz %l[do_kick]\n\t"
		PXTU_RSEQ_ABORT("again")
		:
		: PXTU_RSEQ_CHECKED,
		  [draft] "r" (draft)
		: "memory", "cc", "rax", "rcx", "rsi", "rdi", "r8", "r9", "r10"
		: again, is_full, no_room, do_kick, no);
	return PXTU_WRITTEN;
do_kick:
	return PXTU_WRITTEN_KICK;
again:
	return PXTU_WRITTEN_AGAIN;
is_full:
	return PXTU_WRITTEN_FULL;
no_room:
	return PXTU_WRITTEN_NO_ROOM;
no:
	return PXTU_WRITTEN_NO;
}

#endif /* PXTU_RSEQ_X86_H */
