/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs an operation in a new process, with one failing allocation (or copy). fault_each.h repeats
 * it.
 */
#ifndef _SELFTESTS_FAULT_OP_H
#define _SELFTESTS_FAULT_OP_H

#include <stdbool.h>

#include "actor.h"
#include "fault.h"
#include "module.h"
#include "uapi.h"

/*
 * For the process of an operation: if the condition is false, returns the line number from the
 * function.
 */
#define MUST(condition) do {			\
	if (!(condition))			\
		return __LINE__;		\
} while (0)

/**
 * struct world - the state before an operation; the process traces itself
 * @fault: the counter of this thread
 * @stream: a stream that is not started; with op.no_stream, only the arguments of CREATE
 * @target: the target, which is attached and has its gate mapped
 * @slot: slot of the stream in the target
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
	/** @policy: stream-full policy */
	__u32 policy;
	/** @inherited: inheritance policy of the stream */
	__u32 inherited;
	/** @classes: classes of kernel events */
	__u64 classes;
	/** @no_stream: run without a stream */
	bool no_stream;
	/** @no_target: the process has not attached */
	bool no_target;
	/**
	 * @stays: the operation can be repeated in the same process
	 */
	bool stays;
	/** @lasts: its effect outlasts the process, so the next process makes fewer allocations */
	bool lasts;
	/** @painless: may have no allocation or copy that can fail */
	bool painless;
	/** @unlimited: run with CAP_SYS_RESOURCE, so that CREATE does not wait for a budget */
	bool unlimited;
	/** @also: accepted error besides ENOMEM and EFAULT; 0: no other */
	int also;
	/** @good: result on success */
	long good;
	/** @prepare: called first; like @untouched and @check, returns 0 or a line number */
	int (*prepare)(struct world *world);
	/** @run: the operation; returns 0 or more, or negative errno */
	long (*run)(struct world *world);
	/** @untouched: check after a failure that the state is unchanged */
	int (*untouched)(struct world *world);
	/** @check: check after success that it took effect and that everything works */
	int (*check)(struct world *world);
};

/* Shared with the process of the operation. */
struct outcome {
	int n;			/* number of the failure */
	bool failed;		/* a failure was injected */
	long ret;		/* result of the operation */
	int line;		/* line of the failed check */
};

/* Unregisters the restartable sequences (rseq) of the calling thread. */
void leave_sequences(void);

static inline unsigned int world_gate(const struct world *world)
{
	return LOAD(world->target.gate->enable[POSIXTRACE_ID_UNNAMED]);
}

struct outcome *outcome_share(void);

/*
 * Makes the calling process run as the user, with enough memory for one stream and the system
 * events of one START and one STOP.
 */
int fault_become(const struct op *op);

int op_fork(const struct op *op, int n, struct outcome *outcome);

#endif /* _SELFTESTS_FAULT_OP_H */
