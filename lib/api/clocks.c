// SPDX-License-Identifier: MIT
/*
 * Converts times of a log to other clocks.
 */
#include <posixtrace.h>
#include <time.h>

#include "common/sys.h"
#include "common/trid.h"
#include "stream/stream.h"

static bool is_clock(int clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_TAI || clock == CLOCK_MONOTONIC ||
	       clock == CLOCK_BOOTTIME || clock == POSIXTRACE_CLOCKID_UTC;
}

/**
 * posixtrace_get_clock_pairs() - get the pairs of clocks in a log
 * @trid: trace id of a log
 * @pairs: result
 * @max_pairs: number of elements of @pairs
 * @count: number of pairs stored; 0 after the last one
 * @next: 0 for the first call; set for the next one
 *
 * An extension. The pairs are in the order of clocks, and the pairs of each clock in the order of
 * time. While the log grows, calls may report a pair twice, or leave it out.
 *
 * Return: 0; EINVAL if @trid is no trace stream or log of this process, a pointer is NULL or
 * @max_pairs is 0; ENOTSUP for an active stream; ENOMEM.
 */
PXTU_API int posixtrace_get_clock_pairs(trace_id_t trid, struct posixtrace_clock_pair *pairs,
					size_t max_pairs, size_t *count, unsigned long long *next)
{
	struct pxtu_source *source;
	int err = -EOPNOTSUPP;
	__u64 at;

	if (!pairs || !max_pairs || !count || !next)
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	at = *next;
	if (source->ops->get_clock_pairs)
		err = source->ops->get_clock_pairs(source, pairs, &max_pairs, &at);
	pxtu_trid_put(source);
	if (err)
		return pxtu_error(err);
	*count = max_pairs;
	*next = at;
	return 0;
}

/**
 * posixtrace_convert_times() - convert times of a log to another clock
 * @trid: trace id of a log
 * @clock: the other clock
 * @times: times of the log, ns since the Epoch
 * @count: number of elements of @times and @results
 * @results: the times of the other clock
 *
 * An extension. An error is the maximum error, or POSIXTRACE_CLOCK_UNKNOWN.
 *
 * Return: 0; ENOENT if the log has no pairs of @clock; EINVAL if @trid is no trace stream or log of
 * this process, a pointer is NULL or @clock is none of the clocks; ENOTSUP for an active stream;
 * ENOMEM.
 */
PXTU_API int posixtrace_convert_times(trace_id_t trid, int clock, const uint64_t *times,
				      size_t count, struct posixtrace_clock_time *results)
{
	struct pxtu_source *source;
	int err = -EOPNOTSUPP;

	if (!times || !results || !is_clock(clock))
		return EINVAL;
	source = pxtu_trid_get(trid, NULL);
	if (!source)
		return EINVAL;
	if (source->ops->convert_times)
		err = source->ops->convert_times(source, clock, times, count, results);
	pxtu_trid_put(source);
	return pxtu_error(err);
}

/**
 * posixtrace_setclockerror() - note how far CLOCK_REALTIME may be from UTC
 * @trid: trace id of an active trace stream with log
 * @ns: maximum error at this moment, ns, or POSIXTRACE_CLOCK_UNKNOWN
 *
 * An extension. The log gets it with the next pairs of clocks.
 *
 * Return: 0; EINVAL if @trid is no active trace stream with log of this process, or @ns is 2^60 or
 * more and not POSIXTRACE_CLOCK_UNKNOWN.
 */
PXTU_API int posixtrace_setclockerror(trace_id_t trid, uint64_t ns)
{
	struct pxtu_stream *stream = pxtu_stream_get(trid);
	__u64 arg = ns;
	int err;

	if (!stream)
		return EINVAL;
	err = pxtu_stream_ioctl(stream, POSIXTRACE_IOC_CLOCK_ERROR, &arg);
	pxtu_stream_put(stream);
	return pxtu_error(err);
}
