/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of XSH 2.11, streams: a stream of each full policy, its counters, and events to
 * fill it.
 */
#ifndef _SELFTESTS_POLICY_STREAM_H
#define _SELFTESTS_POLICY_STREAM_H

#include "pxt_test.h"
#include "stream_state.h"

FIXTURE(loop)
{
	trace_id_t trid;
};

FIXTURE_SETUP(loop)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(loop)
{
	posix_trace_shutdown(self->trid);
}

FIXTURE(until_full)
{
	trace_id_t trid;
};

FIXTURE_SETUP(until_full)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_UNTIL_FULL, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(until_full)
{
	posix_trace_shutdown(self->trid);
}

/* The same stream for both policies. */
FIXTURE(stream)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(stream)
{
	int policy;
};

FIXTURE_VARIANT_ADD(stream, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(stream, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(stream)
{
	ASSERT_EQ(0, new_stream(0, variant->policy, &self->trid));
}

FIXTURE_TEARDOWN(stream)
{
	posix_trace_shutdown(self->trid);
}

static inline struct posixtrace_stats_info stats_of(trace_id_t trid)
{
	struct posixtrace_stats_info stats;

	if (posixtrace_get_stats(trid, &stats))
		memset(&stats, 0xff, sizeof(stats));
	return stats;
}

/* Records on all CPUs, which close their sub-buffers at different times. */
static inline int overfill_on_all_cpus(int first)
{
	for (int i = 0; i < TOO_MANY; i++) {
		if (i % 20 == 0)
			run_on(i / 20);
		record_number(first + i);
	}
	return first + TOO_MANY;
}

#endif /* _SELFTESTS_POLICY_STREAM_H */
