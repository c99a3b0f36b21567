/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One operation, repeatedly, each time in a process of its own: first its first allocation
 * (or copy) fails, then the second, and so on until it succeeds. The processes run as a
 * user whose limit of locked memory suffices for one stream only: if one leaks memory, the
 * next one fails.
 */
#ifndef _SELFTESTS_FAULT_OP_H
#define _SELFTESTS_FAULT_OP_H

#include <sys/rseq.h>
#include <sys/wait.h>

#include "pxt_test.h"
#include "actor.h"
#include "fault.h"
#include "module.h"
#include "uapi.h"

#define FAULT_USER	1000

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
 * @policy: of the stream
 * @inherited: of the stream
 * @no_stream: there is none
 * @no_target: the process has not attached
 * @stays: one process can repeat it
 * @painless: possibly no part of it can fail
 * @also: a possible error besides ENOMEM and EFAULT; 0 for none
 * @good: its result on success
 * @prepare: called before; returns 0 or a line, as @untouched and @check
 * @run: the operation: 0 or more, or negative errno
 * @untouched: checks after a failure that nothing has changed
 * @check: checks after success that it is done, and everything works
 */
struct op {
	__u32 policy;
	__u32 inherited;
	bool no_stream;
	bool no_target;
	bool stays;
	bool painless;
	int also;
	long good;
	int (*prepare)(struct world *world);
	long (*run)(struct world *world);
	int (*untouched)(struct world *world);
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
static inline void leave_sequences(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (__rseq_size && syscall(SYS_rseq, area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
		abort();
}

static inline int world_open(struct world *world, const struct op *op)
{
	memset(world, 0, sizeof(*world));
	world->stream.fd = -1;
	MUST(!fault_open(&world->fault));
	MUST(op->no_target || !target_open(&world->target));
	create_init(&world->stream.arg, 0);
	world->stream.arg.attr.stream_policy = op->policy;
	world->stream.arg.attr.inherited = op->inherited;
	if (op->no_stream)
		return 0;
	/* This fails if an earlier process has leaked memory. */
	MUST(!stream_open(&world->stream));
	MUST(op->no_target || !target_sync(&world->target));
	world->slot = &world->target.slots[world->stream.arg.slot];
	return 0;
}

static inline unsigned int world_gate(const struct world *world)
{
	return LOAD(world->target.gate->enable[POSIXTRACE_ID_UNNAMED]);
}

static inline bool fault_error(const struct op *op, long ret)
{
	return ret == -ENOMEM || ret == -EFAULT || (op->also && ret == -op->also);
}

static inline int op_once(const struct op *op, struct world *world, int n,
			  struct outcome *outcome)
{
	int line = 0;

	outcome->n = n;
	fault_arm(&world->fault, n);
	outcome->ret = op->run(world);
	outcome->failed = fault_disarm(&world->fault);
	if (outcome->ret != op->good) {
		MUST(outcome->failed);
		MUST(fault_error(op, outcome->ret));
		if (op->untouched)
			line = op->untouched(world);
		if (line || op->stays)
			return line;
		MUST(op->run(world) == op->good);
	}
	return op->check ? op->check(world) : 0;
}

/*
 * Runs in a process of its own. The kernel kills a process if it cannot access the state of
 * its restartable sequences.
 */
static inline int op_try(const struct op *op, int n, struct outcome *outcome)
{
	struct world world;
	int line;

	leave_sequences();
	line = world_open(&world, op);
	if (!line && op->prepare)
		line = op->prepare(&world);
	if (!line)
		line = op_once(op, &world, n, outcome);
	while (!line && op->stays && outcome->failed && n < FAULT_MAX)
		line = op_once(op, &world, ++n, outcome);
	return line;
}

static inline struct outcome *outcome_share(void)
{
	void *page = mmap(NULL, sizeof(struct outcome), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* The memory of a stream; 0 if it cannot be created. */
static inline unsigned long long stream_memory(const struct op *op)
{
	struct posixtrace_status status = { .memory = 0 };
	struct stream stream;

	create_init(&stream.arg, 0);
	stream.arg.attr.stream_policy = op->policy;
	if (stream_open(&stream))
		return 0;
	if (stream_status(&stream, &status))
		status.memory = 0;
	stream_close(&stream);
	return status.memory;
}

/*
 * The calling process becomes the user, with enough memory for one stream and the system
 * events of one START and one STOP.
 */
static inline int fault_become(const struct op *op)
{
	struct op plain = { .policy = op->policy };
	unsigned long long memory;
	int err = fault_setup();

	if (err)
		return err;
	/* A stream with log is not larger. */
	if (plain.policy == POSIXTRACE_POLICY_FLUSH)
		plain.policy = POSIXTRACE_POLICY_LOOP;
	memory = stream_memory(&plain);
	if (!memory)
		return -ENODEV;
	err = actor_become(&(struct actor_is){ FAULT_USER, -1, 0, memory + (24 << 10) });
	/* Otherwise the process cannot open the counters of its own threads. */
	return !err && prctl(PR_SET_DUMPABLE, 1) ? -errno : err;
}

static inline int op_fork(const struct op *op, int n, struct outcome *outcome)
{
	int status;
	pid_t pid;

	*outcome = (struct outcome){ .n = n, .ret = op->good };
	pid = fork();
	if (pid == 0) {
		outcome->line = op_try(op, n, outcome);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

/* Runs the whole test, after fault_become(). */
static inline void op_fail_each(struct __test_metadata *_metadata, const struct op *op)
{
	struct outcome *outcome = outcome_share();
	int users = module_refcount(), n = 0, status, errors = 0;

	ASSERT_NE(NULL, outcome);
	do {
		status = op_fork(op, n + 1, outcome);
		n = outcome->n;
		if (status || outcome->line) {
			TH_LOG("failure %d: returned %ld, status %#x, line %d", n, outcome->ret,
			       status, outcome->line);
			errors++;
		}
		if (module_refcount() != users) {
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

#endif /* _SELFTESTS_FAULT_OP_H */
