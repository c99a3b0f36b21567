/* SPDX-License-Identifier: MIT */
/* Common to the restartable sequences on arm64. rseq.h describes what they do, and why. */
#ifndef PXTU_ASM_ARM64_H
#define PXTU_ASM_ARM64_H

#include "record/asm.h"

/* The operand for a member, at the offset @number, of the structure at @base. */
#define PXTU_OF(number, base)	"[" base ", #" PXTU_TEXT(number) "]"

/*
 * The operand for a member of the clock at @base. @number is the offset from the gate, which is too
 * large for an immediate.
 */
#define PXTU_OF_CLOCK(number, base) \
	"[" base ", #" PXTU_TEXT(number) " - " PXTU_TEXT(PXTU_CLOCK_OFFSET) "]"

/* Load the address of a table into x9. */
#define PXTU_RSEQ_ADDRESS(label)				\
	".irp table, " label "\n\t"				\
	"adrp x9, \\table\n\t"					\
	"add x9, x9, :lo12:\\table\n\t"			\
	".endr\n\t"

/* The abort handler, after the signature that the kernel checks. */
#define PXTU_RSEQ_ABORT(label)					\
	".pushsection __rseq_failure, \"ax\"\n\t"		\
	".inst " PXTU_TEXT(RSEQ_SIG_CODE) "\n"			\
	"4:\n\t"						\
	PXTU_RSEQ_ABORTED					\
	"b %l[" label "]\n\t"					\
	".popsection\n\t"

static inline void pxtu_rseq_disarm(void)
{
	__asm__ __volatile__ ("str xzr, " PXTU_OF(PXTU_RSEQ_CS, "%[area]")
		:
		: [area] "r" (pxtu_rseq_area())
		: "memory");
}

_Static_assert(PXTU_HEAD_HEAD == 0, "STLR takes no offset");
_Static_assert(PXTU_CLOCK_OFFSET % 4096 == 0, "ADD takes 12 bits, and may shift them by 12");

#endif /* PXTU_ASM_ARM64_H */
