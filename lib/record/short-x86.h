/* SPDX-License-Identifier: MIT */
/* The short way of an event on x86-64. short.h describes it; rseq-x86.h has more on each step. */
#ifndef PXTU_SHORT_X86_H
#define PXTU_SHORT_X86_H

#include "record/gate.h"
#include "record/parts-x86.h"
#include "record/short-layout.h"

/* r8: the gate. r11: the area, later the head of this CPU. */
#define PXTU_SHORT_GATE								\
	/* Does this stream want the event, and no other one? */		\
	"movl %[header], %%ecx\n\t"						\
	"shrl $16, %%ecx\n\t"							\
	"movl " PXTU_TEXT(PXTU_GATE_ENABLE) "(%%r8, %%rcx, 4), %%ecx\n\t"	\
	"cmpl %%ecx, " PXTU_OF(PXTU_NOTE_BIT, "%[note]") "\n\t"			\
	"jne %l[no]\n\t"

/* r8: the gate. r11: the area, from here on the head of this CPU. */
#define PXTU_SHORT_CPU								\
	"movq " PXTU_OF(PXTU_GATE_GENERATION, "%%r8") ", %%rcx\n\t"		\
	"cmpq %%rcx, " PXTU_OF(PXTU_NOTE_GENERATION, "%[note]") "\n\t"		\
	"jne %l[no]\n\t"							\
	"movl " PXTU_OF(PXTU_RSEQ_CPU_ID, "%%r11") ", %%ecx\n\t"		\
	"cmpl %%ecx, " PXTU_OF(PXTU_NOTE_CPU, "%[note]") "\n\t"			\
	"jne %l[no]\n\t"							\
	"movq " PXTU_OF(PXTU_NOTE_HEAD, "%[note]") ", %%r11\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_POINT_SHORT_CHECKED, "%%ecx")

/* Are we the last writer of this CPU, if one is named? */
#define PXTU_SHORT_WRITER							\
	"movq " PXTU_OF(PXTU_NOTE_IDS, "%[note]") ", %%rcx\n\t"			\
	"cmpq %%rcx, " PXTU_OF(PXTU_HEAD_IDS, "%%r11") "\n\t"			\
	"jne %l[no]\n\t"							\
	"movq " PXTU_OF(PXTU_NOTE_THREAD_ID, "%[note]") ", %%rcx\n\t"		\
	"cmpq %%rcx, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%r11") "\n\t"		\
	"jne %l[no]\n\t"

/*
 * rax: the counter, as in pxtu_counter(). After the gate, which opens after a stream has started;
 * before all else, because what follows need not wait for the counter. A stream with relaxed order
 * does without the fence: the comparison with the previous record still keeps this CPU in order,
 * and pxtu_short_keep() a thread that comes to it.
 */
#define PXTU_SHORT_COUNTER							\
	"cmpl $0, " PXTU_OF(PXTU_NOTE_RELAXED, "%[note]") "\n\t"		\
	"jne 5f\n\t"								\
	"lfence\n"								\
	"5:\n\t"								\
	"rdtsc\n\t"								\
	"movl %%edx, %%ebx\n\t"							\
	PXTU_RSEQ_DELAY(PXTU_POINT_SHORT_TIME, "%%edx")

/*
 * rcx: begin of the record, whose data is at @at; r9: its end, r8: the next head. A full stream has
 * no room: no record ends at its limit. A forged head cannot lead outside of the pool: the second
 * comparison is of the whole r9.
 */
#define PXTU_SHORT_RESERVE(at)							\
	"movq " PXTU_OF(PXTU_HEAD_HEAD, "%%r11") ", %%r8\n\t"			\
	/* Is the last writer named? */						\
	"cmpq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%r11") "\n\t"		\
	"jne %l[no]\n\t"							\
	PXTU_RSEQ_DELAY(PXTU_POINT_SHORT_HEAD, "%%edx")				\
	"movzwl %w[header], %%edx\n\t"						\
	/* The note is not the one that the caller saw, if a signal handler has recorded since. */ \
	"cmpq " PXTU_OF(PXTU_NOTE_LEN_END, "%[note]") ", %%rdx\n\t"		\
	"jae %l[no]\n\t"							\
	"addl $" PXTU_TEXT(at) " + 7, %%edx\n\t"				\
	"andl $-8, %%edx\n\t"							\
	"movl %%r8d, %%ecx\n\t"							\
	"leaq (%%rcx, %%rdx), %%r9\n\t"						\
	/* One record more. */							\
	"btsq $32, %%rdx\n\t"							\
	"addq %%rdx, %%r8\n\t"							\
	"cmpl " PXTU_OF(PXTU_HEAD_LIMIT, "%%r11") ", %%r9d\n\t"			\
	"ja %l[no]\n\t"								\
	"cmpq " PXTU_OF(PXTU_NOTE_POOL_SIZE, "%[note]") ", %%r9\n\t"		\
	"ja %l[no]\n\t"								\
	"addq " PXTU_OF(PXTU_NOTE_POOL, "%[note]") ", %%rcx\n\t"		\
	"addq " PXTU_OF(PXTU_NOTE_POOL, "%[note]") ", %%r9\n\t"

/*
 * rax: the time of the counter in rax, as in pxtu_clock_count(). The numbers may be newer than the
 * counter, which makes no difference as long as the counter is not older than the last update. One
 * comparison finds that, a product of more than 64 bits, and POSIXTRACE_CYCLE_NONE.
 */
#define PXTU_SHORT_TIME								\
	"movq __posix_trace_gate@GOTPCREL(%%rip), %%rdx\n\t"			\
	"movl " PXTU_OF(PXTU_CLOCK_SEQ, "%%rdx") ", %%r9d\n\t"			\
	"subl " PXTU_OF(PXTU_CLOCK_CYCLE_LAST, "%%rdx") ", %%eax\n\t"		\
	"sbbl 4+" PXTU_OF(PXTU_CLOCK_CYCLE_LAST, "%%rdx") ", %%ebx\n\t"		\
	"jnz %l[no]\n\t"							\
	"imulq " PXTU_OF(PXTU_CLOCK_MULT, "%%rdx") ", %%rax\n\t"		\
	"addq " PXTU_OF(PXTU_CLOCK_FRACTION, "%%rdx") ", %%rax\n\t"		\
	"shrq $" PXTU_TEXT(PXTU_CLOCK_SHIFT) ", %%rax\n\t"			\
	"addq " PXTU_OF(PXTU_CLOCK_REAL, "%%rdx") ", %%rax\n\t"			\
	/* An odd number does not equal itself then. */				\
	"andl $-2, %%r9d\n\t"							\
	"cmpl " PXTU_OF(PXTU_CLOCK_SEQ, "%%rdx") ", %%r9d\n\t"			\
	"jne %l[no]\n\t"							\
	"cmpq " PXTU_OF(PXTU_HEAD_LAST, "%%r11") ", %%rax\n\t"			\
	"jb %l[no]\n\t"								\
	"cmpq " PXTU_OF(PXTU_HEAD_TIME_END, "%%r11") ", %%rax\n\t"		\
	"jae %l[no]\n\t"

/* Data goes to rcx + 16. Pieces may overlap. The padding is in the last word, which is zero. */
#define PXTU_SHORT_COPY								\
	"movzwl %w[header], %%edx\n\t"						\
	"cmpl $16, %%edx\n\t"							\
	"jb 11f\n\t"								\
	"movdqu (%[data]), %%xmm0\n\t"						\
	"movdqu -16(%[data], %%rdx), %%xmm1\n\t"				\
	"movdqu %%xmm0, 16(%%rcx)\n\t"						\
	"movdqu %%xmm1, 16-16(%%rcx, %%rdx)\n\t"				\
	"cmpl $32, %%edx\n\t"							\
	"jbe 14f\n\t"								\
	"movdqu 16(%[data]), %%xmm0\n\t"					\
	"movdqu -32(%[data], %%rdx), %%xmm1\n\t"				\
	"movdqu %%xmm0, 16+16(%%rcx)\n\t"					\
	"movdqu %%xmm1, 16-32(%%rcx, %%rdx)\n\t"				\
	"jmp 14f\n"								\
	"11:\n\t"								\
	"testl %%edx, %%edx\n\t"						\
	"jz 14f\n\t"								\
	"cmpl $8, %%edx\n\t"							\
	"jb 12f\n\t"								\
	"movq (%[data]), %%r9\n\t"						\
	"movq %%r9, 16(%%rcx)\n\t"						\
	"movq -8(%[data], %%rdx), %%r9\n\t"					\
	"movq %%r9, 16-8(%%rcx, %%rdx)\n\t"					\
	"jmp 14f\n"								\
	"12:\n\t"								\
	"cmpl $4, %%edx\n\t"							\
	"jb 13f\n\t"								\
	"movl (%[data]), %%r9d\n\t"						\
	"movl %%r9d, 16(%%rcx)\n\t"						\
	"movl -4(%[data], %%rdx), %%r9d\n\t"					\
	"movl %%r9d, 16-4(%%rcx, %%rdx)\n\t"					\
	"jmp 14f\n"								\
	/* Up to three bytes: the first, the last, the one in the middle. */	\
	"13:\n\t"								\
	"movzbl (%[data]), %%r9d\n\t"						\
	"movb %%r9b, 16(%%rcx)\n\t"						\
	"movzbl -1(%[data], %%rdx), %%r9d\n\t"					\
	"movb %%r9b, 16-1(%%rcx, %%rdx)\n\t"					\
	"shrl %%edx\n\t"							\
	"movzbl (%[data], %%rdx), %%r9d\n\t"					\
	"movb %%r9b, 16(%%rcx, %%rdx)\n"					\
	"14:\n\t"

/* Without the time. The padding comes first: the last word of a small packed record has both. */
#define PXTU_SHORT_HEADER							\
	"movq $0, -8(%%r9)\n\t"							\
	"movl %[header], (%%rcx)\n\t"						\
	"movq %[address], %%rdx\n\t"						\
	"movq %%rdx, 8(%%rcx)\n\t"

/* Its data begins 4 bytes earlier, and so does rcx then. */
#define PXTU_SHORT_PACKED_HEADER						\
	"movq $0, -8(%%r9)\n\t"							\
	"movl %[header], %%edx\n\t"						\
	"btsl $" PXTU_TEXT(PXTU_PACKED_BIT) ", %%edx\n\t"			\
	"movl %%edx, (%%rcx)\n\t"						\
	"movq %[address], %%rdx\n\t"						\
	"movl %%edx, 8(%%rcx)\n\t"						\
	"subq $" PXTU_TEXT(PXTU_RECORD_DATA) " - " PXTU_TEXT(PXTU_PACKED_DATA) ", %%rcx\n\t"

/* Reserves by @reserve, writes by @header, and puts the time there by @time. */
#define PXTU_SHORT_SEQUENCE(reserve, header, time)				\
	"movq " PXTU_OF(PXTU_NOTE_AREA, "%[note]") ", %%r11\n\t"		\
	"leaq 3b(%%rip), %%rax\n\t"						\
	"movq __posix_trace_gate@GOTPCREL(%%rip), %%r8\n\t"			\
	"movq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%%r11") "\n"			\
	"1:\n\t"								\
	PXTU_SHORT_GATE								\
	PXTU_SHORT_COUNTER							\
	PXTU_SHORT_CPU								\
	PXTU_SHORT_WRITER							\
	reserve									\
	header									\
	PXTU_RSEQ_DELAY(PXTU_POINT_SHORT_DATA, "%%edx")				\
	PXTU_SHORT_COPY								\
	PXTU_SHORT_TIME								\
	time									\
	PXTU_RSEQ_DELAY(PXTU_POINT_SHORT_WRITTEN, "%%edx")			\
	"movq %%rax, " PXTU_OF(PXTU_HEAD_LAST, "%%r11") "\n\t"			\
	"movq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%r11") "\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_POINT_SHORT_COMMIT, "%%eax")			\
	"movq " PXTU_OF(PXTU_NOTE_WAKEUP, "%[note]") ", %%rax\n\t"		\
	"movq " PXTU_OF(PXTU_NOTE_AREA, "%[note]") ", %%rdx\n\t"		\
	"cmpl $0, " PXTU_OF(PXTU_NEED_WAKEUP, "%%rax") "\n\t"			\
	/* Commit, as in PXTU_RSEQ_WRITE. Then disarm. */			\
	"movq %%r8, " PXTU_OF(PXTU_HEAD_HEAD, "%%r11") "\n"			\
	"2:\n\t"								\
	"movq $0, " PXTU_OF(PXTU_RSEQ_CS, "%%rdx") "\n\t"			\
	"jne %l[do_wake]\n\t"							\
	PXTU_RSEQ_ABORT("no")

#define PXTU_SHORT_RECORD							\
	PXTU_SHORT_SEQUENCE(PXTU_SHORT_RESERVE(PXTU_RECORD_DATA), PXTU_SHORT_HEADER, \
			    "movl %%eax, 4(%%rcx)\n\t")

#define PXTU_SHORT_PACKED							\
	PXTU_SHORT_SEQUENCE(PXTU_SHORT_RESERVE(PXTU_PACKED_DATA), PXTU_SHORT_PACKED_HEADER, \
			    "movl %%eax, 4+4(%%rcx)\n\t")

/* With these nine registers, the caller has to save none. */
#define PXTU_SHORT_RECORD_CHANGES						\
	"memory", "cc", "rax", "rbx", "rcx", "rdx", "r8", "r9", "r11", "xmm0", "xmm1"

/*
 * The first word last: without it the rest is not valid. @len_end after @area, which the next event
 * uses before it looks at anything else. The generation of the gate says that the heads are still
 * mapped. With the fence, no counter is read early by a thread that has just come to this CPU.
 */
#define PXTU_SHORT_KEEP								\
	"movq " PXTU_OF(PXTU_NOTE_AREA, "%[note]") ", %%rcx\n\t"		\
	"leaq 3b(%%rip), %%rax\n\t"						\
	"movq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%%rcx") "\n"			\
	"1:\n\t"								\
	"movq $0, (%[kept])\n\t"						\
	"movdqu 24(%[note]), %%xmm0\n\t"					\
	"movdqu %%xmm0, 24(%[kept])\n\t"					\
	"movdqu 40(%[note]), %%xmm0\n\t"					\
	"movdqu %%xmm0, 40(%[kept])\n\t"					\
	"movdqu 56(%[note]), %%xmm0\n\t"					\
	"movdqu %%xmm0, 56(%[kept])\n\t"					\
	"movq " PXTU_OF(PXTU_NOTE_BIT, "%[note]") ", %%rax\n\t"			\
	"movq %%rax, " PXTU_OF(PXTU_NOTE_BIT, "%[kept]") "\n\t"			\
	"movq " PXTU_OF(PXTU_NOTE_RELAXED, "%[note]") ", %%rax\n\t"		\
	"movq %%rax, " PXTU_OF(PXTU_NOTE_RELAXED, "%[kept]") "\n\t"		\
	"movl " PXTU_OF(PXTU_RSEQ_CPU_ID, "%%rcx") ", %%eax\n\t"		\
	"cmpl %%eax, " PXTU_OF(PXTU_NOTE_NR_CPUS, "%[note]") "\n\t"		\
	"jbe %l[no]\n\t"							\
	"movl %%eax, " PXTU_OF(PXTU_NOTE_CPU, "%[kept]") "\n\t"			\
	"shlq $" PXTU_TEXT(PXTU_HEAD_SHIFT) ", %%rax\n\t"			\
	"addq " PXTU_OF(PXTU_NOTE_HEAD, "%[note]") ", %%rax\n\t"		\
	"movq __posix_trace_gate@GOTPCREL(%%rip), %%rcx\n\t"			\
	"movq (%[note]), %%rdx\n\t"						\
	"cmpq %%rdx, " PXTU_OF(PXTU_GATE_GENERATION, "%%rcx") "\n\t"		\
	"jne %l[no]\n\t"							\
	/* Was the last writer here our program? */				\
	"movl " PXTU_OF(PXTU_GATE_ADDRESS_HIGH, "%%rcx") ", %%ecx\n\t"		\
	"cmpl %%ecx, " PXTU_OF(PXTU_HEAD_ADDRESS_HIGH, "%%rax") "\n\t"		\
	"jne %l[no]\n\t"							\
	"movq %%rax, " PXTU_OF(PXTU_NOTE_HEAD, "%[kept]") "\n\t"		\
	"movq " PXTU_OF(PXTU_NOTE_LEN_END, "%[note]") ", %%rax\n\t"		\
	"movq %%rax, " PXTU_OF(PXTU_NOTE_LEN_END, "%[kept]") "\n\t"		\
	"lfence\n\t"								\
	"movq %%rdx, (%[kept])\n"						\
	"2:\n\t"								\
	PXTU_RSEQ_ABORT("no")

#define PXTU_SHORT_KEEP_CHANGES	"memory", "cc", "rax", "rcx", "rdx", "xmm0"

#endif /* PXTU_SHORT_X86_H */
