/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures with one small stream of the test process. Each case of "stream", "started" and
 * "running" runs with both full policies.
 */
#ifndef _SELFTESTS_STREAM_FIXTURES_H
#define _SELFTESTS_STREAM_FIXTURES_H

#include "pxt_test.h"
#include "trace_test.h"

/* A new stream. */
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

/* A running stream. Its first event is START. */
FIXTURE(started)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(started)
{
	int policy;
};

FIXTURE_VARIANT_ADD(started, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(started, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(started)
{
	ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
}

FIXTURE_TEARDOWN(started)
{
	posix_trace_shutdown(self->trid);
}

/* A running stream without events: START has been read. */
FIXTURE(running)
{
	trace_id_t trid;
};

FIXTURE_VARIANT(running)
{
	int policy;
};

FIXTURE_VARIANT_ADD(running, loop) { POSIX_TRACE_LOOP };
FIXTURE_VARIANT_ADD(running, until_full) { POSIX_TRACE_UNTIL_FULL };

FIXTURE_SETUP(running)
{
	struct event event;

	ASSERT_EQ(0, start_new_stream(variant->policy, &self->trid));
	ASSERT_EQ(1, take(self->trid, &event));
}

FIXTURE_TEARDOWN(running)
{
	posix_trace_shutdown(self->trid);
}

/* A new LOOP stream. */
FIXTURE(suspended)
{
	trace_id_t trid;
};

FIXTURE_SETUP(suspended)
{
	ASSERT_EQ(0, new_stream(0, POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(suspended)
{
	posix_trace_shutdown(self->trid);
}

/* A running LOOP stream. */
FIXTURE(loop)
{
	trace_id_t trid;
};

FIXTURE_SETUP(loop)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_LOOP, &self->trid));
}

FIXTURE_TEARDOWN(loop)
{
	posix_trace_shutdown(self->trid);
}

/* A running UNTIL_FULL stream. */
FIXTURE(until_full)
{
	trace_id_t trid;
};

FIXTURE_SETUP(until_full)
{
	ASSERT_EQ(0, start_new_stream(POSIX_TRACE_UNTIL_FULL, &self->trid));
}

FIXTURE_TEARDOWN(until_full)
{
	posix_trace_shutdown(self->trid);
}

#endif /* _SELFTESTS_STREAM_FIXTURES_H */
