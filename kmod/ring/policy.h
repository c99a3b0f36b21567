/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How large the sub-buffers of a stream are. A policy of the module, and no part of its
 * interface: programs find the size in use in posixtrace_ctrl.subbuf_size. Tests include
 * this header, so that they know what to expect.
 */
#ifndef PXT_POLICY_H
#define PXT_POLICY_H

#include <linux/posixtrace.h>

/**
 * pxt_subbuf_size() - usual size of the sub-buffers of a stream
 * @stream_size: stream-min-size in bytes
 * @max_data: max-data-size in bytes
 *
 * At least eight times the largest record, so that the unused tail of a sub-buffer is
 * less than an eighth of it. The library relies on that for the sizes of events that it
 * reports (lib/attr/attrsize.c). More in large streams, so that the system call that each
 * sub-buffer costs serves some hundred records.
 *
 * If RLIMIT_MEMLOCK is too small for that, CREATE makes them smaller, and more of them.
 *
 * Return: bytes, a multiple of 4 KiB.
 */
static inline __u32 pxt_subbuf_size(__u64 stream_size, __u64 max_data)
{
	__u64 size = 8 * POSIXTRACE_RECORD_SIZE(max_data), part = (stream_size + 255) / 256;

	/* Rounded up, so that the size that is granted leads to the same. */
	if (size < part)
		size = part;
	size = (size + POSIXTRACE_SUBBUF_SIZE_MIN - 1) & ~(__u64)(POSIXTRACE_SUBBUF_SIZE_MIN - 1);
	if (size > POSIXTRACE_SUBBUF_SIZE_MAX)
		size = POSIXTRACE_SUBBUF_SIZE_MAX;
	return (__u32)size;
}

#endif /* PXT_POLICY_H */
