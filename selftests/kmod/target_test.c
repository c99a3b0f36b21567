// SPDX-License-Identifier: GPL-2.0
/*
 * The gate, and the streams that SYNC returns: what a traced process sees of its streams.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "pxt_test.h"
#include "process.h"
#include "uapi.h"

FIXTURE(target)
{
	struct target target;
};

FIXTURE_SETUP(target)
{
	ASSERT_EQ(0, target_open(&self->target));
}

FIXTURE_TEARDOWN(target)
{
	target_close(&self->target);
}

/* Returns the enable bits of all event types, combined. */
static unsigned int enabled(const struct posixtrace_gate *gate)
{
	unsigned int mask = 0;

	for (int i = 0; i < POSIXTRACE_ID_MAX; i++)
		mask |= LOAD(gate->enable[i]);
	return mask;
}

/* ------------------------------------------------------------------ */
/* ATTACH								*/

TEST(attach_refuses_flags)
{
	struct posixtrace_attach arg = { .flags = 2 };
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_ATTACH, &arg));
	arg.flags = 1U << 31;
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_ATTACH, &arg));
	close(fd);
}

TEST(attach_refuses_reserved_words)
{
	struct posixtrace_attach arg = { .reserved1 = 1 };
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_ATTACH, &arg));
	for (int i = 0; i < 3; i++) {
		memset(&arg, 0, sizeof(arg));
		arg.reserved2[i] = 1;
		EXPECT_EQ(-EINVAL, command(fd, POSIXTRACE_IOC_ATTACH, &arg));
	}
	memset(&arg, 0, sizeof(arg));
	EXPECT_EQ(0, command(fd, POSIXTRACE_IOC_ATTACH, &arg));
	close(fd);
}

TEST(attach_at_a_bad_address_is_a_fault)
{
	struct posixtrace_attach arg = { .flags = 0 };
	int fd = device_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EFAULT, command(fd, POSIXTRACE_IOC_ATTACH, BAD_POINTER));
	EXPECT_EQ(0, command(fd, POSIXTRACE_IOC_ATTACH, &arg));
	close(fd);
}

TEST_F(target, gate_has_its_size)
{
	EXPECT_LE(sizeof(struct posixtrace_gate), self->target.arg.gate.size);
	EXPECT_EQ(0, self->target.arg.gate.size % sysconf(_SC_PAGESIZE));
}

TEST_F(target, gate_of_an_untraced_process_is_shut)
{
	EXPECT_EQ(0, enabled(self->target.gate));
	EXPECT_EQ(0, LOAD(self->target.gate->generation));
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++) {
		for (int j = 0; j < POSIXTRACE_CONDITIONS_MAX; j++)
			ASSERT_EQ(0, LOAD(self->target.gate->condition[i][j].number));
		ASSERT_EQ(0, LOAD(self->target.gate->pending[i]));
	}
}

TEST_F(target, two_files_of_one_process_have_one_gate)
{
	struct target other;
	struct stream stream;

	ASSERT_EQ(0, target_open(&other));
	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	EXPECT_EQ(1, LOAD(self->target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	EXPECT_EQ(1, LOAD(other.gate->enable[POSIXTRACE_ID_UNNAMED]));
	EXPECT_EQ(LOAD(self->target.gate->generation), LOAD(other.gate->generation));
	stream_close(&stream);
	target_close(&other);
}

/* ------------------------------------------------------------------ */
/* The gate								*/

TEST_F(target, gate_opens_at_start_and_shuts_at_stop)
{
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_EQ(0, enabled(self->target.gate));
	ASSERT_EQ(0, stream_start(&stream));
	EXPECT_EQ(1, LOAD(self->target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	ASSERT_EQ(0, stream_stop(&stream));
	EXPECT_EQ(0, enabled(self->target.gate));
	stream_close(&stream);
}

TEST_F(target, gate_has_a_bit_for_each_stream)
{
	const unsigned int *word = &self->target.gate->enable[POSIXTRACE_ID_UNNAMED];
	struct stream streams[3];

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, stream_create(&streams[i], 0));
	ASSERT_EQ(0, stream_start(&streams[2]));
	EXPECT_EQ(1U << 2, LOAD(*word));
	ASSERT_EQ(0, stream_start(&streams[0]));
	EXPECT_EQ(1U << 2 | 1U << 0, LOAD(*word));
	stream_close(&streams[2]);
	EXPECT_EQ(1U << 0, LOAD(*word));
	stream_close(&streams[0]);
	stream_close(&streams[1]);
	EXPECT_EQ(0, LOAD(*word));
}

TEST_F(target, gate_is_shut_for_system_events)
{
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	for (int i = 0; i < POSIXTRACE_ID_UNNAMED; i++)
		EXPECT_EQ(0, LOAD(self->target.gate->enable[i]));
	stream_close(&stream);
}

TEST_F(target, gate_opens_for_a_type_when_it_is_defined)
{
	struct stream stream;
	int before, after;

	before = eventid_open(self->target.fd, "before");
	ASSERT_LT(0, before);
	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	EXPECT_EQ(1, LOAD(self->target.gate->enable[before]));
	EXPECT_EQ(0, LOAD(self->target.gate->enable[before + 1]));
	after = eventid_open(self->target.fd, "after");
	ASSERT_LT(0, after);
	EXPECT_EQ(1, LOAD(self->target.gate->enable[after]));
	stream_close(&stream);
}

TEST(gate_is_open_for_a_later_attach)
{
	struct target target;
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, target_open(&target));
	EXPECT_EQ(1, LOAD(target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	target_close(&target);
	stream_close(&stream);
}

static int watch_own_gate(void *arg, const struct talk *talk)
{
	struct target target;

	(void)arg;
	if (target_open(&target))
		return 1;
	say(talk, 0);
	while (hear(talk) != -EPIPE)
		say(talk, LOAD(target.gate->enable[POSIXTRACE_ID_UNNAMED]));
	return 0;
}

TEST_F(target, two_processes_have_separate_gates)
{
	struct stream stream;
	struct child child;

	ASSERT_EQ(0, child_start(&child, watch_own_gate, NULL));
	ASSERT_EQ(0, hear(&child.talk));
	ASSERT_EQ(0, stream_create(&stream, child.pid));
	ASSERT_EQ(0, stream_start(&stream));
	say(&child.talk, 0);
	EXPECT_EQ(1, hear(&child.talk));
	EXPECT_EQ(0, enabled(self->target.gate));
	stream_close(&stream);
	say(&child.talk, 0);
	EXPECT_EQ(0, hear(&child.talk));
	EXPECT_EQ(0, child_wait(&child));
}

/* ------------------------------------------------------------------ */
/* SYNC									*/

TEST_F(target, sync_of_an_untraced_process_shows_no_stream)
{
	memset(self->target.slots, 0xff, sizeof(self->target.slots));
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_EQ(LOAD(self->target.gate->generation), self->target.generation);
	for (int i = 0; i < POSIXTRACE_SLOTS_MAX; i++)
		EXPECT_EQ(0, self->target.slots[i].heads.size);
}

static int wait_for_the_end(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return 0;
}

/* True if the main thread of this process is a zombie. */
static bool main_thread_has_ended(void)
{
	FILE *file = fopen("/proc/self/stat", "r");
	char state = 0;

	if (file) {
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(file);
	}
	return state == 'Z';
}

static void *sync_beside_a_process(void *arg)
{
	static char stack[1 << 14] __attribute__((__aligned__(16)));
	struct target target;
	int ret = 1;
	pid_t pid;

	while (!main_thread_has_ended())
		sched_yield();
	if (target_open(&target))
		_exit(ret);
	pid = clone(wait_for_the_end, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	if (pid > 0)
		ret = target_sync(&target) == -EUSERS ? 0 : 2;
	if (pid > 0)
		kill(pid, SIGKILL);
	_exit(ret);
	return arg;
}

/*
 * SYNC must use a different thread for this check, because a main thread that has ended has no
 * address space.
 */
TEST(sync_sees_who_shares_memory_after_the_main_thread_has_ended)
{
	pthread_t thread;
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		if (pthread_create(&thread, NULL, sync_beside_a_process, NULL))
			_exit(3);
		pthread_exit(NULL);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(target, sync_returns_all_that_a_writer_needs)
{
	struct posixtrace_slot *slot = &self->target.slots[0];
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream.arg.slot);
	memset(self->target.slots, 0xff, sizeof(self->target.slots));
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_LE(stream.ctrl->nr_cpus * sizeof(struct posixtrace_cpu_head), slot->heads.size);
	EXPECT_EQ((unsigned long long)stream.ctrl->nr_subbufs * stream.ctrl->subbuf_size,
		  slot->pool.size);
	EXPECT_EQ(stream.ctrl->subbuf_size, slot->subbuf_size);
	EXPECT_EQ(256, slot->max_data_size);
	EXPECT_EQ(getpid(), slot->pid);
	EXPECT_NE(0, slot->stream);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, slot->reserved[i]);
	EXPECT_EQ(0, self->target.slots[1].heads.size);
	stream_close(&stream);
}

TEST_F(target, slots_say_which_streams_have_relaxed_order)
{
	struct stream stream;

	for (__u32 order = POSIXTRACE_ORDER_CAUSAL; order <= POSIXTRACE_ORDER_RELAXED; order++) {
		create_init(&stream.arg, 0);
		stream.arg.attr.order = order;
		ASSERT_EQ(0, stream_open(&stream));
		ASSERT_EQ(0, target_sync(&self->target));
		EXPECT_EQ(POSIXTRACE_SLOT_SAME_IDS | (order ? POSIXTRACE_SLOT_RELAXED : 0),
			  self->target.slots[0].flags);
		stream_close(&stream);
	}
}

TEST_F(target, generation_changes_when_streams_come_and_go)
{
	unsigned long long generation = LOAD(self->target.gate->generation);
	struct stream stream;

	ASSERT_EQ(0, stream_create(&stream, 0));
	EXPECT_NE(generation, LOAD(self->target.gate->generation));
	generation = LOAD(self->target.gate->generation);
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_EQ(generation, self->target.generation);
	stream_close(&stream);
	EXPECT_NE(generation, LOAD(self->target.gate->generation));
}

/* Returns 0 if the gate of this process has a different generation than that of its parent. */
static int compare_generation(void *arg, const struct talk *talk)
{
	const unsigned long long *generation = arg;
	struct stream stream;
	struct target other;

	(void)talk;
	if (target_open(&other) || stream_create(&stream, 0))
		return 2;
	return LOAD(other.gate->generation) == *generation;
}

/*
 * A child inherits the cache of its parent's library, so its gate must have a different generation.
 */
TEST_F(target, no_two_gates_have_an_equal_generation)
{
	unsigned long long generation;
	struct stream stream;
	struct child child;

	ASSERT_EQ(0, stream_create(&stream, 0));
	generation = LOAD(self->target.gate->generation);
	ASSERT_EQ(0, child_start(&child, compare_generation, &generation));
	EXPECT_EQ(0, child_wait(&child));
	stream_close(&stream);
}

TEST_F(target, stream_numbers_are_never_reused)
{
	unsigned long long last = 0;
	struct stream stream;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, stream_create(&stream, 0));
		ASSERT_EQ(0, target_sync(&self->target));
		EXPECT_LT(last, self->target.slots[0].stream);
		last = self->target.slots[0].stream;
		stream_close(&stream);
	}
}

TEST_F(target, pools_of_streams_have_different_places)
{
	const struct posixtrace_slot *slots = self->target.slots;
	struct stream streams[2];

	ASSERT_EQ(0, stream_create(&streams[0], 0));
	ASSERT_EQ(0, stream_create(&streams[1], 0));
	ASSERT_EQ(0, target_sync(&self->target));
	EXPECT_TRUE(slots[0].pool.offset + slots[0].pool.size <= slots[1].pool.offset ||
		    slots[1].pool.offset + slots[1].pool.size <= slots[0].pool.offset);
	stream_close(&streams[0]);
	stream_close(&streams[1]);
}

TEST_F(target, sync_refuses_reserved_words)
{
	struct posixtrace_sync sync;

	for (int i = 0; i < 2; i++) {
		memset(&sync, 0, sizeof(sync));
		sync.slots = (uintptr_t)self->target.slots;
		sync.reserved[i] = 1;
		EXPECT_EQ(-EINVAL, command(self->target.fd, POSIXTRACE_IOC_SYNC, &sync));
	}
}

TEST_F(target, sync_at_a_bad_address_is_a_fault)
{
	struct posixtrace_sync sync = { .slots = (uintptr_t)BAD_POINTER };

	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_SYNC, BAD_POINTER));
	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_SYNC, &sync));
	EXPECT_EQ(0, target_sync(&self->target));
}

/* ------------------------------------------------------------------ */
/* WAKE									*/

TEST_F(target, wake_without_sleepers_is_no_error)
{
	unsigned int mask = ~0U;

	EXPECT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_WAKE, &mask));
	mask = 0;
	EXPECT_EQ(0, command(self->target.fd, POSIXTRACE_IOC_WAKE, &mask));
	EXPECT_EQ(-EFAULT, command(self->target.fd, POSIXTRACE_IOC_WAKE, BAD_POINTER));
}

/* ------------------------------------------------------------------ */
/* The owner of the file						*/

static int use_inherited(void *arg, const struct talk *talk)
{
	struct target *target = arg;
	unsigned int mask = 1;

	(void)talk;
	if (target_sync(target) != -EINVAL)
		return 1;
	if (target_event(target, POSIXTRACE_ID_UNNAMED, NULL, 0) != -EINVAL)
		return 2;
	if (eventid_open(target->fd, "child") != -EINVAL)
		return 3;
	if (command(target->fd, POSIXTRACE_IOC_WAKE, &mask) != -EINVAL)
		return 4;
	return 0;
}

TEST_F(target, forked_child_cannot_use_the_file_of_its_parent)
{
	struct record record;
	struct stream stream;
	struct child child;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, child_start(&child, use_inherited, &self->target));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(0, stream_take(&stream, &record, NULL, 0));
	stream_close(&stream);
}

static int attach_again(void *arg, const struct talk *talk)
{
	struct target target;

	(void)arg;
	(void)talk;
	if (target_open(&target))
		return 1;
	if (enabled(target.gate))
		return 2;
	if (target_event(&target, POSIXTRACE_ID_UNNAMED, NULL, 0))
		return 3;
	return 0;
}

TEST_F(target, forked_child_is_not_traced)
{
	struct record record;
	struct stream stream;
	struct child child;

	ASSERT_EQ(0, stream_create(&stream, 0));
	ASSERT_EQ(0, stream_start(&stream));
	ASSERT_EQ(0, child_start(&child, attach_again, NULL));
	EXPECT_EQ(0, child_wait(&child));
	ASSERT_EQ(1, stream_take(&stream, &record, NULL, 0));
	EXPECT_EQ(0, stream_take(&stream, &record, NULL, 0));
	stream_close(&stream);
}

TEST_HARNESS_MAIN
