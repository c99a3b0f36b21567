/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures. "logged": a stream and its log, which keeps all events. Only calls flush the stream.
 * "log_file": a file for a log.
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
	ASSERT_EQ(0, withlog_start(&by_hand, self->fd, &self->trid));
}

FIXTURE_TEARDOWN(logged)
{
	posix_trace_shutdown(self->trid);
	close(self->fd);
}

/* A file for a log, and the events in it. */
FIXTURE(log_file)
{
	int fd;
	struct log_content content;
};

FIXTURE_SETUP(log_file)
{
	self->fd = log_tmpfile();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(log_file)
{
	close(self->fd);
}

#endif /* _SELFTESTS_LOGGED_STREAM_H */
