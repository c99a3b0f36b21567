/* SPDX-License-Identifier: MIT */
/* What restartable sequences on x86-64 have in common. rseq.h describes what they do, and why. */
#ifndef PXTU_PARTS_X86_H
#define PXTU_PARTS_X86_H

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
/* The same of the short way. */
#define PXTU_POINT_SHORT_CHECKED	9
#define PXTU_POINT_SHORT_HEAD		10
#define PXTU_POINT_SHORT_TIME		11
#define PXTU_POINT_SHORT_DATA		12
#define PXTU_POINT_SHORT_WRITTEN	13
#define PXTU_POINT_SHORT_COMMIT		14
#define PXTU_POINTS		14

#ifndef PXTU_RSEQ_DELAY
#define PXTU_RSEQ_DELAY(point, scratch)
#define PXTU_RSEQ_ABORTED
#endif

/* A member of the structure that %%rcx, %[note], ... points to. */
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

static inline void pxtu_rseq_disarm(void)
{
	__asm__ __volatile__ ("movq $0, " PXTU_OF(PXTU_RSEQ_CS, "%[area]")
		:
		: [area] "r" (pxtu_rseq_area())
		: "memory");
}

#endif /* PXTU_PARTS_X86_H */
