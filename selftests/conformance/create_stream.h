/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of posix_trace_create(): attributes of a small stream, and the limit on streams.
 */
#ifndef _SELFTESTS_CREATE_STREAM_H
#define _SELFTESTS_CREATE_STREAM_H

#include "pxt_test.h"
#include "stream_state.h"

/* Value of trid before a call, to see that a failed call does not write it. */
#define UNTOUCHED	4711

/* The maximum number of streams per process. */
#define STREAMS_MAX	31

FIXTURE(create)
{
	trace_attr_t attr;
	trace_id_t trid;
};

FIXTURE_SETUP(create)
{
	ASSERT_EQ(0, posix_trace_attr_init(&self->attr));
	ASSERT_EQ(0, posix_trace_attr_setstreamsize(&self->attr, 8 << 10));
	ASSERT_EQ(0, posix_trace_attr_setmaxdatasize(&self->attr, 64));
	self->trid = UNTOUCHED;
}

FIXTURE_TEARDOWN(create)
{
	posix_trace_attr_destroy(&self->attr);
}

/* Creates streams on a process until a call fails. Returns their number, and the error in @err. */
static inline int create_all(pid_t pid, const trace_attr_t *attr, trace_id_t *trid, int max,
			     int *err)
{
	int n = 0;

	do {
		*err = posix_trace_create(pid, attr, &trid[n]);
	} while (!*err && ++n < max);
	return n;
}

/* True if no earlier stream has leaked, so that the caller can create the maximum number. */
static inline int all_slots_are_free(const trace_attr_t *attr)
{
	trace_id_t trid[STREAMS_MAX];
	int err, n = create_all(0, attr, trid, STREAMS_MAX, &err);

	for (int i = 0; i < n; i++)
		posix_trace_shutdown(trid[i]);
	return n == STREAMS_MAX;
}

#endif /* _SELFTESTS_CREATE_STREAM_H */
