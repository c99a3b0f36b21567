/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fixture with a stream and its log. The log has all events, and only calls flush the stream.
 */
#ifndef _SELFTESTS_LOGGED_STREAM_H
#define _SELFTESTS_LOGGED_STREAM_H

#include "pxt_test.h"
#include "withlog.h"

static const struct log_kind by_hand = { POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0 };

FIXTURE(logged)
{
	trace_id_t trid;
	int fd;
};

FIXTURE_SETUP(logged)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, withlog_new(0, &by_hand, self->fd, &self->trid));
	ASSERT_EQ(0, posix_trace_start(self->trid));
}

FIXTURE_TEARDOWN(logged)
{
	posix_trace_shutdown(self->trid);
	close(self->fd);
}

#endif /* _SELFTESTS_LOGGED_STREAM_H */
