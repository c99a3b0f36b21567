/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event types of the compressor, shared with the controller.
 */
#ifndef _DEMO_EVENTS_H
#define _DEMO_EVENTS_H

#include <linux/types.h>

#define EVENT_THREAD	"compressor:thread"	/* struct thread_data: a worker begins */
#define EVENT_READ	"compressor:read"	/* struct block_data: a worker has read input */
#define EVENT_COMPRESS	"compressor:compress"	/* struct block_data: compression begins */
#define EVENT_PACKED	"compressor:packed"	/* struct block_data: compression ends */
#define EVENT_WRITE	"compressor:write"	/* struct block_data: a worker has written output */
#define EVENT_DONE	"compressor:done"	/* struct done_data: the last event */

struct thread_data {
	__u32 worker;	/* 1, 2, ... */
	__u32 workers;
};

struct block_data {
	__u64 number;	/* 0, 1, ... in the order of the output */
	__u64 offset;	/* in the input file (read), or in the output (write) */
	__u32 file;	/* index of the input file */
	__u32 size_in;	/* bytes before compression */
	__u32 size_out;	/* bytes after compression, 0 if not yet known */
	__u32 reserved;
};

struct done_data {
	__u64 blocks;
	__u64 size_in;
	__u64 size_out;
};

#endif /* _DEMO_EVENTS_H */
