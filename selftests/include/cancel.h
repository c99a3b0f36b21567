/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls in threads with a pending cancellation.
 */
#ifndef _SELFTESTS_CANCEL_H
#define _SELFTESTS_CANCEL_H

#include <trace.h>

/*
 * Calls fn(arg) in a thread with a pending cancellation. Returns its result, or -ECANCELED if the
 * call was a cancellation point.
 */
int call_cancelled(int (*fn)(void *arg), void *arg);

/* Like call_cancelled(), for a function that takes the trace id of a stream or log. */
int call_trid_cancelled(int (*fn)(trace_id_t trid), trace_id_t trid);

#endif /* _SELFTESTS_CANCEL_H */
