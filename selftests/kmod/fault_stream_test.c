// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of the role stream when memory allocation or copying fails. The command must return an
 * error and have no partial effect, and the next attempt must succeed.
 */
#define _GNU_SOURCE
#include <poll.h>

#include "fault_each.h"

static int event(struct world *world)
{
	return target_event(&world->target, POSIXTRACE_ID_UNNAMED, "event", 6);
}

static bool is_running(struct world *world)
{
	struct posixtrace_status status;

	return !stream_status(&world->stream, &status) &&
	       status.flags & POSIXTRACE_STATUS_RUNNING;
}

/* Checks all functions of a stream, which may be running. */
static int works(struct world *world)
{
	struct record record = { .size = 0 };
	int ret;

	MUST(!stream_start(&world->stream));
	MUST(world_gate(world));
	MUST(!event(world));
	do {
		ret = stream_take(&world->stream, &record, NULL, 0);
		MUST(ret == 1);
	} while (record.event_id != POSIXTRACE_ID_UNNAMED);
	MUST(!stream_stop(&world->stream));
	MUST(!world_gate(world));
	MUST(!command(world->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL));
	return 0;
}

static int start(struct world *world)
{
	MUST(!stream_start(&world->stream));
	return 0;
}

static int start_and_record(struct world *world)
{
	MUST(!stream_start(&world->stream));
	MUST(!event(world));
	return 0;
}

/* ------------------------------------------------------------------ */
/* open(), CREATE							*/

static long run_open(struct world *world)
{
	world->stream.fd = device_open();
	return world->stream.fd < 0 ? world->stream.fd : 0;
}

static int has_no_stream(struct world *world)
{
	struct posixtrace_info info;

	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		MUST(!world->target.slots[i].heads.size);
	MUST(!target_sync(&world->target));
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		MUST(!world->target.slots[i].heads.size);
	/* The file has no role, but is usable. */
	MUST(!command(world->stream.fd, POSIXTRACE_IOC_INFO, &info));
	return 0;
}

static int prepare_create(struct world *world)
{
	world->stream.fd = device_open();
	MUST(world->stream.fd >= 0);
	return 0;
}

static long run_create(struct world *world)
{
	struct posixtrace_create arg = world->stream.arg;
	int ret = command(world->stream.fd, POSIXTRACE_IOC_CREATE, &arg);

	if (!ret)
		world->stream.arg = arg;
	return ret;
}

static int check_create(struct world *world)
{
	MUST(!stream_map(&world->stream));
	return works(world);
}

static int check_open(struct world *world)
{
	MUST(run_create(world) == 0);
	return check_create(world);
}

/*
 * The first stream on a process that has not attached, for which all data of a target are
 * allocated.
 */
static int check_create_first(struct world *world)
{
	MUST(!target_open(&world->target));
	return check_create(world);
}

/* ------------------------------------------------------------------ */
/* START, STOP, CLEAR							*/

static long run_start(struct world *world)
{
	return stream_start(&world->stream);
}

static int is_stopped(struct world *world)
{
	MUST(!is_running(world));
	MUST(!world_gate(world));
	return 0;
}

static int is_started(struct world *world)
{
	MUST(is_running(world));
	MUST(world_gate(world));
	return 0;
}

static int check_start(struct world *world)
{
	int line = is_started(world);

	return line ? line : works(world);
}

static long run_stop(struct world *world)
{
	return stream_stop(&world->stream);
}

static int check_stop(struct world *world)
{
	int line = is_stopped(world);

	return line ? line : works(world);
}

static long run_clear(struct world *world)
{
	return command(world->stream.fd, POSIXTRACE_IOC_CLEAR, NULL);
}

static int check_clear(struct world *world)
{
	struct posixtrace_stats stats;

	MUST(!command(world->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats));
	MUST(!stats.recorded);
	return works(world);
}

static long run_checked_start(struct world *world)
{
	struct posixtrace_origin origin = { .prog_address = 1 };
	struct posixtrace_checked checked = {
		.stream = world->stream.arg.stream,
		.arg = (uintptr_t)&origin,
		.cmd = POSIXTRACE_IOC_START,
	};

	return command(world->stream.fd, POSIXTRACE_IOC_CHECKED, &checked);
}

/* ------------------------------------------------------------------ */
/* Filters								*/

static int has_filter(struct world *world, bool wanted)
{
	struct posixtrace_event_set set;

	MUST(!command(world->stream.fd, POSIXTRACE_IOC_GET_FILTER, &set));
	MUST(set.bits[POSIXTRACE_ID_UNNAMED / 64] == wanted);
	MUST(!world_gate(world) == wanted);
	return 0;
}

static long run_filter(struct world *world)
{
	struct posixtrace_filter arg = { .how = POSIXTRACE_FILTER_SET };

	arg.set.bits[POSIXTRACE_ID_UNNAMED / 64] = 1;
	return command(world->stream.fd, POSIXTRACE_IOC_SET_FILTER, &arg);
}

static int has_no_filter(struct world *world)
{
	return has_filter(world, false);
}

static int check_filter(struct world *world)
{
	struct posixtrace_filter arg = { .how = POSIXTRACE_FILTER_SET };
	int line = has_filter(world, true);

	if (line)
		return line;
	MUST(!command(world->stream.fd, POSIXTRACE_IOC_SET_FILTER, &arg));
	line = has_filter(world, false);
	return line ? line : works(world);
}

static long run_get_filter(struct world *world)
{
	struct posixtrace_event_set set;

	memset(&set, 0xff, sizeof(set));
	if (command(world->stream.fd, POSIXTRACE_IOC_GET_FILTER, &set))
		return -errno;
	return !set.bits[POSIXTRACE_ID_UNNAMED / 64];
}

/* ------------------------------------------------------------------ */
/* Status and statistics						*/

/* Records so many events that sub-buffers are reused. */
static int prepare_overrun(struct world *world)
{
	struct posixtrace_stats stats;

	MUST(!stream_start(&world->stream));
	do {
		for (int i = 0; i < 100; i++)
			MUST(!event(world));
		MUST(!command(world->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats));
	} while (!stats.overwritten);
	return 0;
}

static long run_status(struct world *world)
{
	return stream_status(&world->stream, &world->status);
}

/* A successful call reports the overrun once. A failed call does not lose it. */
static int check_overrun(struct world *world)
{
	MUST(world->status.flags & POSIXTRACE_STATUS_OVERRUN);
	MUST(!stream_status(&world->stream, &world->status));
	MUST(!(world->status.flags & POSIXTRACE_STATUS_OVERRUN));
	return works(world);
}

static long run_stats(struct world *world)
{
	struct posixtrace_stats stats = { .recorded = 4711 };

	if (command(world->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats))
		return -errno;
	return stats.recorded;
}

static long run_attr(struct world *world)
{
	struct posixtrace_attr attr = { .max_data_size = 0 };

	if (command(world->stream.fd, POSIXTRACE_IOC_GET_ATTR, &attr))
		return -errno;
	return attr.max_data_size;
}

static long run_info(struct world *world)
{
	struct posixtrace_info info = { .ids_max = 0 };

	if (command(world->stream.fd, POSIXTRACE_IOC_INFO, &info))
		return -errno;
	return info.ids_max;
}

/* ------------------------------------------------------------------ */
/* Event types								*/

static long run_eventid(struct world *world)
{
	int id = eventid_open(world->stream.fd, "fault");

	if (id < 0)
		return id;
	world->id = id;
	return 0;
}

static int check_eventid(struct world *world)
{
	MUST(world->id > POSIXTRACE_ID_UNNAMED);
	MUST(eventid_open(world->stream.fd, "fault") == world->id);
	MUST(eventid_open(world->target.fd, "fault") == world->id);
	MUST(eventid_open(world->target.fd, "another") == world->id + 1);
	/* As for all types, START must open the gate for the new type. */
	MUST(!LOAD(world->target.gate->enable[world->id]));
	MUST(!stream_start(&world->stream));
	MUST(LOAD(world->target.gate->enable[world->id]));
	return works(world);
}

static int prepare_name(struct world *world)
{
	world->id = eventid_open(world->stream.fd, "fault");
	MUST(world->id > 0);
	return 0;
}

static long run_name(struct world *world)
{
	struct posixtrace_eventid arg = { .id = world->id };

	if (command(world->stream.fd, POSIXTRACE_IOC_EVENT_NAME, &arg))
		return -errno;
	return !strcmp(arg.name, "fault");
}

static long run_describe(struct world *world)
{
	struct posixtrace_description arg = {
		.text = (uintptr_t)"{ u32 fault; }",
		.id = world->id,
		.size = sizeof("{ u32 fault; }"),
	};

	return command(world->stream.fd, POSIXTRACE_IOC_DESCRIBE, &arg);
}

static int check_describe(struct world *world)
{
	struct posixtrace_description arg = { .id = world->id };

	MUST(!command(world->stream.fd, POSIXTRACE_IOC_DESCRIPTION, &arg));
	MUST(arg.size == sizeof("{ u32 fault; }"));
	return works(world);
}

static long run_types(struct world *world)
{
	__u32 ids[POSIXTRACE_ID_UNNAMED] = { 0 };
	struct posixtrace_event_types arg = { .ids = (uintptr_t)ids, .count = 64 };

	if (command(world->stream.fd, POSIXTRACE_IOC_EVENT_TYPES, &arg))
		return -errno;
	return arg.count && ids[arg.count - 1] == world->id;
}

/* ------------------------------------------------------------------ */
/* WAIT, DEFER, poll(), RELEASE					*/

static long run_wait(struct world *world)
{
	struct posixtrace_wait wait = { .flags = 0 };

	return command(world->stream.fd, POSIXTRACE_IOC_WAIT, &wait);
}

static long run_wait_late(struct world *world)
{
	struct posixtrace_wait wait = { .flags = POSIXTRACE_WAIT_DEADLINE, .deadline = 1 };

	return command(world->stream.fd, POSIXTRACE_IOC_WAIT, &wait);
}

static long run_defer(struct world *world)
{
	struct posixtrace_defer defer = { .time = 1 };

	return command(world->stream.fd, POSIXTRACE_IOC_DEFER, &defer);
}

static long run_poll(struct world *world)
{
	struct pollfd fd = { .fd = world->stream.fd, .events = POLLIN };
	int ret = poll(&fd, 1, 0);

	return ret < 0 ? -errno : ret;
}

static int prepare_full(struct world *world)
{
	struct posixtrace_status status;
	struct record record;
	int ret;

	MUST(!stream_start(&world->stream));
	do {
		MUST(!event(world));
		MUST(!stream_status(&world->stream, &status));
	} while (!(status.flags & POSIXTRACE_STATUS_FULL));
	do {
		ret = stream_take(&world->stream, &record, NULL, 0);
		MUST(ret >= 0);
	} while (ret);
	return 0;
}

static long run_release(struct world *world)
{
	return stream_release(&world->stream, POSIXTRACE_NONE);
}

/* ------------------------------------------------------------------ */
/* The end								*/

static long run_shutdown(struct world *world)
{
	return command(world->stream.fd, POSIXTRACE_IOC_SHUTDOWN, NULL);
}

static int check_shutdown(struct world *world)
{
	struct stream another;

	MUST(!world_gate(world));
	MUST(stream_start(&world->stream) == -ESHUTDOWN);
	/* The slot and the memory have been freed. */
	MUST(!stream_create(&another, 0));
	stream_close(&another);
	return 0;
}

static long run_close(struct world *world)
{
	return close(world->stream.fd) ? -errno : 0;
}

static int check_close(struct world *world)
{
	struct stream another;

	MUST(!world_gate(world));
	MUST(!stream_create(&another, 0));
	stream_close(&another);
	return 0;
}

/* ------------------------------------------------------------------ */

#define LOOP		.policy = POSIXTRACE_POLICY_LOOP
#define UNTIL_FULL	.policy = POSIXTRACE_POLICY_UNTIL_FULL
#define INHERITED	.inherited = POSIXTRACE_INHERITED

FIXTURE_VARIANT_ADD(op, open) {
	.op = {
		.no_stream = true, .run = run_open, .check = check_open,
	},
};

FIXTURE_VARIANT_ADD(op, CREATE_loop) {
	.op = {
		LOOP, .no_stream = true, .prepare = prepare_create, .run = run_create,
		.untouched = has_no_stream, .check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, CREATE_until_full) {
	.op = {
		UNTIL_FULL, .no_stream = true, .prepare = prepare_create, .run = run_create,
		.untouched = has_no_stream, .check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, CREATE_inherited) {
	.op = {
		INHERITED, .no_stream = true, .prepare = prepare_create, .run = run_create,
		.untouched = has_no_stream, .check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, CREATE_kernel) {
	.op = {
		/* If enabling one of the two tracepoints fails, the other one stays enabled. */
		.classes = POSIXTRACE_CLASS_SIGNAL,
		.lasts = true, .no_stream = true, .prepare = prepare_create, .run = run_create,
		.untouched = has_no_stream, .check = check_create,
	},
};

FIXTURE_VARIANT_ADD(op, CREATE_first) {
	.op = {
		.no_stream = true, .no_target = true, .prepare = prepare_create,
		.run = run_create, .check = check_create_first,
	},
};

FIXTURE_VARIANT_ADD(op, START) {
	.op = {
		.run = run_start, .untouched = is_stopped, .check = check_start,
	},
};

FIXTURE_VARIANT_ADD(op, STOP) {
	.op = {
		.prepare = start, .run = run_stop, .untouched = is_started,
		.check = check_stop,
	},
};

FIXTURE_VARIANT_ADD(op, CHECKED_START) {
	.op = {
		.run = run_checked_start, .untouched = is_stopped, .check = check_start,
	},
};

FIXTURE_VARIANT_ADD(op, CLEAR) {
	.op = {
		.painless = true, .prepare = start_and_record, .run = run_clear,
		.check = check_clear,
	},
};

FIXTURE_VARIANT_ADD(op, SET_FILTER) {
	.op = {
		.prepare = start, .run = run_filter, .untouched = has_no_filter,
		.check = check_filter,
	},
};

FIXTURE_VARIANT_ADD(op, GET_FILTER) {
	.op = {
		.run = run_get_filter, .good = 1, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, GET_STATUS) {
	.op = {
		LOOP, .prepare = prepare_overrun, .run = run_status, .check = check_overrun,
	},
};

FIXTURE_VARIANT_ADD(op, GET_STATS) {
	.op = {
		.prepare = start_and_record, .run = run_stats, .good = 1, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, GET_ATTR) {
	.op = {
		.run = run_attr, .good = 256, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, INFO) {
	.op = {
		.run = run_info, .good = POSIXTRACE_ID_MAX, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, EVENTID_OPEN) {
	.op = {
		.run = run_eventid, .check = check_eventid,
	},
};

FIXTURE_VARIANT_ADD(op, EVENT_NAME) {
	.op = {
		.prepare = prepare_name, .run = run_name, .good = 1, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, EVENT_TYPES) {
	.op = {
		.prepare = prepare_name, .run = run_types, .good = 1, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, DESCRIBE) {
	.op = {
		.prepare = prepare_name, .run = run_describe, .check = check_describe,
	},
};

FIXTURE_VARIANT_ADD(op, WAIT) {
	.op = {
		.prepare = start_and_record, .run = run_wait, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, DEFER) {
	.op = {
		.prepare = start_and_record, .run = run_defer, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, WAIT_late) {
	.op = {
		.run = run_wait_late, .good = -ETIMEDOUT, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, poll) {
	.op = {
		.prepare = start_and_record, .run = run_poll, .good = 1, .check = works,
	},
};

FIXTURE_VARIANT_ADD(op, RELEASE) {
	.op = {
		UNTIL_FULL, .prepare = prepare_full, .run = run_release, .check = check_start,
	},
};

FIXTURE_VARIANT_ADD(op, SHUTDOWN) {
	.op = {
		.painless = true, .prepare = start, .run = run_shutdown,
		.check = check_shutdown,
	},
};

FIXTURE_VARIANT_ADD(op, close) {
	.op = {
		.painless = true, .prepare = start, .run = run_close, .check = check_close,
	},
};

TEST_F(op, fails_or_succeeds_completely)
{
	op_fail_each(_metadata, self->skip, &variant->op);
}

TEST_HARNESS_MAIN
