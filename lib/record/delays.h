/* SPDX-License-Identifier: MIT */
/*
 * Delay points: places where a test can prolong the sequences (PXTU_RSEQ_DELAY), and count how
 * often they are aborted (PXTU_RSEQ_ABORTED). Both are empty in the library. Both may change the
 * flags. On x86-64, PXTU_RSEQ_DELAY may also change the register that is its argument, and
 * PXTU_RSEQ_ABORTED may change eax. On arm64, both may change the registers in
 * PXTU_RSEQ_DELAY_CHANGES.
 */
#ifndef PXTU_DELAYS_H
#define PXTU_DELAYS_H

#define PXTU_DELAY_TIME		1	/* the time is taken, before any check */
#define PXTU_DELAY_CHECKED	2	/* gate and slot are checked for this CPU */
#define PXTU_DELAY_HEAD		3	/* the head is read */
#define PXTU_DELAY_WRITER	4	/* the writer is half updated, writer_head is invalid */
#define PXTU_DELAY_DATA		5	/* the record is written, but not its data */
#define PXTU_DELAY_WRITTEN	6	/* all of the record is written */
#define PXTU_DELAY_COMMIT	7	/* all but the head is updated */
#define PXTU_DELAY_DROP		8	/* the stream is full, before the event is counted */
/* The same points of the fast path. */
#define PXTU_DELAY_FAST_CHECKED	9
#define PXTU_DELAY_FAST_HEAD		10
#define PXTU_DELAY_FAST_TIME		11
#define PXTU_DELAY_FAST_DATA		12
#define PXTU_DELAY_FAST_WRITTEN	13
#define PXTU_DELAY_FAST_COMMIT		14
#define PXTU_DELAYS		14

#ifndef PXTU_RSEQ_DELAY
#define PXTU_RSEQ_DELAY(...)
#define PXTU_RSEQ_DELAY_CHANGES
#define PXTU_RSEQ_ABORTED
#endif

#endif /* PXTU_DELAYS_H */
