// SPDX-License-Identifier: GPL-2.0
/*
 * <trace.h>: Documentation/conformance/trace_h.rst
 */
#define _GNU_SOURCE
#define PXT_NO_DEVICE
/* Included first, so that it must compile on its own. */
#include "trace_h_names.h"

#include <dlfcn.h>
#include <limits.h>

#include "pxt_test.h"
#include "trace_limits.h"

#define IS_TYPE(type, value)	__builtin_types_compatible_p(type, __typeof__(value))

TEST(a01_members_of_posix_trace_event_info)
{
	struct posix_trace_event_info info = { .posix_event_id = 0 };

	EXPECT_TRUE(IS_TYPE(trace_event_id_t, info.posix_event_id));
	EXPECT_TRUE(IS_TYPE(pid_t, info.posix_pid));
	EXPECT_TRUE(IS_TYPE(void *, info.posix_prog_address));
	EXPECT_TRUE(IS_TYPE(pthread_t, info.posix_thread_id));
	EXPECT_TRUE(IS_TYPE(struct timespec, info.posix_timestamp));
	EXPECT_TRUE(IS_TYPE(int, info.posix_truncation_status));
}

TEST(a02_members_of_posix_trace_status_info)
{
	struct posix_trace_status_info info = { .posix_stream_status = 0 };

	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_full_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_overrun_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_log_full_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_log_overrun_status));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_flush_error));
	EXPECT_TRUE(IS_TYPE(int, info.posix_stream_flush_status));
}

/* The compiler has checked that the constants are defined. */
TEST(a03_constants_fit_their_types)
{
	for (size_t i = 0; i < ARRAY_SIZE(trace_h_constants); i++) {
		EXPECT_LE(0, trace_h_constants[i].value);
		EXPECT_GE(INT_MAX, trace_h_constants[i].value);
	}
	EXPECT_TRUE(IS_TYPE(trace_event_id_t, POSIX_TRACE_START));
	EXPECT_TRUE(IS_TYPE(trace_event_id_t, POSIX_TRACE_UNNAMED_USEREVENT));
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, POSIX_TRACE_UNNAMED_USER_EVENT);
}

static bool distinct(const long *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (values[i] == values[j])
				return false;
		}
	}
	return true;
}

#define EXPECT_DISTINCT(...)						\
	do {								\
		const long values[] = { __VA_ARGS__ };			\
		EXPECT_TRUE(distinct(values, ARRAY_SIZE(values)));	\
	} while (0)

TEST(a04_constants_are_distinct)
{
	EXPECT_DISTINCT(POSIX_TRACE_ERROR, POSIX_TRACE_START, POSIX_TRACE_STOP,
			POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_FLUSH_START,
			POSIX_TRACE_FLUSH_STOP, POSIX_TRACE_FILTER,
			POSIX_TRACE_UNNAMED_USEREVENT);
	EXPECT_DISTINCT(POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH);
	EXPECT_DISTINCT(POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND);
	EXPECT_DISTINCT(POSIX_TRACE_CLOSE_FOR_CHILD, POSIX_TRACE_INHERITED);
	EXPECT_DISTINCT(POSIX_TRACE_RUNNING, POSIX_TRACE_SUSPENDED);
	EXPECT_DISTINCT(POSIX_TRACE_FULL, POSIX_TRACE_NOT_FULL);
	EXPECT_DISTINCT(POSIX_TRACE_OVERRUN, POSIX_TRACE_NO_OVERRUN);
	EXPECT_DISTINCT(POSIX_TRACE_FLUSHING, POSIX_TRACE_NOT_FLUSHING);
	EXPECT_DISTINCT(POSIX_TRACE_NOT_TRUNCATED, POSIX_TRACE_TRUNCATED_READ,
			POSIX_TRACE_TRUNCATED_RECORD);
	EXPECT_DISTINCT(POSIX_TRACE_WOPID_EVENTS, POSIX_TRACE_SYSTEM_EVENTS,
			POSIX_TRACE_ALL_EVENTS);
	EXPECT_DISTINCT(POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
			POSIX_TRACE_SUB_EVENTSET);
}

/* The values that the standard means when it resets a member to zero. */
TEST(a05_initial_constants_are_zero)
{
	EXPECT_EQ(0, POSIX_TRACE_NOT_FULL);
	EXPECT_EQ(0, POSIX_TRACE_NO_OVERRUN);
	EXPECT_EQ(0, POSIX_TRACE_NOT_FLUSHING);
	EXPECT_EQ(0, POSIX_TRACE_NOT_TRUNCATED);
}

TEST(a06_types_can_be_copied)
{
	struct trace_h_types types;
	int start, stop;

	ASSERT_EQ(0, posix_trace_attr_init(&types.attr[0]));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&types.attr[0], 4711));
	types.attr[1] = types.attr[0];
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&types.attr[0], 1147));
	ASSERT_EQ(0, posix_trace_attr_destroy(&types.attr[0]));
	ASSERT_EQ(0, posix_trace_attr_getmaxdatasize(&types.attr[1], &types.size));
	EXPECT_EQ(4711, types.size);

	ASSERT_EQ(0, posix_trace_eventset_empty(&types.event_set[0]));
	ASSERT_EQ(0, posix_trace_eventset_add(POSIX_TRACE_START, &types.event_set[0]));
	types.event_set[1] = types.event_set[0];
	ASSERT_EQ(0, posix_trace_eventset_empty(&types.event_set[0]));
	ASSERT_EQ(0, posix_trace_eventset_ismember(POSIX_TRACE_START, &types.event_set[1],
						   &start));
	ASSERT_EQ(0, posix_trace_eventset_ismember(POSIX_TRACE_STOP, &types.event_set[1], &stop));
	EXPECT_NE(0, start);
	EXPECT_EQ(0, stop);
}

/* The compiler has checked the prototypes. */
TEST(a07_functions_are_in_the_library)
{
	EXPECT_EQ(50, ARRAY_SIZE(trace_h_functions));
	for (size_t i = 0; i < ARRAY_SIZE(trace_h_functions); i++) {
		void *address = dlsym(RTLD_DEFAULT, trace_h_functions[i].name);

		EXPECT_NE(NULL, address);
		EXPECT_EQ(address, (void *)trace_h_functions[i].address);
	}
}

/* The macros evaluate their arguments even if there is no stream. */
TEST(a08_macros_evaluate_their_arguments_once)
{
	trace_event_id_t id = POSIX_TRACE_UNNAMED_USEREVENT - 1;
	char data[4] = "", *next = data;
	size_t size = 0;

	posix_trace_event(++id, next++, size++);
	EXPECT_EQ(POSIX_TRACE_UNNAMED_USEREVENT, id);
	EXPECT_EQ(data + 1, next);
	EXPECT_EQ(1, size);
	/* The macro is one expression, and takes expressions as arguments. */
	id ? posix_trace_event(id | 1, 1 ? data : NULL, size & 1) : (void)0;
}

TEST(a09_options_are_supported)
{
	EXPECT_EQ(200809L, _POSIX_TRACE);
	EXPECT_EQ(200809L, _POSIX_TRACE_EVENT_FILTER);
	EXPECT_EQ(200809L, _POSIX_TRACE_INHERIT);
	EXPECT_EQ(200809L, _POSIX_TRACE_LOG);
}

TEST(a10_limits)
{
	expect_limits(_metadata);
}

TEST_HARNESS_MAIN
