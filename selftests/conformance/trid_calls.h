/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks for every function that takes only a trace id.
 */
#ifndef _SELFTESTS_TRID_CALLS_H
#define _SELFTESTS_TRID_CALLS_H

#include <limits.h>
#include <pthread.h>

#include "cancel.h"
#include "pxt_test.h"
#include "trace_test.h"

/* A function, and the trace id to call it with. */
struct trid_call {
	int (*fn)(trace_id_t trid);
	trace_id_t trid;
};

static inline int trid_call_in_child(void *arg, const struct talk *talk)
{
	struct trid_call *call = arg;

	(void)talk;
	return call->fn(call->trid);
}

/*
 * Calls @fn with invalid trace ids of all kinds. The last one is the caller's @trid, in a child
 * process. Returns the number of calls that did not fail with EINVAL.
 */
static inline int bad_trids_accepted(int (*fn)(trace_id_t trid), trace_id_t trid)
{
	const trace_id_t bad[] = { 0, -1, 4711, INT_MAX, INT_MIN, trid + 1 };
	struct trid_call call = { fn, trid };
	struct child child;
	trace_id_t ended;
	int count = 0;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		count += fn(bad[i]) != EINVAL;
	if (new_stream(0, POSIX_TRACE_LOOP, &ended) || posix_trace_shutdown(ended))
		return -1;
	count += fn(ended) != EINVAL;
	if (child_start(&child, trid_call_in_child, &call))
		return -1;
	count += child_wait(&child) != EINVAL << 8;
	return count;
}

/*
 * Expects that errno does not change: neither by a call with an invalid id, nor by one with @trid,
 * which returns @result.
 */
static inline void expect_errno_kept(struct __test_metadata *_metadata,
				     int (*fn)(trace_id_t trid), trace_id_t trid, int result)
{
	errno = 4711;
	EXPECT_EQ(EINVAL, fn(-1));
	EXPECT_EQ(4711, errno);
	EXPECT_EQ(result, fn(trid));
	EXPECT_EQ(4711, errno);
}

/* A thread that calls a function many times. */
struct repeater {
	pthread_t thread;
	int (*fn)(trace_id_t trid);
	trace_id_t trid;
	int times;
	int failed;
};

static inline void *repeat_call(void *arg)
{
	struct repeater *repeater = arg;

	for (int i = 0; i < repeater->times; i++)
		repeater->failed += repeater->fn(repeater->trid) != 0;
	return NULL;
}

static inline void repeaters_start(struct __test_metadata *_metadata, struct repeater *repeaters,
				   int count, int (*fn)(trace_id_t trid), trace_id_t trid,
				   int times)
{
	for (int i = 0; i < count; i++) {
		repeaters[i] = (struct repeater){ .fn = fn, .trid = trid, .times = times };
		ASSERT_EQ(0, pthread_create(&repeaters[i].thread, NULL, repeat_call,
					    &repeaters[i]));
	}
}

/* Waits for the threads: all their calls have returned 0. */
static inline void repeaters_end(struct __test_metadata *_metadata, struct repeater *repeaters,
				 int count)
{
	for (int i = 0; i < count; i++) {
		ASSERT_EQ(0, pthread_join(repeaters[i].thread, NULL));
		EXPECT_EQ(0, repeaters[i].failed);
	}
}

#endif /* _SELFTESTS_TRID_CALLS_H */
