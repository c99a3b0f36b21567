// SPDX-License-Identifier: GPL-2.0
/*
 * A stranger is a user who has access to the device, but may not trace a process. The stranger
 * tries everything that is possible with descriptors, numbers and offsets. Nothing may have an
 * effect on the owner of a stream.
 */
#define _GNU_SOURCE
#include <stdbool.h>

#include "pxt_test.h"
#include "credentials.h"
#include "uapi.h"

#define ALICE	1000
#define BOB	1001

#define PREDEFINED	9
#define SECRET	"alice's secret"

/* Numbers that the test tells the stranger. A real stranger would have to guess them. */
struct booty {
	pid_t target;
	pid_t controller;
	struct posixtrace_create stream;
	struct posixtrace_slot slot;
	unsigned int secret_id;
};

static struct booty *booty;	/* shared by all processes */

/* Alice's traced process: records numbers or makes wake-ups on request. */
enum { END, RECORD, WAKE };

static int be_target(void *arg, const struct talk *talk)
{
	struct target target;
	unsigned int mask = 1;
	int id, number = 0;

	(void)arg;
	if (become_user(ALICE) || target_open(&target))
		return 1;
	id = eventid_open(target.fd, SECRET);
	booty->target = getpid();
	booty->secret_id = id;
	say(talk, id);
	for (;;) {
		switch (hear(talk)) {
		case RECORD:
			number++;
			if (target_sync(&target) ||
			    target_event(&target, id, &number, sizeof(number)))
				return 2;
			booty->slot = target.slots[0];
			break;
		case WAKE:
			if (command(target.fd, POSIXTRACE_IOC_WAKE, &mask))
				return 3;
			break;
		default:
			return 0;
		}
		say(talk, number);
	}
}

/* Alice's controller: reports the number of the next event, or the state of its stream. */
enum { WAIT = 1, STATE };

struct state {
	struct posixtrace_status status;
	struct posixtrace_stats stats;
	struct posixtrace_event_set filter;
	unsigned int types;
};

static int ask_state(const struct stream *stream, struct state *state)
{
	unsigned int ids[POSIXTRACE_ID_MAX];
	struct posixtrace_event_types types = {
		.ids = (uintptr_t)ids,
		.count = POSIXTRACE_ID_MAX,
	};

	if (command(stream->fd, POSIXTRACE_IOC_GET_STATUS, &state->status) ||
	    command(stream->fd, POSIXTRACE_IOC_GET_STATS, &state->stats) ||
	    command(stream->fd, POSIXTRACE_IOC_GET_FILTER, &state->filter) ||
	    command(stream->fd, POSIXTRACE_IOC_EVENT_TYPES, &types))
		return -1;
	state->types = types.count;
	return 0;
}

/* Larger answers go through shared memory. */
static struct state *states;

static int be_controller(void *arg, const struct talk *talk)
{
	struct posixtrace_wait wait = { .flags = 0 };
	struct record record;
	struct stream stream;
	int number;

	(void)arg;
	if (become_user(ALICE) || stream_create(&stream, booty->target) ||
	    stream_start(&stream) || stream_take(&stream, &record, NULL, 0) != 1)
		return 1;
	booty->controller = getpid();
	booty->stream = stream.arg;
	say(talk, 0);
	for (;;) {
		switch (hear(talk)) {
		case WAIT:
			if (command(stream.fd, POSIXTRACE_IOC_WAIT, &wait) ||
			    stream_take(&stream, &record, &number, sizeof(number)) != 1)
				return 2;
			say(talk, number);
			break;
		case STATE:
			say(talk, ask_state(&stream, states));
			break;
		default:
			return 0;
		}
	}
}

/* Returns how often a thread has gone to sleep. */
static long sleeps_of(pid_t pid)
{
	char path[64], line[128];
	long count = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (count < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "voluntary_ctxt_switches: %ld", &count);
	fclose(file);
	return count;
}

/*
 * Waits until a thread sleeps. A thread shows as asleep before the kernel counts the sleep. So also
 * wait for the number of its system call, which the kernel shows only after the thread is off the
 * CPU.
 */
static void await_sleep(pid_t pid)
{
	while (!is_asleep(pid) || syscall_of(pid) < 0)
		sched_yield();
}

FIXTURE(stranger)
{
	struct child target;
	struct child controller;
	struct state before;
	long sleeps;
};

FIXTURE_VARIANT(stranger)
{
	bool is_root_somewhere;
};

FIXTURE_VARIANT_ADD(stranger, user) { false };
/* Has all capabilities in a user namespace created by the stranger. */
FIXTURE_VARIANT_ADD(stranger, root_of_own_namespace) { true };

FIXTURE_SETUP(stranger)
{
	booty = mmap(NULL, sizeof(*booty) + sizeof(*states), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)booty);
	states = (void *)(booty + 1);
	ASSERT_EQ(0, child_start(&self->target, be_target, NULL));
	ASSERT_LT(0, hear(&self->target.talk));
	ASSERT_EQ(0, child_start(&self->controller, be_controller, NULL));
	ASSERT_EQ(0, hear(&self->controller.talk));
	say(&self->target.talk, RECORD);
	ASSERT_EQ(1, hear(&self->target.talk));
	say(&self->controller.talk, WAIT);
	ASSERT_EQ(1, hear(&self->controller.talk));
	say(&self->controller.talk, STATE);
	ASSERT_EQ(0, hear(&self->controller.talk));
	self->before = *states;

	/* From now on, the reader sleeps. */
	say(&self->controller.talk, WAIT);
	await_sleep(self->controller.pid);
	self->sleeps = sleeps_of(self->controller.pid);
	ASSERT_LT(0, self->sleeps);
}

/* Checks that Alice's processes are unaffected. */
FIXTURE_TEARDOWN(stranger)
{
	await_sleep(self->controller.pid);
	EXPECT_EQ(self->sleeps, sleeps_of(self->controller.pid));

	/* For comparison, Alice's target can wake up the reader. */
	say(&self->target.talk, WAKE);
	EXPECT_EQ(1, hear(&self->target.talk));
	while (sleeps_of(self->controller.pid) == self->sleeps)
		sched_yield();

	say(&self->target.talk, RECORD);
	EXPECT_EQ(2, hear(&self->target.talk));
	EXPECT_EQ(2, hear(&self->controller.talk));
	say(&self->controller.talk, STATE);
	EXPECT_EQ(0, hear(&self->controller.talk));
	EXPECT_EQ(self->before.stats.recorded + 1, states->stats.recorded);
	states->stats.recorded--;
	EXPECT_EQ(0, memcmp(&self->before, states, sizeof(*states)));
	/* End the controller first: it has a copy of the target's pipe. */
	EXPECT_EQ(0, child_wait(&self->controller));
	EXPECT_EQ(0, child_wait(&self->target));
}

/* ------------------------------------------------------------------ */
/*
 * Attempts of the stranger. The try_*() functions return 0, or the number of the first failed
 * check.
 */

static int become_stranger(bool is_root_somewhere)
{
	if (become_user(BOB))
		return -1;
	return is_root_somewhere ? unshare(CLONE_NEWUSER) : 0;
}

static int create_of(pid_t pid)
{
	struct posixtrace_create create;
	int fd = device_open();
	int ret;

	create_init(&create, pid);
	ret = command(fd, POSIXTRACE_IOC_CREATE, &create);
	close(fd);
	return ret;
}

static int try_to_trace(struct stream *stream, struct target *target)
{
	(void)stream;
	(void)target;
	return create_of(booty->target) == -EPERM && create_of(booty->controller) == -EPERM &&
	       create_of(1) == -EPERM ? 0 : 1;
}

/* The stranger's files do not reveal other processes. */
static int try_to_see(struct stream *stream, struct target *target)
{
	unsigned int ids[POSIXTRACE_ID_MAX];
	struct posixtrace_event_types types = {
		.ids = (uintptr_t)ids,
		.count = POSIXTRACE_ID_MAX,
	};
	struct posixtrace_eventid name = { .id = booty->secret_id };

	if (command(stream->fd, POSIXTRACE_IOC_EVENT_NAME, &name) != -EINVAL)
		return 1;
	if (command(stream->fd, POSIXTRACE_IOC_EVENT_TYPES, &types) || types.count != PREDEFINED)
		return 2;
	/*
	 * The stranger has a separate table of types: its first name gets the id that Alice's name
	 * has in Alice's process, and Alice's name gets the next id.
	 */
	if (eventid_open(target->fd, "bob's") != (int)booty->secret_id ||
	    eventid_open(target->fd, SECRET) != (int)booty->secret_id + 1)
		return 3;
	if (target_sync(target) || target->slots[0].stream == booty->slot.stream)
		return 4;
	for (int i = 1; i < POSIXTRACE_SLOTS_MAX; i++) {
		if (target->slots[i].stream || target->slots[i].heads.size)
			return 5;
	}
	return 0;
}

static int try_to_wake(struct stream *stream, struct target *target)
{
	unsigned int all = ~0U;
	struct posixtrace_met met = { .number = 1, .count = 1 };

	(void)stream;
	for (met.slot = 0; met.slot < POSIXTRACE_SLOTS_MAX; met.slot++) {
		if (command(target->fd, POSIXTRACE_IOC_MET, &met))
			return 2;
	}
	for (int i = 0; i < 100; i++) {
		if (command(target->fd, POSIXTRACE_IOC_WAKE, &all) ||
		    target_event(target, POSIXTRACE_ID_UNNAMED, &i, sizeof(i)) ||
		    target_event(target, booty->secret_id, &i, sizeof(i)))
			return 1;
	}
	return 0;
}

static int try_to_take_space(struct stream *stream, struct target *target)
{
	struct posixtrace_next next = {
		.size = booty->slot.subbuf_size,
		.stream = booty->slot.stream,
	};

	(void)stream;
	for (next.slot = 0; next.slot < POSIXTRACE_SLOTS_MAX; next.slot++) {
		if (command(target->fd, POSIXTRACE_IOC_NEXT, &next) != -ESTALE)
			return next.slot + 1;
	}
	return 0;
}

static bool can_map(int fd, uint64_t offset, uint64_t size, int prot)
{
	void *place = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	if (place == MAP_FAILED)
		return false;
	munmap(place, size);
	return true;
}

static bool can_map_range(int fd, const struct posixtrace_map *range)
{
	return can_map(fd, range->offset, range->size, PROT_READ) ||
	       can_map(fd, range->offset, range->size, PROT_READ | PROT_WRITE) ||
	       can_map(fd, range->offset, 4096, PROT_READ) ||
	       can_map(fd, range->offset + range->size - 4096, 4096, PROT_READ | PROT_WRITE);
}

static int try_to_map(struct stream *stream, struct target *target)
{
	const struct posixtrace_map ranges[] = {
		booty->stream.reader, booty->stream.ctrl, booty->stream.heads,
		booty->stream.pool, booty->slot.heads, booty->slot.pool, booty->slot.wakeup,
	};
	const int count = sizeof(ranges) / sizeof(ranges[0]);
	/* The offsets of two streams differ by a multiple of this. */
	const uint64_t stride = 1ULL << 34;

	for (int i = 0; i < count; i++) {
		if (can_map_range(stream->fd, &ranges[i]) || can_map_range(target->fd, &ranges[i]))
			return 1 + i;
	}
	for (uint64_t i = 0; i <= POSIXTRACE_STREAMS_MAX + 1; i++) {
		uint64_t base = i * stride;

		if (base == stream->arg.reader.offset)
			continue;
		for (int j = 0; j < count; j++) {
			struct posixtrace_map range = ranges[j];

			range.offset = base + (range.offset - booty->stream.reader.offset);
			if (can_map_range(stream->fd, &range))
				return 100 + i;
			/* Offset 0 is the gate of the mapping process, which may map it. */
			if (i && can_map_range(target->fd, &range))
				return 1000 + i;
		}
	}
	return 0;
}

static int try_to_change_streams(struct stream *stream, struct target *target)
{
	struct posixtrace_filter filter = { .how = POSIXTRACE_FILTER_SET };
	char name[64];

	memset(&filter.set, 0xff, sizeof(filter.set));
	filter.set.bits[0] &= ~1ULL;
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		if (eventid_open(target->fd, name) < 0 || eventid_open(stream->fd, name) < 0)
			return 1;
	}
	command(stream->fd, POSIXTRACE_IOC_SET_FILTER, &filter);
	for (int i = 0; i < 300; i++)
		stream_release(stream, i);
	if (stream_stop(stream) || stream_start(stream) ||
	    command(stream->fd, POSIXTRACE_IOC_CLEAR, NULL) ||
	    command(stream->fd, POSIXTRACE_IOC_SHUTDOWN, NULL))
		return 2;
	return 0;
}

struct try {
	int (*fn)(struct stream *stream, struct target *target);
	bool is_root_somewhere;
};

static int be_stranger(void *arg, const struct talk *talk)
{
	const struct try *try = arg;
	struct target target;
	struct stream stream;

	if (become_stranger(try->is_root_somewhere) || target_open(&target) ||
	    stream_create(&stream, 0) || stream_start(&stream))
		return 1;
	say(talk, try->fn(&stream, &target));
	return 0;
}

static long try(int (*fn)(struct stream *stream, struct target *target), bool is_root_somewhere)
{
	struct try try = { fn, is_root_somewhere };
	struct child child;
	long answer;

	if (child_start(&child, be_stranger, &try))
		return -1;
	answer = hear(&child.talk);
	return child_wait(&child) ? -2 : answer;
}

TEST_F(stranger, traces_no_other_process)
{
	EXPECT_EQ(0, try(try_to_trace, variant->is_root_somewhere));
}

TEST_F(stranger, sees_neither_names_nor_streams)
{
	EXPECT_EQ(0, try(try_to_see, variant->is_root_somewhere));
}

TEST_F(stranger, wakes_no_reader)
{
	EXPECT_EQ(0, try(try_to_wake, variant->is_root_somewhere));
}

TEST_F(stranger, gets_no_space_in_the_stream_by_its_numbers)
{
	EXPECT_EQ(0, try(try_to_take_space, variant->is_root_somewhere));
}

TEST_F(stranger, maps_no_memory_of_the_stream)
{
	EXPECT_EQ(0, try(try_to_map, variant->is_root_somewhere));
}

TEST_F(stranger, changes_only_own_streams)
{
	EXPECT_EQ(0, try(try_to_change_streams, variant->is_root_somewhere));
}

TEST_HARNESS_MAIN
