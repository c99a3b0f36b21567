/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences: what has to be done on one CPU without being disturbed.
 * The kernel lets a thread that was preempted, migrated or interrupted by a signal
 * inside of one begin anew; a quiesce of the module does the same.
 *
 * The C library registers each thread. Where it does not, or on an architecture
 * that is not here, nothing is done, and the module does it instead.
 */
#ifndef PXTU_RSEQ_H
#define PXTU_RSEQ_H

#include "state.h"

/* glibc has it since 2.35, other libraries do not. */
#if defined(__x86_64__) && defined(__GLIBC__) && \
	(__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 35))
#define PXTU_RSEQ	1
#include <sys/rseq.h>
#else
#define PXTU_RSEQ	0
#endif

/* Has the C library registered its threads? One that is not has an impossible CPU. */
static inline bool pxtu_rseq_available(void)
{
#if PXTU_RSEQ
	return __rseq_size;
#else
	return false;
#endif
}

/**
 * pxtu_rseq_drop() - count an event that a full stream drops
 * @state: state of this process
 * @gate: its gate
 * @id: event type
 * @slot: slot of the stream
 *
 * In one piece: the gate is open, our notes of the slot are right, the stream is
 * full, and the event is counted on this CPU. Only if pxtu_rseq_available().
 *
 * Return: false if one of these was not so, or we were disturbed; then nothing
 * was done.
 */
static inline bool pxtu_rseq_drop(const struct pxtu_state *state,
				  const struct posixtrace_gate *gate, __u32 id, unsigned int slot)
{
#if PXTU_RSEQ
	/* First, struct rseq_cs: version, flags, begin, length, where to go on abort. */
	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"3:\n\t"
		".long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		/* So that debuggers know that they must not step through it. */
		".pushsection __rseq_cs_ptr_array, \"aw\"\n\t"
		".quad 3b\n\t"
		".popsection\n\t"
		"leaq 3b(%%rip), %%rax\n\t"
		"movq %%rax, %%fs:%c[rseq_cs](%[area])\n"
		"1:\n\t"
		"movl %[gate_generation], %%eax\n\t"
		"cmpl %%eax, %[generation]\n\t"
		"jne %l[no]\n\t"
		"testl %[bit], %[enable]\n\t"
		"jz %l[no]\n\t"
		"movq %[heads], %%rcx\n\t"
		"testq %%rcx, %%rcx\n\t"
		"jz %l[no]\n\t"
		"movl %%fs:%c[cpu_id](%[area]), %%eax\n\t"
		"cmpl %%eax, %[nr_cpus]\n\t"
		"jbe %l[no]\n\t"
		"shlq %[head_shift], %%rax\n\t"
		"addq %%rax, %%rcx\n\t"
		"testl %[full], %c[flags](%%rcx)\n\t"
		"jz %l[no]\n\t"
		"incq %c[lost](%%rcx)\n"
		"2:\n\t"
		/* The signature that the kernel wants to see before the address. */
		".pushsection __rseq_failure, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long %c[signature]\n"
		"4:\n\t"
		"jmp %l[no]\n\t"
		".popsection"
		:
		: [area] "r" (__rseq_offset),
		  [rseq_cs] "i" (offsetof(struct rseq, rseq_cs)),
		  [cpu_id] "i" (offsetof(struct rseq, cpu_id)),
		  [signature] "i" (RSEQ_SIG),
		  [gate_generation] "m" (gate->generation),
		  [generation] "m" (state->generation),
		  [enable] "m" (gate->enable[id]),
		  [bit] "r" (1U << slot),
		  [heads] "m" (state->slot[slot].heads),
		  [nr_cpus] "m" (state->nr_cpus),
		  [head_shift] "i" (__builtin_ctz(sizeof(struct posixtrace_cpu_head))),
		  [full] "i" (POSIXTRACE_HEAD_FULL),
		  [flags] "i" (offsetof(struct posixtrace_cpu_head, flags)),
		  [lost] "i" (offsetof(struct posixtrace_cpu_head, lost))
		: "memory", "cc", "rax", "rcx"
		: no);
	return true;
no:
	return false;
#else
	(void)state;
	(void)gate;
	(void)id;
	(void)slot;
	return false;
#endif
}

#endif /* PXTU_RSEQ_H */
