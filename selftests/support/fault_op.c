// SPDX-License-Identifier: GPL-2.0
/* Runs an operation in a new process, with one failing allocation. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_op.h"

#define FAULT_USER	1000

void leave_sequences(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (__rseq_size && syscall(SYS_rseq, area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
		abort();
}

static int world_open(struct world *world, const struct op *op)
{
	memset(world, 0, sizeof(*world));
	world->stream.fd = -1;
	MUST(!fault_open(&world->fault));
	MUST(op->no_target || !target_open(&world->target));
	create_init(&world->stream.arg, 0);
	world->stream.arg.attr.stream_policy = op->policy;
	world->stream.arg.attr.inherited = op->inherited;
	world->stream.arg.attr.classes = op->classes;
	if (op->no_stream)
		return 0;
	/* This fails if an earlier process has leaked memory. */
	MUST(!stream_open(&world->stream));
	MUST(op->no_target || !target_sync(&world->target));
	world->slot = &world->target.slots[world->stream.arg.slot];
	return 0;
}

static bool fault_error(const struct op *op, long ret)
{
	return ret == -ENOMEM || ret == -EFAULT || (op->also && ret == -op->also);
}

static int op_once(const struct op *op, struct world *world, int n, struct outcome *outcome)
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
		if (line || op->stays || op->lasts)
			return line;
		MUST(op->run(world) == op->good);
	}
	return op->check ? op->check(world) : 0;
}

/*
 * Runs the operation. Must be a new process: the kernel kills a process if it cannot access the
 * state of its restartable sequences.
 */
static int op_try(const struct op *op, int n, struct outcome *outcome)
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

struct outcome *outcome_share(void)
{
	void *page = mmap(NULL, sizeof(struct outcome), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* Returns the memory of a stream in bytes, or 0 if it cannot be created. */
static unsigned long long stream_memory(const struct op *op)
{
	struct posixtrace_status status = { .memory = 0 };
	struct stream stream;

	create_init(&stream.arg, 0);
	stream.arg.attr.stream_policy = op->policy;
	stream.arg.attr.classes = op->classes;
	if (stream_open(&stream))
		return 0;
	if (stream_status(&stream, &status))
		status.memory = 0;
	stream_close(&stream);
	return status.memory;
}

int fault_become(const struct op *op)
{
	struct op plain = { .policy = op->policy, .classes = op->classes };
	struct actor_is user = {
		.uid = FAULT_USER,
		.user_ns = -1,
		.caps = op->unlimited ? CAP(SYS_RESOURCE) : 0,
	};
	unsigned long long memory;
	int err = fault_setup();

	if (err)
		return err;
	/* A stream with log needs no more memory than one without. */
	if (plain.policy == POSIXTRACE_POLICY_FLUSH)
		plain.policy = POSIXTRACE_POLICY_LOOP;
	memory = stream_memory(&plain);
	if (!memory)
		return -ENODEV;
	/*
	 * The effect of this operation outlasts a process, for example an enabled tracepoint, so
	 * start with a new module.
	 */
	if (op->lasts)
		err = module_unload() ?: module_load();
	if (err)
		return err;
	user.memlock = memory + (24 << 10);
	err = actor_become(&user);
	/* Make the process dumpable, so that it can open the fault counters of its threads. */
	return !err && prctl(PR_SET_DUMPABLE, 1) ? -errno : err;
}

int op_fork(const struct op *op, int n, struct outcome *outcome)
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
