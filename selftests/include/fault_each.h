/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Repeats an operation, each time in a new process. First its first allocation (or copy) fails,
 * then the second, and so on until the operation succeeds. The processes run as a user whose locked
 * memory is enough for one stream, so after a leak, the next process fails.
 */
#ifndef _SELFTESTS_FAULT_EACH_H
#define _SELFTESTS_FAULT_EACH_H

#include "pxt_test.h"
#include "fault_op.h"
#include "module.h"
#include "stuck.h"

#define FAULT_SECONDS	(10 * pxt_patience())

/* Each variant of this fixture is an operation. */
FIXTURE(op)
{
	bool skip;
};

FIXTURE_VARIANT(op)
{
	struct op op;
};

FIXTURE_SETUP(op)
{
	self->skip = !fault_possible();
	if (!self->skip)
		ASSERT_EQ(0, fault_become(&variant->op));
}

FIXTURE_TEARDOWN(op)
{
}

/* Runs the complete test. */
static inline void op_fail_each(struct __test_metadata *_metadata, bool skip, const struct op *op)
{
	int users = module_refcount(), n = 0, status, errors = 0;
	struct outcome *outcome;

	if (skip)
		SKIP(return, FAULT_SKIP);
	outcome = outcome_share();
	ASSERT_NE(NULL, outcome);
	do {
		status = op_fork(op, fault_after(n), outcome);
		n = outcome->n;
		if (status || outcome->line) {
			TH_LOG("failure %d: returned %ld, status %#x, line %d", n, outcome->ret,
			       status, outcome->line);
			errors++;
		}
		/*
		 * A log thread keeps its module reference for a moment after the end of its stream.
		 */
		if (!becomes_true(module_refcount_is, &users, FAULT_SECONDS)) {
			TH_LOG("failure %d: %d users of the module, %d before", n,
			       module_refcount(), users);
			errors++;
		}
	} while (outcome->failed && errors < 5 && n < FAULT_MAX);
	EXPECT_EQ(0, errors);
	EXPECT_GT(FAULT_MAX, n);
	if (!op->painless)
		EXPECT_LT(1, n);
	munmap(outcome, sizeof(*outcome));
}

#endif /* _SELFTESTS_FAULT_EACH_H */
