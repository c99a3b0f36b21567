/* SPDX-License-Identifier: MIT */
/* Common to the restartable sequences on x86-64. rseq.h describes what they do, and why. */
#ifndef PXTU_ASM_X86_H
#define PXTU_ASM_X86_H

#include "record/asm.h"

/* The operand for a member, at the offset @number, of the structure at @base. */
#define PXTU_OF(number, base)	PXTU_TEXT(number) "(" base ")"

/* The abort handler, after the signature that the kernel checks. */
#define PXTU_RSEQ_ABORT(label)					\
	".pushsection __rseq_failure, \"ax\"\n\t"		\
	".byte 0x0f, 0xb9, 0x3d\n\t"				\
	".long " PXTU_TEXT(RSEQ_SIG) "\n"					\
	"4:\n\t"						\
	PXTU_RSEQ_ABORTED					\
	"jmp %l[" label "]\n\t"					\
	".popsection\n\t"

static inline void pxtu_rseq_disarm(void)
{
	__asm__ __volatile__ ("movq $0, " PXTU_OF(PXTU_RSEQ_CS, "%[area]")
		:
		: [area] "r" (pxtu_rseq_area())
		: "memory");
}

#endif /* PXTU_ASM_X86_H */
