/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A running stream of each full policy, its target, and a writer that uses the mappings.
 */
#ifndef _SELFTESTS_POLICY_WRITER_H
#define _SELFTESTS_POLICY_WRITER_H

#include "pxt_test.h"
#include "writer.h"

FIXTURE(policy)
{
	struct stream stream;
	struct target target;
	struct writer writer;
};

FIXTURE_VARIANT(policy)
{
	unsigned int policy;
};

FIXTURE_VARIANT_ADD(policy, loop) { POSIXTRACE_POLICY_LOOP };
FIXTURE_VARIANT_ADD(policy, until_full) { POSIXTRACE_POLICY_UNTIL_FULL };

FIXTURE_SETUP(policy)
{
	ASSERT_EQ(0, target_open(&self->target));
	create_init(&self->stream.arg, 0);
	self->stream.arg.attr.stream_policy = variant->policy;
	ASSERT_EQ(0, stream_open(&self->stream));
	ASSERT_EQ(0, target_sync(&self->target));
	ASSERT_EQ(0, writer_open(&self->writer, &self->target, self->stream.arg.slot, 0));
	ASSERT_EQ(0, stream_start(&self->stream));
}

FIXTURE_TEARDOWN(policy)
{
	writer_close(&self->writer);
	stream_close(&self->stream);
	target_close(&self->target);
}

/* Alternates between the two kinds of writer, so that both reach the limit. */
static inline int write_alternately(struct writer *writer, int number, const void *data, size_t len)
{
	if (number % 2)
		return writer_event(writer, POSIXTRACE_ID_UNNAMED, data, len);
	return target_event(writer->target, POSIXTRACE_ID_UNNAMED, data, len);
}

#endif /* _SELFTESTS_POLICY_WRITER_H */
