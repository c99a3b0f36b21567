/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event types of the compressor: all that it and its analyzer share.
 */
#ifndef _DEMO_EVENTS_H
#define _DEMO_EVENTS_H

#include <linux/types.h>

#define EVENT_THREAD	"compressor:thread"	/* struct thread_data: a worker begins */
#define EVENT_READ	"compressor:read"	/* struct block_data: input was read */
#define EVENT_COMPRESS	"compressor:compress"	/* struct block_data: compression begins */
#define EVENT_PACKED	"compressor:packed"	/* struct block_data: compression is done */
#define EVENT_WRITE	"compressor:write"	/* struct block_data: output was written */
#define EVENT_DONE	"compressor:done"	/* struct done_data: the last event */

struct thread_data {
	__u32 worker;	/* 1, 2, ... */
	__u32 workers;
};

struct block_data {
	__u64 number;	/* 0, 1, ... in the order of the output */
	__u64 offset;	/* read: in the input file, write: in the output */
	__u32 file;		/* which of the input files, from 0 */
	__u32 size_in;	/* bytes before */
	__u32 size_out;	/* bytes after compression, 0 when not yet known */
	__u32 reserved;
};

struct done_data {
	__u64 blocks;
	__u64 size_in;
	__u64 size_out;
};

#endif /* _DEMO_EVENTS_H */
