/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The size of the sub-buffers of a stream. This is a policy of the module, not part of its
 * interface: programs find the actual size in posixtrace_ctrl.subbuf_size. Tests include this
 * header to know what to expect.
 */
#ifndef PXT_POLICY_H
#define PXT_POLICY_H

#include <linux/posixtrace.h>

/**
 * pxt_subbuf_size() - compute the usual size of the sub-buffers of a stream
 * @stream_size: stream-min-size in bytes
 * @max_data: max-data-size in bytes
 *
 * The size is at least eight times the largest record, so that the unused tail of a sub-buffer is
 * less than an eighth of it. The library relies on this for the event sizes it reports
 * (lib/attr/attrsize.c). Large streams have larger sub-buffers, so that the system call per
 * sub-buffer serves some hundred records.
 *
 * If RLIMIT_MEMLOCK is too small for that, CREATE uses more and smaller sub-buffers.
 *
 * Return: bytes, a multiple of 4 KiB.
 */
static inline __u32 pxt_subbuf_size(__u64 stream_size, __u64 max_data)
{
	__u64 size = 8 * POSIXTRACE_RECORD_SIZE(max_data), part = (stream_size + 255) / 256;

	/* Round up: pxt_subbuf_size() of the granted stream size must return the same size. */
	if (size < part)
		size = part;
	size = (size + POSIXTRACE_SUBBUF_SIZE_MIN - 1) & ~(__u64)(POSIXTRACE_SUBBUF_SIZE_MIN - 1);
	if (size > POSIXTRACE_SUBBUF_SIZE_MAX)
		size = POSIXTRACE_SUBBUF_SIZE_MAX;
	return (__u32)size;
}

#endif /* PXT_POLICY_H */
