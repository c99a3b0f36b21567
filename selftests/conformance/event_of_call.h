/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event that a call of posix_trace_start() or posix_trace_stop() records.
 */
#ifndef _SELFTESTS_EVENT_OF_CALL_H
#define _SELFTESTS_EVENT_OF_CALL_H

#include <pthread.h>

#include "function.h"
#include "pxt_test.h"
#include "trace_test.h"

struct timed_call {
	int (*fn)(trace_id_t trid);
	trace_id_t trid;
	unsigned long long before;
	unsigned long long after;
	int err;
};

static void *make_timed_call(void *arg)
{
	struct timed_call *call = arg;

	call->before = now();
	call->err = call->fn(call->trid);
	call->after = now();
	return NULL;
}

/*
 * Another thread calls the function for an empty stream that traces a different process. Expects an
 * event of type @id with the process, thread, address and time of the call.
 */
static inline void expect_event_of_call(struct __test_metadata *_metadata, trace_event_id_t id,
					int (*fn)(trace_id_t trid), trace_id_t trid)
{
	struct timed_call call = { .fn = fn, .trid = trid };
	struct event event;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, make_timed_call, &call));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, call.err);
	ASSERT_EQ(1, take(trid, &event));
	ASSERT_EQ(id, event.info.posix_event_id);
	EXPECT_EQ(getpid(), event.info.posix_pid);
	EXPECT_TRUE(pthread_equal(thread, event.info.posix_thread_id));
	EXPECT_LE(call.before, event_time(&event));
	EXPECT_GE(call.after, event_time(&event));
	EXPECT_TRUE(is_in_function(event.info.posix_prog_address, make_timed_call));
	EXPECT_EQ(POSIX_TRACE_NOT_TRUNCATED, event.info.posix_truncation_status);
}

#endif /* _SELFTESTS_EVENT_OF_CALL_H */
