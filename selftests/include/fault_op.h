/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One operation, in a process of its own, in which one allocation (or copy) fails.
 * fault_each.h repeats it.
 */
#ifndef _SELFTESTS_FAULT_OP_H
#define _SELFTESTS_FAULT_OP_H

#include <stdbool.h>

#include "actor.h"
#include "fault.h"
#include "module.h"
#include "uapi.h"

/* In the process of an operation: a failure returns its line number. */
#define MUST(condition) do {			\
	if (!(condition))			\
		return __LINE__;		\
} while (0)

/**
 * struct world - the state before an operation: the process traces itself
 * @fault: of this thread
 * @stream: not started; without a stream, the arguments of CREATE
 * @target: attached, its gate mapped
 * @slot: of the stream, as the target sees it
 * @id: a number or descriptor, often a result of the operation
 * @address: a result of the operation
 * @status: a result of the operation
 */
struct world {
	struct fault fault;
	struct stream stream;
	struct target target;
	struct posixtrace_slot *slot;
	long id;
	void *address;
	struct posixtrace_status status;
};

/**
 * struct op - an operation
 */
struct op {
	/** @policy: of the stream */
	__u32 policy;
	/** @inherited: of the stream */
	__u32 inherited;
	/** @classes: of the stream */
	__u64 classes;
	/** @no_stream: there is none */
	bool no_stream;
	/** @no_target: the process has not attached */
	bool no_target;
	/** @stays: one process can repeat it */
	bool stays;
	/** @lasts: a success outlasts the process, and has fewer allocations the next time */
	bool lasts;
	/** @painless: possibly no part of it can fail */
	bool painless;
	/** @unlimited: the user has CAP_SYS_RESOURCE, so that CREATE does not wait for a budget */
	bool unlimited;
	/** @also: a possible error besides ENOMEM and EFAULT; 0 for none */
	int also;
	/** @good: its result on success */
	long good;
	/** @prepare: called before; returns 0 or a line, as @untouched and @check */
	int (*prepare)(struct world *world);
	/** @run: the operation: 0 or more, or negative errno */
	long (*run)(struct world *world);
	/** @untouched: checks after a failure that nothing has changed */
	int (*untouched)(struct world *world);
	/** @check: checks after success that it is done, and everything works */
	int (*check)(struct world *world);
};

/* In memory shared with the process of the operation. */
struct outcome {
	int n;			/* number of the failure */
	bool failed;		/* a failure was injected */
	long ret;		/* of the operation */
	int line;		/* line of the failed check */
};

/* Unregisters the restartable sequences of the calling thread. */
void leave_sequences(void);

static inline unsigned int world_gate(const struct world *world)
{
	return LOAD(world->target.gate->enable[POSIXTRACE_ID_UNNAMED]);
}

struct outcome *outcome_share(void);

/*
 * The calling process becomes the user, with enough memory for one stream and the system
 * events of one START and one STOP.
 */
int fault_become(const struct op *op);

int op_fork(const struct op *op, int n, struct outcome *outcome);

#endif /* _SELFTESTS_FAULT_OP_H */
