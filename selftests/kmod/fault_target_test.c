// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of the role target, and mappings of both roles, when memory allocation or copying fails.
 * The command must return an error and have no partial effect, and the next attempt must succeed.
 */
#define _GNU_SOURCE
#include <limits.h>

#include "fault_each.h"
#include "foreign.h"

static int start(struct world *world)
{
	MUST(!stream_start(&world->stream));
	return 0;
}

/* Returns the size of the data of the next user event, or -1. */
static long next_event(struct world *world)
{
	struct record record = { .size = 0 };

	do {
		if (stream_take(&world->stream, &record, NULL, 0) != 1)
			return -1;
	} while (record.event_id != POSIXTRACE_ID_UNNAMED);
	return record.data_len;
}

static int record_and_end(struct world *world)
{
	MUST(!stream_start(&world->stream));
	MUST(!target_event(&world->target, POSIXTRACE_ID_UNNAMED, "event", 6));
	MUST(next_event(world) == 6);
	MUST(next_event(world) == -1);
	MUST(!stream_stop(&world->stream));
	return 0;
}

/* ------------------------------------------------------------------ */

static int prepare_attach(struct world *world)
{
	world->target.fd = device_open();
	MUST(world->target.fd >= 0);
	return 0;
}

/* Attaches. The target is created either by the stream or by this command. */
static long run_attach(struct world *world)
{
	struct posixtrace_attach arg = { .flags = 0 };
	int ret = command(world->target.fd, POSIXTRACE_IOC_ATTACH, &arg);

	if (!ret)
		world->target.arg = arg;
	return ret;
}

/* The file has no role, so the library could close it and open another. */
static int has_not_attached(struct world *world)
{
	MUST(target_sync(&world->target) == -EINVAL);
	return 0;
}

static int check_attach(struct world *world)
{
	world->target.gate = map_range(world->target.fd, &world->target.arg.gate, PROT_READ);
	MUST(world->target.gate != MAP_FAILED);
	if (world->stream.fd < 0)
		MUST(!stream_open(&world->stream));
	MUST(!target_sync(&world->target));
	return record_and_end(world);
}

static long run_sync(struct world *world)
{
	memset(world->target.slots, 0, sizeof(world->target.slots));
	return target_sync(&world->target);
}

static int check_sync(struct world *world)
{
	MUST(world->slot->stream == world->stream.arg.stream);
	return record_and_end(world);
}

static long run_next(struct world *world)
{
	struct posixtrace_next next = {
		.slot = world->stream.arg.slot,
		.stream = world->stream.arg.stream,
		.size = POSIXTRACE_RECORD_SIZE(8),
	};

	return command(world->target.fd, POSIXTRACE_IOC_NEXT, &next);
}

static long run_wake(struct world *world)
{
	__u32 mask = ~0U;

	return command(world->target.fd, POSIXTRACE_IOC_WAKE, &mask);
}

/* A number of another condition: MET is ignored. */
static long run_met(struct world *world)
{
	struct posixtrace_met met = {
		.slot = world->stream.arg.slot,
		.number = 1,
		.count = 1,
	};

	return command(world->target.fd, POSIXTRACE_IOC_MET, &met);
}

static long run_event(struct world *world)
{
	return target_event(&world->target, POSIXTRACE_ID_UNNAMED, "12345", 6);
}

static int nothing_recorded(struct world *world)
{
	MUST(next_event(world) == -1);
	return 0;
}

static int check_event(struct world *world)
{
	MUST(next_event(world) == 6);
	MUST(next_event(world) == -1);
	return record_and_end(world);
}

/*
 * Size of data that the stream accepts, but that are too large for the module's copy on the stack.
 * At most a page: for larger sizes, the kernel would try a second allocation if the first one
 * fails.
 */
#define LARGE	3000

static int prepare_large(struct world *world)
{
	MUST(!set_memlock(8 << 20));
	stream_close(&world->stream);
	create_init(&world->stream.arg, 0);
	world->stream.arg.attr.stream_size = 16 << 10;
	world->stream.arg.attr.max_data_size = LARGE;
	MUST(!stream_open(&world->stream));
	return start(world);
}

static long run_large(struct world *world)
{
	static char data[LARGE];

	world->id = target_event(&world->target, POSIXTRACE_ID_UNNAMED, data, LARGE);
	return world->id;
}

/*
 * If memory is short, the event is lost and counted. If the module cannot read the data, no event
 * is recorded.
 */
static int counted_large(struct world *world)
{
	struct posixtrace_stats stats;

	MUST(next_event(world) == -1);
	MUST(!command(world->stream.fd, POSIXTRACE_IOC_GET_STATS, &stats));
	MUST(stats.recorded == 0);
	MUST(stats.dropped == (world->id == -ENOMEM));
	return 0;
}

static int check_large(struct world *world)
{
	MUST(next_event(world) == LARGE);
	MUST(next_event(world) == -1);
	return record_and_end(world);
}

static long run_eventid(struct world *world)
{
	int id = eventid_open(world->target.fd, "fault");

	if (id < 0)
		return id;
	world->id = id;
	return 0;
}

static int check_eventid(struct world *world)
{
	MUST(world->id > POSIXTRACE_ID_UNNAMED);
	MUST(LOAD(world->target.gate->enable[world->id]));
	MUST(eventid_open(world->stream.fd, "fault") == world->id);
	MUST(eventid_open(world->stream.fd, "another") == world->id + 1);
	return record_and_end(world);
}

/* ------------------------------------------------------------------ */
/* Mappings								*/

static int count_mappings(struct world *world)
{
	world->id = count_device_maps();
	MUST(world->id > 0);
	return start(world);
}

static int mapped_nothing(struct world *world)
{
	MUST(count_device_maps() == world->id);
	return 0;
}

static int mapped_one(struct world *world)
{
	/* The range must be readable even if it was not populated because memory was short. */
	MUST(LOAD(*(char *)world->address) >= CHAR_MIN);
	MUST(count_device_maps() == world->id + 1);
	return record_and_end(world);
}

static long do_map(struct world *world, int fd, const struct posixtrace_map *range, __u32 flags)
{
	struct posixtrace_mapping mapping = {
		.map = *range,
		.flags = flags | POSIXTRACE_MAPPING_POPULATE,
	};
	int ret = command(fd, POSIXTRACE_IOC_MAP, &mapping);

	world->address = (void *)(uintptr_t)mapping.address;
	return ret;
}

static long do_mmap(struct world *world, int fd, const struct posixtrace_map *range, int prot)
{
	world->address = mmap(NULL, range->size, prot, MAP_SHARED | MAP_POPULATE, fd,
			      range->offset);
	return world->address == MAP_FAILED ? -errno : 0;
}

#define RW	(PROT_READ | PROT_WRITE)

static long run_MAP_reader(struct world *world)
{
	return do_map(world, world->stream.fd, &world->stream.arg.reader, POSIXTRACE_MAPPING_WRITE);
}

static long run_mmap_reader(struct world *world)
{
	return do_mmap(world, world->stream.fd, &world->stream.arg.reader, RW);
}

static long run_MAP_ctrl(struct world *world)
{
	return do_map(world, world->stream.fd, &world->stream.arg.ctrl, 0);
}

static long run_mmap_ctrl(struct world *world)
{
	return do_mmap(world, world->stream.fd, &world->stream.arg.ctrl, PROT_READ);
}

static long run_MAP_heads(struct world *world)
{
	return do_map(world, world->stream.fd, &world->stream.arg.heads, 0);
}

static long run_mmap_heads(struct world *world)
{
	return do_mmap(world, world->stream.fd, &world->stream.arg.heads, PROT_READ);
}

static long run_MAP_pool(struct world *world)
{
	return do_map(world, world->stream.fd, &world->stream.arg.pool, 0);
}

static long run_mmap_pool(struct world *world)
{
	return do_mmap(world, world->stream.fd, &world->stream.arg.pool, PROT_READ);
}

static long run_MAP_gate(struct world *world)
{
	return do_map(world, world->target.fd, &world->target.arg.gate, 0);
}

static long run_mmap_gate(struct world *world)
{
	return do_mmap(world, world->target.fd, &world->target.arg.gate, PROT_READ);
}

static long run_MAP_wakeup(struct world *world)
{
	return do_map(world, world->target.fd, &world->slot->wakeup, 0);
}

static long run_mmap_wakeup(struct world *world)
{
	return do_mmap(world, world->target.fd, &world->slot->wakeup, PROT_READ);
}

static long run_MAP_own_heads(struct world *world)
{
	return do_map(world, world->target.fd, &world->slot->heads, POSIXTRACE_MAPPING_WRITE);
}

static long run_mmap_own_heads(struct world *world)
{
	return do_mmap(world, world->target.fd, &world->slot->heads, RW);
}

static long run_MAP_own_pool(struct world *world)
{
	return do_map(world, world->target.fd, &world->slot->pool, POSIXTRACE_MAPPING_WRITE);
}

static long run_mmap_own_pool(struct world *world)
{
	return do_mmap(world, world->target.fd, &world->slot->pool, RW);
}

/* ------------------------------------------------------------------ */

FIXTURE_VARIANT_ADD(op, ATTACH) {
	.op = {
		.no_target = true, .prepare = prepare_attach, .run = run_attach,
		.untouched = has_not_attached, .check = check_attach,
	},
};

FIXTURE_VARIANT_ADD(op, ATTACH_first) {
	.op = {
		.no_target = true, .no_stream = true, .prepare = prepare_attach,
		.run = run_attach, .untouched = has_not_attached, .check = check_attach,
	},
};

FIXTURE_VARIANT_ADD(op, SYNC) {
	.op = {
		.prepare = start, .run = run_sync, .check = check_sync,
	},
};

FIXTURE_VARIANT_ADD(op, NEXT) {
	.op = {
		.prepare = start, .run = run_next, .untouched = nothing_recorded,
		.check = record_and_end,
	},
};

FIXTURE_VARIANT_ADD(op, WAKE) {
	.op = {
		.prepare = start, .run = run_wake, .check = record_and_end,
	},
};

FIXTURE_VARIANT_ADD(op, MET) {
	.op = {
		.prepare = start, .run = run_met, .check = record_and_end,
	},
};

FIXTURE_VARIANT_ADD(op, EVENT) {
	.op = {
		.prepare = start, .run = run_event, .untouched = nothing_recorded,
		.check = check_event,
	},
};

FIXTURE_VARIANT_ADD(op, EVENT_large) {
	.op = {
		.prepare = prepare_large, .run = run_large, .untouched = counted_large,
		.check = check_large,
	},
};

FIXTURE_VARIANT_ADD(op, EVENTID_OPEN) {
	.op = {
		.prepare = start, .run = run_eventid, .check = check_eventid,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_reader) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_reader, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_reader) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_reader, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_ctrl) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_ctrl, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_ctrl) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_ctrl, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_heads) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_heads, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_heads) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_heads, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_pool) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_pool, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_pool) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_pool, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_gate) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_gate, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_gate) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_gate, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_wakeup) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_wakeup, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_wakeup) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_wakeup, .untouched = mapped_nothing,
		.check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_own_heads) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_own_heads,
		.untouched = mapped_nothing, .check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_own_heads) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_own_heads,
		.untouched = mapped_nothing, .check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, MAP_own_pool) {
	.op = {
		.prepare = count_mappings, .run = run_MAP_own_pool,
		.untouched = mapped_nothing, .check = mapped_one,
	},
};

FIXTURE_VARIANT_ADD(op, mmap_own_pool) {
	.op = {
		.prepare = count_mappings, .run = run_mmap_own_pool,
		.untouched = mapped_nothing, .check = mapped_one,
	},
};

TEST_F(op, fails_or_succeeds_completely)
{
	op_fail_each(_metadata, self->skip, &variant->op);
}

TEST_HARNESS_MAIN
