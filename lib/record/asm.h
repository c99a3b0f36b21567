/* SPDX-License-Identifier: MIT */
/* Common to the restartable sequences of all architectures. */
#ifndef PXTU_ASM_H
#define PXTU_ASM_H

#include "record/delays.h"
#include "record/rseq-layout.h"

/* A struct rseq_cs: version, flags, begin, length, address of the abort handler. */
#define PXTU_RSEQ_TABLE(label)					\
	".pushsection __rseq_cs, \"aw\"\n\t"			\
	".balign 32\n"						\
	label ":\n"						\
	"9:\n\t"						\
	".long 0, 0\n\t"					\
	".quad 1f, 2f - 1f, 4f\n\t"				\
	".popsection\n\t"					\
	/* Tell debuggers not to step through the sequence. */ \
	".pushsection __rseq_cs_ptr_array, \"aw\"\n\t"		\
	".quad 9b\n\t"						\
	".popsection\n\t"

/* Must not be inlined or cloned: pxtu_rseq_arm() refers to the table by name. */
#if __has_attribute(__noclone__)
#define PXTU_RSEQ_ONCE	__attribute__((__noinline__, __noclone__))
#else
#define PXTU_RSEQ_ONCE	__attribute__((__noinline__))
#endif

#endif /* PXTU_ASM_H */
