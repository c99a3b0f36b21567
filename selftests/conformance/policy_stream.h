/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of XSH 2.11, streams: the counters of a stream, and events to fill it.
 */
#ifndef _SELFTESTS_POLICY_STREAM_H
#define _SELFTESTS_POLICY_STREAM_H

#include "stream_fixtures.h"
#include "stream_state.h"

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
