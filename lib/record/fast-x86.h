/* SPDX-License-Identifier: MIT */
/* The fast path of an event on x86-64. fast.h describes it; rseq-x86.h explains each step. */
#ifndef PXTU_FAST_X86_H
#define PXTU_FAST_X86_H

#include "record/gate.h"
#include "record/asm-x86.h"
#include "record/fast-layout.h"

/* A word, and the same bits for an SSE register. */
union pxtu_in_sse {
	__u64 word;
	double number;
};

/* A head has the number of records in its upper half. */
static const __u64 pxtu_one_record = POSIXTRACE_HEAD(0, 1);

/* Input: r8: the gate. */
#define PXTU_FAST_GATE								\
	/* Check that this stream, and no other, wants the event. */		\
	"movl %[id], %%ecx\n\t"							\
	"movl " PXTU_TEXT(PXTU_GATE_ENABLE) "(%%r8, %%rcx, 4), %%ecx\n\t"	\
	"cmpl %%ecx, " PXTU_OF(PXTU_CACHE_BIT, "%[cache]") "\n\t"			\
	"jne %l[no]\n\t"

/*
 * Read the counter into edx and eax, as in pxtu_counter(). This comes right after the gate check,
 * so that the remaining checks overlap with RDTSC. It must not come earlier, because the gate opens
 * after a stream has started. A stream with relaxed order skips the fence: the comparison with the
 * previous record still keeps the records of this CPU in order, and the fence of pxtu_fast_fill()
 * covers a thread that moves to this CPU.
 */
#define PXTU_FAST_COUNTER							\
	"cmpl $0, " PXTU_OF(PXTU_CACHE_RELAXED, "%[cache]") "\n\t"		\
	"jne 5f\n\t"								\
	"lfence\n"								\
	"5:\n\t"								\
	"rdtsc\n\t"								\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_TIME, "%%ecx")

/*
 * Turn the counter in edx and eax into the time in rax, as in pxtu_clock_count(). Input: r8: the
 * gate. The parameters of the clock may be newer than the counter, which is harmless unless the
 * counter is older than the last update. One comparison catches such a counter, a product of more
 * than 64 bits, and POSIXTRACE_CYCLE_NONE.
 */
#define PXTU_FAST_TIME								\
	"movl " PXTU_OF(PXTU_CLOCK_SEQ, "%%r8") ", %%ecx\n\t"			\
	"subl " PXTU_OF(PXTU_CLOCK_CYCLE_LAST, "%%r8") ", %%eax\n\t"		\
	"sbbl 4+" PXTU_OF(PXTU_CLOCK_CYCLE_LAST, "%%r8") ", %%edx\n\t"		\
	"jnz %l[no]\n\t"							\
	"imulq " PXTU_OF(PXTU_CLOCK_MULT, "%%r8") ", %%rax\n\t"			\
	"addq " PXTU_OF(PXTU_CLOCK_FRACTION, "%%r8") ", %%rax\n\t"		\
	"shrq $" PXTU_TEXT(PXTU_CLOCK_SHIFT) ", %%rax\n\t"			\
	"addq " PXTU_OF(PXTU_CLOCK_REAL, "%%r8") ", %%rax\n\t"			\
	/* An odd number fails the comparison. */				\
	"andl $-2, %%ecx\n\t"							\
	"cmpl " PXTU_OF(PXTU_CLOCK_SEQ, "%%r8") ", %%ecx\n\t"			\
	"jne %l[no]\n\t"

/*
 * Check that the cache is valid and is for this CPU. Input: r8: the gate, r11: the area. Output:
 * r11: the head of this CPU.
 */
#define PXTU_FAST_CPU								\
	"movq " PXTU_OF(PXTU_GATE_GENERATION, "%%r8") ", %%rcx\n\t"		\
	"cmpq %%rcx, " PXTU_OF(PXTU_CACHE_GENERATION, "%[cache]") "\n\t"		\
	"jne %l[no]\n\t"							\
	"movl " PXTU_OF(PXTU_RSEQ_CPU_ID, "%%r11") ", %%ecx\n\t"		\
	"cmpl %%ecx, " PXTU_OF(PXTU_CACHE_CPU, "%[cache]") "\n\t"			\
	"jne %l[no]\n\t"							\
	"movq " PXTU_OF(PXTU_CACHE_HEAD, "%[cache]") ", %%r11\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_CHECKED, "%%ecx")

/*
 * Check that the writer in the head is this thread, that no record is younger, and that the writer
 * was named recently enough. PXTU_FAST_RESERVE checks that this writer is valid. Input: r11: the
 * head, rax: the time.
 */
#define PXTU_FAST_WRITER							\
	"movq " PXTU_OF(PXTU_CACHE_IDS, "%[cache]") ", %%rcx\n\t"			\
	"cmpq %%rcx, " PXTU_OF(PXTU_HEAD_IDS, "%%r11") "\n\t"			\
	"jne %l[no]\n\t"							\
	"movq " PXTU_OF(PXTU_CACHE_THREAD_ID, "%[cache]") ", %%rcx\n\t"		\
	"cmpq %%rcx, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%r11") "\n\t"		\
	"jne %l[no]\n\t"							\
	"cmpq " PXTU_OF(PXTU_HEAD_LAST, "%%r11") ", %%rax\n\t"			\
	"jb %l[no]\n\t"								\
	"cmpq " PXTU_OF(PXTU_HEAD_TIME_END, "%%r11") ", %%rax\n\t"		\
	"jae %l[no]\n\t"

/*
 * Make room for a record with its data at offset @at. Input: r11: the head. Output: rcx: the
 * record, rdx: its size, r8: the next head. The limit of a full stream is below the end of any
 * record, so this fails. A forged head cannot lead out of the pool, because the start of the record
 * is checked as well.
 */
#define PXTU_FAST_RESERVE(at)							\
	"movq " PXTU_OF(PXTU_HEAD_HEAD, "%%r11") ", %%r8\n\t"			\
	/* Do the writer fields describe the last record? */			\
	"cmpq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%r11") "\n\t"		\
	"jne %l[no]\n\t"							\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_HEAD, "%%ecx")				\
	/* A signal handler may have filled the cache since the caller checked len_end. */ \
	"cmpq " PXTU_OF(PXTU_CACHE_LEN_END, "%[cache]") ", %q[len]\n\t"		\
	"jae %l[no]\n\t"							\
	"leal " PXTU_TEXT(at) " + 7(%q[len]), %%edx\n\t"			\
	"andl $-8, %%edx\n\t"							\
	"movl %%r8d, %%ecx\n\t"							\
	"cmpq " PXTU_OF(PXTU_CACHE_LAST_BEGIN, "%[cache]") ", %%rcx\n\t"		\
	"ja %l[no]\n\t"								\
	"addq %%rdx, %%r8\n\t"							\
	"cmpl " PXTU_OF(PXTU_HEAD_LIMIT, "%%r11") ", %%r8d\n\t"			\
	"ja %l[no]\n\t"								\
	"addq " PXTU_OF(PXTU_CACHE_POOL, "%[cache]") ", %%rcx\n\t"		\
	"addq %[one_record], %%r8\n\t"

/*
 * Copy the data to rcx + 16, in pieces that may overlap. The padding is in the last word, which is
 * already zero.
 */
#define PXTU_FAST_COPY								\
	"cmpl $16, %k[len]\n\t"							\
	"jb 11f\n\t"								\
	"movdqu (%[data]), %%xmm0\n\t"						\
	"movdqu -16(%[data], %q[len]), %%xmm1\n\t"				\
	"movdqu %%xmm0, 16(%%rcx)\n\t"						\
	"movdqu %%xmm1, 16-16(%%rcx, %q[len])\n\t"				\
	"cmpl $32, %k[len]\n\t"							\
	"jbe 14f\n\t"								\
	"movdqu 16(%[data]), %%xmm0\n\t"					\
	"movdqu -32(%[data], %q[len]), %%xmm1\n\t"				\
	"movdqu %%xmm0, 16+16(%%rcx)\n\t"					\
	"movdqu %%xmm1, 16-32(%%rcx, %q[len])\n\t"				\
	"jmp 14f\n"								\
	"11:\n\t"								\
	"testl %k[len], %k[len]\n\t"						\
	"jz 14f\n\t"								\
	"cmpl $8, %k[len]\n\t"							\
	"jb 12f\n\t"								\
	"movq (%[data]), %%rdx\n\t"						\
	"movq %%rdx, 16(%%rcx)\n\t"						\
	"movq -8(%[data], %q[len]), %%rdx\n\t"					\
	"movq %%rdx, 16-8(%%rcx, %q[len])\n\t"					\
	"jmp 14f\n"								\
	"12:\n\t"								\
	"cmpl $4, %k[len]\n\t"							\
	"jb 13f\n\t"								\
	"movl (%[data]), %%edx\n\t"						\
	"movl %%edx, 16(%%rcx)\n\t"						\
	"movl -4(%[data], %q[len]), %%edx\n\t"					\
	"movl %%edx, 16-4(%%rcx, %q[len])\n\t"					\
	"jmp 14f\n"								\
	/* Up to three bytes: the last, then the first two. */			\
	"13:\n\t"								\
	"movzbl -1(%[data], %q[len]), %%edx\n\t"				\
	"movb %%dl, 16-1(%%rcx, %q[len])\n\t"					\
	"cmpl $1, %k[len]\n\t"							\
	"je 14f\n\t"								\
	"movzwl (%[data]), %%edx\n\t"						\
	"movw %%dx, 16(%%rcx)\n"						\
	"14:\n\t"

/*
 * Write the first word, as in pxtu_header(), with @flags, and the time. Clear the last word before
 * all else: it may also have data and, in a small packed record, the address.
 */
#define PXTU_FAST_HEADER(flags)						\
	"movq $0, -8(%%rcx, %%rdx)\n\t"						\
	"movl %[id], %%edx\n\t"							\
	"shll $16, %%edx\n\t"							\
	"leal " flags "(%%rdx, %q[len]), %%edx\n\t"				\
	"movl %%edx, (%%rcx)\n\t"						\
	"movl %%eax, 4(%%rcx)\n\t"

#define PXTU_FAST_ADDRESS							\
	"movq %[address], 8(%%rcx)\n\t"

/* The data of a packed record starts 4 bytes earlier, so move rcx. */
#define PXTU_FAST_PACKED_ADDRESS						\
	"movd %[address], 8(%%rcx)\n\t"						\
	"subq $" PXTU_TEXT(PXTU_RECORD_DATA) " - " PXTU_TEXT(PXTU_PACKED_DATA) ", %%rcx\n\t"

/* A sequence: @reserve makes room, @header writes the part before the data. */
#define PXTU_FAST_SEQUENCE(reserve, header)					\
	"movq " PXTU_OF(PXTU_CACHE_AREA, "%[cache]") ", %%r11\n\t"		\
	"leaq 3b(%%rip), %%rax\n\t"						\
	"movq __posix_trace_gate@GOTPCREL(%%rip), %%r8\n\t"			\
	"movq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%%r11") "\n"			\
	"1:\n\t"								\
	PXTU_FAST_GATE								\
	PXTU_FAST_COUNTER							\
	PXTU_FAST_TIME								\
	PXTU_FAST_CPU								\
	PXTU_FAST_WRITER							\
	reserve									\
	header									\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_DATA, "%%edx")				\
	PXTU_FAST_COPY								\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_WRITTEN, "%%edx")			\
	"movq %%rax, " PXTU_OF(PXTU_HEAD_LAST, "%%r11") "\n\t"			\
	"movq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%r11") "\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_DELAY_FAST_COMMIT, "%%eax")			\
	"movq " PXTU_OF(PXTU_CACHE_WAKEUP, "%[cache]") ", %%rax\n\t"		\
	"movq " PXTU_OF(PXTU_CACHE_AREA, "%[cache]") ", %%rdx\n\t"		\
	"cmpl $0, " PXTU_OF(PXTU_NEED_WAKEUP, "%%rax") "\n\t"			\
	/* Commit, as in PXTU_RSEQ_WRITE, then disarm. */			\
	"movq %%r8, " PXTU_OF(PXTU_HEAD_HEAD, "%%r11") "\n"			\
	"2:\n\t"								\
	"movq $0, " PXTU_OF(PXTU_RSEQ_CS, "%%rdx") "\n\t"			\
	"jne %l[do_wake]\n\t"							\
	PXTU_RSEQ_ABORT("no")

/*
 * Packs the record as prepare() does. If the gate does not match the cache, the sequence fails.
 * Both sequences are in one statement, and the address is in an SSE register, so that the compiler
 * need not save a general register.
 */
#define PXTU_FAST_RECORD							\
	/* As POSIXTRACE_RECORD_PACKS(). */					\
	"leal -1(%q[len]), %%eax\n\t"						\
	"testb $4, %%al\n\t"							\
	"jnz 6f\n\t"								\
	"movq __posix_trace_gate@GOTPCREL(%%rip), %%r8\n\t"			\
	"movq %[address], %%rax\n\t"						\
	"shrq $32, %%rax\n\t"							\
	"cmpl %%eax, " PXTU_OF(PXTU_GATE_ADDRESS_HIGH, "%%r8") "\n\t"		\
	"jne 6f\n\t"								\
	PXTU_RSEQ_TABLE("3")							\
	PXTU_FAST_SEQUENCE(PXTU_FAST_RESERVE(PXTU_PACKED_DATA),		\
			    PXTU_FAST_HEADER("1 << " PXTU_TEXT(PXTU_PACKED_BIT)) \
			    PXTU_FAST_PACKED_ADDRESS)				\
	"jmp 7f\n"								\
	"6:\n\t"								\
	PXTU_RSEQ_TABLE("3")							\
	PXTU_FAST_SEQUENCE(PXTU_FAST_RESERVE(PXTU_RECORD_DATA),		\
			    PXTU_FAST_HEADER("") PXTU_FAST_ADDRESS)		\
	"7:\n\t"

#define PXTU_FAST_OPERANDS							\
	[cache] "r" (cache),							\
	[id] "r" (id),								\
	[len] "r" (len),							\
	[data] "S" (data),							\
	[address] "x" (((union pxtu_in_sse){ prog_address }).number),		\
	[one_record] "m" (pxtu_one_record)

#define PXTU_FAST_RECORD_CHANGES						\
	"memory", "cc", "rax", "rcx", "rdx", "r8", "r11", "xmm0", "xmm1"

/*
 * Write the first word last: it validates the rest. Write @len_end after @area, because the next
 * event uses @area right after checking @len_end. A matching gate generation means that the heads
 * are still mapped. The fence keeps a thread that has just moved to this CPU from reading the
 * counter early.
 */
#define PXTU_FAST_FILL								\
	"movq " PXTU_OF(PXTU_CACHE_AREA, "%[from]") ", %%rcx\n\t"		\
	"leaq 3b(%%rip), %%rax\n\t"						\
	"movq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%%rcx") "\n"			\
	"1:\n\t"								\
	"movq $0, (%[cache])\n\t"						\
	"movdqu 24(%[from]), %%xmm0\n\t"					\
	"movdqu %%xmm0, 24(%[cache])\n\t"					\
	"movdqu 40(%[from]), %%xmm0\n\t"					\
	"movdqu %%xmm0, 40(%[cache])\n\t"					\
	"movdqu 56(%[from]), %%xmm0\n\t"					\
	"movdqu %%xmm0, 56(%[cache])\n\t"					\
	"movq " PXTU_OF(PXTU_CACHE_BIT, "%[from]") ", %%rax\n\t"			\
	"movq %%rax, " PXTU_OF(PXTU_CACHE_BIT, "%[cache]") "\n\t"			\
	"movq " PXTU_OF(PXTU_CACHE_RELAXED, "%[from]") ", %%rax\n\t"		\
	"movq %%rax, " PXTU_OF(PXTU_CACHE_RELAXED, "%[cache]") "\n\t"		\
	"movl " PXTU_OF(PXTU_RSEQ_CPU_ID, "%%rcx") ", %%eax\n\t"		\
	"cmpl %%eax, " PXTU_OF(PXTU_CACHE_NR_CPUS, "%[from]") "\n\t"		\
	"jbe %l[no]\n\t"							\
	"movl %%eax, " PXTU_OF(PXTU_CACHE_CPU, "%[cache]") "\n\t"			\
	"shlq $" PXTU_TEXT(PXTU_HEAD_SHIFT) ", %%rax\n\t"			\
	"addq " PXTU_OF(PXTU_CACHE_HEAD, "%[from]") ", %%rax\n\t"		\
	"movq __posix_trace_gate@GOTPCREL(%%rip), %%rcx\n\t"			\
	"movq (%[from]), %%rdx\n\t"						\
	"cmpq %%rdx, " PXTU_OF(PXTU_GATE_GENERATION, "%%rcx") "\n\t"		\
	"jne %l[no]\n\t"							\
	/* Was the last writer on this CPU our program? */				\
	"movl " PXTU_OF(PXTU_GATE_ADDRESS_HIGH, "%%rcx") ", %%ecx\n\t"		\
	"cmpl %%ecx, " PXTU_OF(PXTU_HEAD_ADDRESS_HIGH, "%%rax") "\n\t"		\
	"jne %l[no]\n\t"							\
	"movq %%rax, " PXTU_OF(PXTU_CACHE_HEAD, "%[cache]") "\n\t"		\
	"movq " PXTU_OF(PXTU_CACHE_LEN_END, "%[from]") ", %%rax\n\t"		\
	"movq %%rax, " PXTU_OF(PXTU_CACHE_LEN_END, "%[cache]") "\n\t"		\
	"lfence\n\t"								\
	"movq %%rdx, (%[cache])\n"						\
	"2:\n\t"								\
	PXTU_RSEQ_ABORT("no")

#define PXTU_FAST_FILL_CHANGES	"memory", "cc", "rax", "rcx", "rdx", "xmm0"

#endif /* PXTU_FAST_X86_H */
