/* SPDX-License-Identifier: MIT */
/*
 * Points where a test may make the sequences last longer (PXTU_RSEQ_DELAY), and count how often
 * they are aborted (PXTU_RSEQ_ABORTED). Both are empty in the library. They may change the flags
 * and, on x86-64, the register that they are given and eax on abort; on arm64, the registers in
 * PXTU_RSEQ_DELAY_CHANGES.
 */
#ifndef PXTU_POINTS_H
#define PXTU_POINTS_H

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
#define PXTU_RSEQ_DELAY(...)
#define PXTU_RSEQ_DELAY_CHANGES
#define PXTU_RSEQ_ABORTED
#endif

#endif /* PXTU_POINTS_H */
