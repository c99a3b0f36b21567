// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with log when memory allocation or copying fails in a command. The command must return an
 * error, and the stream and its log must remain intact. Faults are injected only into the caller,
 * not into the log thread.
 */
#define _GNU_SOURCE
#include "fault_each.h"
#include "logfile.h"

#define EVENTS	5

static int create_log(struct world *world)
{
	struct posixtrace_create arg = world->stream.arg;
	int ret;

	arg.log_fd = world->id;
	ret = command(world->stream.fd, POSIXTRACE_IOC_CREATE, &arg);
	if (!ret)
		world->stream.arg = arg;
	return ret;
}

static int prepare_create(struct world *world)
{
	world->stream.fd = device_open();
	MUST(world->stream.fd >= 0);
	/* The limit covers the buffers for writing, which grow with the number of CPUs. */
	MUST(!set_memlock(4 << 20));
	world->id = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	MUST(world->id >= 0);
	world->stream.arg.attr.log_policy = POSIXTRACE_POLICY_APPEND;
	return 0;
}

static int prepare_create_loop(struct world *world)
{
	int line = prepare_create(world);

	world->stream.arg.attr.log_policy = POSIXTRACE_POLICY_LOOP;
	world->stream.arg.attr.log_size = 1 << 20;
	return line;
}

/*
 * Creates a stream whose log is a pipe, from which the written data cannot be removed after an
 * error.
 */
static int prepare_create_pipe(struct world *world)
{
	int pipes[2], line = prepare_create(world);

	if (line)
		return line;
	close(world->id);
	/* This process keeps both ends open. The empty pipe has space for a small log. */
	MUST(!pipe2(pipes, O_CLOEXEC));
	world->id = pipes[1];
	return 0;
}

static long run_create(struct world *world)
{
	return create_log(world);
}

static int has_no_stream(struct world *world)
{
	struct posixtrace_info info;

	MUST(!target_sync(&world->target));
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		MUST(!world->target.slots[i].heads.size);
	MUST(!command(world->stream.fd, POSIXTRACE_IOC_INFO, &info));
	/*
	 * A failed CREATE may have written a header. A pipe cannot be truncated, and need not be.
	 */
	return ftruncate(world->id, 0) && errno != EINVAL ? __LINE__ : 0;
}

static int record(struct world *world)
{
	MUST(!stream_start(&world->stream));
	for (int i = 0; i < EVENTS; i++)
		MUST(!target_event(&world->target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)));
	return 0;
}

static long flush(struct world *world)
{
	struct posixtrace_origin origin = { .prog_address = 0x1234 };

	return command(world->stream.fd, POSIXTRACE_IOC_FLUSH, &origin);
}

static int prepare_flush(struct world *world)
{
	int line = prepare_create(world);

	if (line)
		return line;
	MUST(!create_log(world));
	return record(world);
}

/* SHUTDOWN returns after everything was written. */
static int log_is_whole(struct world *world)
{
	const struct posixtrace_log_block *block;
	int events = 0, ends = 0;
	struct logfile log;
	uint64_t seq = 0;
	size_t pos;

	MUST(stream_start(&world->stream) == -ESHUTDOWN);
	MUST(!world_gate(world));
	MUST(!logfile_read(&log, world->id));
	for (pos = log.header.data_offset; pos < log.size; pos = logfile_next(block, pos)) {
		block = logfile_block(&log, pos, ++seq);
		MUST(block);
		ends += block->type == POSIXTRACE_LOG_END;
		if (block->type == POSIXTRACE_LOG_EVENTS)
			events += block->count;
	}
	logfile_free(&log);
	/* @events includes system events. */
	MUST(events > EVENTS);
	MUST(ends == 1);
	return 0;
}

static int check_flush(struct world *world)
{
	MUST(!command(world->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	return log_is_whole(world);
}

static int check_create(struct world *world)
{
	int line = record(world);

	if (line)
		return line;
	MUST(!flush(world));
	MUST(!command(world->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	MUST(!world_gate(world));
	return 0;
}

static long run_shutdown(struct world *world)
{
	return command(world->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
}

static long run_close(struct world *world)
{
	return close(world->stream.fd) ? -errno : 0;
}

static int check_close(struct world *world)
{
	world->stream.fd = device_open();
	MUST(world->stream.fd >= 0);
	MUST(!world_gate(world));
	return 0;
}

/*
 * On a debug kernel, this user soon uses up the CPU time that its log threads may use. So only this
 * variant tests the allocations for that limit. All other variants run without the limit.
 */
FIXTURE_VARIANT_ADD(op, CREATE_append) {
	.op = {
		.policy = POSIXTRACE_POLICY_FLUSH, .no_stream = true,
		.prepare = prepare_create, .run = run_create, .untouched = has_no_stream,
		.check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, CREATE_loop) {
	.op = {
		.policy = POSIXTRACE_POLICY_FLUSH, .no_stream = true, .unlimited = true,
		.prepare = prepare_create_loop, .run = run_create, .untouched = has_no_stream,
		.check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, CREATE_pipe) {
	.op = {
		.policy = POSIXTRACE_POLICY_FLUSH, .no_stream = true, .unlimited = true,
		.prepare = prepare_create_pipe, .run = run_create, .untouched = has_no_stream,
		.check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, FLUSH) {
	.op = {
		.policy = POSIXTRACE_POLICY_FLUSH, .no_stream = true, .unlimited = true,
		.prepare = prepare_flush, .run = flush, .check = check_flush,
	},
};

FIXTURE_VARIANT_ADD(op, SHUTDOWN) {
	.op = {
		.policy = POSIXTRACE_POLICY_FLUSH, .no_stream = true, .painless = true,
		.unlimited = true,
		.prepare = prepare_flush, .run = run_shutdown, .check = log_is_whole,
	},
};

FIXTURE_VARIANT_ADD(op, close) {
	.op = {
		.policy = POSIXTRACE_POLICY_FLUSH, .no_stream = true, .painless = true,
		.unlimited = true,
		.prepare = prepare_flush, .run = run_close, .check = check_close,
	},
};

TEST_F(op, fails_or_succeeds_completely)
{
	op_fail_each(_metadata, self->skip, &variant->op);
}

TEST_HARNESS_MAIN
