/* SPDX-License-Identifier: MIT */
/* Restartable sequences on x86-64. rseq.h describes what they do, and why. */
#ifndef PXTU_RSEQ_X86_H
#define PXTU_RSEQ_X86_H

#include "record/asm-x86.h"

/*
 * Check that the gate is open and the slot is ours, or else jump to "no". Input: r11: the area.
 * Output: rcx: the head of this CPU.
 */
#define PXTU_RSEQ_CHECK								\
	"movq " PXTU_OF(PXTU_GATE_GENERATION, "%[gate]") ", %%rax\n\t"		\
	"cmpq %%rax, " PXTU_OF(PXTU_ENTRY_GENERATION, "%[entry]") "\n\t"		\
	"jne %l[no]\n\t"							\
	"movq " PXTU_OF(PXTU_ENTRY_ENABLE, "%[entry]") ", %%rax\n\t"		\
	"movl (%%rax), %%eax\n\t"						\
	"testl %%eax, " PXTU_OF(PXTU_ENTRY_BIT, "%[entry]") "\n\t"		\
	"jz %l[no]\n\t"							\
	/* NULL if the stream is not mapped, or if another thread is unmapping it. */	\
	"movq " PXTU_OF(PXTU_SLOT_HEADS, "%[slot]") ", %%rcx\n\t"		\
	"testq %%rcx, %%rcx\n\t"						\
	"jz %l[no]\n\t"							\
	"movl " PXTU_OF(PXTU_RSEQ_CPU_ID, "%%r11") ", %%eax\n\t"		\
	"cmpl %%eax, " PXTU_OF(PXTU_ENTRY_NR_CPUS, "%[entry]") "\n\t"		\
	"jbe %l[no]\n\t"							\
	"shlq $" PXTU_TEXT(PXTU_HEAD_SHIFT) ", %%rax\n\t"			\
	"addq %%rax, %%rcx\n\t"							\
	PXTU_RSEQ_DELAY(PXTU_DELAY_CHECKED, "%%eax")

#define PXTU_RSEQ_ARM								\
	"leaq pxtu_rseq_record_table(%%rip), %%rax\n\t"				\
	"movq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%[area]")

#define PXTU_RSEQ_DROP								\
	"movq " PXTU_OF(PXTU_ENTRY_AREA, "%[entry]") ", %%r11\n\t"		\
	"leaq 3b(%%rip), %%rax\n\t"						\
	"movq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%%r11") "\n"			\
	"1:\n\t"								\
	PXTU_RSEQ_CHECK								\
	"cmpl $" PXTU_TEXT(PXTU_LIMIT_FULL) ", " PXTU_OF(PXTU_HEAD_LIMIT, "%%rcx") "\n\t" \
	"jne %l[no]\n\t"							\
	PXTU_RSEQ_DELAY(PXTU_DELAY_DROP, "%%eax")				\
	"incq " PXTU_OF(PXTU_HEAD_LOST, "%%rcx") "\n"				\
	"2:\n\t"								\
	PXTU_RSEQ_ABORT("again")

#define PXTU_RSEQ_ARM_CHANGES	"memory", "rax"
#define PXTU_RSEQ_DROP_CHANGES	"memory", "cc", "rax", "rcx", "r11"

/*
 * Load the time that was taken earlier into rdx. If the thread was interrupted since, the area at
 * r11 no longer points to @table, and the time is stale.
 */
#define PXTU_RSEQ_TIME_TAKEN(table)						\
	"leaq " table "(%%rip), %%rax\n\t"					\
	"cmpq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%%r11") "\n\t"		\
	"jne %l[again]\n\t"							\
	"movq " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") ", %%rdx\n\t"

/*
 * Jump to "no_room" if the stream has no room up to r9, the end of the record. Input: rcx: the
 * head, rax: start of the record in the pool. Output: rdi: its address. Changes r10.
 */
#define PXTU_RSEQ_ROOM								\
	"movl " PXTU_OF(PXTU_HEAD_LIMIT, "%%rcx") ", %%r10d\n\t"			\
	"cmpq %%r10, %%r9\n\t"							\
	"ja %l[no_room]\n\t"							\
	/* Another target may have forged the limit: stay inside the mapping. */ \
	"cmpq " PXTU_OF(PXTU_SLOT_POOL_SIZE, "%[slot]") ", %%r9\n\t"		\
	"ja %l[no]\n\t"								\
	"movq " PXTU_OF(PXTU_SLOT_POOL, "%[slot]") ", %%rdi\n\t"		\
	"addq %%rax, %%rdi\n\t"

/*
 * Out of line: name the writer in the head and at rax, move r8 and r9, and jump back. Output: rdi:
 * address of the record.
 */
#define PXTU_RSEQ_NAME_WRITER							\
	"7:\n\t"								\
	/* Invalid: no head has this value. */					\
	"movq $-1, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"		\
	"movq " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") ", %%r11\n\t"		\
	"movq %%r11, " PXTU_OF(PXTU_HEAD_IDS, "%%rcx") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_DELAY_WRITER, "%%r10d")				\
	"movq " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") ", %%r10\n\t"		\
	"movq %%r10, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%rcx") "\n\t"		\
	"movl 4+" PXTU_OF(PXTU_ENTRY_WRITER, "%[entry]") ", %%r10d\n\t"		\
	"movl %%r10d, " PXTU_OF(PXTU_HEAD_ADDRESS_HIGH, "%%rcx") "\n\t"		\
	"movl $1 << " PXTU_TEXT(PXTU_WRITER_SPAN_BITS) ", %%r10d\n\t"		\
	"addq %%rdx, %%r10\n\t"							\
	"movq %%r10, " PXTU_OF(PXTU_HEAD_TIME_END, "%%rcx") "\n\t"		\
	"addq $" PXTU_TEXT(PXTU_WRITER_SIZE) ", %%r8\n\t"			\
	"addq $" PXTU_TEXT(PXTU_WRITER_SIZE) ", %%r9\n\t"			\
	PXTU_RSEQ_ROOM								\
	"movq " PXTU_OF(PXTU_ENTRY_WRITER, "%[entry]") ", %%r10\n\t"		\
	"movq %%r10, (%%rdi)\n\t"						\
	"movq %%r11, 8(%%rdi)\n\t"						\
	"movq " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") ", %%r10\n\t"		\
	"movq %%r10, 16(%%rdi)\n\t"						\
	"movq %%rdx, 24(%%rdi)\n\t"						\
	"addq $" PXTU_TEXT(PXTU_WRITER_SIZE) ", %%rdi\n\t"			\
	"jmp 5f\n"

/*
 * Write the record, with the time in rdx. Needs PXTU_RSEQ_NAME_WRITER in the same sequence.
 *
 * The head of the CPU names the writer of the previous record: pid, tid, thread_id, address_high
 * and time_end are valid only if writer_head equals head. Before the sequence changes them, it sets
 * writer_head to a value that no head has; afterwards, it sets writer_head to the next head.
 * If the sequence is aborted after one of these stores, writer_head differs from head: the next
 * record names its writer, at worst needlessly, and its sequence sets all of these fields again.
 * After each commit writer_head equals head and the ids belong to the writer, because all
 * writers do the same. For the same thread, address_high differs only if the process has executed
 * another program.
 */
#define PXTU_RSEQ_WRITE								\
	PXTU_RSEQ_DELAY(PXTU_DELAY_TIME, "%%eax")				\
	PXTU_RSEQ_CHECK								\
	"cmpq " PXTU_OF(PXTU_HEAD_LAST, "%%rcx") ", %%rdx\n\t"			\
	"jb %l[again]\n\t"							\
	/* rax: start of the record, r9: its end, r8: the head, later the next head. */ \
	"movq " PXTU_OF(PXTU_HEAD_HEAD, "%%rcx") ", %%r8\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_DELAY_HEAD, "%%eax")				\
	"movl %%r8d, %%eax\n\t"							\
	"movl " PXTU_OF(PXTU_ENTRY_STEP, "%[entry]") ", %%r9d\n\t"		\
	"addq %%rax, %%r9\n\t"							\
	/* Name the writer, unless we wrote the previous record, recently enough. */	\
	"cmpq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"		\
	"jne 7b\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_IDS, "%[entry]") ", %%r10\n\t"		\
	"cmpq %%r10, " PXTU_OF(PXTU_HEAD_IDS, "%%rcx") "\n\t"			\
	"jne 7b\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_THREAD_ID, "%[entry]") ", %%r10\n\t"		\
	"cmpq %%r10, " PXTU_OF(PXTU_HEAD_THREAD_ID, "%%rcx") "\n\t"		\
	"jne 7b\n\t"								\
	"movl 4+" PXTU_OF(PXTU_ENTRY_WRITER, "%[entry]") ", %%r10d\n\t"		\
	"cmpl %%r10d, " PXTU_OF(PXTU_HEAD_ADDRESS_HIGH, "%%rcx") "\n\t"		\
	"jne 7b\n\t"								\
	"cmpq " PXTU_OF(PXTU_HEAD_TIME_END, "%%rcx") ", %%rdx\n\t"		\
	"jae 7b\n\t"								\
	PXTU_RSEQ_ROOM								\
	"5:\n\t"								\
	"addq " PXTU_OF(PXTU_ENTRY_STEP, "%[entry]") ", %%r8\n\t"		\
	/* Copy header and address together, then the time. */			\
	"movdqu " PXTU_OF(PXTU_ENTRY_HEADER, "%[entry]") ", %%xmm0\n\t"		\
	"movdqu %%xmm0, (%%rdi)\n\t"						\
	"movl %%edx, 4(%%rdi)\n\t"						\
	"movq %%rdx, " PXTU_OF(PXTU_HEAD_LAST, "%%rcx") "\n\t"			\
	PXTU_RSEQ_DELAY(PXTU_DELAY_DATA, "%%eax")				\
	"cmpl $1, " PXTU_OF(PXTU_ENTRY_PIECES, "%[entry]") "\n\t"		\
	"jb 11f\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_DATA, "%[entry]") ", %%rsi\n\t"		\
	"movdqu (%%rsi), %%xmm0\n\t"						\
	"movdqu %%xmm0, 16(%%rdi)\n\t"						\
	/* LEA, because ADD would change the flags. */				\
	"leaq 16(%%rdi), %%rdi\n\t"						\
	"je 11f\n\t"								\
	"movl " PXTU_OF(PXTU_ENTRY_PIECES, "%[entry]") ", %%r9d\n\t"		\
	"decl %%r9d\n"								\
	"10:\n\t"								\
	"addq $16, %%rsi\n\t"							\
	"movdqu (%%rsi), %%xmm0\n\t"						\
	"movdqu %%xmm0, 16(%%rdi)\n\t"						\
	"addq $16, %%rdi\n\t"							\
	"decl %%r9d\n\t"							\
	"jnz 10b\n"								\
	"11:\n\t"								\
	"cmpl $1, " PXTU_OF(PXTU_ENTRY_REST_WORDS, "%[entry]") "\n\t"		\
	"jb 6f\n\t"								\
	"movq " PXTU_OF(PXTU_ENTRY_REST, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, 16(%%rdi)\n\t"						\
	"je 6f\n\t"								\
	"movq 8+" PXTU_OF(PXTU_ENTRY_REST, "%[entry]") ", %%rax\n\t"		\
	"movq %%rax, 24(%%rdi)\n"						\
	"6:\n\t"								\
	PXTU_RSEQ_DELAY(PXTU_DELAY_WRITTEN, "%%eax")				\
	"movq %%r8, " PXTU_OF(PXTU_HEAD_WRITER_HEAD, "%%rcx") "\n\t"		\
	PXTU_RSEQ_DELAY(PXTU_DELAY_COMMIT, "%%eax")				\
	/* Read need_wakeup in the sequence, where its mapping cannot go away. */ \
	"movq " PXTU_OF(PXTU_SLOT_WAKEUP, "%[slot]") ", %%rax\n\t"		\
	"cmpl $0, " PXTU_OF(PXTU_NEED_WAKEUP, "%%rax") "\n\t"			\
	/* Commit. Stores are not reordered, so the reader's acquire also sees the record. */ \
	"movq %%r8, " PXTU_OF(PXTU_HEAD_HEAD, "%%rcx") "\n"			\
	"2:\n\t"								\
	"jne %l[do_wake]\n\t"							\
	PXTU_RSEQ_ABORT("again")

#define PXTU_RSEQ_WRITE_CHANGES							\
	"memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0"

/*
 * Read the counter into rdx and rax, or jump to "no_counter". This comes early, because the
 * following instructions need not wait for the counter. Input: r8: the gate. Output: r9: seq of the
 * clock, for PXTU_RSEQ_TIME_COUNT.
 */
#define PXTU_RSEQ_COUNTER							\
	"movl " PXTU_OF(PXTU_CLOCK_SEQ, "%%r8") ", %%r9d\n\t"			\
	"cmpl $" PXTU_TEXT(PXTU_COUNTER_TSC) ", " PXTU_OF(PXTU_CLOCK_COUNTER, "%%r8") "\n\t" \
	"jne %l[no_counter]\n\t"						\
	"lfence\n\t"								\
	"rdtsc\n\t"

/*
 * Turn the counter in rdx and rax into the time in rax, as in pxtu_clock_count(), or jump to
 * "no_counter". The counters of two CPUs may differ slightly: if this one is below cycle_last, the
 * difference counts as 0. MOV keeps the carry flag, XOR would not. Changes rdx.
 */
#define PXTU_RSEQ_TIME_COUNT							\
	"shlq $32, %%rdx\n\t"							\
	"orq %%rdx, %%rax\n\t"							\
	"subq " PXTU_OF(PXTU_CLOCK_CYCLE_LAST, "%%r8") ", %%rax\n\t"		\
	"movl $0, %%edx\n\t"							\
	"cmovbq %%rdx, %%rax\n\t"						\
	"mulq " PXTU_OF(PXTU_CLOCK_MULT, "%%r8") "\n\t"				\
	"addq " PXTU_OF(PXTU_CLOCK_FRACTION, "%%r8") ", %%rax\n\t"		\
	"adcq $0, %%rdx\n\t"							\
	"shrdq $" PXTU_TEXT(PXTU_CLOCK_SHIFT) ", %%rdx, %%rax\n\t"		\
	"addq " PXTU_OF(PXTU_CLOCK_BASE, "%%r8") ", %%rax\n\t"			\
	"addq " PXTU_OF(PXTU_CLOCK_OFFSET, "%%r8") ", %%rax\n\t"		\
	/* An odd number fails the comparison. */				\
	"andl $-2, %%r9d\n\t"							\
	"cmpl " PXTU_OF(PXTU_CLOCK_SEQ, "%%r8") ", %%r9d\n\t"			\
	"jne %l[no_counter]\n\t"

#define PXTU_RSEQ_RECORD							\
	"movq " PXTU_OF(PXTU_ENTRY_AREA, "%[entry]") ", %%r11\n\t"		\
	"1:\n\t"								\
	"jmp 12f\n"								\
	PXTU_RSEQ_NAME_WRITER							\
	"12:\n\t"								\
	PXTU_RSEQ_TIME_TAKEN("pxtu_rseq_record_table")				\
	PXTU_RSEQ_WRITE

#define PXTU_RSEQ_RECORD_NOW							\
	"movq " PXTU_OF(PXTU_ENTRY_AREA, "%[entry]") ", %%r11\n\t"		\
	"cmpq $0, " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") "\n\t"			\
	"jne 12f\n\t"								\
	"leaq 3b(%%rip), %%rax\n\t"						\
	"movq %%rax, " PXTU_OF(PXTU_RSEQ_CS, "%%r11") "\n"			\
	"1:\n\t"								\
	"movq %[gate], %%r8\n\t"						\
	PXTU_RSEQ_COUNTER							\
	PXTU_RSEQ_TIME_COUNT							\
	"movq %%rax, " PXTU_OF(PXTU_ENTRY_TIME, "%[entry]") "\n\t"		\
	"movq %%rax, %%rdx\n\t"							\
	"jmp 13f\n"								\
	PXTU_RSEQ_NAME_WRITER							\
	"12:\n\t"								\
	PXTU_RSEQ_TIME_TAKEN("3b")						\
	"13:\n\t"								\
	PXTU_RSEQ_WRITE

#endif /* PXTU_RSEQ_X86_H */
