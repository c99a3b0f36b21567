/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limits of tracing: the minimum values required by the standard, and the values of this
 * implementation.
 */
#ifndef _SELFTESTS_TRACE_LIMITS_H
#define _SELFTESTS_TRACE_LIMITS_H

#include <trace.h>

#include "pxt_test.h"

static inline void expect_limits(struct __test_metadata *_metadata)
{
	EXPECT_EQ(30, _POSIX_TRACE_EVENT_NAME_MAX);
	EXPECT_EQ(8, _POSIX_TRACE_NAME_MAX);
	EXPECT_EQ(8, _POSIX_TRACE_SYS_MAX);
	EXPECT_EQ(32, _POSIX_TRACE_USER_EVENT_MAX);
	EXPECT_LE(_POSIX_TRACE_EVENT_NAME_MAX, TRACE_EVENT_NAME_MAX);
	EXPECT_LE(_POSIX_TRACE_NAME_MAX, TRACE_NAME_MAX);
	EXPECT_LE(_POSIX_TRACE_SYS_MAX, TRACE_SYS_MAX);
	EXPECT_LE(_POSIX_TRACE_USER_EVENT_MAX, TRACE_USER_EVENT_MAX);
}

#endif /* _SELFTESTS_TRACE_LIMITS_H */
