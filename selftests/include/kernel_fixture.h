/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture for tests of kernel events: a worker, a stream that traces it, and the events of the
 * stream.
 */
#ifndef _SELFTESTS_KERNEL_FIXTURE_H
#define _SELFTESTS_KERNEL_FIXTURE_H

#include "pxt_test.h"
#include "kernel_events.h"

FIXTURE(kernel)
{
	struct child worker;
	trace_id_t trid;
	struct kernel_events events;
};

FIXTURE_SETUP(kernel)
{
	ASSERT_EQ(0, child_start(&self->worker, worker, NULL));
	ASSERT_EQ(0, hear(&self->worker.talk));
	self->trid = 0;
}

FIXTURE_TEARDOWN(kernel)
{
	child_kill(&self->worker);
	if (self->trid > 0)
		posix_trace_shutdown(self->trid);
	kernel_events_free(&self->events);
}

#endif /* _SELFTESTS_KERNEL_FIXTURE_H */
